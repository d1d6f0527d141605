// SPDX-License-Identifier: Apache-2.0
//
// FakeInput: inputs of a NodeDefBuilder that come from nowhere, for nodes of which only the kernel or the shapes are looked at.
#ifndef TENSORFLOW_CORE_FRAMEWORK_FAKE_INPUT_H_
#define TENSORFLOW_CORE_FRAMEWORK_FAKE_INPUT_H_

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"

namespace tensorflow {

namespace internal {
// What the caller says of an input; what he does not say is in the node's attributes.
struct FakeInputSaid {
  int n = -1;
  DataType type = DT_INVALID;
  DataTypeVector types;
  bool has_types = false;

  Status operator()(const OpDef& op, int index, const NodeDef& node, NodeDefBuilder* builder) const {
    const OpDef::ArgDef& arg = op.input_arg(index);
    const std::string from(1, static_cast<char>('a' + index % 26));
    if (has_types || (type == DT_INVALID && !arg.type_list_attr().empty())) {
      DataTypeVector list = types;
      if (!has_types) {
        const Status s = GetNodeAttr(node, arg.type_list_attr(), &list);
        if (!s.ok()) return errors::InvalidArgument("Could not infer list of types for input '", arg.name(), "': ", s.error_message());
      }
      return AddList(list, from, builder);
    }
    const bool is_list = n >= 0 || !arg.number_attr().empty();
    int count = n;
    if (is_list && n < 0) {
      const Status s = GetNodeAttr(node, arg.number_attr(), &count);
      if (!s.ok()) return errors::InvalidArgument("Could not infer length of input '", arg.name(), "': ", s.error_message());
    }
    DataType of = DT_FLOAT;
    if (!is_list || count > 0) TF_RETURN_IF_ERROR(Type(op, arg, node, &of));
    if (is_list) return AddList(DataTypeVector(static_cast<size_t>(std::max(count, 0)), of), from, builder);
    builder->Input(from, 0, of);
    return OkStatus();
  }

 private:
  static Status AddList(const DataTypeVector& types, const std::string& from, NodeDefBuilder* builder) {
    std::vector<NodeDefBuilder::NodeOut> outs;
    for (const DataType t : types) outs.emplace_back(from, static_cast<int>(outs.size()), t);
    builder->Input(gtl::ArraySlice<NodeDefBuilder::NodeOut>(outs));
    return OkStatus();
  }
  Status Type(const OpDef& op, const OpDef::ArgDef& arg, const NodeDef& node, DataType* out) const {
    if (type != DT_INVALID) return *out = type, OkStatus();
    if (arg.type() != DT_INVALID) return *out = static_cast<DataType>(arg.type()), OkStatus();
    if (arg.type_attr().empty()) return errors::InvalidArgument("No type or type_attr field in arg '", arg.name(), "'");
    const Status s = GetNodeAttr(node, arg.type_attr(), out);
    if (s.ok()) return s;
    for (const OpDef::AttrDef& attr : op.attr()) {
      if (attr.name() == arg.type_attr() && attr.has_default_value()) return *out = static_cast<DataType>(attr.default_value().type()), OkStatus();
    }
    return errors::InvalidArgument("Could not infer type for input '", arg.name(), "': ", s.error_message());
  }
};
}  // namespace internal

using FakeInputFunctor = NodeDefBuilder::FakeInputFunctor;

inline FakeInputFunctor FakeInput() { return internal::FakeInputSaid(); }
inline FakeInputFunctor FakeInput(DataType type) {
  internal::FakeInputSaid said;
  said.type = type;
  return said;
}
// A list of so many.
inline FakeInputFunctor FakeInput(int n) {
  internal::FakeInputSaid said;
  said.n = n;
  return said;
}
inline FakeInputFunctor FakeInput(int n, DataType type) {
  internal::FakeInputSaid said;
  said.n = n;
  said.type = type;
  return said;
}
inline FakeInputFunctor FakeInput(DataTypeSlice types) {
  internal::FakeInputSaid said;
  said.types.assign(types.begin(), types.end());
  said.has_types = true;
  return said;
}
inline FakeInputFunctor FakeInput(std::initializer_list<DataType> types) { return FakeInput(DataTypeSlice(types)); }

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_FAKE_INPUT_H_
