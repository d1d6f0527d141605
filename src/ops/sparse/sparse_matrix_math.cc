// Arithmetic on CSR matrices: products, sums, transposes, softmax, Cholesky factors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/csr.h"
#include "kernels/cpu/sparse_matmul.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/sparse/sparse_matrix.h"
#include "ops/sparse/sparse_matrix_grad.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

#define WEFT_CSR_TYPES float, double, complex64, complex128

template <class T>
kernels::CsrView<T> view(const CsrMatrix& m, int64_t b) {
  return {m.num_rows(), m.num_columns(), m.rows_of(b), m.columns_of(b), m.values_of<T>(b)};
}

// One matrix from the parts of each of its batch.
template <class T>
Result<std::shared_ptr<CsrMatrix>> assemble(const std::vector<kernels::CsrParts<T>>& parts, const Shape& shape) {
  auto m = std::make_shared<CsrMatrix>();
  m->shape = shape;
  int64_t total = 0;
  for (const auto& p : parts) total += int64_t(p.values.size());
  if (total > std::numeric_limits<int32_t>::max()) return resource_exhausted("a CSR matrix must have fewer than 2^31 entries, got ", total);
  const int64_t rows = m->num_rows() + 1, batch = int64_t(parts.size());
  WEFT_ASSIGN(m->batch_pointers, Tensor::allocate(DType::kInt32, Shape({batch + 1})));
  WEFT_ASSIGN(m->row_pointers, Tensor::allocate(DType::kInt32, Shape({batch * rows})));
  WEFT_ASSIGN(m->columns, Tensor::allocate(DType::kInt32, Shape({total})));
  WEFT_ASSIGN(m->values, Tensor::allocate(dtype_of<T>, Shape({total})));
  int32_t at = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const auto& p = parts[size_t(b)];
    m->batch_pointers.data<int32_t>()[b] = at;
    std::copy(p.row_pointers.begin(), p.row_pointers.end(), m->row_pointers.data<int32_t>() + b * rows);
    std::copy(p.column_indices.begin(), p.column_indices.end(), m->columns.data<int32_t>() + at);
    std::copy(p.values.begin(), p.values.end(), m->values.data<T>() + at);
    at += int32_t(p.values.size());
  }
  m->batch_pointers.data<int32_t>()[batch] = at;
  return m;
}

// The same entries with other values.
std::shared_ptr<CsrMatrix> with_values(const CsrMatrix& m, Tensor values) {
  auto out = std::make_shared<CsrMatrix>(m);
  out->values = std::move(values);
  return out;
}

struct Orientation {
  bool transpose, conjugate;
};

Result<Orientation> read_orientation(const NodeInfo& node, char which) {
  const std::string adjoint = cat("adjoint_", which), transpose = cat("transpose_", which);
  const bool a = node.attr<bool>(adjoint), t = node.attr<bool>(transpose);
  if (a && t) return invalid_argument("Only one of ", adjoint, " and ", transpose, " may be true.");
  return Orientation{a || t, a};
}

Shape with_matrix(const Shape& shape, int64_t rows, int64_t columns) {
  return shape.with_dim(shape.rank() - 2, rows).with_dim(shape.rank() - 1, columns);
}

// Work arrays of the kernels are as long as the matrix has rows and columns, which may be far more than entries.
Status check_room(KernelContext& c, const CsrMatrix& m) { return c.temp(DType::kInt64, Shape({m.num_rows() + m.num_columns() + 2, 4})).status(); }

// --- sparse times dense

template <class T>
void transpose_matrix(const T* from, int64_t rows, int64_t columns, bool conjugate, T* to) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < columns; ++k) {
      T v = from[r * columns + k];
      if constexpr (is_complex<T>) v = conjugate ? std::conj(v) : v;
      to[k * rows + r] = v;
    }
  }
}

struct SparseMatrixMatMul {
  Orientation a, b;
  bool transpose_output, conjugate_output;

