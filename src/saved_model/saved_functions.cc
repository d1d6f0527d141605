#include "saved_model/saved_functions.h"

#include <algorithm>
#include <deque>
#include <set>

#include "core/cat.h"
#include "op/op_traits.h"
#include "saved_model/saver_graph.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::saved_model {
namespace {

using graph::FunctionDef;
using graph::NodeDef;
using op::AttrMap;
using op::AttrValue;
using op::FunctionAttr;
using wire::ProtoReader;
using wire::ProtoWriter;
using Kind = StructuredValue::Kind;

constexpr const char* kGradientType = "_gradient_op_type";
constexpr const char* kGradientLayout = "_gradient_layout";  // number of results, of inputs that are its own, and the inputs with gradients
constexpr int kHandleData = 7;                               // OpDef.ArgDef.handle_data, among the fields that the engine hands on unread

template <class T>
const T* find_attr(const AttrMap& attrs, const std::string& name) {
  auto it = attrs.find(name);
  return it == attrs.end() ? nullptr : it->second.get<T>();
}

// A handle among the arguments of a function, and what it is of.
struct Handle {
  std::string function;
  size_t argument;
  DType dtype;
  PartialShape shape;
};

// Variables among the arguments (not captures), by number.
void list_variable_arguments(const StructuredValue& v, const std::string& function, size_t& next, std::vector<Handle>& out) {
  if (v.kind == Kind::kTensor) ++next;
  if (v.kind == Kind::kComposite) {
    if (v.text == "VariableSpec" && !v.items.empty() && v.items[0].second.items.size() >= 2) {  // shape, dtype, ...
      const auto& state = v.items[0].second.items;
      out.push_back({function, next, state[1].second.dtype, state[0].second.shape});
    }
    next += size_t(v.components);
  }
  if (v.kind >= Kind::kList) {
    for (const auto& [key, item] : v.items) list_variable_arguments(item, function, next, out);
  }
}

bool has_field(std::string_view bytes, int field) {
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == field) return true;
  }
  return false;
}

}  // namespace

Result<RegisteredGradients> decode_registered_gradients(std::string_view graph_def) {
  RegisteredGradients out;
  ProtoReader r(graph_def);
  while (r.next()) {
    if (r.field() != 2) continue;
    ProtoReader library = r.message();
    while (library.next()) {
      if (library.field() != 3) continue;
      std::string function, type;
      ProtoReader m = library.message();
      while (m.next()) {
        if (m.field() == 1) function = m.string();
        if (m.field() == 2) type = m.string();
      }
      if (!m.ok()) return data_loss("the SavedModel is damaged: malformed RegisteredGradient");
      out[std::move(type)] = std::move(function);
    }
  }
  return out;
}

std::string encode_registered_gradients(const RegisteredGradients& gradients) {
  ProtoWriter w;
  for (const auto& [type, function] : gradients) {
    ProtoWriter m;
    m.bytes(1, function);
    m.bytes(2, type);
    w.message(3, m);
  }
  return w.take();
}

void write_handle_data(FunctionMap& functions, const ObjectGraph& objects, const op::Registry& registry) {
  std::vector<Handle> handles;
  for (const auto& [name, f] : objects.concrete_functions) {
    auto def = functions.find(name);
    if (def == functions.end()) continue;
    size_t next = 0;
    list_variable_arguments(f.inputs, name, next, handles);
    const size_t first = def->second.inputs.size() - std::min(def->second.inputs.size(), f.bound_inputs.size());
    for (size_t i = 0; i < f.bound_inputs.size(); ++i) {
      const SavedObject& o = objects.nodes[size_t(f.bound_inputs[i])];
      if (o.kind == SavedObject::Kind::kVariable) handles.push_back({name, first + i, o.dtype, o.shape});
    }
  }
  std::set<std::pair<std::string, size_t>> seen;
  for (const Handle& h : handles) seen.emplace(h.function, h.argument);
  for (size_t at = 0; at < handles.size(); ++at) {  // grows
    const Handle h = handles[at];
    auto it = functions.find(h.function);
    if (it == functions.end() || h.argument >= it->second.inputs.size()) continue;
    FunctionDef& def = it->second;
    graph::ArgDef& arg = def.inputs[h.argument];
    if (arg.type != DType::kResource || has_field(arg.unread, kHandleData)) continue;
    ProtoWriter data, field;
    data.varint(1, uint64_t(h.dtype));
    data.bytes(2, wire::encode_shape(h.shape));
    field.message(kHandleData, data);
    arg.unread += field.str();
    // Loops give their handles back: TensorFlow sees that they do not change where the result is the argument itself.
    std::set<std::string> same{arg.name};
    for (const NodeDef& n : def.nodes) {
      const op::OpSpec* spec = registry.find(n.op);
      if (spec && spec->traits().forwards_inputs && !n.inputs.empty() && n.inputs[0] == arg.name)
        same.insert(cat(n.name, ":", spec->signature().outputs[0].name, ":0"));
    }
    for (graph::ArgDef& out : def.outputs) {
      auto ret = def.ret.find(out.name);
      if (ret == def.ret.end() || !same.count(ret->second)) continue;
      out.unread += field.str();
      ret->second = arg.name;
    }
    if (auto attrs = def.arg_attrs.find(int(h.argument)); attrs != def.arg_attrs.end()) {
      attrs->second.erase("_handle_shapes");
      attrs->second.erase("_handle_dtypes");
    }
    for (const NodeDef& n : def.nodes) {
      const size_t inputs = size_t(std::count_if(n.inputs.begin(), n.inputs.end(), [](const std::string& s) { return !s.starts_with('^'); }));
      for (size_t i = 0; i < inputs; ++i) {
        if (n.inputs[i] != arg.name) continue;
        // Calls, branches and loops pass their last inputs as the last arguments of what they call.
        const auto pass = [&](const std::string& callee) {
          auto f = functions.find(callee);
          if (f == functions.end() || f->second.inputs.size() + i < inputs) return;
          const size_t argument = f->second.inputs.size() + i - inputs;
          if (seen.emplace(callee, argument).second) handles.push_back({callee, argument, h.dtype, h.shape});
        };
        pass(n.op);
        graph::for_functions(n.attrs, pass);
      }
    }
  }
}

