#include "remote/client.h"

#include <chrono>

#include "core/error_notes.h"
#include "core/threads.h"
#include "remote/own_address.h"
#include "remote/settings.h"
#include "remote/task_device.h"
#include "remote/worker.h"
#include "runtime/shared_devices.h"

namespace weft_engine::remote {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kKeepAlive = "/tensorflow.eager.EagerService/KeepAlive";
constexpr std::string_view kCreateContext = "/tensorflow.eager.EagerService/CreateContext";
constexpr std::string_view kUpdateContext = "/tensorflow.eager.EagerService/UpdateContext";
constexpr std::string_view kGetStatus = "/tensorflow.WorkerService/GetStatus";

// How long a task may be silent.
double silence_limit() {
  const char* text = std::getenv("WEFT_CLUSTER_TIMEOUT_SECONDS");
  return text && *text ? std::atof(text) : 30;
}

// Asks the tasks of a cluster, over and over, whether they are there, on a thread of its own.
class Keeper {
 public:
  static Result<std::shared_ptr<Keeper>> start(uint64_t context_id, int64_t keep_alive_seconds) {
    auto keeper = std::make_shared<Keeper>();
    keeper->limit_ = silence_limit();
    keeper->every_ = std::max(0.1, std::min(keeper->limit_ > 0 ? keeper->limit_ / 3 : 1e9, double(std::max<int64_t>(1, keep_alive_seconds)) / 2));
    keeper->context_id_ = context_id;
    keeper->weak_ = keeper;
    WEFT_RETURN_IF_ERROR(start_thread([keeper] { keeper->work(); }));
    return keeper;
  }

  void watch(std::shared_ptr<Task> task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::make_shared<Watched>(Watched{std::move(task), Clock::now(), Clock::now(), false}));
  }
  void forget(const Task* task) {
    std::lock_guard lock(mutex_);
    std::erase_if(tasks_, [&](const auto& w) { return w->task.get() == task; });
  }
  // Returns when the thread does nothing any more.
  void stop() {
    std::unique_lock lock(mutex_);
    stop_ = true;
    changed_.notify_all();
    wait_for_others(lock, changed_, [&] { return ended_; });
  }

 private:
  struct Watched {
    std::shared_ptr<Task> task;
    Clock::time_point heard, asked;
    bool waiting;
  };

  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }

  void work() {
    std::unique_lock lock(mutex_);
    const auto tick = std::chrono::milliseconds(std::clamp(int64_t(every_ * 250), int64_t(25), int64_t(250)));
    while (!changed_.wait_for(lock, tick, [&] { return stop_; })) {
      const auto all = tasks_;
      lock.unlock();
      for (const auto& w : all) look_at(w);
      lock.lock();
    }
    ended_ = true;
    tasks_.clear();
    changed_.notify_all();
  }

  void look_at(const std::shared_ptr<Watched>& w) {
    bool ask = false, silent = false;
    {
      std::lock_guard lock(mutex_);
      const auto now = Clock::now();
      silent = limit_ > 0 && w->waiting && seconds(now - w->heard) > limit_;
      ask = !w->waiting && seconds(now - w->asked) > every_;
      if (ask) {
        w->asked = now;
        w->waiting = true;
      }
      if (silent) w->heard = now;  // told once; whatever is sent from here on has as long again
    }
    if (silent)
      w->task->fail(deadline_exceeded("task ", w->task->name, " has not answered for ", limit_,
                                      " seconds (WEFT_CLUSTER_TIMEOUT_SECONDS): it may have stopped, or cannot be reached")
                        .with_payload(core::kNoteSender, w->task->name)
                        .with_payload(core::kNoteTaskLost, ""));
    w->task->flush();
    if (!ask) return;
    const auto answer = w->task->start(kKeepAlive, Message(encode_ids(1, context_id_)), limit_ > 0 ? limit_ * 2 : 60);
    answer->when_done([this, w, keeper = weak_](const Status& s) {
      const auto alive = keeper.lock();
      if (!alive) return;
      std::lock_guard lock(mutex_);
      w->waiting = false;
      if (s.code() != Code::kDeadlineExceeded) w->heard = Clock::now();
    });
  }

  std::weak_ptr<Keeper> weak_;
  double limit_ = 0, every_ = 1;
  uint64_t context_id_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Watched>> tasks_;
  bool stop_ = false, ended_ = false;
};

