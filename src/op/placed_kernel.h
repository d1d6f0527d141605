// Kernels on devices with memory of their own (core/own_memory.h). A kernel says which of its arguments lie in host memory
// (KernelDef::host_memory_args); before it runs, each input is brought to where the kernel expects it. No op knows of this.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "op/registry.h"

namespace weft_engine::op {

// By number: which inputs and outputs of a node lie in host memory. Types that only the host knows always do.
struct HostArgs {
  std::vector<bool> inputs, outputs;
  static HostArgs of(const NodeInfo& node, const std::vector<std::string>& names);
};

// The kernel with its inputs brought in front of it.
std::unique_ptr<Kernel> place_kernel(std::unique_ptr<Kernel> kernel, HostArgs args);

// Has the node a kernel for this kind of device?
bool has_kernel(const Registry& registry, const NodeInfo& node, std::string_view device_type);

// The kernels of an op that hands its inputs on, or tells of them without reading them, serve every device (TensorFlow's DEVICE_DEFAULT). What they
// make themselves is in host memory.
void any_device(Registry& registry, std::string_view op, std::vector<std::string> host_args = {});

// Such an op with a variant among its arguments: it puts tensors into one or takes them out, wherever they lie. In graphs it is on the host, as what reads
// the variant is.
bool wraps_tensors(const OpSpec& spec);

}  // namespace weft_engine::op
