// Parts cut out of a tensor. Sizes may be open; single indices, rows and the starts of Slice may depend on data.
#include <bit>

#include "op/strided_slice.h"
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

using ir::Binary;
using ir::Compare;

// v = base + offset, as far as one can see.
std::pair<Value, Dim> apart(Value v) {
  Dim offset(0);
  while (v) {
    if (v->op == ir::Op::kConvert || v->op == ir::Op::kReshape) {
      v = v->operands[0];
      continue;
    }
    if (v->op != ir::Op::kBinary || (v->binary != Binary::kAdd && v->binary != Binary::kSub)) break;
    const Value a = v->operands[0], c = v->operands[1];
    if (c->known && c->known->size() == 1) {
      offset = v->binary == Binary::kAdd ? offset + (*c->known)[0] : offset - (*c->known)[0];
      v = a;
    } else if (v->binary == Binary::kAdd && a->known && a->known->size() == 1) {
      offset = offset + (*a->known)[0];
      v = c;
    } else {
      break;
    }
  }
  return {v, offset};
}

// One entry of the slice as the graph gives it.
struct Entry {
  Value begin = nullptr, end = nullptr;  // int64 scalars; null: masked
  int64_t stride = 1;
  bool shrink = false;
};

const Dim* known(Value v) { return v && v->known ? v->known->data() : nullptr; }

// From the front. Of what may be either, the call finds out that it is not negative.
Dim from_front(LowerContext& l, const Dim& at, const Dim& size) {
  const bool negative = at.is_const() ? at.value() < 0 : (Dim(0) - at).nonnegative();
  if (negative) return size + at;
  require_nonnegative(l, at, cat("'", l.node.name(), "' counts from the end where it was compiled to count from the front"));
  return at;
}

std::string index_text(int dim) { return cat("slice index of dimension ", dim, " out of bounds."); }

SlicedDim single(LowerContext& l, const Entry& e, const Dim& size, int dim) {
  SlicedDim s;
  s.count = Dim(1);
  if (const Dim* at = known(e.begin)) {
    s.start = from_front(l, *at, size);
    const std::string text = at->is_const() ? cat("slice index ", s.start.to_string(), " of dimension ", dim, " out of bounds.") : index_text(dim);
    require_nonnegative(l, s.start, text);
    require_nonnegative(l, size - Dim(1) - s.start, text);
    return s;
  }
  const Value zero = l.b.scalar_int(DType::kInt64, 0), n = l.b.sizes({size}, DType::kInt64, true);
  s.moving = l.b.select(l.b.compare(Compare::kLt, e.begin, zero), l.b.add(e.begin, n), e.begin);
  l.b.check(inside(l.b, s.moving, size), index_text(dim));
  return s;
}

// begin and end known.
SlicedDim part(LowerContext& l, const Entry& e, const Dim& n) {
  SlicedDim s;
  const Dim *b = known(e.begin), *z = known(e.end);
  if (e.stride > 0) {
    const Dim begin = b ? from_front(l, *b, n) : Dim(0), given = z ? from_front(l, *z, n) : n;
    const Dim end = min(given, n);
    s.step = e.stride;
    s.count = max(ceil_div(min(end, end - begin), Dim(e.stride)), Dim(0));
    s.start = s.count.is(0) ? Dim(0) : max(begin, Dim(0));
    return s;
  }
  s.reversed = true;
  s.step = -e.stride;
  const Dim last = n - Dim(1);
  const Dim begin = b ? max(min(from_front(l, *b, n), last), Dim(-1)) : last;
  const Dim end = z ? max(min(from_front(l, *z, n), last), Dim(-1)) : Dim(-1);
  s.count = max(ceil_div(begin - end, Dim(s.step)), Dim(0));
  s.start = s.count.is(0) ? Dim(0) : last - begin;
  return s;
}

// One row whose place depends on data, x[i:i + 1]. Longer parts are cut short at the end (x[i:i + 32] in a loop over batches), so that
// their shape depends on data.
std::optional<SlicedDim> moving_part(LowerContext& l, const Entry& e, const Dim& n, int first) {
  const auto [from, low] = apart(e.begin);
  const auto [to, high] = apart(e.end);
  if (!from || from != to || e.stride != 1 || !(high - low).is(1)) {
    l.sizes(known(e.begin) || !e.begin ? first + 1 : first);  // says what is wrong
    l.b.fail(unimplemented("the shape that ", l.node.op(), " '", l.node.name(), "' makes depends on data"));
    return std::nullopt;
  }
  SlicedDim s;
  s.count = Dim(1);
  const Value zero = l.b.scalar_int(DType::kInt64, 0), size = l.b.sizes({n}, DType::kInt64, true);
  s.moving = l.b.select(l.b.compare(Compare::kLt, e.begin, zero), l.b.add(e.begin, size), e.begin);
  // x[-1:0] is empty.
  const Value full = l.b.compare(Compare::kNe, e.begin, l.b.scalar_int(DType::kInt64, -1));
  l.b.check(l.b.binary(Binary::kAnd, full, inside(l.b, s.moving, n)), cat("the row that '", l.node.name(), "' takes is outside its input"));
  return s;
}

}  // namespace

std::optional<SlicedShape> read_strided_slice(LowerContext& l, const Dims& dims, int first) {
  const Value begin = l.x(first), end = l.x(first + 1);
  const auto strides = l.ints(first + 2);
  if (!begin || !end || !strides) return std::nullopt;
  const SliceMasks masks = SliceMasks::of(l.node);
  const int given = int(strides->size()), rank = int(dims.size());
  auto fail = [&](Status s) {
    l.b.fail(std::move(s));
    return std::nullopt;
  };
  if (begin->rank() != 1 || end->rank() != 1 || !begin->dim(0).is(given) || !end->dim(0).is(given) || given >= 32)
    return fail(invalid_argument("Expected begin, end, and strides to be 1D equal size tensors, but got shapes ", shape_text(l.b, begin->type.dims),
                                 ", ", shape_text(l.b, end->type.dims), ", and [", given, "] instead."));
  if (std::popcount(uint64_t(masks.ellipsis)) > 1) return fail(invalid_argument("Multiple ellipses in slice spec not allowed"));
  auto bit = [](int64_t mask, int i) { return (mask >> i) & 1; };
  const int ellipsis = masks.ellipsis ? std::countr_zero(uint64_t(masks.ellipsis)) : given;
  int behind = 0;  // entries behind the ellipsis that take a dimension
  for (int i = ellipsis + 1; i < given; ++i) behind += !bit(masks.new_axis, i);

  SlicedShape out;
  auto add = [&](const Entry& e) {
    const int d = int(out.dims.size());
    const Dim& n = dims[size_t(d)];
    if (e.stride == 0) return l.b.fail(invalid_argument("strides[", d, "] must be non-zero")), false;
    if (e.shrink && e.stride < 0) return l.b.fail(invalid_argument("only stride 1 allowed on non-range indexing.")), false;
    SlicedDim s;
    if (e.shrink) {
      s = single(l, e, n, d);
    } else if ((e.begin && !known(e.begin)) || (e.end && !known(e.end))) {
      const auto p = moving_part(l, e, n, first);
      if (!p) return false;
      s = *p;
    } else {
      s = part(l, e, n);
    }
    out.moves |= s.moving != nullptr;
    out.cut.push_back(s.count);
    if (!e.shrink) {
      out.shape.push_back(s.count);
      out.axes.push_back(d);
    }
    out.dims.push_back(std::move(s));
    return l.ok();
  };
  for (int i = 0; i <= given; ++i) {
    if (i == ellipsis) {
      while (int(out.dims.size()) < rank - behind) {
        if (!add({})) return std::nullopt;
      }
    } else if (i < given && bit(masks.new_axis, i)) {
      out.shape.emplace_back(1);
      out.axes.push_back(-1);
    } else if (i < given) {
      if (int(out.dims.size()) == rank)
        return fail(rank == 0 ? invalid_argument("Attempting to slice scalar input.")
                              : invalid_argument("Index out of range using input dim ", rank, "; input has only ", rank, " dims"));
      Entry e{nullptr, nullptr, (*strides)[size_t(i)], bit(masks.shrink_axis, i) != 0};
      if (e.shrink || !bit(masks.begin, i)) e.begin = element_of(l.b, begin, i);
      if (!e.shrink && !bit(masks.end, i)) e.end = element_of(l.b, end, i);
      if (!add(e)) return std::nullopt;
    }
  }
  return out;
}

