// Arithmetic on sparse tensors: sums, maxima, products with dense tensors, reductions, softmax.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/sparse_index.h"
#include "kernels/cpu/sparse_matmul.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/sparse/sparse_grad.h"
#include "ops/sparse/sparse_tensor.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::IndexPair;

#define WEFT_SPARSE_ADD float, double, int8_t, int16_t, int32_t, int64_t, complex64, complex128

// "2 3": a vector as TensorFlow prints it in messages.
std::string numbers(const Tensor& t) { return join(t.span<int64_t>(), " "); }

// --- two sparse operands

// The index rows of a merged pair list.
Status output_rows(KernelContext& c, const Tensor& a, const Tensor& b, std::span<const IndexPair> pairs, int64_t rank) {
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({int64_t(pairs.size()), rank})));
  int64_t* to = out->data<int64_t>();
  for (const IndexPair& p : pairs) {
    const int64_t* from = p.a >= 0 ? a.data<int64_t>() + p.a * rank : b.data<int64_t>() + p.b * rank;
    to = std::copy_n(from, rank, to);
  }
  return {};
}

Status check_equal_shapes(const Tensor& a, const Tensor& b) {
  if (a.rank() != 1 || b.rank() != 1) return invalid_argument("Input shapes should be a vector but received shapes ", a.shape(), " and ", b.shape());
  if (a.dim(0) != b.dim(0)) return invalid_argument("Operands do not have the same ranks; got shapes: ", numbers(a), " and ", numbers(b));
  for (int64_t d = 0; d < a.dim(0); ++d) {
    const int64_t x = a.data<int64_t>()[d], y = b.data<int64_t>()[d];
    if (x != y) return invalid_argument("Operands' shapes do not match: got ", x, " and ", y, " for dimension ", d);
  }
  return {};
}

Status check_add_inputs(const Tensor& ai, const Tensor& av, const Tensor& as, const Tensor& bi, const Tensor& bv, const Tensor& bs) {
  if (ai.rank() != 2 || bi.rank() != 2)
    return invalid_argument("Input indices should be matrices but received shapes: ", ai.shape(), " and ", bi.shape());
  if (av.rank() != 1 || bv.rank() != 1)
    return invalid_argument("Input values should be vectors but received shapes: ", av.shape(), " and ", bv.shape());
  if (av.dim(0) != ai.dim(0) || bv.dim(0) != bi.dim(0))
    return invalid_argument("Expected ", ai.dim(0), " and ", bi.dim(0), " non-empty input values, got ", av.dim(0), " and ", bv.dim(0));
  if (as.rank() != 1 || bs.rank() != 1) return check_equal_shapes(as, bs);
  if (as.dim(0) != ai.dim(1))
    return invalid_argument("Second dimension of a_indices and length of a_shape must match, got ", ai.dim(1), " and ", as.dim(0));
  if (bs.dim(0) != bi.dim(1))
    return invalid_argument("Second dimension of b_indices and length of b_shape must match, got ", bi.dim(1), " and ", bs.dim(0));
  return check_equal_shapes(as, bs);
}

// |x| in a type that holds it: the magnitude of the least int64 becomes itself, as in TensorFlow.
template <class T>
auto magnitude(T x) {
  if constexpr (std::is_integral_v<T>) return x < 0 ? int64_t(0 - uint64_t(int64_t(x))) : int64_t(x);
  else return std::abs(x);
}

template <class T, class Threshold>
std::vector<IndexPair> drop_small(std::vector<IndexPair> pairs, const T* a, const T* b, Threshold threshold) {
  std::erase_if(pairs,
                [&](const IndexPair& p) { return p.a >= 0 && p.b >= 0 && !(threshold <= Threshold(magnitude(kernels::wrap_add(a[p.a], b[p.b])))); });
  return pairs;
}

