// SPDX-License-Identifier: Apache-2.0
//
// Bits of numbers, the order of bytes, the number of processors.
#ifndef TENSORFLOW_CORE_PLATFORM_BITS_H_
#define TENSORFLOW_CORE_PLATFORM_BITS_H_

#include <thread>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {

// The place of the highest bit; -1 for 0.
inline int Log2Floor(uint32 n) { return n == 0 ? -1 : 31 - __builtin_clz(n); }
inline int Log2Floor64(uint64 n) { return n == 0 ? -1 : 63 - __builtin_clzll(n); }
inline int Log2Ceiling(uint32 n) { return n == 0 ? -1 : Log2Floor(n) + ((n & (n - 1)) != 0 ? 1 : 0); }
inline int Log2Ceiling64(uint64 n) { return n == 0 ? -1 : Log2Floor64(n) + ((n & (n - 1)) != 0 ? 1 : 0); }
inline uint32 NextPowerOfTwo(uint32 n) { return n <= 1 ? 1 : uint32{1} << Log2Ceiling(n); }
inline uint64 NextPowerOfTwo64(uint64 n) { return n <= 1 ? 1 : uint64{1} << Log2Ceiling64(n); }

namespace port {
inline constexpr bool kLittleEndian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
inline int NumSchedulableCPUs() {
  const unsigned n = std::thread::hardware_concurrency();
  return n == 0 ? 1 : static_cast<int>(n);
}
inline int MaxParallelism() { return NumSchedulableCPUs(); }
inline int NumTotalCPUs() { return NumSchedulableCPUs(); }
}  // namespace port

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_BITS_H_
