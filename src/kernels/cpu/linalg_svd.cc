// Singular value decomposition. Narrow matrices: Kogbetliantz' two-sided Jacobi method behind a QR with
// column pivots, with the order and signs of Eigen's JacobiSVD. Others: Golub and Kahan's bidiagonal form
// and implicit QR steps (Golub and Van Loan, 8.6).
#include "kernels/cpu/linalg_vectors.h"

namespace weft_engine::kernels {

namespace {

constexpr int64_t kJacobiColumns = 16;
constexpr int kMaxSweeps = 100, kMaxSteps = 60;

// a = u diag(s) v^H. Column-major; u and v are always made: [rows, columns] each.
template <class T>
struct Factors {
  int64_t m, n;
  std::vector<T> u, v;
  std::vector<RealOf<T>> s;
};

// ---- two-sided Jacobi on a square matrix

template <class T>
struct Rotation {  // [c conj(s); -s conj(c)]
  T c, s;
  Rotation transposed() const { return {c, -conjugate(s)}; }
  Rotation adjoint() const { return {conjugate(c), -s}; }
};

// x, y = c x + conj(s) y, conj(c) y - s x over strided vectors.
template <class T>
void plane(T* x, T* y, int64_t stride, int64_t n, const Rotation<T>& j) {
  for (int64_t i = 0; i < n; ++i) {
    const T a = x[i * stride], b = y[i * stride];
    x[i * stride] = multiply(j.c, a) + multiply(conjugate(j.s), b);
    y[i * stride] = multiply(conjugate(j.c), b) - multiply(j.s, a);
  }
}

template <class T>
class Jacobi {
 public:
  using Real = RealOf<T>;
  // w, column-major [n, n], becomes diagonal; columns of u and v turn along.
  Jacobi(T* w, int64_t n, T* u, int64_t u_rows, T* v, int64_t v_rows) : w_(w), u_(u), v_(v), n_(n), u_rows_(u_rows), v_rows_(v_rows) {}

  bool run() {
    for (int64_t i = 0; i < n_; ++i) largest_ = std::max(largest_, std::abs(at(i, i)));
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
      bool finished = true;
      for (int64_t p = 1; p < n_; ++p) {
        for (int64_t q = 0; q < p; ++q) {
          if (is_diagonal(p, q)) continue;
          finished = false;
          if (!make_real(p, q)) continue;
          step(p, q);
        }
      }
      if (finished) return true;
    }
    return false;
  }

 private:
  T& at(int64_t i, int64_t j) { return w_[j * n_ + i]; }
  bool is_diagonal(int64_t p, int64_t q) {
    const Real threshold = std::max(kTiny, kPrecision * largest_);
    return !(std::abs(at(p, q)) > threshold || std::abs(at(q, p)) > threshold);
  }
  void note_diagonal(int64_t p, int64_t q) { largest_ = std::max(largest_, std::max(std::abs(at(p, p)), std::abs(at(q, q)))); }
  void left(int64_t p, int64_t q, const Rotation<T>& j) { plane(w_ + p, w_ + q, n_, n_, j); }
  void right(T* m, int64_t rows, int64_t p, int64_t q, const Rotation<T>& j) { plane(m + p * rows, m + q * rows, 1, rows, j.transposed()); }
  void scale(T* x, int64_t stride, int64_t n, T z) {
    for (int64_t i = 0; i < n; ++i) x[i * stride] = multiply(x[i * stride], z);
  }
  // Makes a row real in one element by a unit factor, which u takes over.
  void turn_row(int64_t row, T element) {
    if (!(std::abs(std::imag(element)) > kTiny)) return;
    const T z = std::abs(element) / element;
    scale(w_ + row, n_, n_, z);
    scale(u_ + row * u_rows_, 1, u_rows_, conjugate(z));
  }

  // The 2x2 block of p and q made real; false if it is diagonal then.
  bool make_real(int64_t p, int64_t q) {
    if constexpr (std::is_same_v<T, Real>) {
      return true;
    } else {
      const Real n = std::sqrt(std::norm(at(p, p)) + std::norm(at(q, p)));
      if (n == 0) {
        at(p, p) = at(q, p) = T(0);
        turn_row(p, at(p, q));
        turn_row(q, at(q, q));
      } else {
        const Rotation<T> j{conjugate(at(p, p)) / n, at(q, p) / n};
        left(p, q, j);
        right(u_, u_rows_, p, q, j.adjoint());
        if (std::abs(std::imag(at(p, q))) > kTiny) {
          const T z = std::abs(at(p, q)) / at(p, q);
          scale(w_ + q * n_, 1, n_, z);
          scale(v_ + q * v_rows_, 1, v_rows_, z);
        }
        turn_row(q, at(q, q));
      }
      note_diagonal(p, q);
      return !is_diagonal(p, q);
    }
  }

