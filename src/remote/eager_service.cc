#include "remote/eager_service.h"

#include <algorithm>
#include <condition_variable>
#include <deque>

#include "core/error_notes.h"
#include "core/own_memory.h"
#include "core/threads.h"
#include "eager/cancellable.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "io/graph_def.h"
#include "io/op_def.h"
#include "remote/resource_names.h"
#include "remote/peers.h"
#include "runtime/blocking_threads.h"
#include "runtime/server.h"

namespace weft_engine::remote {

// ---- one context

static eager::ContextOptions context_options(const DeviceSet* devices, op::Rendezvous* rendezvous) {
  eager::ContextOptions o;
  o.devices = devices;
  o.rendezvous = rendezvous;
  return o;
}

ServerContext::ServerContext(op::Registry& registry, const DeviceSet* devices, std::unique_ptr<DeviceSet> renamed, const CreateContext& request,
                             std::string task, std::shared_ptr<Connections> connections, std::shared_ptr<TaskRendezvous> rendezvous,
                             std::shared_ptr<StepTable> steps)
    : id_(request.context_id),
      task_(std::move(task)),
      keep_alive_(request.keep_alive_secs),
      connections_(std::move(connections)),
      rendezvous_(std::move(rendezvous)),
      steps_(std::move(steps)),
      renamed_(std::move(renamed)),
      made_(std::make_unique<eager::Context>(registry, context_options(renamed_ ? renamed_.get() : devices, rendezvous_.get()))),
      context_(*made_),
      last_use_(now()),
      view_id_(request.view_id) {
  for (const DeviceAttributes& d : request.devices) incarnations_[d.name] = d.incarnation;
}

ServerContext::ServerContext(eager::Context& own, uint64_t id, std::string task, std::shared_ptr<Connections> connections,
                             std::shared_ptr<TaskRendezvous> rendezvous, std::shared_ptr<StepTable> steps)
    : id_(id),
      task_(std::move(task)),
      keep_alive_(0),
      connections_(std::move(connections)),
      rendezvous_(std::move(rendezvous)),
      steps_(std::move(steps)),
      context_(own),
      last_use_(now()),
      view_id_(0) {}

ServerContext::~ServerContext() { end_steps(cancelled("the context was closed")); }

void ServerContext::end_steps(const Status& status) {
  std::set<int64_t> steps;
  {
    std::lock_guard lock(mutex_);
    steps.swap(part_steps_);
  }
  for (int64_t step : steps) steps_->erase(step, status);
}

void ServerContext::end_step(int64_t step, const Status& status) {
  {
    std::lock_guard lock(mutex_);
    part_steps_.erase(step);
  }
  steps_->erase(step, status);
}

Status ServerContext::update(const CreateContext& request) {
  if (request.view_id != view_id_.load() + 1)
    return invalid_argument("EagerService:UpdateContext failed. Context id: <", id_, "> currently at view #", view_id_.load(),
                            " but received update request at view #", request.view_id, ". View id should only be continuously incremented.");
  if (request.has_server_def) connections_->update(request.server_def.cluster);
  std::lock_guard lock(mutex_);
  for (const DeviceAttributes& d : request.devices) {
    auto& known = incarnations_[d.name];
    if (known && known != d.incarnation) connections_->forget(task_of(d.name));
    known = d.incarnation;
  }
  view_id_.store(request.view_id);
  std::lock_guard peers_lock(peers_mutex_);
  std::erase_if(former_peers_, [](const auto& p) { return !p->held(); });
  if (peers_ && peers_->held()) former_peers_.push_back(peers_);
  peers_ = nullptr;
  return {};
}

void ServerContext::store(int64_t op_id, int output, Handle handle) {
  std::lock_guard lock(mutex_);
  auto& outputs = handles_[op_id];
  if (outputs.size() <= size_t(output)) outputs.resize(size_t(output) + 1);
  outputs[size_t(output)] = std::move(handle);
}

Result<ServerContext::Handle> ServerContext::find(const RemoteTensorHandle& h) {
  std::lock_guard lock(mutex_);
  auto it = handles_.find(h.op_id);
  if (it == handles_.end() || h.output_num < 0 || size_t(h.output_num) >= it->second.size() || !it->second[size_t(h.output_num)])
    return invalid_argument("Unable to find the relevant tensor remote_handle: Op ID: ", h.op_id, ", Output num: ", h.output_num)
        .with_payload(core::kNoteTaskLost, "");
  return it->second[size_t(h.output_num)];
}

Result<ServerContext::Handle> ServerContext::input(const std::variant<RemoteTensorHandle, Tensor>& in) {
  if (const auto* t = std::get_if<Tensor>(&in)) return eager::TensorHandle::make(*t, context_.host());
  const auto& h = std::get<RemoteTensorHandle>(in);
  if (is_elsewhere(h)) return fetch(h);
  auto found = find(h);
  if (!found.ok())
    return invalid_argument(
        found.status().message(),
        ". One possible cause is that the tensor was accessed after deallocation in a distributed worker setup.Try setting "
        "`os.environ['TF_ENABLE_EAGER_CLIENT_STREAMING_ENQUEUE']='False'` in your client to disable async streaming behavior to see "
        "if it fixes the problem.");
  return found;
}

bool ServerContext::is_elsewhere(const RemoteTensorHandle& h) const {
  const std::string holder = task_of(h.device);
  return !holder.empty() && holder != task_;
}

Result<std::shared_ptr<Peers>> ServerContext::peers() {
  std::map<std::string, uint64_t> devices;
  {
    std::lock_guard lock(mutex_);
    devices = incarnations_;
  }
  std::lock_guard lock(peers_mutex_);
  if (!peers_) {
    WEFT_ASSIGN(peers_, Peers::make(context_, id_, task_, devices, connections_, steps_));
  }
  return peers_;
}

// The resource of another task that an input of a function names, as an argument of the parts; nothing: it is of this task, or no resource. The client numbers resources of other
// workers; of its own ones it sends the handle, which says where they are.
Result<std::optional<Tensor>> ServerContext::resource_elsewhere(const std::variant<RemoteTensorHandle, Tensor>& in) {
  const auto* number = std::get_if<RemoteTensorHandle>(&in);
  if ((number ? number->dtype : std::get<Tensor>(in).dtype()) != DType::kResource) return std::nullopt;
  if (number && is_elsewhere(*number)) {
    WEFT_ASSIGN(std::shared_ptr<Peers> others, peers());
    WEFT_ASSIGN(Tensor there, others->reference(*number));
    return there;
  }
  WEFT_ASSIGN(Handle h, input(in));
  WEFT_RETURN_IF_ERROR(h->wait());
  const std::string home = resource_device(h->tensor());
  if (home.empty() || task_of(home) == task_) return std::nullopt;
  std::lock_guard lock(mutex_);
  if (!incarnations_.contains(home)) return std::nullopt;  // of another cluster
  return h->tensor();
}

bool ServerContext::names_other_tasks(const std::string& function) {
  const auto is_of_another = [this](const std::string& device) {
    const std::string task = task_of(device);
    if (task.empty() || task == task_) return false;
    std::lock_guard lock(mutex_);
    return std::any_of(incarnations_.begin(), incarnations_.end(), [&](const auto& d) { return task_of(d.first) == task; });
  };
  graph::FunctionLibrary& library = context_.functions();
  std::vector<std::string> todo{function};
  std::set<std::string> seen;
  while (!todo.empty()) {
    const std::string next = std::move(todo.back());
    todo.pop_back();
    if (!library.contains(next) || !seen.insert(next).second) continue;
    const auto def = library.find(next);
    if (!def.ok()) continue;
    for (const graph::NodeDef& n : (*def)->nodes) {
      todo.push_back(n.op);
      graph::for_functions(n.attrs, [&](const std::string& f) { todo.push_back(f); });
      if (!n.device.empty() && is_of_another(n.device)) return true;
    }
  }
  return false;
}

bool ServerContext::is_over_tasks(const Operation& o) {
  std::vector<std::string> functions;
  if (context_.functions().contains(o.name)) functions.push_back(o.name);
  graph::for_functions(o.attrs, [&](const std::string& f) { functions.push_back(f); });
  if (functions.empty()) return false;
  return std::any_of(o.inputs.begin(), o.inputs.end(),
                     [&](const auto& in) {
                       const auto* h = std::get_if<RemoteTensorHandle>(&in);
                       if (h && is_elsewhere(*h)) return h->dtype == DType::kResource;
                       const auto there = resource_elsewhere(in);
                       return there.ok() && *there;
                     }) ||
         std::any_of(functions.begin(), functions.end(), [&](const std::string& f) { return names_other_tasks(f); });
}

Result<std::vector<ServerContext::Handle>> ServerContext::run_over_tasks(const Operation& o, op::CancellationManager& cancellation) {
  WEFT_ASSIGN(std::shared_ptr<Peers> others, peers());
  std::vector<Tensor> args;
  for (const auto& in : o.inputs) {
    WEFT_ASSIGN(std::optional<Tensor> there, resource_elsewhere(in));
    if (there) {
      args.push_back(std::move(*there));
      continue;
    }
    WEFT_ASSIGN(Handle h, input(in));
    WEFT_RETURN_IF_ERROR(h->wait());
    args.push_back(h->tensor());
  }
  const bool is_function = context_.functions().contains(o.name);
  WEFT_ASSIGN(std::vector<Tensor> rets,
              is_function ? others->run(o, std::move(args), cancellation) : others->run_op(o, std::move(args), cancellation));
  WEFT_ASSIGN(Device* device, context_.devices().resolve(o.device, true));
  std::vector<Handle> out;
  for (Tensor& t : rets) out.push_back(eager::TensorHandle::make(std::move(t), device ? device : context_.host()));
  return out;
}

Result<ServerContext::Handle> ServerContext::fetch(const RemoteTensorHandle& h) {
  const std::string holder = task_of(h.device);
  WEFT_ASSIGN(std::shared_ptr<Channel> channel, connections_->to(holder));
  const int64_t number = transfers_.fetch_add(1) + 1;
  const std::string name = cat("transfer ", task_, " ", number, " ", id_);
  uint64_t incarnation = 0;
  {
    std::lock_guard lock(mutex_);
    incarnation = incarnations_[h.device];
  }
  Operation send = send_operation(-number, h, incarnation, context_.host()->name(), name);
  WEFT_ASSIGN(Message request, encode_enqueue(id_, QueueItem(std::move(send))));
  auto handle = eager::TensorHandle::pending(h.dtype, context_.host());
  channel->call("/tensorflow.eager.EagerService/Enqueue", std::move(request), 0, false, [handle](Status s, Message) {
    if (!s.ok()) handle->fail(std::move(s));
  });
  // By the context's rendezvous: nobody waits any longer when the context is closed.
  rendezvous_->recv_async(op::rendezvous_key(h.device, incarnation, context_.host()->name(), name), [handle](Status s, Tensor value, bool) {
    if (s.ok()) handle->set(std::move(value));
    else handle->fail(std::move(s));
  });
  WEFT_RETURN_IF_ERROR(handle->wait());
  return handle;
}

// The values themselves where all of them are small: then nobody needs to ask for them.
static void add_small(QueueResponse& response, std::span<const Tensor> values) {
  size_t bytes = 0;
  for (const Tensor& t : values) {
    if (t.dtype() == DType::kResource || t.dtype() == DType::kVariant || core::lies_elsewhere(t)) return;
    bytes += t.byte_size();
    if (t.dtype() == DType::kString) {
      for (const tstring& s : t.span<tstring>()) bytes += s.size();
    }
  }
  if (bytes <= kSmallValues) response.tensors.assign(values.begin(), values.end());
}

Result<QueueResponse> ServerContext::run_operation(const Operation& o, op::CancellationManager& caller) {
  eager::Op call(context_);
  const bool over_tasks = is_over_tasks(o);
  if (!over_tasks) {
    WEFT_RETURN_IF_ERROR(call.reset(o.name, o.device));
    for (const auto& [name, value] : o.attrs) WEFT_RETURN_IF_ERROR(call.set_attr(name, value));
    for (const auto& in : o.inputs) {
      WEFT_ASSIGN(Handle h, input(in));
      call.add_input(std::move(h));
    }
  }
  std::vector<Handle> outputs;
  {
    op::CancellationManager ends(&rendezvous_->cancellation());  // when the context is closed, or the caller has gone
    const auto token = caller.get_token();
    if (!caller.register_callback(token, [&] { ends.start_cancel(); })) return cancelled("the caller of ", o.name, " has gone");
    Status s;
    {
      const eager::Cancellable until(&ends);
      if (over_tasks) {
        auto ran = run_over_tasks(o, ends);
        s = ran.status();
        if (ran.ok()) outputs = std::move(ran).value();
      } else {
        s = call.execute(outputs);
      }
    }
    caller.deregister_callback(token);
    WEFT_RETURN_IF_ERROR(std::move(s));
  }
  QueueResponse response;
  if (o.wants_values) {
    std::vector<Tensor> values;
    for (const Handle& h : outputs) {
      WEFT_RETURN_IF_ERROR(h->wait());
      values.push_back(h->tensor());
    }
    add_small(response, values);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (o.id == kAnswerOnly) {
      WEFT_RETURN_IF_ERROR(outputs[i]->wait());
      response.tensors.push_back(outputs[i]->tensor());
      continue;
    }
    response.shapes.push_back(outputs[i]->shape());
    if (o.is_function) response.devices.push_back(outputs[i]->device() ? outputs[i]->device()->name() : "");
    store(o.id, int(i), std::move(outputs[i]));
  }
  return response;
}

Status ServerContext::register_function(const RegisterFunction& f) {
  std::vector<std::string> called;
  for (const std::string& bytes : f.library) {
    WEFT_ASSIGN(graph::FunctionDef def, io::decode_function_def(bytes));
    called.push_back(def.name);
    if (!context_.functions().contains(def.name)) WEFT_RETURN_IF_ERROR(context_.functions().add(std::move(def)));
  }
  WEFT_ASSIGN(graph::FunctionDef def, io::decode_function_def(f.function_def));
  const std::string name = def.name;
  WEFT_RETURN_IF_ERROR(context_.functions().add(std::move(def)));
  std::lock_guard lock(mutex_);
  if (f.is_component && !parts_.contains(name)) {
    for (const std::string& callee : called) ++callers_[callee];
    parts_[name] = std::move(called);
  } else if (!f.is_component) {
    own_functions_.insert(called.begin(), called.end());
    own_functions_.insert(name);
  }
  return {};
}

// With a part goes what nobody else has of the functions that came with it.
Status ServerContext::remove_function(const std::string& name) {
  std::vector<std::string> gone{name};
  {
    std::lock_guard lock(mutex_);
    if (const auto part = parts_.find(name); part != parts_.end()) {
      for (const std::string& callee : part->second) {
        const auto it = callers_.find(callee);
        if (it == callers_.end() || --it->second > 0) continue;
        callers_.erase(it);
        if (!own_functions_.contains(callee)) gone.push_back(callee);
      }
      parts_.erase(part);
    }
    own_functions_.erase(name);
  }
  WEFT_RETURN_IF_ERROR(context_.remove_function(name));
  for (size_t i = 1; i < gone.size(); ++i) {
    if (context_.functions().contains(gone[i])) WEFT_RETURN_IF_ERROR(context_.remove_function(gone[i]));
  }
  std::lock_guard peers_lock(peers_mutex_);
  for (const std::string& f : gone) {
    if (peers_) peers_->forget(f);
  }
  return {};
}

Result<QueueResponse> ServerContext::run(const QueueItem& item, op::CancellationManager& caller) {
  touch();
  if (const auto* o = std::get_if<Operation>(&item)) {
    if (packed_.empty()) return run_operation(*o, caller);
    WEFT_ASSIGN(const Operation single, unpacked(*o));
    return run_operation(single, caller);
  }
  if (const auto* p = std::get_if<SendPackedHandle>(&item)) {
    WEFT_RETURN_IF_ERROR(packed_.store(*p));
    return QueueResponse();
  }
  if (const auto* s = std::get_if<SendTensor>(&item)) {
    WEFT_ASSIGN(Device* device, s->device.empty() ? Result<Device*>(context_.host()) : context_.devices().resolve(s->device, false));
    for (size_t i = 0; i < s->tensors.size(); ++i) store(s->op_id, int(i), eager::TensorHandle::make(s->tensors[i], device));
    return QueueResponse();
  }
  if (const auto* d = std::get_if<DecRef>(&item)) {
    if (packed_.erase(d->handle.op_id)) return QueueResponse();
    WEFT_ASSIGN(Handle h, find(d->handle));
    std::lock_guard lock(mutex_);
    auto it = handles_.find(d->handle.op_id);
    if (it == handles_.end()) return QueueResponse();
    it->second[size_t(d->handle.output_num)] = Handle();
    bool any = false;
    for (const Handle& left : it->second) any |= bool(left);
    if (!any) handles_.erase(it);
    return QueueResponse();
  }
  if (const auto* f = std::get_if<RegisterFunction>(&item)) {
    WEFT_RETURN_IF_ERROR(register_function(*f));
    return QueueResponse();
  }
  if (const auto* f = std::get_if<RemoveFunction>(&item)) {
    WEFT_RETURN_IF_ERROR(remove_function(f->name));
    return QueueResponse();
  }
  if (const auto* c = std::get_if<CleanupFunction>(&item)) {
    end_step(c->step_id, cancelled("the step was cleaned up"));
    return QueueResponse();
  }
  if (std::get_if<SyncExecutor>(&item)) {
    // A client's own would wait for what the other tasks do for it, and one of them asks.
    if (made_) WEFT_RETURN_IF_ERROR(context_.sync_executors());
    return QueueResponse();
  }
  return unimplemented("queue item ", std::get<UnknownItem>(item).field, " of EagerService.Enqueue");
}

Result<QueueResponse> ServerContext::run_component(const RunComponentFunction& request) {
  touch();
  Operation single;
  if (!packed_.empty()) {
    WEFT_ASSIGN(single, unpacked(request.operation));
  }
  const Operation& o = single.name.empty() ? request.operation : single;
  if (!o.is_function || !o.is_component_function)
    return internal_error("RunComponentFunction request can only be used to execute component functions.");
  auto attrs = std::make_shared<op::AttrMap>();
  const op::OpSpec* spec = context_.functions().find_spec(o.name);
  if (!spec) return internal_error("Could not find function library for registered component function: ", o.name);
  {
    std::lock_guard lock(mutex_);
    part_steps_.insert(o.func_step_id);
  }
  const auto rendezvous = steps_->find_or_create(o.func_step_id, connections_, task_);
  for (const auto& [name, value] : o.attrs) {
    if (spec->signature().attr_index(name) >= 0) (*attrs)[name] = value;
  }
  op::InstantiateOptions options;
  options.target = o.device;
  options.multi_device = false;
  WEFT_ASSIGN(auto function, context_.runtime().instantiate({o.name, attrs}, options));
  std::vector<Tensor> args;
  for (const auto& in : o.inputs) {
    WEFT_ASSIGN(Handle h, input(in));
    WEFT_RETURN_IF_ERROR(h->wait());
    args.push_back(h->tensor());
  }
  WEFT_ASSIGN(Device* device, context_.devices().resolve(o.device, true));
  if (!device) device = context_.host();
  op::KernelEnv env = context_.runtime().step_env();
  env.device = device;
  env.rendezvous = rendezvous.get();
  env.cancellation = &rendezvous->cancellation();
  std::vector<Tensor> rets(function->ret_types().size());
  if (args.size() != function->arg_types().size())
    return invalid_argument("function ", o.name, " has ", function->arg_types().size(), " arguments, got ", args.size());
  const Status s = function->run(env, args, rets);
  if (!s.ok()) {
    context_.runtime().step_failed(env.step_id);
    rendezvous->abort(s);  // the other parts of the step must not wait for what will not come; CleanupFunction removes the step
    return s;
  }
  if (rets.size() != request.output_nums.size())
    return invalid_argument("function ", o.name, " has ", rets.size(), " results, ", request.output_nums.size(), " were asked for");
  QueueResponse response;
  if (o.wants_values && o.id != kAnswerOnly) add_small(response, rets);
  for (size_t i = 0; i < rets.size(); ++i) {
    if (o.id == kAnswerOnly) {
      response.tensors.push_back(std::move(rets[i]));
      continue;
    }
    response.shapes.push_back(PartialShape(rets[i].shape()));
    if (request.output_nums[i] < 0 || request.output_nums[i] > 1 << 20)
      return invalid_argument("output number ", request.output_nums[i], " of function ", o.name);
    store(o.id, request.output_nums[i], eager::TensorHandle::make(std::move(rets[i]), device));
  }
  return response;
}

// ---- the service

Result<std::shared_ptr<ServerContext>> EagerService::find(uint64_t id) {
  std::lock_guard lock(mutex_);
  auto it = contexts_.find(id);
  if (it == contexts_.end()) {
    char hex[32];
    std::snprintf(hex, sizeof hex, "%llu", static_cast<unsigned long long>(id));
    return Status(Code::kAborted, cat("Unable to find a context_id matching the specified one (", hex,
                                      "). Perhaps the worker was restarted, or the context was GC'd?"));
  }
  return it->second;
}

Message EagerService::own_devices(int field) const {
  std::vector<DeviceAttributes> list;
  for (const auto& d : devices_->all()) list.push_back(attributes_of(*d));
  return Message(encode_device_list(field, list));
}

// The client's cluster may name this server otherwise than the one that it was started with.
std::unique_ptr<DeviceSet> EagerService::renamed(const ServerDef& def) const {
  const auto job = def.cluster.find(def.job);
  if (job == def.cluster.end() || !job->second.contains(def.task) || task_name(def.job, def.task) == task_) return nullptr;
  std::vector<std::unique_ptr<Device>> list;
  for (const auto& d : devices_->all()) {
    const DeviceName& name = d->parsed_name();
    if (name.type != "CPU") return nullptr;
    list.push_back(runtime::make_task_cpu(def.job, def.task, *name.id));
  }
  return std::make_unique<DeviceSet>(std::move(list));
}

Result<Message> EagerService::create(const CreateContext& request) {
  if (request.context_id == 0) return invalid_argument("context_id must not be 0");
  drop_expired();
  {
    std::lock_guard lock(mutex_);
    if (const auto it = contexts_.find(request.context_id); it != contexts_.end()) {  // a client that lost it makes it anew
      if (request.view_id < it->second->view_id())
        return invalid_argument("EagerService:CreateContext failed. Context id: <", request.context_id, "> already exists.");
    } else if (contexts_.size() >= size_t(settings().ok() ? settings()->max_contexts : 1)) {
      return resource_exhausted("this server keeps state for ", contexts_.size(), " clients, which is its limit (WEFT_CLUSTER_MAX_CONTEXTS)");
    }
  }
  auto connections = std::make_shared<Connections>(transport_, request.server_def.cluster);
  auto others = renamed(request.server_def);
  const std::string task = others ? task_name(request.server_def.job, request.server_def.task) : task_;
  auto rendezvous = steps_->find_or_create(int64_t(request.context_id), connections, task);
  auto context = std::make_shared<ServerContext>(registry_, devices_, std::move(others), request, task, connections, std::move(rendezvous), steps_);
  if (prepare) WEFT_RETURN_IF_ERROR(prepare(context->resources()));
  std::shared_ptr<ServerContext> before;  // destroyed after the lock is given back
  std::lock_guard lock(mutex_);
  context->set_trace(trace_);
  before = std::exchange(contexts_[request.context_id], std::move(context));
  return own_devices(2);
}

void EagerService::serve(eager::Context& own, uint64_t id, std::shared_ptr<Connections> connections) {
  auto rendezvous = steps_->find_or_create(int64_t(id), connections, task_);
  auto context = std::make_shared<ServerContext>(own, id, task_, std::move(connections), std::move(rendezvous), steps_);
  std::lock_guard lock(mutex_);
  contexts_[id] = std::move(context);
}

void EagerService::set_trace(op::StepTrace* trace) {
  std::lock_guard lock(mutex_);
  trace_ = trace;
  for (auto& [id, context] : contexts_) context->set_trace(trace);
}

void EagerService::close(uint64_t id, uint64_t view) {
  std::shared_ptr<ServerContext> context;
  {
    std::lock_guard lock(mutex_);
    auto it = contexts_.find(id);
    if (it == contexts_.end() || it->second->view_id() > view) return;
    context = std::move(it->second);
    contexts_.erase(it);
  }
  context->end_steps(cancelled("the context was closed"));
  steps_->erase(int64_t(id), cancelled("the context was closed"));
}

void EagerService::close_all() {
  for (;;) {
    uint64_t id = 0;
    {
      std::lock_guard lock(mutex_);
      if (contexts_.empty()) return;
      id = contexts_.begin()->first;
    }
    close(id);
  }
}

void EagerService::drop_expired() {
  std::vector<uint64_t> ids;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, context] : contexts_) {
      if (context->expired()) ids.push_back(id);
    }
  }
  for (uint64_t id : ids) close(id);
}

