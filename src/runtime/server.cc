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

class Cluster final : public SharedState {
 public:
  explicit Cluster(std::map<std::string, std::map<int, std::string>> tasks) : tasks_(std::move(tasks)) {}
  ~Cluster() override { resources_.clear(); }  // while the runtimes are there whose functions iterators hold

  ResourceManager& resources() override { return resources_; }
  void keep(std::shared_ptr<void> runtime) override {
    std::lock_guard lock(mutex_);
    runtimes_.push_back(std::move(runtime));
  }

  void add(const ServerSpec& s) {
    std::lock_guard lock(mutex_);
    running_[{s.job, s.task}] = s.cpu_devices;
  }
  void remove(const ServerSpec& s) {
    std::lock_guard lock(mutex_);
    running_.erase({s.job, s.task});
  }

  // The devices as a session on this task sees them: its own first.
  Result<const DeviceSet*> devices(const ServerSpec& master) {
    std::lock_guard lock(mutex_);
    std::vector<std::string> missing;
    for (const auto& [job, tasks] : tasks_) {
      for (const auto& [task, address] : tasks) {
        if (!running_.count({job, task})) missing.push_back(cat("/job:", job, "/replica:0/task:", task, " (", address, ")"));
      }
    }
    if (!missing.empty())
      return unavailable("these tasks of the cluster do not run in this process, and remote ones cannot be reached in this version: ",
                         join(missing, ", "));
    std::vector<std::unique_ptr<Device>> list;
    auto add = [&](const std::string& job, int task, int cpus) {
      for (int i = 0; i < cpus; ++i) list.push_back(make_task_cpu(job, task, i));
    };
    add(master.job, master.task, master.cpu_devices);
    for (const auto& [name, cpus] : running_) {
      if (name.first != master.job || name.second != master.task) add(name.first, name.second, cpus);
    }
    // Kept for ever, as those of the process are: tensors and handles name their device after the session is deleted.
    std::string key;
    for (const auto& d : list) key += d->name() + "\n";
    static auto* sets = new std::map<std::string, std::unique_ptr<DeviceSet>>;
    static std::mutex sets_mutex;
    std::lock_guard sets_lock(sets_mutex);
    auto& set = (*sets)[key];
    if (!set) set = std::make_unique<DeviceSet>(std::move(list));
    return set.get();
  }

 private:
  const std::map<std::string, std::map<int, std::string>> tasks_;
  std::mutex mutex_;
  std::map<std::pair<std::string, int>, int> running_;  // job and task -> CPUs
  std::vector<std::shared_ptr<void>> runtimes_;
  ResourceManager resources_;
};

namespace {

struct Servers {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Server>, std::less<>> by_target;
  std::map<std::map<std::string, std::map<int, std::string>>, std::weak_ptr<Cluster>> clusters;
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
  auto& known = all.clusters[s->spec_.cluster];
  s->cluster_ = known.lock();
  if (!s->cluster_) known = s->cluster_ = std::make_shared<Cluster>(s->spec_.cluster);
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
  cluster_->add(spec_);
  state_ = State::kStarted;
  return {};
}

Status Server::stop() {
  {
    std::lock_guard lock(mutex_);
    if (state_ == State::kStarted) cluster_->remove(spec_);
    state_ = State::kStopped;
    changed_.notify_all();
  }
  if (network_) network_->stop();
  return {};
}

Status Server::join() {
  std::unique_lock lock(mutex_);
  if (state_ == State::kNew) state_ = State::kStopped;
  while (!changed_.wait_for(lock, core::kLookEvery, [&] { return state_ == State::kStopped; })) {
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

Result<SessionPlace> Server::place() {
  {
    std::lock_guard lock(mutex_);
    if (state_ != State::kStarted) return unavailable("the server on ", target_, state_ == State::kNew ? " was not started yet" : " has stopped");
  }
  SessionPlace p;
  WEFT_ASSIGN(p.devices, cluster_->devices(spec_));
  p.shared = cluster_;
  return p;
}

Result<SessionPlace> session_place(std::string_view target) {
  if (target.empty() || target == "local") return SessionPlace{};
  if (!target.starts_with("grpc://"))
    return not_found("No session factory registered for the given session options: {target: \"", target,
                     "\" config: } Registered factories are {DIRECT_SESSION, GRPC_SESSION}.");
  auto server = Server::find(target);
  if (!server) return unavailable("no server of this process listens on '", target, "', and those of others cannot be reached in this version");
  return server->place();
}

}  // namespace weft_engine::runtime
