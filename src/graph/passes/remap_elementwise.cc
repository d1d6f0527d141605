// Elementwise nodes of one shape that follow each other become one node, which goes over memory once.
//
// A group grows backwards from its last node. A value of it may be read from elsewhere, too, if all those
// readers stand behind the last node in a valid order: then no way leads out of the group and back.
#include <algorithm>
#include <cstring>

#include "graph/passes/remap.h"

namespace weft::graph {
namespace {

constexpr size_t kMaxSteps = 48, kMaxInputs = 24;

// Ops with a loop in _WeftFusedElementwise: one or two inputs of a type, an output of the same.
constexpr std::string_view kSteps[] = {
    "Abs", "Add", "AddV2", "Ceil", "Cos", "Div", "DivNoNan", "Elu", "EluGrad", "Erf", "Erfc", "Exp", "Expm1", "Floor", "Inv", "InvGrad",
    "Log", "Log1p", "Maximum", "Minimum", "Mul", "MulNoNan", "Neg", "Pow", "RealDiv", "Reciprocal", "ReciprocalGrad", "Relu", "Relu6",
    "Relu6Grad", "ReluGrad", "Rint", "Round", "Rsqrt", "RsqrtGrad", "Selu", "SeluGrad", "Sigmoid", "SigmoidGrad", "Sign", "Sin", "Softplus",
    "SoftplusGrad", "Softsign", "SoftsignGrad", "Sqrt", "SqrtGrad", "Square", "SquaredDifference", "Sub", "Tanh", "TanhGrad",
};
static_assert(std::is_sorted(std::begin(kSteps), std::end(kSteps)));

class Elementwise {
 public:
  Elementwise(FunctionBody& body, const Region& region) : body_(body), g_(*body.graph), region_(region) {}

  Status run() {
    std::vector<int> order;  // by id: fusing removes nodes that are still to come
    {
      WEFT_ASSIGN(std::vector<Node*> nodes, g_.topological_order());
      for (const Node* n : nodes) order.push_back(n->id());
    }
    WEFT_ASSIGN(ancestry_, Ancestry::make(g_));
    taken_.assign(size_t(g_.num_ids()), 0);
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Node* node = g_.node(*it);
      if (!node || taken_[size_t(*it)] || !eligible(node)) continue;
      const std::vector<Node*> group = grow(node);
      for (Node* n : group) taken_[size_t(n->id())] = 1;
      if (group.size() > 1) WEFT_RETURN_IF_ERROR(fuse(group));
    }
    return {};
  }

 private:
  // An addition under another name.
  static std::string_view step_name(const Node& n) { return n.op() == "AddN" || n.op() == "BiasAdd" ? "AddV2" : n.op(); }

  bool eligible(const Node* n) const {
    if (n->num_outputs() != 1 || n->output_type(0) != DType::kFloat || !n->control_inputs().empty() || region_.contains(n)) return false;
    if (!shape_of({const_cast<Node*>(n), 0}).fully_known() || n->is_function_call()) return false;
    for (DType t : n->info().input_types()) {
      if (t != DType::kFloat) return false;
    }
    if (n->op() == "AddN") {
      for (const Endpoint& e : n->inputs()) {
        if (!(shape_of(e) == n->shapes[0])) return false;
      }
      return n->num_inputs() >= 2;
    }
    if (n->op() == "BiasAdd") return n->attr<std::string>("data_format") == "NHWC" && shape_of(n->input(0)).fully_known() && shape_of(n->input(1)).fully_known();
    if (!std::binary_search(std::begin(kSteps), std::end(kSteps), n->op())) return false;
    for (const Endpoint& e : n->inputs()) {
      if (!shape_of(e).fully_known()) return false;
    }
    return true;
  }

  std::vector<Node*> grow(Node* last) {
    std::vector<Node*> group{last};
    const int end = ancestry_.place(last);
    auto member = [&](const Node* n) { return std::find(group.begin(), group.end(), n) != group.end(); };
    for (size_t i = 0; i < group.size() && group.size() < kMaxSteps; ++i) {
      for (const Endpoint& e : group[i]->inputs()) {
        Node* p = e.node;
        if (member(p) || is_const(*p) || !known(p) || taken_[size_t(p->id())] || !eligible(p) || !same_device(*p, *last)) continue;
        if (!(p->shapes[0] == last->shapes[0])) continue;
        const bool later = std::all_of(p->uses().begin(), p->uses().end(), [&](const Use& u) { return member(u.node) || ancestry_.place(u.node) > end; }) &&
                           std::all_of(p->control_outputs().begin(), p->control_outputs().end(), [&](Node* o) { return ancestry_.place(o) > end; });
        if (!later || is_control_ret(body_, p) || group.size() >= kMaxSteps || count_inputs(group, p) > kMaxInputs) continue;
        group.push_back(p);
        i = size_t(-1);  // others may have become members' only sources
        break;
      }
      if (i == size_t(-1)) continue;
    }
    std::sort(group.begin(), group.end(), [&](Node* a, Node* b) { return ancestry_.place(a) < ancestry_.place(b); });
    return group;
  }
  bool known(const Node* n) const { return size_t(n->id()) < taken_.size(); }

  static size_t count_inputs(const std::vector<Node*>& group, const Node* more) {
    size_t count = size_t(more->num_inputs());
    for (const Node* n : group) count += size_t(n->num_inputs());
    return count - group.size();
  }

  Status fuse(const std::vector<Node*>& group) {
    Node* last = group.back();
    std::vector<Endpoint> inputs;
    std::vector<float> constants;
    auto member = [&](const Node* n) { return std::find(group.begin(), group.end(), n) != group.end(); };
    auto is_number = [](const Endpoint& e) { return const_value(e) && const_value(e)->rank() == 0; };
    for (Node* n : group) {
      for (const Endpoint& e : n->inputs()) {
        if (member(e.node)) continue;
        if (is_number(e)) {
          const float v = *const_value(e)->data<float>();
          if (find_number(constants, v) == constants.size()) constants.push_back(v);
        } else if (std::find(inputs.begin(), inputs.end(), e) == inputs.end()) {
          inputs.push_back(e);
        }
      }
    }
    if (inputs.empty()) return {};
    // The results have the shape that all inputs together have; it must be the nodes' own.
    PartialShape all = shape_of(inputs[0]);
    for (const Endpoint& e : inputs) {
      auto b = shapes::broadcast(all, shape_of(e));
      if (!b.ok()) return {};
      all = *b;
    }
    if (!(all == last->shapes[0])) return {};
    const size_t first = inputs.size() + constants.size();
    std::vector<std::string> steps;
    std::vector<std::pair<Node*, size_t>> numbers;  // of the members' values
    auto number = [&](const Endpoint& e) -> size_t {
      for (const auto& [n, at] : numbers) {
        if (n == e.node) return at;
      }
      if (is_number(e)) return inputs.size() + find_number(constants, *const_value(e)->data<float>());
      return size_t(std::find(inputs.begin(), inputs.end(), e) - inputs.begin());
    };
    for (Node* n : group) {
      size_t at = number(n->input(0));
      if (n->num_inputs() == 1) steps.push_back(cat(step_name(*n), " ", at));
      for (int i = 1; i < n->num_inputs(); ++i) {
        steps.push_back(cat(step_name(*n), " ", at, " ", number(n->input(i))));
        at = first + steps.size() - 1;
      }
      numbers.emplace_back(n, first + steps.size() - 1);
    }
    std::vector<int64_t> results;
    std::vector<Node*> given;
    for (const auto& [n, at] : numbers) {
      const bool outside = n == last || !n->control_outputs().empty() || std::any_of(n->uses().begin(), n->uses().end(), [&](const Use& u) { return !member(u.node); });
      if (!outside) continue;
      results.push_back(int64_t(at));
      given.push_back(n);
    }
    AttrMap attrs{{"N", int64_t(inputs.size())}, {"M", int64_t(results.size())}, {"steps", steps}, {"constants", constants}, {"results", results}};
    WEFT_ASSIGN(Node * fused, add_near(g_, last, "/fused", "_WeftFusedElementwise", std::move(attrs), std::move(inputs)));
    ancestry_.set_place(fused, ancestry_.place(last));
    for (size_t i = 0; i < given.size(); ++i) {
      g_.replace_uses({given[i], 0}, {fused, int(i)});
      g_.replace_controls(given[i], fused);
      if (is_control_ret(body_, given[i])) {
        std::erase(body_.control_rets, given[i]);
        add_control_ret(body_, fused);
      }
    }
    for (auto it = group.rbegin(); it != group.rend(); ++it) g_.remove(*it);
    return {};
  }
  // By bits: minus zero is another number than zero.
  static size_t find_number(const std::vector<float>& all, float v) {
    size_t i = 0;
    while (i < all.size() && std::memcmp(&all[i], &v, sizeof v) != 0) ++i;
    return i;
  }

  FunctionBody& body_;
  Graph& g_;
  const Region& region_;
  Ancestry ancestry_;
  std::vector<char> taken_;
};

}  // namespace

Status remap_elementwise(FunctionBody& body, const Region& region) {
  if (!has_kernel(*body.graph, "_WeftFusedElementwise")) return {};
  return Elementwise(body, region).run();
}

}  // namespace weft::graph
