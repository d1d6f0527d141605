// SPDX-License-Identifier: Apache-2.0
//
// Hashes that are the same everywhere: Hash64, and Fingerprint64, which does not change between versions.
#ifndef TENSORFLOW_CORE_PLATFORM_HASH_H_
#define TENSORFLOW_CORE_PLATFORM_HASH_H_

#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "tensorflow/core/platform/status.h"
#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/tstring.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

// MurmurHash2 of 32 bits.
inline uint32 Hash32(const char* data, size_t n, uint32 seed) {
  constexpr uint32 kFactor = 0x5bd1e995;
  const auto* at = reinterpret_cast<const unsigned char*>(data);
  uint32 h = seed ^ static_cast<uint32>(n);
  for (; n >= 4; at += 4, n -= 4) {
    uint32 word = at[0] | static_cast<uint32>(at[1]) << 8 | static_cast<uint32>(at[2]) << 16 | static_cast<uint32>(at[3]) << 24;
    word *= kFactor;
    word ^= word >> 24;
    h = (h * kFactor) ^ (word * kFactor);
  }
  for (size_t i = n; i > 0; --i) h ^= static_cast<uint32>(at[i - 1]) << (8 * (i - 1));
  if (n > 0) h *= kFactor;
  h = (h ^ (h >> 13)) * kFactor;
  return h ^ (h >> 15);
}
inline uint64 Hash64(const char* data, size_t n, uint64 seed) { return weft_hash64({data, n}, seed); }
inline uint64 Hash64(const char* data, size_t n) { return Hash64(data, n, 0xDECAFCAFFE); }
inline uint64 Hash64(StringPiece s) { return Hash64(s.data(), s.size()); }
inline uint64 Hash64Combine(uint64 a, uint64 b) { return a ^ (b + 0x9e3779b97f4a7800ULL + (a << 10) + (a >> 4)); }
inline uint64 Hash64CombineUnordered(uint64 a, uint64 b) { return a + b; }

inline uint64 Fingerprint64(StringPiece s) { return weft_fingerprint64({s.data(), s.size()}); }
inline uint32 Fingerprint32(StringPiece s) { return static_cast<uint32>(Fingerprint64(s)); }
inline uint64 FingerprintCat64(uint64 a, uint64 b) {
  constexpr uint64 k = 0xc6a4a7935bd1e995ULL;
  const auto mix = [](uint64 v) { return v ^ (v >> 47); };
  uint64 result = a ^ k;
  result ^= mix(b * k) * k;
  result *= k;
  result = mix(result) * k;
  return mix(result);
}

// std::hash, and texts by Hash64.
template <class T, class = void>
struct hash {
  size_t operator()(const T& t) const { return std::hash<T>()(t); }
};
template <>
struct hash<std::string> {
  size_t operator()(const std::string& s) const { return static_cast<size_t>(Hash64(s)); }
};
template <>
struct hash<tstring> {
  size_t operator()(const tstring& s) const { return static_cast<size_t>(Hash64(s.data(), s.size())); }
};
template <>
struct hash<StringPiece> {
  size_t operator()(StringPiece s) const { return static_cast<size_t>(Hash64(s)); }
};
using StringPieceHasher = ::tensorflow::hash<StringPiece>;
template <class T, class U>
struct hash<std::pair<T, U>> {
  size_t operator()(const std::pair<T, U>& p) const { return Hash64Combine(hash<T>()(p.first), hash<U>()(p.second)); }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_HASH_H_
