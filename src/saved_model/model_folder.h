// The folder of a SavedModel while it is written: readers, also after a kill, find the old model or the new one, whole, and files that saving did not
// write stay.
//
// The model is made in a folder beside, gets links to what else is in the old one, and the two change places in one step. Where that cannot be (the
// folder is a mount point or the process's own working folder, the one above may not be written to, or the file system cannot exchange names), the
// files are renamed one by one, each whole: a kill between two of them leaves files of both models. On other file systems than this machine's they
// are written straight to their names.
#pragma once

#include <set>
#include <string>

#include "wire/new_file.h"

namespace weft_engine::saved_model {

using namespace weft_engine::core;

class ModelFolder {
 public:
  // Errors are TensorFlow's: FailedPrecondition where a file has the name, PermissionDenied where the folder may not be written to.
  static Result<ModelFolder> create(const std::string& target);
  // Where the files go. Nothing of it is seen before publish().
  const std::string& path() const { return path_; }
  // Waits until all is on the disk, too.
  Status publish();
  void discard() { temp_.remove(); }

 private:
  Status sync() const;
  Status exchange();
  Status move_files();

  std::string target_, path_;
  wire::TempFolder temp_;
  std::set<std::string> written_;  // paths inside
  bool direct_ = false, one_by_one_ = false;
};

// Which folder has a name now: another one after a save.
class FolderIdentity {
 public:
  explicit FolderIdentity(const std::string& dir);
  bool operator==(const FolderIdentity&) const = default;

 private:
  uint64_t device_ = 0, inode_ = 0;
};

// What read() gives, which is not made of two models: it is called again where the folder was replaced meanwhile.
template <class Read>
auto read_whole(const std::string& dir, const Read& read) {
  constexpr int kMost = 20;
  for (int attempt = 1;; ++attempt) {
    const FolderIdentity before(dir);
    auto made = read();
    if (FolderIdentity(dir) == before) return made;
    if (attempt == kMost) return decltype(made)(aborted(dir, " is replaced by another SavedModel each time that it is read"));
  }
}

// A name inside the folder "assets": InvalidArgument for one that leads out of it.
Status check_asset_name(const std::string& name);

}  // namespace weft_engine::saved_model
