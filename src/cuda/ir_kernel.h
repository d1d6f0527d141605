// A few instructions of IR as code on a GPU: what the calls of a library need in front of them and behind (transposes, scaling, checks of what it says).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cuda/gpu.h"
#include "ir/builder.h"

namespace weft_engine::cuda {

struct IrArgument {
  core::DType dtype = core::DType::kInvalid;
  std::vector<int64_t> dims;
  DevicePtr at = 0;
  int like = -1;  // its dimensions are the first ones of this argument, which comes before it
};
using BuildIr = std::function<std::vector<ir::Value>(ir::Builder&, const std::vector<ir::Value>&)>;

// Queues what `build` makes of the arguments; its results go to `results`, in order, for which the caller has memory. Compiled once for each `name` (which says all that build
// depends on) and each kind of arguments, for all sizes but 0 and 1, and kept. A result may lie where an argument does, if its elements depend on that argument's at the same
// place alone.
core::Status run_ir(Gpu& gpu, const std::string& name, std::span<const IrArgument> arguments, std::span<const DevicePtr> results,
                    const BuildIr& build);

}  // namespace weft_engine::cuda
