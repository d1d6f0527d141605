#include "trace/func_graph.h"

#include <algorithm>
#include <atomic>

#include "autodiff/gradients.h"
#include "core/error_notes.h"
#include "core/own_memory.h"
#include "graph/node_traits.h"
#include "op/variable.h"
#include "trace/concrete_function.h"
#include "trace/library_function.h"
#include "trace/variable.h"

namespace weft_engine::trace {
namespace {

FuncGraph*& current_slot() {
  thread_local FuncGraph* current = nullptr;
  return current;
}

FuncGraph*& innermost_slot() {
  thread_local FuncGraph* innermost = nullptr;
  return innermost;
}

// Small enough to be written into the graph (TensorFlow's bound).
bool embeds(const Tensor& t, bool text) { return (is_simple(t.dtype()) || (text && t.dtype() == DType::kString)) && t.num_elements() <= 128; }

// By where the handle comes from: what only passes it on does not count.
int64_t key_of(Endpoint e) {
  while (forwards_inputs(*e.node)) e = e.node->input(e.index);
  return int64_t(e.node->id()) << 16 | e.index;
}

std::string lower(std::string s) {
  for (char& c : s) c = char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return s;
}

uint64_t next_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

// What is known of a variable by its handle.
std::optional<HandleData> data_of(const Tensor& handle) {
  if (handle.dtype() != DType::kResource || handle.num_elements() != 1) return {};
  const ResourceHandle::Info* info = handle.data<ResourceHandle>()[0].info();
  if (!info) return {};
  auto* variable = dynamic_cast<op::Variable*>(info->resource.get());
  if (!variable) return {};
  std::shared_lock lock(variable->mutex());
  return HandleData{variable->dtype(), variable->initialized() ? PartialShape(variable->tensor().shape()) : PartialShape::unknown()};
}

}  // namespace

FuncGraph* FuncGraph::current() { return current_slot(); }
FuncGraph* FuncGraph::innermost() { return innermost_slot(); }

Entered::Entered(FuncGraph* graph) : previous_(current_slot()), previous_innermost_(innermost_slot()) {
  auto& tapes = autodiff::TapeStack::current();
  if (!graph || tapes.paused()) {
    apart_.emplace();
  } else if (graph != previous_) {
    tapes.enter();
    deeper_ = true;
  }
  current_slot() = graph;
  if (graph) innermost_slot() = graph;
}
Entered::~Entered() {
  current_slot() = previous_;
  innermost_slot() = previous_innermost_;
  if (deeper_) autodiff::TapeStack::current().leave();
}

FuncGraph::FuncGraph(eager::Context& context, std::string name, FuncGraph* outer)
    : context_(context),
      name_(std::move(name)),
      outer_(outer),
      graph_(context.registry(), context.runtime().library()),
      shapes_(graph_),
      emitter_(*this, graph_, shapes_),
      id_(next_id()) {
  captures_floats = outer && outer->captures_floats;
  may_create_variables = outer && outer->may_create_variables;
}

std::shared_ptr<FuncGraph> FuncGraph::make(eager::Context& context, std::string name, FuncGraph* outer) {
  std::shared_ptr<FuncGraph> g(new FuncGraph(context, std::move(name), outer));
  g->emitter_.keep_alive(g);
  return g;
}

Result<Value> FuncGraph::add_argument(std::string_view name, DType dtype, const PartialShape& shape, std::optional<HandleData> handle) {
  AttrMap attrs;
  attrs["dtype"] = dtype;
  attrs["shape"] = shape;
  attrs["_user_specified_name"] = std::string(name.starts_with(name_scope()) ? name.substr(name_scope().size()) : name);
  WEFT_ASSIGN(Node* node, graph_.add(graph_.unique_name(name.empty() ? "arg" : name), op_of(Role::kPlaceholder), std::move(attrs), {}));
  node->shapes = {dtype == DType::kResource ? PartialShape::scalar() : shape};
  node->handles = {std::move(handle)};
  arguments_.push_back(node);
  return emitter_.wrap({node, 0});
}

void FuncGraph::bind_argument(const Value& outer, const Value& argument) {
  bound_[autodiff::id_of(outer)] = graph::GraphEmitter::unwrap(argument);
  kept_.push_back(outer);
}

std::string FuncGraph::unique_name(const std::string& name, bool mark) {
  const std::string key = lower(name);
  auto it = names_in_use.find(key);
  if (it == names_in_use.end() && !graph_.find(name)) {
    if (mark) names_in_use[key] = 1;
    return name;
  }
  int i = it == names_in_use.end() ? 1 : it->second;
  std::string candidate;
  do {
    candidate = cat(name, "_", i++);
  } while (names_in_use.contains(lower(candidate)) || graph_.find(candidate));
  if (mark) {
    names_in_use[key] = i;
    names_in_use[lower(candidate)] = 1;
  }
  return candidate;
}

Result<Value> FuncGraph::capture(const Value& v, std::optional<HandleData> data) {
  std::string name = std::exchange(capture_name, {});
  if (auto it = bound_.find(autodiff::id_of(v)); it != bound_.end()) return emitter_.wrap(it->second);
  if (auto it = captured_.find(autodiff::id_of(v)); it != captured_.end()) return emitter_.wrap({captures_[it->second].node, 0});
  if (name.empty()) name = cat(name_scope(), v.rep()->owner() ? graph::GraphEmitter::unwrap(v).node->name() : cat(next_id()));
  AttrMap attrs;
  const eager::TensorHandle* h = eager_handle(v);
  const bool small =
      h && h->ready() && (!h->device() || h->device() == context_.host()) && !core::lies_elsewhere(h->tensor()) && embeds(h->tensor(), true);
  if (small) attrs["value"] = h->tensor();
  else
    attrs["_user_specified_name"] =
        !h && name.starts_with(name_scope()) ? name.substr(name_scope().size()) : name.substr(name.rfind('/') + 1);  // without the scope
  return add_capture(v, std::move(data), name, op_of(small ? Role::kConst : Role::kPlaceholder), std::move(attrs));
}

Result<Value> FuncGraph::unused_capture(const Value& v, std::optional<HandleData> data, const std::string& name) {
  return add_capture(v, std::move(data), name, op_of(Role::kPlaceholder), {});
}

Result<Value> FuncGraph::add_capture(const Value& v, std::optional<HandleData> data, const std::string& name, std::string_view op, AttrMap attrs) {
  const PartialShape shape = v.shape();
  attrs["dtype"] = v.dtype();
  if (op == op_of(Role::kPlaceholder)) attrs["shape"] = shape;
  WEFT_ASSIGN(Node* node, graph_.add(graph_.unique_name(name), op, std::move(attrs), {}));
  node->shapes = {shape};
  node->handles = {std::move(data)};
  captured_[autodiff::id_of(v)] = captures_.size();
  Emitter& outside = v.rep()->owner() ? *v.rep()->owner() : static_cast<Emitter&>(eager_emitter(context_));
  captures_.push_back({Value(outside, RefPtr<ValueRep>::share(v.rep())), node});
  return emitter_.wrap({node, 0});
}

Result<Value> FuncGraph::import(const Value& v) {
  if (!v.rep()) return invalid_argument("a value that is empty was used in a traced function");
  Emitter* owner = v.rep()->owner();
  if (owner == &emitter_) return v;
  if (plain && (owner || v.dtype() == DType::kResource || v.dtype() == DType::kVariant))
    return failed_precondition(owner ? "a tensor of another graph was used" : "Attempting to capture an EagerTensor without building a function.");
  if (!owner) {
    const eager::TensorHandle* h = eager_handle(v);
    const bool elsewhere = !h->ready() && h->remote_value();  // in another process: it stays there
    WEFT_RETURN_IF_ERROR(elsewhere ? h->wait_for_op() : h->wait());
    if (auto it = bound_.find(autodiff::id_of(v)); it != bound_.end()) return emitter_.wrap(it->second);
    if (auto it = captured_.find(autodiff::id_of(v)); it != captured_.end()) return emitter_.wrap({captures_[it->second].node, 0});
    if (elsewhere && !plain) return capture(v, std::nullopt);
    const bool kept = captures_floats && h->device() && autodiff::differentiable(h->dtype());
    if (plain || (embeds(h->tensor(), captures_floats && !h->device()) && !kept)) {  // a plain graph has no captures
      if (auto it = constants_.find(v.rep()); it != constants_.end()) return emitter_.wrap(it->second);
      Value made = emitter_.constant(h->tensor());
      WEFT_RETURN_IF_ERROR(emitter_.take_status());
      constants_[v.rep()] = graph::GraphEmitter::unwrap(made);
      kept_.push_back(v);
      return made;
    }
    return capture(v, data_of(h->tensor()));
  }
  // Of a graph around this one, near or far: those on the way capture it when the node that this graph is for is added to them.
  for (FuncGraph* g = outer_; g; g = g->outer_) {
    if (owner == &g->emitter_) {
      const Endpoint at = graph::GraphEmitter::unwrap(v);
      const auto& handles = at.node->handles;
      return capture(v, size_t(at.index) < handles.size() ? handles[size_t(at.index)] : std::nullopt);
    }
  }
  auto* made_in = dynamic_cast<TraceEmitter*>(owner);
  if (!made_in) return invalid_argument("a value with rows was used where a graph is built");
  const Endpoint at = graph::GraphEmitter::unwrap(v);
  const bool inside = made_in->func_graph().outer() == this;
  return invalid_argument("the tensor '", at.node->name(), ":", at.index, "' (", dtype_name(v.dtype()), " ", v.shape().to_string(),
                          ") is out of scope and cannot be used here: it belongs to ",
                          inside ? "a branch or loop inside this function" : "another function's graph",
                          ". Return it from there instead of "
                          "keeping it in a variable of the program.")
      .with_payload(core::kNoteOutOfScope, cat(at.node->name(), ":", at.index, "\n", dtype_name(v.dtype()), "\n", v.shape().to_string(), "\n",
                                               inside ? "inside" : "elsewhere"));
}

Result<Value> FuncGraph::import_handle(const Value& v, const HandleData& data) { return v.rep() && !v.rep()->owner() ? capture(v, data) : import(v); }

void FuncGraph::use_variable(const std::shared_ptr<VariableState>& v) {
  if (!bound_.empty() && bound_.contains(autodiff::id_of(eager_emitter(context_).wrap(v->eager_handle())))) return;
  for (const auto& w : variables_) {
    if (!w.owner_before(v) && !v.owner_before(w)) return;
  }
  variables_.push_back(v);
}

void FuncGraph::use_variable(const Value& handle, const std::shared_ptr<void>& owner) {
  for (const auto& v : graph_variables_) {
    if (v.second == owner) return;
  }
  graph_variables_.emplace_back(handle, owner);
}

void FuncGraph::hold_functions_of(const Node& node) {
  const auto hold_owner = [&](std::string_view name) {
    if (auto owner = context_.functions().owner(name)) hold(std::move(owner));
  };
  hold_owner(node.op());
  graph::for_functions(graph::attrs_of(node), hold_owner);
}

bool FuncGraph::writes(const Endpoint& resource) const {
  auto it = order_.find(key_of(resource));
  return it != order_.end() && it->second.writer;
}

TraceEmitter::Effect TraceEmitter::effect_of(const OpSpec& spec, const AttrMap& attrs, std::span<const Value> inputs) {
  Effect e;
  // An op of a program may change a resource without being declared stateful: it has its place among the others. Without outputs there is no other
  // reason to call it.
  e.stateful = spec.stateful || std::any_of(inputs.begin(), inputs.end(), [](const Value& v) { return v.dtype() == DType::kResource; });
  if (!e.stateful) return e;
  e.must_run = spec.has_side_effect() || (!spec.stateful && spec.signature().outputs.empty());
  // What functions do is known where they were made here.
  std::vector<std::shared_ptr<LibraryFunction>> functions;
  bool any = false, known = true;
  graph::for_functions(attrs, [&](const std::string& name) {
    any = true;
    functions.push_back(LibraryFunction::find(name));
    known &= functions.back() != nullptr;
  });
  const Role role = spec.traits().role;
  const size_t first = role == Role::kIf || role == Role::kCase ? 1 : 0;  // input of the functions' first argument
  known &= first || role == Role::kWhile || role == Role::kCall;
  e.resources.resize(inputs.size());
  bool resources = false;
  const bool reads = spec.traits().only_reads;  // such ops need no order among themselves
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != DType::kResource) continue;
    resources = true;
    bool writes = !reads;
    if (any && known && i >= first) writes = std::any_of(functions.begin(), functions.end(), [&](const auto& f) { return f->writes(i - first); });
    e.resources[i] = writes ? 2 : 1;
    e.must_run |= writes && any && known;  // a function of such ops is not stateful either
  }
  if (any && known) e.free = std::any_of(functions.begin(), functions.end(), [](const auto& f) { return f->free_effects(); });
  else
    e.free = spec.has_side_effect() && !reads && (any || !resources) &&
             (any || !spec.distributed_communication);  // members of a group wait for each other
  if (reads) e.must_run = false;
  return e;
}

