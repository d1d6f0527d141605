// Rules of vectorize.h for layers, random numbers and lists of tensors.
#include "autodiff/vectorize_call.h"

namespace weft::autodiff {

// ---- ops with a batch of their own: all rows are one larger batch -------------------------------------------

Value VectorCall::fold(size_t i) const {
  Value v = with_rows(i);
  Value all = op::reduce("Prod", join({rows_list(), dims(i, 0, 1)}), scalar(0), true);
  if (rows() >= 0 && shape(i).has_rank() && shape(i).rank() > 0 && shape(i).dim(0) != kUnknownDim) all = list({rows() * shape(i).dim(0)});
  return op::reshape(v, join({all, dims(i, 1)}));
}
Value VectorCall::unfold(const Value& v, const Value& batch) const {
  const PartialShape s = v.shape();
  Value rest = op::shape_of(v);
  if (s.fully_known()) rest = list(std::vector<int64_t>(s.dims().begin() + 1, s.dims().end()));
  else rest = op::slice(rest, list({1}), list({-1}));
  return op::reshape(v, join({rows_list(), batch, rest}));
}
Value VectorCall::more_rows(size_t i) const {
  if (auto known = numbers(i); known && rows() >= 0 && !known->empty()) {
    (*known)[0] *= rows();
    return list(*known);
  }
  Value sizes = op::cast(inner(i), DType::kInt32);
  return join({op::slice(sizes, list({0}), list({1})) * vector_.rows(), op::slice(sizes, list({1}), list({-1}))});
}

template <int kFolded>
Outputs VectorCall::folded() {
  if (has_rows_from(kFolded) || rank(0) < 1) return refused();
  std::vector<Value> in;
  for (size_t i = 0; i < inputs_.size(); ++i) in.push_back(i < kFolded ? fold(i) : inner(i));
  std::vector<Value> out = apply(op_, in, std::move(attrs_));
  const Value batch = dims(0, 0, 1);
  for (Value& v : out) v = unfold(v, batch);
  return all(std::move(out));
}
template Outputs VectorCall::folded<1>();
template Outputs VectorCall::folded<2>();
template Outputs VectorCall::folded<3>();

Outputs VectorCall::pool_gradient() {
  if (has_rows(0) || rank(1) < 1) return refused();
  return one(unfold(apply1(op_, {more_rows(0), fold(1)}, std::move(attrs_)), dims(1, 0, 1)));
}

// Rows as groups of channels: [rows, a, b, c, channels] as [a, b, c, rows * channels], of images and of filters.
Value VectorCall::to_channels(size_t i) const {
  const PartialShape s = shape(i);
  return op::reshape(op::transpose(with_rows(i), list({1, 2, 3, 0, 4})), list({s.dim(0), s.dim(1), s.dim(2), rows() * s.dim(3)}));
}
Value VectorCall::from_channels(const Value& v) const {
  const PartialShape s = v.shape();
  if (!s.fully_known() || s.rank() != 4) {
    base_.fail(unimplemented(op_, " of filters that differ by row, of open sizes"));
    return v;
  }
  return op::transpose(op::reshape(v, list({s.dim(0), s.dim(1), s.dim(2), rows(), s.dim(3) / rows()})), list({3, 0, 1, 2, 4}));
}

Outputs VectorCall::conv2d() {
  if (!has_rows(1)) return folded<1>();
  const PartialShape x = shape(0), f = shape(1);
  if (!plain_layout() || rows() < 1 || !x.fully_known() || !f.fully_known() || (!has_rows(0) && x.dim(3) != f.dim(2))) return refused();
  return one(from_channels(apply1(op_, {has_rows(0) ? to_channels(0) : inner(0), to_channels(1)}, std::move(attrs_))));
}

// Inputs: sizes, filter, dy.
Outputs VectorCall::conv_input_gradient() {
  if (has_rows(0) || rank(2) < 1) return refused();
  if (!has_rows(1)) {
    if (!shape(0).fully_known() || shape(0).rank() != 1) return refused();
    const bool batch_too = shape(0).dim(0) == rank(2);  // or height and width alone
    attrs_.erase("Tshape");
    return one(unfold(apply1(op_, {batch_too ? more_rows(0) : inner(0), inner(1), fold(2)}, std::move(attrs_)), dims(2, 0, 1)));
  }
  auto sizes = numbers(0);
  if (op_ != "Conv2DBackpropInput" || !plain_layout() || rows() < 1 || !sizes || sizes->size() != 4 || !shape(1).fully_known() ||
      !shape(2).fully_known())
    return refused();
  (*sizes)[3] *= rows();
  return one(from_channels(apply1(op_, {list(*sizes), to_channels(1), to_channels(2)}, std::move(attrs_))));
}

// Inputs: x, sizes of the filter, dy.
Outputs VectorCall::conv_filter_gradient() {
  auto sizes = numbers(1);
  const PartialShape x = shape(0);
  if (!plain_layout() || rows() < 1 || !sizes || sizes->size() != 4 || !x.fully_known() || !shape(2).fully_known() ||
      (!has_rows(0) && x.dim(3) != (*sizes)[2]))
    return refused();
  (*sizes)[3] *= rows();
  return one(from_channels(apply1(op_, {has_rows(0) ? to_channels(0) : inner(0), list(*sizes), to_channels(2)}, std::move(attrs_))));
}

Outputs VectorCall::bias_add() {
  if (!plain_layout()) return folded<1>();
  if (!has_rows(1)) return leading<1>();
  if (rank(0) < 0) return refused();
  WEFT_ASSIGN(Value bias, aligned(1, rank(0)));
  return one(with_rows(0) + bias);
}
Outputs VectorCall::bias_add_grad() {
  if (rank(0) < 1 || !plain_layout()) return refused();
  std::vector<int64_t> axes;
  for (int i = 1; i < rank(0); ++i) axes.push_back(i);
  return one(axes.empty() ? inner(0) : op::reduce("Sum", inner(0), list(axes)));
}

Outputs VectorCall::batch_norm() {
  auto it = attrs_.find("is_training");
  if (it == attrs_.end() || !it->second.get<bool>() || *it->second.get<bool>() || has_rows_from(1) || rank(0) < 1) return refused();
  std::vector<Value> in{fold(0)};
  for (size_t i = 1; i < inputs_.size(); ++i) in.push_back(inner(i));
  std::vector<Value> out = apply(op_, in, std::move(attrs_));
  if (out.empty()) return refused();
  out[0] = vector_.batched(unfold(out[0], dims(0, 0, 1)));
  for (size_t i = 1; i < out.size(); ++i) out[i] = Value(vector_, RefPtr<ValueRep>::share(out[i].rep()));
  return out;
}

// ---- random numbers, assertions, text ------------------------------------------------------------------------

// Other numbers in each row.
Outputs VectorCall::random() {
  const DType type = inputs_[0].dtype();
  if (has_rows(0)) return refused();
  if (!has_rows_from(1)) {
    std::vector<Value> in{op::cast(join({rows_list(), inner(0)}), type)};
    for (size_t i = 1; i < inputs_.size(); ++i) in.push_back(inner(i));
    return one(apply1(op_, in, std::move(attrs_)));
  }
  // Parameters that differ by row: their shape stands behind the one that is asked for.
  if (inputs_.size() != 2 || !shape(0).fully_known()) return refused();
  Value v = apply1(op_, {inner(0), inner(1)}, std::move(attrs_));
  if (!v.valid() || !v.shape().has_rank()) return refused();
  return one(to_front(v, int(shape(0).dim(0))));
}

Outputs VectorCall::assertion() {
  std::vector<Value> in;
  for (size_t i = 0; i < inputs_.size(); ++i) in.push_back(inner(i));
  if (has_rows(0)) in[0] = op::reduce("All", op::reshape(in[0], list({-1})), scalar(0));
  return apply(op_, in, std::move(attrs_));
}

// The rows together, once: what is printed is for people.
Outputs VectorCall::formatted() {
  std::vector<Value> in;
  for (size_t i = 0; i < inputs_.size(); ++i) in.push_back(inner(i));
  return same(apply1(op_, in, std::move(attrs_)));
}

// ---- lists: one list, whose elements have rows ---------------------------------------------------------------

Value VectorCall::element_shape(size_t i) const {
  if (rank(i) == 0) return op::cast(inner(i), DType::kInt32);  // -1: not known
  return join({rows_list(), inner(i)});
}

Value VectorCall::rowed_list(size_t i) {
  if (has_rows(i)) return inner(i);
  AttrMap stack, make;
  stack["element_dtype"] = attrs_["element_dtype"];
  Value elements = apply1("TensorListStack", {inner(i), scalar(-1)}, std::move(stack));
  Value sizes = op::shape_of(elements);
  Value rest = op::slice(sizes, list({1}), list({-1}));
  Value spread = op::reshape(elements, join({op::slice(sizes, list({0}), list({1})), list({1}), rest}));
  spread = base_.one("BroadcastTo", {spread, join({op::slice(sizes, list({0}), list({1})), rows_list(), rest})});
  return apply1("TensorListFromTensor", {spread, join({rows_list(), rest})});
}

Outputs VectorCall::list_reserve() {
  if (has_rows_from(0) || rank(0) < 0) return refused();
  attrs_.erase("shape_type");
  return one(apply1(op_, {element_shape(0), inner(1)}, std::move(attrs_)));
}
Outputs VectorCall::list_from_tensor() {
  if (has_rows(1) || rank(0) < 1 || rank(1) < 0) return refused();
  attrs_.erase("shape_type");
  std::vector<int64_t> perm{1, 0};
  for (int i = 1; i < rank(0); ++i) perm.push_back(i + 1);
  return one(apply1(op_, {op::transpose(inner(0), list(perm)), element_shape(1)}, std::move(attrs_)));
}
Outputs VectorCall::list_stack() {
  if (has_rows(1) || rank(1) < 0) return refused();
  Value v = apply1(op_, {inner(0), element_shape(1)}, std::move(attrs_));
  if (!v.valid()) return refused();
  if (v.shape().has_rank()) return one(to_front(v, 1));
  Value order = base_.one("Range", {scalar(2), op::rank_of(v), scalar(1)});
  return one(op::transpose(v, join({list({1, 0}), order})));
}
Outputs VectorCall::list_get() {
  if (has_rows_from(1) || rank(2) < 0) return refused();
  attrs_.erase("Tshape");
  return one(apply1(op_, {inner(0), inner(1), element_shape(2)}, std::move(attrs_)));
}
Outputs VectorCall::list_set() {
  if (has_rows(1)) return refused();
  return one(apply1(op_, {rowed_list(0), inner(1), with_rows(2)}, std::move(attrs_)));
}
Outputs VectorCall::list_push() { return one(apply1(op_, {rowed_list(0), with_rows(1)}, std::move(attrs_))); }
Outputs VectorCall::list_pop() {
  if (has_rows(1) || rank(1) < 0) return refused();
  return all(apply(op_, {inner(0), element_shape(1)}, std::move(attrs_)));
}
Outputs VectorCall::list_length() { return same(apply1(op_, {inner(0)}, std::move(attrs_))); }

}  // namespace weft::autodiff
