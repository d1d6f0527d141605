// The kernel of an op that one of NVIDIA's libraries knows how to do: the library where it is there and takes the call, else the generated kernel.
#pragma once

#include <memory>

#include "op/on_gpu.h"
#include "op/registry.h"

namespace weft_engine::cuda {

std::unique_ptr<op::Kernel> make_library_kernel(const op::LibraryCall& call, const op::NodeInfo& node, std::unique_ptr<op::Kernel> generated);

}  // namespace weft_engine::cuda
