// The builder's reductions, windows and products.
#include <algorithm>

#include "ir/builder.h"

namespace weft_engine::ir {

using core::invalid_argument;
using core::unimplemented;

Value Builder::reduce(Reduce r, Value x, std::vector<int> axes, bool keep_dims) {
  if (!ok({x})) return nullptr;
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  std::vector<Dim> dims, kept;
  bool ones = true;
  for (int d = 0; d < x->rank(); ++d) {
    const bool gone = std::binary_search(axes.begin(), axes.end(), d);
    if (!gone) dims.push_back(x->dim(d));
    kept.push_back(gone ? Dim(1) : x->dim(d));
    if (gone) ones = ones && x->dim(d).is(1);
  }
  Value v;
  if (axes.empty() || ones) {
    v = reshape(x, dims);
  } else if (core::is_complex_type(x->type.dtype)) {
    if (r == Reduce::kProd) return complex_product(x, std::move(axes), keep_dims);
    v = complex(reduce(r, real(x), axes), reduce(r, imag(x), axes));
  } else {
    Instr* i = make(Op::kReduce, {x->type.dtype, dims}, {x});
    i->reduce = r;
    i->axes = axes;
    if (x->known && int(axes.size()) == x->rank()) {
      std::optional<Dim> all;
      for (const Dim& d : *x->known) {
        if (!all) {
          all = d;
          continue;
        }
        switch (r) {
          case Reduce::kSum: all = *all + d; break;
          case Reduce::kProd: all = *all * d; break;
          case Reduce::kMax: all = ir::max(*all, d); break;
          case Reduce::kMin: all = ir::min(*all, d); break;
          default: break;
        }
      }
      if (!all && r == Reduce::kSum) all = Dim(0);
      if (!all && r == Reduce::kProd) all = Dim(1);
      if (all) i->known = std::vector<Dim>{*all};
    }
    v = i;
  }
  return keep_dims ? reshape(v, kept) : v;
}

Value Builder::mean(Value x, std::vector<int> axes, bool keep_dims) {
  if (!ok({x})) return nullptr;
  Dim n(1);
  for (int d : axes) n = n * x->dim(d);
  Value s = sum(x, std::move(axes), keep_dims);
  if (!s) return nullptr;
  return div(s, convert(sizes({n}, DType::kInt64, true), s->type.dtype));
}

Value Builder::arg_reduce(Reduce r, Value x, int axis, DType out) {
  if (!ok({x})) return nullptr;
  std::vector<Dim> dims = x->type.dims;
  dims.erase(dims.begin() + axis);
  Instr* i = make(Op::kArgReduce, {out, std::move(dims)}, {x});
  i->reduce = r;
  i->axes = {axis};
  return i;
}

Dim Builder::window_out(const Dim& in, int64_t size, int64_t stride, int64_t dilation, const Dim& low, const Dim& high) {
  const Dim span((size - 1) * dilation + 1);
  return ir::max(floor_div(in + low + high - span, Dim(stride)) + Dim(1), Dim(0));
}

void Builder::same_padding(const Dim& in, int64_t size, int64_t stride, int64_t dilation, Dim& low, Dim& high) {
  const Dim out = ceil_div(in, Dim(stride));
  const Dim total = ir::max((out - Dim(1)) * Dim(stride) + Dim((size - 1) * dilation + 1) - in, Dim(0));
  low = floor_div(total, Dim(2));
  high = total - low;
}

Value Builder::window(Reduce r, Value x, Window w) {
  if (!ok({x})) return nullptr;
  std::vector<Dim> dims = x->type.dims;
  for (size_t d = 0; d < w.size.size(); ++d) {
    dims[d + 1] = window_out(x->dim(int(d) + 1), w.size[d], w.stride[d], w.dilation.empty() ? 1 : w.dilation[d], w.low[d], w.high[d]);
  }
  Instr* i = make(Op::kWindow, {x->type.dtype, std::move(dims)}, {x});
  i->reduce = r;
  i->window = std::move(w);
  return i;
}

Value Builder::max_pool_grad(Value x, Value dy, Window w) {
  if (!ok({x, dy})) return nullptr;
  Instr* i = make(Op::kMaxPoolGrad, x->type, {x, dy});
  i->window = std::move(w);
  return i;
}

Value Builder::scan(Reduce r, Value x, int axis, bool exclusive, bool reverse) {
  if (!ok({x})) return nullptr;
  if (core::is_complex_type(x->type.dtype)) {
    if (r == Reduce::kProd) return complex_running_product(x, axis, exclusive, reverse);
    return complex(scan(r, real(x), axis, exclusive, reverse), scan(r, imag(x), axis, exclusive, reverse));
  }
  Instr* i = make(Op::kScan, x->type, {x});
  i->reduce = r;
  i->axes = {axis};
  i->exclusive = exclusive;
  i->reverse = reverse;
  return i;
}

std::pair<Value, Value> Builder::sort(Value x, bool descending) {
  if (!ok({x})) return {nullptr, nullptr};
  Instr* i = make(Op::kSort, {}, {x});
  i->reverse = descending;
  i->results = {x->type, {DType::kInt32, x->type.dims}};
  Instr* a = make(Op::kGet, i->results[0], {i});
  Instr* b = make(Op::kGet, i->results[1], {i});
  b->index = 1;
  return {a, b};
}

Value Builder::dot(Value a, Value b, bool transpose_a, bool transpose_b) {
  if (!ok({a, b})) return nullptr;
  const int n = a->rank();
  if (n < 2 || b->rank() != n || a->type.dtype != b->type.dtype)
    return fail(core::internal_error("product of ", a->type.to_string(), " and ", b->type.to_string(), " at '", node_, "'"));
  std::vector<Dim> dims;
  for (int d = 0; d < n - 2; ++d) dims.push_back(same(a->dim(d), b->dim(d)));
  const Dim &ka = a->dim(transpose_a ? n - 2 : n - 1), &kb = b->dim(transpose_b ? n - 1 : n - 2);
  if (ka.is_const() && kb.is_const() && !(ka == kb))
    return fail(invalid_argument("Matrix size-incompatible: In[0]: ", a->type.to_string(), ", In[1]: ", b->type.to_string(), " at '", node_, "'"));
  same(ka, kb);
  if (!status_.ok()) return nullptr;
  dims.push_back(a->dim(transpose_a ? n - 1 : n - 2));
  dims.push_back(b->dim(transpose_b ? n - 2 : n - 1));
  if (core::is_complex_type(a->type.dtype)) {
    const auto part = [&](Value x, Value y) { return dot(x, y, transpose_a, transpose_b); };
    const Value ar = real(a), ai = imag(a), br = real(b), bi = imag(b);
    return complex(sub(part(ar, br), part(ai, bi)), add(part(ar, bi), part(ai, br)));
  }
  Instr* i = make(Op::kDot, {a->type.dtype, std::move(dims)}, {a, b});
  i->transpose_a = transpose_a;
  i->transpose_b = transpose_b;
  return i;
}

Value Builder::conv(Value x, Value filter, Window w) {
  if (!ok({x, filter})) return nullptr;
  const int spatial = x->rank() - 2;
  w.size.clear();
  std::vector<Dim> dims{x->dim(0)};
  for (int d = 0; d < spatial; ++d) {
    if (!filter->dim(d).is_const()) return fail(unimplemented("a convolution whose filter has unknown sizes ('", node_, "')"));
    w.size.push_back(filter->dim(d).value());
    const int64_t holes = w.base_dilation.empty() ? 1 : w.base_dilation[size_t(d)];
    const Dim& in = x->dim(d + 1);
    const Dim spread = holes == 1 ? in : ir::max((in - Dim(1)) * Dim(holes) + Dim(1), Dim(0));
    dims.push_back(window_out(spread, w.size.back(), w.stride[size_t(d)], w.dilation[size_t(d)], w.low[size_t(d)], w.high[size_t(d)]));
  }
  if (w.base_dilation.empty()) w.base_dilation.assign(size_t(spatial), 1);
  same(x->dim(spatial + 1), filter->dim(spatial) * Dim(w.groups));
  if (!status_.ok()) return nullptr;
  dims.push_back(filter->dim(spatial + 1));
  Instr* i = make(Op::kConv, {x->type.dtype, std::move(dims)}, {x, filter});
  i->window = std::move(w);
  return i;
}

Value Builder::conv_filter_grad(Value x, Value dy, Window w) {
  if (!ok({x, dy})) return nullptr;
  const int spatial = x->rank() - 2;
  if (w.base_dilation.empty()) w.base_dilation.assign(size_t(spatial), 1);
  std::vector<Dim> dims(w.size.begin(), w.size.end());
  dims.push_back(floor_div(x->dim(spatial + 1), Dim(w.groups)));
  dims.push_back(dy->dim(spatial + 1));
  Instr* i = make(Op::kConvFilterGrad, {x->type.dtype, std::move(dims)}, {x, dy});
  i->window = std::move(w);
  return i;
}

Value Builder::philox(Value key, Value counter, Dim n) {
  if (!ok({key, counter})) return nullptr;
  return make(Op::kPhilox, {DType::kUint32, {std::move(n)}}, {key, counter});
}

}  // namespace weft_engine::ir
