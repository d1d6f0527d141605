#include "saved_model/restorer.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <unordered_set>

#include "wire/text_format.h"

namespace weft_engine::saved_model {

namespace {

using Object = RestoreTargets::Object;

std::string node_text(const SavedTrackable& node) {
  auto text = wire::binary_to_text("tensorflow.TrackableObjectGraph.TrackableObject", node.bytes);
  return text.ok() ? *text : std::string();
}

// "['a', 'b']"
std::string quoted(std::span<const std::string> names) {
  std::string out = "[";
  for (const std::string& n : names) out += cat(&n == names.data() ? "'" : ", '", n, "'");
  return out + "]";
}

Result<std::string> listed(RestoreTargets& targets, std::span<const Object> objects) {
  std::string out = "[";
  for (const Object& o : objects) {
    WEFT_ASSIGN(std::string text, targets.describe(o, true));
    out += cat(&o == objects.data() ? "" : ", ", text);
  }
  return out + "]";
}

}  // namespace

int64_t next_restoration() {
  static std::atomic<int64_t> next{0};
  return next.fetch_add(1) + 1;
}

// Each node goes to one object. One that only holds others (a list that is replaced when it grows) may pass to its successor.
bool Restorer::is_free(GraphTargets& targets, int node) const {
  return !graph_.matched(node) || (graph_.node(node).values.empty() && !targets.bound(node));
}

// What is not free has another object, or this one already.
Status Restorer::warn_of_two(GraphTargets& targets, int node, const Object& object) const {
  const Object current = targets.bound(node);
  if (!current || current == object) return {};
  WEFT_ASSIGN(std::string before, targets.describe(current, false));
  WEFT_ASSIGN(std::string now, targets.describe(object, false));
  targets.warn(
      cat("Inconsistent references when loading the checkpoint into this object graph. For example, in the saved checkpoint object, "
          "`model.layer.weight` and `model.layer_copy.weight` reference the same variable, while in the current object these are two different "
          "variables. The referenced variables are:(",
          before, " and ", now, ")."));
  return {};
}

Status Restorer::restore(GraphTargets& targets, int node, Object object) {
  if (!is_free(targets, node)) return warn_of_two(targets, node, object);
  struct Found {
    int node;
    Object object;
    std::vector<GraphTargets::Name> missing;
  };
  std::deque<Found> found;  // grows while it is walked
  const auto bind = [&](int at, Object o) -> Status {
    if (!o || !is_free(targets, at)) return {};
    WEFT_RETURN_IF_ERROR(targets.bind(at, o));
    graph_.set_matched(at);
    found.push_back({at, std::move(o), {}});
    return {};
  };
  WEFT_RETURN_IF_ERROR(bind(node, std::move(object)));
  for (size_t i = 0; i < found.size(); ++i) {
    Found& f = found[i];
    std::vector<GraphTargets::Name> names;
    for (const auto& child : graph_.node(f.node).children) {
      if (is_free(targets, child.second)) names.push_back(child);
    }
    if (!names.empty()) {
      WEFT_ASSIGN(std::vector<Object> there, targets.children(f.node, f.object, names));
      for (size_t k = 0; k < names.size(); ++k) {
        if (!there[k] && graph_.awaited(names[k].second)) f.missing.push_back(names[k]);
        WEFT_RETURN_IF_ERROR(bind(names[k].second, std::move(there[k])));
      }
    }
    // Slots: this may be the optimizer, or the variable that one belongs to.
    const auto bind_slot = [&](const Object& optimizer, const Object& variable, const SavedTrackable::Slot& slot) -> Status {
      if (!optimizer || !variable || !is_free(targets, slot.variable)) return {};
      return bind(slot.variable, targets.slot(optimizer, variable, slot.name));
    };
    for (const auto& slot : graph_.node(f.node).slots) WEFT_RETURN_IF_ERROR(bind_slot(f.object, targets.bound(slot.original), slot));
    for (const auto& [optimizer, slot] : graph_.slots_of(f.node)) WEFT_RETURN_IF_ERROR(bind_slot(targets.bound(optimizer), f.object, *slot));
  }
  std::vector<GraphTargets::NodeObject> wanted;
  for (const Found& f : found) {
    WEFT_RETURN_IF_ERROR(targets.wait(f.node, f.object, f.missing));
    WEFT_ASSIGN(int64_t last, targets.restored_by(f.object));
    if (last >= id_) continue;
    WEFT_RETURN_IF_ERROR(targets.set_restored_by(f.object, id_));
    if (!graph_.node(f.node).values.empty()) wanted.emplace_back(f.node, f.object);
  }
  if (!wanted.empty()) WEFT_RETURN_IF_ERROR(targets.give(wanted));
  for (const Found& f : found) {
    for (const auto& [optimizer, slot] : graph_.take_ready_slots(f.node)) {
      const Object o = targets.bound(optimizer), variable = targets.bound(slot->original);
      if (o && variable) WEFT_RETURN_IF_ERROR(targets.restore_slot(o, variable, slot->name, slot->variable));
    }
  }
  return {};
}

Status Restorer::tracked(GraphTargets& targets, int node, std::string_view name, Object child) {
  for (const auto& [saved, at] : graph_.node(node).children) {
    if (saved == name && is_free(targets, at)) return restore(targets, at, std::move(child));
  }
  return {};
}

Status Restorer::slot_made(GraphTargets& targets, int optimizer, std::string_view name, const Object& variable, Object made) {
  for (const auto& s : graph_.node(optimizer).slots) {
    if (s.name == name && targets.bound(s.original) == variable && !graph_.matched(s.variable)) return restore(targets, s.variable, std::move(made));
  }
  return {};
}

void Restorer::add_unused(int node, std::string_view value) {
  auto it = std::find_if(unused_.begin(), unused_.end(), [&](const auto& u) { return u.first == node; });
  if (it == unused_.end()) it = unused_.insert(it, {node, {}});
  it->second.emplace_back(value);
}

// By node.
std::vector<Object> Restorer::bound_objects(GraphTargets& targets) const {
  std::vector<Object> out;
  for (int i = 0; i < graph_.size(); ++i) out.push_back(targets.bound(i));
  return out;
}

Result<std::vector<Object>> Restorer::unmatched(GraphTargets& targets, std::span<const Object> bound) const {
  WEFT_ASSIGN(std::vector<Object> objects, targets.objects());
  std::unordered_set<const void*> known;
  for (const Object& o : bound) known.insert(o.get());
  std::vector<Object> out;
  for (Object& o : objects) {
    if (known.count(o.get())) continue;
    WEFT_ASSIGN(bool valued, targets.has_values(o));
    if (valued) out.push_back(std::move(o));
  }
  return out;
}

Status Restorer::check_existing(GraphTargets& targets, std::span<const Object> bound) const {
  for (int i = 0; i < graph_.size(); ++i) {
    if (graph_.node(i).values.empty() || !bound[size_t(i)]) continue;
    WEFT_ASSIGN(int64_t last, targets.restored_by(bound[size_t(i)]));
    if (last < id_) return failed_precondition("Object ", node_text(graph_.node(i)), " not assigned a value from checkpoint.");
  }
  WEFT_ASSIGN(std::vector<Object> left, unmatched(targets, bound));
  if (left.empty()) return {};
  const size_t shown = std::min<size_t>(10, left.size());
  WEFT_ASSIGN(std::string text, listed(targets, std::span(left).first(shown)));
  const std::string_view language = targets.words().language;
  return failed_precondition("Found ", left.size(), " ", language,
                             "objects that were not bound to checkpointed values, likely due to changes in the ", language, "program. Showing ",
                             shown, " of ", left.size(), " unmatched objects: ", text);
}

Status Restorer::assert_existing_objects_matched(GraphTargets& targets) const { return check_existing(targets, bound_objects(targets)); }

Status Restorer::assert_consumed(GraphTargets& targets) const {
  const std::vector<Object> bound = bound_objects(targets);
  WEFT_RETURN_IF_ERROR(check_existing(targets, bound));
  for (int i = 0; i < graph_.size(); ++i) {
    if (graph_.wanted(i) && !bound[size_t(i)])
      return failed_precondition("Unresolved object in checkpoint ", graph_.names()[size_t(i)], ": ", node_text(graph_.node(i)));
  }
  for (int optimizer : graph_.open_optimizers()) {
    std::vector<std::string> slots;
    for (const auto& s : graph_.node(optimizer).slots) slots.push_back(graph_.names()[size_t(s.variable)]);
    return failed_precondition("Unresolved slot restorations: ", quoted(slots));
  }
  if (unused_.empty()) return {};
  std::string text = "Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):";
  for (const auto& [node, values] : unused_) {
    const Object& object = bound[size_t(node)];
    std::string described;
    if (object) {
      WEFT_ASSIGN(described, targets.describe(object, false));
    }
    text += cat("\n", graph_.names()[size_t(node)], " (", described, "): ", quoted(values));
  }
  return failed_precondition(text);
}

Status Restorer::assert_nontrivial_match(GraphTargets& targets) const {
  const std::vector<Object> bound = bound_objects(targets);
  if (std::count_if(bound.begin(), bound.end(), [](const Object& o) { return o != nullptr; }) > 1) return {};
  WEFT_ASSIGN(std::vector<Object> left, unmatched(targets, bound));
  if (left.empty()) {
    std::string root = "the root";
    if (const Object r = targets.root()) {
      WEFT_ASSIGN(root, targets.describe(r, false));
    }
    return failed_precondition("Nothing to load. No dependencies have been added to ", root, " yet.");
  }
  WEFT_ASSIGN(std::string text, listed(targets, left));
  return failed_precondition(
      "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does not match the ",
      targets.words().language, "program. The following objects have no matching checkpointed value: ", text);
}

std::vector<std::string> Restorer::leftovers(const RestoreWords& words) const {
  const std::vector<int> unmatched = graph_.unresolved();
  if (unmatched.empty() && unused_.empty()) return {};
  const auto& names = graph_.names();
  std::vector<std::string> out{
      cat("Detecting that an object or model or ", words.checkpoint,
          " is being deleted with unrestored values. See the following logs for the specific values in question. To silence these warnings, use "
          "`status.expect_partial()`.",
          words.see)};
  for (int i : unmatched) out.push_back(cat("Value in checkpoint could not be found in the restored object: ", names[size_t(i)]));
  for (const auto& [node, values] : unused_)
    out.push_back(cat("An attribute in the restored object could not be found in the checkpoint. Object: ", names[size_t(node)],
                      ", attribute: ", quoted(values)));
  return out;
}

Result<std::string> NameRestorer::take(NamedTargets& targets, const Object& object) {
  WEFT_ASSIGN(int64_t last, targets.restored_by(object));
  if (last >= id_) return std::string();
  WEFT_RETURN_IF_ERROR(targets.set_restored_by(object, id_));
  WEFT_ASSIGN(std::string name, targets.name(object));
  if (name.empty()) {
    WEFT_ASSIGN(bool valued, targets.has_values(object));
    if (valued) targets.add_unused(object, std::string(kVariableValue));
    return name;
  }
  if (targets.in_checkpoint(name)) return name;
  targets.add_unused(object, std::move(name));
  return std::string();
}

Status NameRestorer::assert_consumed(NamedTargets& targets) const {
  std::string missing;
  for (const auto& [object, name] : targets.unused()) {
    WEFT_ASSIGN(std::string text, targets.describe(object, false));
    missing += cat("\n    ", text, ": ", quoted({&name, 1}));
  }
  if (!missing.empty()) return failed_precondition("Some objects had attributes which were not restored: ", missing);
  WEFT_ASSIGN(std::vector<Object> objects, targets.objects());
  for (const Object& o : objects) {
    WEFT_ASSIGN(int64_t last, targets.restored_by(o));
    if (last >= id_) continue;
    WEFT_ASSIGN(std::string text, targets.describe(o, false));
    return failed_precondition("Object not restored: ", text);
  }
  return {};
}

Status nothing_restored() { return failed_precondition("No checkpoint specified (save_path=None); nothing is being restored."); }

}  // namespace weft_engine::saved_model
