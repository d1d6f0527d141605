// Stand-ins for cuSOLVER and cuBLAS over the stand-in for the driver (stand_in.cc, the same library): textbook methods over matrices whose columns lie one after the other, as
// LAPACK has their arguments. Workspaces are overwritten, and so is what a factorisation promises nothing of.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/cuda/stand_in.h"

namespace {

constexpr int kInvalidValue = 3, kInternal = 7;
constexpr int kWork = 24;  // elements that everybody is asked for

struct Handle {
  void* stream = nullptr;
};

template <class T>
struct Matrix {
  T* at;
  int leading;
  T& operator()(int i, int j) const { return at[i + int64_t(j) * leading]; }
};
template <class T>
Matrix<T> matrix(uint64_t at, int leading) {
  return {reinterpret_cast<T*>(at), leading};
}

template <class F>
int later(void* handle, const char* name, F f) {
  if (weft_stand_in::counted(name)) return kInternal;
  return weft_stand_in::queue(static_cast<Handle*>(handle)->stream, [f] {
    f();
    return 0;
  });
}
template <class T>
void spoil(uint64_t work, int size) {
  std::memset(reinterpret_cast<void*>(work), 0x7f, size_t(size) * sizeof(T));
}
void say(uint64_t info, int what) { *reinterpret_cast<int32_t*>(info) = what; }

// The other triangle stays as it is.
template <class T>
int cholesky(bool upper, int n, Matrix<T> a) {
  const auto at = [&](int i, int j) -> T& { return upper ? a(j, i) : a(i, j); };  // i >= j
  for (int j = 0; j < n; ++j) {
    double d = double(at(j, j));
    for (int k = 0; k < j; ++k) d -= double(at(j, k)) * double(at(j, k));
    if (!(d > 0)) return j + 1;
    at(j, j) = T(std::sqrt(d));
    for (int i = j + 1; i < n; ++i) {
      double s = double(at(i, j));
      for (int k = 0; k < j; ++k) s -= double(at(i, k)) * double(at(j, k));
      at(i, j) = T(s / double(at(j, j)));
    }
  }
  return 0;
}

template <class T>
int lu(int n, Matrix<T> a, int32_t* pivots) {
  int info = 0;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    }
    pivots[k] = best + 1;
    for (int j = 0; j < n && best != k; ++j) std::swap(a(k, j), a(best, j));
    if (a(k, k) == T(0)) {
      if (!info) info = k + 1;
      continue;
    }
    for (int i = k + 1; i < n; ++i) {
      a(i, k) /= a(k, k);
      for (int j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return info;
}

// op(A) X = B (left) or X op(A) = B, in place.
template <class T>
void triangular(bool left, bool upper, bool transposed, bool ones, int m, int n, Matrix<T> a, Matrix<T> b) {
  const int order = left ? m : n, count = left ? n : m;
  const auto entry = [&](int i, int j) { return double(transposed ? a(j, i) : a(i, j)); };  // of op(A)
  const auto x = [&](int i, int j) -> T& { return left ? b(i, j) : b(j, i); };
  // X op(A) = B is op(A)' X' = B'.
  const bool goes_down = left ? upper == transposed : upper != transposed;
  for (int c = 0; c < count; ++c) {
    for (int s = 0; s < order; ++s) {
      const int i = goes_down ? s : order - 1 - s;
      double sum = double(x(i, c));
      for (int k = 0; k < order; ++k) {
        if (goes_down ? k < i : k > i) sum -= (left ? entry(i, k) : entry(k, i)) * double(x(k, c));
      }
      x(i, c) = T(ones ? sum : sum / entry(i, i));
    }
  }
}

template <class T>
void lu_solve(bool transposed, int n, int columns, Matrix<T> a, const int32_t* pivots, Matrix<T> b) {
  const auto exchange = [&](int k) {
    for (int j = 0; j < columns && pivots[k] != k + 1; ++j) std::swap(b(k, j), b(pivots[k] - 1, j));
  };
  if (!transposed) {
    for (int k = 0; k < n; ++k) exchange(k);
    triangular(true, false, false, true, n, columns, a, b);
    triangular(true, true, false, false, n, columns, a, b);
  } else {
    triangular(true, true, true, false, n, columns, a, b);
    triangular(true, false, true, true, n, columns, a, b);
    for (int k = n; k-- > 0;) exchange(k);
  }
}

// I - tau v v', v(0) = 1, the rest below the diagonal.
template <class T>
void qr(int m, int n, Matrix<T> a, T* tau) {
  for (int k = 0; k < std::min(m, n); ++k) {
    double rest = 0;
    for (int i = k + 1; i < m; ++i) rest += double(a(i, k)) * double(a(i, k));
    tau[k] = 0;
    if (rest == 0) continue;
    const double alpha = double(a(k, k)), norm = std::sqrt(alpha * alpha + rest), beta = alpha > 0 ? -norm : norm;
    tau[k] = T((beta - alpha) / beta);
    for (int i = k + 1; i < m; ++i) a(i, k) = T(double(a(i, k)) / (alpha - beta));
    a(k, k) = T(beta);
    for (int j = k + 1; j < n; ++j) {
      double s = double(a(k, j));
      for (int i = k + 1; i < m; ++i) s += double(a(i, k)) * double(a(i, j));
      s *= double(tau[k]);
      a(k, j) -= T(s);
      for (int i = k + 1; i < m; ++i) a(i, j) -= T(double(a(i, k)) * s);
    }
  }
}
template <class T>
void make_q(int m, int n, int k, Matrix<T> a, const T* tau) {
  std::vector<double> q(size_t(m) * size_t(n));
  for (int i = 0; i < n; ++i) q[size_t(i) * size_t(m) + size_t(i)] = 1;
  for (int r = k; r-- > 0;) {
    const auto v = [&](int i) { return i == r ? 1.0 : double(a(i, r)); };
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int i = r; i < m; ++i) s += v(i) * q[size_t(j) * size_t(m) + size_t(i)];
      for (int i = r; i < m; ++i) q[size_t(j) * size_t(m) + size_t(i)] -= double(tau[r]) * s * v(i);
    }
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) a(i, j) = T(q[size_t(j) * size_t(m) + size_t(i)]);
  }
}

