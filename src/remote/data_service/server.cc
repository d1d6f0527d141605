#include "remote/data_service/server.h"

#include "core/log.h"
#include "core/threads.h"
#include "remote/data_service/datasets.h"

namespace weft_engine::remote::data_service {

DataServer::~DataServer() = default;

Status DataServer::start() {
  {
    std::lock_guard lock(mutex_);
    if (listener_) return {};
    WEFT_ASSIGN(const TransportApi* api, transport());
    if (host_ != "127.0.0.1")
      log(LogLevel::kWarning,
          "a server of the tf.data service listens on all addresses of this machine, without encryption: whoever reaches it can run ops here");
    WEFT_ASSIGN(listener_, api->listen(host_, wanted_port_, methods_));
    port_ = listener_->port();
  }
  // Without the lock: a worker may wait here for its dispatcher, and be stopped meanwhile.
  Status s = begin(port_);
  if (!s.ok()) stop();
  return s;
}

Status DataServer::join() {
  std::unique_lock lock(mutex_);
  if (!wait_for_others(lock, changed_, [&] { return stopped_; })) return cancelled("the process ends");
  return {};
}

void DataServer::stop() {
  std::unique_ptr<Listener> listener;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    listener = std::move(listener_);
  }
  end();
  if (listener) listener->stop();
  changed_.notify_all();
}

int DataServer::port() {
  std::lock_guard lock(mutex_);
  return port_;
}

DispatchServer::DispatchServer(op::Registry& registry, DispatcherConfig config)
    : dispatcher_(std::make_shared<Dispatcher>(config, std::make_shared<Datasets>(registry))) {
  host_ = config.host;
  wanted_port_ = config.port;
  dispatcher_->add_methods(methods_);
}

DispatchServer::~DispatchServer() { stop(); }
Status DispatchServer::begin(int) { return dispatcher_->start(); }
void DispatchServer::end() { dispatcher_->stop(); }
int DispatchServer::num_workers() { return dispatcher_->num_workers(); }
Result<std::vector<std::pair<int64_t, int>>> DispatchServer::snapshot_streams(const std::string& path) { return dispatcher_->snapshot_streams(path); }

WorkerServer::WorkerServer(op::Registry& registry, WorkerConfig config)
    : worker_(std::make_shared<DataWorker>(config, std::make_shared<Datasets>(registry))) {
  const std::string host = config.worker_address.substr(0, config.worker_address.rfind(':'));
  const bool local = host.empty() || host == "localhost" || host.starts_with("127.") || host == "[::1]";
  if (!local) host_ = "0.0.0.0";
  wanted_port_ = config.port;
  worker_->add_methods(methods_);
}

WorkerServer::~WorkerServer() { stop(); }
Status WorkerServer::begin(int port) { return worker_->start(port); }
void WorkerServer::end() { worker_->stop(); }
int WorkerServer::num_tasks() { return worker_->num_tasks(); }
std::vector<SnapshotProgress> WorkerServer::snapshot_progress() { return worker_->snapshot_progress(); }

}  // namespace weft_engine::remote::data_service