namespace {

// Adds the function that takes the gradients of all results and gives those of some inputs.
std::string export_one(FunctionMap& functions, ObjectGraph& objects, const FunctionDef& gradient, const std::vector<int64_t>& layout,
                       const std::vector<DType>& types) {
  FunctionDef made;
  made.name = gradient.name + "_of_results";
  made.stateful = gradient.stateful;
  NodeDef call;
  call.name = "call";
  call.op = op::op_of(op::Role::kCall, gradient.stateful);
  call.attrs["f"] = FunctionAttr{gradient.name, nullptr};
  std::vector<DType> given, results;
  StructuredValue arguments = list_value(Kind::kTuple, {none_value()}), outputs = list_value(Kind::kList, {}), keywords;
  keywords.kind = Kind::kDict;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string name = cat("result_grads_", i);
    graph::ArgDef arg;
    arg.name = name;
    arg.type = types[i];
    made.inputs.push_back(std::move(arg));
    made.arg_attrs[int(i)]["_user_specified_name"] = name;
    arguments.items.emplace_back("", tensor_value(name, types[i], PartialShape::unknown()));
    if (int64_t(i) < layout[0]) {
      call.inputs.push_back(name);
      given.push_back(types[i]);
    }
  }
  for (const graph::ArgDef& out : gradient.outputs) results.push_back(out.type);
  call.attrs["Tin"] = given;
  call.attrs["Tout"] = results;
  made.nodes.push_back(std::move(call));
  for (size_t i = 0; i < types.size(); ++i) {
    const auto target = std::find(layout.begin() + 2, layout.end(), int64_t(i));
    if (target == layout.end()) {
      outputs.items.emplace_back("", none_value());
      continue;
    }
    graph::ArgDef out;
    out.name = cat("dx_", i);
    out.type = types[i];
    made.ret[out.name] = cat("call:output:", target - layout.begin() - 2);
    made.outputs.push_back(std::move(out));
    outputs.items.emplace_back("", tensor_value(cat("tensor_", i), types[i], PartialShape::unknown()));
  }
  SavedConcreteFunction described;
  described.inputs = list_value(Kind::kTuple, {std::move(arguments), std::move(keywords)});
  described.outputs = std::move(outputs);
  objects.concrete_functions[made.name] = std::move(described);
  const std::string name = made.name;
  functions.emplace(name, std::move(made));
  return name;
}

}  // namespace

RegisteredGradients export_gradients(FunctionMap& functions, ObjectGraph& objects) {
  struct Found {
    std::string function;
    std::vector<int64_t> layout;
    std::vector<DType> types;
  };
  std::map<std::string, Found> found;
  for (const auto& [name, def] : functions) {
    for (const NodeDef& n : def.nodes) {
      const auto* type = find_attr<std::string>(n.attrs, kGradientType);
      const auto* layout = find_attr<std::vector<int64_t>>(n.attrs, kGradientLayout);
      const auto* types = find_attr<std::vector<DType>>(n.attrs, "T");
      if (!type || !layout || !types || layout->size() < 2 || found.count(*type) || !functions.count(*type)) continue;
      found[*type] = {*type, *layout, *types};
    }
  }
  RegisteredGradients out;
  for (const auto& [type, f] : found) {
    // One that uses values of the forward function: TensorFlow's loader would have to be told of them.
    if (f.layout[1] != int64_t(f.types.size())) continue;
    out[type] = export_one(functions, objects, functions.at(type), f.layout, f.types);
  }
  return out;
}

