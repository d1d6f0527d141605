#include "kernels/cpu/segment_rows.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace weft_engine::kernels {
namespace {

// Integers wrap, which signed ones may not do by themselves.
template <class T>
using Wrap =
    std::conditional_t<!std::is_integral_v<T>, T,
                       std::conditional_t<(sizeof(T) < 4), unsigned, std::make_unsigned_t<std::conditional_t<std::is_integral_v<T>, T, int>>>>;

template <class T>
struct Loops {
  static constexpr bool kOrdered = !core::is_complex<T>;

  static void fill(SegmentOp op, void* row, int64_t n) {
    T start = T(op == SegmentOp::kProd ? 1 : 0);
    if constexpr (kOrdered) {
      if (op == SegmentOp::kMax) start = std::numeric_limits<T>::lowest();
      if (op == SegmentOp::kMin) start = std::numeric_limits<T>::max();
    }
    std::fill_n(static_cast<T*>(row), n, start);
  }

  static void combine(SegmentOp op, void* row, const void* x, int64_t n) {
    if constexpr (std::is_same_v<T, float>) return WEFT_BEST_ISA(combine_floats)(op, row, x, n);
    if constexpr (std::is_same_v<T, double>) return WEFT_BEST_ISA(combine_doubles)(op, row, x, n);
    if constexpr (std::is_same_v<T, int32_t>) return WEFT_BEST_ISA(combine_int32)(op, row, x, n);
    T* __restrict a = static_cast<T*>(row);
    const T* __restrict b = static_cast<const T*>(x);
    switch (op) {
      case SegmentOp::kSum:
        for (int64_t i = 0; i < n; ++i) a[i] = T(Wrap<T>(a[i]) + Wrap<T>(b[i]));
        break;
      case SegmentOp::kProd:
        for (int64_t i = 0; i < n; ++i) a[i] = T(Wrap<T>(a[i]) * Wrap<T>(b[i]));
        break;
      case SegmentOp::kMax:  // a NaN wins against what came before and loses against what comes after
        if constexpr (kOrdered) {
          for (int64_t i = 0; i < n; ++i) a[i] = b[i] < a[i] ? a[i] : b[i];
        }
        break;
      case SegmentOp::kMin:
        if constexpr (kOrdered) {
          for (int64_t i = 0; i < n; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
        }
        break;
    }
  }

  static void divide(void* row, int64_t n, double by) {
    T* a = static_cast<T*>(row);
    if constexpr (std::is_same_v<T, float>) return WEFT_BEST_ISA(divide_floats)(a, n, float(by));
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>) a[i] = T(std::is_signed_v<T> ? T(int64_t(a[i]) / int64_t(by)) : T(uint64_t(a[i]) / uint64_t(by)));
      else if constexpr (core::is_complex<T>) a[i] /= typename T::value_type(by);
      else a[i] = T(a[i] / T(by));
    }
  }

  static void add_scaled(void* row, const void* x, int64_t n, double scale) {
    if constexpr (std::is_floating_point_v<T>) {
      T* __restrict a = static_cast<T*>(row);
      const T* __restrict b = static_cast<const T*>(x);
      for (int64_t i = 0; i < n; ++i) a[i] += b[i] * T(scale);
    }
  }

  static constexpr SegmentRows kRows{int(sizeof(T)), fill, combine, divide, add_scaled};
};

}  // namespace

const SegmentRows* segment_rows(core::DType type) {
  switch (type) {
#define WEFT_ROW(T) \
  case core::dtype_of<T>: return &Loops<T>::kRows;
    WEFT_ROW(float)
    WEFT_ROW(double)
    WEFT_ROW(core::half)
    WEFT_ROW(core::bfloat16)
    WEFT_ROW(int8_t)
    WEFT_ROW(int16_t)
    WEFT_ROW(int32_t)
    WEFT_ROW(int64_t)
    WEFT_ROW(uint8_t)
    WEFT_ROW(uint16_t)
    WEFT_ROW(uint32_t)
    WEFT_ROW(uint64_t)
    WEFT_ROW(core::complex64)
    WEFT_ROW(core::complex128)
#undef WEFT_ROW
    default: return nullptr;
  }
}

}  // namespace weft_engine::kernels
