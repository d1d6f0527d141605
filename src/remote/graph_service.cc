#include "remote/graph_service.h"

#include <algorithm>
#include <condition_variable>

#include "core/device_name.h"
#include "core/threads.h"
#include "graph/node_traits.h"
#include "io/op_def.h"
#include "io/rewriter_config.h"
#include "io/run_metadata.h"
#include "op/step_resources.h"
#include "remote/graph_codec.h"
#include "remote/long_call.h"
#include "remote/settings.h"
#include "runtime/blocking_threads.h"
#include "runtime/server.h"
#include "runtime/session.h"

namespace weft_engine::remote {

using graph::FunctionBody;
using graph::Node;

std::string random_handle() {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(random_id()));
  return text;
}

// ---- one graph

struct RegisteredGraph::Base {
  std::shared_ptr<ThreadPool> pool, inter;
  std::atomic<bool> soft_placement{true}, log_placement{false};
  std::shared_ptr<op::ResourceManager> resources;
  std::shared_ptr<const SessionHome> home;  // whose devices the runtime has
  std::unique_ptr<runtime::FunctionLibraryRuntime> runtime;
};

Result<std::shared_ptr<RegisteredGraph>> RegisteredGraph::make(FunctionBody body, const Options& o) {
  WEFT_ASSIGN(const io::SessionConfig config, io::decode_config(o.config));
  std::shared_ptr<RegisteredGraph> made(new RegisteredGraph);
  made->resources_ = o.resources;
  made->home_ = o.home;
  auto base = made->base_ = std::make_shared<Base>();
  base->pool = runtime::shared_pool(config.intra_threads, false);
  base->inter = runtime::shared_pool(config.inter_threads, true);
  base->log_placement = config.log_device_placement;
  base->resources = o.resources;
  base->home = o.home;
  runtime::RuntimeOptions r;
  r.registry = o.registry;
  r.devices = o.devices;
  r.pool = base->pool.get();
  r.inter = base->inter.get();
  r.resources = o.resources.get();
  r.soft_placement = &base->soft_placement;
  r.log_device_placement = &base->log_placement;
  WEFT_ASSIGN(r.disabled_passes, io::disabled_passes(o.config));
  r.auto_compile = io::wants_jit(o.config);
  base->runtime = std::make_unique<runtime::FunctionLibraryRuntime>(std::move(r), body.graph->library());
  made->instance_ = base->runtime->instantiate(std::move(body), o.kernels);
  WEFT_RETURN_IF_ERROR(made->instance_->plan().status());
  return made;
}

RegisteredGraph::~RegisteredGraph() = default;

Status RegisteredGraph::run(int64_t step_id, op::Rendezvous& rendezvous, op::CancellationManager& cancellation, op::StepTrace* trace,
                            std::span<Tensor> args, std::span<Tensor> rets) {
  op::KernelEnv env = base_->runtime->env();
  env.step_id = step_id;
  env.rendezvous = &rendezvous;
  env.cancellation = &cancellation;
  env.trace = trace;
  return instance_->run(env, args, rets);
}

Result<std::string> RegisteredGraph::graph_def() const {
  WEFT_ASSIGN(FunctionBody placed, instance_->optimized({}));
  return encode_part(*placed.graph);
}

std::shared_ptr<void> RegisteredGraph::functions() const { return base_->runtime->library()->size() ? base_ : nullptr; }

namespace {

// A registered GraphDef as a body: no arguments, no results; everything in it runs.
Result<FunctionBody> body_of(const op::Registry& registry, std::string graph_def) {
  FunctionBody body;
  body.name = "session";
  body.graph = std::make_unique<graph::Graph>(registry, std::make_shared<graph::FunctionLibrary>());
  WEFT_RETURN_IF_ERROR(grow(*body.graph, std::move(graph_def)));
  for (Node* n : body.graph->nodes()) {
    if (n->uses().empty() && n->control_outputs().empty()) body.control_rets.push_back(n);
  }
  return body;
}

}  // namespace

