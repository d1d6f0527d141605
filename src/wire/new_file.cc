#include "wire/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <thread>

namespace weft_engine::wire {

using namespace weft_engine::core;  // NOLINT

namespace {

constexpr std::string_view kUnfinished = ".tempstate";

// A file that may not grow is as full as a disk.
Status write_error(const std::string& path, int error) {
  if (error == EFBIG) return resource_exhausted(path, "; File too large");
  return io_error(path, error);
}

bool same_file(int fd, const std::string& path) {
  struct stat open, named;
  return ::fstat(fd, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

// Nobody can guess it.
std::string unfinished_name(const std::string& target) {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != ssize_t(sizeof number)) {
    std::random_device device;
    number = uint64_t(device()) << 32 | device();
  }
  return cat(target, kUnfinished, number);
}

// Waits for who is looking whether this is abandoned. A file system without locks does without.
void lock(int fd) {
  while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
}

// Folders of many names, with the time before which they are not read again: not for each of the many files that are written to one.
std::mutex not_before_mutex;
std::map<std::string, std::chrono::steady_clock::time_point>& not_before() {
  static auto* times = new std::map<std::string, std::chrono::steady_clock::time_point>;  // kept: threads may still write files when the process ends
  return *times;
}

bool may_look_into(const std::string& folder, std::chrono::steady_clock::time_point now) {
  const std::lock_guard guard(not_before_mutex);
  const auto it = not_before().find(folder);
  if (it == not_before().end()) return true;
  if (now < it->second) return false;
  not_before().erase(it);
  return true;
}

bool all_digits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<NewFile> NewFile::create(std::string target) {
  NewFile out;
  WEFT_ASSIGN(Place place, locate(target));
  out.target_ = std::move(place.path);
  if (!place.local) {
    WEFT_RETURN_IF_ERROR(out.create_other(place.system));
    return out;
  }
  remove_abandoned_of(out.target_);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string path = unfinished_name(out.target_);
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.valid() && errno == EEXIST) continue;
    if (!file.valid()) return io_error(out.target_, errno);
    // Who cleans up may have come before the lock.
    lock(file.get());
    if (!same_file(file.get(), path)) continue;
    out.path_ = std::move(path);
    out.file_ = std::move(file);
    return out;
  }
  return unavailable(out.target_, "; no unfinished file could be made beside it");
}

Status NewFile::create_other(FileSystem& system) {
  std::string path = system.can_rename() ? unfinished_name(target_) : target_;
  WEFT_ASSIGN(other_, system.create(path));
  path_ = std::move(path);
  return {};
}

NewFile& NewFile::operator=(NewFile&& o) noexcept {
  if (this == &o) return *this;
  discard();
  target_ = std::move(o.target_);
  path_ = std::move(o.path_);
  o.path_.clear();
  file_ = std::move(o.file_);
  other_ = std::move(o.other_);
  mode_ = o.mode_;
  return *this;
}

void NewFile::discard() {
  if (!path_.empty()) {
    other_.reset();
    (void)delete_file(path_);
  }
  path_.clear();
  file_.close();
}

Status NewFile::write(std::string_view bytes) {
  if (other_) return other_->append(bytes);
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return write_error(target_, errno);
    bytes.remove_prefix(size_t(n));
  }
  return {};
}

Status NewFile::sync() {
  if (other_) return other_->sync();
  while (::fsync(file_.get()) != 0) {
    if (errno == EINVAL || errno == EROFS) return {};  // not of this file system
    if (errno != EINTR) return write_error(target_, errno);
  }
  return {};
}

Status NewFile::publish() {
  if (other_) {
    WEFT_RETURN_IF_ERROR(other_->close());
    other_.reset();
    if (path_ != target_) WEFT_RETURN_IF_ERROR(rename_file(path_, target_));
    path_.clear();
    return {};
  }
  // The rename comes before the close, which gives up the lock; what a close would report (a full disk of some network file
  // systems) is asked for by closing a copy.
  const int copy = ::dup(file_.get());
  if (copy >= 0 && ::close(copy) != 0 && errno != EINTR) return write_error(target_, errno);
  (void)::fchmod(file_.get(), mode_ < 0 ? masked_mode(0666) : mode_t(mode_));
  if (::rename(path_.c_str(), target_.c_str()) != 0) return io_error(target_, errno);
  path_.clear();
  file_.close();
  return {};
}

Status follow_links(std::string& path) {
  for (int i = 0; i < 40; ++i) {
    if (path.starts_with("/proc/") || path.starts_with("/dev/")) return {};  // /dev/stdout: what it leads to is open and has no name, or another
    char target[PATH_MAX];
    const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
    if (n < 0) return {};  // no link; or whoever uses the path says what is wrong with it
    std::string next(target, size_t(n));
    if (!next.starts_with('/')) next = path.substr(0, path.rfind('/') + 1) + next;
    while (next.size() > 1 && next.back() == '/') next.pop_back();
    path = next;
  }
  return io_error(path, ELOOP);
}

