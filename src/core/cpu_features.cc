#include "core/cpu_features.h"

#include <cstdlib>
#include <cstring>

namespace weft_engine::core {
namespace {

CpuLevel detect() {
  CpuLevel best = CpuLevel::kGeneric;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    best = CpuLevel::kAvx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      best = CpuLevel::kAvx512;
  }
#endif
  if (const char* requested = std::getenv("WEFT_CPU")) {
    CpuLevel limit = best;
    if (!std::strcmp(requested, "generic")) limit = CpuLevel::kGeneric;
    else if (!std::strcmp(requested, "avx2")) limit = CpuLevel::kAvx2;
    if (limit < best) best = limit;
  }
  return best;
}

}  // namespace

CpuLevel cpu_level() {
  static const CpuLevel level = detect();
  return level;
}

const char* cpu_level_name(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx512: return "avx512";
    case CpuLevel::kAvx2: return "avx2";
    default: return "generic";
  }
}

}  // namespace weft_engine::core
