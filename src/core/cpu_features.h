// Which vector instructions to use, decided once: the best of the machine, or less by the environment
// variable WEFT_CPU=generic|avx2|avx2_dots|avx512 (tests of the lower paths set it).
#pragma once

namespace weft_engine::core {

enum class CpuLevel { kGeneric = 0, kAvx2 = 1, kAvx512 = 2 };

CpuLevel cpu_level();
// Dot products of bytes at that level (AVX-VNNI, AVX512-VNNI); not with WEFT_CPU=generic, avx2 or avx512, which name a level alone.
bool cpu_has_dots();
const char* cpu_level_name(CpuLevel level);

}  // namespace weft_engine::core