  static Result<SparseMatrixMatMul> make(const NodeInfo& node) {
    WEFT_ASSIGN(Orientation a, read_orientation(node, 'a'));
    WEFT_ASSIGN(Orientation b, read_orientation(node, 'b'));
    return SparseMatrixMatMul{a, b, node.attr<bool>("transpose_output"), node.attr<bool>("conjugate_output")};
  }

  Status run(KernelContext& c) const {
    WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
    const Tensor& dense = c.input(1);
    const int rank = m->shape.rank();
    if (m->dtype() != dense.dtype()) return invalid_argument("Input types don't match.  a.dtype == ", m->dtype(), " vs. b.dtype == ", dense.dtype());
    if (rank != dense.rank()) return invalid_argument("Ranks of a and b must match, saw: ", rank, " vs. ", dense.rank(), ".");
    const int64_t batch = rank == 2 ? 1 : dense.dim(0);
    if (m->batch() != batch) return invalid_argument("Batch sizes of a and b must match, saw: ", m->batch(), " vs. ", batch, ".");
    const int64_t rows = a.transpose ? m->num_columns() : m->num_rows(), inner = a.transpose ? m->num_rows() : m->num_columns();
    const int64_t columns = dense.dim(b.transpose ? rank - 2 : rank - 1), b_inner = dense.dim(b.transpose ? rank - 1 : rank - 2);
    if (inner != b_inner) return invalid_argument("Inner product dimensions of A and B do not agree. Shapes are: ", m->shape, " vs. ", dense.shape());
    const Shape shape = transpose_output ? with_matrix(dense.shape(), columns, rows) : with_matrix(dense.shape(), rows, columns);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    if (out->num_elements() == 0) return {};
    return dispatch<WEFT_CSR_TYPES>(dense.dtype(), [&]<class T>(Tag<T>) { return multiply<T>(c, *m, dense, rows, columns, inner, *out); });
  }

  template <class T>
  Status multiply(KernelContext& c, const CsrMatrix& m, const Tensor& dense, int64_t rows, int64_t columns, int64_t inner, Tensor& out) const {
    const bool copies_b = b.transpose || (is_complex<T> && b.conjugate);
    WEFT_ASSIGN(Tensor transposed, c.temp(dense.dtype(), Shape({copies_b ? inner * columns : 0})));
    WEFT_ASSIGN(Tensor product, c.temp(dense.dtype(), Shape({transpose_output ? rows * columns : 0})));
    for (int64_t i = 0; i < m.batch(); ++i) {
      WEFT_ASSIGN(Tensor pairs, c.temp(DType::kInt64, Shape({m.entries(i), 2})));
      int64_t* to = pairs.data<int64_t>();
      for (int64_t r = 0; r < m.num_rows(); ++r) {
        for (int64_t e = m.rows_of(i)[r]; e < m.rows_of(i)[r + 1]; ++e) {
          *to++ = r;
          *to++ = m.columns_of(i)[e];
        }
      }
      const T* right = dense.data<T>() + i * inner * columns;
      if (copies_b) {
        transpose_matrix(right, columns, inner, b.conjugate, transposed.data<T>());
        right = transposed.data<T>();
      }
      T* final_place = out.data<T>() + i * rows * columns;
      T* sums = transpose_output ? product.data<T>() : final_place;
      std::fill_n(sums, rows * columns, T(0));
      constexpr int64_t kBlock = 64;
      c.pool().parallel_for((columns + kBlock - 1) / kBlock, double(m.entries(i)) * kBlock / 4, [&](int64_t begin, int64_t end) {
        const kernels::SparseProduct<T, T> work{
            pairs.data<int64_t>(),          m.values_of<T>(i), m.entries(i), a.transpose, a.conjugate, right, sums, columns, begin * kBlock,
            std::min(end * kBlock, columns)};
        kernels::multiply_sparse_dense(work);
      });
      if (transpose_output) transpose_matrix(sums, rows, columns, conjugate_output, final_place);
      else if constexpr (is_complex<T>) {
        if (conjugate_output) std::transform(sums, sums + rows * columns, sums, [](T v) { return std::conj(v); });
      }
    }
    return {};
  }
};

// --- sparse times sparse, sums, transposes

