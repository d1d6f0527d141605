// Files in memory under "ram://", with the rules of TensorFlow's: a folder is there when it was made or when some name begins with its own; to
// open a file for writing keeps what is in it.
#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "core/file_system.h"

namespace weft_engine::core {
namespace {

struct Contents {
  mutable std::mutex mutex;
  std::string bytes;
};
using ContentsPtr = std::shared_ptr<Contents>;

class RamReader final : public RandomAccessFile {
 public:
  explicit RamReader(ContentsPtr file) : file_(std::move(file)) {}
  Result<size_t> read(uint64_t offset, void* to, size_t n) const override {
    const std::lock_guard lock(file_->mutex);
    const std::string& bytes = file_->bytes;
    if (offset >= bytes.size()) return size_t(0);
    n = std::min(n, bytes.size() - size_t(offset));
    if (n) std::memcpy(to, bytes.data() + offset, n);
    return n;
  }
  Result<int64_t> size() const override {
    const std::lock_guard lock(file_->mutex);
    return int64_t(file_->bytes.size());
  }

 private:
  const ContentsPtr file_;
};

class RamWriter final : public WritableFile {
 public:
  explicit RamWriter(ContentsPtr file) : file_(std::move(file)) {}
  Status append(std::string_view bytes) override {
    const std::lock_guard lock(file_->mutex);
    file_->bytes += bytes;
    return {};
  }
  Status flush() override { return {}; }
  Status sync() override { return {}; }
  Status close() override { return {}; }
  Result<int64_t> tell() override { return unimplemented("This filesystem does not support Tell()"); }

 private:
  const ContentsPtr file_;
};

class RamFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<RandomAccessFile>> open(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const auto it = files_.find(key(name));
    if (it == files_.end()) return not_found("");
    if (!it->second) return is_folder(name);
    return std::unique_ptr<RandomAccessFile>(std::make_unique<RamReader>(it->second));
  }
  Result<std::unique_ptr<WritableFile>> create(const std::string& name) override { return append_to(name); }
  Result<std::unique_ptr<WritableFile>> append_to(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const auto [it, fresh] = files_.try_emplace(key(name));
    if (fresh) it->second = std::make_shared<Contents>();
    if (!it->second) return is_folder(name);
    return std::unique_ptr<WritableFile>(std::make_unique<RamWriter>(it->second));
  }
  Result<FileInfo> stat(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const std::string wanted = key(name);
    const auto it = files_.lower_bound(wanted);
    if (it == files_.end() || !it->first.starts_with(wanted)) return not_found("");
    if (it->first != wanted || !it->second) return FileInfo{.is_directory = true};
    const std::lock_guard file(it->second->mutex);
    return FileInfo{.size = int64_t(it->second->bytes.size())};
  }
  Result<std::vector<std::string>> children(const std::string& folder) override {
    const std::lock_guard lock(mutex_);
    const std::string wanted = key(folder);
    std::vector<std::string> out;
    for (auto it = files_.lower_bound(wanted); it != files_.end() && it->first.starts_with(wanted); ++it) {
      std::string_view rest = std::string_view(it->first).substr(wanted.size());
      if (rest.starts_with('/')) rest.remove_prefix(1);
      if (!rest.empty() && rest.find('/') == rest.npos) out.emplace_back(rest);
    }
    return out;
  }
  Result<std::vector<std::string>> matching(const std::string& pattern) override {
    const std::lock_guard lock(mutex_);
    const std::string wanted = key(pattern);
    std::vector<std::string> out;
    for (const auto& [name, file] : files_) {
      if (::fnmatch(wanted.c_str(), name.c_str(), FNM_PATHNAME) == 0) out.push_back(cat(kScheme, name));
    }
    return out;
  }
  Status create_folder(const std::string& name) override { return create_folder_of_key(key(name)); }
  Status create_folders(const std::string& name) override {
    const std::string path = key(name);
    Status last;
    for (size_t at = 0; at != path.npos;) {
      at = path.find('/', at);
      last = create_folder_of_key(path.substr(0, at));
      if (at != path.npos) ++at;
    }
    return last;
  }
  Status delete_file(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    return files_.erase(key(name)) ? Status() : not_found("");
  }
  Status delete_folder(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    const auto it = files_.find(key(name));
    if (it == files_.end()) return not_found("");
    if (it->second) return invalid_argument("Not a directory");
    files_.erase(it);
    return {};
  }
  Status rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    const auto it = files_.find(key(from));
    if (it == files_.end()) return not_found("");
    ContentsPtr file = std::move(it->second);
    files_.erase(it);
    files_[key(to)] = std::move(file);
    return {};
  }

 private:
  static constexpr std::string_view kScheme = "ram://";
  static std::string key(std::string_view name) {
    if (name.starts_with(kScheme)) name.remove_prefix(kScheme.size());
    if (name.ends_with('/')) name.remove_suffix(1);
    return std::string(name);
  }
  static Status is_folder(const std::string& name) { return invalid_argument(name, " is a directory."); }
  Status create_folder_of_key(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto [it, fresh] = files_.try_emplace(name);
    if (!fresh && it->second) return already_exists("cannot create directory with same name as an existing file");
    return {};
  }

  std::mutex mutex_;
  std::map<std::string, ContentsPtr> files_;  // null: a folder that was made
};

}  // namespace

std::unique_ptr<FileSystem> make_ram_file_system() { return std::make_unique<RamFileSystem>(); }

}  // namespace weft_engine::core