// ---- the service

GraphService::GraphService(op::Registry& registry, const DeviceSet* devices, std::string task, std::shared_ptr<StepTable> steps,
                           const TransportApi& transport)
    : registry_(registry),
      devices_(devices),
      task_(std::move(task)),
      steps_(std::move(steps)),
      transport_(transport),
      shared_session_(std::make_shared<WorkerSession>()) {
  shared_session_->resources = resources_;
}

GraphService::~GraphService() {
  stop();
  sessions_.clear();
  shared_session_->graphs.clear();
  resources_->clear();  // while the runtimes are there whose functions iterators hold
}

Status GraphService::prepare_resources(Prepare prepare) {
  prepare_ = std::move(prepare);
  return prepare_(*resources_);
}

void GraphService::stop() {
  std::vector<int64_t> ids;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, running] : running_) ids.push_back(id);
  }
  for (int64_t id : ids) cleanup_step(id);
}

RegisteredGraph::Options GraphService::options_for(const WorkerSession& session, std::string config) const {
  const DeviceSet* devices = session.home ? session.home->devices.get() : devices_;
  return {&registry_, devices, session.resources, session.kernels, std::move(config), session.home};
}

Status GraphService::create_session(const CreateWorkerSession& request) {
  auto made = std::make_shared<WorkerSession>();
  if (const ServerDef& def = request.server_def; !def.cluster.empty()) {
    auto home = std::make_shared<SessionHome>();
    home->task = task_name(def.job, def.task);
    WEFT_RETURN_IF_ERROR(DeviceName::parse(home->task).status());
    std::vector<std::unique_ptr<Device>> own;
    for (const auto& d : devices_->all()) own.push_back(runtime::make_task_cpu(def.job, def.task, *d->parsed_name().id));
    home->devices = std::make_shared<DeviceSet>(std::move(own));
    home->connections = std::make_shared<Connections>(transport_, def.cluster);
    made->home = std::move(home);
  }
  made->master_task = request.master_task;
  made->master_incarnation = request.master_incarnation;
  made->config = request.server_def.config;
  // One with a cluster of its own has its state for itself, too: a task of another name is another task.
  const bool isolated = request.isolate_state || made->home;
  made->resources = made->home ? std::make_shared<op::ResourceManager>(request.server_def.job)
                    : isolated ? std::make_shared<op::ResourceManager>()
                               : resources_;
  if (isolated && prepare_) WEFT_RETURN_IF_ERROR(prepare_(*made->resources));
  std::vector<std::shared_ptr<WorkerSession>> gone;  // freed when the lock is
  std::unique_lock lock(mutex_);
  // A master that was started again knows nothing of its earlier sessions.
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const WorkerSession& s = *it->second;
    if (!s.master_task.empty() && s.master_task == made->master_task && s.master_incarnation != made->master_incarnation) {
      gone.push_back(std::move(it->second));
      it = sessions_.erase(it);
    } else {
      ++it;
    }
  }
  const size_t most = size_t(settings().ok() ? settings()->max_contexts : 1);
  const bool full = sessions_.size() >= most && !sessions_.contains(request.session);
  if (!full) sessions_.emplace(request.session, std::move(made));  // one that is there stays, as with TensorFlow
  lock.unlock();
  end_steps(gone);
  if (full) return resource_exhausted("this server keeps ", most, " sessions, which is its limit (WEFT_CLUSTER_MAX_CONTEXTS)");
  return {};
}

Status GraphService::delete_session(const std::string& session) {
  std::vector<std::shared_ptr<WorkerSession>> gone;
  {
    std::lock_guard lock(mutex_);
    if (auto it = sessions_.find(session); it != sessions_.end()) {
      gone.push_back(std::move(it->second));
      sessions_.erase(it);
    }
  }
  end_steps(gone);
  return {};
}

void GraphService::end_steps(const std::vector<std::shared_ptr<WorkerSession>>& gone) {
  std::vector<int64_t> ids;
  {
    std::lock_guard lock(mutex_);
    for (const auto& session : gone) session->gone = true;
    for (const auto& [id, step] : running_) {
      if (std::any_of(gone.begin(), gone.end(), [&](const auto& s) { return s.get() == step.session; })) ids.push_back(id);
    }
  }
  for (int64_t id : ids) cleanup_step(id);
}

Result<std::shared_ptr<GraphService::WorkerSession>> GraphService::find(const std::string& session) {
  std::lock_guard lock(mutex_);
  if (auto it = sessions_.find(session); it != sessions_.end()) return it->second;
  return aborted("Session handle is not found: ", session, ". Possibly this worker (\"", task_, "\") just restarted.");
}

Result<std::shared_ptr<GraphService::WorkerSession>> GraphService::find_or_shared(const std::string& session) {
  if (session.empty()) return shared_session_;
  return find(session);
}

void GraphService::keep(const RegisteredGraph& graph) {
  auto functions = graph.functions();
  if (!functions) return;
  std::lock_guard lock(mutex_);
  kept_.push_back(std::move(functions));
}

Result<std::shared_ptr<RegisteredGraph>> GraphService::register_body(const std::string& session, FunctionBody body, const std::string& config) {
  WEFT_ASSIGN(std::shared_ptr<WorkerSession> in, find(session));
  WEFT_ASSIGN(std::shared_ptr<RegisteredGraph> made, RegisteredGraph::make(std::move(body), options_for(*in, config.empty() ? in->config : config)));
  keep(*made);
  return made;
}

Result<std::string> GraphService::register_graph(const RegisterGraph& request) {
  std::shared_ptr<WorkerSession> in = shared_session_;
  if (request.session_was_created) {
    WEFT_ASSIGN(in, find(request.session));
  }
  WEFT_ASSIGN(FunctionBody body, body_of(registry_, request.graph_def));
  WEFT_ASSIGN(std::shared_ptr<RegisteredGraph> made, RegisteredGraph::make(std::move(body), options_for(*in, request.config)));
  keep(*made);
  std::lock_guard lock(mutex_);
  char handle[32];
  std::snprintf(handle, sizeof handle, "%016llx", static_cast<unsigned long long>(++next_graph_));
  in->graphs[handle] = std::move(made);
  return std::string(handle);
}

Status GraphService::deregister_graph(const std::string& session, const std::string& graph) {
  WEFT_ASSIGN(std::shared_ptr<WorkerSession> in, find_or_shared(session));
  std::shared_ptr<RegisteredGraph> gone;
  std::lock_guard lock(mutex_);
  auto it = in->graphs.find(graph);
  if (it == in->graphs.end()) return aborted("Graph handle is not found: ", graph, ". Possibly, this worker just restarted.");
  gone = std::move(it->second);
  in->graphs.erase(it);
  return {};
}

Result<std::shared_ptr<RegisteredGraph>> GraphService::find_graph(const WorkerSession& session, const std::string& graph) {
  std::lock_guard lock(mutex_);
  if (auto it = session.graphs.find(graph); it != session.graphs.end()) return it->second;
  return aborted("Graph handle is not found: ", graph);
}

Status GraphService::run(RegisteredGraph& graph, int64_t step_id, op::StepTrace* trace, std::span<Tensor> args, std::span<Tensor> rets,
                         op::CancellationManager* stop) {
  op::CancellationManager cancellation(stop);
  const SessionHome* home = graph.home();
  const auto rendezvous = home ? steps_->find_or_create(step_id, home->connections, home->task) : steps_->find_or_create(step_id);
  {
    std::lock_guard lock(mutex_);
    Running& r = running_[step_id];
    r.runs.insert(&cancellation);
    r.resources = graph.resources();
  }
  const Status s = core::without_exceptions([&] { return graph.run(step_id, *rendezvous, cancellation, trace, args, rets); });
  {
    std::lock_guard lock(mutex_);
    if (auto it = running_.find(step_id); it != running_.end()) it->second.runs.erase(&cancellation);
  }
  // Other tasks must not wait for what will not come; the master removes the step.
  if (!s.ok()) rendezvous->abort(s);
  return s;
}

