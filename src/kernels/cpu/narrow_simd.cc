#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>

#include "core/float_types.h"
#include "kernels/cpu/narrow_simd.h"
#include "kernels/cpu/isa_begin.h"

void half_to_floats(const uint16_t* __restrict from, float* __restrict to, int64_t n) {
  int64_t i = 0;
#if defined(WEFT_ISA_AVX512) || defined(WEFT_ISA_AVX2)
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
  for (; i < n; ++i) to[i] = core::detail::half_to_float(from[i]);
}

void floats_to_half(const float* __restrict from, uint16_t* __restrict to, int64_t n) {
  int64_t i = 0;
#if defined(WEFT_ISA_AVX512) || defined(WEFT_ISA_AVX2)
  for (; i + 8 <= n; i += 8) {
    const __m256 x = _mm256_loadu_ps(from + i);
    // The instruction keeps a NaN's payload; core::half has one NaN, so such blocks take the plain way.
    if (_mm256_movemask_ps(_mm256_cmp_ps(x, x, _CMP_UNORD_Q))) {
      for (int64_t j = i; j < i + 8; ++j) to[j] = core::detail::float_to_half(from[j]);
    } else {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
  }
#endif
  for (; i < n; ++i) to[i] = core::detail::float_to_half(from[i]);
}

void bfloat_to_floats(const uint16_t* __restrict from, float* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = std::bit_cast<float>(uint32_t(from[i]) << 16);
}

void floats_to_bfloat(const float* __restrict from, uint16_t* __restrict to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t x = std::bit_cast<uint32_t>(from[i]);
    const uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1)) >> 16, nan = ((x >> 16) & 0x8000u) | 0x7fc0u;
    to[i] = uint16_t((x & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
}

#include "kernels/cpu/isa_end.h"
