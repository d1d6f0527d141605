#include "remote/master_session.h"

#include <algorithm>

#include "core/log.h"
#include "core/remote_device.h"
#include "graph/function_library.h"
#include "graph/lower_control_flow.h"
#include "graph/node_traits.h"
#include "graph/passes/passes.h"
#include "io/op_def.h"
#include "remote/blocking_call.h"
#include "remote/graph_codec.h"
#include "runtime/partition.h"
#include "runtime/placer.h"
#include "runtime/step_body.h"

namespace weft_engine::remote {

using graph::Endpoint;
using graph::FunctionBody;
using graph::Node;

namespace {

constexpr size_t kMostPlans = 256;  // for different feeds and fetches

// A device of a task, for placing. Parts run where it is.
class ClusterDevice final : public core::RemoteDevice {
 public:
  using core::RemoteDevice::RemoteDevice;
};

}  // namespace

// A filter names a job, a task or a device.
bool passes_filters(const std::vector<std::string>& filters, const std::string& name) {
  if (filters.empty()) return true;
  auto full = core::DeviceName::parse(name);
  if (!full.ok()) return false;
  for (const std::string& f : filters) {
    auto filter = core::DeviceName::parse(f);
    if (!filter.ok()) continue;
    if (!full->type) filter->type.reset();  // a task passes where one of its devices may
    if (!full->id) filter->id.reset();
    if (filter->matches(*full)) return true;
  }
  return false;
}

namespace {

// "node:1", or "node" for the first output.
bool parse_tensor_name(const std::string& text, std::string_view& node, int& index) {
  graph::InputName name;
  if (!graph::parse_input_name(text, name) || name.control) return false;
  node = name.node;
  index = name.index;
  return true;
}

}  // namespace

MasterSession::MasterSession(std::shared_ptr<GraphService> here, std::shared_ptr<Connections> connections, std::string task)
    : here_(std::move(here)), connections_(std::move(connections)), task_(std::move(task)) {
  whole_.name = "graph";
  whole_.graph = std::make_unique<graph::Graph>(here_->registry(), std::make_shared<graph::FunctionLibrary>());
}

MasterSession::~MasterSession() { close(); }

namespace {

// Which task of a session's own cluster the master is: the one at the address that the client called it by.
Result<std::string> master_in(const ClusterMap& cluster, std::string_view target) {
  constexpr std::string_view kScheme = "grpc://";
  const std::string_view address = target.starts_with(kScheme) ? target.substr(kScheme.size()) : target;
  std::string found;
  for (const auto& [job, tasks] : cluster) {
    for (const auto& [index, at] : tasks) {
      if (at != address) continue;
      if (!found.empty()) return invalid_argument("Found multiple matching tasks that correspond to to the master. Master target: '", target, "'.");
      found = task_name(job, index);
    }
  }
  if (found.empty())
    return invalid_argument("The master (current machine) is not included in the provided cluster_def. Its target is '", target, "'.");
  return found;
}

}  // namespace

Result<std::shared_ptr<MasterSession>> MasterSession::make(std::shared_ptr<GraphService> here, std::shared_ptr<Connections> connections,
                                                           const ClusterMap& cluster, const CreateSession& request, const std::atomic<bool>& stopping,
                                                           op::CancellationManager& cancellation) {
  WEFT_ASSIGN(const ClusterConfig config, decode_cluster_config(request.config));
  std::string own = here->task();
  if (!config.cluster.empty()) {
    WEFT_ASSIGN(own, master_in(config.cluster, request.target));
    connections = std::make_shared<Connections>(here->transport(), config.cluster);
  }
  const ClusterMap& all = config.cluster.empty() ? cluster : config.cluster;
  std::shared_ptr<MasterSession> s(new MasterSession(std::move(here), std::move(connections), std::move(own)));
  WEFT_ASSIGN(const io::SessionConfig general, io::decode_config(request.config));
  s->config_ = request.config;
  s->filters_ = config.device_filters;
  s->timeout_ms_ = config.operation_timeout_ms;
  s->isolated_ = config.isolate_session_state;
  s->soft_placement_ = general.allow_soft_placement;
  s->log_placement_ = general.log_device_placement;
  WEFT_RETURN_IF_ERROR(s->reach(all, stopping, cancellation));
  WEFT_RETURN_IF_ERROR(s->create_worker_sessions(all, config.cluster));
  WEFT_RETURN_IF_ERROR(grow(*s->whole_.graph, request.graph_def));
  return s;
}

// Which devices there are: this task's first.
Status MasterSession::reach(const ClusterMap& cluster, const std::atomic<bool>& stopping, op::CancellationManager& cancellation) {
  for (const auto& d : here_->devices().all()) {
    attributes_.push_back(attributes_of(*d));
    if (!rename_device(attributes_.back(), task_)) return invalid_argument("'", task_, "' is not the name of a task");
  }
  for (const auto& [job, tasks] : cluster) {
    for (const auto& [index, address] : tasks) {
      const std::string task = task_name(job, index);
      if (task == task_ || !passes_filters(filters_, task)) continue;
      tasks_.push_back(task);
    }
  }
  for (const std::string& task : tasks_) {
    WEFT_ASSIGN(std::shared_ptr<Channel> channel, connections_->to(task));
    for (;;) {
      auto answer =
          call_and_wait(*channel, "/tensorflow.WorkerService/GetStatus", Message(), {.seconds = 10, .wait = true, .cancellation = &cancellation});
      if (stopping.load() || cancellation.cancelled()) return cancelled(stopping.load() ? "the server has stopped" : "the client has gone");
      if (answer.ok()) {
        WEFT_ASSIGN(std::vector<DeviceAttributes> devices, decode_device_list(1, answer->flatten()));
        for (DeviceAttributes& d : devices) {
          if (rename_device(d, task) && passes_filters(filters_, d.name)) attributes_.push_back(std::move(d));
        }
        break;
      }
      if (answer.status().code() != Code::kDeadlineExceeded && answer.status().code() != Code::kUnavailable) return answer.status();
      log(LogLevel::kWarning, cat("CreateSession still waiting for response from worker: ", task));
    }
  }
  std::vector<std::unique_ptr<Device>> list;
  for (const DeviceAttributes& d : attributes_) {
    WEFT_ASSIGN(core::DeviceName name, core::DeviceName::parse(d.name));
    if (!name.complete()) return invalid_argument("a task has a device with the name '", d.name, "'");
    incarnations_[d.name] = d.incarnation;
    list.push_back(std::make_unique<ClusterDevice>(std::move(name), d.memory_limit, ""));
  }
  devices_ = std::make_unique<DeviceSet>(std::move(list));
  return {};
}

Status MasterSession::create_worker_sessions(const ClusterMap& cluster, const ClusterMap& sent) {
  CreateWorkerSession request;
  request.session = handle_;
  request.isolate_state = isolated_;
  request.master_task = task_;
  request.master_incarnation = here_->devices().host()->incarnation();
  request.server_def.config = config_;
  request.server_def.cluster = sent;
  if (auto own = core::DeviceName::parse(task_); own.ok() && !sent.empty()) {
    request.server_def.job = *own->job;
    request.server_def.task = *own->task;
  }
  WEFT_RETURN_IF_ERROR(here_->create_session(request));
  for (const auto& [job, tasks] : cluster) {
    for (const auto& [index, address] : tasks) {
      const std::string task = task_name(job, index);
      if (std::find(tasks_.begin(), tasks_.end(), task) == tasks_.end()) continue;
      request.server_def.job = job;
      request.server_def.task = index;
      WEFT_ASSIGN(std::shared_ptr<Channel> channel, connections_->to(task));
      auto answer = call_and_wait(*channel, "/tensorflow.WorkerService/CreateWorkerSession", Message(encode_create_worker_session(request)));
      if (!answer.ok()) return Status(answer.status().code(), cat("From ", task, ":\n", answer.status().message()));
    }
  }
  return {};
}

void MasterSession::close() {
  std::vector<std::shared_ptr<StepPlan>> plans;
  {
    std::lock_guard lock(state_mutex_);
    if (std::exchange(closed_, true)) return;
    for (StepRun* run : running_) cancel_step(*run);
    for (auto& [names, plan] : plans_) plans.push_back(std::move(plan));
    plans_.clear();
    partial_runs_.clear();
  }
  (void)here_->delete_session(handle_);
  for (const std::string& task : tasks_) {
    auto channel = connections_->to(task);
    if (channel.ok())
      (*channel)->call("/tensorflow.WorkerService/DeleteWorkerSession", Message(encode_text(1, handle_)), 10, false, [](Status, Message) {});
  }
}

Result<int64_t> MasterSession::extend(ExtendSession request) {
  std::lock_guard lock(mutex_);
  if (request.version != version_) return aborted("Current version is ", version_, " but caller expects ", request.version, ".");
  WEFT_RETURN_IF_ERROR(grow(*whole_.graph, std::move(request.graph_def)));
  placed_ = false;
  return ++version_;
}

// The whole graph, as TensorFlow does it: what a step leaves out counts too, and a variable is in one place for all steps.
Status MasterSession::place_graph() {
  if (placed_) return {};
  for (Node* n : whole_.graph->nodes()) {
    // State stays where it is when the graph grows.
    if (!n->assigned_device.empty() && n->spec().stateful && !graph::is_call(*n)) n->device = n->assigned_device;
  }
  runtime::PlaceOptions o;
  o.devices = devices_.get();
  o.registry = &here_->registry();
  o.by_priority = true;
  o.allow_soft_placement = soft_placement_;
  o.log = log_placement_;
  WEFT_RETURN_IF_ERROR(runtime::place(whole_, o));
  placed_ = true;
  return {};
}

Result<MasterSession::Endpoints> MasterSession::find(const Names& names) const {
  Endpoints out;
  const graph::Graph& g = *whole_.graph;
  auto endpoint = [&](const std::string& text) -> Endpoint {
    std::string_view node;
    int index = 0;
    if (!parse_tensor_name(text, node, index)) return {};
    return {g.find(node), index};
  };
  for (const std::string& f : names.feeds) {
    out.feeds.push_back(endpoint(f));
    if (!out.feeds.back().node) return not_found("FeedInputs: unable to find feed output ", f);
  }
  for (const std::string& f : names.fetches) {
    out.fetches.push_back(endpoint(f));
    if (!out.fetches.back().node) return not_found("FetchOutputs node ", f, ": not found");
  }
  for (const std::string& t : names.targets) {
    const Endpoint e = endpoint(t);
    if (!e.node) return not_found("PruneForTargets: Some target nodes not found: ", t);
    out.targets.push_back(e.node);
  }
  for (const auto& [from, to] : names.connections) {
    out.connections.push_back({endpoint(from), endpoint(to)});
    if (!out.connections.back().to.node) return not_found("FeedInputs: unable to find feed output ", to);
  }
  return out;
}

namespace {

// Functions may have nodes on several tasks: calls are opened, and the branches and loops that are. True: there were such, and what was inside
// has to be placed.
Result<bool> open_functions(FunctionBody& body) {
  graph::Graph& g = *body.graph;
  bool calls = false, spread = false;
  for (Node* n : g.nodes()) {
    calls |= graph::is_call(*n);
    spread |= graph::can_lower(*n) && runtime::on_several_tasks(g, *n);
  }
  if (!calls && !spread) return false;
  for (Node* n : g.nodes()) {
    if (!graph::is_call(*n) && !n->assigned_device.empty()) n->device = n->assigned_device;
  }
  for (bool again = true; again;) {
    again = false;
    for (Node* n : g.nodes()) {
      if (!graph::can_lower(*n) || !runtime::on_several_tasks(g, *n)) continue;
      WEFT_RETURN_IF_ERROR(graph::lower_control_flow(body, n));
      again = true;
    }
    graph::PassContext c;
    const int before = g.num_ids();
    WEFT_RETURN_IF_ERROR(graph::pass_inline(body, c));
    again |= g.num_ids() > before;
  }
  return true;
}

}  // namespace

Result<std::shared_ptr<StepPlan>> MasterSession::plan(const Names& names) {
  {
    std::lock_guard lock(state_mutex_);
    if (closed_) return cancelled("Session has been closed.");
    if (auto it = plans_.find(names); it != plans_.end()) return it->second;
  }
  if (names.fetches.empty() && names.targets.empty()) return invalid_argument("Must specify at least one target to fetch or execute.");
  Endpoints ends;
  {
    std::lock_guard lock(mutex_);
    WEFT_ASSIGN(ends, find(names));
  }
  WEFT_ASSIGN(std::shared_ptr<StepPlan> made, make_plan(ends, {}));
  made->feeds = names.feeds;
  made->fetches = names.fetches;
  std::shared_ptr<StepPlan> oldest;
  {
    std::lock_guard lock(state_mutex_);
    plans_[names] = made;
    plan_order_.push_back(names);
    if (plan_order_.size() > kMostPlans) {
      if (auto it = plans_.find(plan_order_.front()); it != plans_.end()) {
        oldest = std::move(it->second);
        plans_.erase(it);
      }
      plan_order_.pop_front();
    }
  }
  if (oldest) drop(*oldest);
  return made;
}

Result<std::shared_ptr<StepPlan>> MasterSession::make_plan(const Endpoints& ends, std::span<Node* const> done) {
  auto made = std::make_shared<StepPlan>();
  std::vector<runtime::Part> parts;
  {
    std::lock_guard lock(mutex_);
    WEFT_RETURN_IF_ERROR(place_graph());
    WEFT_ASSIGN(FunctionBody body, runtime::step_body(*whole_.graph, ends.feeds, ends.fetches, ends.targets, done, ends.connections));
    made->feed_types = body.arg_types;
    WEFT_ASSIGN(const bool opened, open_functions(body));
    if (opened) {
      runtime::PlaceOptions o;
      o.devices = devices_.get();
      o.registry = &here_->registry();
      o.by_priority = true;
      o.allow_soft_placement = soft_placement_;
      WEFT_RETURN_IF_ERROR(runtime::place(body, o));
    }
    for (Node* a : body.args) a->assigned_device = devices_->host()->name();
    for (Node* r : body.rets) r->assigned_device = r->input(0).node->assigned_device;
    WEFT_ASSIGN(parts, runtime::partition(body, *devices_, {.incarnation = [&](const Device& d) { return incarnations_.at(d.name()); }}));
  }
  for (runtime::Part& p : parts) {
    StepPart part;
    part.task = task_of(p.device->name());
    part.args = std::move(p.args);
    part.rets = std::move(p.rets);
    const Status s = register_part(part, std::move(p.body), *p.device);
    if (!s.ok()) {
      drop(*made);
      return s;
    }
    made->parts.push_back(std::move(part));
  }
  return made;
}

// In another task feeds and fetches are messages, which RunGraph brings along.
Status MasterSession::register_part(StepPart& part, FunctionBody body, const Device& device) {
  const bool here = part.task == task_;
  graph::Graph& g = *body.graph;
  if (here) {
    for (Node* n : g.nodes()) {
      if (!n->assigned_device.empty()) n->device = n->assigned_device;
    }
    WEFT_ASSIGN(part.here, here_->register_body(handle_, std::move(body), config_));
    return {};
  }
  const uint64_t incarnation = incarnations_.at(device.name());
  auto message = [&](std::string name, std::string_view type_attr, DType type) {
    return op::AttrMap{{std::string(type_attr), type}, {"tensor_name", std::move(name)},
                       {"send_device", device.name()}, {"send_device_incarnation", int64_t(incarnation)},
                       {"recv_device", device.name()}, {"client_terminated", true}};
  };
  for (size_t i = 0; i < body.args.size(); ++i) {
    const std::string name = cat("feed_", part.args[i]);
    part.feed_keys.push_back(op::rendezvous_key(device.name(), incarnation, device.name(), name));
    WEFT_RETURN_IF_ERROR(g.rewrite(body.args[i], graph::op_of(graph::Role::kRecv), message(name, "tensor_type", body.arg_types[i]), {}));
    body.args[i]->assigned_device = device.name();
  }
  for (size_t i = 0; i < body.rets.size(); ++i) {
    const std::string name = cat("fetch_", part.rets[i]);
    part.fetch_keys.push_back(op::rendezvous_key(device.name(), incarnation, device.name(), name));
    WEFT_RETURN_IF_ERROR(g.rewrite(body.rets[i], graph::op_of(graph::Role::kSend), message(name, "T", body.ret_types[i]), {body.rets[i]->input(0)}));
    body.rets[i]->assigned_device = device.name();
  }
  RegisterGraph request;
  request.session = handle_;
  request.config = config_;
  WEFT_ASSIGN(request.graph_def, encode_part(g));
  WEFT_ASSIGN(std::shared_ptr<Channel> channel, connections_->to(part.task));
  auto answer = call_and_wait(*channel, "/tensorflow.WorkerService/RegisterGraph", Message(encode_register_graph(request)));
  if (!answer.ok()) return Status(answer.status().code(), cat("From ", part.task, ":\n", answer.status().message()));
  part.graph = decode_text(1, answer->flatten());
  return {};
}

void MasterSession::drop(StepPlan& plan) {
  for (StepPart& p : plan.parts) {
    auto channel = p.here ? Result<std::shared_ptr<Channel>>(not_found("here")) : connections_->to(p.task);
    if (!channel.ok()) continue;
    std::string request = encode_text(1, p.graph) + encode_text(2, handle_) + encode_number(3, 1);
    (*channel)->call("/tensorflow.WorkerService/DeregisterGraph", Message(std::move(request)), 10, false, [](Status, Message) {});
  }
}

}  // namespace weft_engine::remote