template <class T>
kernels::CsrParts<T> copy_parts(const CsrMatrix& m, int64_t b) {
  const auto v = view<T>(m, b);
  return {{v.row_pointers, v.row_pointers + v.rows + 1}, {v.column_indices, v.column_indices + v.entries()}, {v.values, v.values + v.entries()}};
}

template <class T>
kernels::CsrParts<T> transposed(const CsrMatrix& m, int64_t b, Orientation orientation) {
  return orientation.transpose ? kernels::csr_transpose(view<T>(m, b), orientation.conjugate) : copy_parts<T>(m, b);
}

struct SparseMatrixSparseMatMul {
  Orientation a, b;

  static Result<SparseMatrixSparseMatMul> make(const NodeInfo& node) {
    WEFT_ASSIGN(Orientation a, read_orientation(node, 'a'));
    WEFT_ASSIGN(Orientation b, read_orientation(node, 'b'));
    return SparseMatrixSparseMatMul{a, b};
  }

  Status run(KernelContext& c) const {
    WEFT_ASSIGN(const CsrMatrix* x, csr_input(c, 0));
    WEFT_ASSIGN(const CsrMatrix* y, csr_input(c, 1));
    const DType dtype = c.attr<DType>("type");
    if (x->dtype() != dtype) return invalid_argument("dtype of a is not equal to 'type': ", x->dtype(), " vs. ", dtype);
    if (y->dtype() != dtype) return invalid_argument("dtype of b is not equal to 'type': ", y->dtype(), " vs. ", dtype);
    const int64_t rows = a.transpose ? x->num_columns() : x->num_rows(), inner = a.transpose ? x->num_rows() : x->num_columns();
    const int64_t columns = b.transpose ? y->num_rows() : y->num_columns(), y_inner = b.transpose ? y->num_columns() : y->num_rows();
    if (inner != y_inner || x->shape.rank() != y->shape.rank())
      return invalid_argument("Inner product dimensions of A and B do not agree.  Shapes are: ", x->shape, " vs. ", y->shape);
    if (x->batch() != y->batch()) return invalid_argument("Batch sizes of a and b must match, saw: ", x->batch(), " vs. ", y->batch(), ".");
    WEFT_RETURN_IF_ERROR(check_room(c, *x));
    WEFT_RETURN_IF_ERROR(check_room(c, *y));
    const Shape shape = with_matrix(x->shape, rows, columns);
    WEFT_RETURN_IF_ERROR(check_csr_shape(shape));
    return dispatch<WEFT_CSR_TYPES>(dtype, [&]<class T>(Tag<T>) -> Status {
      std::vector<kernels::CsrParts<T>> parts;
      for (int64_t i = 0; i < x->batch(); ++i) {
        const auto p = transposed<T>(*x, i, a), q = transposed<T>(*y, i, b);
        auto product = kernels::csr_multiply<T>({rows, inner, p.row_pointers.data(), p.column_indices.data(), p.values.data()},
                                                {inner, columns, q.row_pointers.data(), q.column_indices.data(), q.values.data()});
        if (!product) return resource_exhausted("the product of two CSR matrices has 2^31 entries or more");
        parts.push_back(std::move(*product));
      }
      WEFT_ASSIGN(std::shared_ptr<CsrMatrix> m, assemble(parts, shape));
      return csr_output(c, 0, std::move(m));
    });
  }
};

Status run_transpose(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
  const DType dtype = c.attr<DType>("type");
  if (m->dtype() != dtype) return invalid_argument("dtype of input is not equal to 'type': ", m->dtype(), " vs. ", dtype);
  const Shape shape = with_matrix(m->shape, m->num_columns(), m->num_rows());
  WEFT_RETURN_IF_ERROR(check_csr_shape(shape));
  WEFT_RETURN_IF_ERROR(check_room(c, *m));
  return dispatch<WEFT_CSR_TYPES>(dtype, [&]<class T>(Tag<T>) -> Status {
    std::vector<kernels::CsrParts<T>> parts;
    for (int64_t b = 0; b < m->batch(); ++b) parts.push_back(kernels::csr_transpose(view<T>(*m, b), c.attr<bool>("conjugate")));
    WEFT_ASSIGN(std::shared_ptr<CsrMatrix> out, assemble(parts, shape));
    return csr_output(c, 0, std::move(out));
  });
}