Status read_handle_data(FunctionDef& def) {
  for (size_t i = 0; i < def.inputs.size(); ++i) {
    std::vector<DType> types;
    std::vector<PartialShape> shapes;
    ProtoReader r(def.inputs[i].unread);
    while (r.next()) {
      if (r.field() != kHandleData) continue;
      DType dtype = DType::kInvalid;
      PartialShape shape;
      ProtoReader m = r.message();
      while (m.next()) {
        if (m.field() == 1) dtype = static_cast<DType>(m.int32());
        if (m.field() == 2) {
          WEFT_ASSIGN(shape, wire::decode_shape(m.bytes()));
        }
      }
      types.push_back(dtype);
      shapes.push_back(std::move(shape));
    }
    if (types.empty()) continue;
    def.arg_attrs[int(i)]["_handle_dtypes"] = std::move(types);
    def.arg_attrs[int(i)]["_handle_shapes"] = std::move(shapes);
  }
  return {};
}

namespace {

// A tensor of the graph that became the function ("node:1"), as an input of its nodes; empty where there is none.
std::string reference(const FunctionDef& f, const std::string& tensor, const op::Registry& registry) {
  const size_t colon = tensor.rfind(':');
  const std::string name = tensor.substr(0, colon);
  if (std::any_of(f.inputs.begin(), f.inputs.end(), [&](const graph::ArgDef& a) { return a.name == name; })) return name;
  const auto node = std::find_if(f.nodes.begin(), f.nodes.end(), [&](const NodeDef& n) { return n.name == name; });
  if (node == f.nodes.end() || colon == std::string::npos) return {};
  const op::OpSpec* spec = registry.find(node->op);
  if (!spec) return {};
  int64_t at = std::atoll(tensor.c_str() + colon + 1);
  for (const op::ArgSpec& out : spec->signature().outputs) {
    int64_t count = 1;
    if (out.number_attr >= 0) {
      const auto* n = find_attr<int64_t>(node->attrs, spec->signature().attrs[size_t(out.number_attr)].name);
      count = n ? *n : 0;
    } else if (out.type_list_attr >= 0) {
      const auto* list = find_attr<std::vector<DType>>(node->attrs, spec->signature().attrs[size_t(out.type_list_attr)].name);
      count = list ? int64_t(list->size()) : 0;
    }
    if (at < count) return cat(name, ":", out.name, ":", at);
    at -= count;
  }
  return {};
}

// What a function has for an object of the model, as an input of its nodes; empty where it has nothing.
std::string value_in(const FunctionDef& f, int object, const ObjectGraph& objects, const op::Registry& registry) {
  const SavedObject& o = objects.nodes[size_t(object)];
  if (o.kind == SavedObject::Kind::kCapturedTensor)
    return !o.concrete_functions.empty() && o.concrete_functions[0] == f.name ? reference(f, o.name, registry) : std::string();
  auto it = objects.concrete_functions.find(f.name);
  if (it == objects.concrete_functions.end()) return {};
  const auto& bound = it->second.bound_inputs;
  const auto place = std::find(bound.begin(), bound.end(), object);
  if (place == bound.end() || bound.size() > f.inputs.size()) return {};
  return f.inputs[f.inputs.size() - bound.size() + size_t(place - bound.begin())].name;
}

}  // namespace

void attach_gradients(FunctionMap& functions, const RegisteredGradients& registered, const ObjectGraph& objects, const op::Registry& registry) {
  for (auto& [name, f] : functions) {
    for (NodeDef& node : f.nodes) {
      const auto* type = find_attr<std::string>(node.attrs, kGradientType);
      if (!type || node.attrs.count(kGradientLayout)) continue;
      auto gradient = registered.find(*type);
      if (gradient == registered.end()) continue;
      auto function = functions.find(gradient->second);
      auto described = objects.concrete_functions.find(gradient->second);
      const auto* types = find_attr<std::vector<DType>>(node.attrs, "T");
      if (function == functions.end() || described == objects.concrete_functions.end() || !types) continue;
      const size_t own = types->size();
      std::vector<std::string> uses;
      for (int object : described->second.bound_inputs) uses.push_back(value_in(f, object, objects, registry));
      // Without one of them the gradient is not found, and whoever asks for it is told so.
      if (std::count(uses.begin(), uses.end(), std::string()) || node.inputs.size() < own) continue;
      std::vector<int64_t> layout{int64_t(own), int64_t(own)};
      const auto& outputs = described->second.outputs.items;
      for (size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].second.kind != Kind::kNone) layout.push_back(int64_t(i));
      }
      std::vector<DType> all = *types;
      for (size_t i = own; i < function->second.inputs.size(); ++i) all.push_back(function->second.inputs[i].type);
      node.inputs.insert(node.inputs.begin() + std::ptrdiff_t(own), uses.begin(), uses.end());
      node.attrs["T"] = std::move(all);
      node.attrs[kGradientType] = gradient->second;
      node.attrs[kGradientLayout] = std::move(layout);
    }
  }
}

}  // namespace weft_engine::saved_model
