// Batch normalisation and local response normalisation.
#include <algorithm>
#include <limits>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using V = ir::Value;

// A batch of channels and what is needed to go from one number a channel to all elements.
struct Channels {
  Channels(LowerContext& l, V x) : l(l), type(x->type) {
    const std::string& format = l.attr<std::string>("data_format");
    axis = format == "NCHW" || format == "NCDHW" ? 1 : int(format.size()) - 1;
    for (int i : axes_but(type.rank(), axis)) count = count * type.dims[size_t(i)];
    if (type.rank() != int(format.size())) l.fail(invalid_argument("input must be ", format.size(), "-dimensional", type.to_string()));
  }
  V spread(V v) const {
    if (!v || !l.ok()) return nullptr;
    if (v->rank() != 1) return l.b.fail(invalid_argument("a vector of one number a channel is expected, got ", v->type.to_string()));
    l.b.same(v->dim(0), type.dims[size_t(axis)]);
    return l.b.broadcast_in_dim(v, type.dims, {axis});
  }
  V sum(V x) const { return l.b.sum(x, axes_but(type.rank(), axis)); }
  V mean(V x) const { return l.b.mean(x, axes_but(type.rank(), axis)); }

  LowerContext& l;
  const ir::Type type;
  int axis = 0;
  ir::Dim count = 1;
};

// (1 - factor) old + factor v
V moved(ir::Builder& b, V old, V v, double factor) { return factor == 1 ? v : b.add(b.mul(old, 1 - factor), b.mul(v, factor)); }

LoweredList batch_norm(LowerContext& l) {
  ir::Builder& b = l.b;
  constexpr DType kFloat = DType::kFloat;
  const V x = b.convert(l.x(0), kFloat);
  if (!x) return {};
  const Channels c(l, x);
  const V scale = b.convert(l.x(1), kFloat), offset = b.convert(l.x(2), kFloat);
  V mean = b.convert(l.x(3), kFloat), variance = b.convert(l.x(4), kFloat), mean_out = mean, variance_out = variance;
  if (l.attr<bool>("is_training")) {
    const V old_mean = mean, old_variance = variance;
    const double factor = double(l.attr<float>("exponential_avg_factor"));
    mean = c.mean(x);
    variance = c.mean(b.square(b.sub(x, c.spread(mean))));
    // The variance handed out is the unbiased estimate.
    const V unbiased = b.mul(variance, b.div(number(l, c.count, kFloat), number(l, ir::max(c.count - ir::Dim(1), 1), kFloat)));
    mean_out = moved(b, old_mean, mean, factor);
    variance_out = moved(b, old_variance, unbiased, factor);
  }
  if (x->type.elements().is(0)) {  // nothing to learn from; inputs are not passed on either
    mean = variance = b.fill(kFloat, {c.type.dims[size_t(c.axis)]}, 0);
    mean_out = variance_out = b.fill(kFloat, {c.type.dims[size_t(c.axis)]}, std::numeric_limits<double>::quiet_NaN());
  }
  const V scaling = b.div(scale, b.sqrt(b.add(variance, double(l.attr<float>("epsilon")))));
  const V y = b.add(b.mul(b.sub(x, c.spread(mean)), c.spread(scaling)), c.spread(offset));
  LoweredList out = {b.convert(y, l.out_type()), b.convert(mean_out, l.out_type(1)), b.convert(variance_out, l.out_type(2)),
                     b.convert(mean, l.out_type(3)), b.convert(variance, l.out_type(4))};
  if (l.node.num_outputs() == 6) out.push_back(b.fill(l.out_type(5), {0}, 0));  // scratch of the device's own
  return out;
}

LoweredList batch_norm_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  const V dy = b.convert(l.x(0), DType::kFloat), x = b.convert(l.x(1), DType::kFloat);
  if (!dy || !x) return {};
  const Channels c(l, x);
  const V scale = l.x(2), mean = l.x(3), variance = l.x(4);
  const V inverse = b.rsqrt(b.add(variance, double(l.attr<float>("epsilon"))));
  const V centred = b.sub(x, c.spread(mean)), sum_dy = c.sum(dy), sum_dy_x = c.sum(b.mul(dy, centred));
  const V factor = b.mul(scale, inverse);
  V dx = b.mul(dy, c.spread(factor));
  if (l.attr<bool>("is_training")) {
    const V n = number(l, c.count, DType::kFloat);
    const V x_factor = b.div(b.mul(b.mul(b.neg(factor), b.square(inverse)), sum_dy_x), n);
    dx = b.add(b.mul(b.sub(dy, c.spread(b.div(sum_dy, n))), c.spread(factor)), b.mul(centred, c.spread(x_factor)));
  }
  const V nothing = b.scalar(DType::kFloat, 0);
  return {b.convert(dx, l.out_type()), b.mul(sum_dy_x, inverse), sum_dy, nothing, nothing};
}

// Sums over the neighbours along the channels.
V neighbours(LowerContext& l, V x) {
  if (!x || !l.ok()) return nullptr;
  if (x->rank() != 4) return l.b.fail(invalid_argument("in must be 4-dimensional"));
  int64_t radius = l.attr<int64_t>("depth_radius");
  if (radius < 0 || radius > std::numeric_limits<int32_t>::max())
    return l.b.fail(invalid_argument("depth_radius = ", radius, " larger than int max"));
  if (x->dim(3).is_const()) radius = std::min(radius, x->dim(3).value());
  // Channels as the one spatial dimension of a window.
  ir::Window w{.size = {2 * radius + 1}, .stride = {1}, .dilation = {1}, .base_dilation = {1}, .low = {radius}, .high = {radius}};
  const V flat = l.b.reshape(x, {x->dim(0) * x->dim(1) * x->dim(2), x->dim(3), 1});
  return l.b.reshape(l.b.window(ir::Reduce::kSum, flat, w), x->type.dims);
}

V lrn_norm(LowerContext& l, V x) {
  return l.b.add(l.b.mul(neighbours(l, l.b.square(x)), double(l.attr<float>("alpha"))), double(l.attr<float>("bias")));
}
V to_minus_beta(LowerContext& l, V norm) { return l.b.binary(ir::Binary::kPow, norm, l.b.scalar(DType::kFloat, -double(l.attr<float>("beta")))); }

LoweredList lrn(LowerContext& l) {
  const V x = widened(l, l.x());
  return {l.b.convert(l.b.mul(x, to_minus_beta(l, lrn_norm(l, x))), l.out_type())};
}

// Each result reaches all inputs in its neighbourhood, with dy y / norm.
LoweredList lrn_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  const V dy = widened(l, l.x(0)), x = widened(l, l.x(1)), y = widened(l, l.x(2)), norm = lrn_norm(l, x);
  const V reach = neighbours(l, b.div(b.mul(dy, y), norm));
  const double factor = -2 * double(l.attr<float>("alpha")) * double(l.attr<float>("beta"));
  return {b.convert(b.add(b.mul(dy, to_minus_beta(l, norm)), b.mul(b.mul(x, factor), reach)), l.out_type())};
}

}  // namespace

void lower_norm(Registry& r) {
  for (const char* op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}) r.lower(op, batch_norm);
  for (const char* op : {"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"}) r.lower(op, batch_norm_grad);
  r.lower("LRN", lrn);
  r.lower("LRNGrad", lrn_grad);
}

}  // namespace weft_engine::ops
