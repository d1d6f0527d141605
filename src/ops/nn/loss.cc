// Softmax, cross entropy and top-k accuracy.
#include <cmath>

#include "kernels/cpu/softmax.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// ---- Softmax, LogSoftmax

Status softmax_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 1));
  c.output(0, std::move(in));
  return {};
}

template <bool log>
Status run_softmax(KernelContext& c) {
  const Tensor& x = c.input(0);
  if (x.rank() < 1) return invalid_argument("logits must have >= 1 dimension, got ", x.shape());
  WEFT_ASSIGN(Tensor* y, c.allocate_or_reuse(0, x.shape(), 0));
  if (x.num_elements() == 0) return {};
  const int64_t columns = x.dim(x.rank() - 1);
  kernels::softmax_rows(x.dtype(), log, x.raw(), y->raw(), x.num_elements() / columns, columns, c.pool());
  return {};
}

// ---- cross entropy

Status cross_entropy_shape(ShapeContext& c) {
  const PartialShape &features = c.input(0), &labels = c.input(1);
  WEFT_ASSIGN(PartialShape both, shapes::broadcast(features, labels));
  if (!both.has_rank()) {
    both = PartialShape::unknown_of_rank(2);
  } else if (both.rank() != 2) {
    return invalid_argument("Shape must be rank 2 but is rank ", both.rank(), " for '", c.node().op(), "'");
  }
  c.output(0, PartialShape::vector(both.dim(0)));
  c.output(1, both);
  return {};
}

// How a vector or matrix is walked as a matrix of `rows` x `columns`.
kernels::MatrixView view(const Tensor& t, int64_t rows, int64_t columns) {
  const int64_t own_columns = t.rank() ? t.dim(t.rank() - 1) : 1, own_rows = t.rank() > 1 ? t.dim(0) : 1;
  return {t.raw(), own_rows == 1 && rows != 1 ? 0 : own_columns, own_columns == 1 && columns != 1 ? int64_t(0) : int64_t(1)};
}

Status run_cross_entropy(KernelContext& c) {
  const Tensor &x = c.input(0), &labels = c.input(1);
  const Shape &a = x.shape(), &b = labels.shape();
  const int rank = std::max(a.rank(), b.rank());
  Shape both;
  for (int i = 0; i < rank; ++i) {
    const int64_t p = i < rank - a.rank() ? 1 : a.dim(i - (rank - a.rank())), q = i < rank - b.rank() ? 1 : b.dim(i - (rank - b.rank()));
    if (p != q && p != 1 && q != 1) return invalid_argument("logits and labels must be broadcastable: logits_size=", a, " labels_size=", b);
    both.add_dim(p == 1 ? q : p);
  }
  if (rank != 2) return invalid_argument("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional");
  WEFT_ASSIGN(Tensor* loss, c.allocate(0, Shape({both.dim(0)})));
  WEFT_ASSIGN(Tensor* grad, c.allocate(1, both));
  kernels::cross_entropy_rows(x.dtype(), view(x, both.dim(0), both.dim(1)), view(labels, both.dim(0), both.dim(1)), loss->raw(), grad->raw(),
                              both.dim(0), both.dim(1), c.pool());
  return {};
}

Status sparse_cross_entropy_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape features, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape labels, c.with_rank(1, 1));
  WEFT_ASSIGN(int64_t batch, ShapeContext::merge_dim(features.dim(0), labels.dim(0)));
  c.output(0, PartialShape::vector(batch));
  c.output(1, PartialShape::matrix(batch, features.dim(1)));
  return {};
}

Status run_sparse_cross_entropy(KernelContext& c) {
  const Tensor &x = c.input(0), &labels = c.input(1);
  if (x.rank() != 2) return invalid_argument("logits must be 2-D, but got shape ", x.shape());
  if (labels.rank() != 1) return invalid_argument("labels must be 1-D, but got shape ", labels.shape());
  if (x.dim(0) != labels.dim(0)) {
    return invalid_argument("logits and labels must have the same first dimension, got logits shape ", x.shape(), " and labels shape ",
                            labels.shape());
  }
  if (x.dim(1) <= 0) return invalid_argument("Must have at least one class, but got logits shape ", x.shape());
  const int64_t rows = x.dim(0), classes = x.dim(1);
  std::vector<int64_t> index(static_cast<size_t>(rows));
  int64_t bad = -1;
  for (int64_t i = 0; i < rows; ++i) {
    index[size_t(i)] = int_at(labels, i);
    if (index[size_t(i)] < 0 || index[size_t(i)] >= classes) bad = i;
  }
  if (bad >= 0) {
    std::string all;
    for (int64_t v : index) all += cat(all.empty() ? "" : " ", v);
    return invalid_argument("Received a label value of ", index[size_t(bad)], " which is outside the valid range of [0, ", classes,
                            ").  Label values: ", all);
  }
  WEFT_ASSIGN(Tensor* loss, c.allocate(0, labels.shape()));
  WEFT_ASSIGN(Tensor* grad, c.allocate(1, x.shape()));
  kernels::sparse_cross_entropy_rows(x.dtype(), x.raw(), index.data(), loss->raw(), grad->raw(), rows, classes, c.pool());
  return {};
}

// ---- InTopK

Status in_top_k_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape predictions, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape targets, c.with_rank(1, 1));
  WEFT_ASSIGN(int64_t batch, ShapeContext::merge_dim(predictions.dim(0), targets.dim(0)));
  c.output(0, PartialShape::vector(batch));
  return {};
}