// Connections of one context.
class Cluster final : public eager::RemoteTasks, public ClusterSteps, public std::enable_shared_from_this<Cluster> {
 public:
  Cluster(uint64_t id, std::unique_ptr<Worker> worker, std::unique_ptr<Listener> listener, std::shared_ptr<Connections> connections,
          std::shared_ptr<Keeper> keeper)
      : id(id),
        connections(std::move(connections)),
        worker_(std::make_shared<Server>(Server{std::move(worker), std::move(listener)})),
        keeper_(std::move(keeper)) {}
  ~Cluster() override {
    keeper_->stop();
    for (auto& [name, t] : tasks_) t->close(true, view);
    worker_->worker->steps().stop(cancelled("the context has left the cluster"));
  }

  void add(const std::shared_ptr<Task>& task) {
    tasks_[task->name] = task;
    keeper_->watch(task);
  }
  void remove(const std::string& name, bool notify) {
    auto it = tasks_.find(name);
    if (it == tasks_.end()) return;
    keeper_->forget(it->second.get());
    it->second->close(notify, view);
    connections->forget(name);
    tasks_.erase(it);
  }
  const std::map<std::string, std::shared_ptr<Task>>& tasks() const { return tasks_; }

  Status sync() override {
    Status first;
    for (auto& [name, t] : tasks_) {
      Status s = t->sync();
      if (first.ok()) first = std::move(s);
    }
    return first;
  }

  int64_t next_op() override { return next_op_.fetch_add(1); }

  Result<std::shared_ptr<op::Rendezvous>> start_step() override {
    return start_function_step({worker_, &worker_->worker->steps()}, connections);  // tasks ask this one as long as the step runs
  }

  const uint64_t id;
  const std::shared_ptr<Connections> connections;
  uint64_t view = 0;
  ServerDef def;  // with this process's own address

 private:
  struct Server {
    std::unique_ptr<Worker> worker;
    std::unique_ptr<Listener> listener;  // goes first
  };
  const std::shared_ptr<Server> worker_;
  const std::shared_ptr<Keeper> keeper_;
  std::map<std::string, std::shared_ptr<Task>> tasks_;
  std::atomic<int64_t> next_op_{1};
};

// The answer of GetStatus: the task's devices.
Result<std::vector<DeviceAttributes>> devices_of(Task& task, double seconds) {
  auto response = task.call(kGetStatus, Message(), seconds, true);
  if (!response.ok())
    return core::reworded(response.status(), cat("task ", task.name, " of the cluster did not answer: ", response.status().message()))
        .with_payload(core::kNoteTaskLost, "");
  return decode_device_list(1, response->flatten());
}

int port_of(const std::string& address) {
  const size_t colon = address.rfind(':');
  return colon == address.npos ? 0 : std::atoi(address.c_str() + colon + 1);
}

Status check(const ServerDef& def) {
  if (def.protocol != "grpc") return invalid_argument("the cluster's protocol is '", def.protocol, "'; weft speaks grpc");
  const auto job = def.cluster.find(def.job);
  if (job == def.cluster.end() || !job->second.contains(def.task))
    return invalid_argument("task ", def.task, " of job '", def.job, "', this process, is not in the cluster");
  return {};
}

