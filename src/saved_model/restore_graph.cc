#include "saved_model/restore_graph.h"

namespace weft_engine::saved_model {

RestoreGraph::RestoreGraph(std::vector<SavedTrackable> nodes, bool skip_slots)
    : nodes_(std::move(nodes)), matched_(nodes_.size(), 0), skipped_(nodes_.size(), 0), slots_of_(nodes_.size()), taken_(nodes_.size()) {
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (skip_slots) {
      for (const auto& slot : nodes_[i].slots) skipped_[size_t(slot.variable)] = 1;
      nodes_[i].slots.clear();
    }
    taken_[i].assign(nodes_[i].slots.size(), 0);
    for (const auto& slot : nodes_[i].slots) slots_of_[size_t(slot.original)].push_back({int(i), &slot});
  }
}

const std::vector<std::string>& RestoreGraph::names() const {
  if (names_.empty()) names_ = readable_names(nodes_);
  return names_;
}

std::vector<std::string> RestoreGraph::awaited_names(int node) const {
  std::vector<std::string> out;
  for (const auto& [name, child] : nodes_[size_t(node)].children) {
    if (awaited(child)) out.push_back(name);
  }
  for (const auto& s : nodes_[size_t(node)].slots) {
    if (!matched(s.variable)) out.push_back(cat(".OPTIMIZER_SLOT/", s.name));
  }
  return out;
}

std::vector<RestoreGraph::Slot> RestoreGraph::take_ready_slots(int node) {
  std::vector<Slot> out;
  const auto take = [&](int optimizer, const SavedTrackable::Slot& slot) {
    char& taken = taken_[size_t(optimizer)][size_t(&slot - nodes_[size_t(optimizer)].slots.data())];
    if (taken || !matched(optimizer) || !matched(slot.original)) return;
    taken = 1;
    out.push_back({optimizer, &slot});
  };
  for (const auto& slot : nodes_[size_t(node)].slots) take(node, slot);
  for (const Slot& s : slots_of_[size_t(node)]) take(s.optimizer, *s.slot);
  return out;
}

std::vector<int> RestoreGraph::open_optimizers() const {
  std::vector<int> out;
  for (int i = 0; i < size(); ++i) {
    if (!matched(i) && !nodes_[size_t(i)].slots.empty()) out.push_back(i);
  }
  return out;
}

std::vector<int> RestoreGraph::unresolved() const {
  std::vector<int> out;
  for (int i = 0; i < size(); ++i) {
    if (!matched(i) && wanted(i)) out.push_back(i);
  }
  return out;
}

}  // namespace weft_engine::saved_model
