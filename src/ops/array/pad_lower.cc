// Borders put around a tensor.
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

// The paddings in front of and behind each dimension; the tensor is input 0, they are input 1.
bool read_paddings(LowerContext& l, Dims& low, Dims& high) {
  const Value x = l.x();
  const auto pads = l.sizes(1);
  if (!x || !pads) return false;
  if (l.rank(1) != 2 || !l.type(1).dims[1].is(2))
    return l.b.fail(invalid_argument("paddings must be a matrix with 2 columns: ", shape_text(l.b, l.type(1).dims))), false;
  if (int(pads->size()) != 2 * x->rank())
    return l.b.fail(invalid_argument("The first dimension of paddings must be the rank of inputs", shape_text(l.b, l.type(1).dims), " ",
                                     shape_text(l.b, x->type.dims))),
           false;
  for (size_t i = 0; i < pads->size(); i += 2) {
    const Dim &a = (*pads)[i], &z = (*pads)[i + 1];
    const std::string text = cat("Paddings must be non-negative: ", size_text(l.b, a), " ", size_text(l.b, z));
    require_nonnegative(l, a, text);
    require_nonnegative(l, z, text);
    low.push_back(a);
    high.push_back(z);
  }
  return l.ok();
}

LoweredList pad(LowerContext& l) {
  Dims low, high;
  if (!read_paddings(l, low, high)) return {};
  const Value value = l.num_inputs() > 2 ? as_scalar(l.b, l.x(2)) : l.b.scalar(l.type().dtype, 0);
  return {l.b.pad(l.x(), value, std::move(low), std::move(high))};
}

bool reflects(const LowerContext& l) { return l.attr<std::string>("mode") == "REFLECT"; }

// The border must not be longer than what it mirrors.
void check_border(LowerContext& l, const Dim& size, const Dim& before, const Dim& after) {
  const int64_t edge = reflects(l) ? 1 : 0;
  const std::string text = edge ? cat("paddings must be less than the dimension size: ", size_text(l.b, before), ", ", size_text(l.b, after),
                                      " not less than ", size_text(l.b, size))
                                : cat("paddings must be no greater than the dimension size: ", size_text(l.b, before), ", ", size_text(l.b, after),
                                      " greater than ", size_text(l.b, size));
  for (const Dim* d : {&before, &after}) {
    if (!d->is(0)) require_nonnegative(l, size - *d - Dim(edge), text);
  }
}

LoweredList mirror_pad(LowerContext& l) {
  Dims low, high;
  if (!read_paddings(l, low, high)) return {};
  Value x = l.x();
  const Dim edge(reflects(l) ? 1 : 0);  // a reflection leaves the edge itself out
  for (int i = 0; x && i < x->rank(); ++i) {
    const Dim n = x->dim(i), &before = low[size_t(i)], &after = high[size_t(i)];
    check_border(l, n, before, after);
    std::vector<Value> parts;
    if (!before.is(0)) parts.push_back(l.b.reverse(l.b.slice_axis(x, i, edge, before), {i}));
    parts.push_back(x);
    if (!after.is(0)) parts.push_back(l.b.reverse(l.b.slice_axis(x, i, n - after - edge, after), {i}));
    x = l.b.concat(std::move(parts), i);
  }
  return {x};
}

LoweredList mirror_pad_grad(LowerContext& l) {
  Dims low, high;
  if (!read_paddings(l, low, high)) return {};
  Value x = l.x();
  const Dim edge(reflects(l) ? 1 : 0);
  const Value zero = l.b.scalar(x->type.dtype, 0);
  for (int i = x->rank(); x && i-- > 0;) {
    const Dim &before = low[size_t(i)], &after = high[size_t(i)];
    const Dim n = x->dim(i) - before - after;
    check_border(l, n, before, after);
    const Value whole = x;
    x = l.b.slice_axis(whole, i, before, n);
    auto fold = [&](const Dim& from, const Dim& size, const Dim& to) {  // what the border mirrors gets its part
      if (!x || size.is(0)) return;
      Dims a(size_t(x->rank()), Dim(0)), z = a;
      a[size_t(i)] = to;
      z[size_t(i)] = n - to - size;
      x = l.b.add(x, l.b.pad(l.b.reverse(l.b.slice_axis(whole, i, from, size), {i}), zero, std::move(a), std::move(z)));
    };
    fold(Dim(0), before, edge);
    fold(before + n, after, n - after - edge);
  }
  return {x};
}

}  // namespace

void lower_pad(Registry& r) {
  r.lower("MirrorPad", mirror_pad);
  r.lower("MirrorPadGrad", mirror_pad_grad);
  r.lower("Pad", pad);
  r.lower("PadV2", pad);
}

}  // namespace weft_engine::ops
