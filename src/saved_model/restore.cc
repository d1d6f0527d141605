#include "saved_model/restore.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "core/log.h"
#include "saved_model/restorer.h"
#include "saved_model/structured_value.h"
#include "trace/concrete_function.h"
#include "trace/variable.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::saved_model {

namespace {

using trace::VariableState;
using wire::BundleEntry;
using wire::BundleReader;

// A value that is to be read into a variable.
struct Assignment {
  std::shared_ptr<VariableState> variable;
  std::string key;
  BundleEntry entry;
};

Status check_fits(const Assignment& a) {
  const auto& spec = a.variable->spec();
  if (spec.dtype != a.entry.dtype)
    return invalid_argument("tensor_name = ", a.key, "; expected dtype ", spec.dtype, " does not equal original dtype ", a.entry.dtype);
  const PartialShape saved(a.entry.shape);
  if (!spec.shape.compatible_with(saved))
    return invalid_argument("Received incompatible tensor with shape ", python_shape(saved), " when attempting to restore variable with shape ",
                            python_shape(spec.shape), " and name ", spec.name, ".");
  return {};
}

// Reads and assigns, in the order of the file and a part at a time: the old values of a part go before the next is read.
Status assign_all(const BundleReader& reader, std::vector<Assignment> list) {
  for (const Assignment& a : list) WEFT_RETURN_IF_ERROR(check_fits(a));
  std::stable_sort(list.begin(), list.end(), [](const Assignment& a, const Assignment& b) {
    return a.entry.shard != b.entry.shard ? a.entry.shard < b.entry.shard : a.entry.offset < b.entry.offset;
  });
  constexpr int64_t kPart = 64 << 20;
  trace::Entered outside(nullptr);  // of traces: a value is restored now, not in each call
  for (size_t begin = 0; begin < list.size();) {
    int64_t bytes = 0;
    size_t end = begin;
    std::vector<std::string_view> keys;
    std::vector<BundleEntry> entries;
    while (end < list.size() && (end == begin || bytes + list[end].entry.size <= kPart)) {
      bytes += list[end].entry.size;
      keys.push_back(list[end].key);
      entries.push_back(list[end].entry);
      ++end;
    }
    std::vector<Tensor> tensors(keys.size());
    WEFT_RETURN_IF_ERROR(reader.lookup_all(keys, entries, tensors, &list[begin].variable->context().pool()));
    for (size_t i = begin; i < end; ++i) {
      VariableState& v = *list[i].variable;
      auto& emitter = trace::eager_emitter(v.context());
      op::Value value = emitter.constant(std::move(tensors[i - begin]));
      WEFT_RETURN_IF_ERROR(emitter.take_status());
      WEFT_RETURN_IF_ERROR(v.initialize(value));
    }
    begin = end;
  }
  return {};
}

std::string text_of(TrackableState& state) {
  VariableState* v = state.as_variable();
  if (!v) return cat("<", state.kind(), ">");
  return cat("<Variable '", v->spec().name, "' shape=", python_shape(v->spec().shape), " dtype=", v->spec().dtype, ">");
}

// The root and what is attached to it, without keeping them alive.
struct Objects {
  std::weak_ptr<TrackableState> root;
  std::vector<std::pair<std::string, std::weak_ptr<TrackableState>>> attached;

  void attach(const TrackableState::Child& child) {
    std::erase_if(attached, [&](const auto& c) { return c.first == child.name; });
    attached.emplace_back(child.name, child.state);
  }
  Result<TrackedObjects> list() const {
    auto alive = root.lock();
    if (!alive) return failed_precondition("the object that was restored was freed");
    std::vector<TrackableState::Child> children;
    for (const auto& [name, state] : attached) {
      if (auto s = state.lock()) children.push_back({name, std::move(s)});
    }
    return list_tracked(alive, children);
  }
};

const RestoreWords kWords{"", "Checkpoint", ""};

// Objects are pointers to TrackableState, of a variable as well.
TrackableState& state_of(const RestoreTargets::Object& object) { return *static_cast<TrackableState*>(object.get()); }
std::shared_ptr<TrackableState> shared(const RestoreTargets::Object& object) { return std::static_pointer_cast<TrackableState>(object); }
std::shared_ptr<TrackableState> shared(TrackableState& state) { return state.shared_from_this(); }

// What all restorations have in common: C++'s objects, as the restorer sees them.
template <class Targets>
class StateTargets : public Targets {
 public:
  using Object = RestoreTargets::Object;
  explicit StateTargets(const std::shared_ptr<TrackableState>& root) : objects_{root, {}} {}
  Result<int64_t> restored_by(const Object& object) override { return state_of(object).restored_by(); }
  Status set_restored_by(const Object& object, int64_t restoration) override {
    state_of(object).set_restored_by(restoration);
    return {};
  }
  Object root() override { return objects_.root.lock(); }
  Result<std::vector<Object>> objects() override {
    WEFT_ASSIGN(TrackedObjects tracked, objects_.list());
    std::vector<Object> out;
    for (auto& n : tracked.nodes) out.push_back(std::move(n.state));
    return out;
  }
  Result<bool> has_values(const Object& object) override { return state_of(object).as_variable() != nullptr; }
  Result<std::string> describe(const Object& object, bool) override { return text_of(state_of(object)); }
  const RestoreWords& words() const override { return kWords; }

