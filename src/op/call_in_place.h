// The seam for kernels that call functions and need not have the results in host memory: they stay where they were made, on a GPU for one, so that
// nothing waits for them. Set by runtime/.
#pragma once

#include <atomic>
#include <span>

#include "op/function_caller.h"

namespace weft_engine::op {

// As FunctionHandle::run.
using CallInPlace = core::Status (*)(FunctionHandle& f, const KernelEnv& env, std::span<core::Tensor> args, std::span<core::Tensor> rets);
inline std::atomic<CallInPlace> call_in_place{nullptr};

// On a node that calls a function, made by the runtime: all that read the results take them from anywhere.
inline constexpr char kResultsInPlace[] = "_WeftResultsInPlace";

}  // namespace weft_engine::op
