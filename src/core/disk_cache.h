// DiskCache: results of long work (machine code, kernels of a GPU) kept in a folder, so that the next process finds them. Content-addressed: the key is all that
// the result depends on, the build of weft is added to it. Any number of processes may use a folder: files appear whole, by rename. What cannot be read or written,
// is damaged, or belongs to another user is as if it were not there.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace weft_engine::core {

class DiskCache {
 public:
  // The folder is made at the first put, for its user alone. Above `most_bytes` the files that were used least recently are removed.
  DiskCache(std::string folder, int64_t most_bytes);

  // The one of this process, for ever; null: it is turned off, or there is no place for it. In WEFT_CACHE_DIR, else $XDG_CACHE_HOME/weft, else $HOME/.cache/weft;
  // WEFT_CACHE_DIR=off turns it off; WEFT_CACHE_MB is the most that it holds (256).
  static DiskCache* of_process();

  std::optional<std::string> find(std::string_view key);
  void put(std::string_view key, std::string_view bytes);

  const std::string& folder() const { return folder_; }

 private:
  std::string path_of(std::string_view key) const;
  bool make_folder();
  void evict_oldest();

  const std::string folder_;
  const int64_t most_bytes_;
  std::mutex mutex_;
  bool ready_ = false, refused_ = false;  // the folder: made and ours; or not to be written
  int64_t held_ = 0;  // bytes in it, as far as this process knows
};

}  // namespace weft_engine::core
