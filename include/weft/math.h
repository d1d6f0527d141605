// Mathematics under its Python names: tf.reduce_sum and tf.math.reduce_sum are weft::reduce_sum. Functions of two tensors broadcast. weft/array.h has
// what reshapes, joins and selects, weft/linalg.h matrices, weft/random.h random numbers. Every op, with all its attributes, is in weft/raw.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weft/array.h"
#include "weft/tensor.h"

namespace weft {

struct MatmulOptions {
  bool transpose_a = false, transpose_b = false;
};
struct ReduceOptions {
  std::vector<int64_t> axis = {};  // empty: all
  bool keepdims = false;
};

// The product of matrices; dimensions in front of them are batches.
WEFT_API Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});
// A matrix times a vector.
WEFT_API Tensor matvec(const Tensor& a, const Tensor& b, bool transpose_a = false);
// Products summed over the last `axes` dimensions of a and the first of b.
WEFT_API Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes);
// Products summed over pairs of axes.
WEFT_API Tensor tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& a_axes, const std::vector<int64_t>& b_axes);
// Products and sums by Einstein's notation: "ij,jk->ik".
WEFT_API Tensor einsum(const std::string& equation, const std::vector<Tensor>& inputs);

// The sum over axes.
WEFT_API Tensor reduce_sum(const Tensor& x, const ReduceOptions& options = {});
// The mean over axes.
WEFT_API Tensor reduce_mean(const Tensor& x, const ReduceOptions& options = {});
// The largest element over axes.
WEFT_API Tensor reduce_max(const Tensor& x, const ReduceOptions& options = {});
// The smallest element over axes.
WEFT_API Tensor reduce_min(const Tensor& x, const ReduceOptions& options = {});
// The product over axes.
WEFT_API Tensor reduce_prod(const Tensor& x, const ReduceOptions& options = {});
// Whether any element is true.
WEFT_API Tensor reduce_any(const Tensor& x, const ReduceOptions& options = {});
// Whether all elements are true.
WEFT_API Tensor reduce_all(const Tensor& x, const ReduceOptions& options = {});
// log(sum(exp(x))), without overflow.
WEFT_API Tensor reduce_logsumexp(const Tensor& x, const ReduceOptions& options = {});
// The variance of the whole (over n).
WEFT_API Tensor reduce_variance(const Tensor& x, const ReduceOptions& options = {});
// The standard deviation of the whole.
WEFT_API Tensor reduce_std(const Tensor& x, const ReduceOptions& options = {});
// The root of the sum of squares.
WEFT_API Tensor reduce_euclidean_norm(const Tensor& x, const ReduceOptions& options = {});
// How many elements are not zero.
WEFT_API Tensor count_nonzero(const Tensor& x, const ReduceOptions& options = {}, DType dtype = DType::int64);
// The fraction of elements that are zero.
WEFT_API Tensor zero_fraction(const Tensor& x);
// Where the smallest element is along an axis.
WEFT_API Tensor argmin(const Tensor& x, int64_t axis = 0);
// Where the largest element is along an axis.
WEFT_API Tensor argmax(const Tensor& x, int64_t axis = 0);
// The sum of tensors of one shape.
WEFT_API Tensor add_n(const std::vector<Tensor>& inputs);
WEFT_API Tensor accumulate_n(const std::vector<Tensor>& inputs);
// The polynomial with these coefficients, the highest first.
WEFT_API Tensor polyval(const std::vector<Tensor>& coefficients, const Tensor& x);
struct ApproxTopKOptions {
  int64_t reduction_dimension = -1;
  double recall_target = 0.95;
};
// The k largest elements along an axis, and where they are. On CPUs the result is exact.
WEFT_API TopK approx_max_k(const Tensor& x, int64_t k, const ApproxTopKOptions& options = {});
// The k smallest.
WEFT_API TopK approx_min_k(const Tensor& x, int64_t k, const ApproxTopKOptions& options = {});
// Whether each target is among the k classes with the largest predictions.
WEFT_API Tensor in_top_k(const Tensor& targets, const Tensor& predictions, int64_t k);
// The permutation that undoes x.
WEFT_API Tensor invert_permutation(const Tensor& x);
// Whether no element is less than the one before it.
WEFT_API Tensor is_non_decreasing(const Tensor& x);
// Whether each element is greater than the one before it.
WEFT_API Tensor is_strictly_increasing(const Tensor& x);
// Points of Sobol's sequence: [num_results, dim].
WEFT_API Tensor sobol_sample(int64_t dim, int64_t num_results, int64_t skip = 0, DType dtype = DType::float32);

