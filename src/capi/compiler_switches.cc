// The switches of TensorFlow's just-in-time compiler. They hold what they are set to and start as
// TensorFlow's; there is no such compiler here, and results do not depend on it.
#include <atomic>
#include <string_view>

#include "capi/internal.h"
#include "tensorflow/c/c_api_experimental.h"

namespace {

struct Switches {
  std::atomic<bool> lazy{true}, cpu_global_jit{false}, auto_jit{false}, no_constant_folding{false};
  std::atomic<int> min_cluster_size{4};
};

Switches& switches() {
  static Switches s;
  return s;
}

}  // namespace

void TF_EnableXLACompilation(TF_SessionOptions*, unsigned char) {}

unsigned char TF_SetXlaEnableLazyCompilation(unsigned char enable) { return switches().lazy.exchange(enable != 0); }
unsigned char TF_SetTfXlaCpuGlobalJit(unsigned char enable) { return switches().cpu_global_jit.exchange(enable != 0); }

void TF_SetXlaAutoJitMode(const char* mode) {
  if (!mode) return;
  const std::string_view m = mode;
  if (m == "0" || m == "-1") switches().auto_jit = false;
  else if (m == "1" || m == "2" || m == "fusible") switches().auto_jit = true;
}

unsigned char TF_GetXlaAutoJitEnabled() { return switches().auto_jit; }
void TF_SetXlaMinClusterSize(int size) { switches().min_cluster_size = size; }
unsigned char TF_GetXlaConstantFoldingDisabled() { return switches().no_constant_folding; }
void TF_SetXlaConstantFoldingDisabled(unsigned char should_enable) { switches().no_constant_folding = should_enable != 0; }
