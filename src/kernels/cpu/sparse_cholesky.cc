// Fill-reducing orderings and sparse Cholesky factors. Eigen's are those that TensorFlow has, so that
// permutations and factors agree.
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include "core/float_types.h"
#include "kernels/cpu/csr.h"

namespace weft_engine::kernels {

std::vector<int32_t> amd_ordering(int64_t n, const int32_t* row_pointers, const int32_t* column_indices) {
  using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;
  const std::vector<double> values(size_t(row_pointers[n]), 0.0);
  const Eigen::Map<const Matrix> pattern(n, n, row_pointers[n], row_pointers, column_indices, values.data());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation(n);
  Eigen::AMDOrdering<int> ordering;
  ordering(pattern.selfadjointView<Eigen::Upper>(), permutation);
  return {permutation.indices().data(), permutation.indices().data() + n};
}

template <class T>
std::optional<CsrParts<T>> sparse_cholesky(const CsrView<T>& a, const int32_t* permutation) {
  using Matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;
  const Eigen::Map<const Matrix> input(a.rows, a.columns, a.entries(), a.row_pointers, a.column_indices, a.values);
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order(a.rows);
  // Eigen moves row i to row indices[i]; ours says where row i comes from.
  for (int64_t i = 0; i < a.rows; ++i) order.indices()[permutation[i]] = int(i);
  Matrix permuted(a.rows, a.columns);
  permuted.template selfadjointView<Eigen::Upper>() = input.template selfadjointView<Eigen::Upper>().twistedBy(order);
  Eigen::SimplicialLLT<Matrix, Eigen::Upper, Eigen::NaturalOrdering<int>> solver;
  solver.compute(permuted);
  if (solver.info() != Eigen::Success) return std::nullopt;
  Matrix lower = solver.matrixL();
  lower.makeCompressed();
  CsrParts<T> out;
  out.row_pointers.assign(lower.outerIndexPtr(), lower.outerIndexPtr() + a.rows + 1);
  out.column_indices.assign(lower.innerIndexPtr(), lower.innerIndexPtr() + lower.nonZeros());
  out.values.assign(lower.valuePtr(), lower.valuePtr() + lower.nonZeros());
  return out;
}

template std::optional<CsrParts<float>> sparse_cholesky(const CsrView<float>&, const int32_t*);
template std::optional<CsrParts<double>> sparse_cholesky(const CsrView<double>&, const int32_t*);
template std::optional<CsrParts<core::complex64>> sparse_cholesky(const CsrView<core::complex64>&, const int32_t*);
template std::optional<CsrParts<core::complex128>> sparse_cholesky(const CsrView<core::complex128>&, const int32_t*);

}  // namespace weft_engine::kernels
