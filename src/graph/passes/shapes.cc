// What only asks for shapes that are known is replaced by its answer, and what would only give a tensor
// the shape that it has already is left out. One walk in order: each node gets its shape from its inputs,
// is simplified and folded, and its readers see the result.
#include <algorithm>

#include "graph/evaluate.h"
#include "graph/passes/util.h"
#include "graph/shape_inference.h"

namespace weft::graph {

void refresh_shapes(Node* n) {
  // Arguments say what they were told, and bodies of functions are looked into once, by ShapeInference.
  if (n->op() == "_Arg" || has_function(*n)) return;
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

  // True when the node was replaced or has gone.
  Result<bool> simplify(Node* n) {
    // In a region the node's value may be dead, which a constant would forget.
    if (!is_pure(*n) || region_.contains(n)) return false;
    const std::string_view op = n->op();
    if (op == "Shape" || op == "ShapeN") return shape(n);
    if (op == "Rank") return rank(n);
    if (op == "Size") return size(n);
    if (op == "StridedSlice" || op == "GatherV2" || op == "Gather") return pick_dim(n);
    if (op == "Reshape" || op == "BroadcastTo" || op == "EnsureShape" || op == "Tile" || op == "Squeeze") return same_shape(n);
    if (op == "Slice" || op == "Pad" || op == "PadV2" || op == "MirrorPad") return same_shape(n);
    if (op == "ZerosLike" || op == "OnesLike") return filled(n);
    if (op == "Sum" || op == "Mean" || op == "Max" || op == "Min" || op == "Prod" || op == "Any" || op == "All") return reduction(n);
    return false;
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
  Result<bool> pick_dim(Node* n) {
    const Node* source = n->input(0).node;
    if (source->op() != "Shape" || n->output_type(0) == DType::kInvalid) return false;
    const PartialShape& s = shape_of(source->input(0));
    if (!s.has_rank()) return false;
    auto at = const_int(n->input(1));
    if (!at) return false;
    bool scalar = true;
    int64_t count = 1;
    if (n->op() == "StridedSlice") {
      auto end = const_int(n->input(2)), stride = const_int(n->input(3));
      if (!end || !stride || *stride != 1 || n->attr<int64_t>("ellipsis_mask") || n->attr<int64_t>("new_axis_mask")) return false;
      scalar = n->attr<int64_t>("shrink_axis_mask") & 1;
      const int64_t rank = s.rank();
      if (scalar) {
        if (n->attr<int64_t>("begin_mask") & 1) *at = 0;
        if (*at < 0) *at += rank;
      } else {
        auto clamp = [&](int64_t v) { return std::clamp(v < 0 ? v + rank : v, int64_t(0), rank); };
        *at = n->attr<int64_t>("begin_mask") & 1 ? 0 : clamp(*at);
        *end = n->attr<int64_t>("end_mask") & 1 ? rank : clamp(*end);
        count = std::max(*end - *at, int64_t(0));
      }
    } else {
      if (const_value(n->input(1))->rank() != 0) return false;
      if (n->op() == "GatherV2" && (const_int(n->input(2)) != 0 || n->attr<int64_t>("batch_dims") != 0)) return false;
    }
    std::vector<int64_t> dims;
    for (int64_t i = *at; i < *at + count; ++i) {
      if (i < 0 || i >= s.rank() || s.dim(int(i)) < 0 || !fits(n->output_type(0), s.dim(int(i)))) return false;
      dims.push_back(s.dim(int(i)));
    }
    return constant(n, 0, scalar ? integer(n->output_type(0), dims[0]) : integers(n->output_type(0), dims));
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
    if (n->op() == "ZerosLike") return constant(n, 0, std::move(in).value());
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
    WEFT_ASSIGN(Endpoint target, add_const_near(g_, n, "/shape", integers(DType::kInt64, to.dims())));
    const std::vector<PartialShape> shapes = n->shapes;
    WEFT_RETURN_IF_ERROR(g_.rewrite(n, "Reshape", {}, {in, target}));
    n->shapes = shapes;
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

}  // namespace weft::graph
