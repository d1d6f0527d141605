// Products of 8-bit integers, summed in 32 bits that wrap: C = (A - zero_a) (B - zero_b). The processors' dot products take unsigned bytes by
// signed ones, four at a time along k. So A is brought to unsigned bytes and B to signed ones, which shifts their zero points by 128, and B is packed
// in fours; a packed B can be kept for many products. The result has the same bits for any thread count and any instruction set.
#pragma once

#include <cstdint>

#include "core/function_ref.h"
#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/window.h"

namespace weft_engine::kernels {

// A packed B of k x n: panels of 16 columns; in a panel, for every four of k, 16 columns by 4 bytes. What is missing to whole panels and fours is 0.
// Behind the panels is the sum of each column (int32).
inline constexpr int64_t kInt8Panel = 16;
constexpr int64_t int8_quads(int64_t k) { return (k + 3) / 4; }
constexpr int64_t int8_panels(int64_t n) { return (n + kInt8Panel - 1) / kInt8Panel; }
constexpr int64_t int8_packed_bytes(int64_t k, int64_t n) { return int8_panels(n) * kInt8Panel * (int8_quads(k) + 1) * 4; }

// 8-bit numbers in rows; `step` is the distance of the rows in memory.
struct Int8Matrix {
  const void* data;
  bool is_signed = true, transposed = false;
  int64_t step = 0;
};
void int8_pack(const Int8Matrix& b, int64_t k, int64_t n, void* packed, core::ThreadPool& pool);

const int32_t* int8_column_sums(const void* packed, int64_t k, int64_t n);

// Rows [i0, i1) of A as unsigned bytes, int8_quads(k) * 4 to a row, what is beyond k being anything.
using Int8Fill = core::FunctionRef<void(int64_t i0, int64_t i1, uint8_t* to)>;
// Rows [i0, i1) and columns [j0, j1) of C are complete: that of row i and column j is totals[(i - i0) * step + j - j0].
using Int8Done = core::FunctionRef<void(int64_t i0, int64_t i1, int64_t j0, int64_t j1, const int32_t* totals, int64_t step)>;

struct Int8Product {
  int64_t m, n, k;
  const void* packed;  // B
  int32_t zero_a = 0, zero_b = 0;  // of the unsigned and the signed bytes
};
void int8_product(const Int8Product& p, Int8Fill fill, Int8Done done, core::ThreadPool& pool);

// C [m, n] of matrices as they are; zero points as the numbers have them.
void int8_matmul(int64_t m, int64_t n, int64_t k, const Int8Matrix& a, const Int8Matrix& b, int32_t zero_a, int32_t zero_b, int32_t* c,
                 core::ThreadPool& pool);
// The same with B packed before.
void int8_matmul(const Int8Product& p, const Int8Matrix& a, Int8Done done, core::ThreadPool& pool);

// A convolution with one group over unsigned bytes; B is the filter as a matrix [patch, out_channels]. Outside of the images is zero_a. m, n and k of
// `p` are those of the geometry.
Int8Product int8_conv_sizes(const ConvGeometry& g, const void* packed, int32_t zero_a, int32_t zero_b);
void int8_conv(const ConvGeometry& g, const Int8Product& p, const uint8_t* in, Int8Done done, core::ThreadPool& pool);

// C [batch, positions, out_channels] of images and a filter as they are; `step` of both is not read. zero_in is an 8-bit number.
void int8_conv(const ConvGeometry& g, const Int8Matrix& in, const Int8Matrix& filter, int32_t zero_in, int32_t zero_filter, int32_t* c,
               core::ThreadPool& pool);

// to = from with the sign bit turned: signed bytes as unsigned ones that are greater by 128, and back.
void int8_shift(const void* from, void* to, int64_t n, core::ThreadPool& pool);

// What follows a product: y = f(total * scale + bias), and that again as an 8-bit number.
enum class Int8Activation { kNone, kRelu, kRelu6 };
struct Int8Finish {
  const float* scale;  // for each column
  const float* bias;  // likewise, or null
  Int8Activation activation = Int8Activation::kNone;
  float inverse = 0;  // 1 / the result's scale, for 8-bit results
  int32_t zero = 0, least = -128, most = 127;
};

// One thread's part: C of whole panels.
struct Int8Task {
  int64_t rows, panels, quads;
  const uint8_t* a;
  int64_t a_step;
  const int8_t* b;  // the first panel
  const int32_t* start;  // what each column's sums begin with
  int32_t* c;
  int64_t c_step;
};
WEFT_DECLARE_ISA(void int8_rows(const Int8Task& t))
// With the dot products of 8-bit numbers (VNNI): 256 bits wide without AVX-512, and 512.
namespace avx2_dots {
void int8_rows(const Int8Task& t);
}
namespace avx512_dots {
void int8_rows(const Int8Task& t);
}

WEFT_DECLARE_ISA(void int8_pack_panel(const Int8Matrix& b, int64_t k, int64_t column, int64_t columns, int8_t* to, int32_t* sums))
// Rows of totals, the first column of which is column j of f.
WEFT_DECLARE_ISA(void int8_finish_float(const Int8Finish& f, int64_t j, const int32_t* totals, int64_t step, int64_t rows, int64_t n, float* y,
                                        int64_t y_step))
WEFT_DECLARE_ISA(void int8_finish_bytes(const Int8Finish& f, int64_t j, const int32_t* totals, int64_t step, int64_t rows, int64_t n, int8_t* y,
                                        int64_t y_step))
WEFT_DECLARE_ISA(void int8_turn(const uint8_t* from, uint8_t* to, int64_t n))
// Floats to 8-bit numbers as UniformQuantize has them: floor(x * inverse + 0.5) + zero within [least, most].
WEFT_DECLARE_ISA(void int8_quantize(const float* x, float inverse, int32_t zero, int32_t least, int32_t most, int8_t* y, int64_t n))

}  // namespace weft_engine::kernels