// Fewer than k predictions above the target's; not finite ones decide against it.
bool in_top_k(const float* row, int64_t classes, int64_t target, int64_t k) {
  if (target < 0 || target >= classes || !std::isfinite(row[target])) return false;
  int64_t above = 0;
  for (int64_t j = 0; j < classes; ++j) {
    if (!std::isfinite(row[j])) return false;
    above += row[j] > row[target];
  }
  return above < k;
}

Status run_in_top_k(KernelContext& c) {
  const Tensor &predictions = c.input(0), &targets = c.input(1);
  int64_t k;
  if (c.num_inputs() == 3) {
    if (c.input(2).rank() != 0) return invalid_argument("k must be 0-D, got shape ", c.input(2).shape());
    k = int_at(c.input(2), 0);
  } else {
    k = c.attr<int64_t>("k");
  }
  if (predictions.rank() != 2) return invalid_argument("predictions must be 2-dimensional");
  if (targets.rank() != 1) return invalid_argument("targets must be 1-dimensional");
  if (predictions.dim(0) != targets.dim(0)) {
    return invalid_argument("First dimension of predictions ", predictions.dim(0), " must match length of targets ", targets.dim(0));
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, targets.shape()));
  const int64_t classes = predictions.dim(1);
  c.pool().parallel_for(targets.dim(0), double(classes), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out->data<bool>()[i] = in_top_k(predictions.data<float>() + i * classes, classes, int_at(targets, i), k);
  });
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

Value sum_of_rows(const Value& x) { return reduce("Sum", x, ints(x.emitter(), {-1}), true); }

Grads softmax_grad(const GradContext& g) { return {(g.dy() - sum_of_rows(g.dy() * g.y())) * g.y()}; }
Grads log_softmax_grad(const GradContext& g) { return {g.dy() - sum_of_rows(g.dy()) * unary("Exp", g.y())}; }

// Of the logits. The op's second result is the gradient of the first; through it flows the second order.
Value logits_grad(const GradContext& g) {
  Value grad = expand_dims(g.dy(0), -1) * g.y(1);
  if (!g.has_dy(1)) return grad;
  const Value softmax = unary("Softmax", g.x(0)), second = g.dy(1);
  const Value inner = squeeze(batch_matmul(expand_dims(second, 1), expand_dims(softmax, 2)), {1});
  return grad + (second - inner) * softmax;
}

Grads cross_entropy_grad(const GradContext& g) {
  return {sum_to(logits_grad(g), g.x(0)), sum_to(expand_dims(g.dy(0), -1) * -unary("LogSoftmax", g.x(0)), g.x(1))};
}
Grads sparse_cross_entropy_grad(const GradContext& g) { return {logits_grad(g), {}}; }

}  // namespace

void loss(Registry& r) {
  r.add("InTopK")
      .in("predictions: float")
      .in("targets: T")
      .out("precision: bool")
      .attr("k: int")
      .attr("T: {int32, int64} = DT_INT32")
      .doc("Whether each target is among the k best predictions of its row.")
      .shape(in_top_k_shape)
      .cpu(run_in_top_k);

  r.add("InTopKV2")
      .in("predictions: float")
      .in("targets: T")
      .in("k: T")
      .out("precision: bool")
      .attr("T: {int32, int64} = DT_INT32")
      .doc("As InTopK, with k given as an input.")
      .shape(in_top_k_shape)
      .batch(batch_folded<2>)
      .cpu(run_in_top_k);

  r.add("LogSoftmax")
      .in("logits: T")
      .out("logsoftmax: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("The logarithm of Softmax, computed without losing small numbers.")
      .shape(softmax_shape)
      .batch(batch_leading<1>)
      .grad(log_softmax_grad)
      .cpu(run_softmax<true>);

  r.add("Softmax")
      .in("logits: T")
      .out("softmax: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("exp(x) over the last dimension, scaled to sum one.")
      .shape(softmax_shape)
      .batch(batch_leading<1>)
      .grad(softmax_grad)
      .cpu(run_softmax<false>);

  r.add("SoftmaxCrossEntropyWithLogits")
      .in("features: T")
      .in("labels: T")
      .out("loss: T")
      .out("backprop: T")
      .attr("T: {half, bfloat16, float, double}")
      .doc("Cross entropy between softmax(features) and label distributions, and its gradient.")
      .shape(cross_entropy_shape)
      .batch(batch_folded<2>)
      .grad(cross_entropy_grad)
      .cpu(run_cross_entropy);

  r.add("SparseSoftmaxCrossEntropyWithLogits")
      .in("features: T")
      .in("labels: Tlabels")
      .out("loss: T")
      .out("backprop: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("Tlabels: {int32, int64} = DT_INT64")
      .doc("Cross entropy between softmax(features) and one class a row, and its gradient.")
      .shape(sparse_cross_entropy_shape)
      .batch(batch_folded<2>)
      .grad(sparse_cross_entropy_grad)
      .cpu(run_sparse_cross_entropy);

  set_layout(r, {"Softmax", "LogSoftmax"}, layouts::kElementwise);
  set_layout(r, {"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"}, layouts::kCrossEntropy);
  set_layout(r, {"InTopK", "InTopKV2"}, layouts::kInTopK);
}

}  // namespace weft_engine::ops
