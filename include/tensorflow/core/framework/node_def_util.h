// SPDX-License-Identifier: Apache-2.0
//
// Attributes of a node as values of C++.
#ifndef TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_UTIL_H_
#define TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_UTIL_H_

#include <string>
#include <type_traits>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/platform/errors.h"

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
WEFT_ATTR_READER(NameAttrList, WEFT_ATTR_FUNC, "func", value->set_name(std::string(View(weft_attr_text(a, i)))))
#undef WEFT_ATTR_READER
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
  TF_RETURN_IF_ERROR(FindAttr(node, name, AttrReader<T>::kKind, AttrReader<T>::kName, &attr));
  Status s = AttrReader<T>::Read(attr, 0, value);
  return s.ok() ? s : errors::InvalidArgument("attr '", name, "': ", s.message());
}
template <class T>
Status GetAttr(const weft_node* node, std::string_view name, std::vector<T>* values) {
  const weft_attr* attr = nullptr;
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

// A node as a message, with its attributes except tensors and functions.
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
        default: continue;
      }
    }
    (*def.mutable_attr())[name] = value;
  }
  return def;
}

}  // namespace internal

// The attributes of a node, for functions that take them.
class AttrSlice {
 public:
  AttrSlice() = default;
  AttrSlice(const weft_node* node) : node_(node) {}  // NOLINT
  // The attributes of a function (NameAttrList::attr): they are those of the node's attribute that names it.
  template <class Map>
  AttrSlice(const Map*) {}  // NOLINT
  const weft_attr* Find(std::string_view name) const { return node_ ? weft_node_attr(node_, internal::Text(name)) : nullptr; }
  const weft_node* node() const { return node_; }

 private:
  const weft_node* node_ = nullptr;
};
template <class T>
Status GetNodeAttr(const AttrSlice& attrs, std::string_view name, T* value) {
  if (!attrs.node()) return errors::NotFound("No attr named '", name, "' in NodeDef:");
  return internal::GetAttr(attrs.node(), name, value);
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_UTIL_H_
