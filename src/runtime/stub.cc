// Stands in until the placer, the partitioner and the dataflow executor land.
#include "runtime/partition.h"
#include "runtime/placer.h"
#include "runtime/rendezvous.h"

namespace weft::runtime {

Result<std::unique_ptr<Executable>> plan_partitioned(const graph::FunctionBody& body, const core::DeviceSet&, const PlanContext&) {
  return unimplemented("function ", body.name, " names several devices");
}
core::Status place(graph::FunctionBody&, const PlaceOptions&) { return {}; }
core::Device* single_device(const graph::FunctionBody&, const core::DeviceSet& devices) { return devices.host(); }

}  // namespace weft::runtime
