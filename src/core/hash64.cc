#include "core/hash64.h"

#include <cstring>

namespace weft_engine::core {

// MurmurHash64A by Austin Appleby.
uint64_t hash64(std::string_view s, uint64_t seed) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995;
  const auto folded = [](uint64_t v) { return v ^ (v >> 47); };
  uint64_t h = seed ^ (s.size() * kMul);
  const char* p = s.data();
  size_t n = s.size();
  for (; n >= 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = (h ^ folded(word * kMul) * kMul) * kMul;
  }
  if (n) {
    uint64_t last = 0;
    std::memcpy(&last, p, n);
    h = (h ^ last) * kMul;
  }
  return folded(folded(h) * kMul);
}

}  // namespace weft_engine::core