// Jacobi's method over a symmetric matrix; vectors are columns of v. Ascending.
void symmetric(int n, std::vector<double>& a, std::vector<double>& v) {
  const auto at = [&](std::vector<double>& x, int i, int j) -> double& { return x[size_t(i) + size_t(j) * size_t(n)]; };
  v.assign(size_t(n) * size_t(n), 0);
  for (int i = 0; i < n; ++i) at(v, i, i) = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        if (at(a, p, q) == 0) continue;
        const double theta = (at(a, q, q) - at(a, p, p)) / (2 * at(a, p, q)),
                     t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < n; ++k) {
          const double x = at(a, k, p), y = at(a, k, q);
          at(a, k, p) = c * x - s * y;
          at(a, k, q) = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const double x = at(a, p, k), y = at(a, q, k);
          at(a, p, k) = c * x - s * y;
          at(a, q, k) = s * x + c * y;
        }
        for (int k = 0; k < n; ++k) {
          const double x = at(v, k, p), y = at(v, k, q);
          at(v, k, p) = c * x - s * y;
          at(v, k, q) = s * x + c * y;
        }
      }
    }
  }
  std::vector<int> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int i, int j) { return at(a, i, i) < at(a, j, j); });
  std::vector<double> values, vectors;
  for (int j : order) {
    values.push_back(at(a, j, j));
    for (int i = 0; i < n; ++i) vectors.push_back(at(v, i, j));
  }
  a = std::move(values);
  v = std::move(vectors);
}

template <class T>
void eigen(bool vectors, bool upper, int n, Matrix<T> a, T* values) {
  std::vector<double> x, v;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) x.push_back(double((i <= j) == upper || i == j ? a(i, j) : a(j, i)));
  }
  symmetric(n, x, v);
  for (int j = 0; j < n; ++j) {
    values[j] = T(x[size_t(j)]);
    for (int i = 0; i < n; ++i) a(i, j) = vectors ? T(v[size_t(i) + size_t(j) * size_t(n)]) : std::numeric_limits<T>::quiet_NaN();
  }
}

