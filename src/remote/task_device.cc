#include "remote/task_device.h"

#include <set>

#include "eager/context.h"
#include "eager/op.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "graph/to_function.h"
#include "io/graph_def.h"
#include "remote/call_link.h"
#include "remote/connections.h"
#include "remote/resource_names.h"

namespace weft_engine::remote {

// ---- outputs

static Operation identity(const TaskDevice& device, int64_t id, const Output& of) {
  Operation o;
  o.id = id;
  o.name = std::string(op::op_of(op::Role::kIdentity));
  o.device = device.name();
  o.attrs["T"] = of.value_type();
  o.inputs.emplace_back(of.handle());
  return o;
}

Result<PartialShape> Output::shape() {
  WEFT_RETURN_IF_ERROR(answer_->wait());
  const auto& shapes = answer_->response().shapes;
  return size_t(index_) < shapes.size() ? shapes[size_t(index_)] : PartialShape::unknown();
}

void Output::fetch(std::function<void(Result<Tensor>)> done) {
  if (!device_.task->gives_values()) return ask(std::move(done));
  // The value may come with the answer.
  answer_->when_done([self = shared_from_this(), done = std::move(done)](const Status& s) mutable {
    Answer& answer = *self->answer_;
    answer.mark_seen();
    if (!s.ok()) return done(s);
    if (answer.response().tensors.size() == answer.response().shapes.size() && size_t(self->index_) < answer.response().tensors.size())
      return done(answer.response().tensors[size_t(self->index_)]);
    self->ask(std::move(done));
  });
}

// Not waiting for the op: what comes behind it on the stream comes after it, or fails as it did.
void Output::ask(std::function<void(Result<Tensor>)> done) {
  Operation o = identity(device_, kAnswerOnly, *this);
  const auto answer = device_.task->enqueue(QueueItem(std::move(o)), {shared_from_this()});
  answer->when_done([answer = answer.get(), of = answer_, done = std::move(done), name = device_.task->name](const Status& s) {
    answer->mark_seen();
    of->mark_seen();
    if (!s.ok()) return done(s);
    if (answer->response().tensors.size() != 1) return done(internal_error(name, " was asked for a tensor and gave none"));
    done(answer->response().tensors[0]);
  });
}

// ---- functions

namespace {

// Calls `f` for a function with all that it calls.
Status for_library(const graph::FunctionLibrary& library, std::vector<std::string> todo,
                   const std::function<Status(const std::string&, std::shared_ptr<const graph::FunctionDef>)>& f) {
  std::set<std::string> seen(todo.begin(), todo.end());
  while (!todo.empty()) {
    const std::string next = std::move(todo.back());
    todo.pop_back();
    if (!library.contains(next)) continue;
    WEFT_ASSIGN(std::shared_ptr<const graph::FunctionDef> def, library.find(next));
    const auto want = [&](const std::string& name) {
      if (seen.insert(name).second) todo.push_back(name);
    };
    for (const auto& n : def->nodes) {
      want(n.op);
      graph::for_functions(n.attrs, want);
    }
    WEFT_RETURN_IF_ERROR(f(next, std::move(def)));
  }
  return {};
}

// Those that are gone here; nothing calls them any more. With the lock held.
void remove_functions(Task& task, const graph::FunctionLibrary& library) {
  std::erase_if(task.functions, [&](const auto& known) {
    if (library.contains(known.first)) return false;
    task.enqueue(QueueItem(RemoveFunction{known.first}));
    return true;
  });
  task.functions_sweep = std::max(size_t(64), 2 * task.functions.size());
}

// As far as the task does not know them.
Status register_functions(Task& task, const graph::FunctionLibrary& library, const std::string& name) {
  std::lock_guard lock(task.functions_mutex);
  if (task.functions.size() >= task.functions_sweep) remove_functions(task, library);
  return for_library(library, {name}, [&](const std::string& next, std::shared_ptr<const graph::FunctionDef> def) -> Status {
    auto& known = task.functions[next];
    if (known == def) return {};
    if (known) task.enqueue(QueueItem(RemoveFunction{next}));
    WEFT_ASSIGN(std::string bytes, io::encode_function_def(*def));
    task.enqueue(QueueItem(RegisterFunction{std::move(bytes), false, {}}));
    known = std::move(def);
    return {};
  });
}

}  // namespace

Result<std::shared_ptr<ClusterSteps>> TaskDevice::cluster() const {
  auto cluster = cluster_.lock();
  if (!cluster) return failed_precondition(name(), " belongs to a cluster that the context has left");
  return cluster;
}

Result<std::shared_ptr<op::Rendezvous>> TaskDevice::start_step() {
  WEFT_ASSIGN(auto all, cluster());
  return all->start_step();
}

void TaskDevice::before_waiting(const std::function<bool()>& done) { read_while_waiting(done); }
void Output::before_waiting(const std::function<bool()>& done) { read_while_waiting(done); }

// ---- ops

Status TaskDevice::execute(eager::Op& call, const op::NodeInfo& node, eager::TensorHandle** outputs) {
  WEFT_ASSIGN(auto all, cluster());
  Operation o;
  o.id = all->next_op();
  o.name = std::string(node.op());
  o.device = name();
  const auto& specs = node.spec().signature().attrs;
  for (size_t i = 0; i < specs.size(); ++i) o.attrs[specs[i].name] = node.attrs()[i];
  for (const auto& [attr, value] : node.extra_attrs()) o.attrs[attr] = value;
  const graph::FunctionLibrary& library = call.context().functions();
  o.is_function = library.contains(o.name);
  if (o.is_function) WEFT_RETURN_IF_ERROR(register_functions(*task, library, o.name));
  Status failed;
  graph::for_functions(o.attrs, [&](const std::string& f) {
    if (failed.ok()) failed = register_functions(*task, library, f);
  });
  WEFT_RETURN_IF_ERROR(failed);
  std::vector<std::shared_ptr<const void>> keep;
  for (const auto& in : call.inputs()) {
    const auto there = std::dynamic_pointer_cast<Output>(in->remote_value());
    if (there && !in->ready()) {
      // One of another task is fetched by this one, which must find it there.
      if (there->task() != task.get()) {
        WEFT_RETURN_IF_ERROR(there->answer()->wait());
        keep.push_back(there);
      }
      o.inputs.emplace_back(there->handle());
      continue;
    }
    if (there && there->task() == task.get()) {
      o.inputs.emplace_back(there->handle());
      continue;
    }
    WEFT_RETURN_IF_ERROR(in->wait());
    o.inputs.emplace_back(in->tensor());
  }
  o.wants_values = true;
  const int64_t id = o.id;
  const auto answer = task->enqueue(QueueItem(std::move(o)), std::move(keep));
  if (answer->refused()) {  // as a value that does not travel: what uses its results would only hear that they are not there
    answer->mark_seen();
    return answer->status();
  }
  for (size_t i = 0; i < node.output_types().size(); ++i) {
    const DType type = base_type(node.output_types()[i]);
    outputs[i] = eager::TensorHandle::remote(type, this, std::make_shared<Output>(*this, id, int(i), type, answer)).release();
  }
  return {};
}

// ---- parts of functions

namespace {

class RemotePart final : public runtime::Executable {
 public:
  RemotePart(TaskDevice& device, std::string name, std::vector<DType> ret_types, std::shared_ptr<Answer> registered)
      : device_(device), name_(std::move(name)), ret_types_(std::move(ret_types)), registered_(std::move(registered)) {}
  // The task lets go of it, behind all that was sent. TensorFlow's tasks know no way to forget a part.
  ~RemotePart() override {
    if (!device_.task->gives_values()) return;
    registered_->when_done([task = device_.task, name = name_](const Status& s) {
      if (s.ok()) task->enqueue(QueueItem(RemoveFunction{name}));
    });
  }

