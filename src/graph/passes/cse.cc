// Common subexpressions: of nodes that must give the same, one is kept.
//
// Two pure nodes with the same op, attributes, inputs and control inputs are the same. So are two reads of
// a variable: with equal edges in front of them no write can be ordered between the two.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "graph/passes/util.h"

namespace weft_engine::graph {
namespace {

constexpr size_t kHashedBytes = 256;  // of a constant; equality looks at all

uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9E3779B97F4A7C15u ^ (h >> 29); }
uint64_t mix(uint64_t h, std::string_view s) { return mix(h, std::hash<std::string_view>()(s)); }

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.raw() == b.raw()) return true;
  if (is_simple(a.dtype())) return std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0;
  if (a.dtype() != DType::kString) return false;
  auto x = a.span<tstring>(), y = b.span<tstring>();
  return std::equal(x.begin(), x.end(), y.begin(), [](const tstring& s, const tstring& t) { return std::string_view(s) == std::string_view(t); });
}

bool same_attr(const AttrValue& a, const AttrValue& b) {
  if (const Tensor* t = a.get<Tensor>()) {
    const Tensor* u = b.get<Tensor>();
    return u && same_tensor(*t, *u);
  }
  if (const DType* t = a.get<DType>()) {
    const DType* u = b.get<DType>();
    return u && *t == *u;
  }
  return a == b;
}

// What a node is made of, in a form that can be compared.
struct Key {
  Node* node;
  std::vector<Endpoint> inputs;
  std::vector<Node*> controls;
  uint64_t hash = 0;

  explicit Key(Node* n) : node(n), inputs(n->inputs()), controls(n->control_inputs()) {
    if (n->spec().commutative) {
      std::sort(inputs.begin(), inputs.end(),
                [](const Endpoint& a, const Endpoint& b) { return std::pair(a.node->id(), a.index) < std::pair(b.node->id(), b.index); });
    }
    std::sort(controls.begin(), controls.end(), [](Node* a, Node* b) { return a->id() < b->id(); });
    hash = mix(0, n->op());
    for (const Endpoint& e : inputs) hash = mix(hash, uint64_t(e.node->id()) << 8 | uint64_t(e.index));
    for (Node* c : controls) hash = mix(hash, uint64_t(c->id()));
    if (is_const(*n)) {
      const Tensor& t = n->attr<Tensor>("value");
      hash = mix(mix(hash, uint64_t(t.dtype())), uint64_t(t.num_elements()));
      if (is_simple(t.dtype())) hash = mix(hash, std::string_view(t.data<char>(), std::min(t.byte_size(), kHashedBytes)));
    }
  }
  bool operator==(const Key& o) const {
    if (node->op() != o.node->op() || node->is_function_call() != o.node->is_function_call() || !same_device(*node, *o.node)) return false;
    if (inputs != o.inputs || controls != o.controls) return false;
    const auto &a = node->info().attrs(), &b = o.node->info().attrs();
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_attr);
  }
};
struct Hash {
  size_t operator()(const Key& k) const { return k.hash; }
};

bool may_merge(const Node& n) {
  if (n.num_outputs() == 0 || has_function(n) || has_type(n, DType::kVariant)) return false;
  for (const Endpoint& e : n.inputs()) {
    if (!e.node) return false;
  }
  return is_pure(n) || only_reads(n);
}

}  // namespace

Status pass_cse(FunctionBody& body, PassContext&) {
  Graph& g = *body.graph;
  WEFT_ASSIGN(std::vector<Node*> order, g.topological_order());
  std::unordered_map<Key, Node*, Hash> seen;
  for (Node* n : order) {
    if (!may_merge(*n)) continue;
    auto [it, first] = seen.try_emplace(Key(n), n);
    if (first) continue;
    Node* kept = it->second;
    for (int i = 0; i < n->num_outputs(); ++i) g.replace_uses({n, i}, {kept, i});
    g.replace_controls(n, kept);
    if (is_control_ret(body, n)) {
      std::erase(body.control_rets, n);
      add_control_ret(body, kept);
    }
    g.remove(n);
  }
  return {};
}

}  // namespace weft_engine::graph