Status run_add(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* a, csr_input(c, 0));
  WEFT_ASSIGN(const CsrMatrix* b, csr_input(c, 1));
  const Tensor &alpha = c.input(2), &beta = c.input(3);
  const DType dtype = c.attr<DType>("T");
  if (a->dtype() != dtype || b->dtype() != dtype)
    return invalid_argument("dtypes of a and b must be ", dtype, ", got: ", a->dtype(), " and ", b->dtype());
  if (alpha.rank() != 0 || beta.rank() != 0)
    return invalid_argument("alpha and beta must be scalars, got shapes ", alpha.shape(), " and ", beta.shape());
  WEFT_ASSIGN(std::shared_ptr<CsrMatrix> out, csr_sum(*a, alpha, *b, beta));
  return csr_output(c, 0, std::move(out));
}

Status run_mul(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* a, csr_input(c, 0));
  const Tensor& b = c.input(1);
  if (a->dtype() != b.dtype()) return invalid_argument("Input types don't match.  a.dtype == ", a->dtype(), " vs. b.dtype == ", b.dtype());
  const bool per_matrix = b.rank() == 3;
  if (b.rank() != 0 && (!per_matrix || b.shape() != Shape({a->batch(), 1, 1}) || !a->batched()))
    return unimplemented("b must be a scalar or, for a batch of matrices, have the shape [batch, 1, 1]; got ", b.shape(), " for ", a->shape);
  WEFT_ASSIGN(Tensor values, c.temp(a->dtype(), a->values.shape()));
  return dispatch<WEFT_CSR_TYPES>(a->dtype(), [&]<class T>(Tag<T>) {
    for (int64_t i = 0; i < a->batch(); ++i) {
      const T factor = b.data<T>()[per_matrix ? i : 0];
      for (int64_t e = a->begin(i); e < a->begin(i + 1); ++e) values.data<T>()[e] = a->values.data<T>()[e] * factor;
    }
    return csr_output(c, 0, with_values(*a, values));
  });
}

// --- softmax over the entries of each row

// Calls f(first entry, end) for each row of each matrix.
template <class F>
void each_row(const CsrMatrix& m, F f) {
  for (int64_t b = 0; b < m.batch(); ++b) {
    for (int64_t r = 0; r < m.num_rows(); ++r) f(b, r, m.begin(b) + m.rows_of(b)[r], m.begin(b) + m.rows_of(b)[r + 1]);
  }
}

Status run_softmax(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
  const DType dtype = c.attr<DType>("type");
  if (m->dtype() != dtype) return invalid_argument("dtype of logits is not equal to 'type': ", m->dtype(), " vs. ", dtype);
  WEFT_ASSIGN(Tensor values, c.temp(dtype, m->values.shape()));
  return dispatch<float, double>(dtype, [&]<class T>(Tag<T>) {
    const T* in = m->values.data<T>();
    T* out = values.data<T>();
    each_row(*m, [&](int64_t, int64_t, int64_t begin, int64_t end) {
      if (begin == end) return;
      const T top = *std::max_element(in + begin, in + end);
      T sum = 0;
      for (int64_t i = begin; i < end; ++i) sum += out[i] = std::exp(in[i] - top);
      for (int64_t i = begin; i < end; ++i) out[i] /= sum;
    });
    return csr_output(c, 0, with_values(*m, values));
  });
}

