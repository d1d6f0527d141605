// SPDX-License-Identifier: Apache-2.0
//
// Attributes of a node as values of C++.
#ifndef TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_UTIL_H_
#define TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_UTIL_H_

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/attr_value_util.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/strcat.h"

namespace tensorflow {

namespace internal {

// The kind of an attribute that a type of C++ can hold, its name, and how element i is read.
template <class T>
struct AttrReader;
#define WEFT_ATTR_READER(T, KIND, text, expression)              \
  template <>                                                    \
  struct AttrReader<T> {                                         \
    static constexpr int kKind = KIND;                           \
    static constexpr const char* kName = text;                   \
    static Status Read(const weft_attr* a, size_t i, T* value) { \
      expression;                                                \
      return OkStatus();                                         \
    }                                                            \
  };
WEFT_ATTR_READER(int64, WEFT_ATTR_INT, "int", *value = weft_attr_int(a, i))
WEFT_ATTR_READER(float, WEFT_ATTR_FLOAT, "float", *value = weft_attr_float(a, i))
WEFT_ATTR_READER(bool, WEFT_ATTR_BOOL, "bool", *value = weft_attr_int(a, i) != 0)
WEFT_ATTR_READER(std::string, WEFT_ATTR_STRING, "string", value->assign(View(weft_attr_text(a, i))))
WEFT_ATTR_READER(tstring, WEFT_ATTR_STRING, "string", value->assign(View(weft_attr_text(a, i))))
WEFT_ATTR_READER(DataType, WEFT_ATTR_TYPE, "type", *value = static_cast<DataType>(weft_attr_int(a, i)))
WEFT_ATTR_READER(Tensor, WEFT_ATTR_TENSOR, "tensor", value->Take(weft_tensor_share(weft_attr_tensor(a, i))))
#undef WEFT_ATTR_READER
// A function with its attributes.
inline AttrValue MessageOf(const weft_attr* attr) {
  AttrValue value;
  TF_Buffer* bytes = weft_attr_bytes(attr);
  value.ParseFromArray(bytes->data, static_cast<int>(bytes->length));
  TF_DeleteBuffer(bytes);
  return value;
}
template <>
struct AttrReader<NameAttrList> {
  static constexpr int kKind = WEFT_ATTR_FUNC;
  static constexpr const char* kName = "func";
  static Status Read(const weft_attr* a, size_t i, NameAttrList* value) {
    const AttrValue all = MessageOf(a);
    *value = all.has_list() ? all.list().func(static_cast<int>(i)) : all.func();
    return OkStatus();
  }
};
template <>
struct AttrReader<int32> {
  static constexpr int kKind = WEFT_ATTR_INT;
  static constexpr const char* kName = "int";
  static Status Read(const weft_attr* a, size_t i, int32* value) {
    const int64 v = weft_attr_int(a, i);
    if (v != static_cast<int32>(v)) return errors::InvalidArgument("Attr has value ", v, " out of range for an int32");
    *value = static_cast<int32>(v);
    return OkStatus();
  }
};
template <>
struct AttrReader<PartialTensorShape> {
  static constexpr int kKind = WEFT_ATTR_SHAPE;
  static constexpr const char* kName = "shape";
  static Status Read(const weft_attr* a, size_t i, PartialTensorShape* value) {
    const weft_dims d = weft_attr_dims(a, i);
    *value = d.rank < 0 ? PartialTensorShape() : PartialTensorShape(gtl::ArraySlice<int64>(d.dims, static_cast<size_t>(d.rank)));
    return OkStatus();
  }
};
template <>
struct AttrReader<TensorShape> {
  static constexpr int kKind = WEFT_ATTR_SHAPE;
  static constexpr const char* kName = "shape";
  static Status Read(const weft_attr* a, size_t i, TensorShape* value) {
    const weft_dims d = weft_attr_dims(a, i);
    if (d.rank < 0) return errors::InvalidArgument("the shape's rank is unknown");
    return TensorShape::BuildTensorShape(gtl::ArraySlice<int64>(d.dims, static_cast<size_t>(d.rank)), value);
  }
};

inline Status FindAttr(const weft_node* node, std::string_view name, int kind, const std::string& wanted, const weft_attr** attr) {
  *attr = weft_node_attr(node, Text(name));
  if (!*attr) return errors::NotFound("No attr named '", name, "' in NodeDef:");
  const int has = weft_attr_kind(*attr);
  if (has == kind || (has == WEFT_ATTR_LIST && kind > WEFT_ATTR_LIST)) return OkStatus();
  return errors::InvalidArgument("AttrValue had value with type '", View(weft_attr_kind_name(*attr)), "' when '", wanted, "' expected for attr '",
                                 name, "'");
}

template <class T>
Status GetAttr(const weft_node* node, std::string_view name, T* value) {
  const weft_attr* attr = nullptr;
  if (!value) return errors::InvalidArgument("attr '", name, "': the place for the result is null");
  TF_RETURN_IF_ERROR(FindAttr(node, name, AttrReader<T>::kKind, AttrReader<T>::kName, &attr));
  Status s = AttrReader<T>::Read(attr, 0, value);
  return s.ok() ? s : errors::InvalidArgument("attr '", name, "': ", s.message());
}
template <class T>
Status GetAttr(const weft_node* node, std::string_view name, std::vector<T>* values) {
  const weft_attr* attr = nullptr;
  if (!values) return errors::InvalidArgument("attr '", name, "': the place for the result is null");
  TF_RETURN_IF_ERROR(FindAttr(node, name, WEFT_ATTR_LIST + AttrReader<T>::kKind, std::string("list(") + AttrReader<T>::kName + ")", &attr));
  values->clear();
  for (size_t i = 0; i < weft_attr_size(attr); ++i) {
    T value{};
    const Status s = AttrReader<T>::Read(attr, i, &value);
    if (!s.ok()) return errors::InvalidArgument("attr '", name, "': ", s.message());
    values->push_back(std::move(value));
  }
  return OkStatus();
}

}  // namespace internal

namespace internal {

// A node as a message, with its attributes.
inline NodeDef MessageOf(const weft_node* node) {
  NodeDef def;
  def.set_name(View(weft_node_name(node)));
  def.set_op(View(weft_node_op(node)));
  for (size_t i = 0; i < weft_node_num_attrs(node); ++i) {
    const std::string name(View(weft_node_attr_name(node, i)));
    const weft_attr* attr = weft_node_attr(node, Text(name));
    const int kind = attr ? weft_attr_kind(attr) : WEFT_ATTR_NONE;
    if (kind == WEFT_ATTR_NONE) continue;
    AttrValue value;
    if (kind == WEFT_ATTR_FUNC || kind == int(WEFT_ATTR_LIST) + int(WEFT_ATTR_FUNC)) {
      (*def.mutable_attr())[name] = MessageOf(attr);
      continue;
    }
    if (kind >= WEFT_ATTR_LIST) value.mutable_list();
    for (size_t k = 0; k < weft_attr_size(attr); ++k) {
      const bool list = kind >= WEFT_ATTR_LIST;
      const int64 number = weft_attr_int(attr, k);
      switch (list ? kind - WEFT_ATTR_LIST : kind) {
        case WEFT_ATTR_INT: list ? value.mutable_list()->add_i(number) : value.set_i(number); break;
        case WEFT_ATTR_BOOL: list ? value.mutable_list()->add_b(number != 0) : value.set_b(number != 0); break;
        case WEFT_ATTR_TYPE:
          list ? value.mutable_list()->add_type(static_cast<DataType>(number)) : value.set_type(static_cast<DataType>(number));
          break;
        case WEFT_ATTR_FLOAT: list ? value.mutable_list()->add_f(weft_attr_float(attr, k)) : value.set_f(weft_attr_float(attr, k)); break;
        case WEFT_ATTR_STRING: list ? value.mutable_list()->add_s(View(weft_attr_text(attr, k))) : value.set_s(View(weft_attr_text(attr, k))); break;
        case WEFT_ATTR_SHAPE: {
          const weft_dims dims = weft_attr_dims(attr, k);
          TensorShapeProto* shape = list ? value.mutable_list()->add_shape() : value.mutable_shape();
          shape->set_unknown_rank(dims.rank < 0);
          for (int d = 0; d < dims.rank; ++d) shape->add_dim()->set_size(dims.dims[d]);
          break;
        }
        case WEFT_ATTR_TENSOR: {
          TF_Buffer* bytes = weft_tensor_to_proto(weft_attr_tensor(attr, k));
          (list ? value.mutable_list()->add_tensor() : value.mutable_tensor())->ParseFromArray(bytes->data, static_cast<int>(bytes->length));
          TF_DeleteBuffer(bytes);
          break;
        }
        default: continue;
      }
    }
    (*def.mutable_attr())[name] = value;
  }
  return def;
}

}  // namespace internal

namespace internal {

// Value k of an attribute as a message; the attribute is a list where `list` is not null.
template <class T>
Status ReadAttr(const AttrValue& one, const AttrValue::ListValue* list, int k, T* value) {
  if constexpr (std::is_same_v<T, int64>) *value = list ? list->i(k) : one.i();
  else if constexpr (std::is_same_v<T, int32>) {
    const int64 wide = list ? list->i(k) : one.i();
    if (wide != static_cast<int32>(wide)) return errors::InvalidArgument("Attr has value ", wide, " out of range for an int32");
    *value = static_cast<int32>(wide);
  } else if constexpr (std::is_same_v<T, float>) *value = list ? list->f(k) : one.f();
  else if constexpr (std::is_same_v<T, bool>) *value = list ? list->b(k) : one.b();
  else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, tstring>) *value = list ? list->s(k) : one.s();
  else if constexpr (std::is_same_v<T, DataType>) *value = list ? list->type(k) : one.type();
  else if constexpr (std::is_same_v<T, NameAttrList>) *value = list ? list->func(k) : one.func();
  else if constexpr (std::is_same_v<T, Tensor>) {
    if (!value->FromProto(list ? list->tensor(k) : one.tensor())) return errors::InvalidArgument("the tensor cannot be read");
  } else if constexpr (std::is_same_v<T, TensorShape>) return T::BuildTensorShape(list ? list->shape(k) : one.shape(), value);
  else *value = T(list ? list->shape(k) : one.shape());
  return OkStatus();
}
inline const char* KindOf(const AttrValue& value) {
  switch (value.value_case()) {
    case AttrValue::kS: return "string";
    case AttrValue::kI: return "int";
    case AttrValue::kF: return "float";
    case AttrValue::kB: return "bool";
    case AttrValue::kType: return "type";
    case AttrValue::kShape: return "shape";
    case AttrValue::kTensor: return "tensor";
    case AttrValue::kFunc: return "func";
    default: return "none";
  }
}
inline int SizeOf(const AttrValue::ListValue& l) {
  return std::max({l.s_size(), l.i_size(), l.f_size(), l.b_size(), l.type_size(), l.shape_size(), l.tensor_size(), l.func_size()});
}

}  // namespace internal

