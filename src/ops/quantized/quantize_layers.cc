#include "ops/quantized/quantize_layers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/cat.h"
#include "wire/proto.h"

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT
using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of graphs

namespace {

using op::AttrMap;

constexpr int64_t kLowest = std::numeric_limits<int32_t>::min(), kHighest = std::numeric_limits<int32_t>::max();

// The constant behind reads of what was a variable; null where there is none.
const Tensor* constant_of(Endpoint e) {
  while (e.node && e.node->op() == "Identity") e = e.node->input(0);
  return e.node && e.node->op() == "Const" ? &e.node->attr<Tensor>("value") : nullptr;
}

bool is_float_vector(const Tensor* t, int64_t n) { return t && t->dtype() == DType::kFloat && t->rank() == 1 && t->dim(0) == n; }

// The batch normalisation that alone reads a layer; null where there is none that can be folded.
Node* normalization_of(const Node* layer, int64_t columns) {
  if (layer->uses().size() != 1 || layer->uses()[0].input != 0) return nullptr;
  Node* n = layer->uses()[0].node;
  if (n->op() != "FusedBatchNormV3" && n->op() != "FusedBatchNormV2" && n->op() != "FusedBatchNorm") return nullptr;
  if (n->attr<bool>("is_training") || n->attr<std::string>("data_format") != "NHWC") return nullptr;
  for (const graph::Use& u : n->uses()) {
    if (u.output != 0) return nullptr;
  }
  for (int i = 1; i < 5; ++i) {
    if (!is_float_vector(constant_of(n->input(i)), columns)) return nullptr;
  }
  return n;
}

// Not less than x, with so few digits that a product of two is a float.
float round_up(float x) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return std::ldexp(std::ceil(fraction * 2048.0f), exponent - 11);
}

struct Range {
  float scale = 1;
  int32_t zero = 0;
};

// Steps for the numbers from low to high, with zero among them.
Range range_of(float low, float high) {
  low = std::min(low, 0.f), high = std::max(high, 0.f);
  if (!(high > low)) return {};
  Range r;
  r.scale = round_up(std::max((high - low) / 255.0f, std::numeric_limits<float>::min() * 4096));
  r.zero = int32_t(std::clamp(std::nearbyint(-128.0f - low / r.scale), -128.0f, 127.0f));
  return r;
}

// Weights with columns last, and what is added to each column.
struct Weights {
  Shape shape;
  std::vector<float> values, bias;
};

Weights weights_of(const Node* layer, const Node* normalization) {
  const Tensor& t = *constant_of(layer->input(1));
  Weights w{t.shape(), {t.span<float>().begin(), t.span<float>().end()}, {}};
  if (layer->op() == "MatMul" && layer->attr<bool>("transpose_b")) {
    const int64_t n = t.dim(0), k = t.dim(1);
    w.shape = Shape({k, n});
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = 0; j < n; ++j) w.values[size_t(i * n + j)] = t.data<float>()[j * k + i];
    }
  }
  if (!normalization) return w;
  const size_t n = size_t(w.shape.dim(w.shape.rank() - 1));
  const auto of = [&](int i) { return constant_of(normalization->input(i))->span<float>(); };
  const float epsilon = normalization->attr<float>("epsilon");
  std::vector<float> factor(n);
  for (size_t j = 0; j < n; ++j) {
    factor[j] = of(1)[j] / std::sqrt(of(4)[j] + epsilon);
    w.bias.push_back(of(2)[j] - of(3)[j] * factor[j]);
  }
  for (size_t i = 0; i < w.values.size(); ++i) w.values[i] *= factor[i % n];
  return w;
}

// Builds the nodes that take a layer's place.
class Rewriter final : public LayerRewriter {
 public:
  explicit Rewriter(Graph& g) : g_(g) {}

  Status fold_normalization(Node* layer) override {
    const Tensor* given = constant_of(layer->input(1));
    if (!given || given->dtype() != DType::kFloat || given->rank() < 2 || (layer->op() == "MatMul" && layer->attr<bool>("transpose_b"))) return {};
    Node* normalization = normalization_of(layer, given->dim(given->rank() - 1));
    if (!normalization) return {};
    const Weights w = weights_of(layer, normalization);
    WEFT_ASSIGN(Endpoint weights, constant(layer->name() + "/weights", Tensor::of<float>(w.shape, w.values)));
    WEFT_ASSIGN(Endpoint bias, constant(layer->name() + "/bias", Tensor::vector(w.bias)));
    WEFT_ASSIGN(Node* result, g_.add(g_.unique_name(layer->name() + "/normalized"), "BiasAdd", {{"T", DType::kFloat}}, {{layer, 0}, bias},
                                     normalization->control_inputs()));
    result->device = layer->device;
    g_.set_input(layer, 1, weights);
    g_.replace_uses({normalization, 0}, {result, 0});
    g_.replace_controls(normalization, result);
    g_.remove(normalization);
    return {};
  }

