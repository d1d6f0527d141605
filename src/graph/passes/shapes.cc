// What only asks for shapes that are known is replaced by its answer, and what would only give a tensor
// the shape that it has already is left out. One walk in order: each node gets its shape from its inputs,
// is simplified and folded, and its readers see the result.
#include <algorithm>

#include "graph/evaluate.h"
#include "graph/passes/util.h"
#include "graph/shape_inference.h"

namespace weft_engine::graph {

void refresh_shapes(Node* n) {
  // Arguments say what they were told, and bodies of functions are looked into once, by ShapeInference.
  if (is_arg(*n) || has_function(*n)) return;
  std::vector<PartialShape> shapes;
  std::vector<const Tensor*> constants;
  std::vector<std::optional<HandleData>> handles;
  for (const Endpoint& e : n->inputs()) {
    shapes.push_back(shape_of(e));
    constants.push_back(const_value(e));
    const bool known = e.node && size_t(e.index) < e.node->handles.size();
    handles.push_back(known ? e.node->handles[size_t(e.index)] : std::nullopt);
  }
  n->shapes.resize(size_t(n->num_outputs()));
  n->handles.resize(size_t(n->num_outputs()));
  ShapeContext context(n->info(), std::move(shapes), std::move(constants), std::move(handles));
  // A node whose inputs do not fit fails when it runs.
  if (!n->spec().infer_shapes(context).ok()) return;
  for (size_t i = 0; i < n->shapes.size(); ++i) {
    // What was known before holds, too: it may have come from values that the rule alone does not see.
    if (auto both = n->shapes[i].merge_with(context.outputs()[i]); both.ok()) n->shapes[i] = *both;
    if (context.output_handles()[i]) n->handles[i] = context.output_handles()[i];
  }
}

Status infer_body(FunctionBody& body, const PassContext& c) {
  for (Node* n : body.graph->nodes()) {
    n->shapes.clear();
    n->handles.clear();
  }
  ArgShapes args{c.arg_shapes, c.arg_handles};
  args.shapes.resize(std::max(args.shapes.size(), c.arg_constants.size()));
  for (size_t i = 0; i < c.arg_constants.size(); ++i) {
    if (c.arg_constants[i].valid()) args.shapes[i] = c.arg_constants[i].shape();
  }
  return infer_all(*body.graph, args);
}

namespace {

class Simplifier {
 public:
  Simplifier(FunctionBody& body, const Region& region) : body_(body), g_(*body.graph), region_(region) {}

  // True when the node was replaced or removed.
  Result<bool> simplify(Node* n) {
    // In a region the node's value may be dead, which a constant would forget.
    if (!is_pure(*n) || region_.contains(n)) return false;
    const OpTraits& t = traits_of(*n);
    switch (t.shape_query) {
      case op::ShapeQuery::kDims: return shape(n);
      case op::ShapeQuery::kRank: return rank(n);
      case op::ShapeQuery::kSize: return size(n);
      case op::ShapeQuery::kNone: break;
    }
    if (t.same_if_same_shape) return same_shape(n);
    if (t.fills_like >= 0) return filled(n);
    if (t.reduction) return reduction(n);
    return t.pick_dims ? pick_dims(n) : Result<bool>(false);
  }

 private:
  Result<bool> constant(Node* n, int output, Tensor value) {
    if (num_uses({n, output}) == 0) return false;
    WEFT_ASSIGN(Endpoint e, add_const_near(g_, n, n->num_outputs() > 1 ? cat("/known_", output) : "/known", std::move(value)));
    std::vector<Endpoint> values(size_t(output) + 1);
    values[size_t(output)] = e;
    return bypass(body_, region_, n, values);
  }
  static Tensor integers(DType t, const std::vector<int64_t>& v) {
    if (t == DType::kInt64) return Tensor::vector(v);
    return Tensor::vector(std::vector<int32_t>(v.begin(), v.end()));
  }
  static Tensor integer(DType t, int64_t v) { return t == DType::kInt64 ? Tensor::scalar(v) : Tensor::scalar(int32_t(v)); }
  static bool fits(DType t, int64_t v) { return t == DType::kInt64 || v <= INT32_MAX; }

