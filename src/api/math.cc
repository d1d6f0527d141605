#include "weft/math.h"

#include <algorithm>
#include <cmath>

#include "api/op_args.h"
#include "weft/raw/array.h"
#include "weft/raw/control_flow.h"
#include "weft/raw/linalg.h"
#include "weft/raw/math.h"
#include "weft/raw/nn.h"
#include "weft/raw/random.h"

namespace weft {

using api::ints;
using api::known_rank;

namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Code::kInvalidArgument, message); }

bool is_complex(const Tensor& x) { return x.dtype() == DType::complex64 || x.dtype() == DType::complex128; }
DType part_type(const Tensor& x) { return x.dtype() == DType::complex128 ? DType::float64 : DType::float32; }

// The axes to reduce, all of them where none is named.
Tensor axes_of(const Tensor& x, std::vector<int64_t> axes) {
  if (axes.empty()) {
    const int rank = known_rank(x);
    if (rank < 0) return raw::Range(Tensor(int32_t(0)), raw::Rank(x), Tensor(int32_t(1)));
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  }
  return ints(axes);
}
template <class Options>
Tensor reduce(Tensor (*op)(const Tensor&, const Tensor&, const Options&), const Tensor& x, const ReduceOptions& o) {
  return op(x, axes_of(x, o.axis), {.keep_dims = o.keepdims});
}
Tensor number_like(const Tensor& x, double v) { return cast(Tensor(v), x.dtype()); }

// Sizes of segments, at least 1, in a form that broadcasts over what follows the numbered dimensions.
Tensor segment_sizes(const Tensor& x, const Tensor& ids, int64_t n, const char* who) {
  const int rank = known_rank(x), own = known_rank(ids);
  if (rank < 0 || own < 0) fail(std::string(who) + " needs tensors whose rank is known");
  std::vector<int64_t> dims(size_t(std::max(rank - own, 0)) + 1, 1);
  dims[0] = n;
  return reshape(maximum(unsorted_segment_sum(cast(ones_like(ids), x.dtype()), ids, n), number_like(x, 1)), dims);
}

Tensor steps(const Tensor& x) {
  const Tensor flat = reshape(x, {-1});
  return flat[{slice(1, _)}] - flat[{slice(_, -1)}];
}
TopK approx_top_k(const Tensor& x, int64_t k, const ApproxTopKOptions& o, bool largest) {
  const raw::ApproxTopKResult r =
      raw::ApproxTopK(x, k, {.reduction_dimension = o.reduction_dimension, .recall_target = float(o.recall_target), .is_max_k = largest});
  return {r.values, r.indices};
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& o) {
  if (known_rank(a) != 2 || known_rank(b) != 2) return raw::BatchMatMulV2(a, b, {.adj_x = o.transpose_a, .adj_y = o.transpose_b});
  return raw::MatMul(a, b, {.transpose_a = o.transpose_a, .transpose_b = o.transpose_b});
}
Tensor matvec(const Tensor& a, const Tensor& b, bool transpose_a) {
  return squeeze(matmul(a, expand_dims(b, -1), {.transpose_a = transpose_a}), {-1});
}
Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes) {
  std::vector<int64_t> left, right;
  const int rank = known_rank(a);
  if (rank < 0 || axes < 0 || axes > rank) fail("tensordot: " + std::to_string(axes) + " axes cannot be summed over");
  for (int64_t i = 0; i < axes; ++i) {
    left.push_back(rank - axes + i);
    right.push_back(i);
  }
  return tensordot(a, b, left, right);
}
Tensor tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& a_axes, const std::vector<int64_t>& b_axes) {
  const int ranks[] = {known_rank(a), known_rank(b)};
  if (ranks[0] < 0 || ranks[1] < 0 || a_axes.size() != b_axes.size())
    fail("tensordot needs tensors of known rank, and as many axes of one as of the other");
  if (ranks[0] + ranks[1] > 52) fail("tensordot: too many dimensions");
  std::string names[2], out;
  char next = 'a';
  for (int t = 0; t < 2; ++t) {
    for (int i = 0; i < ranks[t]; ++i) names[t] += next == 'z' + 1 ? (next = 'A')++ : next++;
  }
  for (size_t i = 0; i < a_axes.size(); ++i) {
    const int64_t l = a_axes[i] < 0 ? a_axes[i] + ranks[0] : a_axes[i], r = b_axes[i] < 0 ? b_axes[i] + ranks[1] : b_axes[i];
    if (l < 0 || l >= ranks[0] || r < 0 || r >= ranks[1]) fail("tensordot: an axis is out of range");
    names[1][size_t(r)] = names[0][size_t(l)];
  }
  for (char c : names[0]) out += names[1].find(c) == std::string::npos ? std::string(1, c) : "";
  for (char c : names[1]) out += names[0].find(c) == std::string::npos ? std::string(1, c) : "";
  return einsum(names[0] + "," + names[1] + "->" + out, {a, b});
}
Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs) { return raw::Einsum(inputs, equation); }

