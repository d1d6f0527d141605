// MatMul and Conv2D with what follows them: a scale (folded into the weights), a bias, an activation.
#include <algorithm>
#include <cmath>

#include "graph/passes/remap.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

// The other operand, if the node is `op` and one operand is a constant of about this value everywhere.
Endpoint operand_beside(const Endpoint& e, std::string_view op, double value) {
  if (!e.node || e.node->op() != op || e.node->num_inputs() != 2) return {};
  for (int i : {0, 1}) {
    const Endpoint constant = e.node->input(i);
    auto v = const_splat(constant);
    if (v && const_value(constant)->num_elements() == 1 && std::abs(*v - value) <= 1e-5 * std::abs(value)) return e.node->input(1 - i);
  }
  return {};
}

// Inner nodes of a pattern have one reader and wait for nothing.
bool inner(const FunctionBody& body, const Endpoint& e) { return only_reader(body, e) && e.node->control_inputs().empty(); }

constexpr double kSqrtHalf = 0.70710678118654752, kSqrtTwo = 1.4142135623730951, kTanhScale = 0.79788456080286535, kCubic = 0.044715;

// erf(x / sqrt 2) in its spellings: x.
Endpoint erf_argument(const FunctionBody& body, const Endpoint& e) {
  if (e.node->op() != "Erf" || !inner(body, e) || !inner(body, e.node->input(0))) return {};
  if (Endpoint x = operand_beside(e.node->input(0), "Mul", kSqrtHalf); x.node) return x;
  const Node* d = e.node->input(0).node;
  if (d->op() != "RealDiv") return {};
  auto v = const_splat(d->input(1));
  return v && std::abs(*v - kSqrtTwo) < 1e-5 ? d->input(0) : Endpoint{};
}

// x + 0.044715 x^3
Endpoint cubic_argument(const FunctionBody& body, const Endpoint& e) {
  if (e.node->op() != "AddV2" || !inner(body, e)) return {};
  for (int i : {0, 1}) {
    const Endpoint x = e.node->input(i), term = e.node->input(1 - i);
    const Endpoint cube = operand_beside(term, "Mul", kCubic);
    if (!cube.node || !inner(body, term) || !inner(body, cube) || cube.node->op() != "Pow") continue;
    if (cube.node->input(0) == x && const_splat(cube.node->input(1)) == 3.0) return x;
  }
  return {};
}

// x, if `root` is the last node of gelu(x) and nobody else reads what lies between; `name` is the fused
// ops' word for the form. `readers` counts how often the pattern reads x.
Endpoint match_gelu(const FunctionBody& body, Node* root, std::string_view& name, int& readers) {
  if (root->op() != "Mul") return {};
  for (int i : {0, 1}) {
    const Endpoint half = root->input(i), rest = root->input(1 - i);
    const Endpoint x = operand_beside(half, "Mul", 0.5);
    if (!x.node || !inner(body, half) || !inner(body, rest)) continue;
    if (rest.node->op() == "Erfc" && inner(body, rest.node->input(0))) {  // 0.5 x erfc(-x / sqrt 2)
      const Endpoint negated = operand_beside(rest.node->input(0), "Mul", kSqrtHalf);
      if (negated.node && negated.node->op() == "Neg" && inner(body, negated) && negated.node->input(0) == x) {
        name = "GeluExact";
        readers = 2;
        return x;
      }
      continue;
    }
    const Endpoint f = operand_beside(rest, "AddV2", 1);
    if (!f.node || !inner(body, f)) continue;
    if (erf_argument(body, f) == x) {
      name = "GeluExact";
      readers = 2;
      return x;
    }
    if (f.node->op() != "Tanh" || !inner(body, f.node->input(0))) continue;
    const Endpoint scaled = operand_beside(f.node->input(0), "Mul", kTanhScale);
    if (scaled.node && cubic_argument(body, scaled) == x) {
      name = "GeluApproximate";
      readers = 3;
      return x;
    }
  }
  return {};
}

// A product, perhaps seen in another shape, that one node reads.
struct Product {
  Node* node = nullptr;   // MatMul or Conv2D
  Node* view = nullptr;   // a Reshape between it and its reader
  int64_t columns = -1;   // the last dimension; -1 if not known
};

class Dense {
 public:
  Dense(FunctionBody& body, const Region& region) : body_(body), g_(*body.graph), region_(region) {}