namespace {

std::vector<Value> starts_of(LowerContext& l, const SlicedShape& s) {
  std::vector<Value> starts;
  for (const SlicedDim& d : s.dims) starts.push_back(d.moving ? d.moving : l.b.sizes({d.start}, DType::kInt64, true));
  return starts;
}

std::vector<int> reversed_axes(const SlicedShape& s) {
  std::vector<int> axes;
  for (size_t i = 0; i < s.dims.size(); ++i) {
    if (s.dims[i].reversed) axes.push_back(int(i));
  }
  return axes;
}

// Whether each dimension is taken one after the other from the front.
bool plain(const SlicedShape& s) {
  for (const SlicedDim& d : s.dims) {
    if (d.reversed || d.step != 1) return false;
  }
  return true;
}

// A moving start with steps in another dimension: first the one, then the other.
Value cut_out(LowerContext& l, Value x, const SlicedShape& s) {
  x = l.b.reverse(x, reversed_axes(s));
  if (!x) return nullptr;
  Dims starts, sizes;
  std::vector<int64_t> steps;
  for (size_t i = 0; i < s.dims.size(); ++i) {
    const SlicedDim& d = s.dims[i];
    starts.push_back(d.moving ? Dim(0) : d.start);
    sizes.push_back(d.moving ? x->dim(int(i)) : d.count);
    steps.push_back(d.step);
  }
  x = l.b.slice(x, std::move(starts), std::move(sizes), std::move(steps));
  if (!s.moves) return x;
  std::vector<Value> at;
  for (const SlicedDim& d : s.dims) at.push_back(d.moving ? d.moving : l.b.scalar_int(DType::kInt64, 0));
  return l.b.dynamic_slice(x, std::move(at), s.cut);
}

// y (of the slice's counts) at its places in a tensor of `dims`, `value` everywhere else.
Value put_back(LowerContext& l, Value y, const SlicedShape& s, const Dims& dims, Value value) {
  Dims low, high;
  std::vector<int64_t> interior;
  for (size_t i = 0; i < s.dims.size(); ++i) {
    const SlicedDim& d = s.dims[i];
    if (d.count.is(0)) return l.b.broadcast_to(value, dims);
    const Dim spread = d.step == 1 ? d.count : max(d.count + (d.count - Dim(1)) * Dim(d.step - 1), Dim(0));
    low.push_back(d.start);
    high.push_back(dims[i] - d.start - spread);
    interior.push_back(d.step - 1);
  }
  return l.b.reverse(l.b.pad(y, value, std::move(low), std::move(high), std::move(interior)), reversed_axes(s));
}

LoweredList strided_slice(LowerContext& l) {
  const Value x = l.x();
  if (!x) return {};
  const auto s = read_strided_slice(l, x->type.dims, 1);
  return {s ? l.b.reshape(cut_out(l, x, *s), s->shape) : nullptr};
}

LoweredList strided_slice_grad(LowerContext& l) {
  const auto dims = l.sizes(0);
  const Value dy = l.x(4);
  if (!dims || !dy) return {};
  const auto s = read_strided_slice(l, *dims, 1);
  if (!s) return {};
  const Value y = l.b.reshape(dy, s->cut), zero = l.b.scalar(dy->type.dtype, 0);
  if (!s->moves) return {put_back(l, y, *s, *dims, zero)};
  if (!plain(*s)) return l.unsupported("strides together with indices that depend on data");
  return {l.b.dynamic_update(l.b.broadcast_to(zero, *dims), y, starts_of(l, *s))};
}

LoweredList strided_slice_update(LowerContext& l) {
  const Value x = l.x(), value = l.x(4);
  if (!x || !value) return {};
  const auto s = read_strided_slice(l, x->type.dims, 1);
  return {s ? strided_update(l, x, *s, value) : nullptr};
}

LoweredList slice(LowerContext& l) {
  const Value x = l.x(), begin = l.x(1);
  auto sizes = l.sizes(2);
  if (!x || !begin || !sizes) return {};
  const int rank = x->rank();
  if (begin->rank() != 1 || !begin->dim(0).is(rank) || int(sizes->size()) != rank)
    return l.fail(invalid_argument("Expected begin and size arguments to be 1-D tensors of size ", rank, ", but got shapes ",
                                   shape_text(l.b, begin->type.dims), " and [", sizes->size(), "] instead."));
  bool moves = false;
  Dims starts;
  std::vector<Value> at;
  for (int i = 0; i < rank; ++i) {
    const Dim& n = x->dim(i);
    Dim& size = (*sizes)[size_t(i)];
    at.push_back(element_of(l.b, begin, i));
    if (!at.back()) return {};
    if (const Dim* b = known(at.back())) {
      require_nonnegative(l, *b, cat("Expected begin[", i, "] in [0, ", size_text(l.b, n), "], but got ", size_text(l.b, *b)));
      if (size.is(-1)) {
        size = n - *b;
        require_nonnegative(l, size, cat("Expected begin[", i, "] in [0, ", size_text(l.b, n), "], but got ", size_text(l.b, *b)));
      } else {
        const std::string text = cat("Expected size[", i, "] in [0, ", size_text(l.b, n - *b), "], but got ", size_text(l.b, size));
        require_nonnegative(l, size, text);
        require_nonnegative(l, n - *b - size, text);
      }
      starts.push_back(*b);
    } else {
      if (size.is(-1)) {
        l.sizes(1);  // says what is wrong
        return {};
      }
      moves = true;
      l.b.check(inside(l.b, at.back(), n - size + Dim(1)), cat("Expected begin[", i, "] in [0, ", size_text(l.b, n - size), "]"));
    }
  }
  return {moves ? l.b.dynamic_slice(x, std::move(at), std::move(*sizes)) : l.b.slice(x, std::move(starts), std::move(*sizes))};
}

}  // namespace

