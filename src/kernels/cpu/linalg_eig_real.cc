// Eigenvalues of general real matrices, by the real Schur form as in TensorFlow: the order of the values
// depends on it.
#include "kernels/cpu/linalg_eigen.h"

#include <Eigen/Eigenvalues>

namespace weft_engine::kernels {

template <class T>
bool real_eig(const T* a, int64_t n, std::complex<T>* e, std::complex<T>* v) {
  for (int64_t i = 0; i < n * n; ++i) {
    if (!std::isfinite(a[i])) return false;
  }
  const Eigen::EigenSolver<Dense<T>> solver(matrix(a, n, n), v != nullptr);
  if (solver.info() != Eigen::Success) return false;
  std::copy_n(solver.eigenvalues().data(), n, e);
  if (v) matrix(v, n, n) = solver.eigenvectors();
  return true;
}
template bool real_eig(const float*, int64_t, std::complex<float>*, std::complex<float>*);
template bool real_eig(const double*, int64_t, std::complex<double>*, std::complex<double>*);

}  // namespace weft_engine::kernels