Status run_softmax_grad(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* y, csr_input(c, 0));
  WEFT_ASSIGN(const CsrMatrix* dy, csr_input(c, 1));
  const DType dtype = c.attr<DType>("type");
  if (y->dtype() != dtype) return invalid_argument("dtype of softmax is not equal to 'type': ", y->dtype(), " vs. ", dtype);
  if (dy->dtype() != dtype) return invalid_argument("dtype of grad_softmax is not equal to 'type': ", dy->dtype(), " vs. ", dtype);
  if (y->shape != dy->shape) return invalid_argument("Shapes of softmax and grad_softmax matrices do not match: ", y->shape, " vs. ", dy->shape);
  WEFT_ASSIGN(Tensor values, c.temp(dtype, y->values.shape()));
  return dispatch<float, double>(dtype, [&]<class T>(Tag<T>) {
    const T *p = y->values.data<T>(), *g = dy->values.data<T>();
    T* out = values.data<T>();
    each_row(*y, [&](int64_t b, int64_t r, int64_t begin, int64_t end) {
      // out holds the incoming gradient of each entry first; where there is none, it is zero.
      const int32_t* columns = y->columns.data<int32_t>();
      int64_t j = dy->begin(b) + dy->rows_of(b)[r];
      const int64_t j_end = dy->begin(b) + dy->rows_of(b)[r + 1];
      T sum = 0;
      for (int64_t i = begin; i < end; ++i) {
        while (j < j_end && dy->columns.data<int32_t>()[j] < columns[i]) ++j;
        out[i] = j < j_end && dy->columns.data<int32_t>()[j] == columns[i] ? g[j] : T(0);
        sum += p[i] * out[i];
      }
      for (int64_t i = begin; i < end; ++i) out[i] = p[i] * (out[i] - sum);
    });
    return csr_output(c, 0, with_values(*y, values));
  });
}

// --- orderings and Cholesky factors

Status run_ordering(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
  const int64_t n = m->num_rows();
  if (n != m->num_columns()) return invalid_argument("sparse matrix must be square; got: ", n, " != ", m->num_columns());
  WEFT_RETURN_IF_ERROR(check_room(c, *m));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, m->shape.slice(0, m->shape.rank() - 1)));
  for (int64_t b = 0; n > 0 && b < m->batch(); ++b) {
    const auto order = kernels::amd_ordering(n, m->rows_of(b), m->columns_of(b));
    std::copy(order.begin(), order.end(), out->data<int32_t>() + b * n);
  }
  return {};
}

bool is_permutation(const int32_t* p, int64_t n) {
  std::vector<bool> seen(size_t(n), false);
  for (int64_t i = 0; i < n; ++i) {
    if (p[i] < 0 || p[i] >= n || seen[size_t(p[i])]) return false;
    seen[size_t(p[i])] = true;
  }
  return true;
}

Status run_cholesky(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
  const Tensor& permutation = c.input(1);
  const DType dtype = c.attr<DType>("type");
  const int rank = m->shape.rank();
  const int64_t n = m->num_rows();
  if (m->dtype() != dtype) return invalid_argument("Asked for a CSRSparseMatrix of type ", dtype, " but saw dtype: ", m->dtype());
  if (n != m->num_columns()) return invalid_argument("sparse matrix must be square; got: ", n, " != ", m->num_columns());
  if (permutation.rank() + 1 != rank)
    return invalid_argument("sparse matrix must have the same rank as permutation; got: ", rank, " != ", permutation.rank(), " + 1.");
  if (permutation.dim(rank - 2) != n)
    return invalid_argument("permutation must have the same number of elements in each batch as the number of rows in sparse matrix; got: ",
                            permutation.dim(rank - 2), " != ", n);
  if (rank == 3 && permutation.dim(0) != m->batch())
    return invalid_argument("permutation must have the same batch size as sparse matrix; got: ", permutation.dim(0), " != ", m->batch());
  WEFT_RETURN_IF_ERROR(check_room(c, *m));
  return dispatch<WEFT_CSR_TYPES>(dtype, [&]<class T>(Tag<T>) -> Status {
    std::vector<kernels::CsrParts<T>> parts;
    for (int64_t b = 0; b < m->batch(); ++b) {
      const int32_t* p = permutation.data<int32_t>() + b * n;
      std::optional<kernels::CsrParts<T>> factor;
      if (n == 0) factor = kernels::CsrParts<T>{{0}, {}, {}};
      else if (is_permutation(p, n)) factor = kernels::sparse_cholesky(view<T>(*m, b), p);
      if (!factor) return invalid_argument("Sparse Cholesky factorization failed for batch index ", b, ". The input might not be valid.");
      parts.push_back(std::move(*factor));
    }
    WEFT_ASSIGN(std::shared_ptr<CsrMatrix> out, assemble(parts, m->shape));
    return csr_output(c, 0, std::move(out));
  });
}

