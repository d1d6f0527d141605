// SPDX-License-Identifier: Apache-2.0
//
// Variant: an element of a DT_VARIANT tensor, which holds a value of any type that can be copied. Copies share the value until one of them changes
// it. Included by tensor.h; what needs Tensor is in variant.h.
#ifndef TENSORFLOW_CORE_FRAMEWORK_VARIANT_VALUE_H_
#define TENSORFLOW_CORE_FRAMEWORK_VARIANT_VALUE_H_

#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "tensorflow/core/platform/status.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

class Tensor;
class VariantTensorData;

namespace internal {
// The name that a type gives itself, or else the compiler's.
template <class T, class = void>
struct VariantName {
  static std::string Get(const T&) { return typeid(T).name(); }
};
template <class T>
struct VariantName<T, std::void_t<decltype(std::declval<const T&>().TypeName())>> {
  static std::string Get(const T& value) { return value.TypeName(); }
};
template <class T>
struct VariantFunctions {
  static weft_text Type() {
    const char* name = typeid(T).name();
    return {name, std::char_traits<char>::length(name)};
  }
  static const weft_variant_functions* Get(const T& value) {
    static const std::string* const name = new std::string(VariantName<T>::Get(value));
    static const weft_variant_functions functions = {[](const void* object) -> void* { return new T(*static_cast<const T*>(object)); },
                                                     [](void* object) { delete static_cast<T*>(object); }, Text(*name)};
    return &functions;
  }
};
}  // namespace internal

class Variant {
 public:
  Variant() = default;
  Variant(std::nullptr_t) {}  // NOLINT
  Variant(const Variant& o) { weft_variant_copy(words_, o.words_); }
  Variant(Variant&& o) noexcept { swap(o); }
  template <class T, class V = std::decay_t<T>, class = std::enable_if_t<!std::is_same_v<V, Variant> && std::is_copy_constructible_v<V>>>
  Variant(T&& value) {  // NOLINT
    Set<V>(std::forward<T>(value));
  }
  Variant& operator=(const Variant& o) {
    weft_variant_copy(words_, o.words_);
    return *this;
  }
  Variant& operator=(Variant&& o) noexcept {
    swap(o);
    return *this;
  }
  template <class T, class V = std::decay_t<T>, class = std::enable_if_t<!std::is_same_v<V, Variant> && std::is_copy_constructible_v<V>>>
  Variant& operator=(T&& value) {
    Set<V>(std::forward<T>(value));
    return *this;
  }
  ~Variant() { clear(); }

  bool is_empty() const { return words_[0] == nullptr; }
  void clear() noexcept { weft_variant_destroy(words_); }
  void swap(Variant& o) noexcept {
    std::swap(words_[0], o.words_[0]);
    std::swap(words_[1], o.words_[1]);
  }
  std::string TypeName() const { return std::string(internal::View(weft_variant_type_name(words_))); }
  std::string DebugString() const { return is_empty() ? "Variant<type: [empty]>" : "Variant<type: " + TypeName() + " value: ?>"; }
  std::string SummarizeValue() const { return is_empty() ? "[empty]" : "<" + TypeName() + ">"; }

  // The value; null if it is of another type. The first form makes it this variant's own, so that it may be changed.
  template <class T>
  T* get() {
    if constexpr (std::is_same_v<T, Tensor>) {
      return OwnTensor();
    } else {
      return static_cast<T*>(weft_variant_own(words_, internal::VariantFunctions<T>::Type()));
    }
  }
  template <class T>
  const T* get() const {
    if constexpr (std::is_same_v<T, Tensor>) {
      return const_cast<Variant*>(this)->OwnTensor();
    } else {
      return static_cast<const T*>(weft_variant_get(words_, internal::VariantFunctions<T>::Type()));
    }
  }
  template <class T>
  T* MaybeDecodeAndGet() {
    return get<T>();
  }
  template <class T, class... Arguments>
  T& emplace(Arguments&&... arguments) {
    Set<T>(T(std::forward<Arguments>(arguments)...));
    return *get<T>();
  }

 private:
  template <class T, class V>
  void Set(V&& value) {
    T* made = new T(std::forward<V>(value));
    weft_variant_set(words_, internal::VariantFunctions<T>::Type(), made, internal::VariantFunctions<T>::Get(*made));
  }
  Tensor* OwnTensor();  // tensor.h
  void* words_[2] = {nullptr, nullptr};
};
static_assert(sizeof(Variant) == 16, "an element of a variant tensor has 16 bytes");

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_VARIANT_VALUE_H_
