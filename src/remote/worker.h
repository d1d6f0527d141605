// Worker: what a task of a cluster serves: WorkerService and EagerService, on the devices of this process under the task's names.
#pragma once

#include "remote/eager_service.h"
#include "runtime/server.h"

namespace weft_engine::remote {

class Worker final : public Service {
 public:
  Worker(op::Registry& registry, const TransportApi& transport, const DeviceSet* devices, std::string task, ClusterMap cluster);
  ~Worker() override;

  void call(std::string_view method, Message request, Reply reply) override;
  std::unique_ptr<StreamHandler> stream(std::string_view method, std::shared_ptr<ServerStream> stream) override;
  bool is_stream(std::string_view method) const override;

  StepTable& steps() { return *steps_; }

 private:
  void worker_call(std::string_view method, Message request, Reply reply);
  void recv_tensor(std::string_view bytes, Reply reply);

  const DeviceSet* const devices_;
  const std::shared_ptr<Connections> connections_;
  // Shared with the threads that calls run on.
  const std::shared_ptr<StepTable> steps_;
  const std::shared_ptr<EagerService> eager_;
};

// CPUs under the names of a task; kept for ever, as those of the process are.
const DeviceSet* task_devices(const std::string& job, int task, int cpus);

// Serves the task from now on.
Result<std::unique_ptr<runtime::ServerNetwork>> serve(op::Registry& registry, const runtime::ServerSpec& spec, int port);

}  // namespace weft_engine::remote
