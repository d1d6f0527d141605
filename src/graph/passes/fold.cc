// Nodes whose inputs are all constants are run once, here, and become constants.
#include "graph/evaluate.h"
#include "graph/passes/util.h"

namespace weft_engine::graph {
namespace {

constexpr int64_t kMaxResult = 10 << 20;  // bytes, as Grappler's bound
constexpr int64_t kMaxGrowth = 1 << 20;   // a result may be larger than what it is made of, but not by much

int64_t bytes_of(const Tensor& t) {
  int64_t bytes = int64_t(t.byte_size());
  if (t.dtype() == DType::kString) {
    for (const tstring& s : t.span<tstring>()) bytes += int64_t(s.size());
  }
  return bytes;
}

// The bytes that the results will have, or -1 where that is not known before the node has run.
int64_t expected_bytes(const Node& n) {
  int64_t bytes = 0;
  for (int i = 0; i < n.num_outputs(); ++i) {
    auto count = size_t(i) < n.shapes.size() ? n.shapes[size_t(i)].num_elements() : std::nullopt;
    if (!count) return -1;
    const int64_t size = multiply_without_overflow(*count, int64_t(dtype_size(n.output_type(i))));
    if (size < 0 || (bytes += size) > kMaxResult) return kMaxResult + 1;
  }
  return bytes;
}

bool may_fold(const Node& n) {
  if (n.num_inputs() == 0 || n.num_outputs() == 0 || !is_pure(n) || has_function(n)) return false;
  if (has_type(n, DType::kVariant) || has_type(n, DType::kResource)) return false;
  for (const Endpoint& e : n.inputs()) {
    if (!const_value(e)) return false;
  }
  return true;
}

}  // namespace

Result<bool> fold_node(FunctionBody& body, const Region& region, Node* n) {
  if (!may_fold(*n)) return false;
  Graph& g = *body.graph;
  int64_t input_bytes = 0;
  std::vector<const Tensor*> inputs;
  for (const Endpoint& e : n->inputs()) {
    inputs.push_back(const_value(e));
    input_bytes += bytes_of(*inputs.back());
  }
  const int64_t limit = std::min(kMaxResult, input_bytes + kMaxGrowth);
  const int64_t expected = expected_bytes(*n);
  if (expected > limit || (expected < 0 && (!traits_of(*n).shrinks || input_bytes > limit))) return false;

  // A node that fails stays: it may never be reached, and if it is, it fails then, with the right text.
  auto result = evaluate_node(g.registry(), n->info(), inputs);
  if (!result.ok()) return false;
  std::vector<Tensor>& outputs = *result;
  int64_t bytes = 0;
  for (int i = 0; i < n->num_outputs(); ++i) {
    if (outputs[size_t(i)].dtype() != n->output_type(i)) return false;
    bytes += bytes_of(outputs[size_t(i)]);
  }
  if (bytes > limit) return false;

  // Inside a region the constants' control edges say when the value is dead; it stays so.
  for (const Endpoint& e : n->inputs()) {
    const std::vector<Node*> controls = e.node->control_inputs();
    for (Node* control : controls) g.add_control(control, n);
  }
  if (n->num_outputs() == 1) {
    AttrMap attrs;
    keep_extra_attrs(*n, attrs);
    attrs["dtype"] = outputs[0].dtype();
    const Shape shape = outputs[0].shape();
    attrs["value"] = std::move(outputs[0]);
    WEFT_RETURN_IF_ERROR(g.rewrite(n, op_of(Role::kConst), std::move(attrs), {}));
    n->shapes = {shape};
    return true;
  }
  std::vector<Endpoint> values(outputs.size());
  for (const Use& u : std::vector<Use>(n->uses())) {
    Endpoint& v = values[size_t(u.output)];
    if (v.node) continue;
    WEFT_ASSIGN(v, add_const_near(g, n, cat("/folded_", u.output), std::move(outputs[size_t(u.output)])));
    for (Node* control : std::vector<Node*>(n->control_inputs())) g.add_control(control, v.node);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].node) g.replace_uses({n, int(i)}, values[i]);
  }
  if (n->control_outputs().empty() && !is_control_ret(body, n)) g.remove(n);
  else if (!region.contains(n)) bypass(body, region, n, Endpoint{});
  return true;
}

// An argument that is always the same is a constant.
static Status bind_arguments(FunctionBody& body, PassContext& c) {
  Graph& g = *body.graph;
  for (size_t i = 0; i < std::min(c.arg_constants.size(), body.args.size()); ++i) {
    const Tensor& value = c.arg_constants[i];
    Node* arg = body.args[i];
    if (!value.valid() || arg->uses().empty() || value.dtype() != arg->output_type(0)) continue;
    if (!is_simple(value.dtype()) && value.dtype() != DType::kString) continue;
    WEFT_ASSIGN(Endpoint e, add_const_near(g, arg, "/value", value));
    g.replace_uses({arg, 0}, e);
  }
  return {};
}

Status pass_fold(FunctionBody& body, PassContext& c) {
  WEFT_RETURN_IF_ERROR(bind_arguments(body, c));
  // The walk over shapes folds as it goes, and then knows more.
  if (c.enabled("shapes")) return {};
  const Region region(*body.graph);
  free_constants(body, region);
  WEFT_RETURN_IF_ERROR(infer_body(body, c));
  WEFT_ASSIGN(std::vector<Node*> order, body.graph->topological_order());
  for (Node* n : order) {
    refresh_shapes(n);
    WEFT_RETURN_IF_ERROR(fold_node(body, region, n).status());
  }
  free_constants(body, region);
  return {};
}

}  // namespace weft_engine::graph
