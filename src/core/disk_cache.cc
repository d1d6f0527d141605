#include "core/disk_cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "core/hash64.h"

namespace weft_engine::core {
namespace {

constexpr int64_t kMostBytes = 256 << 20;
constexpr int64_t kLargestShare = 4;        // one file holds at most this part of all
constexpr time_t kRefreshSeconds = 3600;    // how exactly the time of the last use is kept
constexpr time_t kAbandonedSeconds = 3600;  // a file that was begun before and never finished
constexpr std::string_view kBegun = "new-", kEnding = ".weft";

struct Header {
  std::array<char, 8> magic;
  uint64_t key[2], key_size, size, check;
};
constexpr std::array<char, 8> kMagic = {'W', 'E', 'F', 'T', 'D', 'C', '0', '1'};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool read_all(int fd, void* to, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = read(fd, static_cast<char*>(to) + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += size_t(n);
  }
  return true;
}

bool write_all(int fd, const void* from, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t n = write(fd, static_cast<const char*>(from) + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += size_t(n);
  }
  return true;
}

// Nobody else can have put something there.
bool is_own(const struct stat& s) { return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

// The library that holds this code: the linker's hash of it, else file, size and time.
std::string build_id() {
  struct Search {
    uintptr_t inside;
    std::string id;
  } search{reinterpret_cast<uintptr_t>(&build_id), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        const auto segments = [&](auto see) {
          for (int i = 0; i < info->dlpi_phnum; ++i) see(info->dlpi_phdr[i], info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        };
        bool here = false;
        segments([&](const ElfW(Phdr) & p, uintptr_t at) { here |= p.p_type == PT_LOAD && s.inside >= at && s.inside < at + p.p_memsz; });
        if (!here) return 0;
        segments([&](const ElfW(Phdr) & p, uintptr_t at) {
          for (size_t k = 0; p.p_type == PT_NOTE && k + sizeof(ElfW(Nhdr)) <= p.p_memsz;) {
            ElfW(Nhdr) note;
            std::memcpy(&note, reinterpret_cast<const char*>(at) + k, sizeof note);
            const size_t name = k + sizeof note, value = name + (note.n_namesz + 3) / 4 * 4, end = value + (note.n_descsz + 3) / 4 * 4;
            if (end > p.p_memsz) break;
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4) s.id.assign(reinterpret_cast<const char*>(at) + value, note.n_descsz);
            k = end;
          }
        });
        return 1;
      },
      &search);
  if (!search.id.empty()) return search.id;
  Dl_info info;
  struct stat s;
  if (!dladdr(reinterpret_cast<const void*>(&build_id), &info) || !info.dli_fname || stat(info.dli_fname, &s) != 0) return {};
  return std::string(info.dli_fname) + '\0' + std::to_string(s.st_size) + '\0' + std::to_string(s.st_mtim.tv_sec) + '.' +
         std::to_string(s.st_mtim.tv_nsec);
}

// The same key in another build is another key.
std::array<uint64_t, 2> hash_of(std::string_view key) {
  static const auto& build = *new std::string(build_id());  // kept: threads may still be here when the process ends
  return {hash64(key, hash64(build)), hash64(key, hash64(build, 0x5745465443414348))};
}

bool make_folders(const std::string& path) {
  struct stat s;
  if (stat(path.c_str(), &s) == 0) return S_ISDIR(s.st_mode);
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0 && !make_folders(path.substr(0, slash))) return false;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

struct File {
  std::string name;
  int64_t bytes = 0;
  timespec used{};
};

// The files of a cache, without those of others that lie there too. Files that were begun long ago and never finished are removed.
std::vector<File> list(const std::string& folder) {
  std::vector<File> files;
  DIR* const d = opendir(folder.c_str());
  if (!d) return files;
  const time_t now = time(nullptr);
  while (const dirent* e = readdir(d)) {
    const std::string_view name = e->d_name;
    struct stat s;
    if (!name.ends_with(kEnding) || fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) continue;
    if (name.starts_with(kBegun) && s.st_mtim.tv_sec + kAbandonedSeconds < now) {
      unlinkat(dirfd(d), e->d_name, 0);
      continue;
    }
    files.push_back({std::string(name), int64_t(s.st_size), s.st_mtim});
  }
  closedir(d);
  return files;
}

}  // namespace

DiskCache::DiskCache(std::string folder, int64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {}

DiskCache* DiskCache::of_process() {
  static DiskCache* const cache = []() -> DiskCache* {
    std::string folder;
    if (const char* given = secure_getenv("WEFT_CACHE_DIR"); given && *given) {
      if (std::string_view(given) == "off") return nullptr;
      folder = given;
    } else if (const char* all = secure_getenv("XDG_CACHE_HOME"); all && all[0] == '/') {
      folder = std::string(all) + "/weft";
    } else if (const char* home = secure_getenv("HOME"); home && home[0] == '/') {
      folder = std::string(home) + "/.cache/weft";
    }
    const char* most = secure_getenv("WEFT_CACHE_MB");
    const int64_t bytes = most ? std::strtoll(most, nullptr, 10) << 20 : kMostBytes;
    if (folder.empty() || bytes <= 0 || build_id().empty()) return nullptr;
    return new DiskCache(std::move(folder), bytes);
  }();
  return cache;
}

std::string DiskCache::path_of(std::string_view key) const {
  const auto h = hash_of(key);
  char name[40];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(h[0]), static_cast<unsigned long long>(h[1]));
  return folder_ + '/' + name + std::string(kEnding);
}

std::optional<std::string> DiskCache::find(std::string_view key) {
  const std::string path = path_of(key);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s;
  if (!file.valid() || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) || !is_own(s)) return std::nullopt;
  const auto h = hash_of(key);
  Header header;
  std::string bytes;
  const bool whole = [&] {
    if (s.st_size < int64_t(sizeof header) || !read_all(file.get(), &header, sizeof header)) return false;
    if (header.magic != kMagic || header.key[0] != h[0] || header.key[1] != h[1] || header.key_size != key.size()) return false;
    if (header.size != uint64_t(s.st_size) - sizeof header) return false;
    bytes.resize(header.size);
    return read_all(file.get(), bytes.data(), bytes.size()) && hash64(bytes) == header.check;
  }();
  if (!whole) {
    unlink(path.c_str());
    return std::nullopt;
  }
  if (s.st_mtim.tv_sec + kRefreshSeconds < time(nullptr)) futimens(file.get(), nullptr);
  return bytes;
}

