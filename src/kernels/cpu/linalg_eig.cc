// Eigenvalues and eigenvectors of general matrices, and functions of matrices: all are built on the Schur form.
#include "kernels/cpu/linalg_schur.h"

namespace weft_engine::kernels {

namespace {

using Complex = std::complex<double>;
using Values = std::vector<Complex>;
const double kNan = std::numeric_limits<double>::quiet_NaN();

template <class Real>
bool is_finite(std::complex<Real> x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}

// Row `at` of t times x, behind column `from`.
template <class T, class X>
X row_times(const T* t, int64_t n, int64_t at, int64_t from, int64_t to, const X* x) {
  X sum(0);
  for (int64_t j = from; j <= to; ++j) {
    if constexpr (std::is_same_v<T, X>) sum += multiply(t[at * n + j], x[j]);
    else sum += t[at * n + j] * x[j];
  }
  return sum;
}

// (t - value) x = 0 for the rows above `row`; x is given from there to `last`. t has 2x2 blocks on its diagonal where elements below it are not zero. What would be divided by
// zero is divided by `tiny`.
template <class T, class X>
void substitute_back(const T* t, int64_t n, X value, int64_t row, int64_t last, RealOf<T> tiny, X* x) {
  using Real = RealOf<T>;
  for (int64_t i = row - 1; i >= 0; --i) {
    const X d = t[i * n + i] - value, r = row_times(t, n, i, i + 1, last, x);
    Real size;
    if (i == 0 || t[i * n + i - 1] == T(0)) {
      x[i] = -r / (d == X(0) ? X(tiny) : d);
      size = std::abs(x[i]);
    } else {  // a block of rows i - 1 and i
      const X c = t[(i - 1) * n + i - 1] - value, q = row_times(t, n, i - 1, i + 1, last, x);
      const T above = t[(i - 1) * n + i], below = t[i * n + i - 1];
      X determinant = multiply(c, d) - X(multiply(above, below));
      if (determinant == X(0)) determinant = X(tiny * (std::abs(c) + std::abs(d) + std::abs(above) + std::abs(below)));
      x[i - 1] = (X(above) * r - multiply(d, q)) / determinant;
      // From the row that has more to say of it.
      if (std::abs(above) > std::abs(d)) x[i] = (-q - multiply(c, x[i - 1])) / X(above);
      else x[i] = (-r - X(below) * x[i - 1]) / d;
      size = std::max(std::abs(x[i - 1]), std::abs(x[i]));
      --i;
    }
    if (std::numeric_limits<Real>::epsilon() * size * size > 1) {
      for (int64_t j = i; j <= last; ++j) x[j] /= size;
    }
  }
}

// v = u x / |u x|: a column, `stride` apart
template <class T, class X, class Out>
void store_vector(const Schur<T>& s, int64_t n, const X* x, int64_t last, Out* v) {
  using Real = RealOf<T>;
  std::vector<X> sum(size_t(n), X(0));
  for (int64_t k = 0; k <= last; ++k) {
    const T* column = s.u_transposed.data() + k * n;
    if constexpr (std::is_same_v<T, X>) axpy(x[k], column, sum.data(), n);
    else
      for (int64_t i = 0; i < n; ++i) sum[size_t(i)] += X(column[i] * x[k].real(), column[i] * x[k].imag());
  }
  const Real norm = std::sqrt(squared_norm(sum.data(), n));
  for (int64_t i = 0; i < n; ++i) v[i * n] = norm > 0 ? sum[size_t(i)] / norm : sum[size_t(i)];
}

template <class T>
RealOf<T> sum_of_sizes(const std::vector<T>& t) {
  RealOf<T> sum = 0;
  for (const T& x : t) sum += std::abs(x);
  return sum;
}

}  // namespace

// Ascending by size.
template <class T>
bool eig(const T* a, int64_t n, T* e, T* v) {
  using Real = RealOf<T>;
  Schur<T> s;
  if (!schur_form(a, n, v != nullptr, s)) return false;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i) order.push_back(i);
  const auto size = [&](int64_t i) { return std::abs(s.t[size_t(order[size_t(i)] * (n + 1))]); };
  for (int64_t i = 0; i < n; ++i) {
    int64_t least = i;
    for (int64_t j = i + 1; j < n; ++j) {
      if (size(j) < size(least)) least = j;
    }
    std::swap(order[size_t(i)], order[size_t(least)]);
  }
  for (int64_t i = 0; i < n; ++i) e[i] = s.t[size_t(order[size_t(i)] * (n + 1))];
  if (!v) return true;
  const Real tiny = std::numeric_limits<Real>::epsilon() * std::max(std::sqrt(squared_norm(s.t.data(), n * n)), std::numeric_limits<Real>::min());
  std::vector<T> x(size_t(n), T(0));
  for (int64_t i = 0; i < n; ++i) {
    const int64_t k = order[size_t(i)];
    x[size_t(k)] = T(1);
    substitute_back(s.t.data(), n, e[i], k, k, tiny, x.data());
    store_vector(s, n, x.data(), k, v + i);
  }
  return true;
}
template bool eig(const std::complex<float>*, int64_t, std::complex<float>*, std::complex<float>*);
template bool eig(const std::complex<double>*, int64_t, std::complex<double>*, std::complex<double>*);

