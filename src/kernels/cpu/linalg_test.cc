// Decompositions of matrices that are larger than a panel: what they are multiplies to what was given.
#include "kernels/cpu/linalg.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace weft_engine::kernels;  // NOLINT

namespace {

template <class T>
std::vector<T> normal_matrix(int64_t n) {
  std::mt19937 rng(5);
  std::normal_distribution<double> normal;
  std::vector<T> out(size_t(n * n), T(0));
  for (T& x : out) {
    if constexpr (std::is_same_v<T, RealOf<T>>) x = T(normal(rng));
    else x = T(RealOf<T>(normal(rng)), RealOf<T>(normal(rng)));
  }
  return out;
}

template <class T>
T conj_of(T x) {
  if constexpr (std::is_same_v<T, RealOf<T>>) return x;
  else return std::conj(x);
}

// The largest |a b - c|; b^H with `adjoint`.
template <class A, class B, class C>
double difference(const std::vector<A>& a, const std::vector<B>& b, bool adjoint, const std::vector<C>& c, int64_t n) {
  double worst = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      std::complex<double> sum = 0;
      for (int64_t k = 0; k < n; ++k)
        sum += std::complex<double>(a[size_t(i * n + k)]) * std::complex<double>(adjoint ? conj_of(b[size_t(j * n + k)]) : b[size_t(k * n + j)]);
      worst = std::max(worst, std::abs(sum - std::complex<double>(c[size_t(i * n + j)])));
    }
  }
  return worst;
}

template <class T>
void check(int64_t n) {
  CAPTURE(n);
  const double epsilon = std::numeric_limits<RealOf<T>>::epsilon();
  const std::vector<T> a = normal_matrix<T>(n);
  const size_t size = a.size();
  std::vector<T> positive(size, T(0)), l(size), lu(size), lower(size, T(0)), upper(size, T(0)), permuted(size), x(size), one(size, T(0));
  for (int64_t i = 0; i < n; ++i) {
    one[size_t(i * n + i)] = T(1);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < n; ++k) positive[size_t(i * n + j)] += a[size_t(i * n + k)] * conj_of(a[size_t(j * n + k)]);
      if (i == j) positive[size_t(i * n + j)] += T(RealOf<T>(n));
    }
  }
  REQUIRE(cholesky_factor(positive.data(), n, l.data()));
  CHECK(difference(l, l, true, positive, n) < 100 * double(n) * epsilon);
  CHECK((n < 2 || l[1] == T(0)));
  std::vector<int64_t> rows(static_cast<size_t>(n));
  REQUIRE(lu_factor(a.data(), n, lu.data(), rows.data()));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const size_t at = size_t(i * n + j);
      (j < i ? lower : upper)[at] = lu[at];
      permuted[at] = a[size_t(rows[size_t(i)] * n + j)];
    }
    lower[size_t(i * n + i)] = T(1);
  }
  CHECK(difference(lower, upper, false, permuted, n) < 100 * double(n) * epsilon);
  REQUIRE(lu_inverse(positive.data(), n, false, x.data()));
  CHECK(difference(positive, x, false, one, n) < 100 * double(n) * epsilon);
  // a v = v e
  std::vector<std::complex<RealOf<T>>> e(static_cast<size_t>(n)), v(size), scaled(size);
  if constexpr (std::is_same_v<T, RealOf<T>>) REQUIRE(real_eig(a.data(), n, e.data(), v.data()));
  else REQUIRE(eig(a.data(), n, e.data(), v.data()));
  for (size_t i = 0; i < size; ++i) scaled[i] = v[i] * e[i % size_t(n)];
  CHECK(difference(a, v, false, scaled, n) < 100 * double(n) * epsilon);
}

}  // namespace

TEST_CASE("decompositions in one panel and in several multiply to the matrix") {
  for (int64_t n : {1, 2, 5, 64, 65, 150}) {
    check<float>(n);
    check<double>(n);
    check<std::complex<float>>(n);
    check<std::complex<double>>(n);
  }
}
