#include "wire/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>

namespace weft::wire {

using namespace weft::core;  // NOLINT

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

std::string unfinished_name(const std::string& target) {
  static std::atomic<uint64_t> counter{0};
  const auto now = uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
  return cat(target, kUnfinished, now ^ uint64_t(::getpid()) << 40, counter.fetch_add(1));
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
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string path = unfinished_name(out.target_);
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file.valid() && errno == EEXIST) continue;
    if (!file.valid()) return io_error(out.target_, errno);
    // Who cleans up may have come before the lock. A file system without locks does without.
    ::flock(file.get(), LOCK_EX | LOCK_NB);
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
  if (::rename(path_.c_str(), target_.c_str()) != 0) return io_error(target_, errno);
  path_.clear();
  file_.close();
  return {};
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

bool remove_abandoned(const std::string& path) {
  const auto place = locate(path);
  if (!place.ok() || !place->local) return false;  // no locks: it may be in use
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return errno == ENOENT;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return false;
  return !same_file(file.get(), path) || ::unlink(path.c_str()) == 0;
}

}  // namespace weft::wire
