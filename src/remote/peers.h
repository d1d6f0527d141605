// Peers: the other tasks of a client's cluster as a worker of it sees them. TensorFlow's client gives a function that it calls on a task to that task alone, also where it uses
// resources of others: the task cuts it, and has the others run their parts.
#pragma once

#include "op/held.h"
#include "remote/eager_service.h"
#include "remote/task_device.h"

namespace weft_engine::remote {

class Peers final : public ClusterSteps, public std::enable_shared_from_this<Peers> {
 public:
  // `devices`: of the whole cluster. The context lives longer.
  static Result<std::shared_ptr<Peers>> make(eager::Context& context, uint64_t context_id, const std::string& task,
                                             const std::map<std::string, uint64_t>& devices, std::shared_ptr<Connections> connections,
                                             std::shared_ptr<StepTable> steps);
  ~Peers() override;

  // A value of another task as an argument. It is the client's, and is not freed.
  Result<Tensor> reference(const RemoteTensorHandle& handle) const;
  // Waits; the results are here. `cancellation` ends it.
  Result<std::vector<Tensor>> run(const Operation& call, std::vector<Tensor> args, op::CancellationManager& cancellation);
  // The same for an op that calls functions of its attributes, now or later, as a dataset does: on this task, but for what they do on others.
  Result<std::vector<Tensor>> run_op(const Operation& call, std::vector<Tensor> args, op::CancellationManager& cancellation);
  // Whether a dataset, or another value, may still call functions by it.
  bool held() const { return op::held(*runtime_); }
  // A function is not there any more.
  void forget(const std::string& function) { runtime_->forget({&function, 1}, false); }

  int64_t next_op() override;
  Result<std::shared_ptr<op::Rendezvous>> start_step() override;

 private:
  Peers(eager::Context& context, int64_t op_block, std::shared_ptr<Connections> connections, std::shared_ptr<StepTable> steps);

  eager::Context& context_;
  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<StepTable> steps_;
  const DeviceSet* devices_ = nullptr;  // kept for ever, as all are: values name their device
  std::map<std::string, std::shared_ptr<Task>> tasks_;
  std::unique_ptr<runtime::FunctionLibraryRuntime> runtime_;
  const int64_t op_block_;
  std::atomic<uint64_t> next_op_;  // begins anywhere: one that was started again does not meet what it left
};

}  // namespace weft_engine::remote
