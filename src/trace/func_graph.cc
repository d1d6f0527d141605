#include "trace/func_graph.h"

#include <algorithm>

#include "op/variable.h"
#include "trace/concrete_function.h"

namespace weft::trace {
namespace {

FuncGraph*& current_slot() {
  thread_local FuncGraph* current = nullptr;
  return current;
}

// Reading ops of the same resource need no order among themselves.
bool only_reads(std::string_view op) {
  return op == "ReadVariableOp" || op == "ResourceGather" || op == "ResourceGatherNd" || op == "VarIsInitializedOp" || op == "VariableShape" ||
         op == "LookupTableFindV2" || op == "LookupTableSizeV2" || op == "_ReadVariablesOp";
}

// Small enough to be written into the graph (TensorFlow's bound).
bool embeds(const Tensor& t) { return is_simple(t.dtype()) && t.num_elements() <= 128; }

int64_t key_of(const Endpoint& e) { return int64_t(e.node->id()) << 8 | e.index; }

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

Entered::Entered(FuncGraph* graph) : previous_(current_slot()) { current_slot() = graph; }
Entered::~Entered() { current_slot() = previous_; }

FuncGraph::FuncGraph(eager::Context& context, std::string name, FuncGraph* outer)
    : context_(context),
      name_(std::move(name)),
      outer_(outer),
      graph_(context.registry(), context.runtime().library()),
      shapes_(graph_),
      emitter_(*this, graph_, shapes_) {}

std::shared_ptr<FuncGraph> FuncGraph::make(eager::Context& context, std::string name, FuncGraph* outer) {
  std::shared_ptr<FuncGraph> g(new FuncGraph(context, std::move(name), outer));
  g->emitter_.keep_alive(g);
  return g;
}

Result<Value> FuncGraph::add_argument(std::string_view name, DType dtype, const PartialShape& shape, std::optional<HandleData> handle) {
  AttrMap attrs;
  attrs["dtype"] = dtype;
  attrs["shape"] = shape;
  WEFT_ASSIGN(Node * node, graph_.add(graph_.unique_name(name.empty() ? "arg" : name), "Placeholder", std::move(attrs), {}));
  node->shapes = {dtype == DType::kResource ? PartialShape::scalar() : shape};
  node->handles = {std::move(handle)};
  arguments_.push_back(node);
  return emitter_.wrap({node, 0});
}

Result<Value> FuncGraph::capture(const Value& v, std::optional<HandleData> data) {
  if (auto it = captured_.find(v.rep()); it != captured_.end()) return emitter_.wrap({captures_[it->second].node, 0});
  AttrMap attrs;
  attrs["dtype"] = v.dtype();
  const PartialShape shape = v.shape();
  attrs["shape"] = shape;
  WEFT_ASSIGN(Node * node, graph_.add(graph_.unique_name("capture"), "Placeholder", std::move(attrs), {}));
  node->shapes = {shape};
  node->handles = {std::move(data)};
  captured_[v.rep()] = captures_.size();
  Emitter& outside = v.rep()->owner() ? *v.rep()->owner() : static_cast<Emitter&>(eager_emitter(context_));
  captures_.push_back({Value(outside, RefPtr<ValueRep>::share(v.rep())), node});
  return emitter_.wrap({node, 0});
}

Result<Value> FuncGraph::import(const Value& v) {
  if (!v.rep()) return invalid_argument("a value that is empty was used in a traced function");
  Emitter* owner = v.rep()->owner();
  if (owner == &emitter_) return v;
  if (!owner) {
    const eager::TensorHandle* h = eager_handle(v);
    WEFT_RETURN_IF_ERROR(h->wait());
    if (auto it = captured_.find(v.rep()); it != captured_.end()) return emitter_.wrap({captures_[it->second].node, 0});
    if (embeds(h->tensor())) {
      if (auto it = constants_.find(v.rep()); it != constants_.end()) return emitter_.wrap(it->second);
      Value made = emitter_.constant(h->tensor());
      WEFT_RETURN_IF_ERROR(emitter_.take_status());
      constants_[v.rep()] = graph::GraphEmitter::unwrap(made);
      kept_.push_back(v);
      return made;
    }
    return capture(v, data_of(h->tensor()));
  }
  // Of a graph around this one, near or far: each on the way passes it on.
  for (FuncGraph* g = outer_; g; g = g->outer_) {
    if (owner == &g->emitter_) {
      if (g != outer_) {
        WEFT_ASSIGN(Value nearer, outer_->import(v));
        return import(nearer);
      }
      const Endpoint at = graph::GraphEmitter::unwrap(v);
      const auto& handles = at.node->handles;
      return capture(v, size_t(at.index) < handles.size() ? handles[size_t(at.index)] : std::nullopt);
    }
  }
  const Endpoint at = graph::GraphEmitter::unwrap(v);
  return invalid_argument("the tensor '", at.node->name(), ":", at.index,
                          "' is out of scope and cannot be used here: it belongs to another function's graph. Return it from that function instead of "
                          "keeping it in a variable of the program.");
}

Result<Value> FuncGraph::import_handle(const Value& v, const HandleData& data) {
  if (v.rep() && !v.rep()->owner()) {
    // Also through the graphs between, so that each knows what the handle points to.
    if (outer_) {
      WEFT_ASSIGN(Value outer, outer_->import_handle(v, data));
      return capture(outer, data);
    }
    return capture(v, data);
  }
  return import(v);
}

void FuncGraph::use_variable(const std::shared_ptr<VariableState>& v) {
  for (const auto& w : variables_) {
    if (!w.owner_before(v) && !v.owner_before(w)) return;
  }
  variables_.push_back(v);
}

std::vector<Node*> TraceEmitter::before(const OpSpec& spec, std::span<const Value> inputs, bool effect) {
  std::vector<Node*> controls;
  auto add = [&](Node* n) {
    if (n && std::find(controls.begin(), controls.end(), n) == controls.end()) controls.push_back(n);
  };
  const bool reads = only_reads(spec.name);
  bool resources = false;
  for (const Value& v : inputs) {
    if (v.dtype() != DType::kResource) continue;
    resources = true;
    FuncGraph::Order& o = owner_.order_[key_of(unwrap(v))];
    add(o.writer);
    if (reads) continue;
    for (Node* r : o.readers) add(r);
  }
  if (effect && !resources) add(owner_.last_effect_);
  return controls;
}

void TraceEmitter::after(Node* node, bool effect) {
  const bool reads = only_reads(node->op());
  bool resources = false;
  for (const Endpoint& e : node->inputs()) {
    if (e.node->output_type(e.index) != DType::kResource) continue;
    resources = true;
    FuncGraph::Order& o = owner_.order_[key_of(e)];
    if (reads) {
      o.readers.push_back(node);
    } else {
      o.writer = node;
      o.readers.clear();
    }
  }
  if (!effect || reads) return;
  if (!resources) owner_.last_effect_ = node;
  owner_.effects_.push_back(node);
}

Result<std::vector<Value>> TraceEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  std::vector<Value> own;
  own.reserve(inputs.size());
  for (const Value& v : inputs) {
    WEFT_ASSIGN(Value mine, owner_.import(v));
    own.push_back(std::move(mine));
  }
  WEFT_ASSIGN(const OpSpec* spec, graph().find_spec(op));
  const bool stateful = spec->stateful, effect = spec->has_side_effect();
  if (stateful) set_controls(before(*spec, own, effect));
  const std::string& scope = name_scope();
  set_scope(scope.empty() ? scope : scope.substr(0, scope.size() - 1));
  auto made = GraphEmitter::do_apply(op, own, std::move(attrs));
  if (stateful) set_controls({});
  if (!made.ok()) return made.status();
  Node* node = added().back();
  if (stateful) after(node, effect);
  if (TapeStack::current().recording()) {
    // Tapes know the values that the user holds, not those that stand for them in this graph; what is made of them belongs here.
    std::vector<Value> held;
    for (const Value& v : inputs) held.emplace_back(*this, RefPtr<ValueRep>::share(v.rep()));
    TapeStack::current().record(node->info(), owner_.shared_from_this(), held, *made);
  }
  return made;
}

}  // namespace weft::trace
