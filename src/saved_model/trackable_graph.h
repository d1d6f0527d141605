// TrackableObjectGraph (proto/object_graph.proto): what a checkpoint tells of the objects whose values it holds: who holds whom under which
// name, and under which key of the bundle each value stands. Written and read here for C++ and Python alike.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status.h"

namespace weft_engine::wire {
class BundleReader;
}

namespace weft_engine::saved_model {

using namespace weft_engine::core;

// The bundle's key of the object graph, and the name of a variable's value.
inline constexpr std::string_view kObjectGraphKey = "_CHECKPOINTABLE_OBJECT_GRAPH";
inline constexpr std::string_view kVariableValue = "VARIABLE_VALUE";

// A node of a checkpoint.
struct SavedTrackable {
  struct Value {
    std::string name, full_name, key;
  };
  struct Slot {
    std::string name;
    int original = 0, variable = 0;  // nodes
  };
  std::vector<std::pair<std::string, int>> children;  // name, node
  std::vector<Value> values;
  std::vector<Slot> slots;  // of optimisers
  std::string registered_saver;
  bool has_values = true;  // it or something below it; true where the file does not say
  std::string bytes;       // the message, of a node that was read
};

// The message. Which nodes have values at or below them is found here.
std::string encode_trackables(std::span<const SavedTrackable> nodes);
// DataLoss where it is malformed or speaks of nodes that are not there.
Result<std::vector<SavedTrackable>> decode_trackables(std::string_view bytes);

// That of a bundle; none where it has none (tf.compat.v1.train.Saver).
Result<std::vector<SavedTrackable>> read_trackables(const wire::BundleReader& bundle);

// "model/layer/kernel" of every node: the names on the shortest way from the root, escaped; slot variables by their variable and optimiser.
std::vector<std::string> trackable_paths(std::span<const SavedTrackable> nodes);
// "(root).model.kernel" of every node, as TensorFlow's messages name them.
std::vector<std::string> readable_names(std::span<const SavedTrackable> nodes);

// "." becomes "..", "/" becomes ".S".
std::string escape_name(std::string_view name);
// "path/.ATTRIBUTES/VARIABLE_VALUE".
std::string value_key(std::string_view path, std::string_view attribute = kVariableValue);

}  // namespace weft_engine::saved_model
