// SPDX-License-Identifier: Apache-2.0
//
// FunctionDefHelper: functions as messages, in few words; and gradients of ops as such functions (REGISTER_OP_GRADIENT).
#ifndef TENSORFLOW_CORE_FRAMEWORK_FUNCTION_DEF_HELPER_H_
#define TENSORFLOW_CORE_FRAMEWORK_FUNCTION_DEF_HELPER_H_

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/function.pb.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/platform/logging.h"

namespace tensorflow {

class FunctionDefHelper {
 public:
  // A value of an attribute; a text "$T" stands for the function's own attribute T.
  struct AttrValueWrapper {
    AttrValue proto;
    AttrValueWrapper() = default;
    template <class T>
    AttrValueWrapper(T value) {  // NOLINT
      if constexpr (internal::kIsText<T>) {
        const std::string_view text(value);
        if (!text.empty() && text[0] == '$') {
          proto.set_placeholder(std::string(text.substr(1)));
          return;
        }
      }
      SetAttrValue(value, &proto);
    }
  };
  static AttrValueWrapper FunctionRef(const std::string& name, gtl::ArraySlice<std::pair<std::string, AttrValueWrapper>> attrs = {}) {
    AttrValueWrapper out;
    out.proto.mutable_func()->set_name(name);
    for (const auto& attr : attrs) (*out.proto.mutable_func()->mutable_attr())[attr.first] = attr.second.proto;
    return out;
  }

  struct Node {
    std::vector<std::string> ret = {};  // the first is the node's name
    std::string op = {};
    std::vector<std::string> arg = {};
    std::vector<std::pair<std::string, AttrValueWrapper>> attr = {};
    std::vector<std::string> dep = {};  // nodes that run before
    std::string device = {};
    std::string name = {};  // for a node without outputs
    std::vector<std::string> original_node_names = {}, original_func_names = {};

    std::string GetName() const {
      if (!name.empty()) return name;
      CHECK(!ret.empty());
      return ret[0];
    }
    NodeDef ToNodeDef() const {
      NodeDef def;
      def.set_name(GetName());
      def.set_op(op);
      for (const std::string& a : arg) def.add_input(a);
      for (const auto& a : attr) (*def.mutable_attr())[a.first] = a.second.proto;
      for (const std::string& d : dep) def.add_input("^" + d);
      if (!device.empty()) def.set_device(device);
      return def;
    }
  };

  // Inputs of nodes as functions have them ("node:output:0"); ret_def tells what each result is.
  static FunctionDef Create(const std::string& name, gtl::ArraySlice<std::string> in_def, gtl::ArraySlice<std::string> out_def,
                            gtl::ArraySlice<std::string> attr_def, gtl::ArraySlice<Node> node_def,
                            gtl::ArraySlice<std::pair<std::string, std::string>> ret_def,
                            gtl::ArraySlice<std::pair<std::string, std::string>> control_ret_def = {}) {
    FunctionDef f = Signed(name, in_def, out_def, attr_def);
    for (const Node& n : node_def) *f.add_node_def() = n.ToNodeDef();
    for (const auto& r : ret_def) (*f.mutable_ret())[r.first] = r.second;
    for (const auto& r : control_ret_def) {
      (*f.mutable_control_ret())[r.first] = r.second;
      f.mutable_signature()->add_control_output(r.first);
    }
    return f;
  }

  // Inputs of nodes are names of arguments and of values that nodes before them give (Node::ret).
  static FunctionDef Define(const std::string& name, gtl::ArraySlice<std::string> arg_def, gtl::ArraySlice<std::string> ret_def,
                            gtl::ArraySlice<std::string> attr_def, gtl::ArraySlice<Node> node_def) {
    FunctionDef f = Signed(name, arg_def, ret_def, attr_def);
    std::map<std::string, std::string> values;
    for (const auto& arg : f.signature().input_arg()) values[arg.name()] = arg.name();
    for (const Node& n : node_def) {
      NodeDef def = n.ToNodeDef();
      for (size_t i = 0; i < n.arg.size(); ++i) {
        const auto known = values.find(n.arg[i]);
        CHECK(known != values.end()) << "Node " << def.name() << " of function " << name << " has the unknown input " << n.arg[i];
        def.set_input(static_cast<int>(i), known->second);
      }
      const OpDef* op = nullptr;
      const Status found = OpRegistry::Global()->LookUpOpDef(n.op, &op);
      CHECK(found.ok()) << found.message();
      const std::vector<std::string> outputs = OutputNames(def, *op);
      CHECK(n.ret.size() <= outputs.size()) << "Node " << def.name() << " of function " << name << " gives only " << outputs.size() << " values";
      for (size_t i = 0; i < n.ret.size(); ++i) {
        CHECK(values.emplace(n.ret[i], outputs[i]).second) << "Function " << name << " has two values " << n.ret[i];
      }
      *f.add_node_def() = std::move(def);
    }
    for (const auto& r : f.signature().output_arg()) {
      const auto known = values.find(r.name());
      CHECK(known != values.end()) << "Function " << name << " gives no value " << r.name();
      (*f.mutable_ret())[r.name()] = known->second;
    }
    return f;
  }
  // Whose name does not matter.
  static FunctionDef Define(gtl::ArraySlice<std::string> arg_def, gtl::ArraySlice<std::string> ret_def, gtl::ArraySlice<std::string> attr_def,
                            gtl::ArraySlice<Node> node_def) {
    return Define("_", arg_def, ret_def, attr_def, node_def);
  }

