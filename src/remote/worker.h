// Worker: what a task of a cluster serves: WorkerService, EagerService and MasterService, on the devices of this process under the task's names.
#pragma once

#include "remote/collective_group.h"
#include "remote/eager_service.h"
#include "remote/master_service.h"
#include "runtime/server.h"

namespace weft_engine::remote {

// Areas of a server put their methods into its table in add_*_methods, each in a file of its own; handlers share what they use with the threads that calls run on.
class Worker final {
 public:
  Worker(op::Registry& registry, const TransportApi& transport, const DeviceSet* devices, std::string task, ClusterMap cluster,
         std::string collective_leader = {});
  ~Worker();

  Service& service() { return methods_; }
  StepTable& steps() { return *steps_; }
  const ClusterMap& cluster() const { return cluster_; }
  const std::shared_ptr<Connections>& connections() { return connections_; }
  const std::shared_ptr<Collectives>& collectives() { return collectives_; }
  EagerService& eager() { return *eager_; }
  // Areas that are there only where they are configured add theirs before the worker serves.
  MethodTable& methods() { return methods_; }
  // Whoever waits here gets the status.
  void stop(const Status& status);

 private:
  void add_worker_methods();

  const DeviceSet* const devices_;
  const std::shared_ptr<Connections> connections_;
  // Shared with the threads that calls run on.
  const std::shared_ptr<StepTable> steps_;
  const std::shared_ptr<Collectives> collectives_;
  const std::shared_ptr<EagerService> eager_;
  const std::shared_ptr<GraphService> graphs_;
  const std::shared_ptr<MasterService> master_;
  const ClusterMap cluster_;
  MethodTable methods_;
};

// CPUs under the names of a task; kept for ever, as those of the process are.
const DeviceSet* task_devices(const std::string& job, int task, int cpus);

// Serves a worker from now on; `address` is the task's own: if it is this machine's loopback, on that alone, else on all addresses, which it says.
Result<std::unique_ptr<runtime::ServerNetwork>> serve(std::unique_ptr<Worker> worker, const std::string& task, const std::string& address, int port);
// The same for a task with devices of its own.
Result<std::unique_ptr<runtime::ServerNetwork>> serve(op::Registry& registry, const runtime::ServerSpec& spec, int port);

}  // namespace weft_engine::remote