void GraphService::cleanup_step(int64_t step_id) {
  std::shared_ptr<op::ResourceManager> resources;
  {
    std::lock_guard lock(mutex_);
    if (auto it = running_.find(step_id); it != running_.end()) {
      // A run takes its manager out of the list under the lock before it destroys it.
      for (op::CancellationManager* c : it->second.runs) c->start_cancel();
      resources = it->second.resources;
      running_.erase(it);
    }
  }
  steps_->erase(step_id, cancelled("the step was cleaned up"));
  if (resources && op::steps_have_resources()) resources->clear_container(op::step_container(step_id));
}

void GraphService::cleanup_containers(const std::vector<std::string>& containers) {
  if (containers.empty()) resources_->clear_container(resources_->default_container());
  for (const std::string& c : containers) resources_->clear_container(c);
}

// ---- RunGraph

struct GraphService::PartialStep {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  Status status;
};

namespace {

// What was sent under the keys in this task.
Status receive(TaskRendezvous& rendezvous, const std::vector<std::string>& keys, std::vector<NamedTensor>& out) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    size_t left;
    Status status;
    std::vector<NamedTensor> values;
  };
  auto state = std::make_shared<State>();
  state->left = keys.size();
  state->values.resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    state->values[i].name = keys[i];
    rendezvous.recv_local(keys[i], [state, i](Status s, Tensor value, bool dead) {
      std::lock_guard lock(state->mutex);
      if (s.ok() && dead) s = invalid_argument("The tensor returned for ", state->values[i].name, " was not valid.");
      if (!s.ok() && state->status.ok()) state->status = std::move(s);
      state->values[i].tensor = std::move(value);
      if (--state->left == 0) state->changed.notify_all();
    });
  }
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->left == 0; });
  WEFT_RETURN_IF_ERROR(state->status);
  out = std::move(state->values);
  return {};
}

}  // namespace

Status GraphService::run_partial(const RunGraph& request, const std::shared_ptr<RegisteredGraph>& graph, RunGraphResult& result) {
  const auto rendezvous = steps_->find_or_create(request.step_id);
  std::shared_ptr<PartialStep> step;
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    auto& known = running_[request.step_id].partial;
    first = !known;
    if (first) known = std::make_shared<PartialStep>();
    step = known;
  }
  if (first) {
    runtime::run_on_blocking_thread([this, graph, step, id = request.step_id] {
      Status s = run(*graph, id, nullptr, {}, {});
      std::lock_guard lock(step->mutex);
      step->status = std::move(s);
      step->done = true;
      step->ended.notify_all();
    });
  }
  for (const NamedTensor& t : request.send) WEFT_RETURN_IF_ERROR(rendezvous->send(t.name, t.tensor, false));
  const Status received = receive(*rendezvous, request.recv_keys, result.recv);
  if (!request.is_last_partial && received.ok()) return {};
  if (!received.ok()) cleanup_step(request.step_id);
  std::unique_lock lock(step->mutex);
  step->ended.wait(lock, [&] { return step->done; });
  return received.ok() ? step->status : received;
}

