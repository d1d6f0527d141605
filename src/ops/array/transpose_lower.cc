// Elements rearranged or repeated.
#include <algorithm>

#include "ops/lower_util.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

namespace {

using ir::Binary;
using ir::Compare;

LoweredList transpose(LowerContext& l) {
  const Value x = l.x();
  const auto perm = l.ints(1);
  if (!x || !perm) return {};
  const int rank = x->rank();
  if (int(perm->size()) != rank)
    return l.fail(invalid_argument("transpose expects a vector of size ", rank, ". But input(1) is a vector of size ", perm->size()));
  std::vector<int> axes;
  std::vector<bool> seen(size_t(rank), false);
  for (int64_t p : *perm) {
    const int64_t d = p < 0 ? p + rank : p;
    if (d < 0 || d >= rank) return l.fail(invalid_argument(d, " is out of range [0 .. ", rank, ")"));
    seen[size_t(d)] = true;
    axes.push_back(int(d));
  }
  for (int i = 0; i < rank; ++i) {
    if (!seen[size_t(i)]) return l.fail(invalid_argument(i, " is missing from {", join(axes), "}."));
  }
  return {l.b.transpose(x, std::move(axes))};
}

LoweredList invert_permutation(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  if (x->rank() != 1) return l.fail(invalid_argument("invert_permutation expects a 1D vector."));
  if (l.b.known(x)) {
    const auto perm = l.ints(0);
    if (!perm) return {};
    const int64_t n = int64_t(perm->size());
    std::vector<int64_t> back(perm->size(), -1);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t d = (*perm)[size_t(i)];
      if (d < 0 || d >= n) return l.fail(invalid_argument(d, " is not between 0 and ", n));
      if (back[size_t(d)] >= 0) return l.fail(invalid_argument(d, " is duplicated in the input."));
      back[size_t(d)] = i;
    }
    return {l.b.ints(back, x->type.dtype)};
  }
  const Value none = l.b.fill(x->type.dtype, x->type.dims, -1);
  const Value back = l.b.scatter(none, x, l.b.iota(x->type.dtype, x->type.dims, 0), ir::Reduce::kSet,
                                 cat("an element is not between 0 and ", size_text(l.b, x->dim(0))));
  l.b.check(l.b.reduce(ir::Reduce::kAnd, l.b.compare(Compare::kGe, back, l.b.scalar_int(x->type.dtype, 0)), {0}),
            "an element is duplicated in the input.");
  return {back};
}

LoweredList reverse_v2(LowerContext& l) {
  const Value x = l.x();
  const auto given = l.ints(1);
  if (!x || !given) return {};
  if (x->rank() == 0) return {x};
  std::vector<int> axes;
  for (size_t i = 0; i < given->size(); ++i) {
    const int64_t a = (*given)[i], axis = a < 0 ? a + x->rank() : a;
    if (axis < 0 || axis >= x->rank()) return l.fail(invalid_argument("'axis'[", i, "] = ", a, " is out of valid range [", 0, ", ", x->rank() - 1));
    if (std::find(axes.begin(), axes.end(), int(axis)) != axes.end()) return l.fail(invalid_argument("axis ", axis, " specified more than once."));
    axes.push_back(int(axis));
  }
  std::sort(axes.begin(), axes.end());
  return {l.b.reverse(x, std::move(axes))};
}

LoweredList reverse(LowerContext& l) {
  const Value x = l.x();
  const Tensor* dims = l.constant(1);
  if (!x) return {};
  if (!dims) return l.unsupported("dims that are not constant");
  if (dims->num_elements() != x->rank())
    return l.fail(invalid_argument("'dims' must have the same number of values as 'input' has dimensions. 'input' has ", x->rank(), "'dims' has ",
                                   dims->num_elements(), " values"));
  std::vector<int> axes;
  for (int i = 0; i < x->rank(); ++i) {
    if (dims->data<uint8_t>()[i]) axes.push_back(i);
  }
  return {l.b.reverse(x, std::move(axes))};
}

// With the batch in front and the sequence behind it, each row is gathered by its own numbers.
LoweredList reverse_sequence(LowerContext& l) {
  const Value x = l.x(), lengths = l.x(1);
  if (!x || !lengths) return {};
  const int64_t batch = l.attr<int64_t>("batch_dim"), seq = l.attr<int64_t>("seq_dim");
  const int rank = x->rank();
  if (batch < 0 || seq < 0 || batch >= rank || seq >= rank || batch == seq || lengths->rank() != 1)
    return l.fail(
        invalid_argument("ReverseSequence '", l.node.name(), "' with batch_dim ", batch, " and seq_dim ", seq, " of a tensor of rank ", rank));
  std::vector<int> order{int(batch), int(seq)}, back(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    if (i != batch && i != seq) order.push_back(i);
  }
  for (int i = 0; i < rank; ++i) back[size_t(order[size_t(i)])] = i;
  const Dim &n = x->dim(int(batch)), &steps = x->dim(int(seq));
  l.b.same(n, lengths->dim(0));
  const DType t = lengths->type.dtype;
  const Value length = l.b.expand_dims(lengths, 1), step = l.b.iota(t, {n, steps}, 1);
  l.b.check(l.b.reduce(ir::Reduce::kAnd, inside(l.b, lengths, steps + Dim(1)), {0}), cat("seq_lens must be between 0 and ", size_text(l.b, steps)));
  const Value at = l.b.select(l.b.compare(Compare::kLt, step, length), l.b.sub(l.b.sub(length, 1), step), step);
  return {l.b.transpose(l.b.gather(l.b.transpose(x, order), at, 1, 1, ""), back)};
}

