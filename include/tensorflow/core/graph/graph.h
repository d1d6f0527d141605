// SPDX-License-Identifier: Apache-2.0
//
// Graph and Node: the engine's, seen through the C API. A Node is a TF_Operation and lives as long as its graph.
#ifndef TENSORFLOW_CORE_GRAPH_GRAPH_H_
#define TENSORFLOW_CORE_GRAPH_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "tensorflow/c/c_api.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/c_handles.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

class FunctionDefLibrary;
class GraphDef;
class NodeDef;

class Node {
 public:
  Node() = delete;
  TF_Operation* c() const { return reinterpret_cast<TF_Operation*>(const_cast<Node*>(this)); }
  static Node* Of(TF_Operation* op) { return reinterpret_cast<Node*>(op); }

  std::string name() const { return TF_OperationName(c()); }
  std::string type_string() const { return TF_OperationOpType(c()); }
  std::string requested_device() const { return TF_OperationDevice(c()); }
  int num_inputs() const { return TF_OperationNumInputs(c()); }
  int num_outputs() const { return TF_OperationNumOutputs(c()); }
  DataType input_type(int i) const { return static_cast<DataType>(TF_OperationInputType({c(), i})); }
  DataType output_type(int i) const { return static_cast<DataType>(TF_OperationOutputType({c(), i})); }
  // Messages are complete where a program asks for them: their headers cost those that do not nothing.
  template <class Def = NodeDef>
  Def def() const {
    Def def;
    const internal::Owned<TF_Buffer> bytes(TF_NewBuffer());
    const internal::CStatus s;
    TF_OperationToNodeDef(c(), bytes.get(), s);
    if (s.ok()) def.ParseFromArray(bytes->data, static_cast<int>(bytes->length));
    return def;
  }
  Status input_node(int i, Node** node) const {
    if (i < 0 || i >= num_inputs())
      return errors::InvalidArgument("Invalid input_node index ", i, ", Node ", name(), " only has ", num_inputs(), " inputs.");
    *node = Of(TF_OperationInput({c(), i}).oper);
    return OkStatus();
  }
  std::string DebugString() const { return "{name:'" + name() + "' def:{{{node " + name() + "}} = " + type_string() + "}}"; }
};

struct OutputTensor {
  OutputTensor() = default;
  OutputTensor(Node* n, int i) : node(n), index(i) {}
  Node* node = nullptr;
  int index = 0;
};

class Graph {
 public:
  static constexpr int kControlSlot = -1;
  Graph() : c_(TF_NewGraph()) {}
  template <class Registry>
  explicit Graph(const Registry*) : Graph() {}
  explicit Graph(internal::Owned<TF_Graph> graph) : c_(std::move(graph)) {}
  TF_Graph* c() const { return c_.get(); }
  TF_Graph* Release() { return c_.release(); }  // which then is the caller's

  std::vector<Node*> op_nodes() const {
    std::vector<Node*> nodes;
    size_t at = 0;
    while (TF_Operation* op = TF_GraphNextOperation(c(), &at)) nodes.push_back(Node::Of(op));
    return nodes;
  }
  std::vector<Node*> nodes() const { return op_nodes(); }
  int num_op_nodes() const { return static_cast<int>(op_nodes().size()); }
  int num_nodes() const { return num_op_nodes() + 2; }  // TensorFlow counts its source and sink
  Node* FindNode(const std::string& name) const { return Node::Of(TF_GraphOperationByName(c(), name.c_str())); }
  template <class Def>
  Status ToGraphDefStatus(Def* def) const {
    const internal::Owned<TF_Buffer> bytes(TF_NewBuffer());
    const internal::CStatus s;
    TF_GraphToGraphDef(c(), bytes.get(), s);
    TF_RETURN_IF_ERROR(s.status());
    if (!def->ParseFromArray(bytes->data, static_cast<int>(bytes->length))) return errors::Internal("the graph's own GraphDef cannot be read");
    return OkStatus();
  }
  template <class Def>
  void ToGraphDef(Def* def) const {
    ToGraphDefStatus(def).IgnoreError();
  }
  // Adds nodes and functions of a GraphDef.
  template <class Def>
  Status Import(const Def& def, const char* prefix = "") {
    const auto bytes = internal::Bytes(def);
    const internal::Owned<TF_ImportGraphDefOptions> options(TF_NewImportGraphDefOptions());
    if (*prefix) TF_ImportGraphDefOptionsSetPrefix(options.get(), prefix);
    const internal::CStatus s;
    TF_GraphImportGraphDef(c(), bytes.get(), options.get(), s);
    return s.status();
  }
  template <class Library, class Def = GraphDef>
  Status AddFunctionLibrary(const Library& library) {
    Def def;
    *def.mutable_library() = library;
    return Import(def);
  }

 private:
  internal::Owned<TF_Graph> c_;
};

struct GraphConstructorOptions {
  bool allow_internal_ops = false;
  bool expect_device_spec = false;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_GRAPH_H_
