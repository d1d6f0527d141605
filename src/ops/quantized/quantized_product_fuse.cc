// A layer of a quantised model,
//   UniformDequantize(UniformQuantizedDot(x, w)) + bias, an activation, UniformQuantize for the next layer,
// becomes one _WeftInt8Product; likewise with UniformQuantizedConvolution. Weights, scales and zero points have to be constants, and the product's
// scale has to be that of its operands, so that its result is the plain sum.
#include <algorithm>
#include <limits>

#include "graph/passes/remap.h"
#include "kernels/cpu/int8_gemm.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/quantized/quantized_uniform.h"

namespace weft_engine::ops {

using namespace weft_engine::graph;  // NOLINT: a rule is written in the vocabulary of the passes

namespace {

bool all_are(const Tensor& t, int32_t value) {
  return std::ranges::all_of(t.span<int32_t>(), [&](int32_t v) { return v == value; });
}

// Numbers of one kind for each of n columns: as they are, or one for all.
std::vector<float> columns_of(const Tensor& t, int64_t n) {
  std::vector<float> out(size_t(n), 0.f);
  for (size_t j = 0; j < out.size(); ++j) out[j] = t.span<float>()[t.num_elements() == 1 ? 0 : j];
  return out;
}

class Layers {
 public:
  Layers(FunctionBody& body, const Region& region) : body_(body), g_(*body.graph), region_(region) {}

  Status run() {
    std::vector<int> ids;
    WEFT_ASSIGN(std::vector<Node*> order, g_.topological_order());
    for (Node* n : order) {
      if ((n->op() == "UniformQuantizedDot" || n->op() == "UniformQuantizedConvolution") && !region_.contains(n)) ids.push_back(n->id());
    }
    for (int id : ids) {
      if (Node* n = g_.node(id)) WEFT_RETURN_IF_ERROR(fuse(n));
    }
    return {};
  }

 private:
  // Constants of a product's operands and its result: that of input i, if it is one with 1 or n elements.
  const Tensor* constant(const Node* n, int i, int64_t columns, DType type) {
    const Tensor* t = const_value(n->input(i));
    return t && t->dtype() == type && (t->num_elements() == 1 || t->num_elements() == columns) ? t : nullptr;
  }

  // Is the result the sum of products itself?
  bool is_plain_sum(const Node* n, int64_t columns) {
    const Tensor *x_scale = constant(n, 2, 1, DType::kFloat), *x_zero = constant(n, 3, 1, DType::kInt32);
    const Tensor *w_scale = constant(n, 4, columns, DType::kFloat), *w_zero = constant(n, 5, columns, DType::kInt32);
    const Tensor *y_scale = constant(n, 6, columns, DType::kFloat), *y_zero = constant(n, 7, columns, DType::kInt32);
    if (!x_scale || !x_zero || !w_scale || !w_zero || !y_scale || !y_zero || !all_are(*w_zero, 0) || !all_are(*y_zero, 0)) return false;
    const int32_t zero = x_zero->span<int32_t>()[0];
    if (zero < -128 || zero > 127 || n->attr<int64_t>("output_quantization_min_val") != std::numeric_limits<int32_t>::min() ||
        n->attr<int64_t>("output_quantization_max_val") != std::numeric_limits<int32_t>::max())
      return false;
    const std::vector<float> w = columns_of(*w_scale, columns), y = columns_of(*y_scale, columns);
    for (size_t j = 0; j < w.size(); ++j) {
      const auto m = Multiplier::make(double(x_scale->span<float>()[0]) * double(w[j]) / double(y[j]));
      if (!m.ok() || m->shift != 1 || m->value != 1 << 30 || !(w[j] > 0) || !(y[j] > 0)) return false;  // not by 1
    }
    return x_scale->span<float>()[0] > 0;
  }

  // The next node of the layer.
  Node* next(Node* n) {
    Node* reader = only_reader(body_, {n, 0});
    return reader && same_device(*reader, *n) && reader->control_inputs().empty() && !region_.contains(reader) ? reader : nullptr;
  }

  // A constant row that is added to the last dimension.
  const Tensor* bias_of(Node* n, Node* from, int64_t columns) {
    if (!n || n->num_inputs() != 2 || (n->op() != "BiasAdd" && n->op() != "AddV2" && n->op() != "Add")) return nullptr;
    if (n->op() == "BiasAdd" && n->attr<std::string>("data_format") != "NHWC" && shape_of({from, 0}).rank() != 2) return nullptr;
    const int other = n->input(0).node == from ? 1 : 0;
    const Tensor* t = const_value(n->input(other));
    const bool row = t && t->dtype() == DType::kFloat && is_row(n->input(other), columns) && t->rank() <= shape_of({from, 0}).rank();
    return row && shape_of({from, 0}).has_rank() ? t : nullptr;
  }

