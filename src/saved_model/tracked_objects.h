// The objects that a C++ program tracks, in the order and under the names in which TensorFlow writes them into a checkpoint.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "saved_model/trackable_graph.h"
#include "trace/trackable.h"

namespace weft_engine::saved_model {

using namespace weft_engine::core;
using trace::TrackableState;

struct TrackedObjects {
  using Slot = SavedTrackable::Slot;
  struct Node {
    std::shared_ptr<TrackableState> state;
    std::string path;                                   // "model/layer/kernel": names from the root, escaped
    std::vector<std::pair<std::string, int>> children;  // name, node
    std::vector<Slot> slots;                            // of optimisers
  };
  std::vector<Node> nodes;  // the first is the root; slot variables stand last
  std::unordered_map<const TrackableState*, int> ids;
};

// Breadth first, children in the order in which they were tracked. `attached` are further children of the root that it does
// not know of itself (the counter of a Checkpoint).
Result<TrackedObjects> list_tracked(const std::shared_ptr<TrackableState>& root, std::span<const TrackableState::Child> attached = {});

// What a checkpoint tells of them.
std::vector<SavedTrackable> trackables_of(const TrackedObjects& objects);

}  // namespace weft_engine::saved_model