  void step(int64_t p, int64_t q) {
    Real a = std::real(at(p, p)), b = std::real(at(p, q)), c = std::real(at(q, p)), d = std::real(at(q, q));
    // First a rotation that makes the block symmetric ...
    const Real sum = a + d, difference = c - b;
    Real c1 = 1, s1 = 0;
    if (!(std::abs(difference) < kTiny)) {
      const Real u = sum / difference, w = std::sqrt(1 + u * u);
      s1 = 1 / w;
      c1 = u / w;
    }
    const Real a1 = c1 * a + s1 * c, b1 = c1 * b + s1 * d, d1 = c1 * d - s1 * b;
    // ... then the one that makes it diagonal.
    Real c2 = 1, s2 = 0;
    const Real twice = 2 * std::abs(b1);
    if (!(twice < kTiny)) {
      const Real tau = (a1 - d1) / twice, w = std::sqrt(tau * tau + 1);
      const Real t = tau > 0 ? 1 / (tau + w) : 1 / (tau - w), n = 1 / std::sqrt(t * t + 1);
      s2 = -(t > 0 ? Real(1) : Real(-1)) * (b1 / std::abs(b1)) * std::abs(t) * n;
      c2 = n;
    }
    const Rotation<T> on_right{T(c2), T(s2)};
    const Rotation<T> on_left{T(c1 * c2 + s1 * s2), T(s1 * c2 - c1 * s2)};
    left(p, q, on_left);
    right(u_, u_rows_, p, q, on_left.transposed());
    right(w_, n_, p, q, on_right);
    right(v_, v_rows_, p, q, on_right);
    note_diagonal(p, q);
  }

  static constexpr Real kTiny = std::numeric_limits<Real>::min(), kPrecision = 2 * std::numeric_limits<Real>::epsilon();
  T *w_, *u_, *v_;
  int64_t n_, u_rows_, v_rows_;
  Real largest_ = 0;
};

// ---- implicit QR on a real upper bidiagonal matrix

template <class Real>
void givens(Real y, Real z, Real& c, Real& s, Real& r) {
  r = std::hypot(y, z);
  c = r == 0 ? Real(1) : y / r;
  s = r == 0 ? Real(0) : z / r;
}

template <class T>
class Bidiagonal {
 public:
  using Real = RealOf<T>;
  Bidiagonal(std::vector<Real>& d, std::vector<Real>& e, std::vector<T>& u, int64_t u_rows, std::vector<T>& v, int64_t v_rows)
      : d_(d), e_(e), u_(u), v_(v), u_rows_(u_rows), v_rows_(v_rows) {}

  bool run() {
    const Real eps = std::numeric_limits<Real>::epsilon();
    const int64_t n = int64_t(d_.size());
    Real largest = 0;
    for (Real x : d_) largest = std::max(largest, std::abs(x));
    for (Real x : e_) largest = std::max(largest, std::abs(x));
    int64_t high = n - 1, steps = 0;
    while (high > 0) {
      for (int64_t i = 0; i < high; ++i) {
        if (std::abs(e_[size_t(i)]) <= eps * (std::abs(d_[size_t(i)]) + std::abs(d_[size_t(i) + 1]))) e_[size_t(i)] = 0;
      }
      if (e_[size_t(high - 1)] == 0) {
        --high;
        continue;
      }
      if (++steps > kMaxSteps * n) return false;
      int64_t low = high - 1;
      while (low > 0 && e_[size_t(low - 1)] != 0) --low;
      if (!drop_zero(low, high, eps * largest)) step(low, high);
    }
    return true;
  }

 private:
  void turn(std::vector<T>& m, int64_t rows, int64_t i, int64_t j, Real c, Real s) { rotate(c, s, m.data() + i * rows, m.data() + j * rows, rows); }