  Status run() {
    matmul_ = has_kernel(g_, "_FusedMatMul");
    conv_ = has_kernel(g_, "_FusedConv2D");
    WEFT_ASSIGN(std::vector<Node*> order, g_.topological_order());
    std::vector<int> ids;
    for (Node* n : order) {
      if ((n->op() == "BiasAdd" || n->op() == "AddV2" || n->op() == "Add") && !region_.contains(n)) ids.push_back(n->id());
    }
    for (int id : ids) {
      // A pattern found earlier may have taken the node.
      if (Node* n = g_.node(id); n && n->num_inputs() == 2 && n->num_outputs() == 1 && n->output_type(0) == DType::kFloat)
        WEFT_RETURN_IF_ERROR(fuse(n));
    }
    return {};
  }

 private:
  Product find_product(const Endpoint& e, Node* reader) {
    Product p;
    Endpoint at = e;
    if (at.node->op() == "Reshape" && only_reader(body_, at) == reader && at.node->control_inputs().empty() && same_device(*at.node, *reader)) {
      // Only a view that keeps the last dimension, or splits it.
      const PartialShape &from = shape_of(at.node->input(0)), &to = shape_of(at);
      if (!from.fully_known() || !to.fully_known() || from.rank() != 2) return p;
      p.view = at.node;
      at = at.node->input(0);
      reader = p.view;
    }
    if (only_reader(body_, at) != reader || !same_device(*at.node, *reader) || type_of(at) != DType::kFloat) return {};
    const bool matmul = at.node->op() == "MatMul" && matmul_;
    const bool conv = at.node->op() == "Conv2D" && conv_ && !p.view && at.node->attr<std::string>("data_format") == "NHWC";
    if (!matmul && !conv) return {};
    p.node = at.node;
    if (shape_of(at).has_rank() && shape_of(at).rank() > 0) p.columns = shape_of(at).dim(-1);
    return p;
  }

  // A vector of `columns` elements that is added to (or multiplies) the last dimensions of the product?
  bool is_vector(const Endpoint& v, const Product& p, const PartialShape& out) {
    const PartialShape& s = shape_of(v);
    if (p.columns < 1 || !s.fully_known() || !out.fully_known() || s.num_elements() != p.columns || s.rank() > out.rank()) return false;
    int64_t covered = 1;
    for (int i = 1; i <= s.rank(); ++i) {
      if (covered == p.columns) return s.dim(-i) == 1;  // ones in front
      if (s.dim(-i) != out.dim(-i)) return false;
      covered *= s.dim(-i);
      if (covered == p.columns) {
        for (int j = i + 1; j <= s.rank(); ++j) {
          if (s.dim(-j) != 1) return false;
        }
        return true;
      }
    }
    return p.columns == 1;
  }

  // product * scale: the weights take the scale, where that is less work.
  bool foldable_scale(const Endpoint& e, Node* reader, Product& p, Endpoint& scale) {
    if (e.node->op() != "Mul" || only_reader(body_, e) != reader || !e.node->control_inputs().empty()) return false;
    for (int i : {0, 1}) {
      p = find_product(e.node->input(i), e.node);
      scale = e.node->input(1 - i);
      if (!p.node || p.view || !is_vector(scale, p, shape_of(e))) continue;
      const Endpoint weights = p.node->input(1);
      if (p.node->op() == "MatMul" && p.node->attr<bool>("transpose_b")) continue;
      const auto weight_count = shape_of(weights).num_elements(), result_count = shape_of({p.node, 0}).num_elements();
      if (!weight_count || !result_count) continue;
      if ((const_value(weights) && const_value(scale)) || *weight_count <= *result_count) return true;
    }
    return false;
  }

  Status fuse(Node* bias_node) {
    Product p;
    Endpoint bias, scale;
    if (bias_node->op() == "BiasAdd") {
      p = find_product(bias_node->input(0), bias_node);
      bias = bias_node->input(1);
      const bool last = !p.view || (p.columns > 0 && shape_of({p.view, 0}).dim(-1) == p.columns);
      if (!p.node || !last || bias_node->attr<std::string>("data_format") != "NHWC") return {};
    } else {
      for (int i : {0, 1}) {
        p = find_product(bias_node->input(i), bias_node);
        bias = bias_node->input(1 - i);
        const PartialShape& out = shape_of({bias_node, 0});
        if (p.node && is_vector(bias, p, out) && out == shape_of(bias_node->input(i))) break;
        p = {};
        if (foldable_scale(bias_node->input(i), bias_node, p, scale) && is_vector(bias, p, out) && out == shape_of(bias_node->input(i))) break;
        p = {};
        scale = {};
      }
      if (!p.node) return {};
    }
    // The last node of the pattern, and the activation.
    Node* root = bias_node;
    std::string_view activation;
    float alpha = 0.2f;
    if (Node* reader = only_reader(body_, {bias_node, 0}); reader && same_device(*reader, *bias_node) && !region_.contains(reader)) {
      if (traits_of(*reader).activation) {
        activation = reader->op();
        root = reader;
        if (activation == "LeakyRelu") alpha = reader->attr<float>("alpha");
      }
    }
    if (root == bias_node && p.node->op() == "MatMul") find_gelu(bias_node, root, activation);
    return replace(p, bias_node, root, bias, scale, activation, alpha);
  }

