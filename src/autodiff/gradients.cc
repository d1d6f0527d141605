#include "autodiff/gradients.h"

#include <algorithm>
#include <atomic>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

#include "autodiff/backward.h"
#include "autodiff/tape.h"
#include "core/error_notes.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

bool differentiable(DType t) {
  switch (base_type(t)) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kHalf:
    case DType::kBfloat16:
    case DType::kComplex64:
    case DType::kComplex128:
    case DType::kResource:
    case DType::kVariant: return true;
    default: return false;
  }
}

namespace {

struct UserRules {
  std::atomic<bool> any{false};
  std::shared_mutex mutex;
  std::unordered_map<std::string, std::function<Grads(const GradContext&)>> rules;
};
UserRules& user_rules() {
  static auto* r = new UserRules;
  return *r;
}
std::function<Grads(const GradContext&)> user_rule(std::string_view op) {
  UserRules& u = user_rules();
  if (!u.any.load(std::memory_order_acquire)) return {};
  std::shared_lock lock(u.mutex);
  auto it = u.rules.find(std::string(op));
  return it == u.rules.end() ? nullptr : it->second;
}

// The rule of that name, or else that of the op.
Result<Grads> rule_gradient(std::string_view name, const OpSpec* spec, const GradContext& context) {
  Grads grads;
  if (auto rule = user_rule(name)) {
    grads = rule(context);
  } else {
    if (spec && spec->no_gradient) return context.none();
    if (!spec || !spec->grad) {
      if (const GradientFunction make = gradient_function(name)) return apply_gradient_function(make, context);
      return not_found("gradient registry has no entry for: ", name, " (No gradient defined for op: ", name, "; `weft ops ", name,
                       "` shows more, register_gradient() adds one)")
          .with_payload(core::kNoteNoGradient, std::string(name));
    }
    grads = spec->grad(context);
  }
  WEFT_RETURN_IF_ERROR(context.emitter().take_status());
  if (int(grads.size()) != context.num_inputs())
    return internal_error("the gradient of ", name, " gave ", grads.size(), " values for ", context.num_inputs(), " inputs");
  return grads;
}

}  // namespace

Status register_gradient(const std::string& op, std::function<Grads(const GradContext&)> rule) {
  UserRules& u = user_rules();
  std::unique_lock lock(u.mutex);
  if (!u.rules.emplace(op, std::move(rule)).second) return already_exists("Registering two gradient with name '", op, "'!");
  u.any.store(true, std::memory_order_release);
  return {};
}

void unregister_gradient(const std::string& op) {
  std::function<Grads(const GradContext&)> gone;  // freed when the lock is, too
  UserRules& u = user_rules();
  std::unique_lock lock(u.mutex);
  auto it = u.rules.find(op);
  if (it == u.rules.end()) return;
  gone = std::move(it->second);
  u.rules.erase(it);
  lock.unlock();
}

Result<Grads> op_gradient(Emitter& emitter, const NodeInfo& node, std::span<const Value> inputs, std::span<const Value> outputs,
                          std::span<const Value> output_grads) {
  return rule_gradient(node.spec().name, &node.spec(), GradContext(emitter, node, inputs, outputs, output_grads));
}

Result<std::vector<Value>> Backward::run(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs, const std::vector<Endpoint>& dys) {
  auto grads = walk(ys, xs, dys);
  if (!grads.ok()) undo();
  return grads;
}

Result<std::vector<Value>> Backward::walk(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs, const std::vector<Endpoint>& dys) {
  mark(ys, xs);
  WEFT_RETURN_IF_ERROR(raise_loops(ys, xs));
  const size_t n = size_t(graph_.num_ids());
  sums_.resize(n);
  for (size_t i = 0; i < ys.size(); ++i) {
    Value dy = i < dys.size() && dys[i].node ? emitter_.wrap(dys[i]) : ones_like(emitter_.wrap(ys[i]));
    add(ys[i], std::move(dy));
  }
  WEFT_RETURN_IF_ERROR(emitter_.take_status());
  WEFT_ASSIGN(std::vector<Node*> order, graph_.topological_order());
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    Node* node = *it;
    if (size_t(node->id()) >= n || !between_[size_t(node->id())]) continue;
    WEFT_RETURN_IF_ERROR(back(node));
  }
  std::vector<Value> out;
  for (const Endpoint& x : xs) {
    out.push_back(sum(x));
    WEFT_RETURN_IF_ERROR(emitter_.take_status());
  }
  return out;
}

