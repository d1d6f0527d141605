// Connections to the tasks of a cluster, made when first used, and the tensors that tasks ask each other for.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "op/rendezvous.h"
#include "remote/messages.h"

namespace weft_engine::remote {

// "/job:worker/replica:0/task:1" of a device's name; empty if the name does not say it.
std::string task_of(std::string_view device);
std::string task_name(std::string_view job, int task);

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

  // Asks the task for what was sent under the key in that step.
  void recv_tensor(const std::string& task, int64_t step_id, std::string_view key, op::Rendezvous::Done done);

 private:
  const TransportApi& transport_;
  std::mutex mutex_;
  ClusterMap cluster_;
  std::map<std::string, std::pair<std::string, std::shared_ptr<Channel>>> channels_;  // task -> address and channel
};

// The rendezvous of one step in one task: what comes from another task is asked for there.
class TaskRendezvous final : public op::Rendezvous {
 public:
  TaskRendezvous(int64_t step_id, std::string task, std::shared_ptr<Connections> connections)
      : step_id_(step_id), task_(std::move(task)), connections_(std::move(connections)), local_(op::make_local_rendezvous()) {}

  Status send(std::string_view key, Tensor value, bool dead) override { return local_->send(key, std::move(value), dead); }
  void recv_async(std::string_view key, Done done) override;
  void abort(Status status) override { local_->abort(std::move(status)); }
  // For those who ask from outside: only what this task sends.
  void recv_local(std::string_view key, Done done, const void* ticket = nullptr) { local_->recv_async(key, ticket, std::move(done)); }
  bool give_up(std::string_view key, const void* ticket) override { return local_->give_up(key, ticket); }
  bool empty() override { return local_->empty(); }

 private:
  const int64_t step_id_;
  const std::string task_;
  const std::shared_ptr<Connections> connections_;
  const std::shared_ptr<op::Rendezvous> local_;
};

}  // namespace weft_engine::remote
