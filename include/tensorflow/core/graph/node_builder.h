// SPDX-License-Identifier: Apache-2.0
//
// NodeBuilder: a node with its inputs and attributes, added to a graph by Finalize.
#ifndef TENSORFLOW_CORE_GRAPH_NODE_BUILDER_H_
#define TENSORFLOW_CORE_GRAPH_NODE_BUILDER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorflow/cc/ops/const_op.h"
#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/graph/graph.h"
#include "tensorflow/core/platform/statusor.h"

namespace tensorflow {

class NodeBuilder {
 public:
  struct NodeOut {
    NodeOut() = default;
    NodeOut(Node* n, int32 i = 0) : node(n), error(n == nullptr), index(i), dt(n && i < n->num_outputs() ? n->output_type(i) : DT_FLOAT) {}  // NOLINT
    NodeOut(OutputTensor t) : NodeOut(t.node, t.index) {}  // NOLINT
    NodeOut(std::string_view n, int32 i, DataType t) : name(n), index(i), dt(t) {}
    Node* node = nullptr;
    bool error = false;
    std::string name;
    int32 index = 0;
    DataType dt = DT_FLOAT;
  };

  NodeBuilder(std::string_view name, std::string_view op_name) : name_(name), op_(op_name) {}
  template <class Registry>
  NodeBuilder(std::string_view name, std::string_view op_name, const Registry*) : NodeBuilder(name, op_name) {}

  NodeBuilder& Input(Node* node, int index = 0) { return Input(NodeOut(node, index)); }
  NodeBuilder& Input(NodeOut out) {
    Add(out);
    lists_.push_back(-1);
    return *this;
  }
  NodeBuilder& Input(gtl::ArraySlice<NodeOut> list) {
    for (const NodeOut& out : list) Add(out);
    lists_.push_back(static_cast<int>(list.size()));
    return *this;
  }
  NodeBuilder& ControlInput(Node* node) {
    control_inputs_.push_back(node);
    return *this;
  }
  NodeBuilder& ControlInputs(gtl::ArraySlice<Node*> nodes) {
    control_inputs_.insert(control_inputs_.end(), nodes.begin(), nodes.end());
    return *this;
  }
  NodeBuilder& Device(std::string_view device) {
    device_ = device;
    return *this;
  }
  NodeBuilder& AssignedDevice(std::string_view device) { return Device(device); }
  NodeBuilder& XlaCluster(std::string_view cluster) { return Attr("_XlaCluster", cluster); }
  template <class T>
  NodeBuilder& Attr(std::string_view name, const T& value) {
    if constexpr (std::is_same_v<T, Tensor>) {
      tensors_.emplace_back(name, value);
    } else {
      attrs_.emplace_back(name, AttrValue());
      SetAttrValue(value, &attrs_.back().second);
    }
    return *this;
  }
  template <class T>
  NodeBuilder& Attr(std::string_view name, std::initializer_list<T> value) {
    attrs_.emplace_back(name, AttrValue());
    SetAttrValue(value, &attrs_.back().second);
    return *this;
  }
  const std::string& node_name() const { return name_; }

  Status Finalize(Graph* graph, Node** created, bool = false) {
    if (created) *created = nullptr;
    if (!error_.ok()) return error_;
    TF_OperationDescription* op = TF_NewOperation(graph->c(), op_.c_str(), name_.c_str());
    size_t at = 0;
    for (const int n : lists_) {
      if (n < 0) TF_AddInput(op, inputs_[at++]);
      else TF_AddInputList(op, inputs_.data() + at, n), at += static_cast<size_t>(n);
    }
    for (Node* node : control_inputs_) TF_AddControlInput(op, node->c());
    if (!device_.empty()) TF_SetDevice(op, device_.c_str());
    Status bad;
    for (const auto& [name, value] : attrs_) {
      const std::string bytes = value.SerializeAsString();
      const internal::CStatus s;
      TF_SetAttrValueProto(op, name.c_str(), bytes.data(), bytes.size(), s);
      bad.Update(s.status());
    }
    for (const auto& [name, value] : tensors_) {
      const internal::CStatus s;
      const Tensor none(value.dtype(), value.shape());  // for a tensor without elements yet
      TF_SetAttrTensor(op, name.c_str(), (value.c_tensor() ? value : none).c_tensor(), s);
      bad.Update(s.status());
    }
    const internal::CStatus s;
    TF_Operation* made = TF_FinishOperation(op, s);
    if (created) *created = Node::Of(made);
    bad.Update(s.status());
    return bad;
  }
  StatusOr<Node*> Finalize(Graph* graph, bool consume = false) {
    Node* node = nullptr;
    TF_RETURN_IF_ERROR(Finalize(graph, &node, consume));
    return node;
  }

 private:
  void Add(const NodeOut& out) {
    if (out.node && (out.index < 0 || out.index >= out.node->num_outputs()))
      error_.Update(errors::InvalidArgument("Attempt to add output ", out.index, " of ", out.node->name(), " not in range [0, ",
                                            out.node->num_outputs(), ") to node with type ", op_, ". Node: {{node ", out.node->name(), "}}"));
    else if (!out.node)
      error_.Update(errors::InvalidArgument(
          out.name.empty() ? "Attempt to add nullptr Node to node with type " : "an input by name is only possible in loops, node of type ", op_));
    else inputs_.push_back({out.node->c(), out.index});
  }
  std::string name_, op_, device_;
  std::vector<TF_Output> inputs_;
  std::vector<int> lists_;  // of each argument: how many inputs, -1 for what is no list
  std::vector<Node*> control_inputs_;
  std::vector<std::pair<std::string, AttrValue>> attrs_;
  std::vector<std::pair<std::string, Tensor>> tensors_;
  Status error_;
};

namespace ops {

// An input as NodeBuilder takes it; constants become nodes.
inline NodeBuilder::NodeOut AsNodeOut(const Scope& scope, const Input& in) {
  scope.UpdateStatus(in.status());
  if (!scope.ok()) return {};
  if (in.node()) return NodeBuilder::NodeOut(in.node(), in.index());
  if (!in.node_name().empty()) return NodeBuilder::NodeOut(in.node_name(), in.index(), in.data_type());
  const Output constant = Const(scope.NewSubScope("Const"), Input::Initializer(in.tensor()));
  return NodeBuilder::NodeOut(constant.node(), constant.index());
}
inline std::vector<NodeBuilder::NodeOut> AsNodeOutList(const Scope& scope, const InputList& list) {
  std::vector<NodeBuilder::NodeOut> out;
  for (const Input& in : list) out.push_back(AsNodeOut(scope, in));
  return out;
}

}  // namespace ops
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_NODE_BUILDER_H_