// Nodes that an x reaches and that reach a y; others need no gradient.
void Backward::mark(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs) {
  const size_t n = size_t(graph_.num_ids());
  std::vector<char> from_x(n, 0);
  between_.assign(n, 0);
  std::vector<Node*> todo;
  auto visit = [&](std::vector<char>& seen, Node* node) {
    if (seen[size_t(node->id())]) return;
    seen[size_t(node->id())] = 1;
    todo.push_back(node);
  };
  for (const Endpoint& x : xs) visit(from_x, x.node);
  while (!todo.empty()) {
    Node* node = todo.back();
    todo.pop_back();
    for (const Use& u : node->uses()) visit(from_x, u.node);
  }
  std::vector<char> to_y(n, 0);
  for (const Endpoint& y : ys) visit(to_y, y.node);
  while (!todo.empty()) {
    Node* node = todo.back();
    todo.pop_back();
    for (const Endpoint& e : node->inputs()) {
      if (e.node) visit(to_y, e.node);
    }
  }
  for (size_t i = 0; i < n; ++i) between_[i] = from_x[i] && to_y[i];
}

void Backward::add(const Endpoint& e, Value g) {
  if (!g.valid() || size_t(e.node->id()) >= sums_.size()) return;
  auto& of_node = sums_[size_t(e.node->id())];
  if (of_node.empty()) of_node.resize(size_t(e.node->num_outputs()));
  of_node[size_t(e.index)].push_back(std::move(g));
}

Value Backward::sum(const Endpoint& e) {
  auto& of_node = sums_[size_t(e.node->id())];
  if (size_t(e.index) >= of_node.size()) return {};
  auto& list = of_node[size_t(e.index)];
  if (list.size() > 1) {
    Value total = add_n(list);
    list.assign(1, std::move(total));
  }
  return list.empty() ? Value() : list[0];
}

Status Backward::back(Node* node) {
  std::vector<Value> dys;
  bool any = false;
  for (int i = 0; i < node->num_outputs(); ++i) {
    dys.push_back(differentiable(node->output_type(i)) ? sum({node, i}) : Value());
    any |= dys.back().valid();
  }
  WEFT_RETURN_IF_ERROR(emitter_.take_status());
  if (!any || node->num_inputs() == 0 || std::find(stops_.begin(), stops_.end(), node) != stops_.end()) return {};
  std::vector<bool> wanted;
  for (const Endpoint& e : node->inputs())
    wanted.push_back(e.node && size_t(e.node->id()) < between_.size() && between_[size_t(e.node->id())] &&
                     differentiable(e.node->output_type(e.index)));
  if (std::find(wanted.begin(), wanted.end(), true) == wanted.end()) return {};
  const std::vector<Endpoint> inputs = node->inputs();  // the node may get more
  emitter_.set_scope(cat(scope_, "/", node->name(), "_grad"));
  auto got = gradient(node, std::move(dys), std::move(wanted));
  emitter_.set_scope(scope_);
  if (!got.ok()) return core::at_node(got.status(), node->name());
  for (size_t i = 0; i < inputs.size() && i < got->size(); ++i) add(inputs[i], std::move((*got)[i]));
  return {};
}

namespace {

// The frame that a node of version 1's loops belongs to; empty for other nodes.
std::string v1_loop(Node* node) {
  if (!is_enter(*node) && !is_exit(*node) && !is_next_iteration(*node)) return {};
  std::vector<Node*> todo{node};
  std::unordered_set<Node*> seen{node};
  while (!todo.empty()) {
    Node* n = todo.back();
    todo.pop_back();
    if (is_enter(*n)) return n->attr<std::string>("frame_name");
    for (const Endpoint& e : n->inputs()) {
      if (e.node && seen.insert(e.node).second) todo.push_back(e.node);
    }
  }
  return "?";
}

}  // namespace

