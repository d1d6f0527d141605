// A placed body cut into one part for each device, joined by _Send and _Recv over a rendezvous.
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "core/device.h"
#include "runtime/executable.h"

namespace weft_engine::runtime {

struct Part {
  core::Device* device = nullptr;
  graph::FunctionBody body;
  std::vector<int> args, rets;  // which of the whole's arguments and results the part takes and gives
};

struct PartitionOptions {
  std::string_view edges = "edge";                                           // how the names of messages begin
  std::function<uint64_t(const core::Device& device)> incarnation = nullptr;  // null: the device's own
};
Result<std::vector<Part>> partition(const graph::FunctionBody& body, const core::DeviceSet& devices, const PartitionOptions& options = {});
// Runs the parts of one call side by side, with a rendezvous of their own; an error in one cancels the others.
Result<std::unique_ptr<Executable>> plan_partitioned(const graph::FunctionBody& body, const core::DeviceSet& devices, const PlanContext& c);
// Unimplemented for nodes on a device of another process.
Status runs_here(const graph::FunctionBody& body, const core::Device& device);

}  // namespace weft_engine::runtime
