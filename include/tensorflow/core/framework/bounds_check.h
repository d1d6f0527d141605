// SPDX-License-Identifier: Apache-2.0
//
// FastBoundsCheck: 0 <= index < limit in one comparison.
#ifndef TENSORFLOW_CORE_FRAMEWORK_BOUNDS_CHECK_H_
#define TENSORFLOW_CORE_FRAMEWORK_BOUNDS_CHECK_H_

#include <type_traits>

#include "tensorflow/core/platform/macros.h"

namespace tensorflow {

template <class A, class B>
inline bool FastBoundsCheck(const A index, const B limit) {
  static_assert(std::is_integral_v<A> && std::is_integral_v<B>, "integers");
  using Unsigned = std::make_unsigned_t<decltype(index + limit)>;
  return TF_PREDICT_TRUE(static_cast<Unsigned>(index) < static_cast<Unsigned>(limit));
}
namespace internal {
// Read once, so that a value that was checked is the value that is used.
template <class T>
inline T SubtleMustCopy(const T& x) {
  static_assert(std::is_integral_v<T>, "integers");
  return *reinterpret_cast<const volatile T*>(&x);
}
}  // namespace internal

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_BOUNDS_CHECK_H_
