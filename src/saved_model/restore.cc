#include "saved_model/restore.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <set>

#include "core/log.h"
#include "saved_model/restore_graph.h"
#include "saved_model/structured_value.h"
#include "trace/concrete_function.h"
#include "trace/variable.h"
#include "wire/tensor_bundle.h"
#include "wire/text_format.h"

namespace weft_engine::saved_model {

namespace {

using trace::VariableState;
using wire::BundleEntry;
using wire::BundleReader;

int64_t next_restoration() {
  static std::atomic<int64_t> next{0};
  return next.fetch_add(1) + 1;
}

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

std::string describe(TrackableState& state) {
  VariableState* v = state.as_variable();
  if (!v) return cat("<", state.kind(), ">");
  return cat("<Variable '", v->spec().name, "' shape=", python_shape(v->spec().shape), " dtype=", v->spec().dtype, ">");
}

// The first ten.
std::string describe_some(std::span<const std::shared_ptr<TrackableState>> list) {
  constexpr size_t kMost = 10;
  std::string out = "[";
  for (size_t i = 0; i < std::min(kMost, list.size()); ++i) out += cat(i ? ", " : "", describe(*list[i]));
  return out + "]";
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

// By the graph of objects.
class ObjectRestore final : public RestoreStatus, public std::enable_shared_from_this<ObjectRestore> {
 public:
  ObjectRestore(std::unique_ptr<BundleReader> reader, std::vector<SavedTrackable> nodes, const std::shared_ptr<TrackableState>& root)
      : id_(next_restoration()), reader_(std::move(reader)), graph_(std::move(nodes)), objects_{root, {}}, bound_(size_t(graph_.size())) {}

  ~ObjectRestore() override {
    if (!expect_partial_) warn();
  }

  Status start(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached) {
    WEFT_RETURN_IF_ERROR(restore(0, root));
    for (const auto& child : attached) WEFT_RETURN_IF_ERROR(attach(child));
    return {};
  }

  Status attach(const TrackableState::Child& child) override {
    objects_.attach(child);
    return tracked(0, child.name, *child.state);
  }

  Status tracked(int node_id, std::string_view name, TrackableState& child) override {
    std::lock_guard lock(mutex_);
    for (const auto& [saved, node] : graph_.node(node_id).children) {
      if (saved == name && is_free(node)) return restore(node, child.shared_from_this());
    }
    return {};
  }

  Status slot_made(int node_id, std::string_view slot, VariableState& original, VariableState& made) override {
    std::lock_guard lock(mutex_);
    for (const auto& s : graph_.node(node_id).slots) {
      if (s.name != slot || bound_[size_t(s.original)].lock().get() != &original || graph_.matched(s.variable)) continue;
      return restore(s.variable, made.shared_from_this());
    }
    return {};
  }

  bool waits(int node_id) const override {
    std::lock_guard lock(mutex_);
    const SavedTrackable& n = graph_.node(node_id);
    return std::any_of(n.children.begin(), n.children.end(), [&](const auto& c) { return graph_.awaited(c.second); }) ||
           std::any_of(n.slots.begin(), n.slots.end(), [&](const auto& s) { return !graph_.matched(s.variable); });
  }

  std::vector<std::string> awaited(int node_id) const override {
    std::lock_guard lock(mutex_);
    std::vector<std::string> out;
    const SavedTrackable& n = graph_.node(node_id);
    for (const auto& [name, node] : n.children) {
      if (graph_.awaited(node)) out.push_back(name);
    }
    for (const auto& s : n.slots) {
      if (!graph_.matched(s.variable)) out.push_back(cat(".OPTIMIZER_SLOT/", s.name));
    }
    return out;
  }

  Status assert_consumed() override {
    WEFT_RETURN_IF_ERROR(assert_existing_objects_matched());
    for (int i = 0; i < graph_.size(); ++i) {
      if (graph_.node(i).values.empty() || !bound_[size_t(i)].expired()) continue;
      auto text = wire::binary_to_text("tensorflow.TrackableObjectGraph.TrackableObject", graph_.node(i).bytes);
      return failed_precondition("Unresolved object in checkpoint ", graph_.names()[size_t(i)], ": ", text.ok() ? *text : std::string());
    }
    if (unused_.empty()) return {};
    const auto& names = graph_.names();
    std::string message = "Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):";
    for (const auto& [node, attribute] : unused_) {
      auto object = bound_[size_t(node)].lock();
      message += cat("\n", names[size_t(node)], " (", object ? describe(*object) : std::string(), "): ['", attribute, "']");
    }
    return failed_precondition(message);
  }

  Status assert_existing_objects_matched() override {
    WEFT_ASSIGN(auto unmatched, unmatched_variables());
    if (unmatched.empty()) return {};
    return failed_precondition("Found ", unmatched.size(),
                               " objects that were not bound to checkpointed values, likely due to changes in the program. Showing ",
                               std::min<size_t>(10, unmatched.size()), " of ", unmatched.size(), " unmatched objects: ", describe_some(unmatched));
  }

  Status assert_nontrivial_match() override {
    const auto alive = std::count_if(bound_.begin(), bound_.end(), [](const auto& b) { return !b.expired(); });
    if (alive > 1) return {};
    WEFT_ASSIGN(auto unmatched, unmatched_variables());
    if (unmatched.empty()) return failed_precondition("Nothing to load. No dependencies have been added to the root yet.");
    return failed_precondition(
        "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does not match the program. "
        "The "
        "following objects have no matching checkpointed value: ",
        describe_some(unmatched));
  }

  void expect_partial() override { expect_partial_ = true; }
  void make_optional(const TrackableState&) override {}

 private:
  struct Work {
    std::deque<int> queue;
    std::vector<Assignment> assignments;
  };

  Status restore(int node, const std::shared_ptr<TrackableState>& object) {
    Work work;
    bind(node, object, work);
    while (!work.queue.empty()) {
      const int at = work.queue.front();
      work.queue.pop_front();
      WEFT_RETURN_IF_ERROR(visit(at, work));
    }
    return assign_all(*reader_, std::move(work.assignments));
  }

  // Each node goes to one object. One that only holds others (a list that is replaced when it grows) may pass to its successor.
  bool is_free(int node) const { return !graph_.matched(node) || (graph_.node(node).values.empty() && bound_[size_t(node)].expired()); }

  void bind(int node, const std::shared_ptr<TrackableState>& object, Work& work) {
    if (!is_free(node)) return;
    bound_[size_t(node)] = object;
    graph_.set_matched(node);
    work.queue.push_back(node);
  }

  Status visit(int node, Work& work) {
    const std::shared_ptr<TrackableState> object = bound_[size_t(node)].lock();
    if (!object) return {};
    const SavedTrackable& saved = graph_.node(node);
    if (id_ > object->restored_by()) {
      WEFT_RETURN_IF_ERROR(gather(node, object, work));
      object->set_restored_by(id_);
    }
    for (const auto& [name, child] : saved.children) {
      if (!is_free(child)) continue;
      if (TrackableState* mine = object->child(name)) bind(child, mine->shared_from_this(), work);
    }
    // Slots: this may be the optimiser, or the variable that one belongs to.
    for (const auto& slot : saved.slots) bind_slot(*object, slot, work);
    for (const auto& [optimizer, slot] : graph_.slots_of(node)) {
      if (auto o = bound_[size_t(optimizer)].lock()) bind_slot(*o, *slot, work);
    }
    object->await(shared_from_this(), node);
    return {};
  }

  void bind_slot(TrackableState& optimizer, const TrackedObjects::Slot& slot, Work& work) {
    const auto original = bound_[size_t(slot.original)].lock();
    if (!original) return;
    for (const auto& s : optimizer.slots()) {
      if (s.name == slot.name && s.original.lock().get() == original.get()) bind(slot.variable, s.variable, work);
    }
  }

  Status gather(int node, const std::shared_ptr<TrackableState>& object, Work& work) {
    const SavedTrackable& saved = graph_.node(node);
    for (const auto& value : saved.values) {
      if (!object->as_variable() || value.name != kVariableValue) {
        unused_.emplace_back(node, value.name);
        continue;
      }
      WEFT_ASSIGN(BundleEntry entry, reader_->entry(value.key));
      work.assignments.push_back({std::static_pointer_cast<VariableState>(object), value.key, std::move(entry)});
    }
    return {};
  }

  Result<std::vector<std::shared_ptr<TrackableState>>> unmatched_variables() const {
    WEFT_ASSIGN(TrackedObjects objects, objects_.list());
    std::set<const TrackableState*> bound;
    for (const auto& b : bound_) bound.insert(b.lock().get());
    std::vector<std::shared_ptr<TrackableState>> out;
    for (auto& n : objects.nodes) {
      if (n.state->as_variable() && !bound.count(n.state.get())) out.push_back(std::move(n.state));
    }
    return out;
  }

  void warn() const {
    const std::vector<int> unmatched = graph_.unresolved();
    if (unmatched.empty() && unused_.empty()) return;
    const auto& names = graph_.names();
    std::string text =
        "Detecting that an object or model or Checkpoint is being deleted with unrestored values. To silence these warnings, use "
        "`status.expect_partial()`.";
    for (int i : unmatched) text += cat("\nValue in checkpoint could not be found in the restored object: ", names[size_t(i)]);
    for (const auto& [node, attribute] : unused_)
      text += cat("\nAn attribute in the restored object could not be found in the checkpoint. Object: ", names[size_t(node)], ", attribute: ['",
                  attribute, "']");
    log(LogLevel::kWarning, text);
  }

  // The objects hold this while they wait, so this must not hold them.
  const int64_t id_;
  const std::unique_ptr<BundleReader> reader_;
  RestoreGraph graph_;
  Objects objects_;
  mutable std::recursive_mutex mutex_;                // objects may be tracked by several threads, and ask back while they are bound
  std::vector<std::weak_ptr<TrackableState>> bound_;  // by node
  std::vector<std::pair<int, std::string>> unused_;  // nodes and values that their objects do not know
  bool expect_partial_ = false;
};

// By the names of variables.
class NameRestore final : public RestoreStatus, public std::enable_shared_from_this<NameRestore> {
 public:
  NameRestore(std::unique_ptr<BundleReader> reader, const std::shared_ptr<TrackableState>& root)
      : id_(next_restoration()), reader_(std::move(reader)), objects_{root, {}} {}

  Status start(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached) {
    for (const auto& child : attached) objects_.attach(child);
    return restore(root, attached);
  }
  Status attach(const TrackableState::Child& child) override {
    objects_.attach(child);
    return restore(child.state, {});
  }
  Status tracked(int, std::string_view, TrackableState& child) override { return restore(child.shared_from_this(), {}); }
  Status slot_made(int, std::string_view, VariableState&, VariableState& made) override { return restore(made.shared_from_this(), {}); }
  bool waits(int) const override { return true; }
  std::vector<std::string> awaited(int) const override { return {".NAMES"}; }

  Status assert_consumed() override {
    std::string missing;
    WEFT_ASSIGN(TrackedObjects objects, objects_.list());
    for (const auto& n : objects.nodes) {
      VariableState* v = n.state->as_variable();
      if (!v || optional_.count(n.state.get()) || reader_->contains(v->spec().name)) continue;
      missing += cat("\n    ", describe(*n.state), ": ['", v->spec().name, "']");
    }
    if (missing.empty()) return {};
    return failed_precondition("Some objects had attributes which were not restored: ", missing);
  }
  Status assert_existing_objects_matched() override { return assert_consumed(); }
  Status assert_nontrivial_match() override { return assert_consumed(); }
  void expect_partial() override {}
  void make_optional(const TrackableState& variable) override { optional_.insert(&variable); }

 private:
  Status restore(const std::shared_ptr<TrackableState>& from, std::span<const TrackableState::Child> attached) {
    WEFT_ASSIGN(TrackedObjects objects, list_tracked(from, attached));
    std::vector<Assignment> assignments;
    for (const auto& n : objects.nodes) {
      if (id_ <= n.state->restored_by()) continue;
      n.state->set_restored_by(id_);
      n.state->await(shared_from_this(), 0);
      VariableState* v = n.state->as_variable();
      if (!v || !reader_->contains(v->spec().name)) continue;
      WEFT_ASSIGN(BundleEntry entry, reader_->entry(v->spec().name));
      assignments.push_back({std::static_pointer_cast<VariableState>(n.state), v->spec().name, std::move(entry)});
    }
    return assign_all(*reader_, std::move(assignments));
  }

  const int64_t id_;
  const std::unique_ptr<BundleReader> reader_;
  Objects objects_;
  std::set<const TrackableState*> optional_;
};

// Nothing was given to restore from.
class NoRestore final : public RestoreStatus {
 public:
  Status tracked(int, std::string_view, TrackableState&) override { return {}; }
  Status slot_made(int, std::string_view, VariableState&, VariableState&) override { return {}; }
  bool waits(int) const override { return false; }
  std::vector<std::string> awaited(int) const override { return {}; }
  Status assert_consumed() override { return nothing(); }
  Status assert_existing_objects_matched() override { return nothing(); }
  Status assert_nontrivial_match() override { return nothing(); }
  void expect_partial() override {}
  Status attach(const TrackableState::Child&) override { return {}; }
  void make_optional(const TrackableState&) override {}

 private:
  static Status nothing() { return failed_precondition("No checkpoint specified (save_path=None); nothing is being restored."); }
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
