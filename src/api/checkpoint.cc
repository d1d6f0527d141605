#include "core/threads.h"
#include "saved_model/checkpoint_state.h"
#include "trace/variable.h"
#include "wire/leftovers.h"
#include "wire/tensor_bundle.h"

#include "api/checkpoint_internal.h"

#include <algorithm>
#include <new>
#include <system_error>

namespace weft {

using api::check;
using api::unwrap;
using core::Status;

Trackable::Trackable(const Variable& v) {
  if (!v.has_value()) throw Error(Code::kInvalidArgument, "a variable that was not made cannot be tracked");
  state_ = v.state();
}

std::shared_ptr<trace::TrackableState> Trackable::group(const char* kind, const std::vector<std::pair<std::string, Trackable>>& children) {
  auto out = std::make_shared<trace::TrackableState>(kind);
  for (const auto& [name, child] : children) check(out->track(name, child.state()));
  return out;
}

void PendingSave::State::finish(Status s) {
  std::lock_guard lock(mutex);
  status = std::move(s);
  done = true;
  changed.notify_all();
}

Status PendingSave::State::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done; });
  asked = true;
  return status;
}

bool PendingSave::done() const {
  if (!state_) return true;
  std::lock_guard lock(state_->mutex);
  return state_->done;
}

const std::string& PendingSave::wait() const {
  if (!state_) throw Error(Code::kInvalidArgument, "no save was begun");
  check(state_->wait());
  return state_->prefix;
}

Status Checkpoint::State::finish_pending() {
  if (writer.joinable()) writer.join();
  if (!pending) return {};
  auto last = std::move(pending);
  pending = nullptr;
  std::lock_guard lock(last->mutex);
  return last->asked ? Status() : last->status;
}

namespace {

Status write_all(const std::string& prefix, const std::string& family, saved_model::Snapshot& snapshot, const std::function<Status()>& record) {
  if (!family.empty()) wire::remove_leftovers(family, true);
  const bool fresh = !wire::file_exists(wire::bundle_index_name(prefix));
  if (Status s = saved_model::write_snapshot(prefix, snapshot); !s.ok() || !record) return s;
  Status s = record();
  if (!s.ok() && fresh) wire::remove_checkpoint(prefix);
  return s;
}

}  // namespace

Status Checkpoint::State::write(const std::string& prefix, const std::string& family, const Record& record) {
  auto taken = snapshot();
  if (!taken.ok()) return taken.status();
  return write_all(prefix, family, *taken, record);
}

PendingSave Checkpoint::State::write_async(const std::string& prefix, const std::string& family, Record record) {
  auto values = std::make_shared<saved_model::Snapshot>(unwrap(snapshot()));
  PendingSave out;
  out.state_ = std::make_shared<PendingSave::State>();
  out.state_->prefix = prefix;
  auto work = [state = out.state_, values, prefix, family, record = std::move(record)]() mutable {
    Status s = core::without_exceptions([&] { return write_all(prefix, family, *values, record); });
    values.reset();
    state->finish(std::move(s));
  };
  pending = out.state_;
  try {
    writer = std::thread(work);
  } catch (const std::system_error&) {
    work();  // no thread to be had: it is written here and now
  }
  return out;
}

void Checkpoint::State::make_counter() {
  if (counter.has_value()) return;
  if (trace::TrackableState* there = root->child("save_counter"); there && there->as_variable()) {
    counter = Variable::adopt(std::static_pointer_cast<trace::VariableState>(there->shared_from_this()));
    return;
  }
  trace::Entered outside(nullptr);
  NameScope plain("");
  counter = Variable(Tensor(int64_t(0)), {.name = "save_counter", .trainable = false});
  attached.push_back({"save_counter", counter.state()});
  if (last_restore) check(last_restore->attach(attached.back()));
}

int64_t Checkpoint::State::count() {
  make_counter();
  trace::Entered outside(nullptr);
  return counter.assign_add(Tensor(int64_t(1))).value().item<int64_t>();
}

core::Result<std::shared_ptr<saved_model::RestoreStatus>> Checkpoint::State::restore(const std::string& path) {
  const std::string local = path.empty() ? path : unwrap(wire::path_of(path));
  auto restored = saved_model::restore_checkpoint(local, root, attached);
  if (restored.ok()) last_restore = *restored;
  return restored;
}

namespace {

// By name, as keyword arguments are saved.
Checkpoint::Objects in_order(Checkpoint::Objects objects) {
  std::sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 1; i < objects.size(); ++i) {
    if (objects[i].first == objects[i - 1].first) throw Error(Code::kInvalidArgument, core::cat("two objects are named '", objects[i].first, "'"));
  }
  return objects;
}

}  // namespace

Checkpoint::Checkpoint(const Objects& objects) : state_(std::make_unique<State>()) {
  state_->own_root = true;
  state_->root = std::make_shared<trace::TrackableState>();
  for (const auto& [name, object] : in_order(objects)) check(state_->root->track(name, object.state()));
}

Checkpoint::Checkpoint(const Module& root, const Objects& objects) : state_(std::make_unique<State>()) {
  state_->root = root.tracking();
  Objects all = objects;
  all.emplace_back("root", root);
  for (const auto& [name, object] : in_order(std::move(all))) track(name, object);
}

Checkpoint::~Checkpoint() = default;

