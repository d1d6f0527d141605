#include "saved_model/tracked_objects.h"

#include <algorithm>

#include "core/cat.h"
#include "trace/variable.h"

namespace weft_engine::saved_model {

namespace {

// Slot variables of all optimisers, behind the other nodes: by slot, then in the order of the variables that they belong to.
Status list_slots(TrackedObjects& out) {
  const size_t plain = out.nodes.size();
  for (size_t at = 0; at < plain; ++at) {
    const std::shared_ptr<TrackableState> optimizer = out.nodes[at].state;
    std::vector<std::string_view> names;
    for (const auto& slot : optimizer->slots()) {
      if (std::find(names.begin(), names.end(), slot.name) == names.end()) names.push_back(slot.name);
    }
    for (std::string_view name : names) {
      std::vector<std::pair<int, const TrackableState::Slot*>> found;  // of variables that are saved too
      for (const auto& slot : optimizer->slots()) {
        if (slot.name != name) continue;
        auto original = out.ids.find(slot.original.lock().get());
        if (original != out.ids.end()) found.emplace_back(original->second, &slot);
      }
      std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& [original, slot] : found) {
        // TensorFlow allows no slot to be a child too. Optimisers hold theirs as children, as Keras 3 does: then that is how they
        // are written, and as slots they are only read, from older files.
        if (out.ids.count(slot->variable.get())) continue;
        const int id = int(out.nodes.size());
        TrackedObjects::Node node;
        node.state = slot->variable;
        out.nodes.push_back(std::move(node));
        out.ids.emplace(slot->variable.get(), id);
        out.nodes[at].slots.push_back({std::string(name), original, id});
      }
    }
  }
  return {};
}

}  // namespace

std::vector<SavedTrackable> trackables_of(const TrackedObjects& objects) {
  std::vector<SavedTrackable> out;
  for (const auto& n : objects.nodes) {
    SavedTrackable node;
    node.children = n.children;
    node.slots = n.slots;
    if (trace::VariableState* v = n.state->as_variable()) node.values.push_back({std::string(kVariableValue), v->spec().name, value_key(n.path)});
    out.push_back(std::move(node));
  }
  return out;
}

Result<TrackedObjects> list_tracked(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached) {
  TrackedObjects out;
  out.nodes.push_back({root, "", {}, {}});
  out.ids.emplace(root.get(), 0);
  for (size_t at = 0; at < out.nodes.size(); ++at) {
    const std::shared_ptr<TrackableState> here = out.nodes[at].state;
    std::vector<TrackableState::Child> children = here->children();
    if (at == 0) children.insert(children.end(), attached.begin(), attached.end());
    for (const auto& child : children) {
      auto [it, fresh] = out.ids.emplace(child.state.get(), int(out.nodes.size()));
      if (fresh) out.nodes.push_back({child.state, "", {}, {}});
      out.nodes[at].children.emplace_back(child.name, it->second);
    }
  }
  WEFT_RETURN_IF_ERROR(list_slots(out));
  const std::vector<std::string> paths = trackable_paths(trackables_of(out));
  for (size_t i = 0; i < paths.size(); ++i) out.nodes[i].path = paths[i];
  return out;
}

}  // namespace weft_engine::saved_model
