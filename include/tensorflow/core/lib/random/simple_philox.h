// SPDX-License-Identifier: Apache-2.0
//
// SimplePhilox: one number after the other from a PhiloxRandom.
#ifndef TENSORFLOW_CORE_LIB_RANDOM_SIMPLE_PHILOX_H_
#define TENSORFLOW_CORE_LIB_RANDOM_SIMPLE_PHILOX_H_

#include "tensorflow/core/lib/random/random_distributions.h"

namespace tensorflow {
namespace random {

class SimplePhilox {
 public:
  explicit SimplePhilox(PhiloxRandom* generator) : single_(generator) {}
  uint32 Rand32() { return single_(); }
  uint64 Rand64() {
    const uint32 low = single_(), high = single_();
    return low | static_cast<uint64>(high) << 32;
  }
  float RandFloat() { return Uint32ToFloat(single_()); }
  double RandDouble() {
    const uint32 x0 = single_(), x1 = single_();
    return Uint64ToDouble(x0, x1);
  }
  // In [0, n), each equally likely.
  uint32 Uniform(uint32 n) {
    return Exact(n, [this] { return Rand32(); });
  }
  uint64 Uniform64(uint64 n) {
    return Exact(n, [this] { return Rand64(); });
  }
  bool OneIn(uint32 n) { return Uniform(n) == 0; }
  // Of so many bits as a number in [0, max_log] says: small ones are likelier.
  uint32 Skewed(int max_log) {
    const int shift = static_cast<int>(Rand32() % static_cast<uint32>(max_log + 1));
    const uint32 mask = shift == 32 ? ~uint32{0} : (uint32{1} << shift) - 1;
    return Rand32() & mask;
  }

 private:
  template <class Uint, class Bits>
  static Uint Exact(Uint n, Bits bits) {
    if (n == 0) return bits() * n;
    if ((n & (n - 1)) == 0) return bits() & (n - 1);
    const Uint left_over = ~Uint{0} % n + 1;  // so many at the low end would make some results likelier
    Uint v = 0;
    do v = bits();
    while (v < left_over);
    return v % n;
  }
  SingleSampleAdapter<PhiloxRandom> single_;
};

}  // namespace random
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_RANDOM_SIMPLE_PHILOX_H_
