// Sparse matrices in compressed row form: conversions and the queries that need no arithmetic.
#include "ops/sparse/sparse_matrix.h"

#include <algorithm>
#include <limits>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/sparse/sparse_matrix_grad.h"
#include "ops/sparse/sparse_tensor.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

Result<const CsrMatrix*> csr_input(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.rank() != 0) return invalid_argument("Invalid input matrix: Shape must be rank 0 but is rank ", t.rank());
  const auto* m = t.data<Variant>()[0].get<CsrMatrix>();
  if (!m) return invalid_argument("Could not retrieve Variant input ", i);
  return m;
}

Status csr_output(KernelContext& c, int i, std::shared_ptr<const CsrMatrix> m) {
  WEFT_ASSIGN(Tensor* out, c.allocate(i, Shape()));
  out->data<Variant>()[0] = Variant(std::move(m));
  return {};
}

Status check_csr_shape(const Shape& shape) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const int rank = shape.rank();
  if (rank != 2 && rank != 3) return invalid_argument("SparseTensor must have rank 2 or 3; but indices has rank: ", rank);
  WEFT_RETURN_IF_ERROR(shape.check());
  const int64_t rows = shape.dim(rank - 2), batch = rank == 3 ? shape.dim(0) : 1;
  const int64_t pointers = rows == INT64_MAX ? -1 : multiply_without_overflow(batch, rows + 1);
  if (pointers < 0 || pointers > kMost)
    return invalid_argument("The csr row index size, computed based on the dense_shape, must be <= Int32Max, but is too large. Current value is ",
                            pointers < 0 ? INT64_MAX : pointers);
  if (shape.dim(rank - 1) > kMost || batch >= kMost) return invalid_argument("the sizes of a CSR matrix must fit into int32, got shape ", shape);
  return {};
}

namespace {

#define WEFT_CSR_TYPES float, double, complex64, complex128

Status check_type(const CsrMatrix& m, DType wanted) {
  if (m.dtype() != wanted) return invalid_argument("Asked for a CSRSparseMatrix of type ", wanted, " but saw dtype: ", m.dtype());
  return {};
}

// Row pointers by counting; like TensorFlow, this takes the entries to be sorted by row.
Result<std::shared_ptr<CsrMatrix>> build_csr(const Tensor& indices, Tensor values, const Shape& shape) {
  WEFT_RETURN_IF_ERROR(check_csr_shape(shape));
  auto m = std::make_shared<CsrMatrix>();
  m->shape = shape;
  const int64_t n = indices.dim(0), rank = shape.rank(), stride = m->num_rows() + 1;
  if (n > std::numeric_limits<int32_t>::max()) return invalid_argument("a CSR matrix must have fewer than 2^31 entries, got ", n);
  WEFT_ASSIGN(m->batch_pointers, Tensor::zeros(DType::kInt32, Shape({m->batch() + 1})));
  WEFT_ASSIGN(m->row_pointers, Tensor::zeros(DType::kInt32, Shape({m->batch() * stride})));
  WEFT_ASSIGN(m->columns, Tensor::allocate(DType::kInt32, Shape({n})));
  m->values = std::move(values);
  int32_t *batches = m->batch_pointers.data<int32_t>(), *rows = m->row_pointers.data<int32_t>();
  const int64_t* ix = indices.data<int64_t>();
  for (int64_t i = 0; i < n; ++i, ix += rank) {
    const int64_t b = rank == 3 ? ix[0] : 0;
    ++batches[b + 1];
    ++rows[b * stride + ix[rank - 2] + 1];
    m->columns.data<int32_t>()[i] = int32_t(ix[rank - 1]);
  }
  for (int64_t b = 0; b < m->batch(); ++b) {
    batches[b + 1] += batches[b];
    for (int64_t r = 1; r < stride; ++r) rows[b * stride + r] += rows[b * stride + r - 1];
  }
  return m;
}

Status run_from_sparse(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  WEFT_RETURN_IF_ERROR(check_sparse(indices, values, shape, IndexCheck::kInRange));
  WEFT_ASSIGN(std::shared_ptr<CsrMatrix> m, build_csr(indices, values, Shape(shape.span<int64_t>())));
  return csr_output(c, 0, std::move(m));
}

Status run_from_dense(KernelContext& c) {
  const Tensor &dense = c.input(0), &indices = c.input(1);
  const int64_t rank = dense.rank();
  if (rank != 2 && rank != 3) return invalid_argument("params must have rank == 2 or 3; but saw shape: ", dense.shape());
  if (indices.rank() != 2) return invalid_argument("indices must be a matrix, but saw shape: ", indices.shape());
  if (indices.dim(1) != rank)
    return invalid_argument("indices.shape[1] must be equal to the rank of params, but saw: ", indices.dim(1), " vs. ", rank);
  const int64_t n = indices.dim(0), *ix = indices.data<int64_t>();
  WEFT_ASSIGN(Tensor values, c.temp(dense.dtype(), Shape({n})));
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t x = ix[i * rank + d];
      if (x < 0 || x >= dense.dim(int(d)))
        return invalid_argument("indices[", i, "] = [", join(std::span<const int64_t>(ix + i * rank, size_t(rank)), ", "),
                                "] does not index into param shape ", dense.shape(), ", node name: ", c.node().name());
      at = at * dense.dim(int(d)) + x;
    }
    copy_elements(dense, at, values, i, 1);
  }
  WEFT_ASSIGN(std::shared_ptr<CsrMatrix> m, build_csr(indices, std::move(values), dense.shape()));
  return csr_output(c, 0, std::move(m));
}

