// Small words for formulas over the public API: numbers of a tensor's own type, and ops that weft/math.h does not name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/math.h"

namespace weft::nn {

inline Tensor number(double v, DType dtype) {
  if (dtype == DType::float32) return Tensor(float(v));
  if (dtype == DType::float64) return Tensor(v);
  if (dtype == DType::int64) return Tensor(int64_t(v));
  if (dtype == DType::int32) return Tensor(int32_t(v));
  return cast(Tensor(v), dtype);
}
// Keras casts numbers of Python by way of float32, also to float64.
inline Tensor keras_cast(double v, DType dtype) { return number(double(float(v)), dtype); }
inline Tensor number_like(const Tensor& t, double v) { return number(v, t.dtype()); }
inline Tensor as_type(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : cast(t, dtype); }

inline Tensor times(const Tensor& x, double v) { return x * number_like(x, v); }
inline Tensor plus(const Tensor& x, double v) { return x + number_like(x, v); }
inline Tensor minus_from(double v, const Tensor& x) { return number_like(x, v) - x; }
inline Tensor clip(const Tensor& x, double low, double high) { return raw::ClipByValue(x, number_like(x, low), number_like(x, high)); }
inline Tensor div_no_nan(const Tensor& x, const Tensor& y) { return raw::DivNoNan(x, y); }
inline Tensor int_list(const std::vector<int32_t>& v) { return Tensor::of<int32_t>({int64_t(v.size())}, std::span<const int32_t>(v)); }

// The rank, which must be known.
inline int rank_of(const Tensor& t) {
  const PartialShape s = t.partial_shape();
  if (!s.known_rank) throw Error(Code::kInvalidArgument, "a tensor of unknown rank was given to a loss or a metric");
  return int(s.dims.size());
}
// -1: not known.
inline int64_t dim_of(const Tensor& t, int axis) {
  const PartialShape s = t.partial_shape();
  if (!s.known_rank) return -1;
  const int rank = int(s.dims.size()), at = axis < 0 ? axis + rank : axis;
  return at < 0 || at >= rank ? -1 : s.dims[size_t(at)];
}
inline Tensor squeeze(const Tensor& x, int axis) { return raw::Squeeze(x, {.squeeze_dims = std::vector<int64_t>{axis}}); }
inline Tensor shape_of(const Tensor& x, DType type = DType::int32) { return raw::Shape(x, {.out_type = type}); }
// The number of elements, in x's own type: a constant where the shape is known.
inline Tensor size_like(const Tensor& x) {
  const PartialShape s = x.partial_shape();
  int64_t n = s.known_rank ? 1 : -1;
  for (int64_t d : s.dims) n = d < 0 || n < 0 ? -1 : n * d;
  if (n >= 0) return number_like(x, double(n));
  return cast(raw::Size(x, {.out_type = DType::int32}), x.dtype());
}
// One of raw::Sum, raw::Mean, raw::Max, ...
template <class Options>
using Reduction = Tensor (*)(const Tensor& x, const Tensor& axes, const Options& options);
template <class Options>
Tensor reduce_op(Reduction<Options> op, const Tensor& x, const std::vector<int32_t>& axes, bool keepdims = false) {
  return op(x, int_list(axes), {.keep_dims = keepdims});
}
inline Tensor mean_last(const Tensor& x) { return reduce_op(raw::Mean, x, {-1}); }
inline Tensor sum_last(const Tensor& x) { return reduce_op(raw::Sum, x, {-1}); }
inline Tensor sum_all(const Tensor& x) {
  std::vector<int32_t> axes;
  for (int i = 0; i < rank_of(x); ++i) axes.push_back(i);
  return axes.empty() ? x : reduce_op(raw::Sum, x, axes);
}

// What went into the op that made t, while a function is traced: the logits behind a Softmax. No value where t was made otherwise,
// and eagerly, where nobody knows.
Tensor before(const Tensor& t, std::string_view op);

}  // namespace weft::nn