// Columns of a V are made orthogonal; the rest of U by orthogonalising unit vectors.
template <class T>
void svd(char job, int m, int n, Matrix<T> a, T* s, Matrix<T> u, Matrix<T> vt) {
  std::vector<std::vector<double>> columns, v;
  for (int j = 0; j < n; ++j) {
    columns.emplace_back();
    for (int i = 0; i < m; ++i) columns.back().push_back(double(a(i, j)));
    v.emplace_back(size_t(n), 0.0);
    v.back()[size_t(j)] = 1;
  }
  const auto dot = [](const std::vector<double>& x, const std::vector<double>& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); };
  for (int sweep = 0; sweep < 60; ++sweep) {
    for (size_t p = 0; p < columns.size(); ++p) {
      for (size_t q = p + 1; q < columns.size(); ++q) {
        const double alpha = dot(columns[p], columns[p]), beta = dot(columns[q], columns[q]), gamma = dot(columns[p], columns[q]);
        if (gamma == 0) continue;
        const double zeta = (beta - alpha) / (2 * gamma), t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double c = 1 / std::sqrt(1 + t * t), w = c * t;
        for (auto* pair : {&columns, &v}) {
          for (size_t i = 0; i < (*pair)[p].size(); ++i) {
            const double x = (*pair)[p][i], y = (*pair)[q][i];
            (*pair)[p][i] = c * x - w * y;
            (*pair)[q][i] = w * x + c * y;
          }
        }
      }
    }
  }
  std::vector<size_t> order(columns.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return dot(columns[i], columns[i]) > dot(columns[j], columns[j]); });
  std::vector<std::vector<double>> left;
  const auto add = [&](std::vector<double> x) {
    for (int twice = 0; twice < 2; ++twice) {
      for (const auto& y : left) {
        const double d = dot(x, y);
        for (size_t i = 0; i < x.size(); ++i) x[i] -= d * y[i];
      }
    }
    const double norm = std::sqrt(dot(x, x));
    if (norm < 1e-6) return;
    for (double& e : x) e /= norm;
    left.push_back(std::move(x));
  };
  for (size_t k = 0; k < order.size(); ++k) {
    std::vector<double> x = columns[order[k]];
    const double norm = std::sqrt(dot(x, x));
    s[k] = T(norm);
    if (norm > 0) {
      for (double& e : x) e /= norm;
      add(std::move(x));
    }
  }
  const size_t wanted = job == 'A' ? size_t(m) : size_t(n);
  for (int i = 0; i < m && left.size() < wanted; ++i) {
    std::vector<double> x(size_t(m), 0.0);
    x[size_t(i)] = 1;
    add(std::move(x));
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < m; ++i) a(i, j) = std::numeric_limits<T>::quiet_NaN();
  }
  if (job == 'N') return;
  for (int j = 0; j < int(left.size()); ++j) {
    for (int i = 0; i < m; ++i) u(i, j) = T(left[size_t(j)][size_t(i)]);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) vt(i, j) = T(v[order[size_t(i)]][size_t(j)]);
  }
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cusolverDnCreate(void** handle) {
  *handle = new Handle();
  return 0;
}
EXPORT int cusolverDnSetStream(void* handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return 0;
}
EXPORT int cublasCreate_v2(void** handle) { return cusolverDnCreate(handle); }
EXPORT int cublasSetStream_v2(void* handle, void* stream) { return cusolverDnSetStream(handle, stream); }

