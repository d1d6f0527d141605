#include "kernels/cpu/add_many.h"

#include <algorithm>

#include "kernels/cpu/elementwise_simd.h"
#include "kernels/cpu/narrow.h"

namespace weft_engine::kernels {

using core::DType;

namespace {

constexpr int64_t kBlock = 512;

void add_narrow(DType t, std::span<const void* const> inputs, void* out, int64_t begin, int64_t end) {
  const WidenLoop widen = widen_loop(t);
  const BinaryLoop add = binary_loop(Binary::kAdd, DType::kFloat);
  float sum[kBlock], next[kBlock];
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t n = std::min(kBlock, end - i);
    widen(static_cast<const uint16_t*>(inputs[0]) + i, sum, n);
    for (size_t k = 1; k < inputs.size(); ++k) {
      widen(static_cast<const uint16_t*>(inputs[k]) + i, next, n);
      add(sum, next, sum, n, 1, 1);
    }
    narrow_loop(t)(sum, static_cast<uint16_t*>(out) + i, n);
  }
}

}  // namespace

void add_many(DType t, std::span<const void* const> inputs, void* out, int64_t begin, int64_t end) {
  if (begin >= end) return;
  const int64_t size = int64_t(core::dtype_size(t));
  auto at = [size](const void* p, int64_t i) { return static_cast<const char*>(p) + i * size; };
  if (t == DType::kHalf || t == DType::kBfloat16) return add_narrow(t, inputs, out, begin, end);
  if (t == DType::kFloat) {
    return WEFT_BEST_ISA(add_floats)(reinterpret_cast<const float* const*>(inputs.data()), int64_t(inputs.size()), static_cast<float*>(out), begin,
                                     end);
  }
  const BinaryLoop add = binary_loop(Binary::kAdd, t);
  // A block at a time, so that the running sum stays in the nearest cache.
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t n = std::min(kBlock, end - i);
    char* sum = static_cast<char*>(out) + i * size;
    add(at(inputs[0], i), at(inputs[1], i), sum, n, 1, 1);
    for (size_t k = 2; k < inputs.size(); ++k) add(sum, at(inputs[k], i), sum, n, 1, 1);
  }
}

}  // namespace weft_engine::kernels
