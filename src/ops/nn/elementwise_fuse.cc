// Elementwise nodes of one shape that follow each other become one node, which goes over memory once.
//
// A group grows backwards from its last node. A value of it may be read from elsewhere, too, if all those
// readers are behind the last node in a valid order: then no way leads out of the group and back.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

// What a group may hold. Of numbers (one element each) a step costs next to nothing beside a kernel of its own.
struct Limits {
  size_t steps, inputs;
};
constexpr Limits kArrays{48, 24}, kNumbers{4096, 1024};

class Elementwise {
 public:
  Elementwise(FunctionBody& body, const Region& region) : body_(body), g_(*body.graph), region_(region) {}

  Status run() {
    std::vector<int> order;  // by id: fusing removes nodes that are still to come
    {
      WEFT_ASSIGN(std::vector<Node*> nodes, g_.topological_order());
      for (const Node* n : nodes) order.push_back(n->id());
    }
    WEFT_ASSIGN(reachability_, Reachability::make(g_));
    taken_.assign(size_t(g_.num_ids()), 0);
    group_of_.assign(size_t(g_.num_ids()), -1);
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
  static const ScalarForm& scalar(const Node& n) { return n.spec().traits().scalar; }

  bool eligible(const Node* n) const {
    const int operands = scalar(*n).operands;
    if (operands == 0 || (operands == 1 ? n->num_inputs() != 1 : n->num_inputs() < 2)) return false;
    if (n->num_outputs() != 1 || n->output_type(0) != DType::kFloat || !n->control_inputs().empty() || region_.contains(n)) return false;
    if (!shape_of({const_cast<Node*>(n), 0}).fully_known() || n->is_function_call()) return false;
    for (DType t : n->info().input_types()) {
      if (t != DType::kFloat) return false;
    }
    if (const AttrValue* format = n->find_attr("data_format"); format && *format->get<std::string>() != "NHWC") return false;
    for (const Endpoint& e : n->inputs()) {
      if (!shape_of(e).fully_known()) return false;
    }
    return true;
  }

  std::vector<Node*> grow(Node* last) {
    const Limits limits = *last->shapes[0].num_elements() == 1 ? kNumbers : kArrays;
    std::vector<Node*> group;
    size_t steps = 0;
    std::set<std::pair<int, int>> inputs;  // of the group: node and output
    auto count_inputs = [&](const Node* n) {
      size_t more = 0;
      for (const Endpoint& e : n->inputs()) more += !is_number(e) && !inputs.contains({e.node->id(), e.index});
      return inputs.size() + more - inputs.contains({n->id(), 0});
    };
    auto add = [&](Node* n) {
      group.push_back(n);
      group_of_[size_t(n->id())] = last->id();
      steps += steps_of(*n);
      inputs.erase({n->id(), 0});
      for (const Endpoint& e : n->inputs()) {
        if (!is_number(e)) inputs.emplace(e.node->id(), e.index);
      }
    };
    auto member = [&](const Node* n) { return known(n) && group_of_[size_t(n->id())] == last->id(); };
    const int end = reachability_.place(last);
    add(last);
    // A node that joins may be the last reader that the sources of others waited for, but only of its own inputs.
    for (size_t i = 0; i < group.size(); ++i) {
      for (const Endpoint& e : group[i]->inputs()) {
        Node* p = e.node;
        if (!known(p) || taken_[size_t(p->id())] || member(p) || is_const(*p) || !eligible(p) || !same_device(*p, *last)) continue;
        if (!(p->shapes[0] == last->shapes[0]) || is_control_ret(body_, p)) continue;
        if (steps + steps_of(*p) > limits.steps || count_inputs(p) > limits.inputs) continue;
        const bool later =
            std::all_of(p->uses().begin(), p->uses().end(), [&](const Use& u) { return member(u.node) || reachability_.place(u.node) > end; }) &&
            std::all_of(p->control_outputs().begin(), p->control_outputs().end(), [&](Node* o) { return reachability_.place(o) > end; });
        if (later) add(p);
      }
    }
    std::sort(group.begin(), group.end(), [&](Node* a, Node* b) { return reachability_.place(a) < reachability_.place(b); });
    return group;
  }
  bool known(const Node* n) const { return size_t(n->id()) < taken_.size(); }

  static bool is_number(const Endpoint& e) { return const_value(e) && const_value(e)->rank() == 0; }
  static size_t steps_of(const Node& n) { return size_t(std::max(n.num_inputs() - 1, 1)); }

  // An operand of a group in front of being repeated, which the fused node does itself.
  static Endpoint unrepeated(const Endpoint& e, const Node& last) {
    const int from = e.node->spec().traits().repeats;
    if (from < 0 || !e.node->control_inputs().empty() || !same_device(*e.node, last)) return e;
    const Endpoint x = e.node->input(from);
    return shape_of(x).fully_known() && !is_ref_type(x.node->output_type(x.index)) ? x : e;
  }

  // The results have the shape that all inputs together have; it must be the nodes' own.
  static bool make_shape(const std::vector<Endpoint>& inputs, const PartialShape& wanted) {
    if (inputs.empty()) return false;
    PartialShape all = shape_of(inputs[0]);
    for (const Endpoint& e : inputs) {
      auto b = shapes::broadcast(all, shape_of(e));
      if (!b.ok()) return false;
      all = *b;
    }
    return all == wanted;
  }

  Status fuse(const std::vector<Node*>& group) {
    Node* last = group.back();
    std::vector<Endpoint> inputs;
    std::vector<float> constants;
    std::map<uint32_t, size_t> constant_at;          // by bits: minus zero is another number than zero
    std::map<std::pair<int, int>, size_t> input_at;  // by node and output
    std::vector<int> repeated;                       // the nodes that are passed by
    auto member = [&](const Node* n) { return known(n) && group_of_[size_t(n->id())] == last->id(); };
    bool repeats = true;  // the fused node repeats what it can
    auto operand = [&](const Endpoint& e) { return repeats ? unrepeated(e, *last) : e; };
    for (;; repeats = false) {
      inputs.clear(), constants.clear(), constant_at.clear(), input_at.clear(), repeated.clear();
      for (Node* n : group) {
        for (const Endpoint& given : n->inputs()) {
          if (member(given.node)) continue;
          const Endpoint e = operand(given);
          if (!(e == given)) repeated.push_back(given.node->id());
          if (is_number(e)) {
            const float v = *const_value(e)->data<float>();
            if (constant_at.emplace(std::bit_cast<uint32_t>(v), constants.size()).second) constants.push_back(v);
          } else if (input_at.emplace(std::pair(e.node->id(), e.index), inputs.size()).second) {
            inputs.push_back(e);
          }
        }
      }
      // What is passed by must not be one of the group.
      const bool outside = std::none_of(inputs.begin(), inputs.end(), [&](const Endpoint& e) { return member(e.node); });
      if (outside && make_shape(inputs, last->shapes[0])) break;
      if (!repeats || repeated.empty()) return {};
    }
    const size_t count = inputs.size(), first = count + constants.size();
    std::vector<std::string> steps;
    std::map<int, size_t> numbers;  // of the members' values, by node
    auto number = [&](const Endpoint& given) -> size_t {
      if (member(given.node)) return numbers.at(given.node->id());
      const Endpoint e = operand(given);
      if (is_number(e)) return count + constant_at.at(std::bit_cast<uint32_t>(*const_value(e)->data<float>()));
      return input_at.at({e.node->id(), e.index});
    };
    for (Node* n : group) {
      size_t at = number(n->input(0));
      if (n->num_inputs() == 1) steps.push_back(cat(scalar(*n).function, " ", at));
      for (int i = 1; i < n->num_inputs(); ++i) {
        steps.push_back(cat(scalar(*n).function, " ", at, " ", number(n->input(i))));
        at = first + steps.size() - 1;
      }
      numbers.emplace(n->id(), first + steps.size() - 1);
    }
    std::vector<int64_t> results;
    std::vector<Node*> given;
    for (Node* n : group) {
      const bool outside = n == last || !n->control_outputs().empty() ||
                           std::any_of(n->uses().begin(), n->uses().end(), [&](const Use& u) { return !member(u.node); });
      if (!outside) continue;
      results.push_back(int64_t(numbers.at(n->id())));
      given.push_back(n);
    }
    AttrMap attrs{{"N", int64_t(inputs.size())}, {"M", int64_t(results.size())}, {"steps", steps}, {"constants", constants}, {"results", results}};
    WEFT_ASSIGN(Node* fused, add_near(g_, last, "/fused", "_WeftFusedElementwise", std::move(attrs), std::move(inputs)));
    reachability_.set_place(fused, reachability_.place(last));
    for (size_t i = 0; i < given.size(); ++i) {
      g_.replace_uses({given[i], 0}, {fused, int(i)});
      g_.replace_controls(given[i], fused);
      if (is_control_ret(body_, given[i])) {
        std::erase(body_.control_rets, given[i]);
        add_control_ret(body_, fused);
      }
    }
    for (auto it = group.rbegin(); it != group.rend(); ++it) g_.remove(*it);
    for (int id : repeated) {
      if (Node* n = g_.node(id); n && n->uses().empty() && n->control_outputs().empty() && !is_control_ret(body_, n)) g_.remove(n);
    }
    return {};
  }
  FunctionBody& body_;
  Graph& g_;
  const Region& region_;
  Reachability reachability_;
  std::vector<char> taken_;
  std::vector<int> group_of_;  // by id: the last node of the group that a node is in, or was tried for
};

Status replace_elementwise(FunctionBody& body, const Region& region) { return Elementwise(body, region).run(); }

}  // namespace

void fuse_elementwise(Registry& r) { r.fuse("_WeftFusedElementwise", FuseStage::kElements, replace_elementwise); }

}  // namespace weft_engine::ops
