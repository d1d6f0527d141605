// The gradient of averages over windows whose borders are data.
#include "ops/lower_util.h"

namespace weft_engine::ops {
namespace {

using B = ir::Binary;
using C = ir::Compare;

// Which of `size` places each window has, as numbers of type t [windows, size], and how many, at least 1 [windows].
struct Windows {
  Value holds = nullptr, count = nullptr;
};
Windows windows(LowerContext& l, Value sequence, const char* name, const Dim& n, int64_t size, bool overlapping) {
  ir::Builder& b = l.b;
  if (!sequence) return {};
  if (sequence->rank() != 1 || !sequence->dim(0).is_const() || !n.is_const() || sequence->dim(0).value() <= n.value()) {
    l.unsupported("such a sequence");  // the kernel says what is wrong
    return {};
  }
  b.check(all_of(b, b.compare(C::kGe, sequence, b.scalar_int(DType::kInt64, 0))), cat(name, " sequence tensor values must not be negative"));
  const Value most = b.scalar_int(DType::kInt64, size), begin = b.slice_axis(sequence, 0, 0, n);
  Value end = b.min(b.slice_axis(sequence, 0, 1, n), most);
  if (overlapping) end = b.min(b.add(end, b.scalar_int(DType::kInt64, 1)), most);
  const Dims dims{n, size};
  const auto spread = [&](Value v) { return b.broadcast_in_dim(v, dims, {0}); };
  const Value place = b.iota(DType::kInt64, dims, 1);
  const Value in = b.binary(B::kAnd, b.compare(C::kGe, place, spread(begin)), b.compare(C::kLt, place, spread(end)));
  return {b.convert(in, DType::kDouble), b.convert(b.max(b.sub(end, begin), b.scalar_int(DType::kInt64, 1)), DType::kDouble)};
}

LoweredList fractional_avg_pool_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  const auto size = l.ints(0);
  const Value dy = l.x(1), rows = l.x(2), columns = l.x(3);
  if (!size || !dy || !rows || !columns) return {};
  if (size->size() != 4 || dy->rank() != 4 || (dy->type.dtype != DType::kFloat && dy->type.dtype != DType::kDouble))
    return l.unsupported("such a call");
  for (int64_t n : *size) {
    if (n < 1) return l.unsupported("such a size");
  }
  b.same(dy->dim(0), (*size)[0]);
  b.same(dy->dim(3), (*size)[3]);
  if (!l.ok()) return {};
  const bool overlapping = l.attr<bool>("overlapping");
  const Windows h = windows(l, rows, "Row", dy->dim(1), (*size)[1], overlapping),
                w = windows(l, columns, "Column", dy->dim(2), (*size)[2], overlapping);
  if (!h.holds || !w.holds) return {};
  const auto over = [&](Value v, int axis) { return b.broadcast_in_dim(v, dy->type.dims, {axis}); };
  Value x = b.div(b.convert(dy, DType::kDouble), b.mul(over(h.count, 1), over(w.count, 2)));
  // [batch, windows, places, ...], summed over the windows.
  const auto back = [&](Value v, int axis, Value holds) -> Value {
    Dims dims = v->type.dims;
    dims.insert(dims.begin() + axis + 1, holds->dim(1));
    std::vector<int> own;
    for (int d = 0; d < 5; ++d) {
      if (d != axis + 1) own.push_back(d);
    }
    return b.sum(b.mul(b.broadcast_in_dim(v, dims, own), b.broadcast_in_dim(holds, dims, {axis, axis + 1})), {axis});
  };
  x = back(x, 1, h.holds);
  if (x) x = back(x, 2, w.holds);
  return {b.convert(x, l.out_type())};
}

}  // namespace

void lower_pool_fractional(Registry& r) { r.lower("FractionalAvgPoolGrad", fractional_avg_pool_grad); }

}  // namespace weft_engine::ops