Value strided_update(LowerContext& l, Value x, const SlicedShape& s, Value value) {
  if (!x || !value) return nullptr;
  // What is before the slice's dimensions in the value's shape is 1.
  Dims given = value->type.dims;
  while (given.size() > s.shape.size() && given[0].is(1)) given.erase(given.begin());
  const Value y = l.b.reshape(l.b.broadcast_to(l.b.reshape(value, given), s.shape), s.cut);
  for (const Dim& d : s.cut) {
    if (d.is(0)) return x;
  }
  if (plain(s)) return l.b.dynamic_update(x, y, starts_of(l, s));
  if (s.moves)
    return l.b.fail(
        unimplemented("the compiler cannot lower strides together with indices that depend on data of ", l.node.op(), " '", l.node.name(), "'"));
  const Value hit = l.b.fill(DType::kBool, s.cut, 1);
  return l.b.select(put_back(l, hit, s, x->type.dims, l.b.scalar(DType::kBool, 0)), put_back(l, y, s, x->type.dims, l.b.scalar(x->type.dtype, 0)), x);
}

void lower_slice(Registry& r) {
  r.lower("Slice", slice);
  r.lower("StridedSlice", strided_slice);
  r.lower("StridedSliceGrad", strided_slice_grad);
  r.lower("TensorStridedSliceUpdate", strided_slice_update);
}

}  // namespace weft_engine::ops
