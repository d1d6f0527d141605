// Files of the local file system: whole ones read and replaced, parts read at an offset, names found by
// pattern. Errors carry TensorFlow's codes and texts ("PATH; No such file or directory").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/file_system.h"
#include "core/status.h"

namespace weft::wire {

using core::io_error;

// A path of the local file system, with or without "file://"; Unimplemented for other schemes, also those that
// plugins serve (core/file_system.h).
core::Result<std::string> local_path(std::string_view name);

// Owner of a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(o.release()) {}
  Descriptor& operator=(Descriptor&& o) noexcept;
  ~Descriptor() { close(); }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void close();

 private:
  int fd_;
};

// Opens a file for reading and tells its size; a folder is an error.
core::Result<Descriptor> open_to_read(const std::string& path, int64_t& size);
// Exactly n bytes at an offset; OutOfRange if the file ends before.
core::Status read_at(int fd, std::string_view path, int64_t offset, void* to, size_t n);

core::Status read_file(std::string path, std::string& out);
core::Status write_all(int fd, std::string_view path, std::string_view contents);
// Readers see the old file or the new one, never half of it. Creates the folder if need be.
core::Status write_file(const std::string& path, std::string_view contents);
core::Status create_folders(const std::string& path);
bool file_exists(const std::string& path);

// "" for a name without a slash, as TensorFlow's Dirname.
std::string_view folder_of(std::string_view path);

// The paths that match a pattern (*, ?, [...]), in no order.
std::vector<std::string> match_paths(std::string_view pattern);

}  // namespace weft::wire
