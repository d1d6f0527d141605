// Where a file name leads: to this machine's files, or to a file system that a plugin serves under a URI scheme
// (TF_RegisterFilesystemPlugin). Code that opens files asks locate() first.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace weft::core {

struct FileInfo {
  int64_t size = 0, mtime_nsec = 0;
  bool is_directory = false;
};

class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status append(std::string_view bytes) = 0;
  virtual Status flush() = 0;
  virtual Status sync() = 0;
  virtual Status close() = 0;
};

// Names are whole URIs, as the user wrote them. What a file system cannot do is Unimplemented.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual Result<std::string> read(const std::string& name) = 0;
  virtual Result<std::unique_ptr<WritableFile>> create(const std::string& name) = 0;
  virtual Result<FileInfo> stat(const std::string& name) = 0;
  virtual Result<std::vector<std::string>> children(const std::string& folder) = 0;   // names inside it
  virtual Result<std::vector<std::string>> matching(const std::string& pattern) = 0;  // whole URIs
  virtual Status create_folder(const std::string& name) = 0;
  virtual Status create_folders(const std::string& name) = 0;  // with those above it
  virtual Status delete_file(const std::string& name) = 0;
  virtual Status delete_folder(const std::string& name) = 0;
  // With all that is in it; what could not be deleted is counted.
  virtual Status delete_recursively(const std::string& name, int64_t& undeleted_files, int64_t& undeleted_folders) = 0;
};

// For ever; AlreadyExists for a scheme that has one ("" and "file" are this machine's).
Status register_file_system(const std::string& scheme, std::unique_ptr<FileSystem> system);

struct Place {
  FileSystem* other = nullptr;  // null: `path` is one of this machine's
  std::string path;             // without "file://"; for another file system the whole URI
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

}  // namespace weft::core
