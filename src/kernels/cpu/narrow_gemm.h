// Products with matrices of half and bfloat16 numbers, summed in floats.
#pragma once

#include <cstdint>

#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// Where reading B takes longer than the arithmetic, so that it is worth reading half the bytes: few rows, more of them where B is not in a cache near by
// (bench: float beside bfloat16, one thread). Elsewhere a widened copy of B for the float kernels is as fast or faster.
inline bool narrow_serves(bool transb, int64_t m, int64_t n, int64_t k) {
  const double size = double(n) * double(k);
  return size >= double(1 << 16) && (m <= 12 || (m <= 32 && size >= double(1 << 21))) && !(transb && k < 128);
}

// C [m, n] = A B: A [m, k] widened to floats, row by row; B as it is, [k, n], or [n, k] with transb, its rows `ldb` apart.
struct NarrowTask {
  bool half, transb;  // half: not bfloat16
  int64_t m, n, k;
  const float* a;
  const uint16_t* b;
  int64_t ldb;
  float* c;
};
// Columns [begin, end) of C. Every one is summed in the same way wherever the columns are cut at multiples of kNarrowColumns, so many that B is read in
// long runs.
inline constexpr int64_t kNarrowColumns = 1024;
WEFT_DECLARE_ISA(void narrow_columns(const NarrowTask& t, int64_t begin, int64_t end))

}  // namespace weft_engine::kernels
