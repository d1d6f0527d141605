// Checkpoints: the values of variables, saved under the names that lead to them from a root, as tf.train.Checkpoint does it. The
// files go both ways between weft and TensorFlow.
//
//   weft::Checkpoint checkpoint({{"model", model}, {"optimizer", optimizer}});
//   checkpoint.save("run/ckpt");                                   // run/ckpt-1
//   checkpoint.restore(weft::latest_checkpoint("run")).assert_consumed();
//
// A save is all or nothing: until it is complete, on the disk and all, what was there before stays as it is.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/inspect.h"
#include "weft/module.h"

namespace weft {

// Anything that can be saved: a variable, a module, or a list or map of these. Given to Checkpoint, which keeps what it stands for.
class WEFT_API Trackable {
 public:
  Trackable(const Variable& v);                                // NOLINT: implicit on purpose
  Trackable(const Module& m) : state_(m.tracking()) {}         // NOLINT
  Trackable(const Variable* v) : Trackable(there(v)) {}        // NOLINT
  Trackable(const Module* m) : Trackable(there(m)) {}          // NOLINT
  template <class T>
  Trackable(const std::shared_ptr<T>& m) : Trackable(there(m.get())) {}  // NOLINT
  template <class T>
  Trackable(const std::vector<T>& list) {                      // NOLINT
    std::vector<std::pair<std::string, Trackable>> children;
    for (size_t i = 0; i < list.size(); ++i) children.emplace_back(std::to_string(i), Trackable(list[i]));
    state_ = group("trackable_list_wrapper", children);
  }
  template <class T>
  Trackable(const std::map<std::string, T>& map) {             // NOLINT
    std::vector<std::pair<std::string, Trackable>> children;
    for (const auto& [key, value] : map) children.emplace_back(key, Trackable(value));
    state_ = group("trackable_dict_wrapper", children);
  }
  const std::shared_ptr<weft_engine::trace::TrackableState>& state() const { return state_; }

 private:
  template <class T>
  static const T& there(const T* p) {
    if (!p) throw Error(Code::kInvalidArgument, "nothing to track: a null pointer");
    return *p;
  }
  static std::shared_ptr<weft_engine::trace::TrackableState> group(const char* kind, const std::vector<std::pair<std::string, Trackable>>& children);
  std::shared_ptr<weft_engine::trace::TrackableState> state_;
};

// What became of a restoration. The checks throw (FailedPrecondition) unless they hold when they are made; they can be chained.
class WEFT_API RestoreStatus {
 public:
  // Everything in the checkpoint has found its object, and every variable its value.
  const RestoreStatus& assert_consumed() const;
  // Every variable that exists now has a value in the checkpoint, which may hold more.
  const RestoreStatus& assert_existing_objects_matched() const;
  // Something matched, apart from the root.
  const RestoreStatus& assert_nontrivial_match() const;
  // No warning if values of the checkpoint are never asked for.
  const RestoreStatus& expect_partial() const;
  // Variables have their values as soon as they are made: nothing is left to do.
  const RestoreStatus& initialize_or_restore() const { return *this; }

 private:
  friend class Checkpoint;
  struct State;
  std::shared_ptr<State> state_;
};

// A save that another thread is writing. Copies mean the same one; it goes on when they are gone.
class WEFT_API PendingSave {
 public:
  // Whether all is written.
  bool done() const;
  // Waits; the prefix that was written, or the error.
  const std::string& wait() const;

 private:
  friend class Checkpoint;
  friend class CheckpointManager;
  struct State;
  std::shared_ptr<State> state_;
};

// Its functions may be called from any thread, one after another; objects must not be tracked meanwhile.
class WEFT_API Checkpoint {
 public:
  using Objects = std::vector<std::pair<std::string, Trackable>>;
  // A root of its own with these children.
  explicit Checkpoint(const Objects& objects);
  Checkpoint(std::initializer_list<Objects::value_type> objects) : Checkpoint(Objects(objects)) {}
  // The object is the root; further ones are saved as if they were its children.
  explicit Checkpoint(const Module& root, const Objects& objects = {});
  ~Checkpoint();  // waits for what is being saved
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // A further child, or another one of that name. It gets its values if an earlier restore() had some for it.
  void track(const std::string& name, const Trackable& object);