Result<Message> EagerService::enqueue(const Unpacked& bytes, op::CancellationManager& caller) {
  WEFT_ASSIGN(EnqueueRequest request, decode_enqueue(bytes));
  WEFT_ASSIGN(std::shared_ptr<ServerContext> context, find(request.context_id));
  std::vector<QueueResponse> responses;
  for (const QueueItem& item : request.queue) {
    WEFT_ASSIGN(QueueResponse r, context->run(item, caller));
    responses.push_back(std::move(r));
  }
  return encode_enqueue_response(responses);
}

Result<Message> EagerService::update(std::string_view bytes) {
  WEFT_ASSIGN(CreateContext request, decode_create_context(bytes, true));
  WEFT_ASSIGN(std::shared_ptr<ServerContext> context, find(request.context_id));
  WEFT_RETURN_IF_ERROR(context->update(request));
  return own_devices(1);
}

Result<Message> EagerService::run_component(std::string_view bytes, op::CancellationManager& caller) {
  WEFT_ASSIGN(RunComponentFunction request, decode_run_component(whole(bytes)));
  WEFT_ASSIGN(std::shared_ptr<ServerContext> context, find(request.context_id));
  for (int64_t step : request.ended_steps) context->end_step(step, cancelled("the step has ended"));
  // Nobody else would tell the part to end. Other parts of the step that wait for this task's values may hear of it before their caller does, and tell it: the connection to this task is what was lost.
  const auto end = [context, step = request.operation.func_step_id] { context->end_step(step, unavailable("the caller of the step has gone")); };
  const auto token = caller.get_token();
  if (!caller.register_callback(token, end)) return cancelled("the caller of the step has gone");
  auto response = context->run_component(request);
  caller.deregister_callback(token);
  WEFT_RETURN_IF_ERROR(response.status());
  return encode_component_response(*response);
}

