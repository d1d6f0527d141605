#include "saved_model/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/cat.h"
#include "graph/shape_inference.h"
#include "io/graph_def.h"
#include "saved_model/fingerprint.h"
#include "saved_model/model_folder.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::saved_model {
namespace {

using graph::Endpoint;
using graph::Graph;
using graph::Node;
using op::AttrMap;

constexpr const char* kAskedFor = "asked for";
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
class Builder {
 public:
  explicit Builder(Graph& g) : g_(g) {}

  // A layer that stays a float takes the normalisation behind it, too: the engine joins a bias and an activation with it.
  Status fold_normalization(Node* layer) {
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

  Status replace(Node* layer, const Range& x) {
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

// Why a product or convolution stays as it is; empty: it need not.
std::string reason_to_keep(const Node* n, int64_t least_depth) {
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

// Constants and reads of them that nobody needs any more.
void drop_unused(Graph& g, const std::set<std::string>& outputs) {
  for (bool again = true; again;) {
    again = false;
    for (Node* n : g.nodes()) {
      if ((n->op() != "Const" && n->op() != "Identity") || !n->uses().empty() || !n->control_outputs().empty() || outputs.count(n->name())) continue;
      g.remove(n);
      again = true;
    }
  }
}

}  // namespace

Result<std::unique_ptr<Quantizer>> Quantizer::make(const graph::Graph& frozen, const std::vector<std::string>& inputs,
                                                   const std::vector<std::string>& outputs, const std::vector<std::string>& keep,
                                                   int64_t least_depth) {
  std::unique_ptr<Quantizer> q(new Quantizer);
  q->graph_ = frozen.clone();
  q->outputs_ = outputs;
  for (const std::string& name : inputs) {
    Node* n = q->graph_->find(name);
    if (!n) return not_found("the graph has no input '", name, "'");
    q->feeds_.push_back({n, 0});
  }
  (void)graph::infer_all(*q->graph_);  // what cannot be inferred stays unknown
  WEFT_RETURN_IF_ERROR(q->find_layers(keep, least_depth));
  q->session_ = std::make_unique<runtime::Session>(*q->graph_, q->mutex_, runtime::SessionOptions{});
  return q;
}

Status Quantizer::find_layers(const std::vector<std::string>& keep, int64_t least_depth) {
  std::set<std::string> named(keep.begin(), keep.end());
  std::string there;
  for (Node* n : graph_->nodes()) {
    if (n->op() != "MatMul" && n->op() != "Conv2D") continue;
    QuantizedLayer layer{n->name(), std::string(n->op()), {}, 0, 0, named.erase(n->name()) ? kAskedFor : reason_to_keep(n, least_depth)};
    there += cat(there.empty() ? "" : ", ", n->name());
    if (const Tensor* w = constant_of(n->input(1))) layer.weights = w->shape();
    int at = -1;
    if (layer.kept.empty()) {
      at = int(std::find(observed_.begin(), observed_.end(), n->input(0)) - observed_.begin());
      if (size_t(at) == observed_.size()) observed_.push_back(n->input(0));
      layer.low = std::numeric_limits<float>::infinity(), layer.high = -layer.low;
    }
    nodes_.push_back(n);
    input_of_.push_back(at);
    layers_.push_back(std::move(layer));
  }
  if (named.empty()) return {};
  return invalid_argument("there is no product or convolution '", *named.begin(), "'; there are: ", there.empty() ? "none" : there);
}

Status Quantizer::observe(std::span<const Tensor> inputs) {
  if (inputs.size() != feeds_.size()) return invalid_argument("expected ", feeds_.size(), " inputs, got ", inputs.size());
  ++runs_;
  if (observed_.empty()) return {};
  std::vector<Tensor> values(inputs.begin(), inputs.end()), results(observed_.size());
  WEFT_RETURN_IF_ERROR(session_->run(feeds_, values, observed_, results, {}, {}));
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (input_of_[i] < 0) continue;
    for (float v : results[size_t(input_of_[i])].span<float>()) {
      if (!std::isfinite(v))
        return out_of_range("the input of ", layers_[i].name, " is ", v, " in a sample: it cannot be quantised; keep this layer");
      layers_[i].low = std::min(layers_[i].low, v), layers_[i].high = std::max(layers_[i].high, v);
    }
  }
  return {};
}

Result<std::unique_ptr<graph::Graph>> Quantizer::finish() {
  if (runs_ == 0) return failed_precondition("no sample was given: the ranges of the layers' inputs are not known");
  std::vector<Node*> map;
  std::unique_ptr<Graph> out = graph_->clone(&map);
  Builder builder(*out);
  const bool any = std::ranges::any_of(input_of_, [](int i) { return i >= 0; });
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (input_of_[i] < 0) {
      if (any && layers_[i].kept != kAskedFor) WEFT_RETURN_IF_ERROR(builder.fold_normalization(map[size_t(nodes_[i]->id())]));
      continue;
    }
    WEFT_RETURN_IF_ERROR(builder.replace(map[size_t(nodes_[i]->id())], range_of(layers_[i].low, layers_[i].high)));
  }
  drop_unused(*out, {outputs_.begin(), outputs_.end()});
  return out;
}

Status write_graph_model(const graph::Graph& g, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                         const std::string& dir) {
  using wire::ProtoWriter;
  ProtoWriter signature;
  const auto add = [&](int field, const std::vector<std::string>& names) -> Status {
    for (const std::string& name : names) {
      const Node* n = g.find(name);
      if (!n || n->num_outputs() < 1) return not_found("the graph has no tensor of node '", name, "'");
      ProtoWriter info, entry;
      info.bytes(1, name + ":0");
      info.varint(2, uint64_t(n->output_type(0)));
      info.bytes(3, wire::encode_shape(n->shapes.empty() ? PartialShape::unknown() : n->shapes[0]));
      entry.bytes(1, name);
      entry.message(2, info);
      signature.message(field, entry);
    }
    return {};
  };
  WEFT_RETURN_IF_ERROR(add(1, inputs));
  WEFT_RETURN_IF_ERROR(add(2, outputs));
  signature.bytes(3, "tensorflow/serving/predict");
  ProtoWriter about, named, meta, model;
  about.bytes(4, "serve");
  about.bytes(5, "2.21.0");
  meta.message(1, about);
  WEFT_ASSIGN(std::string graph_def, io::encode_graph_def(g));
  meta.bytes(2, graph_def);
  named.bytes(1, "serving_default");
  named.message(2, signature);
  meta.message(5, named);
  model.varint(1, 1);
  model.message(2, meta);
  WEFT_ASSIGN(ModelFolder folder, ModelFolder::create(dir));
  WEFT_RETURN_IF_ERROR(wire::create_folders(folder.path() + "/variables"));
  WEFT_RETURN_IF_ERROR(wire::write_file(folder.path() + "/saved_model.pb", model.str()));
  WEFT_RETURN_IF_ERROR(write_fingerprint(folder.path()));
  return folder.publish();
}

}  // namespace weft_engine::saved_model
