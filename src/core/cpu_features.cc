#include "core/cpu_features.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace weft_engine::core {
namespace {

struct Features {
  CpuLevel level = CpuLevel::kGeneric;
  bool dots = false;
};

Features detect() {
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
  const char* requested = std::getenv("WEFT_CPU");
  const auto asks = [&](const char* name) { return requested && !std::strcmp(requested, name); };
  if (asks("generic")) best = CpuLevel::kGeneric;
  else if ((asks("avx2") || asks("avx2_dots")) && best > CpuLevel::kAvx2) best = CpuLevel::kAvx2;
  Features found{best, false};
#if defined(__x86_64__)
  const bool level_alone = asks("generic") || asks("avx2") || asks("avx512");
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (best == CpuLevel::kAvx512) found.dots = !level_alone && __builtin_cpu_supports("avx512vnni");
  // AVX-VNNI is bit 4 of EAX in leaf 7, part 1; compilers learnt its name late.
  else if (best == CpuLevel::kAvx2) found.dots = !level_alone && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
#endif
  return found;
}

const Features& features() {
  static const Features found = detect();
  return found;
}

}  // namespace

CpuLevel cpu_level() { return features().level; }
bool cpu_has_dots() { return features().dots; }

const char* cpu_level_name(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx512: return "avx512";
    case CpuLevel::kAvx2: return "avx2";
    default: return "generic";
  }
}

}  // namespace weft_engine::core