Status run_add(KernelContext& c) {
  const Tensor &ai = c.input(0), &av = c.input(1), &bi = c.input(3), &bv = c.input(4), &thresh = c.input(6);
  WEFT_RETURN_IF_ERROR(check_add_inputs(ai, av, c.input(2), bi, bv, c.input(5)));
  if (thresh.rank() != 0) return invalid_argument("The magnitude threshold must be a scalar: got shape ", thresh.shape());
  double real = 0;
  int64_t whole = 0;
  WEFT_RETURN_IF_ERROR((dispatch<WEFT_REALS>(thresh.dtype(), [&]<class R>(Tag<R>) {
    const R v = thresh.data<R>()[0];
    real = double(Wide<R>(v));
    if constexpr (std::is_integral_v<R>) whole = int64_t(v);
    return Status();
  })));
  const bool exact = is_integer_type(thresh.dtype());
  const int64_t rank = ai.dim(1);
  auto pairs = kernels::merge_index_rows(ai.data<int64_t>(), ai.dim(0), bi.data<int64_t>(), bi.dim(0), rank);
  return dispatch<WEFT_SPARSE_ADD>(av.dtype(), [&]<class T>(Tag<T>) {
    const T *a = av.data<T>(), *b = bv.data<T>();
    if constexpr (std::is_integral_v<T>) {
      pairs = exact ? drop_small(std::move(pairs), a, b, whole) : drop_small(std::move(pairs), a, b, real);
    } else {
      pairs = drop_small(std::move(pairs), a, b, real);
    }
    WEFT_RETURN_IF_ERROR(output_rows(c, ai, bi, pairs, rank));
    WEFT_ASSIGN(Tensor* out, c.allocate(1, Shape({int64_t(pairs.size())})));
    T* to = out->data<T>();
    for (const IndexPair& p : pairs) *to++ = p.b < 0 ? a[p.a] : p.a < 0 ? b[p.b] : kernels::wrap_add(a[p.a], b[p.b]);
    c.set_output(2, c.input(2));
    return Status();
  });
}

// Both lists walk along the sum's; a side without the sum's index keeps a zero gradient.
void gather_grads(const Tensor& side, const Tensor& sum, const Tensor& grad, Tensor& out) {
  const int64_t rank = side.dim(1);
  if (out.byte_size()) std::memset(out.raw(), 0, out.byte_size());
  for (int64_t i = 0, k = 0; i < side.dim(0) && k < sum.dim(0);) {
    const int order = kernels::compare_index_rows(side.data<int64_t>() + i * rank, sum.data<int64_t>() + k * rank, rank);
    if (order == 0) copy_elements(grad, k, out, i, 1);
    i += order <= 0;
    k += order >= 0;
  }
}

Status run_add_grad(KernelContext& c) {
  const Tensor &grad = c.input(0), &a = c.input(1), &b = c.input(2), &sum = c.input(3);
  if (a.rank() != 2 || b.rank() != 2 || sum.rank() != 2)
    return invalid_argument("Input indices should be matrices but received shapes: ", a.shape(), " and ", b.shape(), " and ", sum.shape());
  if (grad.rank() != 1) return invalid_argument("Input backprop_val_grad should be a vector but received shape: ", grad.shape());
  if (a.dim(1) != b.dim(1) || b.dim(1) != sum.dim(1))
    return invalid_argument("The densified operands should have the same ndims; for A, B, sum got: ", a.dim(1), b.dim(1), sum.dim(1));
  if (grad.dim(0) != sum.dim(0))
    return invalid_argument("# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): got ", grad.dim(0), " and ",
                            sum.dim(0));
  WEFT_ASSIGN(Tensor* da, c.allocate(0, Shape({a.dim(0)})));
  WEFT_ASSIGN(Tensor* db, c.allocate(1, Shape({b.dim(0)})));
  gather_grads(a, sum, grad, *da);
  gather_grads(b, sum, grad, *db);
  return {};
}

template <bool kMax>
Status run_extreme(KernelContext& c) {
  const Tensor &ai = c.input(0), &av = c.input(1), &as = c.input(2), &bi = c.input(3), &bv = c.input(4), &bs = c.input(5);
  WEFT_RETURN_IF_ERROR(check_sparse(ai, av, as, IndexCheck::kInRange));
  WEFT_RETURN_IF_ERROR(check_sparse(bi, bv, bs, IndexCheck::kInRange));
  WEFT_RETURN_IF_ERROR(check_equal_shapes(as, bs));
  const auto pairs = kernels::merge_index_rows(ai.data<int64_t>(), ai.dim(0), bi.data<int64_t>(), bi.dim(0), ai.dim(1));
  WEFT_RETURN_IF_ERROR(output_rows(c, ai, bi, pairs, ai.dim(1)));
  WEFT_ASSIGN(Tensor* out, c.allocate(1, Shape({int64_t(pairs.size())})));
  return dispatch<WEFT_REALS>(av.dtype(), [&]<class T>(Tag<T>) {
    const T *a = av.data<T>(), *b = bv.data<T>();
    T* to = out->data<T>();
    for (const IndexPair& p : pairs) {
      const T x = p.a >= 0 ? a[p.a] : T(0), y = p.b >= 0 ? b[p.b] : T(0);
      *to++ = (kMax ? x < y : y < x) ? y : x;
    }
    return Status();
  });
}

// --- a sparse and a dense operand

