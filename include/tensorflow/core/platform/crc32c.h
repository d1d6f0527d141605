// SPDX-License-Identifier: Apache-2.0
//
// crc32c: the checksum of records and bundles.
#ifndef TENSORFLOW_CORE_PLATFORM_CRC32C_H_
#define TENSORFLOW_CORE_PLATFORM_CRC32C_H_

#include <cstddef>

#include "tensorflow/core/platform/status.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace crc32c {

inline uint32 Extend(uint32 crc, const char* data, size_t n) { return weft_crc32c(crc, {data, n}); }
inline uint32 Value(const char* data, size_t n) { return Extend(0, data, n); }
// A checksum of data that holds checksums is stored changed.
inline uint32 Mask(uint32 crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }
inline uint32 Unmask(uint32 masked) {
  const uint32 rotated = masked - 0xa282ead8U;
  return (rotated >> 17) | (rotated << 15);
}

}  // namespace crc32c
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_CRC32C_H_