// --- shape rules

Status matrix_result(ShapeContext& c, DType dtype, PartialShape shape) {
  c.output(0, PartialShape::scalar());
  c.output_handle(0, {dtype, std::move(shape)});
  return {};
}

PartialShape swap_matrix(PartialShape s, bool swap) {
  if (!swap || s.rank() < 2) return s;
  const int64_t rows = s.dim(-2);
  s.set_dim(s.rank() - 2, s.dim(-1));
  s.set_dim(s.rank() - 1, rows);
  return s;
}

Status matmul_shape(ShapeContext& c) {
  WEFT_ASSIGN(Orientation ta, read_orientation(c.node(), 'a'));
  WEFT_ASSIGN(Orientation tb, read_orientation(c.node(), 'b'));
  const PartialShape a = swap_matrix(csr_shape(c, 0), ta.transpose), b = swap_matrix(c.input(1), tb.transpose);
  if (b.has_rank() && b.rank() < 2) return invalid_argument("Shape must be at least rank 2 but is rank ", b.rank());
  if (!a.has_rank() && !b.has_rank()) return {};
  if (a.has_rank() && b.has_rank()) WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(a.dim(-1), b.dim(-2)).status());
  PartialShape out = b.has_rank() ? b : a;
  out.set_dim(out.rank() - 2, a.has_rank() ? a.dim(-2) : kUnknownDim);
  out.set_dim(out.rank() - 1, b.has_rank() ? b.dim(-1) : kUnknownDim);
  c.output(0, swap_matrix(std::move(out), c.attr<bool>("transpose_output")));
  return {};
}

Status sparse_matmul_shape(ShapeContext& c) {
  WEFT_ASSIGN(Orientation ta, read_orientation(c.node(), 'a'));
  WEFT_ASSIGN(Orientation tb, read_orientation(c.node(), 'b'));
  PartialShape a = swap_matrix(csr_shape(c, 0), ta.transpose);
  const PartialShape b = swap_matrix(csr_shape(c, 1), tb.transpose);
  if (a.has_rank() && b.has_rank()) WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(a.dim(-1), b.dim(-2)).status());
  if (a.has_rank()) a.set_dim(a.rank() - 1, b.has_rank() ? b.dim(-1) : kUnknownDim);
  return matrix_result(c, c.attr<DType>("type"), std::move(a));
}

Status transpose_shape(ShapeContext& c) { return matrix_result(c, c.attr<DType>("type"), swap_matrix(csr_shape(c, 0), true)); }
Status same_matrix_shape(ShapeContext& c) { return matrix_result(c, c.attr<DType>("type"), csr_shape(c, 0)); }
Status same_matrix_as_a_shape(ShapeContext& c) { return matrix_result(c, c.attr<DType>("T"), csr_shape(c, 0)); }

Status ordering_shape(ShapeContext& c) {
  const PartialShape m = csr_shape(c, 0);
  if (m.has_rank()) c.output(0, m.slice(0, m.rank() - 1));
  return {};
}

}  // namespace

Result<std::shared_ptr<CsrMatrix>> csr_sum(const CsrMatrix& a, const Tensor& alpha, const CsrMatrix& b, const Tensor& beta) {
  if (a.shape.rank() != b.shape.rank()) return invalid_argument("Ranks of a and b must match.  Ranks: ", a.shape.rank(), " vs. ", b.shape.rank());
  if (a.shape != b.shape) return invalid_argument("Incompatible shapes: ", a.shape, " vs. ", b.shape);
  std::shared_ptr<CsrMatrix> out;
  WEFT_RETURN_IF_ERROR(dispatch<WEFT_CSR_TYPES>(a.dtype(), [&]<class T>(Tag<T>) -> Status {
    std::vector<kernels::CsrParts<T>> parts;
    for (int64_t i = 0; i < a.batch(); ++i) parts.push_back(kernels::csr_add(view<T>(a, i), alpha.data<T>()[0], view<T>(b, i), beta.data<T>()[0]));
    WEFT_ASSIGN(out, assemble(parts, a.shape));
    return {};
  }));
  return out;
}

