// Eigenvalues of general matrices, and functions of matrices: all are built on Eigen's complex Schur form.
#include "kernels/cpu/linalg_eigen.h"

#include <Eigen/Eigenvalues>

namespace weft_engine::kernels {

template <class T>
bool eig(const T* a, int64_t n, T* e, T* v) {
  for (int64_t i = 0; i < n * n; ++i) {
    if (!std::isfinite(a[i].real()) || !std::isfinite(a[i].imag())) return false;
  }
  const Eigen::ComplexEigenSolver<Dense<T>> solver(matrix(a, n, n), v != nullptr);
  if (solver.info() != Eigen::Success) return false;
  std::copy_n(solver.eigenvalues().data(), n, e);
  if (v) std::copy_n(solver.eigenvectors().data(), n * n, v);
  return true;
}
template bool eig(const std::complex<float>*, int64_t, std::complex<float>*, std::complex<float>*);
template bool eig(const std::complex<double>*, int64_t, std::complex<double>*, std::complex<double>*);

namespace {

using Complex = std::complex<double>;
using Values = std::vector<Complex>;
const double kNan = std::numeric_limits<double>::quiet_NaN();

// a = u t u^H with t upper triangular, all row after row.
struct Schur {
  Values t, u;
};
bool schur_form(const Complex* a, int64_t n, Schur& s) {
  for (int64_t i = 0; i < n * n; ++i) {
    if (!std::isfinite(a[i].real()) || !std::isfinite(a[i].imag())) return false;
  }
  const Eigen::ComplexSchur<Dense<Complex>> schur(matrix(a, n, n));
  if (schur.info() != Eigen::Success) return false;
  s.t.assign(schur.matrixT().data(), schur.matrixT().data() + n * n);
  s.u.assign(schur.matrixU().data(), schur.matrixU().data() + n * n);
  return true;
}

// x x = t for upper triangular t, column by column.
Values triangular_root(const Values& t, int64_t n) {
  Values x(t.size(), Complex(0)), column(size_t(n), Complex(0));
  for (int64_t j = 0; j < n; ++j) {
    x[size_t(j * n + j)] = column[size_t(j)] = std::sqrt(t[size_t(j * n + j)]);
    for (int64_t i = j - 1; i >= 0; --i) {
      Complex sum = t[size_t(i * n + j)];
      for (int64_t k = i + 1; k < j; ++k) sum -= multiply(x[size_t(i * n + k)], column[size_t(k)]);
      x[size_t(i * n + j)] = column[size_t(i)] = sum / (x[size_t(i * n + i)] + x[size_t(j * n + j)]);
    }
  }
  return x;
}

// u f u^H
void from_schur(const Values& u, const Values& f, int64_t n, Complex* out) {
  Values uf(u.size(), Complex(0));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) axpy(u[size_t(i * n + k)], f.data() + k * n, uf.data() + i * n, n);
    for (int64_t j = 0; j < n; ++j) out[i * n + j] = dot(u.data() + j * n, uf.data() + i * n, n);
  }
}

// The largest sum of sizes in a column of t - 1; NaN if there is one.
double distance_from_one(const Values& t, int64_t n) {
  double largest = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i <= j; ++i) sum += std::abs(t[size_t(i * n + j)] - (i == j ? 1.0 : 0.0));
    if (!(sum <= largest)) largest = sum;
  }
  return largest;
}

}  // namespace

void matrix_square_root(const Complex* a, int64_t n, Complex* x) {
  Schur s;
  if (!schur_form(a, n, s)) return std::fill(x, x + n * n, Complex(kNan, kNan));
  from_schur(s.u, triangular_root(s.t, n), n, x);
}

// Inverse scaling and squaring (Higham, Functions of Matrices, 11.5): roots of the Schur factor until it
// is near one, then log(1 + y) = sum of w y / (1 + s y) over the seven points s of Gauss and Legendre.
void matrix_logarithm(const Complex* a, int64_t n, Complex* x) {
  constexpr double kPoints[7] = {-0.9491079123427585, -0.7415311855993945, -0.4058451513773972, 0,
                                 0.4058451513773972,  0.7415311855993945,  0.9491079123427585};
  constexpr double kWeights[7] = {0.1294849661688697, 0.2797053914892767, 0.3818300505051189, 0.4179591836734694,
                                  0.3818300505051189, 0.2797053914892767, 0.1294849661688697};
  constexpr double kNear = 0.25;
  constexpr int kMaxRoots = 100;  // a singular matrix never comes near
  Schur s;
  std::fill(x, x + n * n, Complex(kNan, kNan));
  if (!schur_form(a, n, s)) return;
  Values diagonal(size_t(n), Complex(0)), t = s.t;
  for (int64_t i = 0; i < n; ++i) diagonal[size_t(i)] = t[size_t(i * n + i)];
  int roots = 0;
  while (!(distance_from_one(t, n) < kNear)) {
    if (++roots > kMaxRoots) return;
    t = triangular_root(t, n);
  }
  for (int64_t i = 0; i < n; ++i) t[size_t(i * n + i)] -= 1.0;
  Values log(t.size(), Complex(0)), lhs(t.size(), Complex(0)), part(t.size(), Complex(0));
  for (int k = 0; k < 7; ++k) {
    const double point = 0.5 * (1 + kPoints[k]);
    for (size_t i = 0; i < t.size(); ++i) lhs[i] = point * t[i];
    for (int64_t i = 0; i < n; ++i) lhs[size_t(i * n + i)] += 1.0;
    triangular_solve(lhs.data(), t.data(), n, n, false, false, part.data());
    axpy(Complex(0.5 * kWeights[k]), part.data(), log.data(), n * n);
  }
  for (Complex& v : log) v *= std::ldexp(1.0, roots);
  for (int64_t i = 0; i < n; ++i) log[size_t(i * n + i)] = std::log(diagonal[size_t(i)]);  // known better
  from_schur(s.u, log, n, x);
}

}  // namespace weft_engine::kernels
