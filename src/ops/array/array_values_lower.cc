// Tensors made from numbers.
#include <cmath>

#include "op/lower_list.h"
#include "ops/lower_util.h"

namespace weft_engine::ops {

namespace {

using ir::Compare;

std::optional<Dims> shape_input(LowerContext& l, int i) {
  auto dims = l.sizes(i);
  if (!dims) return dims;
  for (const Dim& d : *dims) {
    if (d.is_const() && d.value() < 0) l.b.fail(invalid_argument("Dimension ", d.value(), " must be >= 0"));
  }
  return dims;
}

LoweredList fill(LowerContext& l) {
  const Value v = l.x(1);
  auto dims = shape_input(l, 0);
  if (!v || !dims) return {};
  if (v->rank() != 0) return l.fail(invalid_argument("value must be a scalar, got shape ", shape_text(l.b, v->type.dims)));
  return {l.b.broadcast_to(v, std::move(*dims))};
}

LoweredList empty(LowerContext& l) {
  auto dims = shape_input(l, 0);
  return {dims ? l.b.fill(l.out_type(), std::move(*dims), 0) : nullptr};
}

template <int kValue>
LoweredList like(LowerContext& l) {
  if (l.input(0).kind() == Lowered::Kind::kList) {
    Lowered::List list = l.input(0).list();
    list.buffer = nullptr;
    list.same = Lowered::List::Same::kMixed;
    return {Lowered::list(lists::with_buffer(l.b, std::move(list)))};
  }
  const Value x = l.x();
  return {x ? l.b.fill(x->type.dtype, x->type.dims, kValue) : nullptr};
}

LoweredList linspace(LowerContext& l) {
  const Value start = as_scalar(l.b, l.x(0)), stop = as_scalar(l.b, l.x(1));
  const auto num = l.integer(2);
  if (!start || !stop || !num) return {};
  if (*num <= 0) return l.fail(invalid_argument("Requires num > 0: ", *num));
  if (*num == 1) return {l.b.reshape(start, {Dim(1)})};
  const DType t = start->type.dtype;
  const Value i = l.b.iota(DType::kInt64, {Dim(*num)}, 0);
  const Value step = l.b.div(l.b.sub(stop, start), double(*num - 1));
  const Value line = l.b.add(start, l.b.mul(l.b.convert(i, t), step));
  return {l.b.select(l.b.compare(Compare::kEq, i, l.b.scalar_int(DType::kInt64, *num - 1)), stop, line)};
}

// Added up step by step, roundings included, as the engine does.
template <class T>
LoweredList float_range(LowerContext& l) {
  const Tensor *start = l.constant(0), *limit = l.constant(1), *delta = l.constant(2);
  if (!start || !limit || !delta) return l.unsupported("a range of numbers that are not constant");
  const T a = start->data<T>()[0], z = limit->data<T>()[0], d = delta->data<T>()[0];
  if (d == 0) return l.fail(invalid_argument("Requires delta != 0: ", d));
  if (d > 0 && a > z) return l.fail(invalid_argument("Requires start <= limit when delta > 0: ", a, "/", z));
  if (!(d > 0) && !(a >= z)) return l.fail(invalid_argument("Requires start >= limit when delta < 0: ", a, "/", z));
  const double n = std::ceil(std::fabs(double(T((z - a) / d))));
  constexpr double kMost = 1 << 20;  // they become part of the code
  if (!(n <= kMost)) return l.unsupported("so long a range");
  std::vector<T> values(static_cast<size_t>(n));
  T v = a;
  for (T& x : values) {
    x = v;
    v += d;
  }
  return {l.b.constant(Tensor::vector(values))};
}

LoweredList range(LowerContext& l) {
  const DType t = l.out_type();
  if (t == DType::kFloat) return float_range<float>(l);
  if (t == DType::kDouble) return float_range<double>(l);
  if (t != DType::kInt32 && t != DType::kInt64) return l.unsupported(dtype_name(t));
  const auto start = l.sizes(0), limit = l.sizes(1);
  const auto delta = l.integer(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1) return {};
  const Dim &a = (*start)[0], &z = (*limit)[0];
  if (*delta == 0) return l.fail(invalid_argument("Requires delta != 0: 0"));
  const Dim distance = *delta > 0 ? z - a : a - z;
  if (distance.is_const() && distance.value() < 0)
    return l.fail(invalid_argument(*delta > 0 ? "Requires start <= limit when delta > 0: " : "Requires start >= limit when delta < 0: ",
                                   size_text(l.b, a), "/", size_text(l.b, z)));
  const Dim n = max(ceil_div(distance, Dim(std::abs(*delta))), Dim(0));
  Value v = l.b.iota(t, {n}, 0);
  if (*delta != 1) v = l.b.mul(v, l.b.scalar_int(t, *delta));
  if (!a.is(0)) v = l.b.add(v, l.b.sizes({a}, t, true));
  // Numbers that are few are a constant: axes, permutations.
  if (const auto* known = l.b.known(v)) {
    std::vector<int64_t> numbers;
    for (const Dim& d : *known) {
      if (d.is_const()) numbers.push_back(d.value());
    }
    if (numbers.size() == known->size()) return {l.b.ints(numbers, t)};
  }
  return {v};
}

LoweredList one_hot(LowerContext& l) {
  Value x = l.x(0);
  const auto depth = l.sizes(1);
  const Value on = l.x(2), off = l.x(3);
  if (!x || !depth || depth->size() != 1 || !on || !off) return {};
  const int rank = x->rank();
  const int64_t axis = l.attr<int64_t>("axis");
  if (axis < -1 || axis > rank) return l.fail(invalid_argument("Expected axis to be -1 or between [0, ", rank + 1, ").  But received: ", axis));
  if ((*depth)[0].is_const() && (*depth)[0].value() < 0) return l.fail(invalid_argument("depth must be non-negative, got: ", (*depth)[0].value()));
  x = as_index(l.b, x);
  const int at = axis < 0 ? rank : int(axis);
  Dims dims = x->type.dims;
  dims.insert(dims.begin() + at, (*depth)[0]);
  std::vector<int> axes = axes_from(0, rank);
  for (int& a : axes) a += a >= at;
  const Value place = l.b.iota(x->type.dtype, dims, at);
  return {l.b.select(l.b.compare(Compare::kEq, l.b.broadcast_in_dim(x, dims, axes), place), on, off)};
}

LoweredList unravel_index(LowerContext& l) {
  Value rest = l.x(0);
  const auto dims = l.ints(1);
  if (!rest || !dims) return {};
  const DType t = rest->type.dtype;
  int64_t total = 1;
  for (int64_t d : *dims) {
    if (d <= 0) return l.fail(invalid_argument("Input dims must be positive, got ", d));
    total *= d;
  }
  l.b.check(l.b.reduce(ir::Reduce::kAnd, l.b.compare(Compare::kLt, rest, l.b.scalar_int(t, total)), axes_from(0, rest->rank())),
            "index is out of bound as with dims");
  std::vector<Value> parts(dims->size());
  for (size_t k = dims->size(); k-- > 0;) {
    const Value d = l.b.scalar_int(t, (*dims)[k]);
    parts[k] = l.b.expand_dims(l.b.binary(ir::Binary::kMod, rest, d), 0);
    rest = l.b.binary(ir::Binary::kDiv, rest, d);
  }
  return {l.b.concat(std::move(parts), 0)};
}

}  // namespace

// Where has no rule: its shape depends on data.
void lower_array_values(Registry& r) {
  r.lower("Empty", empty);
  r.lower("Fill", fill);
  r.lower("LinSpace", linspace);
  r.lower("OneHot", one_hot);
  r.lower("OnesLike", like<1>);
  r.lower("Range", range);
  r.lower("UnravelIndex", unravel_index);
  r.lower("Where", shape_from_data);
  r.lower("ZerosLike", like<0>);
}

}  // namespace weft_engine::ops