void Checkpoint::track(const std::string& name, const Trackable& object) {
  std::lock_guard lock(state_->mutex);
  State& s = *state_;
  if (s.own_root) {
    check(s.root->track(name, object.state()));
    return;
  }
  if (trace::TrackableState* there = s.root->child(name)) {
    if (there == object.state().get()) return;
    throw Error(Code::kInvalidArgument, core::cat("Cannot create a Checkpoint with keyword argument ", name, " if root.", name, " already exists."));
  }
  std::erase_if(s.attached, [&](const auto& c) { return c.name == name; });
  s.attached.push_back({name, object.state()});
  if (s.last_restore) check(s.last_restore->attach(s.attached.back()));
}

namespace {

Status record(const std::string& prefix) {
  return saved_model::write_checkpoint_state(
      std::string(wire::folder_of(prefix)),
      {.model_checkpoint_path = prefix, .all_model_checkpoint_paths = {}, .all_model_checkpoint_timestamps = {}});
}

}  // namespace

std::string Checkpoint::save(const std::string& name) {
  std::lock_guard lock(state_->mutex);
  check(state_->finish_pending());
  const std::string prefix = unwrap(wire::path_of(name));
  const std::string numbered = core::cat(prefix, "-", state_->count());
  check(state_->write(numbered, prefix, [&] { return record(numbered); }));
  return numbered;
}

std::string Checkpoint::write(const std::string& name) {
  std::lock_guard lock(state_->mutex);
  check(state_->finish_pending());
  const std::string prefix = unwrap(wire::path_of(name));
  check(state_->write(prefix, "", {}));
  return prefix;
}

PendingSave Checkpoint::save_async(const std::string& name) {
  std::lock_guard lock(state_->mutex);
  check(state_->finish_pending());
  const std::string prefix = unwrap(wire::path_of(name));
  const std::string numbered = core::cat(prefix, "-", state_->count());
  return state_->write_async(numbered, prefix, [numbered] { return record(numbered); });
}

PendingSave Checkpoint::write_async(const std::string& prefix) {
  std::lock_guard lock(state_->mutex);
  check(state_->finish_pending());
  return state_->write_async(unwrap(wire::path_of(prefix)), "", {});
}

void Checkpoint::sync() {
  std::lock_guard lock(state_->mutex);
  check(state_->finish_pending());
}

// Keeps the objects alive that the checks ask about.
struct RestoreStatus::State {
  std::shared_ptr<saved_model::RestoreStatus> restore;
  std::shared_ptr<trace::TrackableState> root;
  Variable counter;
};

RestoreStatus Checkpoint::read(const std::string& path) {
  std::lock_guard lock(state_->mutex);
  check(state_->finish_pending());
  RestoreStatus out;
  out.state_ = std::make_shared<RestoreStatus::State>();
  out.state_->restore = unwrap(state_->restore(path));
  out.state_->root = state_->root;
  return out;
}

RestoreStatus Checkpoint::restore(const std::string& path) {
  std::lock_guard lock(state_->mutex);
  check(state_->finish_pending());
  auto restored = state_->restore(path);
  if (restored.status().code() == core::Code::kNotFound)
    check(core::not_found("Error when restoring from checkpoint or SavedModel at ", path, ": ", restored.status().message(),
                          "\nPlease double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in "
                          "'path/to/ckpt-1')."));
  RestoreStatus out;
  out.state_ = std::make_shared<RestoreStatus::State>();
  out.state_->restore = unwrap(std::move(restored));
  out.state_->root = state_->root;
  state_->make_counter();
  out.state_->restore->make_optional(*state_->counter.state());
  out.state_->counter = state_->counter;
  return out;
}

Variable Checkpoint::save_counter() {
  std::lock_guard lock(state_->mutex);
  state_->make_counter();
  return state_->counter;
}

namespace {

saved_model::RestoreStatus& begun(const auto& state) {
  if (!state) throw Error(Code::kInvalidArgument, "nothing was restored");
  return *state->restore;
}

}  // namespace

const RestoreStatus& RestoreStatus::assert_consumed() const {
  check(begun(state_).assert_consumed());
  return *this;
}
const RestoreStatus& RestoreStatus::assert_existing_objects_matched() const {
  check(begun(state_).assert_existing_objects_matched());
  return *this;
}
const RestoreStatus& RestoreStatus::assert_nontrivial_match() const {
  check(begun(state_).assert_nontrivial_match());
  return *this;
}
const RestoreStatus& RestoreStatus::expect_partial() const {
  begun(state_).expect_partial();
  return *this;
}

std::optional<CheckpointState> get_checkpoint_state(const std::string& folder, const std::string& file) {
  auto state = unwrap(saved_model::read_checkpoint_state(unwrap(wire::path_of(folder)), file));
  if (!state) return {};
  return CheckpointState{std::move(state->model_checkpoint_path), std::move(state->all_model_checkpoint_paths),
                         std::move(state->all_model_checkpoint_timestamps), state->last_preserved_timestamp};
}

std::string latest_checkpoint(const std::string& folder, const std::string& file) {
  return unwrap(saved_model::latest_checkpoint(unwrap(wire::path_of(folder)), file));
}

namespace {

// A folder stands for its latest checkpoint.
std::string prefix_of(const std::string& path) {
  if (wire::file_exists(wire::bundle_index_name(path))) return path;
  const std::string latest = latest_checkpoint(path);
  return latest.empty() ? path : latest;
}

}  // namespace

std::vector<CheckpointEntry> list_variables(const std::string& path) { return describe_checkpoint(prefix_of(path)); }
Tensor load_variable(const std::string& path, const std::string& key) { return read_checkpoint(prefix_of(path), key); }

}  // namespace weft
