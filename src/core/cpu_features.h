// Which vector instructions to use, decided once: the best of the machine, or less by the environment
// variable WEFT_CPU=generic|avx2|avx512 (tests of the lower paths set it).
#pragma once

namespace weft_engine::core {

enum class CpuLevel { kGeneric = 0, kAvx2 = 1, kAvx512 = 2 };

CpuLevel cpu_level();
const char* cpu_level_name(CpuLevel level);

}  // namespace weft_engine::core