enum class Cwise { kAdd, kMul, kDiv };

// How far one step along each sparse dimension moves in the dense operand; 0 where that is broadcast.
Result<std::vector<int64_t>> broadcast_strides(const Shape& sparse, const Shape& dense) {
  std::vector<int64_t> strides(size_t(sparse.rank()), 0);
  bool fits = sparse.rank() >= dense.rank();
  int64_t stride = 1;
  for (int i = 1; fits && i <= dense.rank(); ++i) {
    const int64_t have = dense.dim(dense.rank() - i), want = sparse.dim(sparse.rank() - i);
    fits = want >= have && (have == want || have == 1);
    strides[size_t(sparse.rank() - i)] = have == 1 ? 0 : stride;
    stride *= have;
  }
  if (!fits) return invalid_argument("SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: ", sparse, " vs. ", dense);
  return strides;
}

// Where each sparse entry looks in the dense operand.
Result<Tensor> dense_positions(KernelContext& c, const Tensor& indices, const Shape& shape, const std::vector<int64_t>& strides) {
  const int64_t n = indices.dim(0), rank = shape.rank();
  WEFT_ASSIGN(Tensor at, c.temp(DType::kInt64, Shape({n})));
  const int64_t* ix = indices.data<int64_t>();
  for (int64_t i = 0; i < n; ++i, ix += rank) {
    int64_t sum = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (ix[d] < 0 || ix[d] >= shape.dim(int(d)))
        return invalid_argument("Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape");
      sum += ix[d] * strides[size_t(d)];
    }
    at.data<int64_t>()[i] = sum;
  }
  return at;
}

template <Cwise kOp, class T>
T combine(T x, T y) {
  if constexpr (kOp == Cwise::kAdd) return kernels::wrap_add(x, y);
  else if constexpr (kOp == Cwise::kMul) return kernels::wrap_multiply(x, y);
  else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) return y == T(-1) ? T(0 - uint64_t(x)) : T(x / y);
  else return T(x / y);
}

template <Cwise kOp>
Status run_cwise(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2), &dense = c.input(3);
  if (indices.rank() != 2) return invalid_argument("Input sp_indices should be a matrix but received shape: ", indices.shape());
  if (values.rank() != 1 || shape.rank() != 1)
    return invalid_argument("Inputs sp_values and sp_shape should be vectors but received shapes: ", values.shape(), " and ", shape.shape());
  const int64_t n = indices.dim(0), rank = shape.dim(0);
  if (values.dim(0) != n) return invalid_argument("The first dimension of values and indices should match. (", values.dim(0), " vs. ", n, ")");
  if (indices.dim(1) != rank)
    return invalid_argument("Number of dimensions must match second dimension of indices. Got ", rank,
                            " dimensions, indices shape: ", indices.shape());
  WEFT_ASSIGN(Shape sparse, dense_shape_of(shape));
  WEFT_ASSIGN(std::vector<int64_t> strides, broadcast_strides(sparse, dense.shape()));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({n})));
  if (n == 0) return {};
  if (rank < 1 || rank > 5) return invalid_argument("Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: ", rank);
  WEFT_ASSIGN(Tensor positions, dense_positions(c, indices, sparse, strides));
  const int64_t* at = positions.data<int64_t>();
  return dispatch<WEFT_REALS>(values.dtype(), [&]<class T>(Tag<T>) {
    const T *x = values.data<T>(), *y = dense.data<T>();
    T* to = out->data<T>();
    for (int64_t i = 0; i < n; ++i) {
      if (kOp == Cwise::kDiv && y[at[i]] == T(0))
        return invalid_argument("SparseDenseCwiseDiv cannot divide by zero,but input dense tensor contains zero ");
      to[i] = combine<kOp>(x[i], y[at[i]]);
    }
    return Status();
  });
}

// Index rows as int64, whatever the type they came in.
Result<Tensor> wide_indices(KernelContext& c, const Tensor& t) {
  if (t.dtype() == DType::kInt64) return t;
  WEFT_ASSIGN(Tensor out, c.temp(DType::kInt64, t.shape()));
  std::copy_n(t.data<int32_t>(), t.num_elements(), out.data<int64_t>());
  return out;
}