Status run_components(KernelContext& c) {
  const Tensor& index = c.input(1);
  WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
  if (index.rank() != 0)
    return invalid_argument("index should be a scalar, but saw: Tensor<type: int32 shape: ", index.shape(),
                            " values: ", join(index.span<int32_t>(), " "), ">");
  WEFT_RETURN_IF_ERROR(check_type(*m, c.attr<DType>("type")));
  const int64_t b = index.data<int32_t>()[0];
  if (b < 0 || b >= m->batch()) return invalid_argument("index (", b, ") not in [0, ", m->batch(), ")");
  const int64_t rows = m->num_rows() + 1;
  WEFT_ASSIGN(Tensor row_pointers, m->row_pointers.slice_rows(b * rows, (b + 1) * rows).copy());
  WEFT_ASSIGN(Tensor columns, m->columns.slice_rows(m->begin(b), m->begin(b + 1)).copy());
  WEFT_ASSIGN(Tensor values, m->values.slice_rows(m->begin(b), m->begin(b + 1)).copy());
  c.set_output(0, std::move(row_pointers));
  c.set_output(1, std::move(columns));
  c.set_output(2, std::move(values));
  return {};
}

Status run_to_dense(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
  WEFT_RETURN_IF_ERROR(check_type(*m, c.attr<DType>("type")));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, m->shape));
  if (out->byte_size()) std::memset(out->raw(), 0, out->byte_size());
  const int64_t rows = m->num_rows(), columns = m->num_columns();
  for (int64_t b = 0; b < m->batch(); ++b) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = m->rows_of(b)[r]; i < m->rows_of(b)[r + 1]; ++i)
        copy_elements(m->values, m->begin(b) + i, *out, (b * rows + r) * columns + m->columns_of(b)[i], 1);
    }
  }
  return {};
}

Status run_to_sparse(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
  WEFT_RETURN_IF_ERROR(check_type(*m, c.attr<DType>("type")));
  const int64_t rank = m->shape.rank();
  WEFT_ASSIGN(Tensor* indices, c.allocate(0, Shape({m->values.dim(0), rank})));
  WEFT_ASSIGN(Tensor* shape, c.allocate(2, Shape({rank})));
  std::copy_n(m->shape.dims().data(), rank, shape->data<int64_t>());
  int64_t* to = indices->data<int64_t>();
  for (int64_t b = 0; b < m->batch(); ++b) {
    for (int64_t r = 0; r < m->num_rows(); ++r) {
      for (int64_t i = m->rows_of(b)[r]; i < m->rows_of(b)[r + 1]; ++i) {
        if (rank == 3) *to++ = b;
        *to++ = r;
        *to++ = m->columns_of(b)[i];
      }
    }
  }
  c.set_output(1, m->values);
  return {};
}

Status run_nnz(KernelContext& c) {
  WEFT_ASSIGN(const CsrMatrix* m, csr_input(c, 0));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, m->batched() ? Shape({m->batch()}) : Shape()));
  for (int64_t b = 0; b < m->batch(); ++b) out->data<int32_t>()[b] = int32_t(m->entries(b));
  return {};
}

Status run_zeros(KernelContext& c) {
  const Tensor& shape = c.input(0);
  if (shape.rank() != 1) return invalid_argument("dense_shape must be a vector, got shape ", shape.shape());
  const DType dtype = c.attr<DType>("type");
  WEFT_ASSIGN(Tensor indices, c.temp(DType::kInt64, Shape({0, shape.dim(0)})));
  WEFT_ASSIGN(Tensor values, c.temp(dtype, Shape({0})));
  WEFT_ASSIGN(std::shared_ptr<CsrMatrix> m, build_csr(indices, std::move(values), Shape(shape.span<int64_t>())));
  return csr_output(c, 0, std::move(m));
}