// The attributes of a node, or of a message, for functions that take them.
class AttrSlice {
 public:
  AttrSlice() = default;
  AttrSlice(const weft_node* node) : node_(node) {}                  // NOLINT
  AttrSlice(const NodeDef& def) : find_(&FindIn), map_(&def.attr()), def_(&def) {}  // NOLINT
  // The attributes of a function (NameAttrList::attr).
  template <class Map, class = decltype(std::declval<const Map&>().find(std::string()))>
  AttrSlice(const Map* map) : find_(&FindIn), map_(map) {}  // NOLINT
  const weft_node* node() const { return node_; }
  // Null where there is none; attributes of a node that runs are not messages.
  const AttrValue* Find(std::string_view name) const { return find_ ? find_(map_, name) : nullptr; }
  int size() const {
    if (node_) return static_cast<int>(weft_node_num_attrs(node_));
    return map_ ? static_cast<int>(static_cast<const Map*>(map_)->size()) : 0;
  }
  // All of them, into a message with such a map.
  template <class Message>
  void CopyTo(Message* to) const {
    if (node_) *to->mutable_attr() = internal::MessageOf(node_).attr();
    else if (map_) *to->mutable_attr() = *static_cast<const Map*>(map_);
  }
  bool Has(std::string_view name) const { return node_ ? weft_node_attr(node_, internal::Text(name)) != nullptr : Find(name) != nullptr; }