  Status quantize(Node* layer, float low, float high) override {
    const Range x = range_of(low, high);
    const Tensor* given = constant_of(layer->input(1));
    const bool conv = layer->op() == "Conv2D";
    const int64_t n = given->dim(conv || !layer->attr<bool>("transpose_b") ? given->rank() - 1 : 0);
    Node* normalization = normalization_of(layer, n);
    const Weights w = weights_of(layer, normalization);
    const std::string name(layer->name());
    WEFT_ASSIGN(Endpoint q, quantized(layer->input(0), name, x));
    std::vector<float> scales(size_t(n), 0.f), sums(size_t(n), 0.f);
    WEFT_ASSIGN(Tensor bytes, Tensor::allocate(DType::kQint8, w.shape));
    quantize_columns(w, scales, bytes.data<int8_t>());
    for (size_t j = 0; j < scales.size(); ++j) sums[j] = scales[j] * x.scale;
    WEFT_ASSIGN(Endpoint weights, constant(name + "/weights", std::move(bytes)));
    WEFT_ASSIGN(Endpoint x_scale, constant(name + "/x_scale", Tensor::scalar(x.scale)));
    WEFT_ASSIGN(Endpoint x_zero, constant(name + "/x_zero", Tensor::scalar(x.zero)));
    WEFT_ASSIGN(Endpoint w_scale, constant(name + "/weight_scales", Tensor::vector(scales)));
    WEFT_ASSIGN(Endpoint y_scale, constant(name + "/scales", Tensor::vector(sums)));
    WEFT_ASSIGN(Endpoint zeros, constant(name + "/zeros", Tensor::vector(std::vector<int32_t>(size_t(n), 0))));
    const int64_t axis = w.shape.rank() - 1;
    AttrMap attrs = {{"Tin", DType::kQint8},
                     {"Tout", DType::kQint32},
                     {"lhs_quantization_axis", int64_t(-1)},
                     {"lhs_quantization_min_val", int64_t(-128)},
                     {"lhs_quantization_max_val", int64_t(127)},
                     {"rhs_quantization_axis", axis},
                     {"rhs_quantization_min_val", int64_t(-127)},
                     {"rhs_quantization_max_val", int64_t(127)},
                     {"output_quantization_axis", axis},
                     {"output_quantization_min_val", kLowest},
                     {"output_quantization_max_val", kHighest}};
    if (conv) add_window(layer, attrs);
    WEFT_ASSIGN(Node* product, g_.add(g_.unique_name(name + "/int8"), conv ? "UniformQuantizedConvolution" : "UniformQuantizedDot", std::move(attrs),
                                      {q, weights, x_scale, x_zero, w_scale, zeros, y_scale, zeros}, layer->control_inputs()));
    WEFT_ASSIGN(Node* result, g_.add(g_.unique_name(name + "/dequantize"), "UniformDequantize",
                                     {{"Tin", DType::kQint32},
                                      {"Tout", DType::kFloat},
                                      {"quantization_axis", axis},
                                      {"quantization_min_val", kLowest},
                                      {"quantization_max_val", kHighest}},
                                     {{product, 0}, y_scale, zeros}));
    for (Node* m : {product, result}) m->device = layer->device;
    Node* last = layer;
    if (normalization) {
      WEFT_ASSIGN(Endpoint bias, constant(name + "/bias", Tensor::vector(w.bias)));
      WEFT_ASSIGN(result, g_.add(g_.unique_name(name + "/normalized"), "BiasAdd", {{"T", DType::kFloat}}, {{result, 0}, bias},
                                 normalization->control_inputs()));
      result->device = layer->device;
      last = normalization;
    }
    g_.replace_uses({last, 0}, {result, 0});
    g_.replace_controls(last, result);
    g_.replace_controls(layer, product);
    g_.remove(last);
    if (last != layer) g_.remove(layer);
    return {};
  }

  void drop_unused(const std::set<std::string>& keep) override {
    for (bool again = true; again;) {
      again = false;
      for (Node* n : g_.nodes()) {
        if ((n->op() != "Const" && n->op() != "Identity") || !n->uses().empty() || !n->control_outputs().empty() || keep.count(n->name())) continue;
        g_.remove(n);
        again = true;
      }
    }
  }

 private:
  Result<Endpoint> constant(const std::string& name, Tensor value) {
    WEFT_ASSIGN(Node* n, g_.add_const(g_.unique_name(name), std::move(value)));
    return Endpoint{n, 0};
  }