Tensor reduce_sum(const Tensor& x, const ReduceOptions& o) { return reduce(raw::Sum, x, o); }
Tensor reduce_mean(const Tensor& x, const ReduceOptions& o) { return reduce(raw::Mean, x, o); }
Tensor reduce_max(const Tensor& x, const ReduceOptions& o) { return reduce(raw::Max, x, o); }
Tensor reduce_min(const Tensor& x, const ReduceOptions& o) { return reduce(raw::Min, x, o); }
Tensor reduce_prod(const Tensor& x, const ReduceOptions& o) { return reduce(raw::Prod, x, o); }
Tensor reduce_any(const Tensor& x, const ReduceOptions& o) { return reduce(raw::Any, x, o); }
Tensor reduce_all(const Tensor& x, const ReduceOptions& o) { return reduce(raw::All, x, o); }
Tensor reduce_logsumexp(const Tensor& x, const ReduceOptions& o) {
  // The largest taken out, so that nothing overflows; where it is not a number, nothing is taken.
  const Tensor largest = reduce(raw::Max, x, {.axis = o.axis, .keepdims = true});
  const Tensor top = raw::StopGradient(where(raw::IsFinite(largest), largest, zeros_like(largest)));
  const Tensor sums = log(reduce_sum(exp(x - top), {.axis = o.axis, .keepdims = true})) + top;
  if (o.keepdims) return sums;
  return o.axis.empty() ? reshape(sums, {}) : squeeze(sums, o.axis);
}
Tensor reduce_variance(const Tensor& x, const ReduceOptions& o) {
  const Tensor off = x - reduce_mean(x, {.axis = o.axis, .keepdims = true});
  return reduce_mean(is_complex(x) ? real(off * conj(off)) : square(off), o);
}
Tensor reduce_std(const Tensor& x, const ReduceOptions& o) { return sqrt(reduce_variance(x, o)); }
Tensor reduce_euclidean_norm(const Tensor& x, const ReduceOptions& o) { return reduce(raw::EuclideanNorm, x, o); }
Tensor count_nonzero(const Tensor& x, const ReduceOptions& o, DType dtype) {
  const Tensor zero = x.dtype() == DType::string ? Tensor("") : zeros_like(x);
  return cast(reduce_sum(cast(x != zero, DType::int64), o), dtype);
}
Tensor zero_fraction(const Tensor& x) {
  const Tensor n = cast(size(x, DType::int64), DType::float32);
  return (n - cast(count_nonzero(x), DType::float32)) / n;
}
Tensor argmin(const Tensor& x, int64_t axis) { return raw::ArgMin(x, Tensor(axis)); }
Tensor argmax(const Tensor& x, int64_t axis) { return raw::ArgMax(x, Tensor(axis)); }
Tensor add_n(const std::vector<Tensor>& inputs) { return inputs.size() == 1 ? identity(inputs[0]) : raw::AddN(inputs); }
Tensor accumulate_n(const std::vector<Tensor>& inputs) { return add_n(inputs); }
Tensor polyval(const std::vector<Tensor>& coefficients, const Tensor& x) {
  if (coefficients.empty()) return zeros_like(x);
  Tensor sum = coefficients[0];
  for (size_t i = 1; i < coefficients.size(); ++i) sum = coefficients[i] + sum * x;
  return sum;
}
TopK approx_max_k(const Tensor& x, int64_t k, const ApproxTopKOptions& o) { return approx_top_k(x, k, o, true); }
TopK approx_min_k(const Tensor& x, int64_t k, const ApproxTopKOptions& o) { return approx_top_k(x, k, o, false); }
Tensor in_top_k(const Tensor& targets, const Tensor& predictions, int64_t k) {
  return raw::InTopKV2(predictions, targets, cast(Tensor(k), targets.dtype()));
}
Tensor invert_permutation(const Tensor& x) { return raw::InvertPermutation(x); }
Tensor is_non_decreasing(const Tensor& x) { return reduce_all(steps(x) >= number_like(x, 0)); }
Tensor is_strictly_increasing(const Tensor& x) { return reduce_all(steps(x) > number_like(x, 0)); }
Tensor sobol_sample(int64_t dim, int64_t num_results, int64_t skip, DType dtype) {
  return raw::SobolSample(Tensor(int32_t(dim)), Tensor(int32_t(num_results)), Tensor(int32_t(skip)), {.dtype = dtype});
}

