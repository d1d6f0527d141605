#include "wire/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::wire {

using namespace weft::core;  // NOLINT

Result<std::string> local_path(std::string_view name) {
  WEFT_ASSIGN(Place place, locate(name));
  if (place.other) return unimplemented("This file must lie on this machine, not on a plugin's file system: '", name, "'");
  return std::move(place.path);
}

Descriptor& Descriptor::operator=(Descriptor&& o) noexcept {
  if (this != &o) {
    close();
    fd_ = o.release();
  }
  return *this;
}

void Descriptor::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<Descriptor> open_to_read(const std::string& path, int64_t& size) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!file.valid() || ::fstat(file.get(), &info) != 0) return io_error(path, errno);
  if (S_ISDIR(info.st_mode)) return io_error(path, EISDIR);
  size = int64_t(info.st_size);
  return file;
}

Status read_at(int fd, std::string_view path, int64_t offset, void* to, size_t n) {
  char* at = static_cast<char*>(to);
  while (n > 0) {
    const ssize_t got = ::pread(fd, at, n, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(path, errno);
    if (got == 0) return out_of_range("Read less bytes than requested");
    at += got;
    offset += got;
    n -= size_t(got);
  }
  return {};
}

Status read_file(std::string path, std::string& out) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  int64_t size = 0;
  WEFT_ASSIGN(Descriptor file, open_to_read(path, size));
  constexpr size_t kStep = 1 << 16;
  size_t n = 0;
  out.resize(size > 0 ? size_t(size) + 1 : kStep);
  while (true) {
    if (n == out.size()) out.resize(out.size() + std::max(kStep, out.size() / 2));
    const ssize_t got = ::read(file.get(), out.data() + n, out.size() - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(path, errno);
    if (got == 0) break;
    n += size_t(got);
  }
  out.resize(n);
  return {};
}

bool file_exists(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

Status write_all(int fd, std::string_view path, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t n = ::write(fd, contents.data(), contents.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error(path, errno);
    contents.remove_prefix(size_t(n));
  }
  return {};
}

Status create_folders(const std::string& path) {
  for (size_t at = 0; at != path.npos;) {
    at = path.find('/', at + 1);
    const std::string part = path.substr(0, at);
    struct stat info;
    if (::stat(part.c_str(), &info) == 0) continue;
    if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return io_error(part, errno);
  }
  return {};
}

// The contents go to a file beside the old one, which then takes its name. What is not a plain file (a pipe, a device, a link) is written
// in place.
Status write_file(const std::string& path, std::string_view contents) {
  const size_t slash = path.rfind('/');
  struct stat info;
  if (slash != path.npos && slash > 0 && ::stat(path.substr(0, slash).c_str(), &info) != 0)
    WEFT_RETURN_IF_ERROR(create_folders(path.substr(0, slash)));
  const bool exists = ::lstat(path.c_str(), &info) == 0;
  if (path.empty()) return io_error(path, ENOENT);
  if (path.back() == '/' || (exists && S_ISDIR(info.st_mode))) return io_error(path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!file.valid()) return io_error(path, errno);
    return write_all(file.get(), path, contents);
  }
  std::string beside = path + ".XXXXXX";
  Descriptor file(::mkstemp(beside.data()));
  if (!file.valid()) return io_error(path, errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file.get(), exists ? info.st_mode & 07777 : 0666 & ~mask);
  Status status = write_all(file.get(), path, contents);
  if (status.ok() && ::rename(beside.c_str(), path.c_str()) != 0) status = io_error(path, errno);
  if (!status.ok()) ::unlink(beside.c_str());
  return status;
}

namespace {

bool has_wildcard(std::string_view part) { return part.find_first_of("*?[\\") != part.npos; }

// Adds the paths that begin with `done` and go on as `rest` says, one component at a time.
void match_path(const std::string& done, std::string_view rest, std::vector<std::string>& found) {
  const size_t slash = rest.find('/');
  const std::string part(rest.substr(0, slash));
  const bool last = slash == rest.npos;
  auto go_on = [&](const std::string& name) {
    const std::string path = done + name;
    struct stat info;
    if (last) {
      if (::lstat(path.c_str(), &info) == 0) found.push_back(path);
    } else if (part.empty() || (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))) {
      match_path(path + "/", rest.substr(slash + 1), found);
    }
  };
  if (!has_wildcard(part)) return go_on(part);
  DIR* folder = ::opendir(done.empty() ? "." : done.c_str());
  if (!folder) return;
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && ::fnmatch(part.c_str(), entry->d_name, 0) == 0) names.emplace_back(name);
  }
  ::closedir(folder);
  for (const std::string& name : names) go_on(name);
}

}  // namespace

std::vector<std::string> match_paths(std::string_view pattern) {
  constexpr size_t kLongest = 8192;  // no path is longer, and the search goes one level deeper at each slash
  std::vector<std::string> found;
  if (!pattern.empty() && pattern.size() <= kLongest) match_path("", pattern, found);
  return found;
}

}  // namespace weft::wire
