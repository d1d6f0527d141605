// The inside of Checkpoint, which CheckpointManager shares.
#pragma once

#include "saved_model/checkpoint.h"
#include "saved_model/restore.h"
#include "trace/variable.h"

#include "api/unwrap.h"
#include "weft/checkpoint.h"
#include "weft/math.h"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace weft {

// A save on its way. The thread holds this, so it may outlive every handle.
struct PendingSave::State {
  void finish(core::Status s);
  core::Status wait();  // and remembers that somebody asked

  std::string prefix;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false, asked = false;
  core::Status status;
};

struct Checkpoint::State {
  ~State() { (void)finish_pending(); }

  // Held by every public function.
  std::recursive_mutex mutex;

  // Waits for the save before this one. Its error, unless somebody has asked for it.
  core::Status finish_pending();
  core::Result<saved_model::Snapshot> snapshot() { return saved_model::take_snapshot(root, attached); }
  // Writes values of this moment under a prefix, then does `record`, which makes it known; where that fails, the checkpoint goes,
  // unless it stands in the place of an earlier one. `family`: the prefix without its number, whose leftovers are removed.
  using Record = std::function<core::Status()>;
  core::Status write(const std::string& prefix, const std::string& family, const Record& record);
  PendingSave write_async(const std::string& prefix, const std::string& family, Record record);

  core::Result<std::shared_ptr<saved_model::RestoreStatus>> restore(const std::string& path);
  void make_counter();
  // One more; gives the new number.
  int64_t count();

  std::shared_ptr<trace::TrackableState> root;
  std::vector<trace::TrackableState::Child> attached;  // children that the root does not know of
  bool own_root = false;
  Variable counter;
  std::shared_ptr<saved_model::RestoreStatus> last_restore;  // for children that come later
  std::shared_ptr<PendingSave::State> pending;
  std::thread writer;
};

}  // namespace weft