  // A zero on the diagonal lets its row, or the last column, be rotated to zero.
  bool drop_zero(int64_t low, int64_t high, Real threshold) {
    Real c, s, r;
    for (int64_t i = low; i < high; ++i) {
      if (std::abs(d_[size_t(i)]) > threshold) continue;
      d_[size_t(i)] = 0;
      Real f = e_[size_t(i)];
      e_[size_t(i)] = 0;
      for (int64_t j = i + 1; j <= high && f != 0; ++j) {
        givens(d_[size_t(j)], f, c, s, r);
        d_[size_t(j)] = r;
        turn(u_, u_rows_, j, i, c, s);
        if (j < high) {
          f = -s * e_[size_t(j)];
          e_[size_t(j)] *= c;
        }
      }
      return true;
    }
    if (std::abs(d_[size_t(high)]) > threshold) return false;
    d_[size_t(high)] = 0;
    Real f = e_[size_t(high - 1)];
    e_[size_t(high - 1)] = 0;
    for (int64_t j = high - 1; j >= low && f != 0; --j) {
      givens(d_[size_t(j)], f, c, s, r);
      d_[size_t(j)] = r;
      turn(v_, v_rows_, j, high, c, s);
      if (j > low) {
        f = -s * e_[size_t(j - 1)];
        e_[size_t(j - 1)] *= c;
      }
    }
    return true;
  }

  void step(int64_t low, int64_t high) {
    const auto d = [&](int64_t i) -> Real& { return d_[size_t(i)]; };
    const auto e = [&](int64_t i) -> Real& { return e_[size_t(i)]; };
    // The eigenvalue of the last 2x2 block of B^T B nearest its corner.
    const Real above = high - 1 > low ? e(high - 2) : Real(0);
    const Real t11 = d(high - 1) * d(high - 1) + above * above, t12 = d(high - 1) * e(high - 1), t22 = d(high) * d(high) + e(high - 1) * e(high - 1);
    const Real half = (t11 - t22) / 2, root = std::hypot(half, t12), denominator = half + (half >= 0 ? root : -root);
    const Real shift = denominator == 0 ? t22 : t22 - t12 * t12 / denominator;
    Real y = d(low) * d(low) - shift, z = d(low) * e(low), c, s, r;
    for (int64_t k = low; k < high; ++k) {
      givens(y, z, c, s, r);
      if (k > low) e(k - 1) = r;
      y = c * d(k) + s * e(k);
      e(k) = c * e(k) - s * d(k);
      z = s * d(k + 1);
      d(k + 1) *= c;
      turn(v_, v_rows_, k, k + 1, c, s);
      givens(y, z, c, s, r);
      d(k) = r;
      y = c * e(k) + s * d(k + 1);
      d(k + 1) = c * d(k + 1) - s * e(k);
      if (k < high - 1) {
        z = s * e(k + 1);
        e(k + 1) *= c;
      }
      turn(u_, u_rows_, k, k + 1, c, s);
    }
    e(high - 1) = y;
  }

  std::vector<Real>&d_, &e_;
  std::vector<T>&u_, &v_;
  int64_t u_rows_, v_rows_;
};

// ---- putting them together

template <class T>
std::vector<T> identity(int64_t rows, int64_t columns) {
  std::vector<T> m(size_t(rows * columns), T(0));
  for (int64_t i = 0; i < std::min(rows, columns); ++i) m[size_t(i * rows + i)] = T(1);
  return m;
}

// QR with the largest remaining column first; returns tau and which column came to each place.
template <class T>
std::vector<T> pivoted_qr(T* a, int64_t m, int64_t n, std::vector<int64_t>& order) {
  std::vector<T> tau(size_t(std::min(m, n)), T(0));
  order.resize(size_t(n));
  for (int64_t j = 0; j < n; ++j) order[size_t(j)] = j;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    int64_t best = k;
    RealOf<T> largest = -1;
    for (int64_t j = k; j < n; ++j) {
      const RealOf<T> size = squared_norm(a + j * m + k, m - k);
      if (size > largest) {
        largest = size;
        best = j;
      }
    }
    if (best != k) {
      std::swap_ranges(a + k * m, a + (k + 1) * m, a + best * m);
      std::swap(order[size_t(k)], order[size_t(best)]);
    }
    T* column = a + k * m + k;
    const Reflection<T> r = make_reflection(column, m - k);
    column[0] = T(r.beta);
    tau[size_t(k)] = r.tau;
    for (int64_t j = k + 1; j < n; ++j) reflect(r.tau, column, a + j * m + k, m - k);
  }
  return tau;
}