  template <class T>
  static Node Const(const std::string& name, const T& value) {
    Tensor t(DataTypeToEnum<T>::value, TensorShape({}));
    t.scalar<T>()() = value;
    return ConstNode(name, t);
  }
  template <class T>
  static Node Const(const std::string& name, gtl::ArraySlice<T> values) {
    Tensor t(DataTypeToEnum<T>::value, TensorShape({static_cast<int64>(values.size())}));
    for (size_t i = 0; i < values.size(); ++i) t.flat<T>()(static_cast<int64>(i)) = values[i];
    return ConstNode(name, t);
  }

 private:
  static Node ConstNode(const std::string& name, const Tensor& value) {
    Node n;
    n.ret = {name};
    n.op = "Const";
    n.attr = {{"dtype", value.dtype()}, {"value", value}};
    return n;
  }
  static FunctionDef Signed(const std::string& name, gtl::ArraySlice<std::string> in, gtl::ArraySlice<std::string> out,
                            gtl::ArraySlice<std::string> attrs) {
    OpDefBuilder builder(name);
    for (const std::string& spec : in) builder.Input(spec);
    for (const std::string& spec : out) builder.Output(spec);
    for (const std::string& spec : attrs) builder.Attr(spec);
    OpRegistrationData data;
    const Status s = builder.Finalize(&data);
    CHECK(s.ok()) << "function " << name << ": " << s.message();
    FunctionDef f;
    *f.mutable_signature() = data.op_def;
    return f;
  }
  // "node:output:0" of each value that a node gives.
  static std::vector<std::string> OutputNames(const NodeDef& def, const OpDef& op) {
    std::vector<std::string> out;
    for (const auto& arg : op.output_arg()) {
      int64 count = 1;
      if (!arg.number_attr().empty()) {
        const AttrValue* n = AttrSlice(def).Find(arg.number_attr());
        count = n ? n->i() : 0;
      } else if (!arg.type_list_attr().empty()) {
        const AttrValue* types = AttrSlice(def).Find(arg.type_list_attr());
        count = types ? types->list().type_size() : 0;
      }
      for (int64 i = 0; i < count; ++i) out.push_back(strings::StrCat(def.name(), ":", arg.name(), ":", i));
    }
    return out;
  }
};

// Gradients of ops as functions of the op's inputs and of the gradients of its outputs. They serve SymbolicGradient, and here also tapes and
// AddSymbolicGradients where an op has no other gradient.
namespace gradient {

// Makes the function for a node with these attributes.
using Creator = std::function<Status(const AttrSlice& attrs, FunctionDef*)>;

namespace internal {
struct Creators {
  std::mutex mu;
  std::map<std::string, Creator> by_op;
  static Creators& All() {
    static auto* const all = new Creators;
    return *all;
  }
};
}  // namespace internal

// Without a creator: nothing flows back. A second gradient of an op is an error of the library that brings it.
inline bool RegisterOp(const std::string& op, Creator creator) {
  weft_function_gradient make = nullptr;
  if (creator) {
    make = [](void* data, const weft_node* node, TF_Buffer* function) -> TF_Status* {
      const NodeDef def = ::tensorflow::internal::MessageOf(node);
      FunctionDef f;
      const Status s = (*static_cast<Creator*>(data))(AttrSlice(def), &f);
      if (!s.ok()) return ::tensorflow::internal::ToC(s);
      if (f.signature().name().empty()) f.mutable_signature()->set_name("_");
      const std::string bytes = f.SerializeAsString();
      TF_Buffer* copy = TF_NewBufferFromString(bytes.data(), bytes.size());
      std::swap(*function, *copy);
      TF_DeleteBuffer(copy);
      return nullptr;
    };
  }
  weft_register_function_gradient(::tensorflow::internal::Text(op), make, make ? new Creator(creator) : nullptr);
  auto& all = internal::Creators::All();
  const std::lock_guard<std::mutex> lock(all.mu);
  return all.by_op.emplace(op, std::move(creator)).second;
}

// Of those that C++ sources registered; the engine's own gradients are no functions.
inline Status GetOpGradientCreator(const std::string& op, Creator* creator) {
  auto& all = internal::Creators::All();
  const std::lock_guard<std::mutex> lock(all.mu);
  const auto it = all.by_op.find(op);
  if (it == all.by_op.end()) return errors::NotFound("No gradient defined for op: ", op);
  *creator = it->second;
  return OkStatus();
}

}  // namespace gradient
}  // namespace tensorflow

#define REGISTER_OP_GRADIENT(op, creator) WEFT_REGISTER_OP_GRADIENT(__COUNTER__, op, creator)
// Nothing flows back through the op.
#define REGISTER_OP_NO_GRADIENT(op) WEFT_REGISTER_OP_GRADIENT(__COUNTER__, op, nullptr)
#define WEFT_REGISTER_OP_GRADIENT(counter, op, creator) WEFT_REGISTER_OP_GRADIENT_(counter, op, creator)
#define WEFT_REGISTER_OP_GRADIENT_(counter, op, creator) \
  static const bool weft_op_gradient_##counter [[maybe_unused]] = ::tensorflow::gradient::RegisterOp(op, creator)

#endif  // TENSORFLOW_CORE_FRAMEWORK_FUNCTION_DEF_HELPER_H_
