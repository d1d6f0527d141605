#include "trace/concrete_function.h"

#include <algorithm>

#include "autodiff/function_gradient.h"
#include "autodiff/gradients.h"
#include "eager/remote.h"
#include "eager/op.h"
#include "eager/result_handle.h"
#include "eager/layout.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/step_resources.h"
#include "runtime/function_runtime.h"
#include "runtime/interruptible.h"
#include "runtime/partition.h"
#include "trace/library_function.h"
#include "trace/variable.h"

namespace weft_engine::trace {

struct FunctionPair {
  autodiff::FunctionGradient names;
  std::shared_ptr<FunctionHandle> forward;
  std::shared_ptr<ConcreteFunction> backward;
  std::shared_ptr<ConcreteFunction> itself;  // forward as a function, for gradients of the next order; null where it saves nothing
};

Emitter& emitter_here(eager::Context& context) {
  if (FuncGraph* g = FuncGraph::current()) return g->emitter();
  return eager_emitter(context);
}

namespace {

// The handle of the call that this thread makes, for a run that may be left to itself (runtime/interruptible.h).
thread_local const std::shared_ptr<FunctionHandle>* t_handle = nullptr;
struct HandleOfCall {
  explicit HandleOfCall(const std::shared_ptr<FunctionHandle>& h) { t_handle = &h; }
  ~HandleOfCall() { t_handle = nullptr; }
};

// Results stay on the device that computed them, as those of eager ops do.
Status run_where_it_is(FunctionHandle& handle, const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) {
  auto* instance = core::own_memory_blocks.load(std::memory_order_relaxed) ? dynamic_cast<runtime::Instance*>(&handle) : nullptr;
  if (!instance) return handle.run(env, args, rets);
  WEFT_RETURN_IF_ERROR(instance->run_in_place(env, args, rets));
  return runtime::fetch_all(rets);
}

// Runs the function; its caller may interrupt it. `owner` may be null: it runs on this thread then.
Status run_function(eager::Context& context, FunctionHandle& handle, const std::shared_ptr<FunctionHandle>* owner, std::span<Tensor> args,
                    std::span<Tensor> rets) {
  KernelEnv env = context.runtime().step_env();
  env.device = context.host();
  env.trace = context.trace.load(std::memory_order_relaxed);
  auto end = [&runtime = context.runtime(), id = env.step_id](Status s) {
    if (!s.ok() || op::steps_have_resources()) runtime.step_failed(id);
    return s;
  };
  if (!runtime::may_be_interrupted()) return end(run_where_it_is(handle, env, args, rets));
  const runtime::Expected expected(&handle, 1, false);
  if (!expected.long_call() || env.trace || !owner) {
    op::CancellationManager cancellation;
    env.cancellation = &cancellation;
    return end(run_where_it_is(handle, env, args, rets));
  }
  std::vector<const Tensor*> in;
  for (const Tensor& t : args) in.push_back(&t);
  return runtime::run_detached(in, rets,
                               [kept = *owner, env, end, counted = runtime::DetachedCalls::Run(context.detached_calls)](
                                   op::CancellationManager& c, std::span<Tensor> from, std::span<Tensor> to) mutable {
                                 env.cancellation = &c;
                                 return end(run_where_it_is(*kept, env, from, to));
                               });
}

Result<std::vector<Value>> run_now(EagerEmitter& emitter, eager::Context& context, FunctionHandle& handle, std::span<const Value> arguments) {
  std::vector<Tensor> args(arguments.size()), rets(handle.ret_types().size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    eager::TensorHandle* h = eager_handle(arguments[i]);
    if (!h) return invalid_argument("argument ", i, " belongs to a graph: it has no value outside the function that was traced");
    WEFT_RETURN_IF_ERROR(h->wait());
    args[i] = h->tensor();
  }
  const auto* owner = std::exchange(t_handle, nullptr);
  WEFT_RETURN_IF_ERROR(run_function(context, handle, owner && owner->get() == &handle ? owner : nullptr, args, rets));
  std::vector<Value> out;
  out.reserve(rets.size());
  for (Tensor& t : rets) out.push_back(emitter.wrap(eager::result_handle(std::move(t), context.host())));
  return out;
}

// Of a call that the program made; `name` is what it called, if the error does not say that already.
Status in_function(const Status& s, const std::string& name) {
  Status::Origin origin = s.origin();
  if (origin.function.empty()) origin.op = name;
  origin.function = name;
  return s.with_origin(std::move(origin));
}

// Whether the call is for whoever runs tensors with layouts; as an op it comes there.
bool laid_out(std::span<const Value> arguments) {
  if (!eager::layout_runner.load(std::memory_order_relaxed)) return false;
  return eager::layout_scope() ||
         std::any_of(arguments.begin(), arguments.end(), [](const Value& v) { return eager_handle(v) && eager_handle(v)->layout(); });
}

// The device of another process that the call is for: that of the device scope. Null: it is called here, which does not keep its nodes from being elsewhere.
eager::RemoteDevice* remote_target(eager::Context& context) {
  if (scoped_device().empty()) return nullptr;
  auto device = context.devices().resolve(scoped_device(), true);
  return device.ok() ? dynamic_cast<eager::RemoteDevice*>(*device) : nullptr;
}

// In a cluster it is an op of the function's name.
Result<std::vector<Value>> call_as_op(EagerEmitter& emitter, eager::Context& context, const std::string& name, std::span<const Value> arguments) {
  eager::RemoteDevice* const there = remote_target(context);
  eager::Op op(context);
  WEFT_RETURN_IF_ERROR(op.reset(name, there ? there->name() : std::string()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    eager::TensorHandle* h = eager_handle(arguments[i]);
    if (!h) return invalid_argument("argument ", i, " belongs to a graph: it has no value outside the function that was traced");
    op.add_input(RefPtr<eager::TensorHandle>::share(h));
  }
  std::vector<RefPtr<eager::TensorHandle>> handles;
  WEFT_RETURN_IF_ERROR(op.execute(handles));
  std::vector<Value> out;
  out.reserve(handles.size());
  for (auto& h : handles) out.push_back(emitter.wrap(std::move(h)));
  return out;
}

}  // namespace

std::string& scoped_device() {
  thread_local std::string device;
  return device;
}

Result<std::vector<Value>> call_function(Emitter& emitter, eager::Context& context, const std::string& name, bool stateful,
                                         std::span<const Value> arguments, const std::vector<DType>& ret_types, FunctionHandle* handle) {
  if (auto* eager = dynamic_cast<EagerEmitter*>(&emitter); eager && !laid_out(arguments)) {
    if (context.remote_tasks) {
      auto out = call_as_op(*eager, context, name, arguments);
      if (!out.ok()) return in_function(out.status(), name);
      return out;
    }
    std::shared_ptr<FunctionHandle> found;
    if (!handle) {
      WEFT_ASSIGN(found, context.runtime().instantiate(FunctionAttr{name, nullptr}));
      handle = found.get();
    }
    auto out = run_now(*eager, context, *handle, arguments);
    if (!out.ok()) return in_function(out.status(), name);
    return out;
  }
  AttrMap attrs;
  attrs["f"] = FunctionAttr{name, nullptr};
  std::vector<DType> types;
  for (const Value& v : arguments) types.push_back(v.dtype());
  attrs["Tin"] = std::move(types);
  attrs["Tout"] = ret_types;
  std::vector<int64_t> read_only;
  if (auto f = LibraryFunction::find(name)) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].dtype() == DType::kResource && !f->writes(i)) read_only.push_back(int64_t(i));
    }
  }
  attrs["_read_only_resource_inputs"] = std::move(read_only);
  attrs["_collective_manager_ids"] = std::vector<int64_t>();
  auto out = emitter.apply(op_of(Role::kCall, stateful), arguments, std::move(attrs));
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  return out;
}

ConcreteFunction::~ConcreteFunction() = default;  // the plan before the functions that it calls: see the order of the members

namespace {

// What a captured value is in the end: a function that was traced inside another one, and uses what that one captured, can be called elsewhere as well.
Value rooted(Value v) {
  while (auto* e = dynamic_cast<TraceEmitter*>(v.rep()->owner())) {
    const Node* node = graph::GraphEmitter::unwrap(v).node;
    const auto& captures = e->func_graph().captures();
    auto it = std::find_if(captures.begin(), captures.end(), [&](const FuncGraph::Capture& c) { return c.node == node; });
    if (it == captures.end()) break;
    v = it->outer;
  }
  return v;
}

}  // namespace

Result<std::shared_ptr<ConcreteFunction>> ConcreteFunction::make(std::shared_ptr<FuncGraph> g, std::span<const Value> outputs) {
  std::shared_ptr<ConcreteFunction> f(new ConcreteFunction(g->context()));
  std::vector<Value> results;
  for (const Value& v : outputs) {
    // Through an identity: an argument may be a result, and a result may be given twice.
    WEFT_ASSIGN(Value own, g->import(v));
    results.push_back(g->emitter().one(op_of(Role::kIdentity), {own}));
    WEFT_RETURN_IF_ERROR(g->emitter().take_status());
    f->ret_types_.push_back(own.dtype());
    f->ret_shapes_.push_back(own.shape());
  }
  std::vector<Endpoint> inputs;
  for (Node* n : g->arguments()) inputs.push_back({n, 0});
  for (const auto& c : g->captures()) {
    inputs.push_back({c.node, 0});
    f->captures_.push_back(rooted(c.outer));
  }
  for (const Endpoint& e : inputs) f->arg_types_.push_back(e.node->output_type(0));
  WEFT_ASSIGN(auto made,
              LibraryFunction::make(*g, LibraryFunction::unique_name(g->context(), cat("__inference_", g->name())), std::move(inputs), results));
  f->name_ = made->name();
  f->stateful_ = made->stateful();
  f->owner_ = std::move(made);
  // By its body, not by name: the plan is this object's, and is freed with it.
  WEFT_ASSIGN(auto def, g->context().functions().find(f->name_));
  WEFT_ASSIGN(graph::FunctionBody body, graph::instantiate_function(*def, {}, g->context().registry(), g->context().runtime().library()));
  f->handle_ = g->context().runtime().instantiate(std::move(body), nullptr, g->must_compile);
  f->variables_ = g->variables();
  f->graph_variables_ = g->graph_variables();
  f->graph_ = std::move(g);
  return f;
}

