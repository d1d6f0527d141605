#include "runtime/session.h"

#include "op/session_state.h"
#include "op/step_resources.h"
#include "runtime/interruptible.h"
#include "runtime/server.h"
#include "runtime/shared_devices.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/remote_device.h"
#include "core/own_memory.h"
#include "core/threads.h"

namespace weft_engine::runtime {

using graph::Endpoint;
using graph::FunctionBody;
using graph::Node;

namespace {
constexpr size_t kMostPlans = 256;  // for different feeds and fetches
}

std::shared_ptr<ThreadPool> shared_pool(int threads, bool inter) {
  static std::mutex mutex;
  static auto* pools = new std::map<std::pair<int, bool>, std::shared_ptr<ThreadPool>>();
  if (threads <= 0) threads = core::default_threads(inter);
  threads = std::min(threads, 1024);
  std::lock_guard lock(mutex);
  auto& p = (*pools)[{threads, inter}];
  if (!p) p = std::make_shared<ThreadPool>(threads);
  return p;
}

namespace {

struct SharedDevices {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::unique_ptr<DeviceSet>> sets;  // by CPUs and kinds of devices, which may come while the process runs
  std::vector<std::unique_ptr<DeviceSet>> grown;  // by add_cpus() and set_remote_devices()
  std::vector<std::unique_ptr<Device>> left;      // remote devices of earlier clusters: handles name them
  // The devices of a set that belongs to one user from now on.
  std::vector<std::unique_ptr<Device>>* own(const DeviceSet* set) {
    for (auto& [size, owned] : sets) {
      if (owned.get() == set) grown.push_back(std::exchange(owned, nullptr));
    }
    for (const auto& owned : grown) {
      if (owned.get() == set) return const_cast<std::vector<std::unique_ptr<Device>>*>(&owned->all());  // sets are constant for all but their owner
    }
    return nullptr;
  }
};
SharedDevices& shared_devices() {
  static auto* shared = new SharedDevices;
  return *shared;
}

}  // namespace

const DeviceSet* shared_cpus(int count) {
  SharedDevices& shared = shared_devices();
  std::lock_guard lock(shared.mutex);
  auto& set = shared.sets[{count, core::num_device_types()}];
  if (!set) set = core::process_devices(count);
  return set.get();
}

void add_cpus(const DeviceSet* set, int count) {
  SharedDevices& shared = shared_devices();
  std::lock_guard lock(shared.mutex);
  auto* devices = shared.own(set);
  if (!devices) return;
  const auto cpus = std::count_if(devices->begin(), devices->end(), [](const auto& d) { return d->type() == "CPU"; });
  for (int i = int(cpus); i < count; ++i) devices->push_back(std::make_unique<core::CpuDevice>(i));
}

void set_remote_devices(const DeviceSet* set, std::vector<std::unique_ptr<Device>> remote, const std::function<bool(const Device&)>& keep) {
  SharedDevices& shared = shared_devices();
  std::lock_guard lock(shared.mutex);
  auto* devices = shared.own(set);
  if (!devices) return;
  const auto first = std::stable_partition(devices->begin(), devices->end(),
                                           [&](const auto& d) { return !dynamic_cast<core::RemoteDevice*>(d.get()) || (keep && keep(*d)); });
  for (auto it = first; it != devices->end(); ++it) shared.left.push_back(std::move(*it));
  devices->erase(first, devices->end());
  for (auto& d : remote) devices->push_back(std::move(d));
}

bool set_task(const DeviceSet* set, const std::string& job, int task) {
  SharedDevices& shared = shared_devices();
  std::lock_guard lock(shared.mutex);
  auto* devices = shared.own(set);
  if (!devices) return false;
  for (auto& d : *devices) {
    if (d->type() != "CPU" || dynamic_cast<core::RemoteDevice*>(d.get())) continue;
    shared.left.push_back(std::exchange(d, make_task_cpu(job, task, *d->parsed_name().id)));
  }
  return true;
}

Session::Session(graph::Graph& graph, std::mutex& mutex, const SessionOptions& o)
    : graph_(graph),
      graph_mutex_(mutex),
      options_(o),
      devices_(shared_cpus(std::max(1, o.cpu_devices))),
      base_(std::make_shared<Base>(shared_pool(o.intra_threads, false), shared_pool(o.inter_threads, true), o.allow_soft_placement,
                                   o.log_device_placement)) {
  RuntimeOptions r;
  r.registry = &graph.registry();
  r.devices = devices_;
  r.pool = base_->pool.get();
  r.inter = base_->inter.get();
  r.resources = &resources();
  r.soft_placement = &base_->soft_placement;
  r.log_device_placement = &base_->log_placement;
  r.disabled_passes = o.disabled_passes;
  r.auto_compile = o.auto_compile;
  base_->runtime = std::make_unique<FunctionLibraryRuntime>(std::move(r), graph.library());
  state_ = resources()
               .find_or_create<SessionState>(SessionState::kContainer, SessionState::kName,
                                             []() -> Result<std::shared_ptr<SessionState>> { return std::make_shared<SessionState>(); })
               .value();
  if (const RemoteSessions* there = o.target.empty() ? nullptr : remote_sessions()) remote_ = there->make(o.target, graph, mutex, o.config);
}

Session::~Session() {
  (void)close();
  if (!elsewhere_.wait()) new std::shared_ptr(base_);  // the process ends; a kernel that does not keeps it
  // Plans call functions of the runtime and hold resources; iterators hold functions.
  planned_.clear();
  resources_.clear();
}

Status Session::close() {
  if (closed_.exchange(true)) return {};
  cancellation_.start_cancel();
  return remote_ ? remote_->close() : Status();
}

std::shared_ptr<Instance> Session::find(std::span<const Endpoint> feeds, std::span<const Endpoint> fetches, std::span<Node* const> targets,
                                        std::span<Node* const> done) const {
  std::shared_lock lock(mutex_);
  for (const auto& p : planned_) {
    if (std::equal(feeds.begin(), feeds.end(), p->key.feeds.begin(), p->key.feeds.end()) &&
        std::equal(fetches.begin(), fetches.end(), p->key.fetches.begin(), p->key.fetches.end()) &&
        std::equal(targets.begin(), targets.end(), p->key.targets.begin(), p->key.targets.end()) &&
        std::equal(done.begin(), done.end(), p->key.done.begin(), p->key.done.end()))
      return p->instance;
  }
  return nullptr;
}

Result<std::shared_ptr<Instance>> Session::prepare(std::span<const Endpoint> feeds, std::span<const Endpoint> fetches, std::span<Node* const> targets,
                                                   std::span<Node* const> done) {
  if (auto found = find(feeds, fetches, targets, done)) return found;
  std::unique_ptr<Planned> planned = std::make_unique<Planned>();
  {
    std::lock_guard lock(graph_mutex_);
    WEFT_ASSIGN(FunctionBody body, step_body(graph_, feeds, fetches, targets, done));
    planned->instance = runtime().instantiate(std::move(body), kernels_);
  }
  WEFT_RETURN_IF_ERROR(planned->instance->plan().status());
  planned->key = {{feeds.begin(), feeds.end()}, {fetches.begin(), fetches.end()}, {targets.begin(), targets.end()}, {done.begin(), done.end()}};
  std::unique_ptr<Planned> oldest;  // freed when the lock is, too; a run that uses it holds the instance
  std::unique_lock lock(mutex_);
  auto instance = planned->instance;
  planned_.push_back(std::move(planned));
  if (planned_.size() > kMostPlans) {
    oldest = std::move(planned_.front());
    planned_.erase(planned_.begin());
  }
  lock.unlock();
  return instance;
}

// A handle of a tensor that the session keeps, fed in place of that tensor.
Status Session::resolve_handle(Tensor& fed) const {
  const auto* info = fed.num_elements() == 1 ? fed.data<ResourceHandle>()[0].info() : nullptr;
  if (!info || info->container != SessionState::kContainer)
    return invalid_argument("Invalid resource type hash code: 0(name: ", info ? info->name : "", " type: ", info ? info->type_name : "", ")");
  WEFT_ASSIGN(Tensor kept, state_->get(info->name));
  fed = std::move(kept);
  return {};
}

Status Session::run(std::span<const Endpoint> feeds, std::span<Tensor> feed_values, std::span<const Endpoint> fetches, std::span<Tensor> results,
                    std::span<Node* const> targets, const RunOptions& options) {
  if (closed()) return cancelled("Session has been closed.");
  if (remote_) return run_remote(feeds, feed_values, fetches, results, targets, options);
  std::shared_ptr<Instance> instance = find(feeds, fetches, targets, options.done);
  if (!instance) [[unlikely]] {
    if (fetches.empty() && targets.empty()) return invalid_argument("Must specify at least one target to fetch or execute.");
    WEFT_ASSIGN(instance, prepare(feeds, fetches, targets, options.done));
  }
  for (size_t i = 0; i < feeds.size(); ++i) {
    if (feed_values[i].dtype() == DType::kResource && instance->arg_types()[i] != DType::kResource)
      WEFT_RETURN_IF_ERROR(resolve_handle(feed_values[i]));
    if (feed_values[i].dtype() != instance->arg_types()[i])
      return invalid_argument("Expects arg[", i, "] to be ", dtype_name(instance->arg_types()[i]), " but ", dtype_name(feed_values[i].dtype()),
                              " is provided");
  }
  const int64_t timeout = options.timeout_ms > 0 ? options.timeout_ms : options_.timeout_ms;
  KernelEnv env = runtime().step_env();
  env.trace = options.trace;
  if (timeout > 0 || options.cancellation || may_be_interrupted())
    return run_limited(instance, env, feed_values, fetches, results, timeout, options.cancellation);
  env.cancellation = &cancellation_;
  Status s = instance->run(env, feed_values, results);
  end_step(env.step_id, s.ok(), fetches);
  return s;
}

static std::atomic<const RemoteSessions*> sessions_elsewhere{nullptr};
void set_remote_sessions(const RemoteSessions* sessions) { sessions_elsewhere = sessions; }
const RemoteSessions* remote_sessions() { return sessions_elsewhere.load(); }

Status Session::run_remote(std::span<const Endpoint> feeds, std::span<Tensor> feed_values, std::span<const Endpoint> fetches,
                           std::span<Tensor> results, std::span<Node* const> targets, const RunOptions& options) {
  WEFT_ASSIGN(RemoteSession::Names step_names, names(feeds, fetches, targets));
  if (fetches.empty() && targets.empty()) return invalid_argument("Must specify at least one target to fetch or execute.");
  CancellationManager own(options.cancellation ? options.cancellation : &cancellation_);
  RemoteSession::Step step{std::move(step_names), feed_values, results};
  step.options = options.proto;
  step.metadata = options.metadata;
  step.timeout_ms = options.timeout_ms > 0 ? options.timeout_ms : options_.timeout_ms;
  step.cancellation = &own;
  return remote_->run(step);
}

// For a caller who may end the run before it is done.
Status Session::run_limited(const std::shared_ptr<Instance>& instance, KernelEnv env, std::span<Tensor> feeds, std::span<const Endpoint> fetches,
                            std::span<Tensor> results, int64_t timeout_ms, CancellationManager* cancellation) {
  CancellationManager own(cancellation ? cancellation : &cancellation_);
  const Expected expected(instance.get(), 1, cancellation || timeout_ms > 0);
  if (timeout_ms <= 0 && !expected.long_call()) {
    env.cancellation = &own;
    Status s = instance->run(env, feeds, results);
    end_step(env.step_id, s.ok(), fetches);
    return s;
  }
  std::vector<const Tensor*> in;
  for (const Tensor& t : feeds) in.push_back(&t);
  auto work = [this, instance, env, fetched = std::vector<Endpoint>(fetches.begin(), fetches.end()), here = DetachedCalls::Run(elsewhere_)](
                  CancellationManager& c, std::span<Tensor> from, std::span<Tensor> to) mutable {
    env.cancellation = &c;
    Status s = instance->run(env, from, to);
    if (!here.orphaned()) end_step(env.step_id, s.ok(), fetched);
    return s;
  };
  return run_detached(in, results, std::move(work), {.cancellation = &own, .timeout_ms = timeout_ms, .may_abandon = !env.trace});
}

void Session::end_step(int64_t id, bool ok, std::span<const Endpoint> fetches) {
  if (!ok || steps_have_resources()) runtime().step_failed(id);
  if (!state_->has_pending()) return;
  std::vector<std::string> fetched;
  if (ok) {
    for (const Endpoint& f : fetches) fetched.push_back(f.node->name());
  }
  state_->end_step(id, fetched);
}

}  // namespace weft_engine::runtime