struct CumulativeOptions {
  int64_t axis = 0;
  bool exclusive = false, reverse = false;
};
// Sums of all elements so far along an axis.
WEFT_API Tensor cumsum(const Tensor& x, const CumulativeOptions& options = {});
// Products of all elements so far.
WEFT_API Tensor cumprod(const Tensor& x, const CumulativeOptions& options = {});
// log(sum(exp)) of all elements so far.
WEFT_API Tensor cumulative_logsumexp(const Tensor& x, const CumulativeOptions& options = {});

struct NormOptions {
  double ord = 2;  // 1, 2, another number, or infinity; "euclidean" is 2
  std::vector<int64_t> axis = {};  // empty: of all elements; two axes: of matrices (ord 1, 2 (Frobenius) and infinity)
  bool keepdims = false;
};
// A norm of vectors or of all elements.
WEFT_API Tensor norm(const Tensor& x, const NormOptions& options = {});
// Scaled to length 1 along axes.
WEFT_API Tensor l2_normalize(const Tensor& x, const ReduceOptions& options = {}, double epsilon = 1e-12);
// Values outside of [low, high] replaced by the limits.
WEFT_API Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high);
// Scaled down where the norm is larger than clip_norm.
WEFT_API Tensor clip_by_norm(const Tensor& x, const Tensor& clip_norm, const std::vector<int64_t>& axes = {});
// The norm of several tensors together.
WEFT_API Tensor global_norm(const std::vector<Tensor>& list);
// All scaled down where their common norm is larger than clip_norm; the norm is the second result.
WEFT_API std::pair<std::vector<Tensor>, Tensor> clip_by_global_norm(const std::vector<Tensor>& list, const Tensor& clip_norm);

// |x|; of complex numbers the length.
WEFT_API Tensor abs(const Tensor& x);
// -x.
WEFT_API Tensor negative(const Tensor& x);
// -1, 0 or 1; of complex numbers x / |x|.
WEFT_API Tensor sign(const Tensor& x);
// 1 / x.
WEFT_API Tensor reciprocal(const Tensor& x);
// 1 / x, and 0 where x is 0.
WEFT_API Tensor reciprocal_no_nan(const Tensor& x);
// A number times x.
WEFT_API Tensor scalar_mul(const Tensor& scalar, const Tensor& x);
// x * x.
WEFT_API Tensor square(const Tensor& x);
// The square root.
WEFT_API Tensor sqrt(const Tensor& x);
// 1 / sqrt(x).
WEFT_API Tensor rsqrt(const Tensor& x);
// e to the power of x.
WEFT_API Tensor exp(const Tensor& x);
// exp(x) - 1, exact for small x.
WEFT_API Tensor expm1(const Tensor& x);
// The natural logarithm.
WEFT_API Tensor log(const Tensor& x);
// log(1 + x), exact for small x.
WEFT_API Tensor log1p(const Tensor& x);
// The largest whole number that is not larger.
WEFT_API Tensor floor(const Tensor& x);
// The smallest whole number that is not smaller.
WEFT_API Tensor ceil(const Tensor& x);
// The nearest whole number; halves to the even one.
WEFT_API Tensor round(const Tensor& x);
// The same, for types with a point only.
WEFT_API Tensor rint(const Tensor& x);
// The sine.
WEFT_API Tensor sin(const Tensor& x);
// The cosine.
WEFT_API Tensor cos(const Tensor& x);
// The tangent.
WEFT_API Tensor tan(const Tensor& x);
// The inverse of the sine.
WEFT_API Tensor asin(const Tensor& x);
// The inverse of the cosine.
WEFT_API Tensor acos(const Tensor& x);
// The inverse of the tangent.
WEFT_API Tensor atan(const Tensor& x);
// The hyperbolic sine.
WEFT_API Tensor sinh(const Tensor& x);
// The hyperbolic cosine.
WEFT_API Tensor cosh(const Tensor& x);
// The hyperbolic tangent.
WEFT_API Tensor tanh(const Tensor& x);
// The inverse of sinh.
WEFT_API Tensor asinh(const Tensor& x);
// The inverse of cosh.
WEFT_API Tensor acosh(const Tensor& x);
// The inverse of tanh.
WEFT_API Tensor atanh(const Tensor& x);
// The error function.
WEFT_API Tensor erf(const Tensor& x);
// 1 - erf(x).
WEFT_API Tensor erfc(const Tensor& x);
// The inverse of erf.
WEFT_API Tensor erfinv(const Tensor& x);
// The inverse of erfc.
WEFT_API Tensor erfcinv(const Tensor& x);
// The modified Bessel functions of the first kind, of order 0 and 1.
WEFT_API Tensor bessel_i0(const Tensor& x);
WEFT_API Tensor bessel_i1(const Tensor& x);
// The same times exp(-|x|).
WEFT_API Tensor bessel_i0e(const Tensor& x);
WEFT_API Tensor bessel_i1e(const Tensor& x);
// The logarithm of the beta function of the last axis.
WEFT_API Tensor lbeta(const Tensor& x);
// The quantile of the standard normal distribution.
WEFT_API Tensor ndtri(const Tensor& x);
// The logarithm of |gamma(x)|.
WEFT_API Tensor lgamma(const Tensor& x);
// The derivative of lgamma.
WEFT_API Tensor digamma(const Tensor& x);
// Whether the element is not a number.
WEFT_API Tensor is_nan(const Tensor& x);
// Whether the element is infinite.
WEFT_API Tensor is_inf(const Tensor& x);
// Whether the element is neither infinite nor not a number.
WEFT_API Tensor is_finite(const Tensor& x);
// A complex number from its parts.
WEFT_API Tensor complex(const Tensor& real, const Tensor& imag);
// The real part.
WEFT_API Tensor real(const Tensor& x);
// The imaginary part; zero for real numbers.
WEFT_API Tensor imag(const Tensor& x);
// The complex conjugate.
WEFT_API Tensor conj(const Tensor& x);
// The argument of a complex number.
WEFT_API Tensor angle(const Tensor& x);

