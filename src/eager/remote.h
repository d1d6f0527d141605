// What the eager engine asks of other processes; implemented by remote/. A remote tensor is a state of TensorHandle, a remote device one of the context's devices.
#pragma once

#include <functional>

#include "core/remote_device.h"
#include "core/tensor.h"

namespace weft_engine::op {
class NodeInfo;
}

namespace weft_engine::eager {

using namespace weft_engine::core;

class Op;
class TensorHandle;

// A value that another process holds, or will hold when its op has run there. Destroying it lets the other process free it.
class RemoteValue {
 public:
  virtual ~RemoteValue() = default;
  // Waits for the op; its error, if it failed.
  virtual Result<PartialShape> shape() = 0;
  // Brings the value here.
  virtual void fetch(std::function<void(Result<Tensor>)> done) = 0;
  // For a thread, before it waits for that until `done`: it may do itself what the transport does else. Returns after a short time at most.
  virtual void before_waiting(const std::function<bool()>& done) = 0;
};

class RemoteDevice : public core::RemoteDevice {
 public:
  using core::RemoteDevice::RemoteDevice;
  // Sends the op there and does not wait: sets all outputs of the node, as owned pointers. An error of the op is that of its outputs.
  virtual Status execute(Op& op, const op::NodeInfo& node, TensorHandle** outputs) = 0;
};

// The other tasks of the cluster that a context is part of.
class RemoteTasks {
 public:
  virtual ~RemoteTasks() = default;
  // Waits for all that was sent; the first error that nobody has seen.
  virtual Status sync() = 0;
};

}  // namespace weft_engine::eager
