// Rows of the types that models have; the rest is in segment_rows.cc.
#include <type_traits>

#include "kernels/cpu/segment_rows.h"

#include "kernels/cpu/isa_begin.h"
namespace {

template <class T>
void combine(SegmentOp op, void* row, const void* x, int64_t n) {
  using Wrap = std::conditional_t<std::is_integral_v<T>, uint32_t, T>;
  T* __restrict a = static_cast<T*>(row);
  const T* __restrict b = static_cast<const T*>(x);
  switch (op) {
    case SegmentOp::kSum:
      for (int64_t i = 0; i < n; ++i) a[i] = T(Wrap(a[i]) + Wrap(b[i]));
      break;
    case SegmentOp::kProd:
      for (int64_t i = 0; i < n; ++i) a[i] = T(Wrap(a[i]) * Wrap(b[i]));
      break;
    case SegmentOp::kMax:  // a NaN wins against what came before and loses against what comes after
      for (int64_t i = 0; i < n; ++i) a[i] = b[i] < a[i] ? a[i] : b[i];
      break;
    case SegmentOp::kMin:
      for (int64_t i = 0; i < n; ++i) a[i] = a[i] < b[i] ? a[i] : b[i];
      break;
  }
}

}  // namespace

void combine_floats(SegmentOp op, void* row, const void* x, int64_t n) { combine<float>(op, row, x, n); }
void combine_doubles(SegmentOp op, void* row, const void* x, int64_t n) { combine<double>(op, row, x, n); }
void combine_int32(SegmentOp op, void* row, const void* x, int64_t n) { combine<int32_t>(op, row, x, n); }
void divide_floats(float* row, int64_t n, float by) {
  for (int64_t i = 0; i < n; ++i) row[i] = row[i] / by;
}

#include "kernels/cpu/isa_end.h"
