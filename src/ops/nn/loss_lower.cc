// Softmax, cross entropy and top-k accuracy.
#include <limits>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using V = ir::Value;

// exp(x - max) over the last dimension, which no large number can overflow.
struct Exponentials {
  V shifted, exp, sum;  // sum: with a last dimension of 1
  Exponentials(ir::Builder& b, V x) {
    if (!x) return;
    const std::vector<int> last = {x->rank() - 1};
    shifted = b.sub(x, b.reduce(ir::Reduce::kMax, x, last, true));
    exp = b.exp(shifted);
    sum = b.sum(exp, last, true);
  }
  V softmax(ir::Builder& b) const { return sum ? b.mul(exp, b.div(b.scalar(sum->type.dtype, 1), sum)) : nullptr; }
};

LoweredList softmax(LowerContext& l) {
  if (l.ok() && l.rank() < 1) return l.fail(invalid_argument("logits must have >= 1 dimension, got ", l.type().to_string()));
  const Exponentials e(l.b, widened(l, l.x()));
  return {l.b.convert(e.softmax(l.b), l.out_type())};
}

LoweredList log_softmax(LowerContext& l) {
  if (l.ok() && l.rank() < 1) return l.fail(invalid_argument("logits must have >= 1 dimension, got ", l.type().to_string()));
  const Exponentials e(l.b, widened(l, l.x()));
  return {l.b.convert(l.b.sub(e.shifted, l.b.log(e.sum)), l.out_type())};
}

LoweredList cross_entropy(LowerContext& l) {
  ir::Builder& b = l.b;
  V x = widened(l, l.x(0)), labels = widened(l, l.x(1));
  if (!x || !labels) return {};
  const auto dims = b.broadcast_dims(x->type.dims, labels->type.dims);
  if (!l.ok()) return {};
  if (dims.size() != 2) return l.fail(invalid_argument("logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional"));
  labels = b.broadcast_to(labels, dims);
  const Exponentials e(b, b.broadcast_to(x, dims));
  const V loss = b.sum(b.mul(labels, b.sub(b.log(e.sum), e.shifted)), {1});
  return {b.convert(loss, l.out_type()), b.convert(b.sub(e.softmax(b), labels), l.out_type())};
}

// Where column number and label agree.
V is_label(ir::Builder& b, V labels, const std::vector<ir::Dim>& dims) {
  if (!labels) return nullptr;
  return b.compare(ir::Compare::kEq, b.iota(labels->type.dtype, dims, 1), b.broadcast_in_dim(labels, dims, {0}));
}

LoweredList sparse_cross_entropy(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = widened(l, l.x(0)), labels = l.x(1);
  if (!x || !labels) return {};
  if (x->rank() != 2) return l.fail(invalid_argument("logits must be 2-D, but got shape ", x->type.to_string()));
  if (labels->rank() != 1) return l.fail(invalid_argument("labels must be 1-D, but got shape ", labels->type.to_string()));
  b.same(x->dim(0), labels->dim(0));
  const Exponentials e(b, x);
  const V at_label =
      b.gather(e.shifted, labels, 1, 1, cat("Received a label value which is outside the valid range of [0, ", x->dim(1).to_string(), ")."));
  if (!at_label) return {};
  const V loss = b.sub(b.reshape(b.log(e.sum), at_label->type.dims), at_label);
  const V hit = b.convert(is_label(b, labels, x->type.dims), x->type.dtype);
  return {b.convert(loss, l.out_type()), b.convert(b.sub(e.softmax(b), hit), l.out_type())};
}

// Fewer than k predictions above the target's; not finite ones decide against it.
LoweredList in_top_k(LowerContext& l) {
  ir::Builder& b = l.b;
  const V x = l.x(0), targets = l.x(1);
  if (!x || !targets) return {};
  if (x->rank() != 2) return l.fail(invalid_argument("predictions must be 2-dimensional"));
  if (targets->rank() != 1) return l.fail(invalid_argument("targets must be 1-dimensional"));
  const DType t = targets->type.dtype;
  const V k = l.num_inputs() == 3 ? l.x(2) : b.scalar_int(t, l.attr<int64_t>("k"));
  const V own = b.gather(x, targets, 1, 1, "");
  if (!own) return {};
  const V above = b.sum(b.convert(b.compare(ir::Compare::kGt, x, b.reshape(own, {own->dim(0), 1})), t), {1});
  const V finite = b.reduce(ir::Reduce::kAnd, b.unary(ir::Unary::kIsFinite, x), {1});
  const V inside = b.reduce(ir::Reduce::kOr, is_label(b, targets, x->type.dims), {1});
  auto both = [&](V p, V q) { return b.binary(ir::Binary::kAnd, p, q); };
  return {both(both(b.compare(ir::Compare::kLt, above, k), finite), inside)};
}

}  // namespace

void lower_loss(Registry& r) {
  r.lower("InTopK", in_top_k);
  r.lower("InTopKV2", in_top_k);
  r.lower("LogSoftmax", log_softmax);
  r.lower("Softmax", softmax);
  r.lower("SoftmaxCrossEntropyWithLogits", cross_entropy);
  r.lower("SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy);
}

}  // namespace weft_engine::ops
