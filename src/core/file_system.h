// FileSystem: the interface through which all files are read and written. A name leads to this machine's files, to those in memory ("ram://"),
// or to a file system that a plug-in serves under a URI scheme (TF_RegisterFilesystemPlugin); locate() says where. wire/file.h has the functions
// for whole files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace weft_engine::core {

struct FileInfo {
  int64_t size = 0, mtime_nsec = 0;
  bool is_directory = false;
};

class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  // As many of the n bytes at the offset as the file has. Safe from many threads.
  virtual Result<size_t> read(uint64_t offset, void* to, size_t n) const = 0;
  virtual Result<int64_t> size() const = 0;
};

class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status append(std::string_view bytes) = 0;
  virtual Status flush() = 0;
  virtual Status sync() = 0;
  virtual Status close() = 0;
  virtual Result<int64_t> tell() = 0;
};

// Names are paths for this machine's files, and whole URIs, as the user wrote them, for all others. What a file system cannot do is
// Unimplemented.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::unique_ptr<RandomAccessFile>> open(const std::string& name) = 0;
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& name) = 0;
  virtual Result<std::unique_ptr<WritableFile>> append_to(const std::string& name) = 0;  // made where there is none
  virtual Result<FileInfo> stat(const std::string& name) = 0;
  virtual Result<std::vector<std::string>> children(const std::string& folder) = 0;   // names inside it
  virtual Result<std::vector<std::string>> matching(const std::string& pattern) = 0;  // whole names
  virtual Status create_folder(const std::string& name) = 0;
  virtual Status create_folders(const std::string& name) = 0;  // with those above it
  virtual Status delete_file(const std::string& name) = 0;
  virtual Status delete_folder(const std::string& name) = 0;
  // With all that is in it, going on after an error; what could not be deleted is counted.
  virtual Status delete_recursively(const std::string& name, int64_t& undeleted_files, int64_t& undeleted_folders);
  virtual Status rename(const std::string& from, const std::string& to) = 0;  // a file that has the new name is replaced
  virtual bool can_rename() const { return true; }

 protected:
  // By children() and stat(), component by component, for a file system without patterns of its own.
  Result<std::vector<std::string>> match_by_component(const std::string& pattern);
};

// For ever; AlreadyExists for a scheme that has one ("", "file" and "ram" do).
Status register_file_system(const std::string& scheme, std::unique_ptr<FileSystem> system);
std::vector<std::string> file_system_schemes();
FileSystem& local_file_system();
std::unique_ptr<FileSystem> make_ram_file_system();

struct Place {
  FileSystem& system;
  std::string path;  // without "file://"; for other file systems the whole URI
  bool local;
};
// Unimplemented for a scheme that no one serves.
Result<Place> locate(std::string_view name);

// "scheme", "host" and "path" of "scheme://host/path"; all path where there is no scheme.
struct Uri {
  std::string_view scheme, host, path;
};
Uri parse_uri(std::string_view name);

// TensorFlow's code for an error number of the system, with the path and the system's words.
Status io_error(std::string_view path, int error);

}  // namespace weft_engine::core