Result<Message> GraphService::run_graph(const RunGraph& request) {
  RunGraphResult result;
  std::shared_ptr<WorkerSession> session;
  auto work = [&]() -> Status {
    WEFT_ASSIGN(session, find_or_shared(request.session_was_created ? request.session : std::string()));
    WEFT_ASSIGN(std::shared_ptr<RegisteredGraph> graph, find_graph(*session, request.graph));
    {
      std::lock_guard lock(mutex_);
      running_[request.step_id].session = session.get();
    }
    if (request.is_partial) return run_partial(request, graph, result);
    const auto rendezvous = steps_->find_or_create(request.step_id);
    for (const NamedTensor& t : request.send) WEFT_RETURN_IF_ERROR(rendezvous->send(t.name, t.tensor, false));
    op::StepTrace trace;
    WEFT_RETURN_IF_ERROR(run(*graph, request.step_id, request.trace ? &trace : nullptr, {}, {}));
    if (request.trace) result.step_stats = step_stats_of(io::encode_run_metadata(trace.take()));
    if (request.partition_graphs) {
      WEFT_ASSIGN(std::string def, graph->graph_def());
      result.partition_graphs.push_back(std::move(def));
    }
    return receive(*rendezvous, request.recv_keys, result.recv);
  };
  Status s = work();
  bool gone = false;
  if (session) {
    std::lock_guard lock(mutex_);
    gone = session->gone;
  }
  if (gone) cleanup_step(request.step_id);  // the master would not say that it is over
  if (!s.ok() && !request.errors_in_body) return s;
  if (!s.ok()) result = {};
  result.status = std::move(s);
  return encode_run_graph_result(result);
}

// ---- methods

void add_graph_methods(MethodTable& methods, std::shared_ptr<GraphService> service) {
  constexpr std::string_view kService = "tensorflow.WorkerService";
  auto add = [&](std::string_view method, auto handler) {
    methods.add_blocking(kService, method, [service, handler](std::string_view bytes) -> Result<Message> { return handler(*service, bytes); });
  };
  add("CreateWorkerSession", [](GraphService& s, std::string_view bytes) -> Result<Message> {
    WEFT_ASSIGN(const CreateWorkerSession request, decode_create_worker_session(bytes));
    WEFT_RETURN_IF_ERROR(s.create_session(request));
    return Message();
  });
  add("DeleteWorkerSession", [](GraphService& s, std::string_view bytes) -> Result<Message> {
    WEFT_RETURN_IF_ERROR(s.delete_session(decode_text(1, bytes)));
    return Message();
  });
  add("RegisterGraph", [](GraphService& s, std::string_view bytes) -> Result<Message> {
    WEFT_ASSIGN(const RegisterGraph request, decode_register_graph(bytes));
    WEFT_ASSIGN(const std::string handle, s.register_graph(request));
    return Message(encode_text(1, handle));
  });
  add("DeregisterGraph", [](GraphService& s, std::string_view bytes) -> Result<Message> {
    const bool of_session = decode_number(3, bytes);
    WEFT_RETURN_IF_ERROR(s.deregister_graph(of_session ? decode_text(2, bytes) : std::string(), decode_text(1, bytes)));
    return Message();
  });
  add_long(methods, kService, "RunGraph", decode_run_graph, [service](const RunGraph& request, op::CancellationManager& cancellation) {
    const auto token = cancellation.get_token();
    if (!cancellation.register_callback(token, [service, id = request.step_id] { service->cleanup_step(id); }))
      return Result<Message>(cancelled("the caller has gone"));
    auto answer = service->run_graph(request);
    cancellation.deregister_callback(token);
    return answer;
  });
  add("CleanupGraph", [](GraphService& s, std::string_view bytes) -> Result<Message> {
    s.cleanup_step(decode_number(1, bytes));
    return Message();
  });
  add("CleanupAll", [](GraphService& s, std::string_view bytes) -> Result<Message> {
    s.cleanup_containers(decode_texts(1, bytes));
    return Message();
  });
  // Values are not kept for a second delivery, so that there is nothing to forget; and calls are not logged.
  add("MarkRecvFinished", [](GraphService&, std::string_view) -> Result<Message> { return Message(); });
  add("Logging", [](GraphService&, std::string_view) -> Result<Message> { return Message(); });
  add("Tracing", [](GraphService&, std::string_view) -> Result<Message> { return unimplemented("Tracing"); });
}

}  // namespace weft_engine::remote