  void find_gelu(Node* x, Node*& root, std::string_view& activation) {
    if (!x->control_outputs().empty() || is_control_ret(body_, x) || x->uses().size() < 2 || x->uses().size() > 3) return;
    for (const Use& u : x->uses()) {
      // From a reader of x down to the product that ends the pattern.
      Node* at = u.node;
      for (int steps = 0; at && steps < 6; ++steps) {
        std::string_view name;
        int readers = 0;
        if (Endpoint found = match_gelu(body_, at, name, readers); found == Endpoint{x, 0}) {
          if (size_t(readers) != x->uses().size() || region_.contains(at)) return;
          root = at;
          activation = name;
          return;
        }
        at = at->num_outputs() == 1 ? only_reader(body_, {at, 0}) : nullptr;
      }
    }
  }

  Status replace(const Product& p, Node* bias_node, Node* root, Endpoint bias, Endpoint scale, std::string_view activation, float alpha) {
    WEFT_ASSIGN(bias, as_vector_if_known(bias_node, bias, p));
    Endpoint weights = p.node->input(1);
    std::vector<Node*> controls = p.node->control_inputs();
    auto join = [&](Node* n) { controls.insert(controls.end(), n->control_inputs().begin(), n->control_inputs().end()); };
    if (p.view) join(p.view);
    if (scale.node) {
      WEFT_ASSIGN(scale, as_vector_if_known(bias_node, scale, p));
      WEFT_ASSIGN(Node* scaled, add_near(g_, p.node, "/scaled", "Mul", {}, {weights, scale}));
      weights = {scaled, 0};
      WEFT_RETURN_IF_ERROR(fold_node(body_, region_, scaled).status());
    }
    join(bias_node);
    join(root);
    AttrMap attrs = attrs_of(*p.node);
    for (const char* name : {"grad_a", "grad_b"}) attrs.erase(name);
    std::vector<std::string> fused{"BiasAdd"};
    if (!activation.empty()) fused.emplace_back(activation);
    attrs["fused_ops"] = std::move(fused);
    attrs["num_args"] = int64_t(1);
    attrs["leakyrelu_alpha"] = alpha;
    const bool conv = p.node->op() == "Conv2D";
    if (conv) attrs["TArgs"] = std::vector<DType>{DType::kFloat};
    WEFT_ASSIGN(Node* n, g_.add(g_.unique_name(root->name()), conv ? "_FusedConv2D" : "_FusedMatMul", std::move(attrs),
                                {p.node->input(0), weights, bias}, controls));
    n->device = root->device;
    n->assigned_device = root->assigned_device;
    n->shapes = p.node->shapes;
    Endpoint result{n, 0};
    if (p.view) {
      WEFT_ASSIGN(Endpoint shape, add_const_near(g_, root, "/shape", Tensor::vector(shape_of({root, 0}).dims())));
      WEFT_ASSIGN(Node* view, add_near(g_, root, "/view", "Reshape", {}, {result, shape}));
      view->shapes = root->shapes;
      result = {view, 0};
    }
    g_.replace_uses({root, 0}, result);
    g_.replace_controls(root, n);
    if (is_control_ret(body_, root)) {
      std::erase(body_.control_rets, root);
      add_control_ret(body_, n);
    }
    for (Node* m : {root, bias_node, p.view, p.node}) release(m);
    drop_unused(body_, root);
    return {};
  }
  // Its control edges are the fused node's now.
  void release(Node* n) {
    if (!n) return;
    for (Node* c : std::vector<Node*>(n->control_inputs())) g_.remove_control(c, n);
  }
  Result<Endpoint> as_vector_if_known(Node* near, const Endpoint& v, const Product& p) {
    if (!shape_of(v).fully_known() || p.columns < 1) return v;
    return as_vector(g_, near, v);
  }

  FunctionBody& body_;
  Graph& g_;
  const Region& region_;
  bool matmul_ = false, conv_ = false;
};

Status replace_matmul_bias(FunctionBody& body, const Region& region) { return Dense(body, region).run(); }

}  // namespace

void fuse_matmul_bias(Registry& r) { r.fuse("_FusedMatMul", FuseStage::kLayers, replace_matmul_bias); }

}  // namespace weft_engine::ops
