#include "trace/trackable.h"

#include <algorithm>

#include "trace/variable.h"

namespace weft::trace {

TrackableState* TrackableState::child(std::string_view name) const {
  for (const Child& c : children_) {
    if (c.name == name) return c.state.get();
  }
  return nullptr;
}

Status TrackableState::track(std::string name, std::shared_ptr<TrackableState> child) {
  if (!child) return invalid_argument("nothing to track under the name '", name, "'");
  auto it = std::find_if(children_.begin(), children_.end(), [&](const Child& c) { return c.name == name; });
  TrackableState& added = *child;
  if (it != children_.end()) it->state = std::move(child);
  else children_.push_back({name, std::move(child)});
  for (const Pending& p : std::vector<Pending>(pending_)) WEFT_RETURN_IF_ERROR(p.restore->tracked(p.node_id, name, added));
  return {};
}

Status TrackableState::add_slot(std::string name, const std::shared_ptr<VariableState>& original, std::shared_ptr<VariableState> variable) {
  VariableState& made = *variable;
  slots_.push_back({name, original, std::move(variable)});
  for (const Pending& p : std::vector<Pending>(pending_)) WEFT_RETURN_IF_ERROR(p.restore->slot_made(p.node_id, name, *original, made));
  return {};
}

}  // namespace weft::trace
