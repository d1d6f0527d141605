// A vector added along the channel dimension, and its gradient.
#include "kernels/cpu/bias.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/reduce.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

bool channels_first(const NodeInfo& node) {
  const AttrValue* v = node.find_attr("data_format");
  const std::string* format = v ? v->get<std::string>() : nullptr;
  return format && *format == "NCHW";
}

Status bias_add_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape value, c.with_rank_at_least(0, 2));
  WEFT_ASSIGN(PartialShape bias, c.with_rank(1, 1));
  if (value.has_rank()) {
    const int axis = channels_first(c.node()) ? 1 : value.rank() - 1;
    WEFT_ASSIGN(int64_t channels, ShapeContext::merge_dim(value.dim(axis), bias.dim(0)));
    value.set_dim(axis, channels);
  }
  c.output(0, std::move(value));
  return {};
}

Status bias_add_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape value, c.with_rank_at_least(0, 2));
  c.output(0, PartialShape::vector(value.has_rank() ? value.dim(channels_first(c.node()) ? 1 : value.rank() - 1) : kUnknownDim));
  return {};
}

struct BiasAdd {
  static Result<BiasAdd> make(const NodeInfo& node) { return BiasAdd{channels_first(node)}; }
  Status run(KernelContext& c) const {
    const Tensor &x = c.input(0), &bias = c.input(1);
    if (x.rank() < 2) return invalid_argument("Input tensor must be at least 2D: ", x.shape());
    if (bias.rank() != 1) return invalid_argument("Biases must be 1D: ", bias.shape());
    const int axis = first ? 1 : x.rank() - 1;
    if (bias.dim(0) != x.dim(axis)) {
      return invalid_argument("Must provide as many biases as the last dimension of the input tensor: ", bias.shape(), " vs. ", x.shape());
    }
    WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, x.shape(), 0));
    if (x.num_elements() == 0) return {};
    const int64_t inner = x.shape().elements_in(axis + 1, x.rank()), channels = bias.dim(0), size = int64_t(dtype_size(x.dtype()));
    const int64_t run = inner == 1 ? channels : inner;
    const char* in = static_cast<const char*>(x.raw());
    char* to = static_cast<char*>(out->raw());
    c.pool().parallel_for(x.num_elements() / run, double(run) * 0.25 + 1, [&](int64_t begin, int64_t end) {
      const int64_t at = begin * run * size;
      if (inner == 1) WEFT_BEST_ISA(add_bias)(x.dtype(), in + at, bias.raw(), to + at, end - begin, channels);
      else WEFT_BEST_ISA(add_bias_runs)(x.dtype(), in + at, bias.raw(), to + at, begin, end - begin, inner, channels);
    });
    return {};
  }
  bool first;
};

Status run_bias_add_grad(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() < 2) return invalid_argument("Input tensor must be at least 2D: ", x.shape());
  const int axis = channels_first(c.node()) ? 1 : x.rank() - 1;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({x.dim(axis)})));
  const int64_t dims[] = {x.shape().elements_in(0, axis), x.dim(axis), x.shape().elements_in(axis + 1, x.rank())};
  const bool reduced[] = {true, false, true};
  return kernels::reduce(kernels::ReduceOp::kSum, x.dtype(), x.raw(), dims, reduced, out->raw(), c.pool());
}

// Of a sum over all dimensions but the channels: the same for every place.
Grads bias_add_grad_grad(const GradContext& g) {
  const Value shape = shape_of(g.x());
  Value dy = g.dy();
  if (g.attr<std::string>("data_format") == "NCHW") {
    // Channels come second: as many trailing dimensions of 1 as there are behind them.
    Emitter& e = g.emitter();
    const Value trailing = g.one("Fill", {g.one("Sub", {g.one("Size", {shape}), scalar(e, DType::kInt32, 2)}), scalar(e, DType::kInt32, 1)});
    const Value parts[] = {ints(e, {-1}), g.one("Reshape", {trailing, ints(e, {-1})})};
    dy = reshape(dy, concat(parts, 0));
  }
  return {g.one("BroadcastTo", {dy, shape})};
}

}  // namespace

void bias(Registry& r) {
  r.add("BiasAdd")
      .in("value: T")
      .in("bias: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .doc("Adds one number per channel to every element of that channel.")
      .shape(bias_add_shape)
      .grad([](const GradContext& g) -> Grads {
        return {g.dy(), g.one("BiasAddGrad", {g.dy()}, {{"data_format", g.attr<std::string>("data_format")}})};
      })
      .traits({.scalar = {kernels::name_of(kernels::Binary::kAdd), 2}})
      .cpu<BiasAdd>(types<WEFT_NUMBERS>("T"));

  r.add("BiasAddGrad")
      .in("out_backprop: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .doc("The sum over all dimensions but that of the channels.")
      .shape(bias_add_grad_shape)
      .grad(bias_add_grad_grad)
      .cpu(run_bias_add_grad, types<WEFT_NUMBERS>("T"));

  r.add("BiasAddV1")
      .in("value: T")
      .in("bias: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("BiasAdd along the last dimension.")
      .shape(bias_add_shape)
      .grad([](const GradContext& g) -> Grads { return {g.dy(), g.one("BiasAddGrad", {g.dy()})}; })
      .cpu<BiasAdd>(types<WEFT_NUMBERS>("T"));

  set_layout(r, {"BiasAdd"}, layouts::kBias);
  set_layout(r, {"BiasAddGrad"}, layouts::kBiasGradient);
}

}  // namespace weft_engine::ops