bool DiskCache::make_folder() {
  if (ready_ || refused_) return ready_;
  struct stat s;
  ready_ = make_folders(folder_) && stat(folder_.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && is_own(s);
  refused_ = !ready_;
  if (ready_) {
    for (const File& f : list(folder_)) held_ += f.bytes;
  }
  return ready_;
}

// To three quarters, so that the folder is not read at every put.
void DiskCache::evict_oldest() {
  std::vector<File> files = list(folder_);
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
  });
  held_ = 0;
  for (const File& f : files) held_ += f.bytes;
  for (const File& f : files) {
    if (held_ <= most_bytes_ / 4 * 3) break;
    if (f.name.starts_with(kBegun)) continue;
    if (unlink((folder_ + '/' + f.name).c_str()) == 0 || errno == ENOENT) held_ -= f.bytes;
  }
}

void DiskCache::put(std::string_view key, std::string_view bytes) {
  const auto size = int64_t(sizeof(Header) + bytes.size());
  if (size > most_bytes_ / kLargestShare) return;
  std::lock_guard lock(mutex_);
  if (!make_folder()) return;
  static std::atomic<uint64_t> count{0};
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::string begun = folder_ + '/' + std::string(kBegun) + std::to_string(getpid()) + '-' + std::to_string(now.tv_sec) + '-' +
                            std::to_string(now.tv_nsec) + '-' + std::to_string(count.fetch_add(1)) + std::string(kEnding);
  const auto h = hash_of(key);
  const Header header{kMagic, {h[0], h[1]}, key.size(), bytes.size(), hash64(bytes)};
  bool written = false;
  {
    const Descriptor file(open(begun.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.valid()) {
      refused_ = errno != EEXIST && errno != EMFILE && errno != ENFILE && errno != EINTR;
      ready_ = !refused_;
      return;
    }
    written = write_all(file.get(), &header, sizeof header) && write_all(file.get(), bytes.data(), bytes.size());
  }
  if (!written || rename(begun.c_str(), path_of(key).c_str()) != 0) {
    unlink(begun.c_str());
    return;
  }
  held_ += size;
  if (held_ > most_bytes_) evict_oldest();
}

}  // namespace weft_engine::core
