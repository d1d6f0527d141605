// Random and extreme values for the attacks on kernels (mutation/mutate.cc, attack/op_random.cc).
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/tensor.h"

namespace weft_engine::testing {

using namespace weft_engine::core;

inline std::mt19937_64 rng;
inline uint64_t pick(uint64_t n) { return n ? rng() % n : 0; }

inline constexpr int64_t kInts[] = {0,         1,         -1,   2,   3,    7, -2, 100, 1 << 20, INT32_MAX, INT32_MIN, int64_t(1) << 40,
                                    INT64_MAX, INT64_MIN, -128, 255, 65536};
inline const double kDoubles[] = {0.0, -0.0, 1.0, -1.0, 1e30, -1e30, 1e-30, NAN, INFINITY, -INFINITY, 0.5, 2147483648.0, -9.3e18, 3.4e38};

template <class T>
void put(Tensor& t, int64_t i) {
  if constexpr (std::is_same_v<T, tstring>) {
    const char* texts[] = {"", "x", "\xff\xfe", "a very long string that does not fit inside the element itself", "1e999", "-5", "\n"};
    t.data<T>()[i] = std::string_view(texts[pick(std::size(texts))]);
  } else if constexpr (is_complex<T>) {
    using Part = typename T::value_type;
    t.data<T>()[i] = T(Part(kDoubles[pick(std::size(kDoubles))]), Part(kDoubles[pick(std::size(kDoubles))]));
  } else if constexpr (is_floating<T>) {
    const double v = kDoubles[pick(std::size(kDoubles))];
    if constexpr (std::is_same_v<T, double>) t.data<T>()[i] = v;
    else t.data<T>()[i] = T(std::isfinite(v) && std::abs(v) > 3e38 ? float(v > 0 ? 3e38f : -3e38f) : float(v));
  } else if constexpr (std::is_same_v<T, bool>) {
    t.data<T>()[i] = pick(2);
  } else if constexpr (std::is_same_v<T, ResourceHandle> || std::is_same_v<T, Variant>) {
    t.data<T>()[i] = T();
  } else {
    const auto bits = uint64_t(kInts[pick(std::size(kInts))]);
    std::memcpy(static_cast<void*>(&t.data<T>()[i]), &bits, sizeof(T));  // cut to size, as a cast would
    if constexpr (std::is_same_v<T, int4> || std::is_same_v<T, uint4> || std::is_same_v<T, int2> || std::is_same_v<T, uint2>)
      t.data<T>()[i] = T(int(bits & 7));
  }
}

inline void put_any(Tensor& t, int64_t i) {
  switch (t.dtype()) {
#define WEFT_X(T, name) \
  case DType::name: put<T>(t, i); break;
    WEFT_DTYPES(WEFT_X)
#undef WEFT_X
    default: break;
  }
}

inline Tensor fresh(DType dtype, const Shape& shape) {
  auto t = Tensor::zeros(dtype, shape);
  if (!t.ok()) return *Tensor::zeros(dtype, Shape());
  for (int64_t i = 0; i < t->num_elements(); ++i) put_any(*t, i);
  return std::move(t).value();
}

}  // namespace weft_engine::testing
