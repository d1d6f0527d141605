#include "kernels/cpu/linalg_vectors.h"

namespace weft_engine::kernels {

template <class T>
void qr(const T* a, int64_t m, int64_t n, bool full, T* q, T* r) {
  const int64_t p = full ? m : std::min(m, n);
  std::vector<T> work(size_t(m * n), T(0)), columns(size_t(m * p), T(0));
  transpose(a, m, n, work.data());
  const std::vector<T> tau = qr_in_place(work.data(), m, n);
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < n; ++j) r[i * n + j] = i <= j ? work[size_t(j * m + i)] : T(0);
    columns[size_t(i * m + i)] = T(1);
  }
  apply_q(work.data(), tau, m, columns.data(), p);
  transpose(columns.data(), p, m, q);
}

#define X(T) template void qr(const T*, int64_t, int64_t, bool, T*, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels
