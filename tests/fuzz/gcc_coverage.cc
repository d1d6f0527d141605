// What g++ tells of the code that runs (-fsanitize-coverage=trace-pc), as counters that libFuzzer reads; clang's own instrumentation
// needs none of this. Two neighbours in the order of execution make a counter, so that ways through the code differ.
#include <cstdint>

extern "C" void __sanitizer_cov_8bit_counters_init(uint8_t* begin, uint8_t* end);
extern "C" void __sanitizer_cov_pcs_init(const uintptr_t* begin, const uintptr_t* end);

namespace {

constexpr uint32_t kCounters = 1 << 18;
uint8_t counters[kCounters];
uintptr_t places[2 * kCounters];  // libFuzzer wants an address and flags for each counter; these stand for nothing
thread_local uint32_t before = 0;

struct Tell {
  Tell() {
    for (uint32_t i = 0; i < kCounters; ++i) places[2 * i] = i + 1;
    __sanitizer_cov_8bit_counters_init(counters, counters + kCounters);
    __sanitizer_cov_pcs_init(places, places + 2 * kCounters);
  }
} tell;

}  // namespace

extern "C" __attribute__((no_sanitize_coverage, no_sanitize("address"))) void __sanitizer_cov_trace_pc() {
  uint64_t at = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  at *= 0x9e3779b97f4a7c15u;
  const uint32_t here = uint32_t(at >> 40);
  uint8_t& c = counters[(here ^ before) % kCounters];
  before = here >> 1;
  if (c != 255) ++c;
}
