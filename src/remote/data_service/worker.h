// DataWorker: walks the parts of datasets that a dispatcher gives it, and answers whoever asks for elements (WorkerService of the tf.data service).
#pragma once

#include <set>

#include "remote/data_service/calls.h"
#include "remote/data_service/snapshot_writer.h"
#include "remote/data_service/task_runner.h"
#include "remote/method_table.h"

namespace weft_engine::remote::data_service {

class Datasets;

// TensorFlow's message of that name; 0 is its default.
struct WorkerConfig {
  int port = 0;
  std::string dispatcher_address, worker_address = "localhost:%port%";  // %port%: the one that it listens on
  int64_t heartbeat_interval_ms = 0, dispatcher_timeout_ms = 0, cross_trainer_cache_size_bytes = 0, snapshot_max_chunk_size_bytes = 0;
  std::string data_transfer_protocol;
  std::vector<std::string> worker_tags;
};

class DataWorker : public std::enable_shared_from_this<DataWorker> {
 public:
  DataWorker(WorkerConfig config, std::shared_ptr<Datasets> datasets) : config_(std::move(config)), datasets_(std::move(datasets)) {}
  void add_methods(MethodTable& methods);
  // Tells the dispatcher of itself, waiting for it as long as the configuration says; `port` is where it listens.
  Status start(int port);
  void stop();
  int num_tasks();
  std::vector<SnapshotProgress> snapshot_progress();
  const std::string& address() const { return address_; }

  Result<GetElementResult> get_element(const GetElementRequest& request);
  // The worker of this process with that address; null if there is none.
  static std::shared_ptr<DataWorker> find_local(const std::string& address);

 private:
  struct Task {
    TaskDef def;
    std::mutex mutex;
    std::shared_ptr<TaskRunner> runner;  // made when an element is first asked for
    bool cancelled = false;
  };
  Result<Message> process_task(std::string_view request);
  Result<Message> get_worker_tasks();
  Result<Message> get_snapshot_progress();
  Status add_task(TaskDef def);
  void delete_task(int64_t id);
  Result<std::shared_ptr<TaskRunner>> runner_of(Task& task);
  Status heartbeat(bool first);
  void report_completed();
  void start_snapshots(const std::vector<std::string>& tasks);

  const WorkerConfig config_;
  const std::shared_ptr<Datasets> datasets_;
  const std::shared_ptr<Stop> stop_ = std::make_shared<Stop>();
  std::string address_;
  std::shared_ptr<Peer> dispatcher_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool registered_ = false, stopped_ = false;
  std::map<int64_t, std::shared_ptr<Task>> tasks_;
  std::set<int64_t> finished_, completed_to_report_;
  std::map<std::pair<std::string, int64_t>, std::shared_ptr<SnapshotWriter>> snapshots_;  // by path and stream
};

}  // namespace weft_engine::remote::data_service