Status check_dense_add(const Tensor& indices, const Tensor& values, const Tensor& shape, const Tensor& b) {
  if (indices.rank() != 2) return invalid_argument("Input a_indices should be a matrix but received shape: ", indices.shape());
  if (values.rank() != 1 || shape.rank() != 1)
    return invalid_argument("Inputs a_values and a_shape should be vectors but received shapes: ", values.shape(), " and ", shape.shape());
  if (values.dim(0) != indices.dim(0)) return invalid_argument("Dimensions ", indices.dim(0), " and ", values.dim(0), " are not compatible");
  if (shape.dim(0) != indices.dim(1)) return invalid_argument("Dimensions ", indices.dim(1), " and ", shape.dim(0), " are not compatible");
  if (shape.dim(0) != b.rank()) return invalid_argument("Two operands have different ranks; received: ", shape.dim(0), " and ", b.rank());
  return {};
}

Status run_dense_add(KernelContext& c) {
  const Tensor &values = c.input(1), &b = c.input(3);
  WEFT_RETURN_IF_ERROR(check_dense_add(c.input(0), values, c.input(2), b));
  WEFT_ASSIGN(Tensor shape, wide_indices(c, c.input(2)));
  WEFT_ASSIGN(Tensor indices, wide_indices(c, c.input(0)));
  const int64_t n = indices.dim(0), rank = b.rank();
  const int64_t *ix = indices.data<int64_t>(), *limit = shape.data<int64_t>();
  for (int d = 0; d < rank; ++d) {
    if (limit[d] != b.dim(d))
      return invalid_argument("Dimension ", d, " does not equal (no broadcasting is supported): sparse side ", limit[d], " vs dense side ", b.dim(d));
  }
  for (int64_t i = 0; i < n * rank; ++i) {
    if (ix[i] < 0 || ix[i] >= limit[i % rank])
      return invalid_argument("Sparse tensor has an invalid index on dimension ", i % rank, ": a_indices(", i / rank, ",", i % rank, ") = ", ix[i],
                              ", dense tensor shape: ", numbers(shape));
  }
  if (rank < 1 || rank > 5) return invalid_argument("Only tensors with ranks between 1 and 5 are currently supported.  Tensor rank: ", rank);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, b.shape()));
  return dispatch<WEFT_NUMBERS>(values.dtype(), [&]<class T>(Tag<T>) {
    T* to = std::copy_n(b.data<T>(), b.num_elements(), out->data<T>()) - b.num_elements();
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = 0;
      for (int64_t d = 0; d < rank; ++d) at = at * b.dim(int(d)) + ix[i * rank + d];
      to[at] = kernels::wrap_add(to[at], values.data<T>()[i]);
    }
    return Status();
  });
}

struct SparseTensorDenseMatMul {
  bool adjoint_a, adjoint_b;

  static Result<SparseTensorDenseMatMul> make(const NodeInfo& node) {
    return SparseTensorDenseMatMul{node.attr<bool>("adjoint_a"), node.attr<bool>("adjoint_b")};
  }

  static Status check(const Tensor& indices, const Tensor& values, const Tensor& shape, const Tensor& b) {
    if (b.rank() != 2) return invalid_argument("Tensor 'b' is not a matrix");
    if (shape.rank() != 1) return invalid_argument("Tensor 'a_shape' is not a vector");
    if (shape.dim(0) != 2) return invalid_argument("Tensor 'a_shape' must have 2 elements");
    if (values.rank() != 1) return invalid_argument("Tensor 'a_values' is not a vector");
    if (indices.rank() != 2) return invalid_argument("Tensor 'a_indices' is not a matrix");
    if (indices.dim(0) != values.dim(0)) return invalid_argument("Number of rows of a_indices does not match number of entries in a_values");
    if (indices.dim(1) != 2) return invalid_argument("Number of columns of a_indices does not match number of entries in a_shape");
    return {};
  }

