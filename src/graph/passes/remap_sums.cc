// A sum of products a1' b1 + a2' b2 + ... is one product of the a's and the b's stacked upon each other. Networks over
// time that were traced step by step end with such a sum for each weight that every step uses.
#include <algorithm>

#include "graph/passes/remap.h"

namespace weft::graph {
namespace {

constexpr int kLeast = 4;  // fewer are not worth the stacking

bool is_part(const Endpoint& e, const Node* first) {
  const Node* n = e.node;
  if (n->op() != "MatMul" || !n->attr<bool>("transpose_a") || n->attr<bool>("transpose_b") || n->uses().size() != 1) return false;
  if (!n->control_inputs().empty() || !n->control_outputs().empty() || n->device != first->device || n->assigned_device != first->assigned_device) return false;
  for (int i : {0, 1}) {
    const PartialShape& s = shape_of(n->input(i));
    const PartialShape& t = shape_of(first->input(i));
    // The rows are stacked, so that their number (the batch) may be open.
    if (!s.has_rank() || !t.has_rank() || s.rank() != 2 || t.rank() != 2 || s.dim(1) < 0 || s.dim(1) != t.dim(1)) return false;
  }
  return true;
}

Result<Endpoint> stack(Graph& g, Node* near, std::vector<Endpoint> parts, std::string_view name) {
  WEFT_ASSIGN(Node * axis, g.add_const(g.unique_name(cat(near->name(), "/", name, "/axis")), Tensor::scalar(int32_t(0))));
  parts.push_back({axis, 0});
  WEFT_ASSIGN(Node * all, g.add(g.unique_name(cat(near->name(), "/", name)), "ConcatV2", {}, std::move(parts)));
  for (Node* n : {axis, all}) n->device = near->device, n->assigned_device = near->assigned_device;
  int64_t rows = 0;
  for (int i = 0; i + 1 < all->num_inputs(); ++i) {
    const int64_t more = shape_of(all->input(i)).dim(0);
    rows = rows < 0 || more < 0 ? -1 : rows + more;
  }
  axis->shapes = {PartialShape::scalar()};
  all->shapes = {PartialShape::matrix(rows, shape_of(all->input(0)).dim(1))};
  return Endpoint{all, 0};
}

}  // namespace

Status remap_sums(FunctionBody& body, const Region& region) {
  Graph& g = *body.graph;
  for (Node* sum : g.nodes()) {
    if (sum->op() != "AddN" || sum->num_inputs() < kLeast || region.contains(sum)) continue;
    Node* first = sum->input(0).node;
    if (first->op() != "MatMul" || !std::all_of(sum->inputs().begin(), sum->inputs().end(), [&](const Endpoint& e) { return is_part(e, first); })) continue;
    std::vector<Endpoint> a, b;
    for (const Endpoint& e : sum->inputs()) {
      a.push_back(e.node->input(0));
      b.push_back(e.node->input(1));
    }
    WEFT_ASSIGN(Endpoint as, stack(g, sum, std::move(a), "a"));
    WEFT_ASSIGN(Endpoint bs, stack(g, sum, std::move(b), "b"));
    AttrMap attrs;
    attrs["transpose_a"] = true;
    WEFT_ASSIGN(Node * product, g.add(g.unique_name(cat(sum->name(), "/product")), "MatMul", std::move(attrs), {as, bs}));
    product->device = sum->device;
    product->assigned_device = sum->assigned_device;
    product->shapes = sum->shapes;
    replace_root(body, {sum, 0}, {product, 0});
  }
  return {};
}

}  // namespace weft::graph
