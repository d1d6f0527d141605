// This machine's files. Errors carry TensorFlow's codes and texts ("PATH; No such file or directory").
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/file_system.h"

namespace weft_engine::core {
namespace {

// Of a system call that gives 0 for success.
Status checked(const std::string& name, int result) { return result == 0 ? Status() : io_error(name, errno); }

class LocalReader final : public RandomAccessFile {
 public:
  LocalReader(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~LocalReader() override { ::close(fd_); }
  Result<size_t> read(uint64_t offset, void* to, size_t n) const override {
    char* at = static_cast<char*>(to);
    size_t done = 0;
    while (done < n) {
      ssize_t got = ::pread(fd_, at + done, n - done, off_t(offset + done));
      if (got < 0 && errno == ESPIPE) got = ::read(fd_, at + done, n - done);  // a pipe: read sequentially
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return io_error(path_, errno);
      if (got == 0) break;
      done += size_t(got);
    }
    return done;
  }
  Result<int64_t> size() const override {
    struct stat info;
    if (::fstat(fd_, &info) != 0) return io_error(path_, errno);
    return int64_t(info.st_size);
  }

 private:
  const std::string path_;
  const int fd_;
};

class LocalWriter final : public WritableFile {
 public:
  LocalWriter(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  ~LocalWriter() override {
    if (fd_ >= 0) ::close(fd_);
  }
  Status append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return io_error(path_, errno);
      bytes.remove_prefix(size_t(n));
    }
    return {};
  }
  Status flush() override { return {}; }  // nothing is held back
  Status sync() override { return checked(path_, ::fsync(fd_)); }
  Status close() override {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 ? io_error(path_, EBADF) : checked(path_, ::close(fd));
  }
  Result<int64_t> tell() override {
    const off_t at = ::lseek(fd_, 0, SEEK_CUR);
    if (at < 0) return io_error(path_, errno);
    return int64_t(at);
  }

 private:
  const std::string path_;
  int fd_;
};

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

class LocalFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<RandomAccessFile>> open(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(path, errno);
    auto file = std::make_unique<LocalReader>(path, fd);
    struct stat info;
    if (::fstat(fd, &info) != 0) return io_error(path, errno);
    if (S_ISDIR(info.st_mode)) return io_error(path, EISDIR);
    return std::unique_ptr<RandomAccessFile>(std::move(file));
  }
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override { return open_to_write(path, O_TRUNC); }
  Result<std::unique_ptr<WritableFile>> append_to(const std::string& path) override { return open_to_write(path, O_APPEND); }

  Result<FileInfo> stat(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return io_error(path, errno);
    return FileInfo{info.st_size, int64_t(info.st_mtim.tv_sec) * 1000000000 + info.st_mtim.tv_nsec, S_ISDIR(info.st_mode)};
  }
  Result<std::vector<std::string>> children(const std::string& path) override {
    DIR* folder = ::opendir(path.c_str());
    if (!folder) return io_error(path, errno);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    ::closedir(folder);
    return names;
  }
  Result<std::vector<std::string>> matching(const std::string& pattern) override {
    constexpr size_t kLongest = 8192;  // no path is longer, and the search goes one level deeper at each slash
    std::vector<std::string> found;
    if (!pattern.empty() && pattern.size() <= kLongest) match_path("", pattern, found);
    return found;
  }
  Status create_folder(const std::string& path) override { return checked(path, ::mkdir(path.c_str(), 0755)); }
  Status create_folders(const std::string& path) override {
    for (size_t at = 0; at != path.npos;) {
      at = path.find('/', at + 1);
      const std::string part = path.substr(0, at);
      struct stat info;
      if (::stat(part.c_str(), &info) == 0) {
        if (!S_ISDIR(info.st_mode)) return failed_precondition(part, " is not a directory");
        continue;
      }
      if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return io_error(part, errno);
    }
    return {};
  }
  Status delete_file(const std::string& path) override { return checked(path, ::unlink(path.c_str())); }
  Status delete_folder(const std::string& path) override { return checked(path, ::rmdir(path.c_str())); }
  Status delete_recursively(const std::string& path, int64_t& files, int64_t& folders) override {
    files = folders = 0;
    struct stat info;
    if (::lstat(path.c_str(), &info) != 0) {
      folders = 1;
      return errno == ENOENT ? not_found("Directory or file ", path, " not found") : io_error(path, errno);
    }
    return delete_all(path, S_ISDIR(info.st_mode), files, folders);
  }
  Status rename(const std::string& from, const std::string& to) override { return checked(from, ::rename(from.c_str(), to.c_str())); }

 private:
  static Result<std::unique_ptr<WritableFile>> open_to_write(const std::string& path, int how) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
    if (fd < 0) return io_error(path, errno);
    if (how == O_APPEND) ::lseek(fd, 0, SEEK_END);
    return std::unique_ptr<WritableFile>(std::make_unique<LocalWriter>(path, fd));
  }
  // Links are deleted and not followed; continues after an error, and tells the first.
  Status delete_all(const std::string& path, bool folder, int64_t& files, int64_t& folders) {
    Status first;
    if (folder) {
      auto names = children(path);
      if (!names.ok()) first = names.status();
      else
        for (const std::string& name : *names) {
          const std::string child = path + "/" + name;
          struct stat info;
          const bool inner = ::lstat(child.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
          Status s = delete_all(child, inner, files, folders);
          if (first.ok()) first = std::move(s);
        }
    }
    Status done = folder ? delete_folder(path) : delete_file(path);
    if (!done.ok()) ++(folder ? folders : files);
    return first.ok() ? done : first;
  }
};

}  // namespace

FileSystem& local_file_system() {
  static auto* system = new LocalFileSystem;
  return *system;
}

}  // namespace weft_engine::core