void sparse_matrix_math(Registry& r) {
  r.add("SparseMatrixAdd")
      .in("a: variant")
      .in("b: variant")
      .in("alpha: T")
      .in("beta: T")
      .out("c: variant")
      .attr("T: {float, double, complex64, complex128}")
      .doc("alpha * a + beta * b for CSR matrices of one shape.")
      .shape(same_matrix_as_a_shape)
      .grad(csr_add_grad)
      .cpu(run_add);

  r.add("SparseMatrixMatMul")
      .in("a: variant")
      .in("b: T")
      .out("output: T")
      .attr("T: type")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("adjoint_a: bool = false")
      .attr("adjoint_b: bool = false")
      .attr("transpose_output: bool = false")
      .attr("conjugate_output: bool = false")
      .doc("A CSR matrix times a dense one; both may be transposed, and so may the result.")
      .shape(matmul_shape)
      .grad(csr_dense_matmul_grad)
      .cpu<SparseMatrixMatMul>(types<WEFT_CSR_TYPES>("T"));

  r.add("SparseMatrixMul")
      .in("a: variant")
      .in("b: T")
      .out("output: variant")
      .attr("T: type")
      .doc("A CSR matrix times a number, or each of a batch times its own.")
      .shape(same_matrix_as_a_shape)
      .grad([](const GradContext& g) -> Grads { return g.fail(unimplemented("Gradient for SparseMatrixMul is not implemented.")); })
      .cpu(run_mul, types<WEFT_CSR_TYPES>("T"));

  r.add("SparseMatrixOrderingAMD")
      .in("input: variant")
      .out("output: int32")
      .doc("An order of elimination that keeps the Cholesky factor of a CSR matrix sparse.")
      .shape(ordering_shape)
      .cpu(run_ordering);

  r.add("SparseMatrixSoftmax")
      .in("logits: variant")
      .out("softmax: variant")
      .attr("type: {float, double}")
      .doc("Softmax over the entries of each row of a CSR matrix.")
      .shape(same_matrix_shape)
      .grad(csr_softmax_grad)
      .cpu(run_softmax);

  r.add("SparseMatrixSoftmaxGrad")
      .in("softmax: variant")
      .in("grad_softmax: variant")
      .out("gradient: variant")
      .attr("type: {float, double}")
      .doc("Gradient of SparseMatrixSoftmax.")
      .shape(same_matrix_shape)
      .cpu(run_softmax_grad);

  r.add("SparseMatrixSparseCholesky")
      .in("input: variant")
      .in("permutation: int32")
      .out("output: variant")
      .attr("type: {float, double, complex64, complex128}")
      .doc("The sparse Cholesky factor of a CSR matrix with its rows and columns permuted.")
      .shape(same_matrix_shape)
      .cpu(run_cholesky);

  r.add("SparseMatrixSparseMatMul")
      .in("a: variant")
      .in("b: variant")
      .out("c: variant")
      .attr("type: {float, double, complex64, complex128}")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("adjoint_a: bool = false")
      .attr("adjoint_b: bool = false")
      .doc("The product of two CSR matrices, as a CSR matrix.")
      .shape(sparse_matmul_shape)
      .grad(csr_sparse_matmul_grad)
      .cpu<SparseMatrixSparseMatMul>();

  r.add("SparseMatrixTranspose")
      .in("input: variant")
      .out("output: variant")
      .attr("conjugate: bool = false")
      .attr("type: {float, double, complex64, complex128}")
      .doc("The transpose of a CSR matrix, optionally conjugated.")
      .shape(transpose_shape)
      .grad(csr_transpose_grad)
      .cpu(run_transpose);
}

}  // namespace weft_engine::ops
