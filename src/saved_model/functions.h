// The functions of a SavedModel's object graph, callable without the Python code that made them. A function has one
// form (concrete function) for each way in which it was called before it was saved; what it captured, variables,
// tables and constants, is found in the loaded graph.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "graph/graph.h"
#include "runtime/session.h"
#include "saved_model/meta_graph.h"
#include "saved_model/object_graph.h"

namespace weft_engine::saved_model {

using graph::Endpoint;
using graph::Node;
using op::AttrMap;
using op::AttrValue;
using op::FunctionAttr;
using op::Registry;
using op::StepTrace;

struct FunctionForm {
  std::string name;                                            // in the library
  std::vector<Leaf> inputs, outputs;                           // tensors only, as passed
  std::vector<std::pair<std::string, StructuredValue>> plain;  // arguments that are no tensors, by parameter
  std::vector<int> bound;                                      // captured objects
  Status unsupported;                                          // why it cannot be called, if so
};

struct ModelFunction {
  std::string path;  // "net.call"
  std::vector<FunctionForm> forms;
  std::map<std::string, StructuredValue> defaults;  // by parameter
  bool internal = false;                            // put there by the exporter: single forms, signatures, how to make a table
};

// A tensor that is to be passed, as far as it is known.
struct Argument {
  DType dtype = DType::kInvalid;
  PartialShape shape;
};
// The form that these tensors and plain arguments fit; the error lists the forms.
Result<const FunctionForm*> choose_form(const ModelFunction& f, std::span<const Argument> args, const std::map<std::string, StructuredValue>& plain);

// All functions of the object graph, by path.
std::vector<ModelFunction> list_functions(const ObjectGraph& objects);

class FunctionTable {
 public:
  // What it is given must outlive it.
  FunctionTable(const ObjectGraph& objects, const MetaGraph& meta, std::string dir, const graph::Graph& graph, runtime::Session& session);

  const std::vector<ModelFunction>& functions() const { return functions_; }
  // NotFound tells which there are.
  Result<const ModelFunction*> find(std::string_view path) const;
  Result<const FunctionForm*> choose(const ModelFunction& f, std::span<const Tensor> args, const std::map<std::string, StructuredValue>& plain) const;
  Result<std::vector<Tensor>> call(const FunctionForm& form, std::vector<Tensor> args, StepTrace* trace = nullptr);

  // The tensor of the graph that an object stands for; null where nothing tells.
  Endpoint tensor_of(int object) const { return tensors_[size_t(object)]; }
  void set_tensor(int object, Endpoint e) { tensors_[size_t(object)] = e; }

 private:
  void find_tensors();
  Result<Tensor> captured(int object, int depth);
  Result<Tensor> make_captured(int object, int depth);
  Result<Tensor> create_resource(int object, int depth);
  Result<std::vector<Tensor>> call(const std::string& name, std::vector<Tensor> args, const std::vector<int>& bound, StepTrace* trace, int depth);

  const ObjectGraph& objects_;
  const MetaGraph& meta_;
  const std::string dir_;
  const graph::Graph& graph_;
  runtime::Session& session_;
  std::vector<ModelFunction> functions_;
  std::vector<Endpoint> tensors_;  // by object
  std::mutex mutex_;
  std::map<int, Tensor> captured_;
  std::recursive_mutex making_;     // held while a captured object is made, which may call functions that need others
  std::map<int, Tensor> building_;  // made, not yet filled
};

// "(x: float [?,3], training=False)"
std::string describe(const FunctionForm& form);

}  // namespace weft_engine::saved_model