namespace {

// As Python writes it.
std::string tuple_text(const PartialShape& s) {
  if (!s.has_rank()) return "<unknown>";
  std::string out = "(";
  for (int i = 0; i < s.rank(); ++i) out += cat(i ? ", " : "", s.dim(i) < 0 ? std::string("None") : cat(s.dim(i)));
  return cat(out, s.rank() == 1 ? ",)" : ")");
}

// What the program's own rules gave.
Status check_shapes(const Node& node, const std::vector<Value>& inputs, const Grads& grads) {
  for (size_t i = 0; i < inputs.size() && i < grads.size(); ++i) {
    if (!grads[i].valid() || grads[i].is_slices() || inputs[i].dtype() == DType::kResource || inputs[i].shape().compatible_with(grads[i].shape()))
      continue;
    return with_note(invalid_argument("Incompatible shapes between op input and calculated input gradient. Forward operation: ", node.name(),
                                      ". Input index: ", i, ". Original input shape: ", tuple_text(inputs[i].shape()),
                                      ". Calculated input gradient shape: ", tuple_text(grads[i].shape())),
                     core::kNoteGradientShape);
  }
  return {};
}

// A rule that knows nodes, not values.
Result<Grads> apply_rule(GraphEmitter& emitter, const GradientOptions::NodeRule& rule, const Flow& flow) {
  std::vector<Endpoint> dys;
  for (const Value& v : flow.dys) dys.push_back(v.valid() ? GraphEmitter::unwrap(v.dense()) : Endpoint());
  dys.resize(size_t(flow.node->num_outputs()));
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  WEFT_ASSIGN(const std::vector<Endpoint> dxs, rule(dys));
  if (int(dxs.size()) != flow.node->num_inputs())
    return invalid_argument("the gradient of ", flow.node->op(), " gave ", dxs.size(), " values for ", flow.node->num_inputs(), " inputs");
  Grads out;
  for (const Endpoint& e : dxs) out.push_back(e.node ? emitter.wrap(e) : Value());
  return out;
}

}  // namespace

Result<Grads> Backward::gradient(Node* node, std::vector<Value> dys, std::vector<bool> wanted) {
  const Flow flow{node, std::move(dys), std::move(wanted)};
  if (const auto own = rule_of_ ? rule_of_(node) : nullptr) return apply_rule(emitter_, own, flow);
  bool replaced = false;  // by the rule of another name
  std::string rule(node->op());
  const OpSpec* spec = &node->spec();
  if (const AttrValue* type = node->find_attr("_gradient_op_type"); type && type->get<std::string>()) {
    const std::string& name = *type->get<std::string>();
    std::string function = graph_.library()->gradient_of(name);
    if (function.empty() && graph_.library()->contains(name)) function = name;
    if (const AttrValue* layout = node->find_attr("_gradient_layout"); layout && layout->get<std::vector<int64_t>>() && !function.empty())
      return custom_gradient(*this, flow, function, *layout->get<std::vector<int64_t>>());
    if (!function.empty()) return user_gradient(*this, flow, function);
    const OpSpec* other = graph_.registry().find(name);
    // TensorFlow names a gradient of its own for every call; it is that of the function.
    if (!is_call(*node) || other || user_rule(name)) {
      rule = name;
      spec = other;
      replaced = true;
      if (!other && !user_rule(name))
        return not_found("gradient registry has no entry for: ", node->op(), " (No gradient defined for op: ", name, ")")
            .with_payload(core::kNoteNoGradient, std::string(node->op()));
    }
  }
  if (spec == &node->spec() && !user_rule(rule)) {
    if (is_call(*node)) return call_gradient(*this, flow);
    if (is_branch(*node)) return branch_gradient(*this, flow);
    if (is_while(*node)) return loop_gradient(*this, flow);
    if (role_of(*node) == Role::kSymbolicGradient) {
      // As a call it has a gradient like any other.
      WEFT_ASSIGN(FunctionAttr f, symbolic_gradient(graph_.registry(), graph_.library(), node->attr<FunctionAttr>("f"), inside_));
      const AttrMap attrs{{"Tin", node->attr<std::vector<DType>>("Tin")}, {"Tout", node->attr<std::vector<DType>>("Tout")}, {"f", f}};
      WEFT_RETURN_IF_ERROR(extend(node, op_of(Role::kCall), attrs, node->inputs(), {}));
      return call_gradient(*this, flow);
    }
  }
  if (const std::string frame = v1_loop(node); !frame.empty())
    return unimplemented("the gradient of loop '", frame, "', which is made of frames (Enter, Exit); a While op has one");
  std::vector<Value> inputs, outputs;
  for (const Endpoint& e : node->inputs()) inputs.push_back(emitter_.wrap(e));
  for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back(emitter_.wrap({node, i}));
  WEFT_ASSIGN(Grads grads, rule_gradient(rule, spec, GradContext(emitter_, node->info(), inputs, outputs, flow.dys)));
  if (replaced || user_rule(rule)) WEFT_RETURN_IF_ERROR(check_shapes(*node, inputs, grads));
  return grads;
}

