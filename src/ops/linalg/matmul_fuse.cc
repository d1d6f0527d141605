// A sum of products a1' b1 + a2' b2 + ... is one product of the a's and the b's stacked upon each other. Networks over
// time that were traced step by step end with such a sum for each weight that every step uses.
#include <algorithm>
#include <map>

#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

constexpr int kLeast = 4;  // fewer are not worth the stacking

bool is_part(const Endpoint& e, const Node* first) {
  const Node* n = e.node;
  if (n->op() != "MatMul" || !n->attr<bool>("transpose_a") || n->attr<bool>("transpose_b") || n->uses().size() != 1) return false;
  if (!n->control_inputs().empty() || !n->control_outputs().empty() || n->device != first->device || n->assigned_device != first->assigned_device)
    return false;
  for (int i : {0, 1}) {
    const PartialShape& s = shape_of(n->input(i));
    const PartialShape& t = shape_of(first->input(i));
    // The rows are stacked, so that their number (the batch) may be open.
    if (!s.has_rank() || !t.has_rank() || s.rank() != 2 || t.rank() != 2 || s.dim(1) < 0 || s.dim(1) != t.dim(1)) return false;
  }
  return true;
}

Result<Endpoint> stack(Graph& g, Node* near, std::vector<Endpoint> parts, std::string_view name) {
  WEFT_ASSIGN(Node* axis, g.add_const(g.unique_name(cat(near->name(), "/", name, "/axis")), Tensor::scalar(int32_t(0))));
  parts.push_back({axis, 0});
  WEFT_ASSIGN(Node* all, g.add(g.unique_name(cat(near->name(), "/", name)), "ConcatV2", {}, std::move(parts)));
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

// The Pack that holds exactly these values, each once, on a new first axis: the gradient of values that were unstacked. It is the
// stack already, in another order perhaps: `order` says which part is where.
Node* packed_already(const std::vector<Endpoint>& parts, std::vector<size_t>& order) {
  for (const Use& u : parts[0].node->uses()) {
    Node* pack = u.node;
    if (pack->op() != "Pack" || pack->num_inputs() != int(parts.size()) || pack->attr<int64_t>("axis") != 0 || !pack->control_inputs().empty())
      continue;
    if (!shape_of({pack, 0}).fully_known()) continue;
    order.clear();
    std::vector<char> used(parts.size(), 0);
    for (const Endpoint& e : pack->inputs()) {
      for (size_t i = 0; i < parts.size(); ++i) {
        if (used[i] || !(parts[i] == e)) continue;
        used[i] = 1;
        order.push_back(i);
        break;
      }
    }
    if (order.size() == parts.size()) return pack;
  }
  return nullptr;
}

// [steps, rows, columns] as [steps * rows, columns]
Result<Endpoint> rows_of(Graph& g, Node* pack) {
  const PartialShape& s = shape_of({pack, 0});
  WEFT_ASSIGN(Endpoint shape, add_const_near(g, pack, "/rows/shape", Tensor::vector(std::vector<int64_t>{s.dim(0) * s.dim(1), s.dim(2)})));
  WEFT_ASSIGN(Node* rows, add_near(g, pack, "/rows", "Reshape", {}, {{pack, 0}, shape}));
  return Endpoint{rows, 0};
}

Status stack_sums(FunctionBody& body, const Region& region) {
  Graph& g = *body.graph;
  for (Node* sum : g.nodes()) {
    if (sum->op() != "AddN" || sum->num_inputs() < kLeast || region.contains(sum)) continue;
    Node* first = sum->input(0).node;
    if (first->op() != "MatMul" || !std::all_of(sum->inputs().begin(), sum->inputs().end(), [&](const Endpoint& e) { return is_part(e, first); }))
      continue;
    std::vector<Endpoint> a, b;
    for (const Endpoint& e : sum->inputs()) {
      a.push_back(e.node->input(0));
      b.push_back(e.node->input(1));
    }
    Endpoint as, bs;
    std::vector<size_t> order;
    if (Node* pack = packed_already(b, order)) {
      std::vector<Endpoint> in_order;
      for (size_t i : order) in_order.push_back(a[i]);
      a = std::move(in_order);
      WEFT_ASSIGN(bs, rows_of(g, pack));
    } else {
      WEFT_ASSIGN(bs, stack(g, sum, std::move(b), "b"));
    }
    WEFT_ASSIGN(as, stack(g, sum, std::move(a), "a"));
    AttrMap attrs;
    attrs["transpose_a"] = true;
    WEFT_ASSIGN(Node* product, g.add(g.unique_name(cat(sum->name(), "/product")), "MatMul", std::move(attrs), {as, bs}));
    product->device = sum->device;
    product->assigned_device = sum->assigned_device;
    product->shapes = sum->shapes;
    replace_root(body, {sum, 0}, {product, 0});
  }
  return {};
}

Status transpose_once(FunctionBody& body, const Region& region) {
  // A product packs an operand that it reads transposed; with so few rows that costs as much as some of the rows themselves.
  constexpr int64_t kMostRows = 128;
  Graph& g = *body.graph;
  std::map<std::pair<int, int>, std::vector<Node*>> readers;  // by the weights' node and output
  for (Node* n : g.nodes()) {
    if (n->op() != "MatMul" || n->output_type(0) != DType::kFloat || n->attr<bool>("transpose_a") || !n->attr<bool>("transpose_b") ||
        region.contains(n))
      continue;
    const PartialShape &a = shape_of(n->input(0)), &b = shape_of(n->input(1));
    if (a.rank() != 2 || b.rank() != 2 || !a.fully_known() || !b.fully_known() || a.dim(0) < 2 || a.dim(0) > kMostRows) continue;
    readers[{n->input(1).node->id(), n->input(1).index}].push_back(n);
  }
  for (auto& [key, nodes] : readers) {
    if (int(nodes.size()) < kLeast || !std::all_of(nodes.begin(), nodes.end(), [&](Node* n) { return same_device(*n, *nodes[0]); })) continue;
    const Endpoint weights = nodes[0]->input(1);
    WEFT_ASSIGN(Endpoint order, add_const_near(g, nodes[0], "/transposed/order", Tensor::vector(std::vector<int32_t>{1, 0})));
    WEFT_ASSIGN(Node* transposed, add_near(g, nodes[0], "/transposed", "Transpose", {}, {weights, order}));
    for (Node* n : nodes) {
      WEFT_ASSIGN(Node* product, add_near(g, n, "/product", "MatMul", {}, {n->input(0), {transposed, 0}}));
      replace_root(body, {n, 0}, {product, 0});
    }
  }
  return {};
}

// What a loop adds up step by step, c + a' b: the product is added where c is. The depth is bounded so that the bits are those of a product and a sum.
Status add_in_place(FunctionBody& body, const Region& region) {
  constexpr int64_t kMostDepth = 256;
  Graph& g = *body.graph;
  for (Node* sum : g.nodes()) {
    if (sum->op() != "AddV2" || sum->output_type(0) != DType::kFloat || region.contains(sum)) continue;
    for (int i : {0, 1}) {
      const Endpoint e = sum->input(i), c = sum->input(1 - i);
      Node* product = e.node;
      // Only what is carried on: anything else may be part of a larger pattern.
      if (product->op() != "MatMul" || !product->attr<bool>("transpose_a") || product->uses().size() != 1 || !is_arg(*c.node) ||
          c.node->uses().size() != 1)
        continue;
      if (!product->control_inputs().empty() || !product->control_outputs().empty() || is_control_ret(body, product) ||
          !sum->control_inputs().empty() || !same_device(*sum, *product))
        continue;
      const PartialShape &a = shape_of(product->input(0)), &shape = shape_of(e);
      if (a.rank() != 2 || !a.fully_known() || a.dim(0) < 1 || a.dim(0) > kMostDepth || !shape.fully_known() || !(shape == shape_of(c))) continue;
      WEFT_ASSIGN(Node* fused,
                  add_near(g, sum, "/product", "_WeftMatMulAdd", {{"transpose_a", true}, {"transpose_b", product->attr<bool>("transpose_b")}},
                           {product->input(0), product->input(1), c}));
      replace_root(body, {sum, 0}, {fused, 0});
      break;
    }
  }
  return {};
}

}  // namespace

void fuse_matmul(Registry& r) {
  r.fuse("MatMul", FuseStage::kProducts, stack_sums);
  r.fuse("MatMul", FuseStage::kProducts, transpose_once);
  r.fuse("_WeftMatMulAdd", FuseStage::kProducts, add_in_place);
}

}  // namespace weft_engine::ops
