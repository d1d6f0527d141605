// Matrix exponentials by scaling, Pade approximants and squaring (Higham: "The scaling and squaring method for
// the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26, 2005). Degrees and limits are those of Eigen.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cpu/linalg.h"

namespace weft_engine::kernels {

namespace {

template <class T>
using Matrix = std::vector<T>;  // [n, n]

template <class T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b, int64_t n) {
  Matrix<T> c(a.size(), T(0));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      const T f = a[size_t(i * n + k)];
      for (int64_t j = 0; j < n; ++j) c[size_t(i * n + j)] += f * b[size_t(k * n + j)];
    }
  }
  return c;
}

// Coefficients of the numerator, by rising power.
constexpr double kPade3[] = {120, 60, 12, 1};
constexpr double kPade5[] = {30240, 15120, 3360, 420, 30, 1};
constexpr double kPade7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
constexpr double kPade9[] = {17643225600., 8821612800., 2075673600., 302702400., 30270240., 2162160., 110880., 3960., 90., 1.};
constexpr double kPade13[] = {64764752532480000.,
                              32382376266240000.,
                              7771770303897600.,
                              1187353796428800.,
                              129060195264000.,
                              10559470521600.,
                              670442572800.,
                              33522128640.,
                              1323241920.,
                              40840800.,
                              960960.,
                              16380.,
                              182.,
                              1.};

// u: the odd powers, v: the even ones.
template <class T>
void approximant(const Matrix<T>& a, int64_t n, const double* b, int degree, Matrix<T>& u, Matrix<T>& v) {
  using Real = RealOf<T>;
  std::vector<Matrix<T>> powers{Matrix<T>(a.size(), T(0)), product(a, a, n)};  // 0, 2, 4 ...
  for (int64_t i = 0; i < n; ++i) powers[0][size_t(i * n + i)] = T(1);
  while (int(powers.size()) <= degree / 2) powers.push_back(product(powers.back(), powers[1], n));
  Matrix<T> odd(a.size(), T(0));
  v.assign(a.size(), T(0));
  // From the highest on, as Eigen adds them.
  for (int k = degree / 2; k >= 0; --k) {
    for (size_t i = 0; i < a.size(); ++i) {
      v[i] += T(Real(b[2 * k])) * powers[size_t(k)][i];
      odd[i] += T(Real(b[2 * k + 1])) * powers[size_t(k)][i];
    }
  }
  u = product(a, odd, n);
}

}  // namespace

template <class T>
bool matrix_exponential(const T* in, int64_t n, T* out) {
  using Real = RealOf<T>;
  constexpr bool kFloat = sizeof(Real) == 4;
  Matrix<T> a(in, in + n * n), u, v;
  double norm = 0;  // the largest sum of a column
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::abs(a[size_t(i * n + j)]);
    norm = std::max(norm, sum);
    if (std::isnan(sum)) norm = sum;
  }
  struct Step {
    double limit;
    const double* b;
    int degree;
  };
  static constexpr Step kFloats[] = {{4.258730016922831e-1, kPade3, 3}, {1.880152677804762, kPade5, 5}, {3.925724783138660, kPade7, 7}};
  static constexpr Step kDoubles[] = {{1.495585217958292e-2, kPade3, 3},
                                      {2.539398330063230e-1, kPade5, 5},
                                      {9.504178996162932e-1, kPade7, 7},
                                      {2.097847961257068, kPade9, 9},
                                      {5.371920351148152, kPade13, 13}};
  const Step* step = kFloat ? kFloats : kDoubles;
  const Step* last = kFloat ? std::end(kFloats) - 1 : std::end(kDoubles) - 1;
  while (step != last && !(norm < step->limit)) ++step;
  int squarings = 0;
  if (step == last && std::isfinite(norm)) {
    std::frexp(norm / step->limit, &squarings);
    squarings = std::max(squarings, 0);
    for (T& x : a) x *= T(std::ldexp(Real(1), -squarings));
  }
  approximant(a, n, step->b, step->degree, u, v);
  Matrix<T> numerator(a.size()), denominator(a.size()), result(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    numerator[i] = u[i] + v[i];
    denominator[i] = v[i] - u[i];
  }
  if (!lu_solve(denominator.data(), numerator.data(), n, n, false, result.data())) return false;
  for (int i = 0; i < squarings; ++i) result = product(result, result, n);
  std::copy(result.begin(), result.end(), out);
  return true;
}
template bool matrix_exponential(const float*, int64_t, float*);
template bool matrix_exponential(const double*, int64_t, double*);
template bool matrix_exponential(const std::complex<float>*, int64_t, std::complex<float>*);
template bool matrix_exponential(const std::complex<double>*, int64_t, std::complex<double>*);

}  // namespace weft_engine::kernels