  // Adds one to save_counter, writes PREFIX-N and names it in the file "checkpoint" beside it. Gives "PREFIX-N".
  std::string save(const std::string& prefix);
  // Writes PREFIX and nothing else.
  std::string write(const std::string& prefix);
  // The same, written by a thread. The values are those of this moment; variables may change at once. One after another; an error
  // is thrown by wait(), or by the next save if nobody waited.
  PendingSave save_async(const std::string& prefix);
  PendingSave write_async(const std::string& prefix);
  // Waits for what is being saved, and throws its error if nobody asked for it.
  void sync();

  // Variables get their values now, or when they are tracked. Objects that only one side knows of are left alone; the status tells.
  // The path is a prefix, or the folder of a SavedModel. An empty one (no latest checkpoint) restores nothing.
  RestoreStatus restore(const std::string& path);
  // The same for what write() wrote: there need be no save_counter.
  RestoreStatus read(const std::string& path);

  // How often save() was called, over restarts. An int64 scalar.
  Variable save_counter();

 private:
  friend class CheckpointManager;
  struct State;
  std::unique_ptr<State> state_;
};

// The file "checkpoint" in a folder.
struct CheckpointState {
  std::string model_checkpoint_path;                     // the latest
  std::vector<std::string> all_model_checkpoint_paths;   // oldest first
  std::vector<double> all_model_checkpoint_timestamps;   // seconds since 1970
  double last_preserved_timestamp = 0;
};
// None where there is no such file, or none that can be read.
WEFT_API std::optional<CheckpointState> get_checkpoint_state(const std::string& folder, const std::string& file = "checkpoint");
// The prefix of the latest checkpoint of a folder; empty where there is none.
WEFT_API std::string latest_checkpoint(const std::string& folder, const std::string& file = "checkpoint");
// What a checkpoint holds, by its prefix or by the folder whose latest it is.
WEFT_API std::vector<CheckpointEntry> list_variables(const std::string& prefix_or_folder);
WEFT_API Tensor load_variable(const std::string& prefix_or_folder, const std::string& key);

struct CheckpointManagerOptions {
  int max_to_keep = 5;                        // 0: all
  double keep_checkpoint_every_n_hours = 0;   // 0: none is kept beyond those
  std::string checkpoint_name = "ckpt";
  Variable step_counter = {};                 // needed by checkpoint_interval
  int64_t checkpoint_interval = 0;            // at least so many steps between two saves; 0: each save() saves
  std::function<void()> init = {};            // for restore_or_initialize where there is nothing to restore
};

// Keeps the last few checkpoints of a folder and removes older ones. Goes on where an earlier manager of the same folder ended.
class WEFT_API CheckpointManager {
 public:
  // The checkpoint must live as long as the manager.
  CheckpointManager(Checkpoint& checkpoint, std::string directory, CheckpointManagerOptions options = {});
  ~CheckpointManager();
  CheckpointManager(const CheckpointManager&) = delete;
  CheckpointManager& operator=(const CheckpointManager&) = delete;

  // Where the checkpoints are.
  const std::string& directory() const;
  std::string latest_checkpoint() const;       // empty: none
  std::vector<std::string> checkpoints() const;  // those that are managed, oldest first

  // The prefix that was written; empty if the interval is not over. The number is that of save_counter unless another is given.
  std::string save(std::optional<int64_t> number = {}, bool check_interval = true);
  // None if the interval is not over.
  std::optional<PendingSave> save_async(std::optional<int64_t> number = {}, bool check_interval = true);
  // Restores the latest and gives its prefix; otherwise calls options.init and gives an empty one.
  std::string restore_or_initialize();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft
