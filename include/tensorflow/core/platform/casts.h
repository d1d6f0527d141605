// SPDX-License-Identifier: Apache-2.0
//
// down_cast: from a base to what the object is known to be. A wrong one throws where the compiler keeps types of objects.
#ifndef TENSORFLOW_CORE_PLATFORM_CASTS_H_
#define TENSORFLOW_CORE_PLATFORM_CASTS_H_

#include <cstring>
#include <type_traits>

#include "tensorflow/core/platform/logging.h"

namespace tensorflow {

template <class To, class From>
To down_cast(From* from) {
  static_assert(std::is_base_of_v<From, std::remove_pointer_t<To>>, "down_cast goes from a base to a derived class");
#if !defined(NDEBUG) && defined(__GXX_RTTI)
  CHECK(from == nullptr || dynamic_cast<To>(from) != nullptr) << "the object is of another class";
#endif
  return static_cast<To>(from);
}
template <class To, class From>
To down_cast(From& from) {
  static_assert(std::is_lvalue_reference_v<To>, "down_cast gives a reference");
  return *down_cast<std::remove_reference_t<To>*>(&from);
}
// The bits as another type.
template <class To, class From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast keeps the size");
  To to;
  std::memcpy(static_cast<void*>(&to), &from, sizeof to);
  return to;
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_CASTS_H_