// The host that other tasks reach this process by, for parts of functions that run here. One that has no address of its own (localhost:0) among tasks
// of other machines has that of the way to them.
Result<std::string> own_host(const ClusterMap& cluster, const std::string& address) {
  if (port_of(address) != 0 || !is_loopback(address)) return address.substr(0, address.rfind(':'));
  WEFT_RETURN_IF_ERROR(settings().status());
  const std::string& bind = settings()->bind;
  if (!bind.empty() && bind != "0.0.0.0" && bind != "[::]") return bind;
  for (const auto& [job, tasks] : cluster) {
    for (const auto& [index, where] : tasks) {
      if (is_loopback(where)) continue;
      if (std::string host = address_towards(where.substr(0, where.rfind(':'))); !host.empty()) return host;
    }
  }
  return std::string("localhost");
}

// The client's devices keep their names, whichever task of the cluster it is: others find it under both.
void add_own_name(ServerDef& def, eager::Context& context) {
  const DeviceName& name = context.devices().host()->parsed_name();
  if (*name.job == def.job && *name.task == def.task) return;
  def.cluster[*name.job].try_emplace(*name.task, def.cluster.at(def.job).at(def.task));
}

struct Place {
  std::string job;
  int index;
  std::string address;
  std::string name() const { return task_name(job, index); }
};

// The tasks of the cluster but for this process.
std::vector<Place> other_tasks(const ServerDef& def, eager::Context& context) {
  const std::string self = task_name(def.job, def.task), own_name = task_of(context.devices().host()->name());
  const std::string& own_address = def.cluster.at(def.job).at(def.task);
  std::vector<Place> out;
  for (const auto& [job, tasks] : def.cluster) {
    for (const auto& [index, address] : tasks) {
      Place p{job, index, address};
      if (p.name() != self && (p.name() != own_name || address != own_address)) out.push_back(std::move(p));
    }
  }
  return out;
}

// A task that comes into a cluster.
struct Newcomer {
  std::shared_ptr<Task> task;
  std::string job;
  int index;
  std::vector<DeviceAttributes> devices;
};

Result<Newcomer> ask(Cluster& cluster, const std::string& job, int index, double seconds) {
  const std::string name = task_name(job, index);
  WEFT_ASSIGN(std::shared_ptr<Channel> way, cluster.connections->to(name));
  Newcomer n{std::make_shared<Task>(name, way, cluster.id), job, index, {}};
  WEFT_ASSIGN(n.devices, devices_of(*n.task, seconds));
  constexpr double kLinkSeconds = 5;
  way->prepare(kLinkSeconds);  // before there is a stream, which stays where it began
  // A server may have been started as another task: in this cluster it is the one that the client names.
  for (DeviceAttributes& d : n.devices) {
    if (!rename_device(d, name)) return invalid_argument("task ", name, " has a device of the name '", d.name, "'");
  }
  return n;
}

Result<std::vector<std::unique_ptr<Device>>> join(const std::shared_ptr<Cluster>& cluster, const Newcomer& n, CreateContext request, double seconds) {
  request.server_def = cluster->def;
  request.server_def.job = n.job;
  request.server_def.task = n.index;
  WEFT_RETURN_IF_ERROR(n.task->call(kCreateContext, Message(encode_create_context(request)), seconds, true).status());
  cluster->add(n.task);
  std::vector<std::unique_ptr<Device>> out;
  for (const auto& d : n.devices) {
    WEFT_ASSIGN(DeviceName name, DeviceName::parse(d.name));
    if (!name.complete()) return invalid_argument("task ", n.task->name, " has a device of the name '", d.name, "'");
    out.push_back(std::make_unique<TaskDevice>(std::move(name), d, n.task, cluster));
  }
  return out;
}

// Plans name devices: those that were made for others are made again.
void forget_plans(eager::Context& context) {
  context.clear_kernels();
  context.runtime().forget(context.functions().names(), false);
}

std::vector<DeviceAttributes> own_devices(eager::Context& context) {
  std::vector<DeviceAttributes> out;
  for (const auto& d : context.devices().all()) {
    if (!dynamic_cast<const core::RemoteDevice*>(d.get())) out.push_back(attributes_of(*d));
  }
  return out;
}

}  // namespace