Tensor cumsum(const Tensor& x, const CumulativeOptions& o) {
  return raw::Cumsum(x, Tensor(o.axis), {.exclusive = o.exclusive, .reverse = o.reverse});
}
Tensor cumprod(const Tensor& x, const CumulativeOptions& o) {
  return raw::Cumprod(x, Tensor(o.axis), {.exclusive = o.exclusive, .reverse = o.reverse});
}
Tensor cumulative_logsumexp(const Tensor& x, const CumulativeOptions& o) {
  return raw::CumulativeLogsumexp(x, Tensor(o.axis), {.exclusive = o.exclusive, .reverse = o.reverse});
}

Tensor norm(const Tensor& x, const NormOptions& o) {
  const Tensor size = abs(x);
  const ReduceOptions all{.axis = o.axis, .keepdims = o.keepdims};
  if (o.axis.size() > 2) fail("norm takes one axis or two, got " + std::to_string(o.axis.size()));
  if (o.ord <= 0) fail("norm: 'ord' must be a number above 0");
  if (o.ord == 2) return sqrt(reduce_sum(is_complex(x) ? square(size) : x * x, all));
  if (o.axis.size() == 2) {
    // Of matrices: the largest sum of a column (1) or of a row (infinity).
    if (o.ord != 1 && !std::isinf(o.ord)) fail("norm: 'ord' of matrices is 1, 2 or infinity");
    const int64_t summed = o.ord == 1 ? o.axis[0] : o.axis[1], other = o.ord == 1 ? o.axis[1] : o.axis[0];
    const Tensor largest = reduce_max(reduce_sum(size, {.axis = {summed}, .keepdims = true}), {.axis = {other}, .keepdims = true});
    return o.keepdims ? largest : squeeze(largest, o.axis);
  }
  if (o.ord == 1) return reduce_sum(size, all);
  if (std::isinf(o.ord)) return reduce_max(size, all);
  return pow(reduce_sum(pow(size, number_like(size, o.ord)), all), number_like(size, 1 / o.ord));
}
Tensor l2_normalize(const Tensor& x, const ReduceOptions& o, double epsilon) {
  const Tensor squares = reduce_sum(square(x), {.axis = o.axis, .keepdims = true});
  return x * rsqrt(maximum(squares, cast(Tensor(epsilon), x.dtype())));
}
Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high) { return maximum(minimum(x, high), low); }
Tensor clip_by_norm(const Tensor& x, const Tensor& clip_norm, const std::vector<int64_t>& axes) {
  const Tensor squares = reduce_sum(x * x, {.axis = axes, .keepdims = true});
  // Where all is zero the root has no gradient: it is taken of one there.
  const Tensor some = squares > zeros_like(squares), safe = where(some, squares, ones_like(squares));
  const Tensor length = where(some, sqrt(safe), squares);
  return x * clip_norm / maximum(length, clip_norm);
}
Tensor global_norm(const std::vector<Tensor>& list) {
  std::vector<Tensor> halves;
  for (const Tensor& t : list) halves.push_back(raw::L2Loss(t));
  if (halves.empty()) fail("global_norm needs a tensor");
  const Tensor half = stack(halves);
  return sqrt(reduce_sum(half) * number_like(half, 2));
}
std::pair<std::vector<Tensor>, Tensor> clip_by_global_norm(const std::vector<Tensor>& list, const Tensor& clip_norm) {
  const Tensor length = global_norm(list), one = ones_like(length);
  // As TensorFlow has it: an infinite norm makes all of it not a number.
  const Tensor scale = clip_norm * minimum(one / length, one / clip_norm) + (length - length);
  std::vector<Tensor> out;
  for (const Tensor& t : list) out.push_back(t * scale);
  return {std::move(out), length};
}

