// TaskDevice: a device of another task as a device of its client's context. Ops and parts of functions are sent there; their results stay there.
#pragma once

#include "core/remote_tensor.h"
#include "eager/remote.h"
#include "remote/task.h"
#include "runtime/partition.h"

namespace weft_engine::eager {
class Context;
}

namespace weft_engine::remote {

// What the devices of a cluster share.
class ClusterSteps {
 public:
  virtual ~ClusterSteps() = default;
  virtual int64_t next_op() = 0;
  // The rendezvous of a new step in this process's own server.
  virtual Result<std::shared_ptr<op::Rendezvous>> start_step() = 0;
};

class TaskDevice final : public eager::RemoteDevice, public runtime::RemoteTarget {
 public:
  TaskDevice(DeviceName name, const DeviceAttributes& attributes, std::shared_ptr<Task> task, std::weak_ptr<ClusterSteps> cluster)
      : eager::RemoteDevice(std::move(name), attributes.memory_limit, ""),
        task(std::move(task)),
        incarnation_(attributes.incarnation),
        cluster_(std::move(cluster)) {}

  Status execute(eager::Op& op, const op::NodeInfo& node, eager::TensorHandle** outputs) override;
  uint64_t incarnation_there() const override { return incarnation_; }
  Result<std::unique_ptr<runtime::Executable>> plan_part(const runtime::Part& part) override;
  Result<std::shared_ptr<op::Rendezvous>> start_step() override;
  void before_waiting(const std::function<bool()>& done) override;
  Result<std::shared_ptr<ClusterSteps>> cluster() const;

  const std::shared_ptr<Task> task;

 private:
  const uint64_t incarnation_;
  const std::weak_ptr<ClusterSteps> cluster_;
};

// Output `index` of an op that was sent, or of a part of a function.
class Output final : public eager::RemoteValue, public core::RemoteTensor, public std::enable_shared_from_this<Output> {
 public:
  // `owned`: nobody else lets go of it.
  Output(TaskDevice& device, int64_t op, int index, DType dtype, std::shared_ptr<Answer> answer, bool owned = true)
      : device_(device), op_(op), index_(index), dtype_(dtype), answer_(std::move(answer)), owned_(owned) {}
  // The task frees it after all that was sent before. An output of an op that failed is not there.
  ~Output() override {
    if (owned_ && !answer_->failed()) device_.task->release(handle());
  }
  Result<PartialShape> shape() override;
  void fetch(std::function<void(Result<Tensor>)> done) override;
  void before_waiting(const std::function<bool()>& done) override;

  DType value_type() const override { return dtype_; }
  Device* home() const override { return &device_; }
  void bring(std::function<void(Result<Tensor>)> done) override { fetch(std::move(done)); }

  RemoteTensorHandle handle() const { return {op_, index_, device_.name(), device_.name(), dtype_}; }
  const Task* task() const { return device_.task.get(); }
  const std::shared_ptr<Answer>& answer() const { return answer_; }

 private:
  void ask(std::function<void(Result<Tensor>)> done);
  TaskDevice& device_;  // kept for ever
  const int64_t op_;
  const int index_;
  const DType dtype_;
  const std::shared_ptr<Answer> answer_;
  const bool owned_;
};

}  // namespace weft_engine::remote