  Result<bool> shape(Node* n) {
    const int outputs = n->num_outputs();
    for (int i = 0; i < outputs; ++i) {
      const PartialShape& s = shape_of(n->input(i));
      const DType t = n->output_type(i);
      const int uses = num_uses({n, i});
      if (uses == 0 || !s.fully_known() || !std::all_of(s.dims().begin(), s.dims().end(), [&](int64_t d) { return fits(t, d); })) continue;
      const bool last = size_t(uses) == n->uses().size();
      WEFT_ASSIGN(bool done, constant(n, i, integers(t, s.dims())));
      if (done && last) return true;
    }
    return false;
  }
  Result<bool> rank(Node* n) {
    const PartialShape& s = shape_of(n->input(0));
    if (!s.has_rank()) return false;
    return constant(n, 0, Tensor::scalar(int32_t(s.rank())));
  }
  Result<bool> size(Node* n) {
    auto count = shape_of(n->input(0)).num_elements();
    if (!count || !fits(n->output_type(0), *count)) return false;
    return constant(n, 0, integer(n->output_type(0), *count));
  }

  // Shape(x)[1] where x is [?,28]: the rest of the shape need not be known.
  Result<bool> pick_dims(Node* n) {
    const Node* source = n->input(0).node;
    if (traits_of(*source).shape_query != op::ShapeQuery::kDims || source->num_inputs() != 1) return false;
    const PartialShape& s = shape_of(source->input(0));
    op::PickedDims picked;
    if (!s.has_rank() || !traits_of(*n).pick_dims(*n, s.rank(), picked)) return false;
    std::vector<int64_t> dims;
    for (int64_t i = picked.first; i < picked.first + picked.count; ++i) {
      if (i < 0 || i >= s.rank() || s.dim(int(i)) < 0 || !fits(n->output_type(0), s.dim(int(i)))) return false;
      dims.push_back(s.dim(int(i)));
    }
    return constant(n, 0, picked.scalar ? integer(n->output_type(0), dims[0]) : integers(n->output_type(0), dims));
  }

  // Ops that give their first input another shape, when it is the one that it has.
  Result<bool> same_shape(Node* n) {
    const Endpoint in = n->input(0);
    const PartialShape &from = shape_of(in), &to = shape_of({n, 0});
    if (!from.fully_known() || from.dims() != to.dims() || !to.has_rank()) return false;
    if (!same_device(*n, *in.node) && !n->device.empty()) return false;
    return bypass(body_, region_, n, in);
  }

  Result<bool> filled(Node* n) {
    const PartialShape& s = shape_of({n, 0});
    const DType t = n->output_type(0);
    auto count = s.num_elements();
    constexpr int64_t kSmall = 1 << 16;  // larger ones would only make the program large
    if (!count || !is_simple(t) || *count * int64_t(dtype_size(t)) > kSmall) return false;
    auto in = Tensor::zeros(t, *s.concrete());
    if (!in.ok()) return false;
    if (traits_of(*n).fills_like == 0) return constant(n, 0, std::move(in).value());
    const Tensor* inputs[] = {&*in};
    auto out = evaluate_node(g_.registry(), n->info(), inputs);
    if (!out.ok()) return false;
    return constant(n, 0, std::move((*out)[0]));
  }

  // Over no axes, or over axes of one element: the values stay what they are.
  Result<bool> reduction(Node* n) {
    const Endpoint in = n->input(0);
    const auto axes = const_ints(n->input(1));
    if (!axes) return false;
    const PartialShape& s = shape_of(in);
    for (int64_t a : *axes) {
      if (!s.has_rank() || a < -s.rank() || a >= s.rank() || s.dim(int(a)) != 1) return false;
    }
    if (!same_device(*n, *in.node) && !n->device.empty()) return false;
    if (axes->empty() || n->attr<bool>("keep_dims")) return bypass(body_, region_, n, in);
    const PartialShape& to = shape_of({n, 0});
    if (!to.fully_known()) return false;
    WEFT_RETURN_IF_ERROR(become_reshape(g_, n, in));
    return same_shape(n);
  }

  FunctionBody& body_;
  Graph& g_;
  const Region& region_;
};

}  // namespace

Status pass_shapes(FunctionBody& body, PassContext& c) {
  const Region region(*body.graph);
  free_constants(body, region);
  WEFT_RETURN_IF_ERROR(infer_body(body, c));
  WEFT_ASSIGN(std::vector<Node*> order, body.graph->topological_order());
  Simplifier simplifier(body, region);
  const bool fold = c.enabled("fold");
  for (Node* n : order) {
    refresh_shapes(n);
    WEFT_ASSIGN(bool gone, simplifier.simplify(n));
    if (!gone && fold) WEFT_RETURN_IF_ERROR(fold_node(body, region, n).status());
  }
  free_constants(body, region);
  return {};
}

}  // namespace weft_engine::graph