Tensor abs(const Tensor& x) { return is_complex(x) ? raw::ComplexAbs(x, {.Tout = part_type(x)}) : raw::Abs(x); }
Tensor negative(const Tensor& x) { return raw::Neg(x); }
Tensor sign(const Tensor& x) { return raw::Sign(x); }
Tensor reciprocal(const Tensor& x) { return raw::Reciprocal(x); }
Tensor reciprocal_no_nan(const Tensor& x) { return divide_no_nan(ones_like(x), x); }
Tensor scalar_mul(const Tensor& scalar, const Tensor& x) {
  if (known_rank(scalar) > 0) fail("scalar_mul: the first argument must be a scalar");
  return scalar * x;
}
Tensor square(const Tensor& x) { return raw::Square(x); }
Tensor sqrt(const Tensor& x) { return raw::Sqrt(x); }
Tensor rsqrt(const Tensor& x) { return raw::Rsqrt(x); }
Tensor exp(const Tensor& x) { return raw::Exp(x); }
Tensor expm1(const Tensor& x) { return raw::Expm1(x); }
Tensor log(const Tensor& x) { return raw::Log(x); }
Tensor log1p(const Tensor& x) { return raw::Log1p(x); }
Tensor floor(const Tensor& x) { return raw::Floor(x); }
Tensor ceil(const Tensor& x) { return raw::Ceil(x); }
Tensor round(const Tensor& x) { return raw::Round(x); }
Tensor rint(const Tensor& x) { return raw::Rint(x); }
Tensor sin(const Tensor& x) { return raw::Sin(x); }
Tensor cos(const Tensor& x) { return raw::Cos(x); }
Tensor tan(const Tensor& x) { return raw::Tan(x); }
Tensor asin(const Tensor& x) { return raw::Asin(x); }
Tensor acos(const Tensor& x) { return raw::Acos(x); }
Tensor atan(const Tensor& x) { return raw::Atan(x); }
Tensor sinh(const Tensor& x) { return raw::Sinh(x); }
Tensor cosh(const Tensor& x) { return raw::Cosh(x); }
Tensor tanh(const Tensor& x) { return raw::Tanh(x); }
Tensor asinh(const Tensor& x) { return raw::Asinh(x); }
Tensor acosh(const Tensor& x) { return raw::Acosh(x); }
Tensor atanh(const Tensor& x) { return raw::Atanh(x); }
Tensor erf(const Tensor& x) { return raw::Erf(x); }
Tensor erfc(const Tensor& x) { return raw::Erfc(x); }
Tensor erfinv(const Tensor& x) { return raw::Erfinv(x); }
Tensor erfcinv(const Tensor& x) { return -ndtri(number_like(x, 0.5) * x) * number_like(x, std::sqrt(0.5)); }
Tensor bessel_i0(const Tensor& x) { return raw::BesselI0(x); }
Tensor bessel_i1(const Tensor& x) { return raw::BesselI1(x); }
Tensor bessel_i0e(const Tensor& x) { return raw::BesselI0e(x); }
Tensor bessel_i1e(const Tensor& x) { return raw::BesselI1e(x); }
Tensor lbeta(const Tensor& x) { return reduce_sum(lgamma(x), {.axis = {-1}}) - lgamma(reduce_sum(x, {.axis = {-1}})); }
Tensor ndtri(const Tensor& x) { return raw::Ndtri(x); }
Tensor lgamma(const Tensor& x) { return raw::Lgamma(x); }
Tensor digamma(const Tensor& x) { return raw::Digamma(x); }
Tensor is_nan(const Tensor& x) { return raw::IsNan(x); }
Tensor is_inf(const Tensor& x) { return raw::IsInf(x); }
Tensor is_finite(const Tensor& x) { return raw::IsFinite(x); }
Tensor complex(const Tensor& real, const Tensor& imag) {
  return raw::Complex(real, imag, {.Tout = real.dtype() == DType::float64 ? DType::complex128 : DType::complex64});
}
Tensor real(const Tensor& x) { return is_complex(x) ? raw::Real(x, {.Tout = part_type(x)}) : x; }
Tensor imag(const Tensor& x) { return is_complex(x) ? raw::Imag(x, {.Tout = part_type(x)}) : zeros_like(x); }
Tensor conj(const Tensor& x) { return is_complex(x) ? raw::Conj(x) : x; }
Tensor angle(const Tensor& x) {
  if (is_complex(x)) return raw::Angle(x, {.Tout = part_type(x)});
  return where(x < zeros_like(x), ones_like(x) * number_like(x, M_PI), zeros_like(x));
}