std::vector<Node*> TraceEmitter::before(const Effect& effect, std::span<const Value> inputs) {
  std::vector<Node*> controls;
  auto add = [&](Node* n) {
    if (n && std::find(controls.begin(), controls.end(), n) == controls.end()) controls.push_back(n);
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!effect.resources[i]) continue;
    FuncGraph::Order& o = owner_.order_[key_of(unwrap(inputs[i]))];
    add(o.writer);
    if (effect.resources[i] == 1) continue;
    for (Node* r : o.readers) add(r);
  }
  if (effect.free) add(owner_.last_effect_);
  return controls;
}

void TraceEmitter::after(Node* node, const Effect& effect) {
  for (size_t i = 0; i < effect.resources.size(); ++i) {
    if (!effect.resources[i]) continue;
    FuncGraph::Order& o = owner_.order_[key_of(node->input(int(i)))];
    if (effect.resources[i] == 1) {
      o.readers.push_back(node);
    } else {
      o.writer = node;
      o.readers.clear();
    }
  }
  if (effect.free) owner_.last_effect_ = node;
  if (effect.must_run) owner_.effects_.push_back(node);
}

Result<std::vector<Value>> TraceEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  std::vector<Value> own;
  own.reserve(inputs.size());
  for (const Value& v : inputs) {
    WEFT_ASSIGN(Value mine, owner_.import(v));
    own.push_back(std::move(mine));
  }
  WEFT_ASSIGN(const OpSpec* spec, graph().find_spec(op));
  if (!owner_.gradient_overrides.empty()) {
    if (auto it = owner_.gradient_overrides.find(op); it != owner_.gradient_overrides.end()) attrs.emplace("_gradient_op_type", it->second);
  }
  const Effect effect = owner_.plain ? Effect() : effect_of(*spec, attrs, own);
  if (effect.stateful) set_controls(before(effect, own));
  const std::string& scope = name_scope();
  set_scope(scope.empty() ? scope : scope.substr(0, scope.size() - 1));
  auto made = GraphEmitter::do_apply(op, own, std::move(attrs));
  if (effect.stateful) set_controls({});
  if (!made.ok()) return made.status();
  Node* node = added().back();
  if (effect.stateful) after(node, effect);
  if (TapeStack::current().recording()) {
    // Tapes know the values that the user holds, not those that stand for them in this graph; what is made of them belongs here.
    std::vector<Value> held;
    for (const Value& v : inputs) held.emplace_back(*this, RefPtr<ValueRep>::share(v.rep()));
    TapeStack::current().record(node->info(), owner_.shared_from_this(), held, *made);
  }
  return made;
}

void destroy_resource(eager::Context& context, const RefPtr<eager::TensorHandle>& handle) {
  if (!handle) return;
  Entered eagerly(nullptr);
  EagerEmitter& e = eager_emitter(context);
  AttrMap attrs;
  attrs["ignore_lookup_error"] = true;
  e.apply(op_of(Role::kDestroyResource), {e.wrap(handle)}, std::move(attrs));
  (void)e.take_status();  // nobody is left to tell
}

}  // namespace weft_engine::trace
