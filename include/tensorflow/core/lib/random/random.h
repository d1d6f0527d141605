// SPDX-License-Identifier: Apache-2.0
//
// random::New64: a number that nobody expects.
#ifndef TENSORFLOW_CORE_LIB_RANDOM_RANDOM_H_
#define TENSORFLOW_CORE_LIB_RANDOM_RANDOM_H_

#include <random>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace random {

inline uint64 New64() {
  static thread_local std::mt19937_64 generator{std::random_device{}() | static_cast<uint64>(std::random_device{}()) << 32};
  return generator();
}
inline uint64 New64DefaultSeed() {
  static thread_local std::mt19937_64 generator;
  return generator();
}
inline uint64 ThreadLocalNew64() { return New64(); }

}  // namespace random
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_RANDOM_RANDOM_H_