Tensor relu(const Tensor& x) { return raw::Relu(x); }
Tensor sigmoid(const Tensor& x) { return raw::Sigmoid(x); }
Tensor log_sigmoid(const Tensor& x) { return -raw::Softplus(-x); }
Tensor softmax(const Tensor& x) { return raw::Softmax(x); }
Tensor log_softmax(const Tensor& x) { return raw::LogSoftmax(x); }
Tensor softplus(const Tensor& x) { return raw::Softplus(x); }
Tensor softsign(const Tensor& x) { return raw::Softsign(x); }

Tensor add(const Tensor& x, const Tensor& y) { return x + y; }
Tensor subtract(const Tensor& x, const Tensor& y) { return x - y; }
Tensor multiply(const Tensor& x, const Tensor& y) { return x * y; }
Tensor divide(const Tensor& x, const Tensor& y) { return truediv(x, y); }
Tensor truediv(const Tensor& x, const Tensor& y) {
  double low = 0, high = 0;
  if (!api::integer_limits(x.dtype(), low, high) || x.dtype() != y.dtype()) return x / y;
  const DType wide = high <= 65535 ? DType::float32 : DType::float64;
  return cast(x, wide) / cast(y, wide);
}
Tensor floordiv(const Tensor& x, const Tensor& y) { return raw::FloorDiv(x, y); }
Tensor floormod(const Tensor& x, const Tensor& y) { return raw::FloorMod(x, y); }
Tensor mod(const Tensor& x, const Tensor& y) { return raw::FloorMod(x, y); }
Tensor divide_no_nan(const Tensor& x, const Tensor& y) { return raw::DivNoNan(x, y); }
Tensor multiply_no_nan(const Tensor& x, const Tensor& y) { return raw::MulNoNan(x, y); }
Tensor pow(const Tensor& x, const Tensor& y) { return raw::Pow(x, y); }
Tensor maximum(const Tensor& x, const Tensor& y) { return raw::Maximum(x, y); }
Tensor minimum(const Tensor& x, const Tensor& y) { return raw::Minimum(x, y); }
Tensor squared_difference(const Tensor& x, const Tensor& y) { return raw::SquaredDifference(x, y); }
Tensor atan2(const Tensor& y, const Tensor& x) { return raw::Atan2(y, x); }
Tensor xlogy(const Tensor& x, const Tensor& y) { return raw::Xlogy(x, y); }
Tensor xdivy(const Tensor& x, const Tensor& y) { return raw::Xdivy(x, y); }
Tensor xlog1py(const Tensor& x, const Tensor& y) { return raw::Xlog1py(x, y); }
Tensor igamma(const Tensor& a, const Tensor& x) { return raw::Igamma(a, x); }
Tensor igammac(const Tensor& a, const Tensor& x) { return raw::Igammac(a, x); }
Tensor betainc(const Tensor& a, const Tensor& b, const Tensor& x) { return raw::Betainc(a, b, x); }
Tensor zeta(const Tensor& x, const Tensor& q) { return raw::Zeta(x, q); }
Tensor polygamma(const Tensor& a, const Tensor& x) { return raw::Polygamma(a, x); }
Tensor nextafter(const Tensor& x, const Tensor& y) { return raw::NextAfter(x, y); }

