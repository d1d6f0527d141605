// Servers of the tf.data service in this process, for front ends: made, started, waited for, stopped. Front ends are in another library (remote/library.h), and so call
// virtual functions.
#pragma once

#include "op/registry.h"
#include "remote/data_service/dispatcher.h"
#include "remote/data_service/worker.h"

namespace weft_engine::remote::data_service {

// What the two have in common: a port that is taken when the server starts.
class DataServer {
 public:
  virtual ~DataServer();
  DataServer() = default;
  DataServer(const DataServer&) = delete;
  virtual Status start();
  // Waits until the server is stopped.
  virtual Status join();
  virtual void stop();
  virtual int port();  // 0 before the start

 protected:
  virtual Status begin(int port) = 0;  // after the port is taken
  virtual void end() = 0;
  std::string host_ = "127.0.0.1";
  int wanted_port_ = 0;
  MethodTable methods_;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Listener> listener_;
  int port_ = 0;
  bool stopped_ = false;
};

class DispatchServer : public DataServer {
 public:
  DispatchServer(op::Registry& registry, DispatcherConfig config);
  ~DispatchServer() override;
  Dispatcher& dispatcher() { return *dispatcher_; }
  virtual int num_workers();
  virtual Result<std::vector<std::pair<int64_t, int>>> snapshot_streams(const std::string& path);

 private:
  Status begin(int port) override;
  void end() override;
  const std::shared_ptr<Dispatcher> dispatcher_;
};

class WorkerServer : public DataServer {
 public:
  // Listens on loopback where the worker's own address is there, and else on all addresses of the machine.
  WorkerServer(op::Registry& registry, WorkerConfig config);
  ~WorkerServer() override;
  DataWorker& worker() { return *worker_; }
  virtual int num_tasks();
  virtual std::vector<SnapshotProgress> snapshot_progress();

 private:
  Status begin(int port) override;
  void end() override;
  const std::shared_ptr<DataWorker> worker_;
};

}  // namespace weft_engine::remote::data_service