// In the order of the Schur form, as in TensorFlow; of a pair the one with the positive imaginary part is first.
template <class T>
bool real_eig(const T* a, int64_t n, std::complex<T>* e, std::complex<T>* v) {
  using Pair = std::complex<T>;
  constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
  Schur<T> s;
  if (!schur_form(a, n, v != nullptr, s)) return false;
  const auto at = [&](int64_t i, int64_t j) { return s.t[size_t(i * n + j)]; };
  const T norm = sum_of_sizes(s.t), tiny = norm == 0 ? T(1) : kEpsilon * norm;
  std::vector<T> x(size_t(n), T(0));
  std::vector<Pair> pair(size_t(n), Pair(0));
  for (int64_t i = 0; i < n; ++i) {
    if (i == n - 1 || at(i + 1, i) == 0) {
      e[i] = at(i, i);
      if (!is_finite(e[i])) return false;
      if (!v) continue;
      x[size_t(i)] = 1;
      substitute_back(s.t.data(), n, at(i, i), i, i, tiny, x.data());
      store_vector(s, n, x.data(), i, v + i);
      continue;
    }
    const T half = (at(i, i) - at(i + 1, i + 1)) / 2, above = at(i, i + 1), below = at(i + 1, i);
    const T largest = std::max({std::abs(half), std::abs(above), std::abs(below)});
    const T root = largest * std::sqrt(std::abs(half / largest * (half / largest) + above / largest * (below / largest)));
    e[i] = Pair(at(i + 1, i + 1) + half, root);
    e[i + 1] = std::conj(e[i]);
    if (!is_finite(e[i])) return false;
    if (v) {
      // Of (t - e) x = 0 for the two rows, the one with the larger element beside the diagonal; the last element is i.
      pair[size_t(i + 1)] = Pair(0, 1);
      pair[size_t(i)] =
          std::abs(below) > std::abs(above) ? multiply(e[i] - at(i + 1, i + 1), Pair(0, 1)) / below : Pair(0, -above) / (at(i, i) - e[i]);
      substitute_back(s.t.data(), n, e[i], i, i + 1, tiny, pair.data());
      if (std::abs(root) <= 2 * kEpsilon * std::abs(e[i].real())) {  // two real values that rounding took apart
        for (int part = 0; part < 2; ++part) {
          for (int64_t k = 0; k <= i + 1; ++k) x[size_t(k)] = part ? pair[size_t(k)].imag() : pair[size_t(k)].real();
          store_vector(s, n, x.data(), i + 1, v + i + part);
        }
      } else {
        store_vector(s, n, pair.data(), i + 1, v + i);
        for (int64_t k = 0; k < n; ++k) v[k * n + i + 1] = std::conj(v[k * n + i]);
      }
    }
    ++i;
  }
  return true;
}
template bool real_eig(const float*, int64_t, std::complex<float>*, std::complex<float>*);
template bool real_eig(const double*, int64_t, std::complex<double>*, std::complex<double>*);

namespace {

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
void from_schur(const Values& u_transposed, const Values& f, int64_t n, Complex* out) {
  Values u(u_transposed.size(), Complex(0)), uf(u.size(), Complex(0));
  transpose(u_transposed.data(), n, n, u.data());
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
  Schur<Complex> s;
  if (!schur_form(a, n, true, s)) return std::fill(x, x + n * n, Complex(kNan, kNan));
  from_schur(s.u_transposed, triangular_root(s.t, n), n, x);
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
  Schur<Complex> s;
  std::fill(x, x + n * n, Complex(kNan, kNan));
  if (!schur_form(a, n, true, s)) return;
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
  from_schur(s.u_transposed, log, n, x);
}

}  // namespace weft_engine::kernels
