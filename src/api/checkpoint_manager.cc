#include "core/log.h"
#include "saved_model/checkpoint_state.h"
#include "wire/file.h"
#include "wire/leftovers.h"

#include "api/checkpoint_internal.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>

namespace weft {

using api::check;
using core::Status;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// When an index was written; below zero if there is none.
double written_at(const std::string& prefix) {
  struct stat info;
  if (::stat((prefix + ".index").c_str(), &info) != 0) return -1;
  return double(info.st_mtim.tv_sec) + double(info.st_mtim.tv_nsec) * 1e-9;
}

}  // namespace

struct CheckpointManager::State {
  struct Kept {
    std::string prefix;
    double timestamp;
  };

  State(Checkpoint& c, std::string d, CheckpointManagerOptions o)
      : checkpoint(c),
        directory(std::move(d)),
        options(std::move(o)),
        prefix(directory.empty() || directory.ends_with('/') ? directory : directory + "/") {
    prefix += options.checkpoint_name;
  }

  void recover();
  void adopt_unrecorded();
  Status saved(const std::string& path);
  Status record();
  void sweep();
  bool due(bool check_interval);

  Checkpoint& checkpoint;
  const std::string directory;
  CheckpointManagerOptions options;
  std::string prefix;  // of all its checkpoints
  std::optional<int64_t> last_step;

  mutable std::mutex mutex;  // guards what follows: a save may end on another thread
  std::vector<Kept> kept;    // oldest first
  std::string latest;
  double last_preserved = 0;
};

void CheckpointManager::State::recover() {
  const double clock = now();
  auto state = api::unwrap(saved_model::read_checkpoint_state(directory));
  if (!state) {
    last_preserved = clock - 1;  // as TensorFlow: another manager may be made right after this one
    return;
  }
  latest = state->model_checkpoint_path;
  last_preserved = state->last_preserved_timestamp;
  if (clock < last_preserved) {
    core::log(core::LogLevel::kWarning,
              core::cat("the clock is ", last_preserved - clock, " seconds behind the last preserved checkpoint timestamp."));
    last_preserved = clock;
  }
  const auto& paths = state->all_model_checkpoint_paths;
  std::vector<double> times = state->all_model_checkpoint_timestamps;
  if (times.empty()) times.assign(paths.size(), last_preserved);
  for (size_t i = 0; i < std::min(paths.size(), times.size()); ++i) {
    const double t = std::min(times[i], clock);
    if (t > last_preserved) kept.push_back({paths[i], t});
  }
}

// A process that was killed between writing a checkpoint and naming it in the state file leaves one that nobody would ever
// remove. It is newer than all that the file names; those that are kept for good are older.
void CheckpointManager::State::adopt_unrecorded() {
  if (kept.empty()) return;
  std::vector<Kept> found;
  for (const std::string& path : wire::numbered_checkpoints(prefix)) {
    if (std::any_of(kept.begin(), kept.end(), [&](const Kept& k) { return k.prefix == path; })) continue;
    if (const double t = written_at(path); t > kept.back().timestamp) found.push_back({path, std::min(t, now())});
  }
  std::sort(found.begin(), found.end(), [](const Kept& a, const Kept& b) { return a.timestamp < b.timestamp; });
  kept.insert(kept.end(), found.begin(), found.end());
}

Status CheckpointManager::State::saved(const std::string& path) {
  std::lock_guard lock(mutex);
  auto kept_before = kept;
  auto latest_before = latest;
  std::erase_if(kept, [&](const Kept& k) { return k.prefix == path; });
  kept.push_back({path, now()});
  latest = path;
  // First with those that are about to be deleted: until then, somebody may read them.
  if (Status s = record(); !s.ok()) {
    kept = std::move(kept_before);
    latest = std::move(latest_before);
    return s;
  }
  const size_t before = kept.size();
  sweep();
  // A state file that still names those that went does no harm, and the next save writes another.
  if (kept.size() != before) {
    if (Status s = record(); !s.ok()) core::log(core::LogLevel::kWarning, core::cat("the state file names checkpoints that were deleted: ", s));
  }
  return {};
}

