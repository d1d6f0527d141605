// What goes before and after 8-bit products: packing, quantising, and totals to floats or bytes.
#include "kernels/cpu/intrinsics.h"

#include <cmath>
#include <cstring>

#include "kernels/cpu/int8_gemm.h"
#include "kernels/cpu/quantize.h"
#include "kernels/cpu/isa_begin.h"

namespace {

typedef int8_t Bytes __attribute__((vector_size(16)));

// Four rows of 16 numbers as 16 columns of four.
inline void interleave(const int8_t* from, int64_t step, int8_t* to) {
  Bytes r[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&r[i], from + i * step, 16);
  const Bytes low01 = __builtin_shufflevector(r[0], r[1], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const Bytes high01 = __builtin_shufflevector(r[0], r[1], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const Bytes low23 = __builtin_shufflevector(r[2], r[3], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const Bytes high23 = __builtin_shufflevector(r[2], r[3], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  const Bytes out[4] = {__builtin_shufflevector(low01, low23, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23),
                        __builtin_shufflevector(low01, low23, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31),
                        __builtin_shufflevector(high01, high23, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23),
                        __builtin_shufflevector(high01, high23, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31)};
  std::memcpy(to, out, 64);
}

float activate(Int8Activation a, float v) {
  if (a != Int8Activation::kNone) v = v < 0 ? 0 : v;
  if (a == Int8Activation::kRelu6) v = v > 6 ? 6 : v;
  return v;
}

[[maybe_unused]] int8_t to_byte(float x, float inverse, int32_t zero, int32_t least, int32_t most) {
  const int32_t v = wrap_add(to_int32(std::floor(x * inverse + 0.5f)), zero);
  return int8_t(std::max(std::min(v, most), least));
}

template <bool kBias, Int8Activation kActivation>
void floats_of(const Int8Finish& f, int64_t j, const int32_t* __restrict totals, int64_t n, float* __restrict y) {
  const float* __restrict scale = f.scale + j;
  const float* __restrict bias = kBias ? f.bias + j : nullptr;
  for (int64_t i = 0; i < n; ++i) {
    float v = float(totals[i]) * scale[i];
    if (kBias) v += bias[i];
    y[i] = activate(kActivation, v);
  }
}

using FloatsOf = void (*)(const Int8Finish&, int64_t, const int32_t*, int64_t, float*);
FloatsOf choose(const Int8Finish& f) {
  switch (f.activation) {
    case Int8Activation::kRelu: return f.bias ? floats_of<true, Int8Activation::kRelu> : floats_of<false, Int8Activation::kRelu>;
    case Int8Activation::kRelu6: return f.bias ? floats_of<true, Int8Activation::kRelu6> : floats_of<false, Int8Activation::kRelu6>;
    default: return f.bias ? floats_of<true, Int8Activation::kNone> : floats_of<false, Int8Activation::kNone>;
  }
}

}  // namespace

void int8_pack_panel(const Int8Matrix& b, int64_t k, int64_t column, int64_t columns, int8_t* to, int32_t* sums) {
  const int64_t quads = int8_quads(k);
  const int8_t* from = static_cast<const int8_t*>(b.data) + (b.transposed ? column * b.step : column);
  const int8_t turn = b.is_signed ? 0 : int8_t(-128);
  std::fill_n(sums, kInt8Panel, 0);
  for (int64_t q = 0; q < quads; ++q, to += 64) {
    const int64_t depth = std::min<int64_t>(4, k - q * 4);
    if (!b.transposed && depth == 4 && columns == kInt8Panel) {
      interleave(from + q * 4 * b.step, b.step, to);
      for (int i = 0; i < 64; ++i) to[i] ^= turn;
    } else {
      for (int64_t j = 0; j < kInt8Panel; ++j) {
        for (int64_t i = 0; i < 4; ++i) {
          const bool inside = i < depth && j < columns;
          const int64_t at = b.transposed ? j * b.step + q * 4 + i : (q * 4 + i) * b.step + j;
          to[j * 4 + i] = inside ? int8_t(from[at] ^ turn) : int8_t(0);
        }
      }
    }
    int32_t fours[kInt8Panel];  // four numbers each, taken apart by shifts that a vector does for all columns at once
    std::memcpy(fours, to, 64);
    for (int j = 0; j < kInt8Panel; ++j) {
      const uint32_t f = uint32_t(fours[j]);
      sums[j] += (int32_t(f << 24) >> 24) + (int32_t(f << 16) >> 24) + (int32_t(f << 8) >> 24) + (int32_t(f) >> 24);
    }
  }
}

void int8_turn(const uint8_t* __restrict from, uint8_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = uint8_t(from[i] ^ 0x80);
}

#if defined(WEFT_ISA_AVX512)
namespace {

// to_byte for the lanes of a mask; the conversion gives the lowest integer for what has none, as to_int32 does.
inline void store_bytes(__m512 v, __m512 inverse, __m512i zero, __m512i least, __m512i most, __mmask16 lanes, int8_t* y) {
  const __m512 steps = _mm512_roundscale_ps(_mm512_fmadd_ps(v, inverse, _mm512_set1_ps(0.5f)), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  const __m512i q = _mm512_add_epi32(_mm512_cvttps_epi32(steps), zero);
  _mm512_mask_cvtepi32_storeu_epi8(y, lanes, _mm512_max_epi32(_mm512_min_epi32(q, most), least));
}

inline __mmask16 lanes_of(int64_t rest) { return rest >= 16 ? __mmask16(0xffff) : __mmask16((1u << rest) - 1); }

}  // namespace
#endif

void int8_quantize(const float* __restrict x, float inverse, int32_t zero, int32_t least, int32_t most, int8_t* __restrict y, int64_t n) {
#if defined(WEFT_ISA_AVX512)
  const __m512 inverses = _mm512_set1_ps(inverse);
  const __m512i zeros = _mm512_set1_epi32(zero), lows = _mm512_set1_epi32(least), highs = _mm512_set1_epi32(most);
  for (int64_t i = 0; i < n; i += 16) {
    const __mmask16 lanes = lanes_of(n - i);
    store_bytes(_mm512_maskz_loadu_ps(lanes, x + i), inverses, zeros, lows, highs, lanes, y + i);
  }
#else
  for (int64_t i = 0; i < n; ++i) y[i] = to_byte(x[i], inverse, zero, least, most);
#endif
}

void int8_finish_float(const Int8Finish& f, int64_t j, const int32_t* totals, int64_t step, int64_t rows, int64_t n, float* y, int64_t y_step) {
  const FloatsOf run = choose(f);
  for (int64_t i = 0; i < rows; ++i) run(f, j, totals + i * step, n, y + i * y_step);
}

void int8_finish_bytes(const Int8Finish& f, int64_t j, const int32_t* totals, int64_t step, int64_t rows, int64_t n, int8_t* y, int64_t y_step) {
#if defined(WEFT_ISA_AVX512)
  const __m512 inverse = _mm512_set1_ps(f.inverse), none = _mm512_setzero_ps(), six = _mm512_set1_ps(6);
  const __m512i zero = _mm512_set1_epi32(f.zero), least = _mm512_set1_epi32(f.least), most = _mm512_set1_epi32(f.most);
  for (int64_t i = 0; i < rows; ++i, totals += step, y += y_step) {
    for (int64_t at = 0; at < n; at += 16) {
      const __mmask16 lanes = lanes_of(n - at);
      const __m512 total = _mm512_cvtepi32_ps(_mm512_maskz_loadu_epi32(lanes, totals + at)), scale = _mm512_maskz_loadu_ps(lanes, f.scale + j + at);
      __m512 v = f.bias ? _mm512_fmadd_ps(total, scale, _mm512_maskz_loadu_ps(lanes, f.bias + j + at)) : _mm512_mul_ps(total, scale);
      if (f.activation != Int8Activation::kNone) v = _mm512_max_ps(none, v);  // of a NaN and a number: the second
      if (f.activation == Int8Activation::kRelu6) v = _mm512_min_ps(six, v);
      store_bytes(v, inverse, zero, least, most, lanes, y + at);
    }
  }
#else
  constexpr int64_t kPiece = 256;
  float piece[kPiece];
  const FloatsOf run = choose(f);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t at = 0; at < n; at += kPiece) {
      const int64_t count = std::min(kPiece, n - at);
      run(f, j + at, totals + i * step + at, count, piece);
      int8_quantize(piece, f.inverse, f.zero, f.least, f.most, y + i * y_step + at, count);
    }
  }
#endif
}

#include "kernels/cpu/isa_end.h"