Result<Message> EagerService::keep_alive(uint64_t id) {
  WEFT_ASSIGN(std::shared_ptr<ServerContext> context, find(id));
  context->touch();
  return Message(encode_ids(1, context->view_id()));
}

namespace {

// The requests of one StreamingEnqueue, one after the other. A failed one ends the stream with its status, as TensorFlow does.
class EnqueueStream final : public StreamHandler {
 public:
  EnqueueStream(std::shared_ptr<EagerService> service, std::shared_ptr<ServerStream> stream, RunOn run_on) : state_(std::make_shared<State>()) {
    state_->service = std::move(service);
    state_->stream = std::move(stream);
    run_on_ = std::move(run_on);
  }
  void message(Message m) override {
    {
      std::lock_guard lock(state_->mutex);
      state_->queue.push_back(std::move(m));
      if (std::exchange(state_->busy, true)) return;
    }
    run_on_([state = state_] { work(*state); });
  }
  void ended() override {
    {
      std::lock_guard lock(state_->mutex);
      state_->ended = true;
      if (std::exchange(state_->busy, true)) return;
    }
    finish(*state_, {});
  }
  // What was sent before the client ended is done if it does not take long; what would wait for ever ends.
  void abandoned() override {
    runtime::run_on_blocking_thread([state = state_] {
      constexpr auto kGrace = std::chrono::seconds(2);
      {
        std::unique_lock lock(state->mutex);
        if (state->changed.wait_for(lock, kGrace, [&] { return state->over; })) return;
      }
      state->caller.start_cancel();
    });
  }

