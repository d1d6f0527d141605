// The objects of a SavedModel as Python saw them: modules, variables, tables, functions, and who holds whom under
// which name: SavedObjectGraph, which stands in saved_model.pb. (TrackableObjectGraph stands in the checkpoint: trackable_graph.h.)
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "saved_model/structured_value.h"
#include "saved_model/trackable_graph.h"

namespace weft_engine::saved_model {

// How Python arguments become those of a trace.
struct FunctionSpec {
  StructuredValue arg_spec;  // FullArgSpec; None: the file has none
  StructuredValue input_signature;
  bool is_method = false;  // the first argument is self
  int jit_compile = 0;     // FunctionSpec.JitCompile
};

struct SavedObject {
  enum class Kind { kNone, kUser, kAsset, kFunction, kVariable, kBareFunction, kConstant, kResource, kCapturedTensor };
  Kind kind = Kind::kNone;
  std::vector<std::pair<std::string, int>> children;  // name, node
  std::vector<SavedTrackable::Slot> slots;            // of optimisers
  std::string registered_name;
  // By name: the functions that save and restore it. Those of kTensorsByName give and take a dictionary, and the checkpoint has its names.
  static constexpr const char* kTensorsByName = ".TENSORS";
  std::map<std::string, std::pair<int, int>> saveables;
  // kUser: identifier; kVariable: its name; kConstant: the node that holds it; kCapturedTensor: a tensor of its function.
  std::string name;
  std::string metadata;                         // kUser
  int asset = -1;                               // kAsset: which of the model's assets
  std::vector<std::string> concrete_functions;  // kFunction: all of its forms; kBareFunction: the one; kCapturedTensor: where it is
  std::vector<std::string> keywords;            // kBareFunction: names of its arguments
  int64_t positional = 0;                       // kBareFunction: how many of them need no names
  FunctionSpec spec;                            // kFunction, kBareFunction
  DType dtype = DType::kInvalid;                // kVariable
  PartialShape shape;
  bool trainable = false;
  int synchronization = 0, aggregation = 0;
};

struct SavedConcreteFunction {
  std::vector<int> bound_inputs;  // objects whose tensors are passed behind the arguments
  StructuredValue inputs;         // (args, kwargs)
  StructuredValue outputs;
};

struct ObjectGraph {
  std::vector<SavedObject> nodes;  // the first is the root
  std::map<std::string, SavedConcreteFunction> concrete_functions;

  // The object that a dotted path from the root leads to ("net.layers.0"); -1 if there is none.
  int find(std::string_view path) const;
  // The trace of a function that an object holds under this name ("_create_resource"); empty where there is none.
  std::string own_trace(int object, std::string_view name) const;
  // The shortest path of every object; "" for the root and for what cannot be reached.
  std::vector<std::string> paths() const;
};

Result<ObjectGraph> decode_object_graph(std::string_view bytes);
std::string encode_object_graph(const ObjectGraph& graph);

// By object of `graph`: which node of a checkpoint it is; -1: none. Objects are matched by the names that lead to them.
std::vector<int> match_objects(const ObjectGraph& graph, std::span<const SavedTrackable> checkpoint);
// The key of the value that a node of a checkpoint has; empty where it has none.
std::string variable_key(const SavedTrackable& node);

}  // namespace weft_engine::saved_model