  Status run(KernelContext& c) const {
    const Tensor &values = c.input(1), &shape = c.input(2), &b = c.input(3);
    WEFT_RETURN_IF_ERROR(check(c.input(0), values, shape, b));
    const int64_t* a_shape = shape.data<int64_t>();
    const int64_t rows = a_shape[adjoint_a], inner = a_shape[!adjoint_a];
    const int64_t columns = b.dim(adjoint_b ? 0 : 1), b_inner = b.dim(adjoint_b ? 1 : 0);
    if (inner != b_inner)
      return invalid_argument("Cannot multiply A and B because inner dimension does not match: ", inner, " vs. ", b_inner,
                              ".  Did you forget a transpose?  Dimensions of A: [", a_shape[0], ", ", a_shape[1], ").  Dimensions of B: ", b.shape());
    WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({rows, columns})));
    if (out->num_elements() == 0) return {};
    if (values.dim(0) == 0 || b.num_elements() == 0) {
      std::memset(out->raw(), 0, out->byte_size());
      return {};
    }
    WEFT_ASSIGN(Tensor indices, wide_indices(c, c.input(0)));
    const int64_t* ix = indices.data<int64_t>();
    for (int64_t i = 0; i < values.dim(0); ++i) {
      const int64_t m = ix[2 * i + adjoint_a], k = ix[2 * i + !adjoint_a];
      if (k < 0 || k >= inner) return invalid_argument("k (", k, ") from index[", i, ",", int(!adjoint_a), "] out of bounds (>=", inner, ")");
      if (m < 0 || m >= rows) return invalid_argument("m (", m, ") from index[", i, ",", int(adjoint_a), "] out of bounds (>=", rows, ")");
    }
    return dispatch<float, double, int32_t, complex64, complex128, half, bfloat16>(
        values.dtype(), [&]<class T>(Tag<T>) { return multiply<T>(c, ix, values, b, *out); });
  }

  // Narrow floats are summed in float; an adjoint B is transposed first, so that the loop always runs along rows.
  template <class T>
  Status multiply(KernelContext& c, const int64_t* ix, const Tensor& values, const Tensor& b, Tensor& out) const {
    using W = Wide<T>;
    constexpr bool kNarrow = is_narrow_float<T>;
    const int64_t n = values.dim(0), columns = out.dim(1), inner = b.dim(adjoint_b ? 1 : 0);
    const T* right = b.data<T>();
    Tensor transposed, wide;
    if (adjoint_b) {
      WEFT_ASSIGN(transposed, c.temp(b.dtype(), Shape({inner, columns})));
      T* to = transposed.data<T>();
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t k = 0; k < inner; ++k) {
          if constexpr (is_complex<T>) to[k * columns + j] = std::conj(right[j * inner + k]);
          else to[k * columns + j] = right[j * inner + k];
        }
      }
      right = to;
    }
    W* sums;
    if constexpr (kNarrow) {
      WEFT_ASSIGN(wide, c.temp(DType::kFloat, out.shape()));
      sums = wide.data<float>();
    } else {
      sums = out.data<T>();
    }
    std::fill_n(sums, out.num_elements(), W(0));
    // Blocks of columns are independent, and each sums the entries in the order they are in.
    constexpr int64_t kBlock = 64;
    c.pool().parallel_for((columns + kBlock - 1) / kBlock, double(n) * kBlock / 4, [&](int64_t begin, int64_t end) {
      const kernels::SparseProduct<T, W> work{
          ix, values.data<T>(), n, adjoint_a, adjoint_a, right, sums, columns, begin * kBlock, std::min(end * kBlock, columns)};
      kernels::multiply_sparse_dense(work);
    });
    if constexpr (kNarrow) std::transform(sums, sums + out.num_elements(), out.data<T>(), [](float v) { return T(v); });
    return {};
  }
};

// --- reductions

struct ReducePlan {
  Shape shape;                       // the dense shape of the input
  std::vector<int64_t> kept, order;  // the dimensions that stay; those first, then the others
  Shape result;
};

Result<ReducePlan> plan_reduce(KernelContext& c) {
  const Tensor &shape = c.input(2), &axes = c.input(3);
  if (shape.rank() != 1) return invalid_argument("Expected input_shape to be a vector; got shape: ", shape.shape());
  if (axes.rank() > 1) return invalid_argument("Expected reduction_axes to be a scalar or a vector; got shape: ", axes.shape());
  const int64_t rank = shape.dim(0);
  ReducePlan plan;
  std::vector<bool> gone(size_t(rank), false);
  for (int32_t a : axes.span<int32_t>()) {
    if (a < -rank || a >= rank) return invalid_argument("Invalid reduction dimension ", a, ", for input with ", rank, " dimensions.");
    gone[size_t(a < 0 ? a + rank : a)] = true;
  }
  WEFT_ASSIGN(plan.shape, dense_shape_of(shape));
  WEFT_RETURN_IF_ERROR(check_sparse_parts(c.input(0), c.input(1), rank));
  std::vector<int64_t> dims, rest;
  for (int64_t d = 0; d < rank; ++d) {
    (gone[size_t(d)] ? rest : plan.kept).push_back(d);
    if (!gone[size_t(d)]) dims.push_back(plan.shape.dim(int(d)));
    else if (c.attr<bool>("keep_dims")) dims.push_back(1);
  }
  plan.order = plan.kept;
  plan.order.insert(plan.order.end(), rest.begin(), rest.end());
  plan.result = Shape(dims);
  return plan;
}

