// Servers of the tf.data service in this process, for front ends: made, started, waited for, stopped.
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
  Status start();
  // Waits until the server is stopped.
  Status join();
  void stop();
  int port();  // 0 before the start

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

class DispatchServer final : public DataServer {
 public:
  DispatchServer(op::Registry& registry, DispatcherConfig config);
  ~DispatchServer() override { stop(); }
  Dispatcher& dispatcher() { return *dispatcher_; }

 private:
  Status begin(int port) override;
  void end() override { dispatcher_->stop(); }
  const std::shared_ptr<Dispatcher> dispatcher_;
};

class WorkerServer final : public DataServer {
 public:
  // Listens on loopback where the worker's own address is there, and else on all addresses of the machine.
  WorkerServer(op::Registry& registry, WorkerConfig config);
  ~WorkerServer() override { stop(); }
  DataWorker& worker() { return *worker_; }

 private:
  Status begin(int port) override { return worker_->start(port); }
  void end() override { worker_->stop(); }
  const std::shared_ptr<DataWorker> worker_;
};

}  // namespace weft_engine::remote::data_service