Status Backward::extend(Node* node, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs, const std::vector<PartialShape>& more) {
  changed_.push_back({node, std::string(node->op()), attrs_of(*node), node->inputs(), node->shapes, node->handles});
  auto shapes = node->shapes;
  auto handles = node->handles;
  const size_t n = size_t(node->num_outputs());
  if (Status s = graph_.rewrite(node, op, std::move(attrs), std::move(inputs)); !s.ok()) {
    changed_.pop_back();
    return s;
  }
  shapes.resize(n);
  handles.resize(n);
  shapes.insert(shapes.end(), more.begin(), more.end());
  shapes.resize(size_t(node->num_outputs()));
  handles.resize(size_t(node->num_outputs()));
  node->shapes = std::move(shapes);
  node->handles = std::move(handles);
  if (!notify_tapes_) return {};
  // Before anything reads the new outputs: tapes record only what depends on values that they know.
  std::vector<Value> all;
  for (int i = 0; i < node->num_outputs(); ++i) all.push_back(emitter_.wrap({node, i}));
  for (Tape* t : TapeStack::current().tapes()) t->grow(std::span(all).first(n), std::span(all).subspan(n));
  return {};
}

void Backward::undo() {
  for (auto it = changed_.rbegin(); it != changed_.rend(); ++it) {
    // What was added and reads the further outputs is removed now; the caller removes the rest.
    for (const Use& u : std::vector<Use>(it->node->uses())) {
      if (u.node->id() >= first_new_) graph_.set_input(u.node, u.input, {});
    }
    if (graph_.rewrite(it->node, it->op, std::move(it->attrs), std::move(it->inputs)).ok()) {
      it->node->shapes = std::move(it->shapes);
      it->node->handles = std::move(it->handles);
    }
  }
  changed_.clear();
}

Result<Grads> traced_gradient(GraphEmitter& emitter, Node* node, std::vector<Value> dys, std::vector<bool> wanted) {
  dys.resize(size_t(node->num_outputs()));
  wanted.resize(size_t(node->num_inputs()));
  Backward backward(emitter);
  backward.notify_tapes();
  auto grads = backward.gradient(node, std::move(dys), std::move(wanted));
  if (!grads.ok()) backward.undo();
  return grads;
}

namespace {

Result<std::vector<GradientEnds>> gradient_ends(Graph& graph, ShapeInference& shapes, const std::vector<Endpoint>& ys,
                                                const std::vector<Endpoint>& xs, const std::vector<Endpoint>& dys, const GradientOptions& options,
                                                bool sparse) {
  for (const auto& [list, what] : {std::pair(&ys, "output"), std::pair(&xs, "input")}) {
    for (const Endpoint& e : *list) {
      if (!e.node || e.index < 0 || e.index >= e.node->num_outputs()) return invalid_argument("a gradient's ", what, " does not exist");
    }
  }
  for (const Endpoint& y : ys) {
    if (!differentiable(y.node->output_type(y.index)))
      return core::names_node(
          invalid_argument("the gradient of {{node ", y.node->name(), "}} was requested, whose type is ", dtype_name(y.node->output_type(y.index))),
          y.node->name());
  }
  GraphEmitter emitter(graph, shapes, options.scope);
  Backward backward(emitter, options);
  WEFT_ASSIGN(std::vector<Value> grads, backward.run(ys, xs, dys));
  std::vector<GradientEnds> out;
  Status bad;
  for (size_t i = 0; i < xs.size() && bad.ok(); ++i) {
    const Value& g = grads[i];
    if (sparse && g.is_slices()) {
      out.push_back({GraphEmitter::unwrap(g.slice_values()), GraphEmitter::unwrap(g.slice_indices()),
                     g.slice_dense_shape().valid() ? GraphEmitter::unwrap(g.slice_dense_shape()) : Endpoint()});
      continue;
    }
    const Value dense = g.dense();
    bad = emitter.take_status();
    if (bad.ok() && !dense.valid() && options.unreachable_is_error && !backward.reaches(xs[i]))
      bad =
          invalid_argument("Cannot compute the partial derivative for node '", xs[i].node->name(), "' as it's unreachable from the output node(s).");
    out.push_back({GraphEmitter::unwrap(dense), {}, {}});
  }
  if (bad.ok()) return out;
  backward.undo();
  return bad;
}

}  // namespace

Result<std::vector<GradientEnds>> add_sparse_gradients(Graph& graph, ShapeInference& shapes, const std::vector<Endpoint>& ys,
                                                       const std::vector<Endpoint>& xs, const std::vector<Endpoint>& dys,
                                                       const GradientOptions& options) {
  return gradient_ends(graph, shapes, ys, xs, dys, options, true);
}

Result<std::vector<Endpoint>> add_gradients(Graph& graph, ShapeInference& shapes, const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                            const std::vector<Endpoint>& dys, const GradientOptions& options) {
  WEFT_ASSIGN(auto made, gradient_ends(graph, shapes, ys, xs, dys, options, false));
  std::vector<Endpoint> out;
  for (const GradientEnds& g : made) out.push_back(g.values);
  return out;
}

}  // namespace weft_engine::autodiff