// Calls f(first row of the group, rows of the group) for each run of equal kept indices.
template <class F>
Status each_group(const int64_t* ix, int64_t rank, std::span<const int64_t> rows, std::span<const int64_t> kept, F f) {
  for (size_t begin = 0; begin < rows.size();) {
    const int64_t* first = ix + rows[begin] * rank;
    size_t end = begin + 1;
    while (end < rows.size() && std::ranges::all_of(kept, [&](int64_t d) { return ix[rows[end] * rank + d] == first[d]; })) ++end;
    WEFT_RETURN_IF_ERROR(f(first, rows.subspan(begin, end - begin)));
    begin = end;
  }
  return {};
}

template <bool kMax, class T>
T reduce_group(const T* values, std::span<const int64_t> rows) {
  Wide<T> total = Wide<T>(values[rows[0]]);
  for (size_t i = 1; i < rows.size(); ++i) {
    const Wide<T> v = Wide<T>(values[rows[i]]);
    if constexpr (kMax) total = total < v ? v : total;
    else total = kernels::wrap_add(total, v);
  }
  return T(total);
}

template <bool kMax, class F>
Status dispatch_reduce(DType t, F f) {
  if constexpr (kMax) return dispatch<WEFT_REALS>(t, f);
  else return dispatch<WEFT_NUMBERS>(t, f);
}

template <bool kMax>
Status run_reduce(KernelContext& c) {
  WEFT_ASSIGN(ReducePlan plan, plan_reduce(c));
  const Tensor &indices = c.input(0), &values = c.input(1);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, plan.result));
  if (out->byte_size()) std::memset(out->raw(), 0, out->byte_size());
  const int64_t rank = plan.shape.rank(), *ix = indices.data<int64_t>();
  const auto rows = kernels::sort_index_rows(ix, indices.dim(0), rank, plan.order);
  return dispatch_reduce<kMax>(values.dtype(), [&]<class T>(Tag<T>) {
    return each_group(ix, rank, rows, plan.kept, [&](const int64_t* at, std::span<const int64_t> group) -> Status {
      uint64_t flat = 0;
      for (int64_t d : plan.kept) flat = flat * uint64_t(plan.shape.dim(int(d))) + uint64_t(at[d]);
      if (flat >= uint64_t(out->num_elements()))
        return internal_error("Obtained a write index of ", int64_t(flat), " which is outside of bounds of [0, ", out->num_elements(), ")");
      out->data<T>()[flat] = reduce_group<kMax>(values.data<T>(), group);
      return {};
    });
  });
}

template <bool kMax>
Status run_reduce_sparse(KernelContext& c) {
  WEFT_ASSIGN(ReducePlan plan, plan_reduce(c));
  const Tensor &indices = c.input(0), &values = c.input(1);
  const int64_t rank = plan.shape.rank(), *ix = indices.data<int64_t>();
  const bool keep = c.attr<bool>("keep_dims");
  const auto rows = kernels::sort_index_rows(ix, indices.dim(0), rank, plan.order);
  int64_t groups = 0;
  WEFT_RETURN_IF_ERROR(each_group(ix, rank, rows, plan.kept, [&](const int64_t*, std::span<const int64_t>) {
    ++groups;
    return Status();
  }));
  WEFT_ASSIGN(Tensor* out_indices, c.allocate(0, Shape({groups, int64_t(plan.result.rank())})));
  WEFT_ASSIGN(Tensor* out_values, c.allocate(1, Shape({groups})));
  WEFT_ASSIGN(Tensor* out_shape, c.allocate(2, Shape({int64_t(plan.result.rank())})));
  std::copy_n(plan.result.dims().data(), plan.result.rank(), out_shape->data<int64_t>());
  return dispatch_reduce<kMax>(values.dtype(), [&]<class T>(Tag<T>) {
    int64_t* to = out_indices->data<int64_t>();
    T* to_value = out_values->data<T>();
    return each_group(ix, rank, rows, plan.kept, [&](const int64_t* at, std::span<const int64_t> group) {
      if (keep) {
        std::fill_n(to, rank, 0);
        for (int64_t d : plan.kept) to[d] = at[d];
        to += rank;
      } else {
        for (int64_t d : plan.kept) *to++ = at[d];
      }
      *to_value++ = reduce_group<kMax>(values.data<T>(), group);
      return Status();
    });
  });
}