  Status fuse(Node* product) {
    const Tensor* weights = const_value(product->input(1));
    const bool conv = product->op() == "UniformQuantizedConvolution";
    if (!weights || weights->rank() != (conv ? 4 : 2) || weights->num_elements() == 0 || !product->control_inputs().empty()) return {};
    if (conv && !is_channels_last_conv(product->info())) return {};
    const int64_t n = weights->dim(weights->rank() - 1);
    Node* dequantize = next(product);
    if (!is_plain_sum(product, n) || !dequantize || dequantize->op() != "UniformDequantize") return {};
    const Tensor *scale = constant(dequantize, 1, n, DType::kFloat), *zero = constant(dequantize, 2, n, DType::kInt32);
    if (!scale || !zero || !all_are(*zero, 0)) return {};
    const int64_t axis = dequantize->attr<int64_t>("quantization_axis");
    if (axis != (scale->rank() == 0 ? -1 : weights->rank() - 1)) return {};
    Tensor scales = Tensor::vector(columns_of(*scale, n)), bias = Tensor::vector(std::vector<float>(size_t(n), 0.f));
    for (float s : scales.span<float>()) {
      if (!(s > 0)) return {};  // which the op refuses
    }

    Node* last = dequantize;
    AttrMap attrs = {
        {"T", DType::kFloat}, {"weights", weights->shape().vec()}, {"x_zero", int64_t(const_value(product->input(3))->span<int32_t>()[0])}};
    if (const Tensor* b = bias_of(next(last), last, n)) {
      bias = Tensor::vector(columns_of(*b, n));
      last = next(last);
    }
    if (Node* f = next(last); f && (f->op() == "Relu" || f->op() == "Relu6")) {
      attrs["activation"] = std::string(f->op());
      last = f;
    }
    if (Node* q = next(last); q && is_byte_quantize(q)) {
      attrs["T"] = DType::kQint8;
      attrs["y_scale"] = const_value(q->input(1))->span<float>()[0];
      attrs["y_zero"] = int64_t(const_value(q->input(2))->span<int32_t>()[0]);
      last = q;
    }
    if (conv) add_window(product, attrs);
    const int64_t k = weights->num_elements() / n;
    WEFT_ASSIGN(Tensor packed, Tensor::allocate(DType::kUint8, Shape({kernels::int8_packed_bytes(k, n)})));
    core::ThreadPool alone(1);
    kernels::int8_pack({weights->raw(), true, false, n}, k, n, packed.raw(), alone);
    WEFT_ASSIGN(Endpoint weights_from, add_const_near(g_, product, "/packed", std::move(packed)));
    WEFT_ASSIGN(Endpoint scale_from, add_const_near(g_, product, "/scale", std::move(scales)));
    WEFT_ASSIGN(Endpoint bias_from, add_const_near(g_, product, "/bias", std::move(bias)));
    WEFT_ASSIGN(Node* fused,
                add_near(g_, last, "/int8", "_WeftInt8Product", std::move(attrs), {product->input(0), weights_from, scale_from, bias_from}));
    fused->shapes = last->shapes;
    replace_root(body_, {last, 0}, {fused, 0});
    return {};
  }

  // To all 256 numbers of a qint8, with one scale.
  bool is_byte_quantize(const Node* q) {
    if (q->op() != "UniformQuantize" || q->output_type(0) != DType::kQint8 || q->attr<int64_t>("quantization_axis") != -1) return false;
    if (q->attr<int64_t>("quantization_min_val") != -128 || q->attr<int64_t>("quantization_max_val") != 127) return false;
    const Tensor *scale = constant(q, 1, 1, DType::kFloat), *zero = constant(q, 2, 1, DType::kInt32);
    if (!scale || !zero) return false;
    const int32_t z = zero->span<int32_t>()[0];
    return z >= -128 && z <= 127;
  }

  void add_window(const Node* product, AttrMap& attrs) {
    const auto around = [](const std::vector<int64_t>& two) {
      return two.empty() ? std::vector<int64_t>{1, 1, 1, 1} : std::vector<int64_t>{1, two[0], two[1], 1};
    };
    attrs["strides"] = around(product->attr<std::vector<int64_t>>("window_strides"));
    attrs["dilations"] = around(product->attr<std::vector<int64_t>>("rhs_dilation"));
    attrs["padding"] = product->attr<std::string>("padding");
    const auto& p = product->attr<std::vector<int64_t>>("explicit_padding");
    if (p.size() == 4) attrs["explicit_paddings"] = std::vector<int64_t>{0, 0, p[0], p[1], p[2], p[3], 0, 0};
  }

  FunctionBody& body_;
  Graph& g_;
  const Region& region_;
};

Status replace_layers(FunctionBody& body, const Region& region) { return Layers(body, region).run(); }

}  // namespace

void fuse_quantized_product(Registry& r) { r.fuse("_WeftInt8Product", FuseStage::kLayers, replace_layers); }

}  // namespace weft_engine::ops
