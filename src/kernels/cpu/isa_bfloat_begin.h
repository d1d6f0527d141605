// isa_begin.h for the instructions on bfloat16 numbers: AVX512-BF16 in namespace avx512_bfloat, with WEFT_ISA_AMX the tiles too, in namespace amx_bfloat. WEFT_ISA_AVX512
// is defined beside it. isa_end.h closes it.
#if defined(WEFT_ISA_AMX)
#define WEFT_ISA amx_bfloat
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16,avx2,fma,bmi2,f16c"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,amx-tile,amx-bf16,avx2,fma,bmi2,f16c,prefer-vector-width=512")
#endif
#else
#define WEFT_ISA avx512_bfloat
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,bmi2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,bmi2,f16c,prefer-vector-width=512")
#endif
#endif

namespace weft_engine::kernels::WEFT_ISA {
