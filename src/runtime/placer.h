// Placer: gives every node of a body its device: explicit names, colocation groups ("_class": "loc:@x"),
// nodes that use a resource go where it lives, reference edges stay together, soft placement.
#pragma once

#include <string>
#include <vector>

#include "core/device.h"
#include "graph/function_body.h"

namespace weft_engine::op {
class Registry;
}

namespace weft_engine::runtime {

struct PlaceOptions {
  const core::DeviceSet* devices = nullptr;
  const op::Registry* registry = nullptr;       // which kernels there are; null: every device has all
  bool by_priority = false;                     // nodes that name no device go to the first kind that has a kernel (core/own_memory.h)
  core::Device* default_device = nullptr;
  bool allow_soft_placement = true;
  bool log = false;                             // "MatMul: (MatMul): /job:localhost/replica:0/task:0/device:CPU:0", as TensorFlow
  std::vector<core::Device*> arg_devices;       // where resource arguments live; null: anywhere
  std::vector<std::string> output_devices;
};

// Fills Node::assigned_device. InvalidArgument in TensorFlow's words where a request cannot be met.
core::Status place(graph::FunctionBody& body, const PlaceOptions& options);
// Is everything on one device? Then that device; else null.
core::Device* single_device(const graph::FunctionBody& body, const core::DeviceSet& devices);
// The one device with memory of its own among those of a placed body, if nobody asked for another: what is on the host is there for lack of a kernel, which compiled code does
// not need. Else null.
core::Device* device_to_compile_for(const graph::FunctionBody& body, const core::DeviceSet& devices);

// Whether a call, a branch or a loop is on several tasks: by what its functions ask for, or by the resources that they use.
bool on_several_tasks(const graph::Graph& g, const graph::Node& n);

}  // namespace weft_engine::runtime
