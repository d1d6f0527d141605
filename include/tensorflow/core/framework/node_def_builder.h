// SPDX-License-Identifier: Apache-2.0
//
// NodeDefBuilder: a node as a message. Inputs and attributes are checked by the engine when the graph is used.
#ifndef TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_BUILDER_H_
#define TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_BUILDER_H_

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/platform/str_util.h"
#include "tensorflow/core/platform/strcat.h"

namespace tensorflow {

class NodeDefBuilder {
 public:
  struct NodeOut {
    NodeOut() = default;
    NodeOut(std::string_view n, int i, DataType t) : node(n), index(i), data_type(t) {}
    std::string node;
    int index = 0;
    DataType data_type = DT_INVALID;
  };

  NodeDefBuilder(std::string_view name, std::string_view op, const OpRegistryInterface* registry = OpRegistry::Global()) {
    def_.set_name(std::string(name));
    def_.set_op(std::string(op));
    Note(registry->LookUpOpDef(std::string(op), &op_));
  }
  NodeDefBuilder(std::string_view name, const OpDef* op) : op_(op) {
    def_.set_name(std::string(name));
    def_.set_op(op->name());
  }

  NodeDefBuilder& Input(std::string_view node, int index, DataType type) {
    if (const OpDef::ArgDef* arg = NextArg()) Single(*arg, {std::string(node), index, type});
    return *this;
  }
  NodeDefBuilder& Input(const NodeOut& out) { return Input(out.node, out.index, out.data_type); }
  NodeDefBuilder& Input(gtl::ArraySlice<NodeOut> list) {
    if (const OpDef::ArgDef* arg = NextArg()) List(*arg, list);
    return *this;
  }
  // An input that comes from nowhere: fake_input.h has functions that give one.
  using FakeInputFunctor = std::function<Status(const OpDef&, int, const NodeDef&, NodeDefBuilder*)>;
  NodeDefBuilder& Input(const FakeInputFunctor& fake) {
    if (!op_) return *this;
    if (at_ >= op_->input_arg_size()) return NextArg(), *this;
    Note(fake(*op_, at_, def_, this));
    return *this;
  }
  NodeDefBuilder& ControlInput(std::string_view node) {
    controls_.push_back("^" + std::string(node));
    return *this;
  }
  NodeDefBuilder& Device(std::string_view device) {
    def_.set_device(std::string(device));
    return *this;
  }
  template <class T>
  NodeDefBuilder& Attr(std::string_view name, const T& value) {
    AttrValue attr;
    SetAttrValue(value, &attr);
    return Set(std::string(name), attr);
  }
  NodeDefBuilder& Attr(std::string_view name, const AttrValue& value) { return Set(std::string(name), value); }
  template <class T>
  NodeDefBuilder& Attr(std::string_view name, std::initializer_list<T> value) {
    AttrValue attr;
    SetAttrValue(value, &attr);
    return Set(std::string(name), attr);
  }
  const std::string& node_name() const { return def_.name(); }
  const OpDef& op_def() const { return *op_; }

  Status Finalize(NodeDef* def, bool = false) {
    std::vector<std::string> errors = errors_;
    if (op_ && at_ < op_->input_arg_size()) errors.push_back(strings::StrCat(at_, " inputs specified of ", op_->input_arg_size(), " inputs in Op"));
    if (!errors.empty()) return Failed(errors);
    *def = def_;
    for (const std::string& c : controls_) def->add_input(c);
    for (const OpDef::AttrDef& attr : op_->attr()) {
      if (attr.has_default_value() && !HasNodeAttr(*def, attr.name())) (*def->mutable_attr())[attr.name()] = attr.default_value();
    }
    return OkStatus();
  }

 private:
  void Note(const Status& s) {
    if (!s.ok()) errors_.push_back(std::string(s.error_message()));
  }
  Status Failed(const std::vector<std::string>& errors) const {
    const std::string where = strings::StrCat(" while building NodeDef '", def_.name(), "'", op_ ? " using " + SummarizeOpDef(*op_) : std::string());
    if (errors.size() == 1) return errors::InvalidArgument(errors[0], where);
    return errors::InvalidArgument(errors.size(), " errors", where, ":\n", str_util::Join(errors, "\n"));
  }
  const OpDef::ArgDef* NextArg() {
    if (!op_) return nullptr;
    if (at_ < op_->input_arg_size()) return &op_->input_arg(at_++);
    errors_.push_back(strings::StrCat("More Input() calls than the ", op_->input_arg_size(), " input_args"));
    return nullptr;
  }
  void Put(const NodeOut& out) { def_.add_input(out.index > 0 ? out.node + ":" + std::to_string(out.index) : out.node); }
  void Single(const OpDef::ArgDef& arg, const NodeOut& out) {
    Put(out);
    if (!arg.number_attr().empty() || !arg.type_list_attr().empty())
      errors_.push_back(strings::StrCat("Single tensor passed to '", arg.name(), "', expected list"));
    else if (!arg.type_attr().empty()) Attr(arg.type_attr(), BaseType(out.data_type));
    else if (BaseType(out.data_type) != BaseType(arg.type()))
      errors_.push_back(strings::StrCat("Input '", arg.name(), "' passed ", DataTypeString(out.data_type), " expected ", DataTypeString(arg.type())));
  }
  void List(const OpDef::ArgDef& arg, gtl::ArraySlice<NodeOut> list) {
    std::vector<DataType> types;
    for (const NodeOut& out : list) {
      Put(out);
      types.push_back(BaseType(out.data_type));
    }
    if (!arg.number_attr().empty()) {
      Attr(arg.number_attr(), static_cast<int64>(list.size()));
      if (!types.empty() && !arg.type_attr().empty()) Attr(arg.type_attr(), types[0]);
    } else if (!arg.type_list_attr().empty()) {
      Attr(arg.type_list_attr(), types);
    } else {
      errors_.push_back(strings::StrCat("List provided to input '", arg.name(), "' when single Tensor expected"));
    }
  }
  // Twice the same is no error, twice something else is.
  NodeDefBuilder& Set(const std::string& name, const AttrValue& value) {
    const AttrValue* has = AttrSlice(def_).Find(name);
    if (has && has->SerializeAsString() != value.SerializeAsString())
      errors_.push_back(strings::StrCat("Inconsistent values for attr '", name, "' ", SummarizeAttrValue(*has), " vs. ", SummarizeAttrValue(value)));
    if (!has) (*def_.mutable_attr())[name] = value;
    return *this;
  }

  NodeDef def_;
  const OpDef* op_ = nullptr;
  int at_ = 0;
  std::vector<std::string> controls_;
  std::vector<std::string> errors_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_BUILDER_H_
