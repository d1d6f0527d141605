// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC11) as
// TensorFlow uses it: the layout of key and counter, and how numbers are made from its bits. Every random
// op of every device must give these numbers, so nothing here may change.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/float_types.h"

namespace weft_engine::kernels {

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  Philox() = default;
  Philox(Block counter, std::array<uint32_t, 2> key) : counter_(counter), key_(key) {}
  // Counter of two words and key of one, as variables and the V2 ops hold them.
  Philox(uint64_t counter_low, uint64_t counter_high, uint64_t key)
      : counter_{uint32_t(counter_low), uint32_t(counter_low >> 32), uint32_t(counter_high), uint32_t(counter_high >> 32)},
        key_{uint32_t(key), uint32_t(key >> 32)} {}
  // The seed attributes of stateful ops.
  static Philox from_seeds(uint64_t seed, uint64_t seed2) { return {0, seed2, seed}; }
  // The seed input of stateless ops: one round of Philox makes weak seeds strong.
  static Philox from_stateless_seed(uint64_t seed0, uint64_t seed1) {
    const Block mix = Philox(seed0, seed1, 0x02461e293ec8f720u)();
    return {{0, 0, mix[2], mix[3]}, {mix[0], mix[1]}};
  }

  uint64_t counter_low() const { return counter_[0] | uint64_t(counter_[1]) << 32; }
  uint64_t counter_high() const { return counter_[2] | uint64_t(counter_[3]) << 32; }
  uint64_t key() const { return key_[0] | uint64_t(key_[1]) << 32; }

  // Moves on by that many blocks. Word by word, since TensorFlow loses the carry where the count's upper
  // half is all ones, and numbers must come out alike even then.
  void skip(uint64_t blocks) {
    const uint32_t low = uint32_t(blocks);
    uint32_t high = uint32_t(blocks >> 32);
    counter_[0] += low;
    if (counter_[0] < low) ++high;
    counter_[1] += high;
    if (counter_[1] < high && ++counter_[2] == 0) ++counter_[3];
  }

  // The next 128 bits.
  Block operator()() {
    Block c = counter_;
    uint32_t k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t(0xD2511F53u) * c[0], p1 = uint64_t(0xCD9E8D57u) * c[2];
      c = {uint32_t(p1 >> 32) ^ c[1] ^ k0, uint32_t(p1), uint32_t(p0 >> 32) ^ c[3] ^ k1, uint32_t(p0)};
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    if (++counter_[0] == 0 && ++counter_[1] == 0 && ++counter_[2] == 0) ++counter_[3];
    return c;
  }

 private:
  Block counter_{};
  std::array<uint32_t, 2> key_{};
};

// Uniform in [0, 1): random bits as the mantissa of a number in [1, 2), less 1.
inline float uniform_float(uint32_t x) { return std::bit_cast<float>(0x3f800000u | (x & 0x7fffffu)) - 1.0f; }
inline double uniform_double(uint32_t high, uint32_t low) {
  return std::bit_cast<double>(0x3ff0000000000000u | uint64_t(high & 0xfffffu) << 32 | low) - 1.0;
}
inline core::half uniform_half(uint32_t x) { return core::half(float(core::half::from_bits(uint16_t(0x3c00u | (x & 0x3ffu)))) - 1.0f); }
inline core::bfloat16 uniform_bfloat(uint32_t x) { return core::bfloat16(float(core::bfloat16::from_bits(uint16_t(0x3f80u | (x & 0x7fu)))) - 1.0f); }

// Box and Muller: two uniform numbers to two normal ones. Zero is lifted off, since its logarithm is not finite.
inline void box_muller(uint32_t x0, uint32_t x1, float* out) {
  const float u1 = std::max(uniform_float(x0), 1.0e-7f);
  const float angle = float(2.0f * 3.14159265358979323846 * uniform_float(x1));
  const float radius = std::sqrt(-2.0f * std::log(u1));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}
inline void box_muller(uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3, double* out) {
  const double u1 = std::max(uniform_double(x0, x1), 1.0e-7);
  const double angle = 2 * 3.14159265358979323846 * uniform_double(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u1));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

// One 32-bit number after the other.
class PhiloxStream {
 public:
  explicit PhiloxStream(const Philox& philox) : philox_(philox) {}
  uint32_t next() {
    if (used_ == 4) {
      block_ = philox_();
      used_ = 0;
    }
    return block_[size_t(used_++)];
  }
  uint64_t next64() {
    const uint32_t low = next();
    return low | uint64_t(next()) << 32;
  }
  float uniform() { return uniform_float(next()); }
  double uniform_wide() {
    const uint32_t high = next();
    return uniform_double(high, next());
  }
  // Uniform in [0, n), without bias: numbers below 2^32 mod n are drawn again.
  uint32_t below(uint32_t n) {
    return unbiased<uint32_t>(n, [this] { return next(); });
  }
  uint64_t below64(uint64_t n) {
    return unbiased<uint64_t>(n, [this] { return next64(); });
  }

 private:
  template <class U, class F>
  static U unbiased(U n, F draw) {
    if (n == 0) return draw() * n;
    if ((n & (n - 1)) == 0) return draw() & (n - 1);
    const U biased = U(~U(0)) % n + 1;
    U r;
    do r = draw();
    while (r < biased);
    return r % n;
  }
  Philox philox_;
  Philox::Block block_{};
  int used_ = 4;
};

}  // namespace weft_engine::kernels
