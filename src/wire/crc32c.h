// CRC-32C (Castagnoli), the checksum of checkpoints and TFRecord files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft_engine::wire {

// The checksum of the bytes so far (0 for none) followed by n more.
uint32_t crc32c_extend(uint32_t crc, const void* data, size_t n);
inline uint32_t crc32c(const void* data, size_t n) { return crc32c_extend(0, data, n); }
inline uint32_t crc32c(std::string_view s) { return crc32c_extend(0, s.data(), s.size()); }

// The checksum of two byte strings joined, from the checksum of each and the length of the second.
uint32_t crc32c_combine(uint32_t first, uint32_t second, uint64_t second_length);

// Files store checksums in this form, since the checksum of bytes that contain their own checksum is weak.
inline constexpr uint32_t kCrcMaskDelta = 0xa282ead8u;
inline uint32_t crc32c_mask(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + kCrcMaskDelta; }
inline uint32_t crc32c_unmask(uint32_t masked) {
  const uint32_t rotated = masked - kCrcMaskDelta;
  return (rotated >> 17) | (rotated << 15);
}

// Whether a stored checksum agrees. A fuzzer cannot guess checksums and would never get past the first,
// so builds for fuzzing let all through.
inline bool crc32c_agrees([[maybe_unused]] uint32_t stored, [[maybe_unused]] uint32_t actual) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return true;
#else
  return stored == actual;
#endif
}

}  // namespace weft_engine::wire
