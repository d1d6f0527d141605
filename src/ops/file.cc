// Whole files read, written and found by pattern.
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// TensorFlow's codes for the system's errors.
Status io_error(std::string_view path, int error) {
  Code code = Code::kUnknown;
  switch (error) {
    case EINVAL: case ENAMETOOLONG: case E2BIG: case EDESTADDRREQ: case EDOM: case EFAULT: case EILSEQ: case ENOPROTOOPT:
    case ENOSTR: case ENOTSOCK: case ENOTTY: case EPROTOTYPE: case ESPIPE: code = Code::kInvalidArgument; break;
    case ETIMEDOUT: code = Code::kDeadlineExceeded; break;
    case ENODEV: case ENOENT: case ENXIO: case ESRCH: code = Code::kNotFound; break;
    case EEXIST: case EADDRNOTAVAIL: case EALREADY: code = Code::kAlreadyExists; break;
    case EPERM: case EACCES: case EROFS: code = Code::kPermissionDenied; break;
    case ENOTEMPTY: case EISDIR: case ENOTDIR: case EADDRINUSE: case EBADF: case EBUSY: case ECHILD: case EISCONN: case ENOTBLK:
    case ENOTCONN: case EPIPE: case ETXTBSY: code = Code::kFailedPrecondition; break;
    case ENOSPC: case EDQUOT: case EMFILE: case EMLINK: case ENFILE: case ENOBUFS: case ENOMEM: code = Code::kResourceExhausted; break;
    case EFBIG: case EOVERFLOW: case ERANGE: code = Code::kOutOfRange; break;
    case ENOSYS: case ENOTSUP: case EAFNOSUPPORT: case EXDEV: code = Code::kUnimplemented; break;
    case EAGAIN: case ECONNREFUSED: case ECONNABORTED: case ECONNRESET: case EINTR: case EHOSTDOWN: case EHOSTUNREACH:
      code = Code::kUnavailable; break;
    case EDEADLK: case ESTALE: code = Code::kAborted; break;
    case ECANCELED: code = Code::kCancelled; break;
    default: break;
  }
  return Status(code, cat(path, "; ", std::strerror(error)));
}

// A path of the local file system, with or without "file://".
Result<std::string> local_path(std::string_view name) {
  const size_t colon = name.find("://");
  if (colon == name.npos || name.find_first_of("/.") < colon) return std::string(name);
  if (name.substr(0, colon) != "file")
    return unimplemented("File system scheme '", name.substr(0, colon), "' not implemented (file: '", name, "')");
  return std::string(name.substr(colon + 3));
}

struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Status read_file(std::string path, std::string& out) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return io_error(path, errno);
  if (S_ISDIR(info.st_mode)) return io_error(path, EISDIR);
  constexpr size_t kStep = 1 << 16;
  size_t n = 0;
  out.resize(info.st_size > 0 ? size_t(info.st_size) + 1 : kStep);
  while (true) {
    if (n == out.size()) out.resize(out.size() + std::max(kStep, out.size() / 2));
    const ssize_t got = ::read(file.fd, out.data() + n, out.size() - n);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error(path, errno);
    if (got == 0) break;
    n += size_t(got);
  }
  out.resize(n);
  return {};
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

// Readers see the old file or the new one, never half of it: the contents go to a file beside it, which
// then takes its name. What is not a plain file (a pipe, a device, a link) is written in place.
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
    if (file.fd < 0) return io_error(path, errno);
    return write_all(file.fd, path, contents);
  }
  std::string beside = path + ".XXXXXX";
  Descriptor file(::mkstemp(beside.data()));
  if (file.fd < 0) return io_error(path, errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file.fd, exists ? info.st_mode & 07777 : 0666 & ~mask);
  Status status = write_all(file.fd, path, contents);
  if (status.ok() && ::rename(beside.c_str(), path.c_str()) != 0) status = io_error(path, errno);
  if (!status.ok()) ::unlink(beside.c_str());
  return status;
}

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

Status run_matching_files(KernelContext& c) {
  const Tensor& patterns = c.input(0);
  if (patterns.rank() > 1) return invalid_argument("Input patterns tensor must be scalar or vector, but had shape: ", patterns.shape());
  std::vector<std::string> found;
  for (const tstring& pattern : patterns.span<tstring>()) {
    if (pattern.empty()) continue;
    WEFT_ASSIGN(std::string path, local_path(pattern.view()));
    match_path("", path, found);
  }
  std::sort(found.begin(), found.end());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({int64_t(found.size())})));
  for (size_t i = 0; i < found.size(); ++i) out->data<tstring>()[i] = found[i];
  return {};
}

Status run_read_file(KernelContext& c) {
  const Tensor& name = c.input(0);
  if (name.rank() != 0) return invalid_argument("Input filename tensor must be scalar, but had shape: ", name.shape());
  WEFT_ASSIGN(std::string path, local_path(name.data<tstring>()[0].view()));
  std::string contents;
  WEFT_RETURN_IF_ERROR(read_file(path, contents));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] = contents;
  return {};
}

Status run_write_file(KernelContext& c) {
  const Tensor &name = c.input(0), &contents = c.input(1);
  if (name.rank() != 0) return invalid_argument("Input filename tensor must be scalar, but had shape: ", name.shape());
  if (contents.rank() != 0) return invalid_argument("Contents tensor must be scalar, but had shape: ", contents.shape());
  WEFT_ASSIGN(std::string path, local_path(name.data<tstring>()[0].view()));
  return write_file(path, contents.data<tstring>()[0].view());
}

Status matching_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  c.output(0, PartialShape::vector(kUnknownDim));
  return {};
}

Status scalars_only(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return shapes::scalar(c);
}

}  // namespace

void file(Registry& r) {
  r.add("MatchingFiles")
      .doc("The files whose names match some patterns, sorted.")
      .in("pattern: string")
      .out("filenames: string")
      .shape(matching_shape)
      .cpu(run_matching_files);

  r.add("ReadFile")
      .doc("The contents of a file.")
      .in("filename: string")
      .out("contents: string")
      .shape(scalars_only)
      .cpu(run_read_file);

  r.add("WriteFile")
      .doc("Writes a file as a whole, creating its folder if need be.")
      .in("filename: string")
      .in("contents: string")
      .stateful()
      .shape(scalars_only)
      .cpu(run_write_file);
}

}  // namespace weft::ops
