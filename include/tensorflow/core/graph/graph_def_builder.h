// SPDX-License-Identifier: Apache-2.0
//
// GraphDefBuilder: a graph made of nodes by the names of their ops.
#ifndef TENSORFLOW_CORE_GRAPH_GRAPH_DEF_BUILDER_H_
#define TENSORFLOW_CORE_GRAPH_GRAPH_DEF_BUILDER_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/graph/node_builder.h"

namespace tensorflow {

class GraphDefBuilder {
 public:
  class Options {
   public:
    Options(Graph* graph, Status* status) : graph_(graph), status_(status) {}
    Options WithName(std::string_view name) const {
      Options o(*this);
      o.name_ = name;
      return o;
    }
    Options WithDevice(std::string_view device) const {
      Options o(*this);
      o.device_ = device;
      return o;
    }
    Options WithControlInput(Node* node) const {
      Options o(*this);
      o.control_inputs_.push_back(node);
      return o;
    }
    Options WithControlInputs(gtl::ArraySlice<Node*> nodes) const {
      Options o(*this);
      o.control_inputs_.insert(o.control_inputs_.end(), nodes.begin(), nodes.end());
      return o;
    }
    template <class T>
    Options WithAttr(std::string_view name, const T& value) const {
      Options o(*this);
      o.attrs_.emplace_back(name, AttrValue());
      SetAttrValue(value, &o.attrs_.back().second);
      return o;
    }
    template <class T>
    Options WithAttr(std::string_view name, std::initializer_list<T> value) const {
      return WithAttr(name, std::vector<T>(value));
    }
    bool HaveError() const { return status_ && !status_->ok(); }
    std::string StatusToString() const { return HaveError() ? status_->error_message() : "OK"; }
    std::string GetNameForOp(std::string_view op) const {
      if (!name_.empty()) return name_;
      // As TensorFlow's graph numbers nodes: n<number>.
      for (int n = graph_->num_nodes();; ++n) {
        const std::string name = strings::StrCat(op, "/_", n);
        if (!graph_->FindNode(name)) return name;
      }
    }
    Node* FinalizeBuilder(NodeBuilder* builder) const {
      builder->ControlInputs(control_inputs_);
      if (!device_.empty()) builder->Device(device_);
      for (const auto& [name, value] : attrs_) builder->Attr(name, value);
      Node* node = nullptr;
      UpdateStatus(builder->Finalize(graph_, &node));
      return HaveError() ? nullptr : node;
    }
    void UpdateStatus(const Status& status) const {
      if (!status_) TF_CHECK_OK(status);
      else status_->Update(status);
    }

   private:
    Graph* graph_;
    Status* status_;
    std::string name_, device_;
    std::vector<Node*> control_inputs_;
    std::vector<std::pair<std::string, AttrValue>> attrs_;
  };

  enum TestFailImmediatelyType { kFailImmediately };
  GraphDefBuilder() : opts_(&graph_, &status_) {}
  explicit GraphDefBuilder(TestFailImmediatelyType) : opts_(&graph_, nullptr) {}
  template <class Registry>
  explicit GraphDefBuilder(const Registry*) : GraphDefBuilder() {}
  GraphDefBuilder(const GraphDefBuilder&) = delete;
  void operator=(const GraphDefBuilder&) = delete;

  const Options& opts() const { return opts_; }
  Status ToGraphDef(GraphDef* graph_def) const { return status_.ok() ? graph_.ToGraphDefStatus(graph_def) : status_; }
  Status AddFunctionLibrary(const FunctionDefLibrary& library) { return graph_.AddFunctionLibrary(library); }

 private:
  Graph graph_;
  Status status_;
  Options opts_;
};

namespace ops {

using NodeOut = NodeBuilder::NodeOut;

namespace internal {
inline Node* AddNode(const std::string& op, std::initializer_list<NodeOut> inputs, const GraphDefBuilder::Options& opts) {
  if (opts.HaveError()) return nullptr;
  NodeBuilder builder(opts.GetNameForOp(op), op);
  for (const NodeOut& input : inputs) builder.Input(input);
  return opts.FinalizeBuilder(&builder);
}
}  // namespace internal

inline Node* SourceOp(const std::string& op, const GraphDefBuilder::Options& opts) { return internal::AddNode(op, {}, opts); }
inline Node* UnaryOp(const std::string& op, NodeOut input, const GraphDefBuilder::Options& opts) { return internal::AddNode(op, {input}, opts); }
inline Node* BinaryOp(const std::string& op, NodeOut a, NodeOut b, const GraphDefBuilder::Options& opts) {
  return internal::AddNode(op, {a, b}, opts);
}
inline Node* TernaryOp(const std::string& op, NodeOut a, NodeOut b, NodeOut c, const GraphDefBuilder::Options& opts) {
  return internal::AddNode(op, {a, b, c}, opts);
}

}  // namespace ops
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_GRAPH_DEF_BUILDER_H_
