// Devices and settings of the process, and what the engine knows of itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/export.h"

namespace weft {

// The version of the library.
WEFT_API std::string version();

struct DeviceInfo {
  std::string name, type;
  int64_t memory_limit = 0;
};
// The devices of the process.
WEFT_API std::vector<DeviceInfo> devices();

// Loads a library of ops and kernels (docs/custom_ops.md), which stays until the process ends; weft::Call calls its ops. Their names.
WEFT_API std::vector<std::string> load_library(const std::string& path);

// How functions are optimised.
struct OptimizerOptions {
  std::vector<std::string> disabled_passes;  // by name
  bool jit_compile = false;                  // machine code where it can be, the rest in the engine
};

// Settings for the whole process. They hold if made before the first op; later is an Error.
struct Config {
  int cpu_devices = 1;                 // virtual CPU devices
  int intra_threads = 0;               // threads inside one op; 0: one per core
  int inter_threads = 0;               // threads for ops beside each other and for parallel maps of datasets; 0: one per core
  bool soft_placement = true;          // run on another device where the one named does not exist
  bool log_device_placement = false;   // "Executing op MatMul in device ..." on stderr
  OptimizerOptions optimizer;          // of functions
};
// Settings of the process, before its first op.
WEFT_API void configure(const Config& config);
// Whether each op's device is written to stderr.
WEFT_API void set_log_device_placement(bool on);
// Whether an op runs elsewhere where the device that is named does not exist or has no kernel for it.
WEFT_API void set_soft_placement(bool on);
// For functions that are made from here on.
WEFT_API void set_optimizer(const OptimizerOptions& options);

// Ops called on this thread run on the named device while the object lives. Scopes nest.
class WEFT_API DeviceScope {
 public:
  explicit DeviceScope(std::string_view device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  std::string previous_;
};

// The names of all ops, and what is known of one, for people.
WEFT_API std::vector<std::string> op_names();
WEFT_API std::string describe_op(std::string_view name);
// A Markdown table of all ops: kernels by device and their types, gradient, lowering.
WEFT_API std::string op_table();

}  // namespace weft