  // The error where there is none of that name: with the node, unless the attribute is one of the system's.
  Status Missing(std::string_view name) const {
    const bool named = def_ && name.substr(0, 1) != "_";
    return errors::NotFound("No attr named '", name, "' in NodeDef:", named ? "\n\t [[{{node " + def_->name() + "}}]]" : std::string());
  }

 private:
  using Map = std::remove_cv_t<std::remove_reference_t<decltype(std::declval<const NodeDef&>().attr())>>;
  static const AttrValue* FindIn(const void* map, std::string_view name) {
    const auto* all = static_cast<const Map*>(map);
    const auto it = all->find(std::string(name));
    return it == all->end() ? nullptr : &it->second;
  }
  const weft_node* node_ = nullptr;
  const AttrValue* (*find_)(const void*, std::string_view) = nullptr;
  const void* map_ = nullptr;
  const NodeDef* def_ = nullptr;
};

template <class T>
Status GetNodeAttr(const AttrSlice& attrs, std::string_view name, T* value) {
  if (attrs.node()) return internal::GetAttr(attrs.node(), name, value);
  const AttrValue* attr = attrs.Find(name);
  if (!attr) return attrs.Missing(name);
  if (std::string_view(internal::KindOf(*attr)) != internal::AttrReader<T>::kName)
    return errors::InvalidArgument("AttrValue had value with type '", attr->has_list() ? "list" : internal::KindOf(*attr), "' when '",
                                   internal::AttrReader<T>::kName, "' expected for attr '", name, "'");
  return internal::ReadAttr(*attr, nullptr, 0, value);
}
template <class T>
Status GetNodeAttr(const AttrSlice& attrs, std::string_view name, std::vector<T>* values) {
  if (attrs.node()) return internal::GetAttr(attrs.node(), name, values);
  const AttrValue* attr = attrs.Find(name);
  if (!attr) return attrs.Missing(name);
  if (!attr->has_list())
    return errors::InvalidArgument("AttrValue had value with type '", internal::KindOf(*attr), "' when 'list(", internal::AttrReader<T>::kName,
                                   ")' expected for attr '", name, "'");
  values->clear();
  for (int k = 0; k < internal::SizeOf(attr->list()); ++k) {
    T value{};
    TF_RETURN_IF_ERROR(internal::ReadAttr(*attr, &attr->list(), k, &value));
    values->push_back(std::move(value));
  }
  return OkStatus();
}
// An attribute that is there already stays.
template <class T>
void AddNodeAttr(std::string_view name, const T& value, NodeDef* node_def) {
  AttrValue attr;
  if constexpr (std::is_same_v<T, AttrValue>) attr = value;
  else SetAttrValue(value, &attr);
  if (!node_def->attr().contains(std::string(name))) (*node_def->mutable_attr())[std::string(name)] = attr;
}
template <class T>
void AddNodeAttr(std::string_view name, std::initializer_list<T> values, NodeDef* node_def) {
  AttrValue attr;
  SetAttrValue(values, &attr);
  AddNodeAttr(name, attr, node_def);
}
inline bool HasNodeAttr(const NodeDef& def, std::string_view name) { return AttrSlice(def).Has(name); }
template <class T>
bool TryGetNodeAttr(const AttrSlice& attrs, std::string_view name, T* value) {
  return GetNodeAttr(attrs, name, value).ok();
}
template <class T>
Status GetNodeAttrSimple(const AttrSlice& attrs, std::string_view name, T* value) {
  return GetNodeAttr(attrs, name, value);
}
// Which inputs (or outputs) of a node each argument of its op stands for; either may be null.
using NameRangeMap = std::map<std::string, std::pair<int, int>, std::less<>>;
inline Status NameRangesForNode(const AttrSlice& attrs, const OpDef& op, NameRangeMap* inputs, NameRangeMap* outputs) {
  const auto add = [&attrs, &op](const auto& args, NameRangeMap* ranges) -> Status {
    int begin = 0;
    for (const auto& arg : args) {
      int64 count = 1;
      if (!arg.number_attr().empty()) {
        TF_RETURN_IF_ERROR(GetNodeAttr(attrs, arg.number_attr(), &count));
      } else if (!arg.type_list_attr().empty()) {
        std::vector<DataType> types;
        TF_RETURN_IF_ERROR(GetNodeAttr(attrs, arg.type_list_attr(), &types));
        count = static_cast<int64>(types.size());
      }
      if (count < 0 || count > std::numeric_limits<int>::max() - begin)
        return errors::InvalidArgument("argument '", arg.name(), "' of ", op.name(), " stands for ", count, " values");
      const int end = begin + static_cast<int>(count);
      (*ranges)[arg.name()] = {begin, end};
      begin = end;
    }
    return OkStatus();
  };
  if (inputs) TF_RETURN_IF_ERROR(add(op.input_arg(), inputs));
  return outputs ? add(op.output_arg(), outputs) : OkStatus();
}
// As errors and logs show it: "[1,2]", DT_FLOAT, "text".
inline std::string SummarizeAttrValue(const AttrValue& value) {
  const auto text = [](const AttrValue& one) -> std::string {
    switch (one.value_case()) {
      case AttrValue::kS: return '"' + one.s() + '"';
      case AttrValue::kI: return std::to_string(one.i());
      case AttrValue::kF: return strings::StrCat(one.f());
      case AttrValue::kB: return one.b() ? "true" : "false";
      case AttrValue::kType: return DataType_Name(one.type());
      case AttrValue::kShape: return PartialTensorShape(one.shape()).DebugString();
      case AttrValue::kFunc: return one.func().name() + "[]";
      case AttrValue::kTensor: {
        Tensor tensor;
        return tensor.FromProto(one.tensor()) ? tensor.DebugString() : "<Invalid TensorProto>";
      }
      default: return "<Unknown AttrValue type>";
    }
  };
  if (!value.has_list()) return text(value);
  const AttrValue::ListValue& l = value.list();
  std::string out;
  for (int k = 0; k < internal::SizeOf(l); ++k) {
    AttrValue one;
    if (l.s_size()) one.set_s(l.s(k));
    else if (l.i_size()) one.set_i(l.i(k));
    else if (l.f_size()) one.set_f(l.f(k));
    else if (l.b_size()) one.set_b(l.b(k));
    else if (l.type_size()) one.set_type(l.type(k));
    else if (l.shape_size()) *one.mutable_shape() = l.shape(k);
    else if (l.tensor_size()) *one.mutable_tensor() = l.tensor(k);
    else *one.mutable_func() = l.func(k);
    out += (k ? ", " : "") + text(one);
  }
  return "[" + out + "]";
}
inline std::string SummarizeNodeDef(const NodeDef& def, int = -1) {
  std::string attrs, inputs;
  for (const auto& attr : def.attr()) attrs += (attrs.empty() ? "" : ", ") + attr.first + "=" + SummarizeAttrValue(attr.second);
  if (!def.device().empty()) attrs += std::string(attrs.empty() ? "" : ", ") + "_device=\"" + def.device() + "\"";
  for (const std::string& in : def.input()) inputs += (inputs.empty() ? "" : ", ") + in;
  return "{{node " + def.name() + "}} = " + def.op() + "[" + attrs + "](" + inputs + ")";
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_UTIL_H_