Status connect(eager::Context& context, const ServerDef& given, const ConnectOptions& options) {
  WEFT_RETURN_IF_ERROR(check(given));
  ServerDef def = given;
  WEFT_ASSIGN(const TransportApi* api, transport());
  context.remote_tasks = nullptr;
  runtime::set_remote_devices(&context.devices(), {});
  forget_plans(context);

  const std::string self = task_name(def.job, def.task), own_name = task_of(context.devices().host()->name());
  std::string& address = def.cluster[def.job][def.task];
  auto worker = std::make_unique<Worker>(context.registry(), *api, &context.devices(), own_name, def.cluster);
  WEFT_ASSIGN(const std::string host, own_host(def.cluster, address));
  WEFT_ASSIGN(std::unique_ptr<Listener> listener, listen_as(*api, self, host + ":", port_of(address), worker->service()));
  if (port_of(address) == 0) address = cat(host, ":", listener->port());
  add_own_name(def, context);
  auto connections = std::make_shared<Connections>(*api, def.cluster);
  const uint64_t id = random_id();
  WEFT_ASSIGN(std::shared_ptr<Keeper> keeper, Keeper::start(id, options.keep_alive_seconds));
  worker->eager().serve(context, id, connections);
  auto cluster = std::make_shared<Cluster>(id, std::move(worker), std::move(listener), std::move(connections), std::move(keeper));
  cluster->def = def;

  CreateContext request;
  request.context_id = id;
  request.keep_alive_secs = options.keep_alive_seconds;
  request.devices = own_devices(context);
  std::vector<Newcomer> found;
  for (const Place& p : other_tasks(def, context)) {
    WEFT_ASSIGN(Newcomer n, ask(*cluster, p.job, p.index, options.timeout_seconds));
    for (const auto& d : n.devices) request.devices.push_back(d);
    found.push_back(std::move(n));
  }
  std::vector<std::unique_ptr<Device>> remote;
  for (const Newcomer& n : found) {
    WEFT_ASSIGN(auto devices, join(cluster, n, request, options.timeout_seconds));
    std::move(devices.begin(), devices.end(), std::back_inserter(remote));
  }
  runtime::set_remote_devices(&context.devices(), std::move(remote));
  context.remote_tasks = std::move(cluster);
  return {};
}