  Status run(const op::KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override {
    struct Waiting {
      std::mutex mutex;
      std::condition_variable changed;
      bool done = false;
      Status status;
      std::vector<Tensor> rets;
    };
    auto waiting = std::make_shared<Waiting>();
    run_async(env, std::vector<Tensor>(args.begin(), args.end()), [waiting](Status s, std::vector<Tensor> out) {
      std::lock_guard lock(waiting->mutex);
      waiting->status = std::move(s);
      waiting->rets = std::move(out);
      waiting->done = true;
      waiting->changed.notify_one();
    });
    std::unique_lock lock(waiting->mutex);
    op::CancellationManager::wait(lock, waiting->changed, env.cancellation, [&] { return waiting->done; });
    WEFT_RETURN_IF_ERROR(waiting->status);
    std::move(waiting->rets.begin(), waiting->rets.end(), rets.begin());
    return {};
  }

  void run_async(const op::KernelEnv& env, std::vector<Tensor> args, op::FunctionHandle::Done done) override {
    auto call = make_call(env, args);
    if (!call.ok()) return done(call.status(), {});
    (*call)->done = std::move(done);
    // What was sent on the stream comes first.
    device_.task->when_idle([call = *call](const Status& s) {
      if (!s.ok()) return call->done(s, {});
      start(call);
    });
  }

 private:
  struct Call {
    TaskDevice* device;
    RunComponentFunction request;
    std::vector<DType> ret_types;
    std::vector<std::shared_ptr<const void>> keep;  // arguments, until it has ended
    std::shared_ptr<Answer> registered;
    op::CancellationManager* cancellation;
    op::CancellationManager::Token token = 0;
    op::FunctionHandle::Done done;
  };

  Result<std::shared_ptr<Call>> make_call(const op::KernelEnv& env, std::span<const Tensor> args) const {
    WEFT_ASSIGN(auto cluster, device_.cluster());
    auto* step = dynamic_cast<TaskRendezvous*>(env.rendezvous);
    if (!step) return internal_error("a part of a function on ", device_.name(), " runs outside of a step of the cluster");
    auto call = std::make_shared<Call>();
    step->when_ended([task = device_.task, id = step->step_id()] { task->end_step(id); });
    call->device = &device_;
    call->ret_types = ret_types_;
    call->registered = registered_;
    call->cancellation = env.cancellation;
    RunComponentFunction& r = call->request;
    r.context_id = device_.task->context_id;
    Operation& o = r.operation;
    o.id = cluster->next_op();
    o.name = name_;
    o.device = device_.name();
    o.is_function = o.is_component_function = true;
    o.func_step_id = step->step_id();
    o.wants_values = true;
    for (size_t i = 0; i < ret_types_.size(); ++i) r.output_nums.push_back(int(i));
    for (const Tensor& t : args) {
      if (auto there = std::dynamic_pointer_cast<Output>(core::referred(t))) {
        WEFT_RETURN_IF_ERROR(there->answer()->wait());  // of an argument: its op was waited for
        // TensorFlow's tasks end a step after a part whose arguments they had to fetch: those are brought there before.
        if (there->task() != device_.task.get() && !device_.task->gives_values()) there = copied(*cluster, std::move(there));
        o.inputs.emplace_back(there->handle());
        call->keep.push_back(there);
        continue;
      }
      // A handle of a resource of that task does: it finds it by the name in the handle.
      if (t.dtype() == DType::kResource && task_of(resource_device(t)) != device_.task->name)
        return invalid_argument("a resource of this process cannot be used on ", device_.name(), ", a device of another one, by function ", name_);
      o.inputs.emplace_back(t);
    }
    return call;
  }

  std::shared_ptr<Output> copied(ClusterSteps& cluster, std::shared_ptr<Output> from) const {
    Operation o = identity(device_, cluster.next_op(), *from);
    const int64_t id = o.id;
    const DType type = from->value_type();
    return std::make_shared<Output>(device_, id, 0, type, device_.task->enqueue(QueueItem(std::move(o)), {std::move(from)}));
  }

  static void start(const std::shared_ptr<Call>& call) {
    if (call->registered->failed()) return call->done(call->registered->status(), {});
    Task& task = *call->device->task;
    if (task.gives_values()) call->request.ended_steps = task.take_ended_steps();
    auto message = encode_run_component(call->request);
    if (!message.ok()) return call->done(message.status(), {});
    std::shared_ptr<ClientCall> running;
    const auto answer = task.start("/tensorflow.eager.EagerService/RunComponentFunction", std::move(message).value(), 0, false, &running);
    if (call->cancellation) {
      call->token = call->cancellation->get_token();
      const int64_t step = call->request.operation.func_step_id;
      auto cancel = [device = call->device, running, step] {
        if (running) running->cancel();
        forget_step(*device->task, step);
      };
      if (!call->cancellation->register_callback(call->token, cancel)) cancel();
    }
    answer->when_done([call, answer = answer.get()](const Status& s) {
      if (call->cancellation) call->cancellation->try_deregister_callback(call->token);
      call->keep.clear();
      if (!s.ok()) return call->done(s, {});
      auto outputs = results(*call, std::move(answer->message()));
      if (!outputs.ok()) return call->done(outputs.status(), {});
      call->done({}, std::move(outputs).value());
    });
  }

  static Result<std::vector<Tensor>> results(const Call& call, Message message) {
    WEFT_ASSIGN(Unpacked unpacked, unpack(std::move(message), TensorsIn::kRunComponentResponse));
    WEFT_ASSIGN(QueueResponse response, decode_component_response(unpacked));
    if (!response.tensors.empty() && !response.shapes.empty()) call.device->task->now_gives_values();
    auto known = std::make_shared<Answer>();
    known->finish({}, std::move(response));
    std::vector<Tensor> out;
    for (size_t i = 0; i < call.ret_types.size(); ++i)
      out.push_back(reference_to(std::make_shared<Output>(*call.device, call.request.operation.id, int(i), call.ret_types[i], known)));
    return out;
  }

 public:
  // Beside the stream, on which something may be waiting for just this step.
  static void forget_step(Task& task, int64_t step) {
    auto message = encode_enqueue(task.context_id, QueueItem(CleanupFunction{step}));
    if (message.ok()) task.start("/tensorflow.eager.EagerService/Enqueue", std::move(message).value(), 10);
  }

 private:
  TaskDevice& device_;
  const std::string name_;
  const std::vector<DType> ret_types_;
  const std::shared_ptr<Answer> registered_;
};

}  // namespace

Result<std::unique_ptr<runtime::Executable>> TaskDevice::plan_part(const runtime::Part& part) {
  WEFT_RETURN_IF_ERROR(cluster().status());
  const graph::FunctionBody& body = part.body;
  graph::Interface io;
  for (graph::Node* n : body.args) io.inputs.push_back({n, 0});
  for (graph::Node* n : body.rets) io.outputs.push_back(n->input(0));
  for (graph::Node* n : body.graph->nodes()) {
    if (graph::is_arg(*n) || graph::is_retval(*n)) continue;
    io.body.push_back(n);
    if (n->spec().stateful) io.control_outputs.push_back(n);
  }
  const std::string unique = cat("__component_", part.body.name, "_", random_id());
  WEFT_ASSIGN(graph::FunctionDef def, graph::make_function(*body.graph, unique, false, io));
  RegisterFunction registration;
  registration.is_component = true;
  WEFT_ASSIGN(registration.function_def, io::encode_function_def(def));
  std::vector<std::string> called;
  for (const auto& n : def.nodes) {
    called.push_back(n.op);
    graph::for_functions(n.attrs, [&](const std::string& f) { called.push_back(f); });
  }
  if (body.graph->library()) {
    WEFT_RETURN_IF_ERROR(for_library(*body.graph->library(), called, [&](const std::string&, std::shared_ptr<const graph::FunctionDef> f) -> Status {
      WEFT_ASSIGN(std::string bytes, io::encode_function_def(*f));
      registration.library.push_back(std::move(bytes));
      return {};
    }));
  }
  auto registered = task->enqueue(QueueItem(std::move(registration)));
  return std::unique_ptr<runtime::Executable>(std::make_unique<RemotePart>(*this, unique, body.ret_types, std::move(registered)));
}

}  // namespace weft_engine::remote
