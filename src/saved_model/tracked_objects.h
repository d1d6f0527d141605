// The objects that a program tracks, in the order and under the names in which TensorFlow writes them into a checkpoint, and
// TrackableObjectGraph, the message that tells of them there (proto/object_graph.proto).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/status.h"
#include "trace/trackable.h"

namespace weft::saved_model {

using namespace weft::core;
using trace::TrackableState;

// The bundle's key of the object graph, and the name of a variable's value.
inline constexpr std::string_view kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";
inline constexpr std::string_view kVariableValue = "VARIABLE_VALUE";

struct TrackedObjects {
  struct Slot {
    std::string name;
    int original = 0, variable = 0;  // nodes
  };
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

// "." becomes "..", "/" becomes ".S".
std::string escape_name(std::string_view name);
// "path/.ATTRIBUTES/VARIABLE_VALUE".
std::string value_key(std::string_view path, std::string_view attribute = kVariableValue);

// A node of a checkpoint.
struct SavedTrackable {
  struct Value {
    std::string name, full_name, key;
  };
  std::vector<std::pair<std::string, int>> children;
  std::vector<Value> values;
  std::vector<TrackedObjects::Slot> slots;
  std::string registered_saver;
  bool has_values = true;  // it or something below it; true where the file does not say
  std::string bytes;       // the message
};

std::string encode_tracked(const TrackedObjects& objects);
// DataLoss where it is malformed or speaks of nodes that are not there.
Result<std::vector<SavedTrackable>> decode_tracked(std::string_view bytes);
// "(root).model.kernel" of every node, as TensorFlow's messages name them.
std::vector<std::string> readable_names(std::span<const SavedTrackable> nodes);

}  // namespace weft::saved_model
