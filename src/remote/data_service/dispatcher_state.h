// DispatcherState: what a dispatcher knows. It changes only by updates (TensorFlow's message Update), so that the journal of them makes the same state again.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "remote/data_service/messages.h"

namespace weft_engine::remote::data_service {

// Which part of a dataset is whose, by the list of workers in the dispatcher's configuration: "host", "host:port" or "host:%port%" stand for the first worker of that
// host that comes.
class WorkerIndexResolver {
 public:
  explicit WorkerIndexResolver(std::vector<std::string> addresses) : addresses_(std::move(addresses)) {}
  // OK where there is no list.
  Status validate(const std::string& worker) const;
  void add(const std::string& worker);
  Result<int64_t> index_of(const std::string& worker) const;
  int64_t size() const { return int64_t(addresses_.size()); }

 private:
  std::vector<std::string> addresses_;
};

class DispatcherState {
 public:
  struct Dataset {
    std::string id, metadata;  // metadata: a DataServiceMetadata
  };
  struct Worker {
    std::string address;
    std::vector<std::string> tags, transfer_servers;
    int64_t uid = -1;
  };
  struct Job {
    int64_t id = 0;
    std::string name, dataset_id;
    int mode = 0, target_workers = 0;
    std::optional<int64_t> num_consumers;
    bool use_cross_trainer_cache = false;
  };
  struct Task;
  struct PendingTask {
    std::shared_ptr<Task> task;
    int64_t target_round = 0;
    int failures = 0;
    std::set<int64_t> ready_consumers;
  };
  struct Iteration {
    int64_t id = 0, repetition = 0;
    std::shared_ptr<const Job> job;
    std::vector<int64_t> split_repetitions, split_indices;  // of each source; empty where there are no splits
    std::deque<PendingTask> pending_tasks;  // of coordinated reads: begin when all consumers agree on a round
    std::vector<std::shared_ptr<Task>> tasks;
    int64_t num_clients = 0, last_client_released_us = -1;
    bool finished = false, garbage_collected = false;
  };
  struct Task {
    int64_t id = 0, starting_round = 0;
    std::shared_ptr<Iteration> iteration;
    Worker worker;
    bool finished = false;
  };

  explicit DispatcherState(std::vector<std::string> worker_addresses) : indices(std::move(worker_addresses)) {}
  ~DispatcherState();
  DispatcherState(const DispatcherState&) = delete;
  // DataLoss for an update that does not fit: then nothing has changed.
  Status apply(std::string_view update);

  Result<std::shared_ptr<const Dataset>> dataset(const std::string& id) const;
  Result<std::shared_ptr<const Job>> job(int64_t id) const;
  Result<std::shared_ptr<Iteration>> iteration(int64_t id) const;
  Result<std::shared_ptr<Iteration>> iteration_of_client(int64_t client) const;
  std::shared_ptr<Task> task(int64_t id) const;  // null: there is none
  std::shared_ptr<const Job> job_by_name(const std::string& name) const;
  std::shared_ptr<Iteration> iteration_of(int64_t job, int64_t repetition) const;
  const Worker* worker(const std::string& address) const;
  std::string next_dataset_id() const;
  // What there is of everything that requests add.
  int64_t num_entries() const {
    return int64_t(datasets_.size() + workers.size() + jobs_.size() + iterations.size() + tasks_.size() + clients.size() +
                   compression_decided.size() + snapshots.size());
  }

  // Read by the dispatcher; changed by updates alone.
  std::map<std::string, Worker> workers;
  std::map<int64_t, std::shared_ptr<Iteration>> iterations;
  std::map<int64_t, std::shared_ptr<Iteration>> clients;  // iterations by the ids of clients
  std::map<std::string, std::map<int64_t, std::shared_ptr<Task>>> tasks_by_worker;  // not finished
  std::set<std::string> compression_decided, snapshots;
  WorkerIndexResolver indices;
  int64_t next_iteration_id = 2000, next_client_id = 3000, next_task_id = 4000, next_job_id = 5000;

 private:
  Status register_dataset(std::string_view m);
  Status register_worker(std::string_view m);
  Status create_job(std::string_view m);
  Status create_iteration(std::string_view m);
  Status produce_split(std::string_view m);
  Status acquire_client(std::string_view m);
  Status release_client(std::string_view m);
  Status garbage_collect(std::string_view m);
  Status remove_task(std::string_view m);
  Status create_task(std::string_view m, bool pending);
  Status finish_task(std::string_view m);
  Status client_heartbeat(std::string_view m);
  // Takes out what nobody can ask for any more: a finished iteration of a job without a name.
  void forget(const std::shared_ptr<Iteration>& iteration);

  std::map<std::string, std::shared_ptr<const Dataset>> datasets_;
  std::map<int64_t, std::shared_ptr<const Job>> jobs_;
  std::map<std::string, std::shared_ptr<const Job>> jobs_by_name_;
  std::map<std::pair<int64_t, int64_t>, std::shared_ptr<Iteration>> iterations_by_key_;
  std::map<int64_t, std::shared_ptr<Task>> tasks_;
  int64_t next_dataset_id_ = 1000;
};

}  // namespace weft_engine::remote::data_service