Status run_softmax(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  if (indices.rank() != 2) return invalid_argument("Input sp_indices should be a matrix but received shape: ", indices.shape());
  if (values.rank() != 1 || shape.rank() != 1)
    return invalid_argument("Inputs sp_values and sp_shape should be vectors but received shapes: ", values.shape(), " and ", shape.shape());
  const int64_t rank = shape.dim(0);
  if (rank < 2) return invalid_argument("Input should have rank >= 2, but received shape: ", numbers(shape));
  WEFT_RETURN_IF_ERROR(dense_shape_of(shape).status());
  WEFT_RETURN_IF_ERROR(check_sparse_parts(indices, values, rank));
  std::vector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  const int64_t* ix = indices.data<int64_t>();
  const auto rows = kernels::sort_index_rows(ix, indices.dim(0), rank, order);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({indices.dim(0)})));
  order.pop_back();
  return dispatch<half, float, double>(values.dtype(), [&]<class T>(Tag<T>) {
    using W = Wide<T>;
    T* to = out->data<T>();
    return each_group(ix, rank, rows, order, [&](const int64_t*, std::span<const int64_t> group) {
      const W top = W(reduce_group<true>(values.data<T>(), group));
      W sum = 0;
      for (int64_t i : group) sum += std::exp(W(values.data<T>()[i]) - top);
      for (int64_t i : group) *to++ = T(std::exp(W(values.data<T>()[i]) - top) / sum);
      return Status();
    });
  });
}

// --- shape rules

Status add_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape shape, c.with_rank(2, 1));
  c.output(0, PartialShape::matrix(kUnknownDim, shape.dim(0)));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, shape);
  return {};
}

Status add_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape a, c.with_rank(1, 2));
  WEFT_ASSIGN(PartialShape b, c.with_rank(2, 2));
  c.output(0, PartialShape::vector(a.dim(0)));
  c.output(1, PartialShape::vector(b.dim(0)));
  return {};
}

Status extreme_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 3));
  c.output(0, PartialShape::matrix(kUnknownDim, kUnknownDim));
  c.output(1, PartialShape::vector(kUnknownDim));
  return {};
}

Status cwise_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape indices, c.with_rank(0, 2));
  c.output(0, PartialShape::vector(indices.dim(0)));
  return {};
}

Status dense_add_shape(ShapeContext& c) {
  c.output(0, c.input(3));
  return {};
}

Status matmul_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 2).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  WEFT_ASSIGN(PartialShape a, c.constant_shape(2));
  if (!a.has_rank()) a = PartialShape::unknown_of_rank(2);
  if (a.rank() != 2) return invalid_argument("Shape must be rank 2 but is rank ", a.rank());
  WEFT_ASSIGN(PartialShape b, c.with_rank(3, 2));
  const bool adjoint_a = c.attr<bool>("adjoint_a"), adjoint_b = c.attr<bool>("adjoint_b");
  WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(a.dim(!adjoint_a), b.dim(adjoint_b)).status());
  c.output(0, PartialShape::matrix(a.dim(adjoint_a), b.dim(!adjoint_b)));
  return {};
}

Status reduce_shape(ShapeContext& c) {
  const auto dims = c.constant_ints(2), axes = c.constant_ints(3);
  if (!dims || !axes) return {};
  if (dims->empty()) return invalid_argument("Number of dims in shape tensor must not be 0");
  for (int64_t d : *dims) {
    if (d < 0) return {};
  }
  WEFT_ASSIGN(PartialShape out, shapes::reduced(PartialShape(*dims), axes, c.attr<bool>("keep_dims")));
  c.output(0, std::move(out));
  return {};
}

Status softmax_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  c.output(0, *c.with_rank(1, 1));
  return {};
}

}  // namespace

