#include "core/cpu_features.h"

#include "core/bfloat_features.h"

#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace weft_engine::core {
namespace {

struct Features {
  CpuLevel level = CpuLevel::kGeneric;
  bool dots = false, bfloat_dots = false, bfloat_tiles = false;
};

#if defined(__x86_64__)
// The system saves tiles between threads' turns, and gives them to this process, which has to ask once.
bool tiles_granted() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low >> 17 & 3) == 3 && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
#endif

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
  Features found{.level = best};
#if defined(__x86_64__)
  const bool level_alone = asks("generic") || asks("avx2") || asks("avx512");
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (best == CpuLevel::kAvx512) {
    found.dots = !level_alone && __builtin_cpu_supports("avx512vnni");
    // AVX512-BF16 is bit 5 of EAX in leaf 7, part 1; AMX-BF16 and AMX-TILE are bits 22 and 24 of EDX in part 0.
    found.bfloat_dots = !level_alone && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 5 & 1);
    found.bfloat_tiles = found.bfloat_dots && !asks("avx512_dots") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 22 & 5) == 5;
  }
  // AVX-VNNI is bit 4 of EAX in leaf 7, part 1; compilers learnt its name late.
  else if (best == CpuLevel::kAvx2)
    found.dots = !level_alone && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
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
bool cpu_has_bfloat_dots() { return features().bfloat_dots; }
bool cpu_has_bfloat_tiles() {
#if defined(__x86_64__)
  // Asked when somebody wants them: signal stacks of a process that was granted them have to be larger.
  static const bool granted = features().bfloat_tiles && tiles_granted();
  return granted;
#else
  return false;
#endif
}

const char* cpu_level_name(CpuLevel level) {
  switch (level) {
    case CpuLevel::kAvx512: return "avx512";
    case CpuLevel::kAvx2: return "avx2";
    default: return "generic";
  }
}

}  // namespace weft_engine::core
