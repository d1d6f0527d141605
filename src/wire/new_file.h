// Files that appear under their names only when they are complete. What is being written lies beside, under the name with
// ".tempstate" and a random number behind it, and is locked (flock) as long as its writer lives: what a killed writer left can so be
// told from what another one is just writing, and the next writer of the same name removes it. On other file systems (core/file_system.h) there are
// no locks, and one that cannot rename gets the file under its own name at once.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "wire/file.h"

namespace weft_engine::wire {

class NewFile {
 public:
  NewFile() = default;
  static core::Result<NewFile> create(std::string target);
  NewFile(NewFile&& o) noexcept
      : target_(std::move(o.target_)), path_(std::move(o.path_)), file_(std::move(o.file_)), other_(std::move(o.other_)), mode_(o.mode_) {
    o.path_.clear();
  }
  NewFile& operator=(NewFile&& o) noexcept;
  ~NewFile() { discard(); }  // nothing is left of it, unless it was published

  const std::string& target() const { return target_; }
  // Another name than was said at first, in the same folder.
  void retarget(std::string target) { target_ = std::move(target); }
  // The permissions that it gets with its name; until then it is its owner's alone. What the process gives new files, unless set.
  void set_mode(unsigned mode) { mode_ = int(mode); }
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
  int mode_ = -1;
};

// A folder of its owner alone, beside a file or folder that is being made, under a name as an unfinished file's. It is removed in the end, with all
// that is in it. Of this machine only.
class TempFolder {
 public:
  TempFolder() = default;
  static core::Result<TempFolder> create(const std::string& target);
  TempFolder(TempFolder&& o) noexcept : path_(std::move(o.path_)), folder_(std::move(o.folder_)) { o.path_.clear(); }
  TempFolder& operator=(TempFolder&& o) noexcept;
  ~TempFolder() { remove(); }
  const std::string& path() const { return path_; }
  void remove();

 private:
  std::string path_;
  Descriptor folder_;  // holds the lock
};

// What a name leads to in the end where it is a link, also to something that is not there. Paths above are not looked at.
core::Status follow_links(std::string& path);

// Publishes a file of these contents and waits until they are on the disk. The folder must exist.
core::Status replace_file(const std::string& path, std::string_view contents);
// Waits until the names in the folder of a file are on the disk.
core::Status sync_folder_of(std::string_view path);

// The name that an unfinished file will have; empty for other names.
std::string_view target_of_unfinished(std::string_view name);
// Removes an unfinished file or temporary folder whose writer is gone. False if it is still in use.
bool remove_abandoned(const std::string& path);
// The same for a folder, in which the writer of this name first looks for what is not to be removed.
using RecoverFunction = std::function<void(const std::string& folder)>;
bool remove_abandoned_folder(const std::string& path, const RecoverFunction& recover);
// What killed writers left of a file or folder of this name. In folders of very many names not every call looks.
void remove_abandoned_of(const std::string& target, const RecoverFunction& recover = {});

// Held while files take their names, or are looked at together, by one writer of a folder (threads, processes) at a time. Who has waited ten
// seconds goes on without.
class FolderLock {
 public:
  explicit FolderLock(std::string_view path_inside);
  FolderLock(const FolderLock&) = delete;
  ~FolderLock();

 private:
  Descriptor folder_;
};

// What open() with these permissions would give a new file.
unsigned masked_mode(unsigned mode);

}  // namespace weft_engine::wire