// --- shape rules

Status output_matrix(ShapeContext& c, DType dtype, PartialShape shape) {
  if (shape.has_rank() && shape.rank() != 2 && shape.rank() != 3)
    return invalid_argument("Invalid rank: ", shape.rank(), ".  Expected a known rank of either 2 or 3.");
  c.output(0, PartialShape::scalar());
  c.output_handle(0, {dtype, std::move(shape)});
  return {};
}

Status from_sparse_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  WEFT_ASSIGN(PartialShape shape, c.constant_shape(2));
  return output_matrix(c, c.attr<DType>("T"), std::move(shape));
}

Status from_dense_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 2).status());
  return output_matrix(c, c.attr<DType>("T"), c.input(0));
}

Status zeros_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  WEFT_ASSIGN(PartialShape shape, c.constant_shape(0));
  return output_matrix(c, c.attr<DType>("type"), std::move(shape));
}

Status components_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  const PartialShape m = csr_shape(c, 0);
  c.output(0, PartialShape::vector(m.has_rank() ? shapes::add_dim(m.dim(-2), 1) : kUnknownDim));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(kUnknownDim));
  return {};
}

Status to_dense_shape(ShapeContext& c) {
  c.output(0, csr_shape(c, 0));
  return {};
}

Status to_sparse_shape(ShapeContext& c) {
  const PartialShape m = csr_shape(c, 0);
  const int64_t rank = m.has_rank() ? m.rank() : kUnknownDim;
  c.output(0, PartialShape::matrix(kUnknownDim, rank));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(rank));
  return {};
}

Status nnz_shape(ShapeContext& c) {
  const PartialShape m = csr_shape(c, 0);
  if (m.has_rank()) c.output(0, m.slice(0, m.rank() - 2));
  return {};
}

}  // namespace

PartialShape csr_shape(const ShapeContext& c, int i) {
  const auto* h = c.handle(i);
  return h && h->shape.rank() >= 2 ? h->shape : PartialShape::unknown();
}

void sparse_matrix(Registry& r) {
  r.add("CSRSparseMatrixComponents")
      .in("csr_sparse_matrix: variant")
      .in("index: int32")
      .out("row_ptrs: int32")
      .out("col_inds: int32")
      .out("values: type")
      .attr("type: {float, double, complex64, complex128}")
      .doc("Row pointers, column indices and values of one matrix of a batch.")
      .shape(components_shape)
      .cpu(run_components);

  r.add("CSRSparseMatrixToDense")
      .in("sparse_input: variant")
      .out("dense_output: type")
      .attr("type: {float, double, complex64, complex128}")
      .doc("The dense tensor with the values of a CSR matrix.")
      .shape(to_dense_shape)
      .grad(csr_to_dense_grad)
      .cpu(run_to_dense);

  r.add("CSRSparseMatrixToSparseTensor")
      .in("sparse_matrix: variant")
      .out("indices: int64")
      .out("values: type")
      .out("dense_shape: int64")
      .attr("type: {float, double, complex64, complex128}")
      .doc("The sparse tensor with the values of a CSR matrix.")
      .shape(to_sparse_shape)
      .grad(csr_to_sparse_grad)
      .cpu(run_to_sparse);

  r.add("DenseToCSRSparseMatrix")
      .in("dense_input: T")
      .in("indices: int64")
      .out("sparse_output: variant")
      .attr("T: {float, double, complex64, complex128}")
      .doc("A CSR matrix from the elements of a dense tensor at the given indices.")
      .shape(from_dense_shape)
      .grad(csr_from_dense_grad)
      .cpu(run_from_dense);

  r.add("SparseMatrixNNZ")
      .in("sparse_matrix: variant")
      .out("nnz: int32")
      .doc("The number of entries of a CSR matrix, or of each of a batch.")
      .shape(nnz_shape)
      .no_grad()
      .cpu(run_nnz);

  r.add("SparseMatrixZeros")
      .in("dense_shape: int64")
      .out("sparse_matrix: variant")
      .attr("type: {float, double, complex64, complex128}")
      .doc("A CSR matrix without entries.")
      .shape(zeros_shape)
      .no_grad()
      .cpu(run_zeros);

  r.add("SparseTensorToCSRSparseMatrix")
      .in("indices: int64")
      .in("values: T")
      .in("dense_shape: int64")
      .out("sparse_matrix: variant")
      .attr("T: {float, double, complex64, complex128}")
      .doc("A CSR matrix from a sparse tensor of rank 2 or 3.")
      .shape(from_sparse_shape)
      .grad(csr_from_sparse_grad)
      .cpu(run_from_sparse);
}

}  // namespace weft_engine::ops
