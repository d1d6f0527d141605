#include "autodiff/gradients.h"

#include <algorithm>
#include <atomic>
#include <shared_mutex>
#include <unordered_map>

#include "graph/graph_emitter.h"
#include "op/emit.h"

namespace weft::autodiff {

bool differentiable(DType t) {
  switch (base_type(t)) {
    case DType::kFloat: case DType::kDouble: case DType::kHalf: case DType::kBfloat16: case DType::kComplex64: case DType::kComplex128:
    case DType::kResource: case DType::kVariant: return true;
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

}  // namespace

Status register_gradient(const std::string& op, std::function<Grads(const GradContext&)> rule) {
  UserRules& u = user_rules();
  std::unique_lock lock(u.mutex);
  if (!u.rules.emplace(op, std::move(rule)).second) return already_exists("Registering two gradient with name '", op, "'!");
  u.any.store(true, std::memory_order_release);
  return {};
}

Result<Grads> op_gradient(Emitter& emitter, const NodeInfo& node, std::span<const Value> inputs, std::span<const Value> outputs,
                          std::span<const Value> output_grads) {
  const OpSpec& spec = node.spec();
  const GradContext context(emitter, node, inputs, outputs, output_grads);
  Grads grads;
  if (auto rule = user_rule(spec.name)) {
    grads = rule(context);
  } else {
    if (spec.no_gradient) return Grads(inputs.size());
    if (!spec.grad)
      return not_found("gradient registry has no entry for: ", spec.name, " (No gradient defined for op: ", spec.name, "; `weft ops ", spec.name,
                       "` tells more, register_gradient() gives one)");
    grads = spec.grad(context);
  }
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  if (grads.size() != inputs.size())
    return internal_error("the gradient of ", spec.name, " gave ", grads.size(), " values for ", inputs.size(), " inputs");
  return grads;
}

namespace {

class Backward {
 public:
  Backward(Graph& graph, ShapeInference& shapes, const GradientOptions& o) : graph_(graph), options_(o), emitter_(graph, shapes, o.scope) {}

  Result<std::vector<Endpoint>> run(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs, const std::vector<Endpoint>& dys) {
    const size_t n = size_t(graph_.num_ids());
    sums_.resize(n);
    mark(ys, xs);
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
    std::vector<Endpoint> out;
    for (const Endpoint& x : xs) {
      Value g = sum(x);
      WEFT_RETURN_IF_ERROR(emitter_.take_status());
      if (g.is_slices()) g = g.dense();
      WEFT_RETURN_IF_ERROR(emitter_.take_status());
      if (!g.valid() && options_.unreachable_is_error)
        return invalid_argument("Cannot compute the partial derivative for node '", x.node->name(), "' as it's unreachable from the output node(s).");
      out.push_back(GraphEmitter::unwrap(g));
    }
    return out;
  }

 private:
  // Nodes that an x reaches and that reach a y; others need no gradient.
  void mark(const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs) {
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

  void add(const Endpoint& e, Value g) {
    if (!g.valid() || size_t(e.node->id()) >= sums_.size()) return;
    auto& of_node = sums_[size_t(e.node->id())];
    if (of_node.empty()) of_node.resize(size_t(e.node->num_outputs()));
    of_node[size_t(e.index)].push_back(std::move(g));
  }

  Value sum(const Endpoint& e) {
    auto& of_node = sums_[size_t(e.node->id())];
    if (of_node.empty()) return {};
    auto& list = of_node[size_t(e.index)];
    if (list.size() > 1) {
      Value total = add_n(list);
      list.assign(1, std::move(total));
    }
    return list.empty() ? Value() : list[0];
  }

  Status back(Node* node) {
    std::vector<Value> inputs, outputs, grads;
    bool any = false;
    for (int i = 0; i < node->num_outputs(); ++i) {
      outputs.push_back(emitter_.wrap({node, i}));
      grads.push_back(differentiable(node->output_type(i)) ? sum({node, i}) : Value());
      any |= grads.back().valid();
    }
    WEFT_RETURN_IF_ERROR(emitter_.take_status());
    if (!any || node->num_inputs() == 0) return {};
    bool reads_marked = false;
    for (const Endpoint& e : node->inputs()) reads_marked |= e.node && between_[size_t(e.node->id())] && differentiable(e.node->output_type(e.index));
    if (!reads_marked) return {};
    for (const Endpoint& e : node->inputs()) inputs.push_back(emitter_.wrap(e));
    emitter_.set_scope(cat(options_.scope, "/", node->name(), "_grad"));
    auto got = op_gradient(emitter_, node->info(), inputs, outputs, grads);
    emitter_.set_scope(options_.scope);
    if (!got.ok()) return got.status().with_suffix(cat("\n\t [[{{node ", node->name(), "}}]]"));
    for (int i = 0; i < node->num_inputs(); ++i) add(node->input(i), std::move((*got)[size_t(i)]));
    return {};
  }

  Graph& graph_;
  const GradientOptions& options_;
  GraphEmitter emitter_;
  std::vector<char> between_;
  std::vector<std::vector<std::vector<Value>>> sums_;  // by node, by output: what flowed into it
};

}  // namespace

Result<std::vector<Endpoint>> add_gradients(Graph& graph, ShapeInference& shapes, const std::vector<Endpoint>& ys, const std::vector<Endpoint>& xs,
                                            const std::vector<Endpoint>& dys, const GradientOptions& options) {
  for (const auto& [list, what] : {std::pair(&ys, "output"), std::pair(&xs, "input")}) {
    for (const Endpoint& e : *list) {
      if (!e.node || e.index < 0 || e.index >= e.node->num_outputs()) return invalid_argument("a gradient's ", what, " does not exist");
    }
  }
  for (const Endpoint& y : ys) {
    if (!differentiable(y.node->output_type(y.index)))
      return invalid_argument("the gradient of {{node ", y.node->name(), "}} was asked for, whose type is ", dtype_name(y.node->output_type(y.index)));
  }
  return Backward(graph, shapes, options).run(ys, xs, dys);
}

}  // namespace weft::autodiff
