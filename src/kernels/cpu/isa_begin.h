// Include after all other headers: opens namespace weft_engine::kernels::<level> and lets the compiler use that
// level's instructions from here to isa_end.h. No guard: used once per file. Define helpers inside,
// in an unnamed namespace; code from headers above keeps the plain instruction set.
#if defined(WEFT_ISA_AVX512)
#define WEFT_ISA avx512
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi2,f16c,prefer-vector-width=512")
#endif
#elif defined(WEFT_ISA_AVX2)
#define WEFT_ISA avx2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi2,f16c")
#endif
#else
#define WEFT_ISA generic
#endif

namespace weft_engine::kernels::WEFT_ISA {
