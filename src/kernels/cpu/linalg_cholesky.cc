#include "kernels/cpu/linalg_eigen.h"

#include <Eigen/Cholesky>

namespace weft_engine::kernels {

template <class T>
bool cholesky_factor(const T* a, int64_t n, T* l) {
  auto out = matrix(l, n, n);
  const Eigen::LLT<Dense<T>> llt(matrix(a, n, n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) out(i, j) = j <= i ? llt.matrixLLT()(i, j) : T(0);
  }
  return llt.info() == Eigen::Success;
}

#define X(T) template bool cholesky_factor(const T*, int64_t, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels
