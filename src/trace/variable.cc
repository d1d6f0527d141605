#include "trace/variable.h"

#include <algorithm>
#include <atomic>

#include "autodiff/gradients.h"
#include "core/error_notes.h"
#include "graph/function_body.h"
#include "graph/to_function.h"
#include "op/emit.h"
#include "op/op_traits.h"
#include "trace/concrete_function.h"
#include "trace/replica.h"

namespace weft_engine::trace {

Result<std::shared_ptr<VariableState>> VariableState::make(eager::Context& context, VariableSpec spec) {
  static std::atomic<int64_t> next{0};
  FuncGraph* inside = FuncGraph::current();
  for (FuncGraph* g = inside; g; g = g->outer()) {
    if (!g->may_create_variables)
      return invalid_argument("the function '", g->name(), "' makes the variable '", spec.name,
                              "' in a call that is not its first: make it once, in the first call, or outside of the function")
          .with_payload(core::kNoteVariableAgain, spec.name);
  }
  std::shared_ptr<VariableState> v(new VariableState(context, std::move(spec)));
  AttrMap attrs;
  attrs["dtype"] = v->spec_.dtype;
  attrs["shape"] = v->spec_.shape;
  // Unique, so that two variables of one name are two; the name itself is kept in the spec.
  attrs["shared_name"] = cat(v->spec_.name.empty() ? "Variable" : v->spec_.name, "_weft_", next.fetch_add(1, std::memory_order_relaxed));
  {
    Entered eagerly(nullptr);
    EagerEmitter& e = eager_emitter(context);
    e.set_device(v->spec_.device);
    Value handle = e.one(op_of(Role::kVarHandle), {}, std::move(attrs));
    e.set_device("");
    WEFT_RETURN_IF_ERROR(e.take_status());
    v->handle_ = RefPtr<eager::TensorHandle>::share(trace::eager_handle(handle));
  }
  for (FuncGraph* g = inside; g; g = g->outer()) ++g->variables_created;
  return v;
}

VariableState::~VariableState() { destroy_resource(context_, handle_); }

void VariableState::set_copies(std::vector<std::shared_ptr<VariableState>> others) {
  copies_ = {std::static_pointer_cast<VariableState>(shared_from_this())};
  for (const auto& c : others) copies_.push_back(c);
  owned_copies_ = std::move(others);
}

VariableState& VariableState::here() {
  const Replica* r = current_replica();
  if (!r || size_t(r->id) >= copies_.size()) return *this;
  return r->id == 0 ? *this : *owned_copies_[size_t(r->id) - 1];
}

Result<Value> VariableState::handle() {
  VariableState& v = here();
  Value eager = eager_emitter(context_).wrap(v.handle_);
  FuncGraph* g = FuncGraph::current();
  if (!g) return eager;
  g->use_variable(std::static_pointer_cast<VariableState>(v.shared_from_this()));
  return g->import_handle(eager, {spec_.dtype, spec_.shape});
}

Status VariableState::accessed() {
  if (!spec_.trainable || !TapeStack::current().recording()) return {};
  WEFT_ASSIGN(Value h, handle());
  for (Tape* t : TapeStack::current().tapes()) t->access(h, shared_from_this());
  return {};
}

Result<Value> VariableState::read_own() {
  WEFT_RETURN_IF_ERROR(accessed());
  WEFT_ASSIGN(Value h, handle());
  Emitter& e = emitter_here(context_);
  AttrMap attrs;
  attrs["dtype"] = spec_.dtype;
  Value v = e.one(op_of(Role::kReadVariable), {h}, std::move(attrs));
  WEFT_RETURN_IF_ERROR(e.take_status());
  return v;
}

Result<Value> VariableState::aggregated(std::span<const Value> values) const {
  if (spec_.aggregation == Aggregation::kNone || spec_.aggregation == Aggregation::kOnlyFirstReplica) return values[0];
  Emitter& e = emitter_here(context_);
  Value sum = add_n(values);
  if (spec_.aggregation == Aggregation::kMean) {
    // Whole numbers are divided as TensorFlow does it: towards zero.
    const bool real = autodiff::differentiable(spec_.dtype);
    sum = e.one(real ? op_of(op::Symbol::kDivide) : "TruncateDiv", {sum, scalar(e, spec_.dtype, double(values.size()))});
  }
  WEFT_RETURN_IF_ERROR(e.take_status());
  return sum;
}

namespace {
Status no_aggregation() {
  return invalid_argument("the values of a variable that is put together when it is read, but has no aggregation, can only be used in replicas");
}
}  // namespace

Result<Value> VariableState::read() {
  if (copies_.empty() || current_replica() || spec_.synchronization != Synchronization::kOnRead) return read_own();
  if (spec_.aggregation == Aggregation::kNone) return no_aggregation();
  WEFT_ASSIGN(Value first, read_own());
  std::vector<Value> values{std::move(first)};
  for (const auto& c : owned_copies_) {
    WEFT_ASSIGN(Value v, c->read_own());
    values.push_back(std::move(v));
  }
  return aggregated(values);
}

Status VariableState::check_value(const Value& value) const {
  if (value.dtype() != spec_.dtype)
    return invalid_argument("a value of type ", dtype_name(value.dtype()), " was assigned to the variable '", spec_.name, "' of type ",
                            dtype_name(spec_.dtype));
  if (!spec_.shape.compatible_with(value.shape()))
    return invalid_argument("Cannot assign value to variable '", spec_.name, "': Shape mismatch. The variable shape ", spec_.shape,
                            ", and the assigned value shape ", value.shape(), " are incompatible.");
  return {};
}

Status VariableState::assign_own(std::string_view op, const Value& value) {
  WEFT_ASSIGN(Value h, handle());
  Emitter& e = emitter_here(context_);
  AttrMap attrs;
  if (op == op_of(Role::kAssignVariable) && spec_.shape.fully_known()) attrs["validate_shape"] = true;
  e.apply(op, {h, value}, std::move(attrs));
  return e.take_status();
}

Status VariableState::assign_copies(std::string_view op, const Value& value) {
  WEFT_RETURN_IF_ERROR(assign_own(op, value));
  for (const auto& c : owned_copies_) WEFT_RETURN_IF_ERROR(c->assign_own(op, value));
  return {};
}

// In a replica: what all of them bring, put together, is written to every copy.
Status VariableState::assign_together(std::string_view op, const Value& value) {
  if (spec_.aggregation == Aggregation::kNone) return assign_own(op, value);  // as TensorFlow: each its own, and no longer alike
  const Replica& r = *current_replica();
  if (!r.barrier || FuncGraph::current())
    return unimplemented("the variable '", spec_.name,
                         "' is written by replicas inside a traced function, where they cannot meet: write it outside of the function");
  return r.barrier->wait(r.id, value, [&](std::span<const Value> values) -> Status {
    std::vector<Value> mine;  // of this thread
    for (const Value& v : values) mine.emplace_back(eager_emitter(context_), RefPtr<ValueRep>::share(v.rep()));
    WEFT_ASSIGN(Value all, aggregated(mine));
    return assign_copies(op, all);
  });
}

Status VariableState::assign(std::string_view op, const Value& value) {
  WEFT_RETURN_IF_ERROR(check_value(value));
  if (copies_.empty()) return assign_own(op, value);
  const bool on_read = spec_.synchronization == Synchronization::kOnRead;
  if (current_replica()) return on_read ? assign_own(op, value) : assign_together(op, value);
  if (on_read && spec_.aggregation == Aggregation::kNone) return no_aggregation();
  if (on_read && spec_.aggregation == Aggregation::kSum) {
    if (op != op_of(Role::kAssignVariable))
      return invalid_argument("a variable whose value is the sum over all replicas does not support ",
                              op == op_of(Role::kAddToVariable) ? "assign_add" : "assign_sub", " outside of replicas");
    Emitter& e = emitter_here(context_);
    Value share = e.one(op_of(op::Symbol::kDivide), {value, scalar(e, spec_.dtype, double(copies_.size()))});
    WEFT_RETURN_IF_ERROR(e.take_status());
    return assign_copies(op, share);
  }
  return assign_copies(op, value);
}

Status VariableState::initialize(const Value& value) {
  Value outside = value;
  if (FuncGraph* g = FuncGraph::current(); g && value.rep() && value.rep()->owner()) {
    WEFT_ASSIGN(outside, lift(*g, value));
  }
  Entered eagerly(nullptr);
  return assign(op_of(Role::kAssignVariable), outside);
}

Result<Value> lift(FuncGraph& g, const Value& v, std::span<const Value> given) {
  WEFT_ASSIGN(Value own, g.import(v));
  const Endpoint at = graph::GraphEmitter::unwrap(own);
  // What it is computed from.
  std::vector<char> seen(size_t(g.graph().num_ids()), 0);
  std::vector<Node*> todo{at.node};
  std::vector<const Node*> body;
  std::vector<const FuncGraph::Capture*> inputs;
  std::vector<size_t> from_arguments;
  seen[size_t(at.node->id())] = 1;
  while (!todo.empty()) {
    Node* n = todo.back();
    todo.pop_back();
    const auto argument = std::find(g.arguments().begin(), g.arguments().end(), n);
    if (argument != g.arguments().end() && given.size() == g.arguments().size()) {
      from_arguments.push_back(size_t(argument - g.arguments().begin()));
      continue;
    }
    if (argument != g.arguments().end())
      return invalid_argument("the initial value of a variable depends on an argument of the function that makes it ('", n->name(),
                              "'): it cannot be computed before the call. Give a callable, or make the variable outside of the function.");
    auto capture = std::find_if(g.captures().begin(), g.captures().end(), [&](const FuncGraph::Capture& c) { return c.node == n; });
    if (capture != g.captures().end()) {
      inputs.push_back(&*capture);
      continue;
    }
    body.push_back(n);
    auto visit = [&](Node* from) {
      if (seen[size_t(from->id())]) return;
      seen[size_t(from->id())] = 1;
      todo.push_back(from);
    };
    for (const Endpoint& e : n->inputs()) visit(e.node);
    for (Node* c : n->control_inputs()) visit(c);
  }
  std::vector<Value> arguments;
  graph::FunctionOptions options;
  options.name = "lifted";
  for (const auto* c : inputs) {
    options.inputs.push_back({c->node, 0});
    Value outer = c->outer;
    if (outer.rep()->owner()) {
      WEFT_ASSIGN(outer, lift(*g.outer(), outer));
    }
    arguments.push_back(std::move(outer));
  }
  for (size_t i : from_arguments) {
    options.inputs.push_back({g.arguments()[i], 0});
    arguments.push_back(given[i]);
  }
  options.outputs = {at};
  options.body = std::move(body);
  if (options.body->empty()) return arguments[0];  // a capture itself
  WEFT_ASSIGN(graph::FunctionDef def, graph::to_function(g.graph(), options));
  WEFT_ASSIGN(graph::FunctionBody made, graph::instantiate_function(def, {}, g.context().registry(), g.graph().library()));
  auto instance = g.context().runtime().instantiate(std::move(made));
  Entered eagerly(nullptr);
  WEFT_ASSIGN(std::vector<Value> out, call_function(eager_emitter(g.context()), g.context(), "lifted", true, arguments, {v.dtype()}, instance.get()));
  return out[0];
}

}  // namespace weft_engine::trace