 private:
  struct State {
    std::shared_ptr<EagerService> service;
    std::shared_ptr<ServerStream> stream;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Message> queue;
    bool busy = false;  // for good when it is over
    bool ended = false, over = false;
    op::CancellationManager caller;
  };
  static void finish(State& state, Status status) {
    state.stream->finish(std::move(status));
    std::lock_guard lock(state.mutex);
    state.over = true;
    state.changed.notify_all();
  }
  static void work(State& state) {
    for (;;) {
      Message request;
      {
        std::lock_guard lock(state.mutex);
        if (state.queue.empty()) {
          if (state.ended) break;
          state.busy = false;
          return;
        }
        request = std::move(state.queue.front());
        state.queue.pop_front();
      }
      Message response;
      Status s = without_exceptions([&]() -> Status {
        WEFT_ASSIGN(Unpacked unpacked, unpack(std::move(request), TensorsIn::kEnqueueRequest));
        WEFT_ASSIGN(response, state.service->enqueue(unpacked, state.caller));
        return {};
      });
      if (!s.ok()) return finish(state, std::move(s));
      state.stream->write(std::move(response));
      state.stream->next();
    }
    finish(state, {});
  }
  const std::shared_ptr<State> state_;
  RunOn run_on_;
};

}  // namespace

void add_eager_methods(MethodTable& methods, std::shared_ptr<EagerService> service) {
  constexpr std::string_view kService = "tensorflow.eager.EagerService";
  const auto add = [&](std::string_view name, auto run) {
    methods.add_blocking(kService, name, [service, run](std::string_view bytes) -> Result<Message> { return run(*service, bytes); });
  };
  methods.add_long(kService, "Enqueue",
                   [service](std::string_view bytes, op::CancellationManager& caller) { return service->enqueue(whole(bytes), caller); });
  add("CreateContext", [](EagerService& s, std::string_view bytes) -> Result<Message> {
    WEFT_ASSIGN(CreateContext request, decode_create_context(bytes));
    return s.create(request);
  });
  add("UpdateContext", [](EagerService& s, std::string_view bytes) { return s.update(bytes); });
  methods.add_long(kService, "RunComponentFunction",
                   [service](std::string_view bytes, op::CancellationManager& caller) { return service->run_component(bytes, caller); });
  add("KeepAlive", [](EagerService& s, std::string_view bytes) { return s.keep_alive(decode_id(1, bytes)); });
  add("WaitQueueDone", [](EagerService& s, std::string_view bytes) -> Result<Message> {
    WEFT_RETURN_IF_ERROR(s.find(decode_id(1, bytes)).status());
    return Message();
  });
  add("CloseContext", [](EagerService& s, std::string_view bytes) -> Result<Message> {
    s.close(decode_id(1, bytes), decode_id(2, bytes));
    return Message();
  });
  methods.add_stream(kService, "StreamingEnqueue", [service](std::shared_ptr<ServerStream> stream, const RunOn& run_on) {
    return std::make_unique<EnqueueStream>(service, std::move(stream), run_on);
  });
}

}  // namespace weft_engine::remote