Status update(eager::Context& context, const ServerDef& given, const ConnectOptions& options) {
  auto cluster = std::dynamic_pointer_cast<Cluster>(context.remote_tasks);
  if (!cluster) return failed_precondition("the context is in no cluster that could be updated");
  WEFT_RETURN_IF_ERROR(check(given));
  ServerDef def = given;
  const ServerDef before = cluster->def;
  if (def.job != before.job || def.task != before.task)
    return invalid_argument("this process is task ", before.task, " of job '", before.job, "' and cannot become task ", def.task, " of job '",
                            def.job, "'");
  def.cluster[def.job][def.task] = before.cluster.at(before.job).at(before.task);
  add_own_name(def, context);

  // Who stays: at the same address, and with the context. A task says which view of the cluster it has: an update that failed on the way reached some of them.
  std::map<std::string, Place> places;
  std::map<std::string, uint64_t> views;
  std::set<std::string> stay, replaced;
  for (Place& p : other_tasks(def, context)) {
    const std::string name = p.name();
    const auto known = cluster->tasks().find(name);
    const auto old = before.cluster.find(p.job);
    const bool same =
        known != cluster->tasks().end() && old != before.cluster.end() && old->second.contains(p.index) && old->second.at(p.index) == p.address;
    places[name] = std::move(p);
    if (!same) continue;
    const double seconds = options.timeout_seconds > 0 ? std::min(options.timeout_seconds, 10.0) : 10;
    auto there = known->second->call(kKeepAlive, Message(encode_ids(1, cluster->id)), seconds, false);
    (there.ok() ? stay : replaced).insert(name);
    if (there.ok()) views[name] = decode_id(1, there->flatten());
  }
  (void)context.sync_executors();  // errors of what was sent to tasks that are gone
  std::vector<std::string> gone;
  for (const auto& [name, task] : cluster->tasks()) {
    if (!stay.contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) cluster->remove(name, !replaced.contains(name));
  cluster->def = def;
  cluster->connections->update(def.cluster);
  ++cluster->view;

  CreateContext request;
  request.context_id = cluster->id;
  request.view_id = cluster->view;
  request.keep_alive_secs = options.keep_alive_seconds;
  request.devices = own_devices(context);
  for (const auto& d : context.devices().all()) {
    const auto* there = dynamic_cast<const TaskDevice*>(d.get());
    if (there && stay.contains(there->task->name))
      request.devices.push_back({there->name(), there->type(), there->memory_limit(), there->incarnation_there()});
  }
  std::vector<Newcomer> found;
  for (const auto& [name, place] : places) {
    if (stay.contains(name)) continue;
    WEFT_ASSIGN(Newcomer n, ask(*cluster, place.job, place.index, options.timeout_seconds));
    for (const auto& d : n.devices) request.devices.push_back(d);
    found.push_back(std::move(n));
  }
  for (const std::string& name : stay) {
    CreateContext update = request;
    update.view_id = views[name] + 1;
    update.has_server_def = true;
    update.server_def = def;
    update.server_def.job = places[name].job;
    update.server_def.task = places[name].index;
    WEFT_RETURN_IF_ERROR(
        cluster->tasks().at(name)->call(kUpdateContext, Message(encode_create_context(update, true)), options.timeout_seconds, false).status());
  }
  std::vector<std::unique_ptr<Device>> remote;
  for (const Newcomer& n : found) {
    WEFT_ASSIGN(auto devices, join(cluster, n, request, options.timeout_seconds));
    std::move(devices.begin(), devices.end(), std::back_inserter(remote));
  }
  runtime::set_remote_devices(&context.devices(), std::move(remote), [&](const Device& d) {
    const auto* there = dynamic_cast<const TaskDevice*>(&d);
    return there && stay.contains(there->task->name);
  });
  forget_plans(context);
  return {};
}

Result<bool> check_alive(eager::Context& context, const std::string& task) {
  auto cluster = std::dynamic_pointer_cast<Cluster>(context.remote_tasks);
  auto name = DeviceName::parse(task);
  const std::string full = name.ok() && name->job ? task_name(*name->job, name->task.value_or(0)) : task;
  const auto found = cluster ? cluster->tasks().find(full) : std::map<std::string, std::shared_ptr<Task>>::const_iterator();
  if (!cluster || found == cluster->tasks().end()) return invalid_argument("Unable to find worker interface corresponding to task ", task);
  const double limit = silence_limit();
  return found->second->call(kGetStatus, Message(), limit > 0 ? limit : 30, false).ok();
}

Status sync_task(eager::Context& context, std::string_view name) {
  const auto cluster = std::dynamic_pointer_cast<Cluster>(context.remote_tasks);
  const auto found = cluster ? cluster->tasks().find(std::string(name)) : std::map<std::string, std::shared_ptr<Task>>::const_iterator();
  if (!cluster || found == cluster->tasks().end()) return unavailable("the cluster has no task ", name, " now");
  return std::shared_ptr<Task>(found->second)->sync();
}

Status reconnect(eager::Context& context, double timeout_seconds) {
  const auto cluster = std::dynamic_pointer_cast<Cluster>(context.remote_tasks);
  if (!cluster) return failed_precondition("the context is not connected to a cluster");
  const ServerDef def = cluster->def;
  // All must be there before anything is changed.
  for (const Place& p : other_tasks(def, context)) WEFT_RETURN_IF_ERROR(ask(*cluster, p.job, p.index, timeout_seconds).status());
  return update(context, def, {.timeout_seconds = timeout_seconds});
}

}  // namespace weft_engine::remote
