// The objects of a SavedModel as Python saw them: modules, variables, tables, functions, and who holds whom under
// which name. SavedObjectGraph stands in saved_model.pb, TrackableObjectGraph in the checkpoint.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "saved_model/structured_value.h"

namespace weft::saved_model {

struct SavedObject {
  enum class Kind { kNone, kUser, kAsset, kFunction, kVariable, kBareFunction, kConstant, kResource, kCapturedTensor };
  Kind kind = Kind::kNone;
  std::vector<std::pair<std::string, int>> children;  // name, node
  std::vector<std::string> concrete_functions;        // kFunction: all of its forms; kBareFunction: the one
  std::vector<std::string> keywords;                  // kBareFunction: names of its arguments
  std::string arg_spec;                               // kFunction: FullArgSpec, a StructuredValue, as bytes
  bool is_method = false;                             // kFunction: the first argument is self
  std::string name;                                   // kUser: identifier; kVariable: its name; kConstant: the node that holds it
  int asset = -1;                                     // kAsset: which of the model's assets
  DType dtype = DType::kInvalid;                      // kVariable
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
  // The shortest path of every object; "" for the root and for what cannot be reached.
  std::vector<std::string> paths() const;
};

Result<ObjectGraph> decode_object_graph(std::string_view bytes);

// Which key of the checkpoint holds each object's value: by object of `graph`; empty where there is none.
// `bytes` is the checkpoint's TrackableObjectGraph; objects are matched by the names that lead to them.
Result<std::vector<std::string>> checkpoint_keys(const ObjectGraph& graph, std::string_view bytes);

}  // namespace weft::saved_model
