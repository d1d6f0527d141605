// Connections to the tasks of a cluster, made when first used, and the tensors that tasks ask each other for.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "op/cancellation.h"
#include "op/rendezvous.h"
#include "remote/messages.h"

namespace weft_engine::remote {

// A number of the system's entropy; never 0.
uint64_t random_id();

// "/job:worker/replica:0/task:1" of a device's name; empty if the name does not say it.
std::string task_of(std::string_view device);
std::string task_name(std::string_view job, int task);
// The device under the name of this task, whatever cluster its server was started in. False: one of the names is not one.
bool rename_device(DeviceAttributes& device, const std::string& task);

// A server of this process whose address in the cluster leaves the port open ("localhost:0"): others of the process find it by its cluster and task.
// Port 0: it is gone.
void publish_task(const ClusterMap& cluster, const std::string& task, int port);

class Connections {
 public:
  Connections(const TransportApi& transport, ClusterMap cluster) : transport_(transport), cluster_(std::move(cluster)) {}
  // NotFound for a task that the cluster does not have.
  Result<std::shared_ptr<Channel>> to(const std::string& task);
  // Other addresses; connections to tasks whose address stays are kept.
  void update(ClusterMap cluster);

  // The task was started again: the next one to ask connects anew, instead of waiting until the old connection is tried again.
  void forget(const std::string& task);

  // Asks the task for what was sent under the key in that step. Null where nothing was asked.
  std::shared_ptr<ClientCall> recv_tensor(const std::string& task, int64_t step_id, std::string_view key, op::Rendezvous::Done done);

 private:
  const TransportApi& transport_;
  std::mutex mutex_;
  ClusterMap cluster_;
  std::map<std::string, std::pair<std::string, std::shared_ptr<Channel>>> channels_;  // task -> address and channel
};

// The rendezvous of one step in one task: what comes from another task is asked for there.
class TaskRendezvous final : public op::Rendezvous, public std::enable_shared_from_this<TaskRendezvous> {
 public:
  TaskRendezvous(int64_t step_id, std::string task, std::shared_ptr<Connections> connections)
      : step_id_(step_id), task_(std::move(task)), connections_(std::move(connections)), local_(op::make_local_rendezvous()) {}

  int64_t step_id() const { return step_id_; }
  // Those of the context or session that runs the step, where somebody asked for a tensor of it before. `task`: what that calls this task; empty: as before.
  void use(std::shared_ptr<Connections> connections, const std::string& task) {
    std::lock_guard lock(mutex_);
    connections_ = std::move(connections);
    if (!task.empty()) task_ = task;
  }
  Status send(std::string_view key, Tensor value, bool dead) override { return local_->send(key, std::move(value), dead); }
  void recv_async(std::string_view key, Done done) override;
  // Ends what runs in the step here, too.
  void abort(Status status) override;
  // For those who ask from outside: only what this task sends.
  void recv_local(std::string_view key, Done done, const void* ticket = nullptr) { local_->recv_async(key, ticket, std::move(done)); }
  bool give_up(std::string_view key, const void* ticket) override { return local_->give_up(key, ticket); }
  bool empty() override { return local_->empty(); }
  // What is to be done when the step is over, by whoever started it.
  void when_ended(std::function<void()> then) {
    std::lock_guard lock(mutex_);
    at_end_.push_back(std::move(then));
  }
  void end();
  // Of what runs in the step.
  op::CancellationManager& cancellation() { return cancellation_; }

 private:
  // One question to another task: its answer, or the step's end.
  struct Asked {
    std::mutex mutex;
    Done done;
    std::shared_ptr<ClientCall> call;
    void end(Status s, Tensor value, bool dead);
  };
  const int64_t step_id_;
  std::string task_;
  std::shared_ptr<Connections> connections_;
  const std::shared_ptr<op::Rendezvous> local_;
  op::CancellationManager cancellation_;
  std::mutex mutex_;
  Status aborted_;
  std::set<std::shared_ptr<Asked>> asked_;
  std::vector<std::function<void()>> at_end_;
};

}  // namespace weft_engine::remote