// A tall matrix (rows >= columns, column-major): u is [m, u_columns].
template <class T>
bool tall_jacobi(std::vector<T> a, int64_t m, int64_t n, int64_t u_columns, std::vector<T>& u, std::vector<T>& v, std::vector<T>& w) {
  std::vector<int64_t> order;
  const std::vector<T> tau = pivoted_qr(a.data(), m, n, order);
  w.assign(size_t(n * n), T(0));
  for (int64_t j = 0; j < n; ++j) std::copy(a.begin() + j * m, a.begin() + j * m + j + 1, w.begin() + j * n);
  u = identity<T>(m, u_columns);
  apply_q(a.data(), tau, m, u.data(), u_columns);
  v.assign(size_t(n * n), T(0));
  for (int64_t j = 0; j < n; ++j) v[size_t(j * n + order[size_t(j)])] = T(1);
  return true;
}

// Decomposes by Jacobi; a is row-major [m, n], already scaled.
template <class T>
bool by_jacobi(const std::vector<T>& a, int64_t u_columns, int64_t v_columns, Factors<T>& f) {
  const int64_t m = f.m, n = f.n, p = std::min(m, n);
  std::vector<T> w, columns(size_t(m * n), T(0));
  if (m == n) {
    w.resize(size_t(n * n));
    transpose(a.data(), m, n, w.data());
    f.u = identity<T>(m, m);
    f.v = identity<T>(n, n);
  } else if (m > n) {
    transpose(a.data(), m, n, columns.data());
    tall_jacobi(std::move(columns), m, n, u_columns, f.u, f.v, w);
  } else {  // the adjoint is tall: its columns are the conjugated rows
    for (size_t i = 0; i < a.size(); ++i) columns[i] = conjugate(a[i]);
    std::vector<T> adjoint;
    tall_jacobi(std::move(columns), n, m, v_columns, f.v, f.u, adjoint);
    w.resize(size_t(p * p));
    transpose(adjoint.data(), p, p, w.data(), true);
  }
  if (!Jacobi<T>(w.data(), p, f.u.data(), m, f.v.data(), n).run()) return false;
  using Real = RealOf<T>;
  f.s.resize(size_t(p));
  for (int64_t i = 0; i < p; ++i) {
    const T value = w[size_t(i * p + i)];
    T* column = f.u.data() + i * m;
    if (std::abs(std::imag(value)) > std::numeric_limits<Real>::min()) {
      const Real size = std::abs(value);
      f.s[size_t(i)] = size;
      for (int64_t k = 0; k < m; ++k) column[k] = multiply(column[k], value / size);
    } else {
      f.s[size_t(i)] = std::abs(std::real(value));
      if (std::real(value) < 0) std::transform(column, column + m, column, [](T x) { return -x; });
    }
  }
  return true;
}

// Decomposes by bidiagonal QR; a is column-major [m, n] with m >= n.
template <class T>
bool by_bidiagonal(std::vector<T> a, int64_t m, int64_t n, int64_t u_columns, std::vector<T>& u, std::vector<T>& v, std::vector<RealOf<T>>& s) {
  using Real = RealOf<T>;
  const std::vector<T> tau = qr_in_place(a.data(), m, n);
  std::vector<T> w(size_t(n * n), T(0)), left(size_t(n), T(0)), right(size_t(n), T(0)), rows(size_t(n * n), T(0)), y(size_t(n), T(0));
  for (int64_t j = 0; j < n; ++j) std::copy(a.begin() + j * m, a.begin() + j * m + j + 1, w.begin() + j * n);
  std::vector<Real> d(size_t(n), Real(0)), e(size_t(std::max<int64_t>(n - 1, 0)), Real(0));
  for (int64_t k = 0; k < n; ++k) {
    T* column = w.data() + k * n + k;
    const Reflection<T> l = make_reflection(column, n - k);
    d[size_t(k)] = l.beta;
    left[size_t(k)] = l.tau;
    for (int64_t j = k + 1; j < n; ++j) reflect(l.tau, column, w.data() + j * n + k, n - k);
    if (k + 1 >= n) continue;
    T* x = rows.data() + k * n + k + 1;  // the rest of row k, conjugated
    const int64_t count = n - k - 1;
    for (int64_t j = 0; j < count; ++j) x[j] = conjugate(w[size_t((k + 1 + j) * n + k)]);
    const Reflection<T> r = make_reflection(x, count);
    e[size_t(k)] = r.beta;
    right[size_t(k)] = r.tau;
    x[0] = T(1);
    std::fill(y.begin(), y.end(), T(0));
    for (int64_t j = 0; j < count; ++j) axpy(x[j], w.data() + (k + 1 + j) * n + k + 1, y.data(), count);
    for (int64_t j = 0; j < count; ++j) axpy(-multiply(conjugate(r.tau), conjugate(x[j])), y.data(), w.data() + (k + 1 + j) * n + k + 1, count);
  }
  u = identity<T>(m, u_columns);
  v = identity<T>(n, n);
  for (int64_t k = n - 1; k >= 0; --k) {
    for (int64_t j = 0; j < n; ++j) {
      reflect(conjugate(left[size_t(k)]), w.data() + k * n + k, u.data() + j * m + k, n - k);
      if (k + 1 < n) reflect(conjugate(right[size_t(k)]), rows.data() + k * n + k + 1, v.data() + j * n + k + 1, n - k - 1);
    }
  }
  apply_q(a.data(), tau, m, u.data(), u_columns);
  if (!Bidiagonal<T>(d, e, u, m, v, n).run()) return false;
  for (int64_t i = 0; i < n; ++i) {
    if (d[size_t(i)] < 0) {
      d[size_t(i)] = -d[size_t(i)];
      for (int64_t k = 0; k < n; ++k) v[size_t(i * n + k)] = -v[size_t(i * n + k)];
    }
  }
  s = std::move(d);
  return true;
}