Tensor equal(const Tensor& x, const Tensor& y) { return x == y; }
Tensor not_equal(const Tensor& x, const Tensor& y) { return x != y; }
Tensor less(const Tensor& x, const Tensor& y) { return x < y; }
Tensor less_equal(const Tensor& x, const Tensor& y) { return x <= y; }
Tensor greater(const Tensor& x, const Tensor& y) { return x > y; }
Tensor greater_equal(const Tensor& x, const Tensor& y) { return x >= y; }
Tensor logical_and(const Tensor& x, const Tensor& y) { return raw::LogicalAnd(x, y); }
Tensor logical_or(const Tensor& x, const Tensor& y) { return raw::LogicalOr(x, y); }
Tensor logical_xor(const Tensor& x, const Tensor& y) { return x != y; }
Tensor logical_not(const Tensor& x) { return raw::LogicalNot(x); }

Tensor bincount(const Tensor& x, int64_t minlength, int64_t maxlength) {
  if (x.dtype() != DType::int32 && x.dtype() != DType::int64) fail("bincount needs int32 or int64, got " + to_string(x.dtype()));
  const Tensor flat = reshape(x, {-1}), zero = cast(Tensor(int32_t(0)), x.dtype());
  // One more than the largest; nothing for no elements.
  const Tensor largest = reduce_max(concat({flat, reshape(zero - ones_like(zero), {1})}, 0)) + ones_like(zero);
  Tensor length = maximum(largest, cast(Tensor(minlength), x.dtype()));
  if (maxlength >= 0) length = minimum(length, cast(Tensor(maxlength), x.dtype()));
  return raw::DenseBincount(flat, length, zeros({0}, DType::int32));
}
Tensor segment_sum(const Tensor& x, const Tensor& ids) { return raw::SegmentSum(x, ids); }
Tensor segment_mean(const Tensor& x, const Tensor& ids) { return raw::SegmentMean(x, ids); }
Tensor segment_max(const Tensor& x, const Tensor& ids) { return raw::SegmentMax(x, ids); }
Tensor segment_min(const Tensor& x, const Tensor& ids) { return raw::SegmentMin(x, ids); }
Tensor segment_prod(const Tensor& x, const Tensor& ids) { return raw::SegmentProd(x, ids); }
Tensor unsorted_segment_sum(const Tensor& x, const Tensor& ids, int64_t n) { return raw::UnsortedSegmentSum(x, ids, Tensor(int32_t(n))); }
Tensor unsorted_segment_max(const Tensor& x, const Tensor& ids, int64_t n) { return raw::UnsortedSegmentMax(x, ids, Tensor(int32_t(n))); }
Tensor unsorted_segment_min(const Tensor& x, const Tensor& ids, int64_t n) { return raw::UnsortedSegmentMin(x, ids, Tensor(int32_t(n))); }
Tensor unsorted_segment_prod(const Tensor& x, const Tensor& ids, int64_t n) { return raw::UnsortedSegmentProd(x, ids, Tensor(int32_t(n))); }
Tensor unsorted_segment_mean(const Tensor& x, const Tensor& ids, int64_t n) {
  return unsorted_segment_sum(x, ids, n) / segment_sizes(x, ids, n, "unsorted_segment_mean");
}
Tensor unsorted_segment_sqrt_n(const Tensor& x, const Tensor& ids, int64_t n) {
  return unsorted_segment_sum(x, ids, n) / sqrt(segment_sizes(x, ids, n, "unsorted_segment_sqrt_n"));
}
Tensor confusion_matrix(const Tensor& labels, const Tensor& predictions, int64_t num_classes, DType dtype) {
  const Tensor places = stack({cast(labels, DType::int64), cast(predictions, DType::int64)}, 1);
  return scatter_nd(places, cast(ones_like(reshape(labels, {-1})), dtype), {num_classes, num_classes});
}
Tensor check_numerics(const Tensor& x, const std::string& message) { return raw::CheckNumerics(x, message); }

}  // namespace weft
