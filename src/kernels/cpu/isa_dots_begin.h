// isa_begin.h, or, where WEFT_ISA_DOTS is defined beside WEFT_ISA_AVX2 or WEFT_ISA_AVX512: the same level with dot products of bytes (VNNI), in
// namespace avx2_dots or avx512_dots. isa_end.h closes it.
#if !defined(WEFT_ISA_DOTS)
#include "kernels/cpu/isa_begin.h"
#else
#if defined(WEFT_ISA_AVX512)
#define WEFT_ISA avx512_dots
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,bmi2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,bmi2,f16c,prefer-vector-width=512")
#endif
#else
#define WEFT_ISA avx2_dots
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avxvnni,avx2,fma,bmi2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avxvnni,avx2,fma,bmi2,f16c")
#endif
#endif

namespace weft_engine::kernels::WEFT_ISA {
#endif