Status replace_file(const std::string& path, std::string_view contents) {
  WEFT_ASSIGN(NewFile file, NewFile::create(path));
  WEFT_RETURN_IF_ERROR(file.write(contents));
  WEFT_RETURN_IF_ERROR(file.sync());
  WEFT_RETURN_IF_ERROR(file.publish());
  return sync_folder_of(path);
}

Status sync_folder_of(std::string_view path) {
  WEFT_ASSIGN(const Place place, locate(path));
  if (!place.local) return {};
  const std::string_view folder = folder_of(place.path);
  Descriptor dir(::open(folder.empty() ? "." : std::string(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!dir.valid()) return {};  // a folder that may be written to but not read
  while (::fsync(dir.get()) != 0) {
    if (errno == EINVAL || errno == EROFS || errno == EBADF) return {};
    if (errno != EINTR) return io_error(folder, errno);
  }
  return {};
}

std::string_view target_of_unfinished(std::string_view name) {
  const size_t at = name.rfind(kUnfinished);
  if (at == name.npos || !all_digits(name.substr(at + kUnfinished.size()))) return {};
  return name.substr(0, at);
}

bool remove_abandoned_folder(const std::string& path, const RecoverFunction& recover) {
  const auto place = locate(path);
  if (!place.ok() || !place->local) return false;  // no locks: it may be in use
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return errno == ENOENT;
  struct stat info;
  if (::fstat(file.get(), &info) != 0 || !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) return false;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
  if (!same_file(file.get(), path)) return true;
  if (S_ISREG(info.st_mode)) return ::unlink(path.c_str()) == 0;
  if (recover) recover(path);
  return delete_recursively(path).ok();
}

bool remove_abandoned(const std::string& path) { return remove_abandoned_folder(path, {}); }

void remove_abandoned_of(const std::string& target, const RecoverFunction& recover) {
  const auto place = locate(target);
  if (!place.ok() || !place->local) return;
  const size_t slash = place->path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : place->path.substr(0, slash + 1);
  const std::string_view base = std::string_view(place->path).substr(folder.size());
  const auto start = std::chrono::steady_clock::now();
  if (!may_look_into(folder, start)) return;
  const auto names = local_file_system().children(folder.empty() ? "." : folder);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (name.size() > base.size() && target_of_unfinished(name) == base) remove_abandoned_folder(folder + name, recover);
  }
  constexpr size_t kManyNames = 1000;
  if (names->size() < kManyNames) return;  // by number, not by time: on a busy machine a folder of few names takes long, too
  const auto cost = std::chrono::steady_clock::now() - start;
  const std::lock_guard guard(not_before_mutex);
  if (not_before().size() > 1000) not_before().clear();
  not_before()[folder] = std::chrono::steady_clock::now() + 20 * cost;
}

Result<TempFolder> TempFolder::create(const std::string& target) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    TempFolder out;
    std::string path = unfinished_name(target);
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      return io_error(target, errno);
    }
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!folder.valid() && errno == ENOENT) continue;  // taken for abandoned
    if (!folder.valid()) {
      const int error = errno;
      ::rmdir(path.c_str());
      return io_error(target, error);
    }
    lock(folder.get());
    if (!same_file(folder.get(), path)) continue;
    out.path_ = std::move(path);
    out.folder_ = std::move(folder);
    return out;
  }
  return unavailable(target, "; no temporary folder could be made beside it");
}

TempFolder& TempFolder::operator=(TempFolder&& o) noexcept {
  if (this == &o) return *this;
  remove();
  path_ = std::move(o.path_);
  o.path_.clear();
  folder_ = std::move(o.folder_);
  return *this;
}

void TempFolder::remove() {
  if (!path_.empty()) (void)delete_recursively(path_);
  path_.clear();
  folder_.close();
}

FolderLock::FolderLock(std::string_view path_inside) {
  const auto place = locate(path_inside);
  if (!place.ok() || !place->local) return;
  const std::string_view folder = folder_of(place->path);
  if (!target_of_unfinished(folder).empty()) return;  // a TempFolder: its owner holds the lock, and is alone
  folder_ = Descriptor(::open(folder.empty() ? "." : std::string(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_.valid()) return;
  constexpr auto kStep = std::chrono::milliseconds(2);
  for (int i = 0; i < 5000 && ::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    std::this_thread::sleep_for(kStep);
  }
}

// A process that was forked meanwhile has the descriptor too: closing it here would not end the lock.
FolderLock::~FolderLock() {
  if (folder_.valid()) ::flock(folder_.get(), LOCK_UN);
}

// From the system: umask() tells only by changing it, which other threads would see.
unsigned masked_mode(unsigned mode) {
  std::string status;
  if (read_file("/proc/thread-self/status", status).ok()) {
    const size_t at = status.find("\nUmask:");
    if (at != status.npos) return mode & ~unsigned(std::strtoul(status.c_str() + at + 7, nullptr, 8));
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mode & ~mask;
}

}  // namespace weft_engine::wire
