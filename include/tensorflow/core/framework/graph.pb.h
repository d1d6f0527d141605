// SPDX-License-Identifier: Apache-2.0
//
// GraphDef: read, handed on, and its nodes looked at. What a node holds beyond name, op, inputs and device is kept as it came.
#ifndef TENSORFLOW_CORE_FRAMEWORK_GRAPH_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_GRAPH_PB_H_

#include <string>
#include <vector>

#include "tensorflow/core/platform/protobuf.h"

namespace tensorflow {

class GraphDef : public protobuf::MessageLite {
 public:
  class Node {
   public:
    const std::string& name() const { return name_; }
    const std::string& op() const { return op_; }
    const std::string& device() const { return device_; }
    int input_size() const { return static_cast<int>(inputs_.size()); }
    const std::string& input(int i) const { return inputs_[static_cast<size_t>(i)]; }

   private:
    friend class GraphDef;
    std::string name_, op_, device_;
    std::vector<std::string> inputs_;
  };
  int node_size() const { return static_cast<int>(nodes_.size()); }
  const Node& node(int i) const { return nodes_[static_cast<size_t>(i)]; }
  const std::vector<Node>& node() const { return nodes_; }
  void Clear() override { *this = GraphDef(); }

 protected:
  bool MergeBytes(std::string_view bytes) override {
    protobuf::WireReader r(bytes);
    while (r.Next()) {
      if (r.field() != 1 || r.type() != 2) continue;
      Node& node = nodes_.emplace_back();
      protobuf::WireReader n(r.bytes());
      while (n.Next()) {
        if (n.type() != 2) continue;
        if (n.field() == 1) node.name_ = n.bytes();
        if (n.field() == 2) node.op_ = n.bytes();
        if (n.field() == 3) node.inputs_.emplace_back(n.bytes());
        if (n.field() == 4) node.device_ = n.bytes();
      }
      if (!n.ok()) return false;
    }
    bytes_.append(bytes);
    return r.ok();
  }
  void AppendBytes(std::string* out) const override { out->append(bytes_); }

 private:
  std::string bytes_;
  std::vector<Node> nodes_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_GRAPH_PB_H_