// max(x, 0).
WEFT_API Tensor relu(const Tensor& x);
// 1 / (1 + exp(-x)).
WEFT_API Tensor sigmoid(const Tensor& x);
// log(sigmoid(x)).
WEFT_API Tensor log_sigmoid(const Tensor& x);
// Along the last axis exp(x) / sum(exp(x)).
WEFT_API Tensor softmax(const Tensor& x);
// The logarithm of softmax.
WEFT_API Tensor log_softmax(const Tensor& x);
// log(1 + exp(x)).
WEFT_API Tensor softplus(const Tensor& x);
// x / (1 + |x|).
WEFT_API Tensor softsign(const Tensor& x);

// x + y.
WEFT_API Tensor add(const Tensor& x, const Tensor& y);
// x - y.
WEFT_API Tensor subtract(const Tensor& x, const Tensor& y);
// x * y.
WEFT_API Tensor multiply(const Tensor& x, const Tensor& y);
// x / y; integers become float64 (float32 for 8 and 16 bits), as in Python.
WEFT_API Tensor divide(const Tensor& x, const Tensor& y);
WEFT_API Tensor truediv(const Tensor& x, const Tensor& y);
// x / y rounded down.
WEFT_API Tensor floordiv(const Tensor& x, const Tensor& y);
// What floordiv leaves; it has the sign of y.
WEFT_API Tensor floormod(const Tensor& x, const Tensor& y);
WEFT_API Tensor mod(const Tensor& x, const Tensor& y);
// x / y, and 0 where y is 0.
WEFT_API Tensor divide_no_nan(const Tensor& x, const Tensor& y);
// x * y, and 0 where y is 0, whatever x is.
WEFT_API Tensor multiply_no_nan(const Tensor& x, const Tensor& y);
// x to the power of y.
WEFT_API Tensor pow(const Tensor& x, const Tensor& y);
// The larger of two.
WEFT_API Tensor maximum(const Tensor& x, const Tensor& y);
// The smaller of two.
WEFT_API Tensor minimum(const Tensor& x, const Tensor& y);
// (x - y) * (x - y).
WEFT_API Tensor squared_difference(const Tensor& x, const Tensor& y);
// The angle of the point (x, y).
WEFT_API Tensor atan2(const Tensor& y, const Tensor& x);
// x * log(y), and 0 where x is 0.
WEFT_API Tensor xlogy(const Tensor& x, const Tensor& y);
// x / y, and 0 where x is 0.
WEFT_API Tensor xdivy(const Tensor& x, const Tensor& y);
// x * log(1 + y), and 0 where x is 0.
WEFT_API Tensor xlog1py(const Tensor& x, const Tensor& y);
// The regularized lower incomplete gamma function.
WEFT_API Tensor igamma(const Tensor& a, const Tensor& x);
// The regularized upper incomplete gamma function.
WEFT_API Tensor igammac(const Tensor& a, const Tensor& x);
// The regularized incomplete beta function.
WEFT_API Tensor betainc(const Tensor& a, const Tensor& b, const Tensor& x);
// Hurwitz's zeta function.
WEFT_API Tensor zeta(const Tensor& x, const Tensor& q);
// The derivative of order a + 1 of lgamma.
WEFT_API Tensor polygamma(const Tensor& a, const Tensor& x);
// The next number after x towards y.
WEFT_API Tensor nextafter(const Tensor& x, const Tensor& y);

