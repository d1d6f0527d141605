// A placed body cut into one part for each device, joined by _Send and _Recv over a rendezvous.
#pragma once

#include <functional>
#include <map>
#include <string_view>

#include "core/device.h"
#include "op/rendezvous.h"
#include "runtime/executable.h"

namespace weft_engine::runtime {

struct Part {
  core::Device* device = nullptr;
  graph::FunctionBody body;
  std::vector<int> args, rets;  // which of the whole's arguments and results the part takes and gives
};

// What a device of another process does with a part; implemented by remote/.
class RemoteTarget {
 public:
  virtual ~RemoteTarget() = default;
  virtual uint64_t incarnation_there() const = 0;  // of the device, as its process knows it
  // The part there. Its arguments may be references (core/remote_tensor.h), its results are.
  virtual Result<std::unique_ptr<Executable>> plan_part(const Part& part) = 0;
  // Where the parts of one call meet, here and there. The tasks forget the call when nobody holds it any more.
  virtual Result<std::shared_ptr<Rendezvous>> start_step() = 0;
  // For the caller's thread, before it waits for parts there until `done`: it may do itself what the transport does else. Returns after a short time at most.
  virtual void before_waiting(const std::function<bool()>& done) = 0;
};

struct PartitionOptions {
  std::string_view edges = "edge";  // how the names of messages begin
  std::function<uint64_t(const core::Device& device)> incarnation = nullptr;  // null: the device's own
};
Result<std::vector<Part>> partition(const graph::FunctionBody& body, const core::DeviceSet& devices, const PartitionOptions& options = {});
// Runs the parts of one call side by side, with a rendezvous of their own; an error in one cancels the others.
Result<std::unique_ptr<Executable>> plan_partitioned(const graph::FunctionBody& body, const core::DeviceSet& devices, const PlanContext& c);
// Whether some of its parts run in other processes: then its arguments may be references, and its results are, where they were computed elsewhere.
bool is_distributed(const Executable& plan);

bool has_references(std::span<const Tensor> tensors);
// Values in place of references; resources stay as they are. The second form does not wait.
Status fetch_all(std::span<Tensor> tensors);
void fetch_all(std::vector<Tensor> tensors, FunctionHandle::Done done);

// The set's devices of other processes stand behind all others.
bool has_remote_devices(const core::DeviceSet& devices);

}  // namespace weft_engine::runtime
