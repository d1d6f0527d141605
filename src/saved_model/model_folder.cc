#include "saved_model/model_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "wire/leftovers.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::saved_model {
namespace {

constexpr std::string_view kVariables = "variables/variables";
constexpr std::string_view kNew = "/new", kSwap = "/swap-";  // "/swap-INODE": of the new folder, until the exchange

bool info_of(const std::string& path, struct stat& info) { return ::lstat(path.c_str(), &info) == 0; }
bool is_real_folder(const struct stat& info) { return S_ISDIR(info.st_mode); }

// Calls entry(path inside, info) for all below a folder, folders first; false ends a folder's own walk.
using Entry = std::function<Result<bool>(const std::string& inside, const struct stat& info)>;
Status walk(const std::string& folder, const Entry& entry, const std::string& inside = "", int depth = 0) {
  if (depth > 100) return failed_precondition("Folders are nested too deeply: ", folder, "/", inside);
  WEFT_ASSIGN(std::vector<std::string> names, local_file_system().children(inside.empty() ? folder : folder + "/" + inside));
  for (const std::string& name : names) {
    const std::string at = inside.empty() ? name : inside + "/" + name;
    struct stat info;
    if (!info_of(folder + "/" + at, info)) continue;  // removed meanwhile
    WEFT_ASSIGN(bool enter, entry(at, info));
    if (enter && is_real_folder(info)) WEFT_RETURN_IF_ERROR(walk(folder, entry, at, depth + 1));
  }
  return {};
}

// A file of the old variables, which the new ones replace.
bool is_checkpoint_file(std::string_view inside) { return inside.starts_with(kVariables) && wire::is_file_of_checkpoint(inside, kVariables); }

// Links to all that `from` has and `to` does not, but for the old variables.
Status link_foreign_files(const std::string& from, const std::string& to) {
  struct stat whole;
  if (!info_of(from, whole)) return io_error(from, errno);
  return walk(from, [&](const std::string& inside, const struct stat& info) -> Result<bool> {
    const std::string source = from + "/" + inside, target = to + "/" + inside;
    if (info.st_dev != whole.st_dev) return io_error(source, EXDEV);
    struct stat there;
    const bool exists = info_of(target, there);
    if (is_real_folder(info)) {
      if (!exists && ::mkdir(target.c_str(), 0700) != 0) return io_error(target, errno);
      if (exists && !is_real_folder(there)) return failed_precondition(source, " is a directory");
      if (::chmod(target.c_str(), info.st_mode & 07777) != 0) return io_error(target, errno);
      (void)!::lchown(target.c_str(), info.st_uid, info.st_gid);
      return true;
    }
    if (exists || is_checkpoint_file(inside)) return false;
    if (::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), 0) != 0 && errno != ENOENT) return io_error(source, errno);
    return false;
  });
}

// Moves files that other programs put into a folder that has lost its name to the one that has it now.
void move_foreign_files(const std::string& from, const std::string& to, const std::set<std::string>& written, bool newer) {
  (void)walk(from, [&](const std::string& inside, const struct stat& info) -> Result<bool> {
    const std::string source = from + "/" + inside, target = to + "/" + inside;
    struct stat there;
    const bool exists = info_of(target, there);
    if (is_real_folder(info)) {
      if (!exists) ::mkdir(target.c_str(), info.st_mode & 07777);
      return true;
    }
    if (written.contains(inside) || is_checkpoint_file(inside)) return false;
    if (exists && (!newer || there.st_ino == info.st_ino)) return false;
    ::renameat2(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), exists ? 0 : RENAME_NOREPLACE);
    return false;
  });
}

// From what a writer that was killed had in its temporary folder: the new model, which nobody has seen, or the old one.
void recover_from_temporary(const std::string& temp, const std::string& to) {
  const auto names = local_file_system().children(temp);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(kSwap.substr(1))) continue;
    struct stat info;
    if (!info_of(temp + "/" + name, info) || !is_real_folder(info)) continue;
    if (std::strtoull(name.c_str() + kSwap.size() - 1, nullptr, 10) != info.st_ino)
      move_foreign_files(temp + "/" + name, to, {"saved_model.pb", "fingerprint.pb"}, false);
  }
}

