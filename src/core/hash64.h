// TensorFlow's Hash64, a MurmurHash64A: behind StringToHashBucket, hash tables of keys, and the names of messages in loops. Its values may never change.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft_engine::core {

inline constexpr uint64_t kHash64Seed = 0xDECAFCAFFE;
uint64_t hash64(std::string_view s, uint64_t seed = kHash64Seed);

// One hash from two, in order.
inline uint64_t hash64_combine(uint64_t a, uint64_t b) { return a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4)); }

}  // namespace weft_engine::core
