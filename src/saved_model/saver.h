// Writing SavedModels: objects with their variables and functions, signatures, and what other loaders need (a graph with
// the signatures' calls, ops that save and restore). TensorFlow, TF Serving and this library read them. C++ (describe.h) and Python
// (python/native/saved_model.cc) describe what is to be saved; everything else is done here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/function_library.h"
#include "op/registry.h"
#include "saved_model/object_graph.h"

namespace weft_engine::saved_model {

struct ModelDescription {
  // Nodes and traces as they are written. Constants need no name and assets no number: they get them here.
  ObjectGraph objects;
  std::map<int, Tensor> constants;    // by node
  std::map<int, std::string> assets;  // by node: where the file is now

  // What the checkpoint holds of a node. Values of one that is saved by functions (SavedObject::saveables) are listed under the names of these.
  struct Value {
    std::string name;
    Tensor tensor;
  };
  std::map<int, std::vector<Value>> values;

  struct Signature {
    std::string key, function;        // the trace: keyword arguments in, a dictionary out
    std::vector<StructuredValue> inputs;  // tensors with the arguments' names, in the order of the arguments
    std::vector<PartialShape> result_shapes;
  };
  std::vector<Signature> signatures;

  std::shared_ptr<graph::FunctionLibrary> library;                   // all traces and what they call
  std::map<std::string, std::vector<std::string>> argument_names;    // by trace
  std::map<std::string, std::string> aliases;                        // trace -> the program's name for it
  std::vector<std::string> tags = {"serve"};
  std::string tensorflow_version = "2.21.0", git_version;  // of whose files these are like
  bool custom_gradients = true;                            // write those that traces have
  bool saver = true;                                       // ops that save and restore
  bool debug_info = false;

  // Writes the bundle instead of the saver: (prefix, values by key).
  using Values = std::vector<std::pair<std::string, Tensor>>;
  std::function<Status(const std::string& prefix, const Values& values)> write_values;
};

// A model that is ready to be written.
class SavedModelFiles {
 public:
  static Result<SavedModelFiles> make(const op::Registry& registry, ModelDescription model);
  // The ops that the model uses.
  const std::vector<std::string>& ops() const { return ops_; }
  // Replaces what is at `dir` only when everything is written.
  Status write(const std::string& dir);

 private:
  ModelDescription model_;
  std::vector<std::pair<std::string, std::string>> assets_;  // file, name in the model
  ModelDescription::Values values_;
  std::vector<std::string> ops_;
  std::string bytes_;  // saved_model.pb
};

}  // namespace weft_engine::saved_model
