// SPDX-License-Identifier: Apache-2.0
//
// Distributions of the numbers of a generator (PhiloxRandom): with the same seeds the same bits as TensorFlow's.
#ifndef TENSORFLOW_CORE_LIB_RANDOM_RANDOM_DISTRIBUTIONS_H_
#define TENSORFLOW_CORE_LIB_RANDOM_RANDOM_DISTRIBUTIONS_H_

#include <cmath>
#include <cstring>
#include <type_traits>

#include "tensorflow/core/framework/numeric_types.h"
#include "tensorflow/core/lib/random/philox_random.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace random {

inline half Uint16ToHalf(uint16 x) {
  const auto bits = static_cast<uint16>(15 << 10 | (x & 0x3ff));
  half h;
  std::memcpy(static_cast<void*>(&h), &bits, sizeof bits);
  return h - half(1.0f);
}
inline bfloat16 Uint16ToGfloat16(uint16 x) {
  const auto bits = static_cast<uint16>(127 << 7 | (x & 0x7f));
  bfloat16 b;
  std::memcpy(static_cast<void*>(&b), &bits, sizeof bits);
  return b - bfloat16(1.0f);
}
// Two normal numbers of two (four) words, by Box and Muller.
inline void BoxMullerFloat(uint32 x0, uint32 x1, float* f0, float* f1) {
  const float u = std::fmax(Uint32ToFloat(x0), 1.0e-7f);
  const auto angle = static_cast<float>(2 * M_PI * static_cast<double>(Uint32ToFloat(x1)));
  const float radius = std::sqrt(-2.0f * std::log(u));
  ::sincosf(angle, f0, f1);
  *f0 *= radius;
  *f1 *= radius;
}
inline void BoxMullerDouble(uint32 x0, uint32 x1, uint32 x2, uint32 x3, double* d0, double* d1) {
  const double u = std::fmax(Uint64ToDouble(x0, x1), 1.0e-7);
  const double angle = 2 * M_PI * Uint64ToDouble(x2, x3);
  const double radius = std::sqrt(-2.0 * std::log(u));
  ::sincos(angle, d0, d1);
  *d0 *= radius;
  *d1 *= radius;
}
// a + b where b may be more than a's type holds.
template <class Int>
Int SignedAdd(Int a, std::make_unsigned_t<Int> b) {
  return static_cast<Int>(static_cast<std::make_unsigned_t<Int>>(a) + b);
}

namespace internal {

// Of each result of the generator, so many numbers: one of each word, or of each two.
template <class Generator, class T, int kWords, int kCost>
struct Distribution {
  static constexpr int kResultElementCount = Generator::kResultElementCount / kWords;
  static constexpr int kElementCost = kCost;
  static constexpr bool kVariableSamplesPerOutput = false;
  using ResultType = Array<T, kResultElementCount>;
  using ResultElementType = T;

 protected:
  template <class F>
  static ResultType Each(Generator* g, F f) {
    const typename Generator::ResultType words = (*g)();
    ResultType out;
    for (int i = 0; i < kResultElementCount; ++i) {
      if constexpr (kWords == 1) out[i] = f(words[i]);
      else out[i] = f(words[2 * i], words[2 * i + 1]);
    }
    return out;
  }
};
inline uint64 Joined(uint32 low, uint32 high) { return low | static_cast<uint64>(high) << 32; }

}  // namespace internal

// In [0, 1); of integers in [lo, hi).
template <class Generator, class T>
class UniformDistribution;
#define WEFT_UNIFORM(T, words, ...)                                                                                                     \
  template <class Generator>                                                                                                            \
  class UniformDistribution<Generator, T> : public internal::Distribution<Generator, T, words, 3> {                                     \
   public:                                                                                                                              \
    typename internal::Distribution<Generator, T, words, 3>::ResultType operator()(Generator* g) { return this->Each(g, __VA_ARGS__); } \
  };
WEFT_UNIFORM(half, 1, [](uint32 x) { return Uint16ToHalf(static_cast<uint16>(x)); })
WEFT_UNIFORM(bfloat16, 1, [](uint32 x) { return Uint16ToGfloat16(static_cast<uint16>(x)); })
WEFT_UNIFORM(float, 1, Uint32ToFloat)
WEFT_UNIFORM(double, 2, Uint64ToDouble)
#undef WEFT_UNIFORM
template <class Generator>
class UniformDistribution<Generator, int32> : public internal::Distribution<Generator, int32, 1, 3> {
 public:
  UniformDistribution(int32 lo, int32 hi) : lo_(lo), range_(static_cast<uint32>(hi) - static_cast<uint32>(lo)) {}
  typename internal::Distribution<Generator, int32, 1, 3>::ResultType operator()(Generator* g) {
    return this->Each(g, [this](uint32 x) { return SignedAdd(lo_, x % range_); });
  }

