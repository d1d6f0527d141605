// SPDX-License-Identifier: Apache-2.0
//
// SetAttrValue: values of C++ as attributes.
#ifndef TENSORFLOW_CORE_FRAMEWORK_ATTR_VALUE_UTIL_H_
#define TENSORFLOW_CORE_FRAMEWORK_ATTR_VALUE_UTIL_H_

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/tstring.h"

namespace tensorflow {
namespace internal {

template <class T>
inline constexpr bool kIsText = std::is_convertible_v<const T&, std::string_view>;

// One value, as an attribute of its own or as an element of a list.
template <class T>
void PutAttr(const T& v, AttrValue* one, AttrValue::ListValue* list) {
  if constexpr (kIsText<T>) {
    list ? list->add_s(std::string_view(v)) : one->set_s(std::string_view(v));
  } else if constexpr (std::is_same_v<T, bool>) {
    list ? list->add_b(v) : one->set_b(v);
  } else if constexpr (std::is_same_v<T, DataType>) {
    list ? list->add_type(v) : one->set_type(v);
  } else if constexpr (std::is_integral_v<T>) {
    list ? list->add_i(v) : one->set_i(v);
  } else if constexpr (std::is_floating_point_v<T>) {
    list ? list->add_f(static_cast<float>(v)) : one->set_f(static_cast<float>(v));
  } else if constexpr (std::is_same_v<T, TensorShape> || std::is_same_v<T, PartialTensorShape>) {
    v.AsProto(list ? list->add_shape() : one->mutable_shape());
  } else if constexpr (std::is_same_v<T, TensorShapeProto>) {
    *(list ? list->add_shape() : one->mutable_shape()) = v;
  } else if constexpr (std::is_same_v<T, Tensor>) {
    TensorProto* to = list ? list->add_tensor() : one->mutable_tensor();
    v.NumElements() > 1 ? v.AsProtoTensorContent(to) : v.AsProtoField(to);
  } else if constexpr (std::is_same_v<T, TensorProto>) {
    *(list ? list->add_tensor() : one->mutable_tensor()) = v;
  } else if constexpr (std::is_same_v<T, NameAttrList>) {
    *(list ? list->add_func() : one->mutable_func()) = v;
  } else if constexpr (std::is_same_v<T, AttrValue>) {
    *one = v;
  } else {
    static_assert(!sizeof(T), "this type is no attribute's");
  }
}

}  // namespace internal

template <
    class T, class = decltype(internal::PutAttr(std::declval<const T&>(), nullptr, nullptr)),
    class = std::enable_if_t<internal::kIsText<T> || std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, Tensor> ||
                             std::is_same_v<T, TensorShape> || std::is_same_v<T, PartialTensorShape> || std::is_base_of_v<protobuf::Message, T>>>
void SetAttrValue(const T& value, AttrValue* out) {
  internal::PutAttr(value, out, nullptr);
}
template <class T>
void SetAttrValue(gtl::ArraySlice<T> values, AttrValue* out) {
  AttrValue::ListValue* list = out->mutable_list();
  list->Clear();
  for (const T& v : values) internal::PutAttr(v, nullptr, list);
}
template <class T>
void SetAttrValue(const std::vector<T>& values, AttrValue* out) {
  AttrValue::ListValue* list = out->mutable_list();
  list->Clear();
  for (auto&& v : values) internal::PutAttr<T>(v, nullptr, list);
}
template <class T>
void SetAttrValue(std::initializer_list<T> values, AttrValue* out) {
  SetAttrValue(gtl::ArraySlice<T>(values.begin(), values.size()), out);
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_ATTR_VALUE_UTIL_H_
