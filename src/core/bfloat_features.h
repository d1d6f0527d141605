// Instructions on bfloat16 numbers (cpu_features.h has the levels that all vector code knows).
#pragma once

namespace weft_engine::core {

// Dot products of pairs (AVX512-BF16); and AMX tiles of them, which the system lets this process use. Neither with WEFT_CPU=generic, avx2, avx2_dots or avx512;
// WEFT_CPU=avx512_dots: the first alone.
bool cpu_has_bfloat_dots();
bool cpu_has_bfloat_tiles();

}  // namespace weft_engine::core
