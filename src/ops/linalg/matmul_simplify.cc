// Products that read their operands transposed, and stacks of matrices times one matrix.
#include "graph/passes/simplify.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

// Are only the last two dimensions exchanged?
bool exchanges_last_two(const Node& n) {
  auto p = const_ints(n.input(1));
  if (!p || p->size() < 2 || shape_of(n.input(0)).rank() != int(p->size())) return false;
  std::swap((*p)[p->size() - 1], (*p)[p->size() - 2]);
  for (size_t i = 0; i < p->size(); ++i) {
    if ((*p)[i] != int64_t(i)) return false;
  }
  return true;
}

// The matrix product reads its operands either way round.
Status transposed_operands(SimplifyContext& c, Node* n, std::string_view flag_a, std::string_view flag_b) {
  if (is_complex_type(type_of(n->input(0))) || is_complex_type(type_of(n->input(1)))) return {};
  for (int i = 0; i < 2; ++i) {
    const Node* t = n->input(i).node;
    if (t->op() != "Transpose" || !same_device(*t, *n) || !t->control_inputs().empty() || !exchanges_last_two(*t)) continue;
    const std::string_view flag = i == 0 ? flag_a : flag_b;
    AttrMap attrs = attrs_of(*n);
    attrs.insert_or_assign(std::string(flag), AttrValue(!n->attr<bool>(flag)));
    std::vector<Endpoint> inputs = n->inputs();
    inputs[size_t(i)] = t->input(0);
    WEFT_RETURN_IF_ERROR(c.rewrite(n, n->op(), std::move(attrs), std::move(inputs)));
  }
  return {};
}

Result<bool> matmul_rule(SimplifyContext& c, Node* n) {
  WEFT_RETURN_IF_ERROR(transposed_operands(c, n, "transpose_a", "transpose_b"));
  return false;
}

// A stack of matrices times one matrix: one product of all rows.
Status one_matrix(SimplifyContext& c, Node* n) {
  const PartialShape x = shape_of(n->input(0)), y = shape_of(n->input(1)), to = shape_of({n, 0});
  const DType t = n->output_type(0);
  if ((t != DType::kFloat && t != DType::kDouble) || type_of(n->input(0)) != t || type_of(n->input(1)) != t) return {};
  if (!x.fully_known() || !y.fully_known() || !to.fully_known() || x.rank() < 3 || y.rank() != 2 || n->attr<bool>("adj_x")) return {};
  const int64_t columns = x.dim(-1);
  if (columns < 1) return {};
  Graph& g = c.graph();
  WEFT_ASSIGN(Endpoint rows, c.constant(n, "/rows", Tensor::vector(std::vector<int64_t>{*x.num_elements() / columns, columns})));
  WEFT_ASSIGN(Node* flat, add_near(g, n, "/flat", "Reshape", {}, {n->input(0), rows}));
  WEFT_ASSIGN(Node* product, add_near(g, n, "/MatMul", "MatMul", {{"transpose_b", AttrValue(n->attr<bool>("adj_y"))}}, {{flat, 0}, n->input(1)}));
  for (Node* before : std::vector<Node*>(n->control_inputs())) g.add_control(before, product);
  WEFT_RETURN_IF_ERROR(c.make_reshape(n, {product, 0}));
  return c.reshape_of_reshape(flat).status();
}

Result<bool> batch_matmul_rule(SimplifyContext& c, Node* n) {
  WEFT_RETURN_IF_ERROR(transposed_operands(c, n, "adj_x", "adj_y"));
  WEFT_RETURN_IF_ERROR(one_matrix(c, n));
  return false;
}

}  // namespace

void simplify_matmul(Registry& r) {
  set_simplify(r, "MatMul", matmul_rule);
  set_simplify(r, "BatchMatMulV2", batch_matmul_rule);
  set_simplify(r, "BatchMatMulV3", batch_matmul_rule);
}

}  // namespace weft_engine::ops