// The working folder is this one or inside it: it must not lose its name.
bool holds_working_folder(const std::string& folder) {
  struct stat wanted, info;
  if (!info_of(folder, wanted)) return false;
  std::string at = ".";
  for (int i = 0; i < PATH_MAX / 2; ++i, at += "/..") {
    if (::stat(at.c_str(), &info) != 0) return false;
    if (info.st_ino == wanted.st_ino && info.st_dev == wanted.st_dev) return true;
    struct stat above;
    if (::stat((at + "/..").c_str(), &above) != 0 || (above.st_ino == info.st_ino && above.st_dev == info.st_dev)) return false;
  }
  return false;
}

// "variables" or "assets" may be links to a place elsewhere, through which the files are written.
bool has_linked_folder(const std::string& folder) {
  struct stat info;
  for (const char* name : {"/variables", "/assets", "/debug"}) {
    if (info_of(folder + name, info) && S_ISLNK(info.st_mode)) return true;
  }
  return false;
}

// Renames, or copies where the target is on another file system.
Status move_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  if (errno != EXDEV) return io_error(to, errno);
  std::string contents;
  WEFT_RETURN_IF_ERROR(wire::read_file(from, contents));
  return wire::replace_file(to, contents);
}

// "." and "..", which cannot be renamed.
bool has_no_name(const std::string& path) {
  const std::string_view last = std::string_view(path).substr(path.rfind('/') + 1);
  return last == "." || last == "..";
}

bool is_mount_point(const std::string& folder) {
  struct stat a, b;
  return ::stat(folder.c_str(), &a) != 0 || ::stat((folder + "/..").c_str(), &b) != 0 || a.st_dev != b.st_dev || a.st_ino == b.st_ino;
}

}  // namespace

Status check_asset_name(const std::string& name) {
  bool good = !name.empty() && name[0] != '/' && name.find('\0') == name.npos && core::parse_uri(name).scheme.empty();
  for (size_t at = 0; good && at <= name.size();) {
    const size_t slash = std::min(name.find('/', at), name.size());
    good = name.compare(at, slash - at, "..") != 0;
    at = slash + 1;
  }
  return good ? Status() : invalid_argument("The asset's file name '", name, "' does not lie inside of the SavedModel's folder of assets");
}