Status CheckpointManager::State::record() {
  saved_model::CheckpointState state;
  state.model_checkpoint_path = latest;
  for (const Kept& k : kept) {
    state.all_model_checkpoint_paths.push_back(k.prefix);
    state.all_model_checkpoint_timestamps.push_back(k.timestamp);
  }
  state.last_preserved_timestamp = last_preserved;
  return saved_model::write_checkpoint_state(directory, std::move(state));
}

void CheckpointManager::State::sweep() {
  if (options.max_to_keep == 0) return;
  while (kept.size() > size_t(options.max_to_keep)) {
    const Kept old = kept.front();
    kept.erase(kept.begin());
    if (options.keep_checkpoint_every_n_hours > 0 && old.timestamp - options.keep_checkpoint_every_n_hours * 3600 >= last_preserved) {
      last_preserved = old.timestamp;
      continue;
    }
    wire::remove_checkpoint(old.prefix);
  }
}

bool CheckpointManager::State::due(bool check_interval) {
  if (options.checkpoint_interval == 0) return true;
  const int64_t step = cast(options.step_counter.value(), DType::int64).item<int64_t>();
  if (last_step && (step == *last_step || (check_interval && step < *last_step + options.checkpoint_interval))) return false;
  last_step = step;
  return true;
}

CheckpointManager::CheckpointManager(Checkpoint& checkpoint, std::string directory, CheckpointManagerOptions options)
    : state_(std::make_unique<State>(checkpoint, api::unwrap(wire::path_of(directory)), std::move(options))) {
  const auto& o = state_->options;
  if (o.max_to_keep < 0)
    throw Error(Code::kInvalidArgument, core::cat("Expected a positive integer or `None` for `max_to_keep`, got ", o.max_to_keep, "."));
  if (o.checkpoint_interval < 0) throw Error(Code::kInvalidArgument, "`checkpoint_interval` must not be negative.");
  if (o.checkpoint_interval > 0 && !o.step_counter.has_value())
    throw Error(Code::kInvalidArgument, "`step_counter` should be passed if `checkpoint_interval` is not None.");
  state_->recover();
  state_->adopt_unrecorded();
}

// A save that is still being written ends in this object.
CheckpointManager::~CheckpointManager() {
  Checkpoint::State& c = *state_->checkpoint.state_;
  std::lock_guard lock(c.mutex);
  if (c.writer.joinable()) c.writer.join();
}

const std::string& CheckpointManager::directory() const { return state_->directory; }

std::string CheckpointManager::latest_checkpoint() const {
  std::lock_guard lock(state_->mutex);
  return state_->latest;
}

std::vector<std::string> CheckpointManager::checkpoints() const {
  std::lock_guard lock(state_->mutex);
  std::vector<std::string> out;
  for (const auto& k : state_->kept) out.push_back(k.prefix);
  return out;
}

std::string CheckpointManager::save(std::optional<int64_t> number, bool check_interval) {
  Checkpoint::State& c = *state_->checkpoint.state_;
  std::lock_guard lock(c.mutex);
  check(c.finish_pending());
  if (!state_->due(check_interval)) return "";
  const int64_t count = c.count();
  const std::string path = core::cat(state_->prefix, "-", number.value_or(count));
  check(c.write(path, state_->prefix, [&] { return state_->saved(path); }));
  return path;
}

std::optional<PendingSave> CheckpointManager::save_async(std::optional<int64_t> number, bool check_interval) {
  Checkpoint::State& c = *state_->checkpoint.state_;
  std::lock_guard lock(c.mutex);
  check(c.finish_pending());
  if (!state_->due(check_interval)) return {};
  const int64_t count = c.count();
  const std::string path = core::cat(state_->prefix, "-", number.value_or(count));
  return c.write_async(path, state_->prefix, [state = state_.get(), path] { return state->saved(path); });
}

std::string CheckpointManager::restore_or_initialize() {
  std::lock_guard lock(state_->checkpoint.state_->mutex);
  check(state_->checkpoint.state_->finish_pending());
  const std::string path = latest_checkpoint();
  if (path.empty()) {
    if (state_->options.init) state_->options.init();
    return "";
  }
  state_->checkpoint.restore(path);
  if (state_->options.checkpoint_interval > 0) state_->last_step = cast(state_->options.step_counter.value(), DType::int64).item<int64_t>();
  return path;
}

}  // namespace weft
