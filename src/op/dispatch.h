// From a DType at run time to a C++ type at compile time.
#pragma once

#include <type_traits>

#include "core/dtype.h"
#include "core/resource.h"
#include "core/status.h"
#include "core/tstring.h"
#include "core/variant.h"
#include "op/op_spec.h"

namespace weft_engine::op {

template <class T>
struct Tag {
  using type = T;
};

// Calls f(Tag<T>{}) for the T of `Ts` that stands for t; Unimplemented if there is none.
//   return dispatch<float, double>(x.dtype(), [&]<class T>(Tag<T>) { ... return Status(); });
template <class... Ts, class F>
Status dispatch(DType t, F&& f) {
  Status result;
  const bool found = ((t == dtype_of<Ts> ? (result = f(Tag<Ts>{}), true) : false) || ...);
  if (!found) return unimplemented("no kernel for type ", dtype_name(t));
  return result;
}

struct Bytes16 {
  uint64_t a, b;
};

// For ops that only move elements: one instantiation per element size instead of one per type.
template <class F>
Status dispatch_movable(DType t, F&& f) {
  switch (t) {
    case DType::kString: return f(Tag<tstring>{});
    case DType::kResource: return f(Tag<ResourceHandle>{});
    case DType::kVariant: return f(Tag<Variant>{});
    default: break;
  }
  switch (dtype_size(t)) {
    case 1: return f(Tag<uint8_t>{});
    case 2: return f(Tag<uint16_t>{});
    case 4: return f(Tag<uint32_t>{});
    case 8: return f(Tag<uint64_t>{});
    case 16: return f(Tag<Bytes16>{});
    default: return unimplemented("no kernel for type ", dtype_name(t));
  }
}

namespace detail {
// Hidden by name: g++ shows variable templates of a library whatever -fvisibility says.
template <class... Ts>
__attribute__((visibility("hidden"))) inline constexpr DType kTypeArray[] = {dtype_of<Ts>...};
}  // namespace detail

// types<float, double>("T"): the kernel serves these values of the attribute T.
template <class... Ts, size_t n>
[[gnu::always_inline]] inline TypeConstraint types(const char (&attr)[n]) {
  return {std::string_view(attr, n - 1), std::span<const DType>(detail::kTypeArray<Ts...>)};
}

// The lists that TensorFlow's kernels are registered for again and again.
#define WEFT_FLOATS ::weft_engine::core::half, ::weft_engine::core::bfloat16, float, double
#define WEFT_COMPLEX ::weft_engine::core::complex64, ::weft_engine::core::complex128
#define WEFT_SIGNED int8_t, int16_t, int32_t, int64_t
#define WEFT_UNSIGNED uint8_t, uint16_t, uint32_t, uint64_t
#define WEFT_INTEGERS WEFT_SIGNED, WEFT_UNSIGNED
#define WEFT_REALS WEFT_FLOATS, WEFT_INTEGERS
#define WEFT_NUMBERS WEFT_REALS, WEFT_COMPLEX

}  // namespace weft_engine::op
