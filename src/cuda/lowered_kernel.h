// The kernel on GPUs of an op with a lowering rule: the op as a body of one node, compiled. What cannot be compiled for some inputs runs on the host, by the op's
// kernel for CPUs, which also says what is wrong with inputs.
#pragma once

#include "op/registry.h"

namespace weft_engine::cuda {

// A text that stays for as long as the process lives, for AllocatingFor.
const char* kept(std::string_view text);

// `host`: which inputs lie in host memory; their values are part of the code.
core::Result<std::unique_ptr<op::Kernel>> make_lowered_kernel(const op::Registry& registry, const op::NodeInfo& node,
                                                              const std::vector<std::string>& host);

// Runs the op's kernel for CPUs: inputs (and variables) are brought to the host, outputs to the device unless `host_outputs`.
core::Result<std::unique_ptr<op::Kernel>> make_host_kernel(const op::Registry& registry, const op::NodeInfo& node, bool host_outputs);

}  // namespace weft_engine::cuda
