// Files that appear under their names only when they are complete. What is being written lies beside, under the name with
// ".tempstate" and a number behind it, and is locked (flock) as long as its writer lives: what a killed writer left can so be
// told from what another one is just writing. On other file systems (core/file_system.h) there are no locks, and one that cannot rename gets
// the file under its own name at once.
#pragma once

#include <string>
#include <string_view>

#include "wire/file.h"

namespace weft::wire {

class NewFile {
 public:
  NewFile() = default;
  static core::Result<NewFile> create(std::string target);
  NewFile(NewFile&& o) noexcept
      : target_(std::move(o.target_)), path_(std::move(o.path_)), file_(std::move(o.file_)), other_(std::move(o.other_)) {
    o.path_.clear();
  }
  NewFile& operator=(NewFile&& o) noexcept;
  ~NewFile() { discard(); }  // nothing is left of it, unless it was published

  const std::string& target() const { return target_; }
  // Errors name the target; ResourceExhausted where the disk is full or the file may not grow.
  core::Status write(std::string_view bytes);
  core::Status sync();
  // It takes its name, in place of what had it.
  core::Status publish();
  void discard();

 private:
  core::Status create_other(core::FileSystem& system);
  std::string target_, path_;  // path_: empty once it is published
  Descriptor file_;
  std::unique_ptr<core::WritableFile> other_;  // instead of file_, on another file system
};

// Publishes a file of these contents and waits until they are on the disk. The folder must exist.
core::Status replace_file(const std::string& path, std::string_view contents);
// Waits until the names in the folder of a file are on the disk.
core::Status sync_folder_of(std::string_view path);

// The name that an unfinished file will have; empty for other names.
std::string_view target_of_unfinished(std::string_view name);
// Removes an unfinished file whose writer is gone. False if it is still being written.
bool remove_abandoned(const std::string& path);

}  // namespace weft::wire