 private:
  int32 lo_;
  uint32 range_;
};
template <class Generator>
class UniformDistribution<Generator, int64> : public internal::Distribution<Generator, int64, 2, 3> {
 public:
  UniformDistribution(int64 lo, int64 hi) : lo_(lo), range_(static_cast<uint64>(hi) - static_cast<uint64>(lo)) {}
  typename internal::Distribution<Generator, int64, 2, 3>::ResultType operator()(Generator* g) {
    return this->Each(g, [this](uint32 x, uint32 y) { return SignedAdd(lo_, internal::Joined(x, y) % range_); });
  }

 private:
  int64 lo_;
  uint64 range_;
};
// Any integer.
template <class Generator, class T>
class UniformFullIntDistribution : public internal::Distribution<Generator, T, sizeof(T) / 4, 3> {
 public:
  typename internal::Distribution<Generator, T, sizeof(T) / 4, 3>::ResultType operator()(Generator* g) {
    if constexpr (sizeof(T) == 4) return this->Each(g, [](uint32 x) { return static_cast<T>(x); });
    else return this->Each(g, [](uint32 x, uint32 y) { return static_cast<T>(internal::Joined(x, y)); });
  }
};

// The words of a generator, one at a time.
template <class Generator>
class SingleSampleAdapter {
 public:
  static constexpr int kResultElementCount = 1;
  static constexpr int kNativeElementCount = Generator::kResultElementCount;
  using ResultType = typename Generator::ResultElementType;
  using ResultElementType = typename Generator::ResultElementType;
  explicit SingleSampleAdapter(Generator* g) : g_(g) {}
  ResultType operator()() {
    if (used_ == kNativeElementCount) {
      words_ = (*g_)();
      used_ = 0;
    }
    return words_[used_++];
  }
  void Skip(uint64 n) {
    const auto left = static_cast<uint64>(kNativeElementCount - used_);
    if (n <= left) {
      used_ += static_cast<int>(n);
      return;
    }
    n -= left;
    used_ = kNativeElementCount;
    g_->Skip(n / kNativeElementCount);
    for (n %= kNativeElementCount; n > 0; --n) (*this)();
  }

 private:
  Generator* g_;
  typename Generator::ResultType words_;
  int used_ = kNativeElementCount;
};

// Of mean 0 and deviation 1.
template <class Generator, class T>
class NormalDistribution : public internal::Distribution<Generator, T, std::is_same_v<T, double> ? 2 : 1, 70> {
 public:
  using Base = internal::Distribution<Generator, T, std::is_same_v<T, double> ? 2 : 1, 70>;
  typename Base::ResultType operator()(Generator* g) {
    const typename Generator::ResultType words = (*g)();
    typename Base::ResultType out;
    for (int i = 0; i < Base::kResultElementCount; i += 2) {
      if constexpr (std::is_same_v<T, double>) {
        BoxMullerDouble(words[2 * i], words[2 * i + 1], words[2 * i + 2], words[2 * i + 3], &out[i], &out[i + 1]);
      } else {
        float f[2];
        BoxMullerFloat(words[i], words[i + 1], &f[0], &f[1]);
        out[i] = T(f[0]);
        out[i + 1] = T(f[1]);
      }
    }
    return out;
  }
};

// The same without what is 2 or more from the mean.
template <class SingleSampleGenerator, class T>
class TruncatedNormalDistribution {
  static constexpr bool kDouble = std::is_same_v<T, double>;
  static constexpr int kNative = SingleSampleGenerator::kNativeElementCount;

 public:
  static constexpr int kResultElementCount = kDouble && kNative > 1 ? kNative / 2 : kDouble ? 1 : kNative;
  static constexpr int kElementCost = 90;
  static constexpr bool kVariableSamplesPerOutput = true;
  using ResultType = Array<T, kResultElementCount>;
  using ResultElementType = T;
  ResultType operator()(SingleSampleGenerator* g) {
    ResultType out;
    for (int n = 0; n < kResultElementCount;) {
      std::conditional_t<kDouble, double, float> v[2];
      const uint32 x0 = (*g)(), x1 = (*g)();
      if constexpr (kDouble) {
        const uint32 x2 = (*g)(), x3 = (*g)();
        BoxMullerDouble(x0, x1, x2, x3, &v[0], &v[1]);
      } else {
        BoxMullerFloat(x0, x1, &v[0], &v[1]);
      }
      for (const auto value : v) {
        if (std::abs(value) < 2 && n < kResultElementCount) out[n++] = T(value);
      }
    }
    return out;
  }
};

}  // namespace random
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_RANDOM_RANDOM_DISTRIBUTIONS_H_