LoweredList roll(LowerContext& l) {
  Value x = l.x();
  const Value shifts = l.x(1);
  const auto axes = l.ints(2);
  if (!x || !shifts || !axes) return {};
  if (x->rank() < 1) return l.fail(invalid_argument("input must be 1-D or higher"));
  for (size_t i = 0; x && i < axes->size(); ++i) {
    const int64_t given = (*axes)[i], axis = given < 0 ? given + x->rank() : given;
    if (axis < 0 || axis >= x->rank()) return l.fail(invalid_argument("axis ", axis, " is out of range"));
    const Value shift = element_of(l.b, shifts, int64_t(i));
    const Dim n = x->dim(int(axis));
    if (n.is(0)) continue;
    if (shift && shift->known && (n.is_const() || n == (*shift->known)[0])) {
      const Dim by = floor_mod((*shift->known)[0], n);
      if (!by.is(0)) x = l.b.concat({l.b.slice_axis(x, int(axis), n - by, by), l.b.slice_axis(x, int(axis), Dim(0), n - by)}, int(axis));
    } else {
      const Value size = l.b.max(l.b.sizes({n}, DType::kInt64, true), 1);
      x = l.b.gather(x, l.b.binary(Binary::kFloorMod, l.b.sub(l.b.iota(DType::kInt64, {n}, 0), shift), size), int(axis), 0, "");
    }
  }
  return {x};
}

// Each dimension is seen as (copies, length).
LoweredList tile(LowerContext& l) {
  const Value x = l.x();
  const auto multiples = l.sizes(1);
  if (!x || !multiples) return {};
  const int rank = x->rank();
  if (int(multiples->size()) != rank)
    return l.fail(invalid_argument("Expected multiples argument to be a vector of length ", rank, " but got length ", multiples->size()));
  Dims wide, dims;
  std::vector<int> axes;
  for (int i = 0; i < rank; ++i) {
    const Dim &m = (*multiples)[size_t(i)], &n = x->dim(i);
    if (m.is_const() && m.value() < 0) return l.fail(invalid_argument("Expected multiples[", i, "] >= 0, but got ", m.value()));
    if (!m.is(1) && !n.is(1)) wide.push_back(m);
    axes.push_back(int(wide.size()));
    wide.push_back(n.is(1) ? m : n);
    dims.push_back(m * n);
  }
  return {l.b.reshape(l.b.broadcast_in_dim(x, std::move(wide), std::move(axes)), std::move(dims))};
}

LoweredList broadcast_to(LowerContext& l) {
  const Value x = l.x();
  const auto dims = l.sizes(1);
  if (!x || !dims) return {};
  const int grow = int(dims->size()) - x->rank();
  if (grow < 0) return l.fail(invalid_argument("Rank of input (", x->rank(), ") must be no greater than rank of output shape (", dims->size(), ")."));
  for (int i = 0; i < x->rank(); ++i) {
    const Dim &a = x->dim(i), &z = (*dims)[size_t(i + grow)];
    if (a.is_const() && z.is_const() && !a.is(1) && !(a == z))
      return l.fail(invalid_argument("Incompatible shapes: ", shape_text(l.b, x->type.dims), " vs. ", shape_text(l.b, *dims)));
  }
  return {l.b.broadcast_to(x, *dims)};
}

LoweredList broadcast_args(LowerContext& l) {
  const auto a = l.sizes(0), z = l.sizes(1);
  if (!a || !z) return {};
  Dims dims = l.b.broadcast_dims(*a, *z);
  return {l.b.sizes(std::move(dims), l.out_type())};
}

// Equal sizes are not summed; a 1 beside an open size is, which is right also where that turns out to be 1.
LoweredList broadcast_gradient_args(LowerContext& l) {
  const auto a = l.sizes(0), z = l.sizes(1);
  if (!a || !z) return {};
  std::vector<int64_t> sum_a, sum_z;
  const size_t rank = std::max(a->size(), z->size());
  auto at = [&](const Dims& s, size_t k) { return k + s.size() < rank ? Dim(1) : s[k + s.size() - rank]; };
  for (size_t k = 0; k < rank && !(*a == *z); ++k) {
    const Dim x = at(*a, k), y = at(*z, k);
    if (x.is_const() && y.is_const() && !(x == y) && !x.is(1) && !y.is(1))
      return l.fail(invalid_argument("Incompatible shapes: ", shape_text(l.b, *a), " vs. ", shape_text(l.b, *z)));
    if (!x.is(1) && !y.is(1)) l.b.same(x, y);
    if (x.is(1)) sum_a.push_back(int64_t(k));
    if (y.is(1)) sum_z.push_back(int64_t(k));
  }
  return {l.b.ints(sum_a, l.out_type(0)), l.b.ints(sum_z, l.out_type(1))};
}

LoweredList conjugate_transpose(LowerContext& l) {
  const LoweredList moved = transpose(l);
  return moved.empty() ? moved : LoweredList{conjugate(l.b, moved[0].tensor())};
}

}  // namespace

void lower_transpose(Registry& r) {
  r.lower("BroadcastArgs", broadcast_args);
  r.lower("BroadcastGradientArgs", broadcast_gradient_args);
  r.lower("BroadcastTo", broadcast_to);
  r.lower("ConjugateTranspose", conjugate_transpose);
  r.lower("InvertPermutation", invert_permutation);
  r.lower("Reverse", reverse);
  r.lower("ReverseSequence", reverse_sequence);
  r.lower("ReverseV2", reverse_v2);
  r.lower("Roll", roll);
  r.lower("Tile", tile);
  r.lower("Transpose", transpose);
}

}  // namespace weft_engine::ops
