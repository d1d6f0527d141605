// Whole files, by names of any file system (core/file_system.h): read, replaced, deleted, found by pattern. Errors carry TensorFlow's codes and
// texts ("PATH; No such file or directory").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/file_system.h"
#include "core/status.h"

namespace weft_engine::wire {

using core::io_error;

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

// A path without "file://"; the names of other file systems as they are. Unimplemented for a scheme that no one serves.
core::Result<std::string> path_of(std::string_view name);
// The same for what other libraries open: Unimplemented for other file systems than this machine's.
core::Result<std::string> local_path(std::string_view name);

// Opens a file for reading and tells its size; a folder is an error.
core::Result<std::unique_ptr<core::RandomAccessFile>> open_to_read(const std::string& name, int64_t& size);
// Exactly n bytes at an offset; OutOfRange if the file ends before.
core::Status read_at(const core::RandomAccessFile& file, int64_t offset, void* to, size_t n);
core::Result<std::unique_ptr<core::WritableFile>> open_to_write(const std::string& name);    // emptied
core::Result<std::unique_ptr<core::WritableFile>> open_to_append(const std::string& name);

// ResourceExhausted where the file has more than `most` bytes.
core::Status read_file(std::string name, std::string& out, size_t most = SIZE_MAX);
// Readers see the old file or the new one, never half of it, where the file system can rename. Creates the folder if need be.
core::Status write_file(const std::string& name, std::string_view contents);
core::Status create_folders(const std::string& name);
bool file_exists(const std::string& name);
bool is_folder(const std::string& name);
core::Status delete_file(const std::string& name);
core::Status delete_recursively(const std::string& name);
core::Status rename_file(const std::string& from, const std::string& to);
core::Status copy_file(const std::string& from, const std::string& to);

// "" for a name without a slash, as TensorFlow's Dirname.
std::string_view folder_of(std::string_view path);

// The names inside a folder, in no order.
core::Result<std::vector<std::string>> children_of(const std::string& folder);
// The paths that match a pattern (*, ?, [...]), in no order.
core::Result<std::vector<std::string>> match_paths(std::string_view pattern);

}  // namespace weft_engine::wire
