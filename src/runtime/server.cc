#include "runtime/server.h"

#include <algorithm>
#include <atomic>
#include <charconv>

#include "core/interrupt.h"
#include "core/own_memory.h"
#include "core/threads.h"

namespace weft_engine::runtime {
namespace {

// A CPU of one task.
class TaskCpu final : public Device {
 public:
  TaskCpu(const std::string& job, int task, int id) : Device(DeviceName{job, 0, task, "CPU", id}, int64_t(256) << 20, "") {}
  bool host_memory() const override { return true; }
  Result<Tensor> allocate(DType dtype, const Shape& shape) override { return Tensor::allocate(dtype, shape); }
  AllocatorStats stats() const override { return host_stats(); }
  void copy_from(Device& source, const Tensor& tensor, CopyDone done) override {
    if (OwnMemoryDevice* there = memory_of(tensor)) return there->copy_to_host(tensor, std::move(done));
    if (source.host_memory()) return done(tensor);
    done(internal_error("device ", source.name(), " must copy to the host by itself"));
  }
  void synchronize(std::function<void(Status)> done) override { done({}); }
};

}  // namespace

std::unique_ptr<Device> make_task_cpu(const std::string& job, int task, int id) { return std::make_unique<TaskCpu>(job, task, id); }

namespace {

struct Servers {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Server>, std::less<>> by_target;
};
Servers& servers() {
  static auto* s = new Servers;
  return *s;
}

}  // namespace

static std::atomic<NetworkMaker> network_maker{nullptr};
void set_network_maker(NetworkMaker maker) { network_maker = maker; }

Status Server::bind() {
  const std::string& address = spec_.cluster.at(spec_.job).at(spec_.task);
  int port = spec_.port;
  const size_t colon = address.rfind(':');
  if (!port && colon != address.npos) std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  const NetworkMaker make = network_maker.load();
  if (!make) return failed_precondition("servers need an Engine");
  WEFT_ASSIGN(network_, make(spec_, port));
  target_ = cat("grpc://localhost:", network_->port());
  return {};
}

namespace {
// The task must be one of the cluster's, with a port.
Status check(const ServerSpec& spec) {
  const auto job = spec.cluster.find(spec.job);
  if (job == spec.cluster.end()) return internal_error("Job \"", spec.job, "\" was not defined in cluster");
  const auto found = job->second.find(spec.task);
  if (found == job->second.end()) return internal_error("Task ", spec.task, " was not defined in job \"", spec.job, "\"");
  if (spec.port == 0) {  // then the address tells it
    const std::string& address = found->second;
    const size_t colon = address.rfind(':');
    int port = -1;
    const char* end = address.data() + address.size();
    if (colon != address.npos && std::from_chars(address.data() + colon + 1, end, port).ptr != end) port = -1;
    if (port < 0 || colon + 1 == address.size()) return invalid_argument("Could not parse port for local server from \"", address, "\".");
  }
  return {};
}
}  // namespace

Result<std::shared_ptr<Server>> Server::make(ServerSpec spec) {
  WEFT_RETURN_IF_ERROR(check(spec));
  std::shared_ptr<Server> s(new Server(std::move(spec)));
  WEFT_RETURN_IF_ERROR(s->bind());
  Servers& all = servers();
  std::lock_guard lock(all.mutex);
  all.by_target[s->target_] = s;
  return s;
}

Server::~Server() {
  (void)stop();
  {
    Servers& all = servers();
    std::lock_guard lock(all.mutex);
    all.by_target.erase(target_);
  }
}

Status Server::start() {
  std::lock_guard lock(mutex_);
  if (state_ == State::kStarted) return {};
  if (state_ == State::kStopped) return failed_precondition("Server has stopped.");
  network_->start();
  state_ = State::kStarted;
  return {};
}

Status Server::stop() {
  {
    std::lock_guard lock(mutex_);
    state_ = State::kStopped;
    changed_.notify_all();
  }
  if (network_) network_->stop();
  return {};
}

Status Server::join() {
  std::unique_lock lock(mutex_);
  if (state_ == State::kNew) state_ = State::kStopped;
  while (!changed_.wait_for(lock, core::kInterruptPollInterval, [&] { return state_ == State::kStopped; })) {
    core::Interrupt* const call = core::Interrupt::current();
    if (!call) continue;
    lock.unlock();
    if (call->look()) return core::interrupted_call();
    lock.lock();
  }
  return {};
}

std::shared_ptr<Server> Server::find(std::string_view target) {
  Servers& all = servers();
  std::lock_guard lock(all.mutex);
  auto it = all.by_target.find(target);
  return it == all.by_target.end() ? nullptr : it->second.lock();
}

Status Server::running() {
  std::lock_guard lock(mutex_);
  if (state_ == State::kStarted) return {};
  return unavailable("the server on ", target_, state_ == State::kNew ? " was not started yet" : " has stopped");
}

Result<std::string> session_target(std::string_view target) {
  if (target.empty() || target == "local") return std::string();
  if (!target.starts_with("grpc://"))
    return not_found("No session factory registered for the given session options: {target: \"", target,
                     "\" config: } Registered factories are {DIRECT_SESSION, GRPC_SESSION}.");
  if (auto server = Server::find(target)) WEFT_RETURN_IF_ERROR(server->running());
  return std::string(target);
}

}  // namespace weft_engine::runtime