Result<std::shared_ptr<ConcreteFunction>> ConcreteFunction::of_library(eager::Context& context, std::string name, std::vector<Value> captures) {
  std::shared_ptr<ConcreteFunction> f(new ConcreteFunction(context));
  f->owner_ = context.functions().owner(name);
  WEFT_ASSIGN(auto def, context.functions().find(name));
  WEFT_ASSIGN(f->handle_, context.runtime().instantiate(FunctionAttr{name, nullptr}));
  f->arg_types_ = f->handle_->arg_types();
  f->ret_types_ = f->handle_->ret_types();
  f->ret_shapes_.resize(f->ret_types_.size());
  if (captures.size() > f->arg_types_.size())
    return invalid_argument(name, " has ", f->arg_types_.size(), " arguments, but ", captures.size(), " captures");
  f->captures_ = std::move(captures);
  f->stateful_ = def->stateful;
  f->name_ = std::move(name);
  return f;
}

Result<std::shared_ptr<const FunctionPair>> ConcreteFunction::pair_for(const std::vector<bool>& wanted, bool saved) {
  const auto known = [&]() -> std::shared_ptr<const FunctionPair> {
    std::lock_guard lock(mutex_);
    for (const auto& p : pairs_) {
      if (p.first == wanted) return p.second;
    }
    return nullptr;
  };
  if (auto found = known()) return found;
  // Not under the lock: a gradient of the program's may run now, which may call this function.
  auto made = std::make_shared<FunctionPair>();
  std::vector<bool> output_grads;
  for (DType t : ret_types_) output_grads.push_back(autodiff::differentiable(t) && t != DType::kResource && (saved || t != DType::kVariant));
  WEFT_ASSIGN(made->names,
              autodiff::function_gradient(context_.registry(), context_.runtime().library(), {name_, nullptr}, wanted, output_grads, true));
  WEFT_ASSIGN(made->forward, context_.runtime().instantiate(FunctionAttr{made->names.forward, nullptr}));
  if (!made->names.backward.empty()) {
    WEFT_ASSIGN(made->backward, of_library(context_, made->names.backward, {}));
    if (!made->backward->owner_) made->backward->owner_ = owner_;  // it may call what this one calls
  }
  if (made->names.num_saved > 0) {
    WEFT_ASSIGN(made->itself, of_library(context_, made->names.forward, {}));
    if (!made->itself->owner_) made->itself->owner_ = owner_;
  }
  if (auto found = known()) return found;
  std::lock_guard lock(mutex_);
  pairs_.emplace_back(wanted, made);
  return std::shared_ptr<const FunctionPair>(made);
}

// The forward function gives what the backward needs; the tapes get one record for the whole call. A tape around another one
// may be asked for the gradient of a gradient, which flows through the saved values: it gets the forward of the forward, and so on.
Result<std::vector<Value>> ConcreteFunction::call_recorded(Emitter& emitter, std::span<const Value> all) {
  std::vector<bool> wanted(all.size());
  for (size_t i = 0; i < all.size(); ++i) wanted[i] = autodiff::differentiable(all[i].dtype()) && TapeStack::current().wants(all.subspan(i, 1));
  const auto& listening = TapeStack::current().tapes();
  std::vector<Tape*> tapes;  // the innermost first
  for (auto it = listening.rbegin(); it != listening.rend(); ++it) {
    if ((*it)->watches_any(all)) tapes.push_back(*it);
  }
  std::vector<std::shared_ptr<const FunctionPair>> orders;
  ConcreteFunction* f = this;
  for (size_t k = 0; k < tapes.size() && f; ++k) {
    WEFT_ASSIGN(auto pair, f->pair_for(wanted, k > 0));
    f = pair->itself.get();
    orders.push_back(std::move(pair));
  }
  const FunctionPair& last = *orders.back();
  std::vector<Value> out;
  {
    autodiff::PausedTapes paused;
    const HandleOfCall held(last.forward);
    WEFT_ASSIGN(
        out, call_function(emitter, context_, last.names.forward, last.names.stateful_forward, all, last.forward->ret_types(), last.forward.get()));
  }
  if (out.size() != size_t(last.names.num_outputs + last.names.num_saved))
    return internal_error("the forward function of ", name_, " gave ", out.size(), " values");
  for (size_t k = 0; k < tapes.size(); ++k) {
    const auto& pair = orders[std::min(k, orders.size() - 1)];
    const auto results = std::span<const Value>(out).first(size_t(pair->names.num_outputs + pair->names.num_saved));
    record(*tapes[k], pair, all, results);
  }
  out.resize(size_t(orders[0]->names.num_outputs));
  return out;
}

void ConcreteFunction::record(Tape& tape, const std::shared_ptr<const FunctionPair>& pair, std::span<const Value> all, std::span<const Value> out) {
  // The tapes record the saved values, too: second derivatives flow back through them.
  auto backprop = [pair, self = shared_from_this(), inputs = std::vector<Value>(all.begin(), all.end()),
                   results = std::vector<Value>(out.begin(), out.end()),
                   &context = context_](Emitter& e, std::span<const Value> dys) -> Result<Grads> {
    const autodiff::FunctionGradient& g = pair->names;
    Grads grads(inputs.size());
    const auto saved_dys = dys.subspan(size_t(g.num_outputs));
    if (std::any_of(saved_dys.begin(), saved_dys.end(), [](const Value& v) { return v.valid(); })) {
      // Seldom (a tape that is asked for the gradient of its own): the forward function once more, whose every result has a gradient.
      if (g.stateful_forward) return unimplemented("the second derivative of ", g.forward, ", which has side effects: they would happen again");
      WEFT_ASSIGN(auto again, ConcreteFunction::of_library(context, g.forward, {}));
      Tape tape(false);
      for (const Value& v : inputs) tape.watch(v);
      TapeStack::current().push(&tape);
      auto outs = again->call(inputs);
      TapeStack::current().pop(&tape);
      if (!outs.ok()) return outs.status();
      std::vector<Value> targets, seeds;
      for (size_t i = 0; i < dys.size(); ++i) {
        if (!dys[i].valid()) continue;
        targets.push_back((*outs)[i]);
        seeds.push_back(dys[i]);
      }
      return tape.gradient(e, targets, inputs, seeds);
    }
    std::vector<Value> args;
    for (int i : g.output_grads) args.push_back(dys[size_t(i)].valid() ? dys[size_t(i)].dense() : zeros_like(results[size_t(i)]));
    WEFT_RETURN_IF_ERROR(e.take_status());
    if (!pair->backward) return grads;
    for (int i : g.passed_inputs) args.push_back(inputs[size_t(i)]);
    for (int i : g.passed_outputs) args.push_back(results[size_t(i)]);
    args.insert(args.end(), results.begin() + g.num_outputs, results.end());
    // Gradients with rows (jacobians) open the function; all others call it.
    ConcreteFunction& back = *pair->backward;
    const bool rows = std::any_of(args.begin(), args.end(), op::BatchEmitter::is_batched);
    if (rows) args.insert(args.end(), back.captures_.begin(), back.captures_.end());
    WEFT_ASSIGN(std::vector<Value> made, rows ? call_function(e, context, back.name_, back.stateful_, args, back.ret_types_) : back.call(args));
    return g.unpack(inputs.size(), made);
  };
  // As in TensorFlow: an integer result has the gradient of the others, zero, where it is in front of a result that has one. Where gradients of gradients may be asked
  // for, what backward reads is among the results, behind the others.
  const auto& tapes = TapeStack::current().tapes();
  const auto watching = std::count_if(tapes.begin(), tapes.end(), [&](const Tape* t) { return t->watches_any(all); });
  const bool answers = pair->names.reads_values && (tape.persistent() || watching > 1 || FuncGraph::current());
  if (!answers) {
    std::vector<Value> integers, in_front;
    for (const Value& v : out.first(size_t(pair->names.num_outputs))) {
      if (!autodiff::differentiable(v.dtype())) {
        integers.push_back(v);
        continue;
      }
      in_front.insert(in_front.end(), integers.begin(), integers.end());
      integers.clear();
    }
    if (!in_front.empty())
      tape.record(
          name_, all, in_front, [backprop, n = out.size()](Emitter& e, std::span<const Value>) { return backprop(e, std::vector<Value>(n)); }, true);
  }
  tape.record(name_, all, out, backprop, answers);
}