// Whether x is y.
WEFT_API Tensor equal(const Tensor& x, const Tensor& y);
// Whether x is not y.
WEFT_API Tensor not_equal(const Tensor& x, const Tensor& y);
// Whether x < y.
WEFT_API Tensor less(const Tensor& x, const Tensor& y);
// Whether x <= y.
WEFT_API Tensor less_equal(const Tensor& x, const Tensor& y);
// Whether x > y.
WEFT_API Tensor greater(const Tensor& x, const Tensor& y);
// Whether x >= y.
WEFT_API Tensor greater_equal(const Tensor& x, const Tensor& y);
// Both true.
WEFT_API Tensor logical_and(const Tensor& x, const Tensor& y);
// One of them true, or both.
WEFT_API Tensor logical_or(const Tensor& x, const Tensor& y);
// Exactly one true.
WEFT_API Tensor logical_xor(const Tensor& x, const Tensor& y);
// Not true.
WEFT_API Tensor logical_not(const Tensor& x);

// How often 0, 1, 2, ... occur; the result has at least minlength and, if not negative, at most maxlength elements.
WEFT_API Tensor bincount(const Tensor& x, int64_t minlength = 0, int64_t maxlength = -1);
// Sums of rows with the same number; the numbers are sorted.
WEFT_API Tensor segment_sum(const Tensor& x, const Tensor& segment_ids);
// Means of rows with the same number.
WEFT_API Tensor segment_mean(const Tensor& x, const Tensor& segment_ids);
// The largest of rows with the same number.
WEFT_API Tensor segment_max(const Tensor& x, const Tensor& segment_ids);
// The smallest of rows with the same number.
WEFT_API Tensor segment_min(const Tensor& x, const Tensor& segment_ids);
// Products of rows with the same number.
WEFT_API Tensor segment_prod(const Tensor& x, const Tensor& segment_ids);
// Sums of rows with the same number, in any order.
WEFT_API Tensor unsorted_segment_sum(const Tensor& x, const Tensor& segment_ids, int64_t num_segments);
// The largest of rows with the same number, in any order.
WEFT_API Tensor unsorted_segment_max(const Tensor& x, const Tensor& segment_ids, int64_t num_segments);
// The smallest of rows with the same number, in any order.
WEFT_API Tensor unsorted_segment_min(const Tensor& x, const Tensor& segment_ids, int64_t num_segments);
// Products of rows with the same number, in any order.
WEFT_API Tensor unsorted_segment_prod(const Tensor& x, const Tensor& segment_ids, int64_t num_segments);
// Sums of rows with the same number, in any order, divided by the root of how many there are.
WEFT_API Tensor unsorted_segment_sqrt_n(const Tensor& x, const Tensor& segment_ids, int64_t num_segments);
// Means of rows with the same number, in any order; 0 where there are none.
WEFT_API Tensor unsorted_segment_mean(const Tensor& x, const Tensor& segment_ids, int64_t num_segments);
// How often label i was predicted as j.
WEFT_API Tensor confusion_matrix(const Tensor& labels, const Tensor& predictions, int64_t num_classes, DType dtype = DType::int32);
// Throws where an element is infinite or not a number; the message names it.
WEFT_API Tensor check_numerics(const Tensor& x, const std::string& message);

}  // namespace weft