void sparse_math(Registry& r) {
  r.add("SparseAdd")
      .in("a_indices: int64")
      .in("a_values: T")
      .in("a_shape: int64")
      .in("b_indices: int64")
      .in("b_values: T")
      .in("b_shape: int64")
      .in("thresh: Treal")
      .out("sum_indices: int64")
      .out("sum_values: T")
      .out("sum_shape: int64")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Treal: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("Adds two sparse tensors of one shape; where both have a value, sums smaller than the threshold are left out.")
      .shape(add_shape)
      .grad(sparse_add_grad)
      .cpu(run_add, types<WEFT_SPARSE_ADD>("T"));

  r.add("SparseAddGrad")
      .in("backprop_val_grad: T")
      .in("a_indices: int64")
      .in("b_indices: int64")
      .in("sum_indices: int64")
      .out("a_val_grad: T")
      .out("b_val_grad: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("Gradient of SparseAdd for the values of both operands.")
      .shape(add_grad_shape)
      .no_grad()
      .cpu(run_add_grad, types<WEFT_SPARSE_ADD>("T"));

  r.add("SparseDenseCwiseAdd")
      .in("sp_indices: int64")
      .in("sp_values: T")
      .in("sp_shape: int64")
      .in("dense: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("Adds a dense tensor, broadcast to the sparse shape, to the values of a sparse tensor.")
      .shape(cwise_shape)
      .grad(no_sparse_gradient)
      .cpu(run_cwise<Cwise::kAdd>, types<WEFT_REALS>("T"));

  r.add("SparseDenseCwiseDiv")
      .in("sp_indices: int64")
      .in("sp_values: T")
      .in("sp_shape: int64")
      .in("dense: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("Divides the values of a sparse tensor by a dense tensor that is broadcast to its shape.")
      .shape(cwise_shape)
      .grad(sparse_dense_div_grad)
      .cpu(run_cwise<Cwise::kDiv>, types<WEFT_REALS>("T"));

  r.add("SparseDenseCwiseMul")
      .in("sp_indices: int64")
      .in("sp_values: T")
      .in("sp_shape: int64")
      .in("dense: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("Multiplies the values of a sparse tensor by a dense tensor that is broadcast to its shape.")
      .shape(cwise_shape)
      .grad(sparse_dense_mul_grad)
      .cpu(run_cwise<Cwise::kMul>, types<WEFT_REALS>("T"));

  r.add("SparseReduceMax")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .in("reduction_axes: int32")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("Largest values of a sparse tensor along axes, as a dense tensor.")
      .shape(reduce_shape)
      .cpu(run_reduce<true>, types<WEFT_REALS>("T"));

  r.add("SparseReduceMaxSparse")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .in("reduction_axes: int32")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("output_shape: int64")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("Largest values of a sparse tensor along axes, as a sparse tensor.")
      .shape(shapes::unknown)
      .cpu(run_reduce_sparse<true>, types<WEFT_REALS>("T"));

  r.add("SparseReduceSum")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .in("reduction_axes: int32")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("Sums of a sparse tensor along axes, as a dense tensor.")
      .shape(reduce_shape)
      .grad(sparse_reduce_sum_grad)
      .cpu(run_reduce<false>, types<WEFT_NUMBERS>("T"));

  r.add("SparseReduceSumSparse")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .in("reduction_axes: int32")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("output_shape: int64")
      .attr("keep_dims: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("Sums of a sparse tensor along axes, as a sparse tensor.")
      .shape(shapes::unknown)
      .cpu(run_reduce_sparse<false>, types<WEFT_NUMBERS>("T"));

  r.add("SparseSoftmax")
      .in("sp_indices: int64")
      .in("sp_values: T")
      .in("sp_shape: int64")
      .out("output: T")
      .attr("T: {half, float, double}")
      .doc("Softmax over the values present in each innermost row of a sparse tensor.")
      .shape(softmax_shape)
      .grad(sparse_softmax_grad)
      .cpu(run_softmax);

  r.add("SparseSparseMaximum")
      .in("a_indices: int64")
      .in("a_values: T")
      .in("a_shape: int64")
      .in("b_indices: int64")
      .in("b_values: T")
      .in("b_shape: int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("The larger of two sparse tensors, element by element; missing values count as zero.")
      .shape(extreme_shape)
      .grad(no_sparse_gradient)
      .cpu(run_extreme<true>, types<WEFT_REALS>("T"));

  r.add("SparseSparseMinimum")
      .in("a_indices: int64")
      .in("a_values: T")
      .in("a_shape: int64")
      .in("b_indices: int64")
      .in("b_values: T")
      .in("b_shape: int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("The smaller of two sparse tensors, element by element; missing values count as zero.")
      .shape(extreme_shape)
      .grad(no_sparse_gradient)
      .cpu(run_extreme<false>, types<WEFT_REALS>("T"));

  r.add("SparseTensorDenseAdd")
      .in("a_indices: Tindices")
      .in("a_values: T")
      .in("a_shape: Tindices")
      .in("b: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .doc("Adds a sparse tensor to a dense one of the same shape.")
      .shape(dense_add_shape)
      .grad(sparse_dense_add_grad)
      .cpu(run_dense_add, types<WEFT_NUMBERS>("T"));

  r.add("SparseTensorDenseMatMul")
      .in("a_indices: Tindices")
      .in("a_values: T")
      .in("a_shape: int64")
      .in("b: T")
      .out("product: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64} = DT_INT64")
      .attr("adjoint_a: bool = false")
      .attr("adjoint_b: bool = false")
      .doc("Multiplies a sparse matrix by a dense one; either may be taken as its adjoint.")
      .shape(matmul_shape)
      .grad(sparse_dense_matmul_grad)
      .cpu<SparseTensorDenseMatMul>(types<float, double, int32_t, complex64, complex128, half, bfloat16>("T"));
}

}  // namespace weft_engine::ops
