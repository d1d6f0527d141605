#include "trace/trackable.h"

#include <algorithm>

#include "trace/variable.h"

namespace weft_engine::trace {

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
  if (pending_.empty()) return {};
  for (const Pending& p : waiting()) WEFT_RETURN_IF_ERROR(p.restore->tracked(p.node_id, name, added));
  forget_done();
  return {};
}

Status TrackableState::add_slot(std::string name, const std::shared_ptr<VariableState>& original, std::shared_ptr<VariableState> variable) {
  VariableState& made = *variable;
  slots_.push_back({name, original, std::move(variable)});
  if (pending_.empty()) return {};
  for (const Pending& p : waiting()) WEFT_RETURN_IF_ERROR(p.restore->slot_made(p.node_id, name, *original, made));
  forget_done();
  return {};
}

void TrackableState::await(std::shared_ptr<PendingRestore> restore, int node_id) {
  if (!restore->waits(node_id)) return;
  std::vector<std::string> names;
  if (!pending_.empty()) names = restore->awaited(node_id);
  std::erase_if(pending_, [&](const Pending& old) {
    const std::vector<std::string> olds = old.restore->awaited(old.node_id);
    return std::all_of(olds.begin(), olds.end(), [&](const std::string& n) { return std::find(names.begin(), names.end(), n) != names.end(); });
  });
  pending_.push_back({std::move(restore), node_id});
}

// The latest first: what it gives is not taken back by those before it.
std::vector<TrackableState::Pending> TrackableState::waiting() { return {pending_.rbegin(), pending_.rend()}; }

void TrackableState::forget_done() {
  std::erase_if(pending_, [](const Pending& p) { return !p.restore->waits(p.node_id); });
}

}  // namespace weft_engine::trace
