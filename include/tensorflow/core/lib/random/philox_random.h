// SPDX-License-Identifier: Apache-2.0
//
// PhiloxRandom: numbers that follow from a key and a counter (Salmon et al., 2011), four of 32 bits at a time.
// The same seeds give the numbers that TensorFlow gives.
#ifndef TENSORFLOW_CORE_LIB_RANDOM_PHILOX_RANDOM_H_
#define TENSORFLOW_CORE_LIB_RANDOM_PHILOX_RANDOM_H_

#include <cstring>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace random {

template <class T, int N>
class Array {
 public:
  static constexpr int kElementCount = N;
  const T& operator[](int i) const { return data_[i]; }
  T& operator[](int i) { return data_[i]; }
  int size() const { return N; }

 private:
  T data_[N] = {};
};

class PhiloxRandom {
 public:
  using ResultType = Array<uint32, 4>;
  using ResultElementType = uint32;
  using Key = Array<uint32, 2>;
  static constexpr int kResultElementCount = 4;
  static constexpr int kElementCost = 10;

  PhiloxRandom() = default;
  explicit PhiloxRandom(uint64 seed) { Set(seed); }
  PhiloxRandom(uint64 seed_lo, uint64 seed_hi) {
    Set(seed_lo);
    counter_[2] = static_cast<uint32>(seed_hi);
    counter_[3] = static_cast<uint32>(seed_hi >> 32);
  }
  PhiloxRandom(ResultType counter, Key key) : counter_(counter), key_(key) {}
  const ResultType& counter() const { return counter_; }
  const Key& key() const { return key_; }

  // Over so many results of operator().
  void Skip(uint64 count) {
    const uint64 low = (static_cast<uint64>(counter_[1]) << 32 | counter_[0]), sum = low + count;
    counter_[0] = static_cast<uint32>(sum);
    counter_[1] = static_cast<uint32>(sum >> 32);
    if (sum < low && ++counter_[2] == 0) ++counter_[3];
  }
  ResultType operator()() {
    ResultType x = counter_;
    uint32 k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const uint64 a = uint64{0xD2511F53u} * x[0], b = uint64{0xCD9E8D57u} * x[2];
      const uint32 x1 = x[1], x3 = x[3];
      x[0] = static_cast<uint32>(b >> 32) ^ x1 ^ k0;
      x[1] = static_cast<uint32>(b);
      x[2] = static_cast<uint32>(a >> 32) ^ x3 ^ k1;
      x[3] = static_cast<uint32>(a);
    }
    Skip(1);
    return x;
  }

 private:
  void Set(uint64 seed) {
    key_[0] = static_cast<uint32>(seed);
    key_[1] = static_cast<uint32>(seed >> 32);
  }
  ResultType counter_;
  Key key_;
};

// In [0, 1): the bits below the highest become the fraction of a number in [1, 2).
inline float Uint32ToFloat(uint32 x) {
  const uint32 bits = uint32{127} << 23 | (x & 0x7fffffu);
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f - 1.0f;
}
inline double Uint64ToDouble(uint32 x0, uint32 x1) {
  const uint64 bits = uint64{1023} << 52 | static_cast<uint64>(x0 & 0xfffffu) << 32 | x1;
  double d;
  std::memcpy(&d, &bits, sizeof d);
  return d - 1.0;
}

}  // namespace random
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_RANDOM_PHILOX_RANDOM_H_
