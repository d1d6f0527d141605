// The nodes of a checkpoint while it is restored: which have found their object, what is still awaited, and which slot variables can be given to their
// optimizers. It knows nothing of objects (restorer.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "saved_model/trackable_graph.h"

namespace weft_engine::saved_model {

class RestoreGraph {
 public:
  // `skip_slots`: slot variables are not wanted, nor missed.
  explicit RestoreGraph(std::vector<SavedTrackable> nodes, bool skip_slots = false);
  RestoreGraph(const RestoreGraph&) = delete;

  int size() const { return int(nodes_.size()); }
  const SavedTrackable& node(int node) const { return nodes_[size_t(node)]; }
  const std::vector<std::string>& names() const;  // "(root).model.kernel" of every node

  bool matched(int node) const { return matched_[size_t(node)]; }
  void set_matched(int node) { matched_[size_t(node)] = 1; }
  // Whether an object is still to come for it, or for something below it.
  bool awaited(int node) const { return !matched(node) && nodes_[size_t(node)].has_values; }

  struct Slot {
    int optimizer;
    const SavedTrackable::Slot* slot;
  };
  // What an object of the node may still get: names of children, and slots.
  std::vector<std::string> awaited_names(int node) const;
  // Those that belong to this variable.
  const std::vector<Slot>& slots_of(int variable) const { return slots_of_[size_t(variable)]; }
  // Those whose optimiser and variable both have objects, of which this node is one. Each is given once.
  std::vector<Slot> take_ready_slots(int node);
  // Optimisers that have slots and no object.
  std::vector<int> open_optimizers() const;
  // Whether an object is to be found for it: it has values, and is no slot variable that is skipped.
  bool wanted(int node) const { return !skipped_[size_t(node)] && !nodes_[size_t(node)].values.empty(); }
  // Those that never had one.
  std::vector<int> unresolved() const;

 private:
  std::vector<SavedTrackable> nodes_;
  std::vector<char> matched_;  // whether a node ever had an object
  std::vector<char> skipped_;  // slot variables that are not wanted
  std::vector<std::vector<Slot>> slots_of_;  // by variable
  std::vector<std::vector<char>> taken_;  // by optimiser and slot
  mutable std::vector<std::string> names_;  // made when asked for
};

}  // namespace weft_engine::saved_model