 protected:
  Objects objects_;
};

// By the graph of objects.
class ObjectRestore final : public RestoreStatus, public StateTargets<GraphTargets>, public std::enable_shared_from_this<ObjectRestore> {
 public:
  ObjectRestore(std::unique_ptr<BundleReader> reader, std::vector<SavedTrackable> nodes, const std::shared_ptr<TrackableState>& root)
      : StateTargets(root), reader_(std::move(reader)), restorer_(std::move(nodes)), bound_(size_t(restorer_.graph().size())) {}

  ~ObjectRestore() override {
    if (expect_partial_) return;
    std::string text;
    for (const std::string& line : restorer_.leftovers(kWords)) text += cat(text.empty() ? "" : "\n", line);
    if (!text.empty()) log(LogLevel::kWarning, text);
  }

  Status start(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached) {
    WEFT_RETURN_IF_ERROR(restorer_.restore(*this, 0, root));
    for (const auto& child : attached) WEFT_RETURN_IF_ERROR(attach(child));
    return {};
  }

  Status attach(const TrackableState::Child& child) override {
    objects_.attach(child);
    return tracked(0, child.name, *child.state);
  }
  Status tracked(int node, std::string_view name, TrackableState& child) override {
    std::lock_guard lock(mutex_);
    return restorer_.tracked(*this, node, name, shared(child));
  }
  Status slot_made(int node, std::string_view slot, VariableState& original, VariableState& made) override {
    std::lock_guard lock(mutex_);
    return restorer_.slot_made(*this, node, slot, shared(original), shared(made));
  }
  bool waits(int node) const override { return !awaited(node).empty(); }
  std::vector<std::string> awaited(int node) const override {
    std::lock_guard lock(mutex_);
    return restorer_.graph().awaited_names(node);
  }

  Status assert_consumed() override { return restorer_.assert_consumed(*this); }
  Status assert_existing_objects_matched() override { return restorer_.assert_existing_objects_matched(*this); }
  Status assert_nontrivial_match() override { return restorer_.assert_nontrivial_match(*this); }
  void expect_partial() override { expect_partial_ = true; }
  void make_optional(const TrackableState&) override {}

  // ---- what the restorer asks

  Object bound(int node) override { return bound_[size_t(node)].lock(); }
  Status bind(int node, const Object& object) override {
    bound_[size_t(node)] = shared(object);
    return {};
  }
  Result<std::vector<Object>> children(int, const Object& object, std::span<const Name> names) override {
    std::vector<Object> out;
    for (const auto& [name, node] : names) {
      TrackableState* child = state_of(object).child(name);
      out.push_back(child ? shared(*child) : nullptr);
    }
    return out;
  }
  Status wait(int node, const Object& object, std::span<const Name>) override {
    state_of(object).await(shared_from_this(), node);
    return {};
  }
  Object slot(const Object& optimizer, const Object& variable, std::string_view name) override {
    for (const auto& s : state_of(optimizer).slots()) {
      if (s.name == name && s.original.lock().get() == &state_of(variable)) return std::shared_ptr<TrackableState>(s.variable);
    }
    return nullptr;
  }
  Status give(std::span<const NodeObject> list) override {
    std::vector<Assignment> assignments;
    for (const auto& [node, object] : list) {
      for (const auto& value : restorer_.graph().node(node).values) {
        VariableState* v = state_of(object).as_variable();
        if (!v || value.name != kVariableValue) {
          restorer_.add_unused(node, value.name);
          continue;
        }
        WEFT_ASSIGN(BundleEntry entry, reader_->entry(value.key));
        assignments.push_back({std::static_pointer_cast<VariableState>(shared(object)), value.key, std::move(entry)});
      }
    }
    return assign_all(*reader_, std::move(assignments));
  }
  void warn(const std::string& text) override { log(LogLevel::kWarning, text); }

 private:
  // The objects hold this while they wait, so this must not hold them.
  const std::unique_ptr<BundleReader> reader_;
  Restorer restorer_;
  mutable std::recursive_mutex mutex_;                // objects may be tracked by several threads, and ask back while they are bound
  std::vector<std::weak_ptr<TrackableState>> bound_;  // by node
  bool expect_partial_ = false;
};

// By the names of variables.
class NameRestore final : public RestoreStatus, public StateTargets<NamedTargets>, public std::enable_shared_from_this<NameRestore> {
 public:
  NameRestore(std::unique_ptr<BundleReader> reader, const std::shared_ptr<TrackableState>& root) : StateTargets(root), reader_(std::move(reader)) {}