template <class T>
bool decompose(const T* a, bool full, RealOf<T> scale, Factors<T>& f) {
  const int64_t m = f.m, n = f.n, p = std::min(m, n);
  std::vector<T> scaled(a, a + m * n);
  for (T& x : scaled) x /= scale;
  const int64_t u_columns = full ? m : p, v_columns = full ? n : p;
  if (n < kJacobiColumns) return by_jacobi(scaled, u_columns, v_columns, f);
  std::vector<T> columns(size_t(m * n), T(0));
  if (m >= n) {
    transpose(scaled.data(), m, n, columns.data());
    return by_bidiagonal(std::move(columns), m, n, u_columns, f.u, f.v, f.s);
  }
  for (size_t i = 0; i < scaled.size(); ++i) columns[i] = conjugate(scaled[i]);
  return by_bidiagonal(std::move(columns), n, m, v_columns, f.v, f.u, f.s);
}

template <class T>
void sort_descending(Factors<T>& f) {
  const int64_t p = int64_t(f.s.size());
  for (int64_t i = 0; i < p; ++i) {
    const int64_t most = std::max_element(f.s.begin() + i, f.s.end()) - f.s.begin();
    if (most == i) continue;
    std::swap(f.s[size_t(i)], f.s[size_t(most)]);
    std::swap_ranges(f.u.begin() + i * f.m, f.u.begin() + (i + 1) * f.m, f.u.begin() + most * f.m);
    std::swap_ranges(f.v.begin() + i * f.n, f.v.begin() + (i + 1) * f.n, f.v.begin() + most * f.n);
  }
}

}  // namespace

template <class T>
void svd(const T* a, int64_t m, int64_t n, bool full, T* s, T* u, T* v) {
  using Real = RealOf<T>;
  if (!u) full = false;
  const int64_t p = std::min(m, n), u_columns = full ? m : p, v_columns = full ? n : p;
  Factors<T> f{m, n, identity<T>(m, u_columns), identity<T>(n, v_columns), {}};
  if (p > 0) {
    Real scale = 0;
    bool done = true;
    for (int64_t i = 0; i < m * n && done; ++i) {
      const Real size = std::abs(a[i]);
      done = std::isfinite(size);
      scale = std::max(scale, size);
    }
    if (scale == 0) scale = 1;
    done = done && decompose(a, full, scale, f);
    if (done) {
      sort_descending(f);
      for (int64_t i = 0; i < p; ++i) s[i] = T(f.s[size_t(i)] * scale);
    } else {
      const T nan(std::numeric_limits<Real>::quiet_NaN());
      std::fill(s, s + p, nan);
      f.u.assign(size_t(m * u_columns), nan);
      f.v.assign(size_t(n * v_columns), nan);
    }
  }
  if (u) transpose(f.u.data(), u_columns, m, u);
  if (v) transpose(f.v.data(), v_columns, n, v);
}

#define X(T) template void svd(const T*, int64_t, int64_t, bool, T*, T*, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels
