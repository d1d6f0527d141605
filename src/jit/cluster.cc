#include "jit/cluster.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "compiler/lower.h"
#include "core/cat.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "graph/to_function.h"
#include "op/lower.h"

namespace weft_engine::jit {
namespace {

using namespace weft_engine::op;
using graph::Endpoint;
using graph::Graph;
using graph::Node;

constexpr size_t kLeastNodes = 4;  // less is not worth a call

bool plain(DType t) { return is_simple(t) && !is_ref_type(t) && !is_complex_type(t) && !is_quantized_type(t); }

// May the node be part of compiled code? It only computes, or reads a variable; what it writes, waits for or calls stays outside.
bool can_join(const Node& n) {
  if (!n.spec().lower || n.spec().lower == op::shape_from_data || is_const(n) || is_no_op(n) || is_end(n) || n.num_outputs() == 0) return false;
  const bool reads = role_of(n) == op::Role::kReadVariable;
  if (n.spec().stateful && !reads) return false;
  for (const AttrValue& a : n.info().attrs()) {
    if (a.get<FunctionAttr>() || a.get<std::vector<FunctionAttr>>()) return false;
  }
  for (int i = 0; i < n.num_inputs(); ++i) {
    if (!plain(n.input_type(i)) && !(reads && n.input_type(i) == DType::kResource)) return false;
  }
  for (int i = 0; i < n.num_outputs(); ++i) {
    if (!plain(n.output_type(i))) return false;
  }
  return true;
}

struct Cluster {
  std::vector<Node*> nodes;
};

Status replace(graph::FunctionBody& whole, const Cluster& c, const std::string& name) {
  Graph& g = *whole.graph;
  const std::set<const Node*> inside(c.nodes.begin(), c.nodes.end());
  graph::FunctionOptions o;
  o.name = name;
  std::vector<const Node*> body(c.nodes.begin(), c.nodes.end());
  std::set<const Node*> constants;
  std::set<Node*> before;
  bool stateful = false;
  auto add = [](std::vector<Endpoint>& list, const Endpoint& e) {
    if (std::find(list.begin(), list.end(), e) == list.end()) list.push_back(e);
  };
  for (Node* n : c.nodes) {
    stateful = stateful || n->spec().stateful;
    for (const Endpoint& e : n->inputs()) {
      if (inside.count(e.node)) continue;
      if (is_const(*e.node)) {
        if (constants.insert(e.node).second) body.push_back(e.node);
      } else {
        add(o.inputs, e);
      }
    }
    for (Node* w : n->control_inputs()) {
      if (!inside.count(w)) before.insert(w);
    }
    for (const graph::Use& u : n->uses()) {
      if (!inside.count(u.node)) add(o.outputs, {n, u.output});
    }
  }
  if (o.outputs.empty()) return {};
  // Control edges are the call's; the function has none from outside.
  for (Node* n : c.nodes) {
    const std::vector<Node*> controls = n->control_inputs();
    for (Node* w : controls) g.remove_control(w, n);
  }
  for (const Node* k : constants) {
    const std::vector<Node*> controls = k->control_inputs();
    for (Node* w : controls) g.remove_control(w, const_cast<Node*>(k));
  }
  o.body = body;
  WEFT_ASSIGN(graph::FunctionDef def, graph::to_function(g, o));
  WEFT_RETURN_IF_ERROR(g.library()->add_derived(std::move(def), whole.name));
  AttrMap attrs;
  attrs["f"] = FunctionAttr{name, nullptr};
  std::vector<DType> in, out;
  for (const Endpoint& e : o.inputs) in.push_back(e.node->output_type(e.index));
  for (const Endpoint& e : o.outputs) out.push_back(e.node->output_type(e.index));
  attrs["Tin"] = in;
  attrs["Tout"] = out;
  attrs[kMayCompile] = true;
  const std::vector<Node*> controls(before.begin(), before.end());
  WEFT_ASSIGN(Node* call, g.add(g.unique_name(name), op_of(op::Role::kCall, stateful), std::move(attrs), o.inputs, controls));
  for (size_t i = 0; i < o.outputs.size(); ++i) {
    const std::vector<graph::Use> uses = o.outputs[i].node->uses();
    for (const graph::Use& u : uses) {
      if (u.output == o.outputs[i].index && !inside.count(u.node)) g.set_input(u.node, u.input, {call, int(i)});
    }
  }
  for (Node* n : c.nodes) {
    const std::vector<Node*> after = n->control_outputs();
    for (Node* w : after) {
      g.remove_control(n, w);
      if (!inside.count(w)) g.add_control(call, w);
    }
  }
  std::vector<Node*> rest = c.nodes;
  while (!rest.empty()) {
    const size_t many = rest.size();
    std::erase_if(rest, [&](Node* n) {
      if (!n->uses().empty()) return false;
      g.remove(n);
      return true;
    });
    if (rest.size() == many) return core::internal_error("a cluster of ", many, " nodes that read each other");
  }
  return {};
}

}  // namespace

Result<int> cluster(graph::FunctionBody& body) {
  WEFT_RETURN_IF_ERROR(compiler::prepare(body, {}, {}, /*whole=*/false));
  Graph& g = *body.graph;
  WEFT_ASSIGN(const std::vector<Node*> order, g.topological_order());
  // A node's level counts the changes between the two kinds on the way to it. No way from one node of a level to another of the same kind leads
  // through the other kind, so that all those of one level can be one call.
  std::vector<int> level(size_t(g.num_ids()), 0);
  std::map<int, Cluster> clusters;
  for (Node* n : order) {
    if (is_const(*n)) continue;
    const bool mine = can_join(*n);
    int at = mine ? 1 : 0;  // odd: compiled
    auto after = [&](const Node* w) {
      if (is_const(*w)) return;
      int l = level[size_t(w->id())];
      if ((l & 1) != at % 2) ++l;
      at = std::max(at, l);
    };
    for (const Endpoint& e : n->inputs()) after(e.node);
    for (const Node* w : n->control_inputs()) after(w);
    level[size_t(n->id())] = at;
    if (mine) clusters[at].nodes.push_back(n);
  }
  static std::atomic<int> next{0};
  int made = 0;
  for (const auto& [l, c] : clusters) {
    if (c.nodes.size() < kLeastNodes) continue;
    WEFT_RETURN_IF_ERROR(replace(body, c, core::cat("__cluster_", next.fetch_add(1))));
    ++made;
  }
  return made;
}

}  // namespace weft_engine::jit