Status ConcreteFunction::set_captures(std::vector<Value> values) {
  if (values.size() != captures_.size())
    return invalid_argument(name_, " has ", captures_.size(), " captures, ", values.size(), " values were given");
  const size_t first = arg_types_.size() - captures_.size();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].dtype() != arg_types_[first + i])
      return invalid_argument("capture ", i, " of ", name_, " is ", dtype_name(arg_types_[first + i]), ", the new value is ",
                              dtype_name(values[i].dtype()));
  }
  captures_ = std::move(values);
  return {};
}

Status ConcreteFunction::run(std::span<Tensor> args, size_t count, std::span<Tensor> rets) {
  for (size_t i = 0; i < captures_.size(); ++i) {
    eager::TensorHandle* h = eager_handle(captures_[i]);
    WEFT_RETURN_IF_ERROR(h->wait());
    args[count + i] = h->tensor();
  }
  Status s = run_function(context_, *handle_, &handle_, args, rets);
  return s.ok() ? s : in_function(s, name_);
}

Result<std::vector<Value>> ConcreteFunction::call(std::span<const Value> arguments) {
  auto out = [&]() -> Result<std::vector<Value>> {
    if (int(arguments.size()) != num_arguments())
      return invalid_argument(name_, " takes ", num_arguments(), " tensors, ", arguments.size(), " were given");
    std::vector<Value> all(arguments.begin(), arguments.end());
    all.insert(all.end(), captures_.begin(), captures_.end());
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].dtype() != base_type(arg_types_[i]))
        return invalid_argument("cannot compute ", name_, " as input #", i, "(zero-based) was expected to be a ", dtype_name(arg_types_[i]),
                                " tensor but is a ", dtype_name(all[i].dtype()), " tensor");
    }
    Emitter& emitter = emitter_here(context_);
    // What is made of it there (its gradient) may call what it calls.
    if (FuncGraph* g = FuncGraph::current(); g && owner_) g->hold(owner_);
    for (const auto& w : variables_) {
      auto v = w.lock();
      if (!v) continue;
      if (TapeStack::current().recording()) WEFT_RETURN_IF_ERROR(v->accessed());
      if (FuncGraph::current()) WEFT_RETURN_IF_ERROR(v->handle().status());  // as a capture that knows its type and shape
    }
    // In a trace, tapes know variables by the handles of that graph.
    if (FuncGraph* g = FuncGraph::current()) {
      for (size_t i = arguments.size(); i < all.size(); ++i) {
        if (all[i].dtype() != DType::kResource) continue;
        WEFT_ASSIGN(all[i], g->import(all[i]));
      }
    }
    for (const auto& [handle, owner] : graph_variables_) {
      if (!TapeStack::current().recording()) break;
      for (Tape* t : TapeStack::current().tapes()) t->access(handle, owner);
    }
    // Tapes from outside of this trace know the node; what they need of it is made when they are asked.
    const bool recorded = FuncGraph::current() ? TapeStack::current().own_wants(all) : TapeStack::current().wants(all);
    if (recorded) return call_recorded(emitter, all);
    const HandleOfCall held(handle_);
    return call_function(emitter, context_, name_, stateful_, all, ret_types_, handle_.get());
  }();
  if (!out.ok() && !FuncGraph::current()) return in_function(out.status(), name_);
  return out;
}

}  // namespace weft_engine::trace