#define SOLVER(P, T)                                                                                                                                 \
  EXPORT int cusolverDn##P##potrf_bufferSize(void*, int, int, uint64_t, int, int* size) { return *size = kWork, 0; }                                 \
  EXPORT int cusolverDn##P##potrf(void* h, int uplo, int n, uint64_t a, int lda, uint64_t work, int size, uint64_t info) {                           \
    if (lda < n || size < kWork) return kInvalidValue;                                                                                               \
    return later(h, "potrf", [=] { spoil<T>(work, size), say(info, cholesky(uplo == 1, n, matrix<T>(a, lda))); });                                   \
  }                                                                                                                                                  \
  EXPORT int cusolverDn##P##getrf_bufferSize(void*, int, int, uint64_t, int, int* size) { return *size = kWork, 0; }                                 \
  EXPORT int cusolverDn##P##getrf(void* h, int m, int n, uint64_t a, int lda, uint64_t work, uint64_t pivots, uint64_t info) {                       \
    if (lda < m || m != n) return kInvalidValue;                                                                                                     \
    return later(h, "getrf", [=] { spoil<T>(work, kWork), say(info, lu(n, matrix<T>(a, lda), reinterpret_cast<int32_t*>(pivots))); });               \
  }                                                                                                                                                  \
  EXPORT int cusolverDn##P##getrs(void* h, int op, int n, int k, uint64_t a, int lda, uint64_t pivots, uint64_t b, int ldb, uint64_t info) {         \
    if (lda < n || ldb < n) return kInvalidValue;                                                                                                    \
    return later(h, "getrs", [=] {                                                                                                                   \
      lu_solve(op == 1, n, k, matrix<T>(a, lda), reinterpret_cast<const int32_t*>(pivots), matrix<T>(b, ldb));                                       \
      say(info, 0);                                                                                                                                  \
    });                                                                                                                                              \
  }                                                                                                                                                  \
  EXPORT int cusolverDn##P##geqrf_bufferSize(void*, int, int, uint64_t, int, int* size) { return *size = kWork, 0; }                                 \
  EXPORT int cusolverDn##P##geqrf(void* h, int m, int n, uint64_t a, int lda, uint64_t tau, uint64_t work, int size, uint64_t info) {                \
    if (lda < m || size < kWork) return kInvalidValue;                                                                                               \
    return later(h, "geqrf", [=] { spoil<T>(work, size), qr(m, n, matrix<T>(a, lda), reinterpret_cast<T*>(tau)), say(info, 0); });                   \
  }                                                                                                                                                  \
  EXPORT int cusolverDn##P##orgqr_bufferSize(void*, int, int, int, uint64_t, int, uint64_t, int* size) { return *size = kWork, 0; }                  \
  EXPORT int cusolverDn##P##orgqr(void* h, int m, int n, int k, uint64_t a, int lda, uint64_t tau, uint64_t work, int size, uint64_t info) {         \
    if (lda < m || size < kWork || n > m || k > n) return kInvalidValue;                                                                             \
    return later(h, "orgqr", [=] { spoil<T>(work, size), make_q(m, n, k, matrix<T>(a, lda), reinterpret_cast<const T*>(tau)), say(info, 0); });      \
  }                                                                                                                                                  \
  EXPORT int cusolverDn##P##gesvd_bufferSize(void*, int, int, int* size) { return *size = kWork, 0; }                                                \
  EXPORT int cusolverDn##P##gesvd(void* h, signed char u_job, signed char v_job, int m, int n, uint64_t a, int lda, uint64_t s, uint64_t u, int ldu, \
                                  uint64_t v, int ldv, uint64_t work, int size, uint64_t rest, uint64_t info) {                                      \
    if (u_job != v_job || m < n || lda < m || size < kWork || (u_job != 'N' && (ldu < m || ldv < n))) return kInvalidValue;                          \
    return later(h, "gesvd", [=] {                                                                                                                   \
      spoil<T>(work, size), spoil<T>(rest, n - 1);                                                                                                   \
      svd(char(u_job), m, n, matrix<T>(a, lda), reinterpret_cast<T*>(s), matrix<T>(u, ldu), matrix<T>(v, ldv)), say(info, 0);                        \
    });                                                                                                                                              \
  }                                                                                                                                                  \
  EXPORT int cusolverDn##P##syevd_bufferSize(void*, int, int, int, uint64_t, int, uint64_t, int* size) { return *size = kWork, 0; }                  \
  EXPORT int cusolverDn##P##syevd(void* h, int mode, int uplo, int n, uint64_t a, int lda, uint64_t w, uint64_t work, int size, uint64_t info) {     \
    if (lda < n || size < kWork) return kInvalidValue;                                                                                               \
    return later(h, "syevd",                                                                                                                         \
                 [=] { spoil<T>(work, size), eigen(mode == 1, uplo == 1, n, matrix<T>(a, lda), reinterpret_cast<T*>(w)), say(info, 0); });           \
  }                                                                                                                                                  \
  EXPORT int cublas##P##trsm_v2(void* h, int side, int uplo, int op, int diagonal, int m, int n, const T* alpha, uint64_t a, int lda, uint64_t b,    \
                                int ldb) {                                                                                                           \
    if (*alpha != 1 || lda < (side == 0 ? m : n) || ldb < m) return kInvalidValue;                                                                   \
    return later(h, "trsm", [=] { triangular(side == 0, uplo == 1, op != 0, diagonal == 1, m, n, matrix<T>(a, lda), matrix<T>(b, ldb)); });          \
  }

SOLVER(S, float)
SOLVER(D, double)

// Products of floats alone: of the others it says that it has nothing.
EXPORT int cublasSetWorkspace_v2(void*, uint64_t workspace, size_t bytes) { return workspace && bytes ? 0 : kInvalidValue; }
EXPORT int cublasGemmEx(void* h, int a_op, int b_op, int m, int n, int k, const void* alpha, uint64_t a, int a_type, int lda, uint64_t b, int b_type,
                        int ldb, const void* beta, uint64_t c, int c_type, int ldc, int, int) {
  constexpr int kFloat = 0, kNotSupported = 15;
  if (a_type != kFloat || b_type != kFloat || c_type != kFloat) return kNotSupported;
  if (lda < (a_op ? k : m) || ldb < (b_op ? n : k) || ldc < m || *static_cast<const float*>(alpha) != 1) return kInvalidValue;
  return later(h, "gemm", [=, add = *static_cast<const float*>(beta)] {
    const auto x = matrix<float>(a, lda), y = matrix<float>(b, ldb), z = matrix<float>(c, ldc);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        double sum = add ? double(add) * double(z(i, j)) : 0;
        for (int l = 0; l < k; ++l) sum += double(a_op ? x(l, i) : x(i, l)) * double(b_op ? y(j, l) : y(l, j));
        z(i, j) = float(sum);
      }
    }
  });
}
