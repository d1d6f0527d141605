// Schur forms, under the eigenvalues of general matrices and the functions of matrices.
#pragma once

#include "kernels/cpu/linalg_vectors.h"

namespace weft_engine::kernels {

// a = u t u^H. Complex t is upper triangular; real t has 2x2 blocks on its diagonal where values are complex. Row after row; u is transposed (its columns run along
// memory), and empty unless asked for.
template <class T>
struct Schur {
  std::vector<T> t, u_transposed;
};
// False where it does not converge, or the numbers are not finite. T as in linalg.h.
template <class T>
bool schur_form(const T* a, int64_t n, bool with_u, Schur<T>& out);

}  // namespace weft_engine::kernels