  // Values that several layers read are quantised once: their range is one.
  Result<Endpoint> quantized(Endpoint x, const std::string& name, const Range& range) {
    auto [it, added] = quantized_.try_emplace({x.node->id(), x.index});
    if (!added) return it->second;
    WEFT_ASSIGN(Endpoint scale, constant(name + "/x_scale", Tensor::scalar(range.scale)));
    WEFT_ASSIGN(Endpoint zero, constant(name + "/x_zero", Tensor::scalar(range.zero)));
    WEFT_ASSIGN(Node* n, g_.add(g_.unique_name(name + "/quantize"), "UniformQuantize",
                                {{"Tin", DType::kFloat},
                                 {"Tout", DType::kQint8},
                                 {"quantization_axis", int64_t(-1)},
                                 {"quantization_min_val", int64_t(-128)},
                                 {"quantization_max_val", int64_t(127)}},
                                {x, scale, zero}));
    n->device = x.node->device;
    return it->second = Endpoint{n, 0};
  }

  static void quantize_columns(const Weights& w, std::vector<float>& scales, int8_t* to) {
    const size_t n = scales.size();
    std::vector<float> most(n, 0.f);
    for (size_t i = 0; i < w.values.size(); ++i) most[i % n] = std::max(most[i % n], std::abs(w.values[i]));
    for (size_t j = 0; j < n; ++j) scales[j] = most[j] > 0 ? round_up(std::max(most[j] / 127.0f, std::numeric_limits<float>::min() * 4096)) : 1.0f;
    for (size_t i = 0; i < w.values.size(); ++i) to[i] = int8_t(std::clamp(std::nearbyint(w.values[i] / scales[i % n]), -127.0f, 127.0f));
  }

  // UniformQuantizedConvolutionDimensionNumbersAttr for images and filters as Conv2D has them.
  static void add_window(const Node* layer, AttrMap& attrs) {
    const auto middle = [&](std::string_view name) {
      const auto& v = layer->attr<std::vector<int64_t>>(name);
      return v.size() == 4 ? std::vector<int64_t>{v[1], v[2]} : std::vector<int64_t>{};
    };
    wire::ProtoWriter d;
    d.varint(2, 3);
    d.packed_varints(3, {1, 2});
    d.varint(4, 2);
    d.varint(5, 3);
    d.packed_varints(6, {0, 1});
    d.varint(8, 3);
    d.packed_varints(9, {1, 2});
    attrs["dimension_numbers"] = d.take();
    attrs["window_strides"] = middle("strides");
    attrs["rhs_dilation"] = middle("dilations");
    attrs["padding"] = layer->attr<std::string>("padding");
    const auto& p = layer->attr<std::vector<int64_t>>("explicit_paddings");
    if (p.size() == 8) attrs["explicit_padding"] = std::vector<int64_t>{p[2], p[3], p[4], p[5]};
  }

  Graph& g_;
  std::map<std::pair<int, int>, Endpoint> quantized_;
};

bool is_layer(const Node& n) { return n.op() == "MatMul" || n.op() == "Conv2D"; }

const Tensor* weights(const Node& layer) { return constant_of(layer.input(1)); }

std::string reason_to_keep(const Node& layer, int64_t least_depth) {
  const Node* n = &layer;
  const bool conv = n->op() == "Conv2D";
  if (n->output_type(0) != DType::kFloat) return "not of type float";
  const Tensor* w = constant_of(n->input(1));
  if (!w) return "weights that are no constant";
  if (w->rank() != (conv ? 4 : 2) || w->num_elements() == 0) return "weights of another shape";
  if (!std::ranges::all_of(w->span<float>(), [](float v) { return std::isfinite(v); })) return "weights that are not finite";
  if (constant_of(n->input(0))) return "a constant";
  if (!conv) {
    if (n->attr<bool>("transpose_a")) return "its input is transposed";
  } else {
    if (n->attr<std::string>("data_format") != "NHWC") return "channels first";
    const auto& in = n->input(0).node->shapes;
    const size_t at = size_t(n->input(0).index);
    if (at >= in.size() || !in[at].has_rank() || in[at].rank() != 4 || in[at].dim(3) != w->dim(2)) return "groups, or an unknown number of channels";
  }
  const int64_t columns = conv || !n->attr<bool>("transpose_b") ? w->dim(w->rank() - 1) : w->dim(0), depth = w->num_elements() / columns;
  if (depth < least_depth) return cat("sums of ", depth, " terms only");
  return "";
}

}  // namespace

const LayerRules& quantize_layers() {
  static const LayerRules rules{is_layer, weights, reason_to_keep,
                                [](Graph& g) -> std::unique_ptr<LayerRewriter> { return std::make_unique<Rewriter>(g); }};
  return rules;
}

}  // namespace weft_engine::ops