FolderIdentity::FolderIdentity(const std::string& dir) {
  const auto place = locate(dir);
  struct stat info;
  if (!place.ok() || !place->local || ::stat(place->path.c_str(), &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

Result<ModelFolder> ModelFolder::create(const std::string& target) {
  ModelFolder out;
  WEFT_ASSIGN(Place place, locate(target));
  std::string& to = place.path;
  while (to.size() > 1 && to.back() == '/') to.pop_back();
  if (to.empty()) return invalid_argument("a SavedModel needs the name of a folder");
  if (!place.local) {
    out.direct_ = true;
    out.target_ = out.path_ = to;
    return out;
  }
  struct stat info;
  const bool there = ::lstat(to.c_str(), &info) == 0;
  if (there) {
    if (::stat(to.c_str(), &info) != 0) return io_error(to, errno);  // a link to nothing
    if (!S_ISDIR(info.st_mode)) return failed_precondition(to, " is not a directory");
    WEFT_RETURN_IF_ERROR(wire::follow_links(to));
    if (::access(to.c_str(), W_OK | X_OK) != 0) return io_error(to, errno);
  } else if (const std::string above(wire::folder_of(to)); !above.empty()) {
    WEFT_RETURN_IF_ERROR(wire::create_folders(above));
  }
  out.target_ = to;
  const wire::RecoverFunction recover = [&](const std::string& temp) { recover_from_temporary(temp, to); };
  wire::remove_abandoned_of(to, recover);
  const std::string within = to + "/model";
  if (there) wire::remove_abandoned_of(within);
  out.one_by_one_ = there && (has_no_name(to) || holds_working_folder(to) || is_mount_point(to) || has_linked_folder(to));
  auto temp = wire::TempFolder::create(out.one_by_one_ ? within : to);
  if (!temp.ok() && there && !out.one_by_one_ && temp.status().code() == Code::kPermissionDenied) {
    out.one_by_one_ = true;
    temp = wire::TempFolder::create(within);
  }
  WEFT_RETURN_IF_ERROR(temp.status());
  out.temp_ = std::move(temp).value();
  out.path_ = out.temp_.path() + std::string(kNew);
  if (::mkdir(out.path_.c_str(), 0755) != 0) return io_error(to, errno);
  return out;
}

Status ModelFolder::sync() const {
  return walk(path_, [&](const std::string& inside, const struct stat& info) -> Result<bool> {
    if (!S_ISREG(info.st_mode) && !is_real_folder(info)) return false;
    wire::Descriptor file(::open((path_ + "/" + inside).c_str(), O_RDONLY | O_CLOEXEC));
    if (file.valid() && ::fsync(file.get()) != 0 && errno != EINVAL && errno != EROFS) return io_error(target_ + "/" + inside, errno);
    return true;
  });
}

Status ModelFolder::publish() {
  if (direct_) return {};
  WEFT_RETURN_IF_ERROR(sync());
  WEFT_RETURN_IF_ERROR(walk(path_, [&](const std::string& inside, const struct stat& info) -> Result<bool> {
    if (!is_real_folder(info)) written_.insert(inside);
    return true;
  }));
  struct stat info;
  if (!one_by_one_ && ::stat(target_.c_str(), &info) != 0) {
    if (::rename(path_.c_str(), target_.c_str()) == 0) {
      temp_.remove();
      return wire::sync_folder_of(target_);
    }
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) return io_error(target_, errno);
  }
  if (::stat(target_.c_str(), &info) != 0) return io_error(target_, errno);
  if (!S_ISDIR(info.st_mode)) return failed_precondition(target_, " is not a directory");
  if (!one_by_one_ && exchange().ok()) {
    temp_.remove();
    return wire::sync_folder_of(target_);
  }
  const Status done = move_files();
  temp_.remove();
  WEFT_RETURN_IF_ERROR(done);
  return wire::sync_folder_of(target_ + "/x");
}

// Fails where it cannot be done; nothing has changed then but for links in the temporary folder.
Status ModelFolder::exchange() {
  struct stat old, made;
  if (::stat(target_.c_str(), &old) != 0 || ::stat(path_.c_str(), &made) != 0) return io_error(target_, errno);
  const wire::FolderLock lock(target_);  // one save at a time
  WEFT_RETURN_IF_ERROR(link_foreign_files(target_, path_));
  if (::chmod(path_.c_str(), old.st_mode & 07777) != 0) return io_error(target_, errno);
  if ((old.st_uid != made.st_uid || old.st_gid != made.st_gid) && ::lchown(path_.c_str(), old.st_uid, old.st_gid) != 0)
    return io_error(target_, errno);
  const std::string swap = cat(temp_.path(), kSwap, uint64_t(made.st_ino));
  if (::rename(path_.c_str(), swap.c_str()) != 0) return io_error(target_, errno);
  path_ = swap;
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) return io_error(target_, errno);
  move_foreign_files(path_, target_, written_, true);
  return {};
}

// The variables as a checkpoint that replaces another, then everything else; the model's own file last but for its fingerprint.
Status ModelFolder::move_files() {
  std::vector<std::string> order(written_.begin(), written_.end());
  const auto rank = [](const std::string& name) { return name == "fingerprint.pb" ? 2 : name == "saved_model.pb" ? 1 : 0; };
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  for (const std::string& inside : {std::string("variables"), std::string("assets")}) {
    if (wire::is_folder(path_ + "/" + inside)) WEFT_RETURN_IF_ERROR(wire::create_folders(target_ + "/" + inside));
  }
  const std::string variables = cat(path_, "/", kVariables), to = cat(target_, "/", kVariables);
  if (wire::file_exists(wire::bundle_index_name(variables))) {
    // Beside their place first: that may be on another file system.
    WEFT_ASSIGN(wire::TempFolder near, wire::TempFolder::create(to));
    const std::string here = near.path() + "/variables";
    for (const std::string& inside : order) {
      if (is_checkpoint_file(inside)) WEFT_RETURN_IF_ERROR(move_file(path_ + "/" + inside, near.path() + inside.substr(kVariables.find('/'))));
    }
    WEFT_RETURN_IF_ERROR(wire::merge_bundles({&here, 1}, to, false));
  }
  for (const std::string& inside : order) {
    if (is_checkpoint_file(inside)) continue;
    const std::string target = target_ + "/" + inside;
    WEFT_RETURN_IF_ERROR(wire::create_folders(std::string(wire::folder_of(target))));
    WEFT_RETURN_IF_ERROR(move_file(path_ + "/" + inside, target));
  }
  return {};
}

}  // namespace weft_engine::saved_model