  Status start(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached) {
    for (const auto& child : attached) objects_.attach(child);
    return restore(root, attached);
  }
  Status attach(const TrackableState::Child& child) override {
    objects_.attach(child);
    return restore(child.state, {});
  }
  Status tracked(int, std::string_view, TrackableState& child) override { return restore(shared(child), {}); }
  Status slot_made(int, std::string_view, VariableState&, VariableState& made) override { return restore(shared(made), {}); }
  bool waits(int) const override { return true; }
  std::vector<std::string> awaited(int) const override { return {".NAMES"}; }

  Status assert_consumed() override { return restorer_.assert_consumed(*this); }
  Status assert_existing_objects_matched() override { return assert_consumed(); }
  Status assert_nontrivial_match() override { return assert_consumed(); }
  void expect_partial() override {}
  void make_optional(const TrackableState& variable) override { optional_.insert(&variable); }

  // ---- what the restorer asks

  Result<std::string> name(const Object& object) override {
    VariableState* v = state_of(object).as_variable();
    return v ? v->spec().name : std::string();
  }
  bool in_checkpoint(const std::string& name) override { return reader_->contains(name); }
  void add_unused(const Object& object, std::string name) override { unused_.emplace_back(shared(object), std::move(name)); }
  std::vector<std::pair<Object, std::string>> unused() override {
    std::vector<std::pair<Object, std::string>> out;
    for (const auto& [state, name] : unused_) {
      if (auto s = state.lock(); s && !optional_.count(s.get())) out.emplace_back(std::move(s), name);
    }
    return out;
  }

 private:
  Status restore(const std::shared_ptr<TrackableState>& from, std::span<const TrackableState::Child> attached) {
    WEFT_ASSIGN(TrackedObjects objects, list_tracked(from, attached));
    std::vector<Assignment> assignments;
    for (const auto& n : objects.nodes) {
      if (restorer_.id() <= n.state->restored_by()) continue;
      n.state->await(shared_from_this(), 0);
      WEFT_ASSIGN(std::string key, restorer_.take(*this, n.state));
      if (key.empty()) continue;
      WEFT_ASSIGN(BundleEntry entry, reader_->entry(key));
      assignments.push_back({std::static_pointer_cast<VariableState>(n.state), std::move(key), std::move(entry)});
    }
    return assign_all(*reader_, std::move(assignments));
  }

  const std::unique_ptr<BundleReader> reader_;
  NameRestorer restorer_;
  std::vector<std::pair<std::weak_ptr<TrackableState>, std::string>> unused_;
  std::set<const TrackableState*> optional_;
};

// Nothing was given to restore from.
class NoRestore final : public RestoreStatus {
 public:
  Status tracked(int, std::string_view, TrackableState&) override { return {}; }
  Status slot_made(int, std::string_view, VariableState&, VariableState&) override { return {}; }
  bool waits(int) const override { return false; }
  std::vector<std::string> awaited(int) const override { return {}; }
  Status assert_consumed() override { return nothing_restored(); }
  Status assert_existing_objects_matched() override { return nothing_restored(); }
  Status assert_nontrivial_match() override { return nothing_restored(); }
  void expect_partial() override {}
  Status attach(const TrackableState::Child&) override { return {}; }
  void make_optional(const TrackableState&) override {}
};

}  // namespace

Result<std::shared_ptr<RestoreStatus>> restore_checkpoint(std::string_view prefix, const std::shared_ptr<TrackableState>& root,
                                                          std::span<const TrackableState::Child> attached) {
  if (prefix.empty()) return std::shared_ptr<RestoreStatus>(std::make_shared<NoRestore>());
  std::string path(prefix);
  if (wire::file_exists(path + "/saved_model.pb") || wire::file_exists(path + "/saved_model.pbtxt")) path += "/variables/variables";
  WEFT_ASSIGN(std::unique_ptr<BundleReader> reader, wire::open_checkpoint(path));
  WEFT_ASSIGN(std::vector<SavedTrackable> nodes, read_trackables(*reader));
  if (nodes.empty()) {
    auto restore = std::make_shared<NameRestore>(std::move(reader), root);
    WEFT_RETURN_IF_ERROR(restore->start(root, attached));
    return std::shared_ptr<RestoreStatus>(std::move(restore));
  }
  auto restore = std::make_shared<ObjectRestore>(std::move(reader), std::move(nodes), root);
  if (Status s = restore->start(root, attached); !s.ok()) {
    restore->expect_partial();  // the error says enough
    return s;
  }
  return std::shared_ptr<RestoreStatus>(std::move(restore));
}

}  // namespace weft_engine::saved_model
