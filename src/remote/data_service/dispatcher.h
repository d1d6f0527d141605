// Dispatcher: knows the datasets, workers, jobs and clients of a tf.data service (DispatcherService, version 9 of TensorFlow's protocol). A job is a dataset with a way to
// cut it, an iteration one walk over it by all workers, a task the part of one worker in it.
#pragma once

#include "remote/data_service/calls.h"
#include "remote/data_service/dispatcher_state.h"
#include "remote/data_service/journal.h"
#include "remote/data_service/snapshot_manager.h"
#include "remote/method_table.h"

namespace weft_engine::remote::data_service {

class Datasets;

// TensorFlow's message of that name; 0 is its default.
struct DispatcherConfig {
  std::string host = "127.0.0.1";  // where it listens
  int port = 0;
  std::string work_dir;
  bool fault_tolerant_mode = false;
  std::vector<std::string> worker_addresses;
  int64_t job_gc_check_interval_ms = 0, job_gc_timeout_ms = 0, client_timeout_ms = 0, worker_timeout_ms = 0;
  bool gc_dynamic_sharding_jobs = false;
  int64_t worker_max_concurrent_snapshots = 0;
  int64_t max_entries =
      0;  // datasets, workers, jobs, iterations, tasks and clients together; 0: as WEFT_DATA_SERVICE_MAX_ENTRIES says, or else 250,000
};

class Dispatcher : public std::enable_shared_from_this<Dispatcher> {
 public:
  Dispatcher(DispatcherConfig config, std::shared_ptr<Datasets> datasets);
  // Reads the journal, if there is one, and begins to look for clients that are gone.
  Status start();
  void stop();
  void add_methods(MethodTable& methods);
  int num_workers();
  Result<std::vector<std::pair<int64_t, int>>> snapshot_streams(const std::string& path);  // index and state

 private:
  using State = DispatcherState;
  using Clock = std::chrono::steady_clock;
  // The service's methods.
  Result<Message> worker_heartbeat(std::string_view request);
  Result<Message> worker_update(std::string_view request);
  Result<Message> get_dataset_def(std::string_view request);
  Result<Message> register_dataset(std::string_view request);
  Result<Message> get_metadata(std::string_view request);
  Result<Message> disable_compression(std::string_view request);
  Result<Message> get_workers(std::string_view request);
  Result<Message> get_split(std::string_view request);
  Result<Message> get_or_create_job(std::string_view request);
  Result<Message> get_or_create_iteration(std::string_view request);
  Result<Message> maybe_remove_task(std::string_view request);
  Result<Message> release_client(std::string_view request);
  Result<Message> client_heartbeat(std::string_view request);
  Result<Message> snapshot(std::string_view request);
  Result<Message> get_snapshot_split(std::string_view request);
  Result<Message> get_snapshot_streams(std::string_view request);

  // With the lock held. ResourceExhausted for one entry more than the limit.
  Status apply(int kind, const ProtoWriter& update);
  Result<std::string> graph_of(const std::string& dataset_id);
  Result<op::Splits> make_splits(const std::string& dataset_id);
  Result<TaskDef> task_def(const State::Task& task);
  Status create_task(State::Iteration& iteration, const State::Worker& worker, bool pending);
  std::string dataset_file(const std::string& id) const;

  Status assign(const std::vector<std::pair<std::string, TaskDef>>& tasks);
  void collect_garbage();

  // Consumers of a coordinated read that want a task removed, all in the same round.
  struct Removal {
    int64_t round = -1;
    std::set<int64_t> consumers;
    bool removed = false;
  };

  const DispatcherConfig config_;
  const std::shared_ptr<Datasets> datasets_;
  const std::shared_ptr<Stop> stop_ = std::make_shared<Stop>();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool started_ = false;
  State state_;
  std::unique_ptr<JournalWriter> journal_;
  std::map<std::string, std::string> graphs_;  // of datasets, where there is no work_dir
  std::map<int64_t, op::Splits> splits_;  // by iteration
  std::map<int64_t, int64_t> rounds_;  // that clients are in
  std::map<int64_t, Clock::time_point> heartbeats_;  // of clients that began to read
  std::map<int64_t, Removal> removals_;  // by task
  std::map<std::string, std::shared_ptr<Peer>> workers_;
  std::map<std::string, std::shared_ptr<SnapshotManager>> snapshots_;
};

}  // namespace weft_engine::remote::data_service
