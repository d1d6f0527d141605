// Householder reduction to Hessenberg form, then QR steps: Francis' double steps for real matrices, single ones with Wilkinson's shift for complex ones (Golub and Van
// Loan, 7.4 and 7.5). Shifts, limits and signs are those of Eigen's solvers, on which the order of the eigenvalues depends.
#include "kernels/cpu/linalg_schur.h"

namespace weft_engine::kernels {
namespace {

// a, column after column, becomes Hessenberg. The columns of q, if there is one, become the basis.
template <class T>
void reduce_to_hessenberg(T* a, int64_t n, T* q) {
  std::vector<T> taus(size_t(std::max<int64_t>(n - 1, 0)), T(0)), product(size_t(n), T(0));
  for (int64_t k = 0; k + 1 < n; ++k) {
    T* v = a + k * n + k + 1;
    const int64_t size = n - k - 1;
    const Reflection<T> r = make_reflection(v, size);
    v[0] = T(1);
    for (int64_t j = k + 1; j < n; ++j) reflect(r.tau, v, a + j * n + k + 1, size);
    if (r.tau != T(0)) {
      std::fill(product.begin(), product.end(), T(0));
      for (int64_t j = 0; j < size; ++j) axpy(v[j], a + (k + 1 + j) * n, product.data(), n);
      for (int64_t j = 0; j < size; ++j) axpy(-multiply(conjugate(r.tau), conjugate(v[j])), product.data(), a + (k + 1 + j) * n, n);
    }
    v[0] = T(r.beta);
    taus[size_t(k)] = r.tau;
  }
  if (q) {
    std::fill_n(q, n * n, T(0));
    for (int64_t i = 0; i < n; ++i) q[i * n + i] = T(1);
    for (int64_t k = n - 2; k >= 0; --k) {
      for (int64_t j = k + 1; j < n; ++j) reflect(conjugate(taus[size_t(k)]), a + k * n + k + 1, q + j * n + k + 1, n - k - 1);
    }
  }
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j + 2; i < n; ++i) a[j * n + i] = T(0);
  }
}

// ---- complex

// |re| + |im|
template <class Real>
Real size_of(std::complex<Real> x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

// c x - conj(s) y = r and s x + c y = 0, with real c that has the sign of x.
template <class Real>
struct Plane {
  using T = std::complex<Real>;
  Real c;
  T s, r;
  Plane(T x, T y) {
    const Real p = std::abs(x), h = std::hypot(p, std::abs(y));
    if (h == 0) {
      c = 1;
      s = r = T(0);
      return;
    }
    const Real sign = x.real() < 0 ? Real(-1) : Real(1);
    const T direction = p == 0 ? T(1) : x / p;
    c = sign * p / h;
    s = -multiply(std::conj(direction), y) * (sign / h);
    r = direction * (sign * h);
  }
  // Two vectors that run along memory, or pairs of neighbours `stride` apart.
  void on_rows(T* x, T* y, int64_t n) const {
    const Real sr = s.real(), si = s.imag();
    for (int64_t i = 0; i < n; ++i) {
      const Real xr = x[i].real(), xi = x[i].imag(), yr = y[i].real(), yi = y[i].imag();
      x[i] = T(c * xr - sr * yr - si * yi, c * xi - sr * yi + si * yr);
      y[i] = T(sr * xr - si * xi + c * yr, sr * xi + si * xr + c * yi);
    }
  }
  void on_columns(T* x, T* y, int64_t stride, int64_t n) const {
    const Real sr = s.real(), si = s.imag();
    for (int64_t i = 0; i < n * stride; i += stride) {
      const Real xr = x[i].real(), xi = x[i].imag(), yr = y[i].real(), yi = y[i].imag();
      x[i] = T(c * xr - sr * yr + si * yi, c * xi - sr * yi - si * yr);
      y[i] = T(sr * xr + si * xi + c * yr, sr * xi - si * xr + c * yi);
    }
  }
};

template <class Real>
class ComplexSchur {
 public:
  using T = std::complex<Real>;
  ComplexSchur(T* t, T* u, int64_t n) : t_(t), u_(u), n_(n) {}

  bool run() {
    const int64_t most = 30 * n_;
    int64_t end = n_ - 1, steps = 0;
    for (int64_t total = 0;;) {
      for (; end > 0 && is_split(end - 1); --end) steps = 0;
      if (end == 0) return true;
      ++steps;
      if (++total > most) return false;
      int64_t begin = end - 1;
      while (begin > 0 && !is_split(begin - 1)) --begin;
      step(begin, end, shift(end, steps));
    }
  }

 private:
  T& at(int64_t i, int64_t j) { return t_[i * n_ + j]; }

  bool is_split(int64_t i) {
    if (!(size_of(at(i + 1, i)) <= (size_of(at(i, i)) + size_of(at(i + 1, i + 1))) * std::numeric_limits<Real>::epsilon())) return false;
    at(i + 1, i) = T(0);
    return true;
  }

  // The eigenvalue of the last 2x2 block that is closer to the last element.
  T shift(int64_t end, int64_t steps) {
    if (steps == 10 || steps == 20) {  // an exceptional one, as in EISPACK's comqr; above the first row there is nothing to add
      const Real above = end > 1 ? std::abs(at(end - 1, end - 2).real()) : Real(0);
      return std::abs(at(end, end - 1).real()) + above;
    }
    const T *p = &at(end - 1, end - 1), *q = &at(end, end - 1);
    const Real norm = std::abs(p[0]) + std::abs(p[1]) + std::abs(q[0]) + std::abs(q[1]);
    const T a = p[0] / norm, b = p[1] / norm, c = q[0] / norm, d = q[1] / norm;
    const T difference = a - d, root = std::sqrt(multiply(difference, difference) + Real(4) * multiply(b, c));
    const T determinant = multiply(a, d) - multiply(b, c);
    T first = (a + d + root) / Real(2), second = (a + d - root) / Real(2);
    // The larger one is exact; the other follows from the determinant.
    if (size_of(first) > size_of(second)) second = determinant / first;
    else if (size_of(second) != 0) first = determinant / second;
    return norm * (size_of(first - d) < size_of(second - d) ? first : second);
  }

  void step(int64_t begin, int64_t end, T shift) {
    for (int64_t i = begin; i < end; ++i) {
      const bool starts = i == begin;
      const Plane<Real> plane(starts ? at(i, i) - shift : at(i, i - 1), starts ? at(i + 1, i) : at(i + 1, i - 1));
      if (!starts) {
        at(i, i - 1) = plane.r;
        at(i + 1, i - 1) = T(0);
      }
      plane.on_rows(&at(i, i), &at(i + 1, i), n_ - i);
      plane.on_columns(&at(0, i), &at(0, i + 1), n_, std::min(i + 2, end) + 1);
      if (u_) plane.on_columns(u_ + i * n_, u_ + (i + 1) * n_, 1, n_);
    }
  }

  T *t_, *u_;
  const int64_t n_;
};

// ---- real

template <class T>
class RealSchur {
 public:
  RealSchur(T* t, T* u, int64_t n) : t_(t), u_(u), n_(n) {}

  bool run() {
    T norm = 0;
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = std::max<int64_t>(i - 1, 0); j < n_; ++j) norm += std::abs(at(i, j));
    }
    if (norm == 0) return true;
    zero_ = std::max(norm * kEpsilon * kEpsilon, std::numeric_limits<T>::min());
    const int64_t most = 40 * n_;
    int64_t end = n_ - 1, steps = 0;
    for (int64_t total = 0; end >= 0;) {
      const int64_t begin = first_of_block(end);
      if (begin == end) {
        at(end, end) += shifted_;
        if (end > 0) at(end, end - 1) = 0;
        --end;
        steps = 0;
      } else if (begin == end - 1) {
        split_pair(end);
        end -= 2;
        steps = 0;
      } else {
        const Shift shift = next_shift(end, steps++);
        if (++total > most) return false;
        step(begin, end, shift);
      }
    }
    return true;
  }

 private:
  static constexpr T kEpsilon = std::numeric_limits<T>::epsilon();
  struct Shift {  // both eigenvalues of the last 2x2 block: its diagonal, and the product of the other two
    T last, before, product;
  };

  T& at(int64_t i, int64_t j) { return t_[i * n_ + j]; }

  int64_t first_of_block(int64_t end) {
    for (; end > 0; --end) {
      const T s = std::abs(at(end - 1, end - 1)) + std::abs(at(end, end));
      if (std::abs(at(end, end - 1)) <= std::max(s * kEpsilon, zero_)) break;
    }
    return end;
  }

  // The last two rows are apart from the rest: triangular if their values are real.
  void split_pair(int64_t end) {
    const T half = (at(end - 1, end - 1) - at(end, end)) / 2, square = half * half + at(end, end - 1) * at(end - 1, end);
    at(end, end) += shifted_;
    at(end - 1, end - 1) += shifted_;
    if (square >= 0) {
      // [c s; -s c] takes an eigenvector to (h, 0).
      const T root = std::sqrt(square), x = half >= 0 ? half + root : half - root, y = at(end, end - 1), h = std::hypot(x, y);
      const T c = h == 0 ? T(1) : x / h, s = h == 0 ? T(0) : y / h;
      rotate(c, s, &at(end - 1, end - 1), &at(end, end - 1), n_ - end + 1);
      for (int64_t i = 0; i <= end; ++i) {
        const T p = at(i, end - 1), q = at(i, end);
        at(i, end - 1) = c * p + s * q;
        at(i, end) = c * q - s * p;
      }
      at(end, end - 1) = 0;
      if (u_) rotate(c, s, u_ + (end - 1) * n_, u_ + end * n_, n_);
    }
    if (end > 1) at(end - 1, end - 2) = 0;
  }

  Shift next_shift(int64_t end, int64_t steps) {
    Shift s{at(end, end), at(end - 1, end - 1), at(end, end - 1) * at(end - 1, end)};
    const auto shift_all = [&](T by) {
      shifted_ += by;
      for (int64_t i = 0; i <= end; ++i) at(i, i) -= by;
    };
    if (steps == 10) {  // Wilkinson's exceptional shift
      shift_all(s.last);
      const T size = std::abs(at(end, end - 1)) + std::abs(at(end - 1, end - 2));
      s = {T(0.75) * size, T(0.75) * size, T(-0.4375) * size * size};
    }
    if (steps == 30) {  // the one of LAPACK before version 3
      const T half = (s.before - s.last) / 2, square = half * half + s.product;
      if (square > 0) {
        const T root = s.before < s.last ? -std::sqrt(square) : std::sqrt(square);
        shift_all(s.last - s.product / (root + half));
        s = {T(0.964), T(0.964), T(0.964)};
      }
    }
    return s;
  }

  void step(int64_t begin, int64_t end, const Shift& shift) {
    // The first column of (T - first value)(T - second value), from the lowest row that two small elements in a row allow.
    T v[3] = {};
    int64_t from = end - 2;
    for (;; --from) {
      const T m = at(from, from), r = shift.last - m, s = shift.before - m;
      v[0] = (r * s - shift.product) / at(from + 1, from) + at(from, from + 1);
      v[1] = at(from + 1, from + 1) - m - r - s;
      v[2] = at(from + 2, from + 1);
      if (from == begin) break;
      const T left = at(from, from - 1) * (std::abs(v[1]) + std::abs(v[2]));
      const T right = v[0] * (std::abs(at(from - 1, from - 1)) + std::abs(m) + std::abs(at(from + 1, from + 1)));
      if (std::abs(left) < kEpsilon * right) break;
    }
    for (int64_t k = from; k < end; ++k) {
      const int64_t rows = std::min<int64_t>(3, end - k + 1);
      if (k > from) {
        for (int64_t i = 0; i < rows; ++i) v[i] = at(k + i, k - 1);
      }
      const Reflection<T> r = make_reflection(v, rows);
      if (r.beta == 0) continue;
      if (k > from) at(k, k - 1) = r.beta;
      else if (k > begin) at(k, k - 1) = -at(k, k - 1);
      if (rows == 2) v[2] = 0;
      reflect_rows(r.tau, v, rows, &at(k, k), n_ - k);
      reflect_columns(r.tau, v, rows, &at(0, k), std::min(end, k + 3) + 1);
      if (u_) reflect_rows(r.tau, v, rows, u_ + k * n_, n_);
    }
    for (int64_t i = from + 2; i <= end; ++i) {
      at(i, i - 2) = 0;
      if (i > from + 2) at(i, i - 3) = 0;
    }
  }

  // H = 1 - tau (1, v1, v2) (1, v1, v2)^T on two or three rows, of n elements each.
  void reflect_rows(T tau, const T* v, int64_t rows, T* x, int64_t n) {
    T *y = x + n_, *z = rows == 3 ? x + 2 * n_ : nullptr;
    if (z) {
      for (int64_t i = 0; i < n; ++i) {
        const T w = tau * (x[i] + v[1] * y[i] + v[2] * z[i]);
        x[i] -= w;
        y[i] -= v[1] * w;
        z[i] -= v[2] * w;
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const T w = tau * (x[i] + v[1] * y[i]);
      x[i] -= w;
      y[i] -= v[1] * w;
    }
  }
  void reflect_columns(T tau, const T* v, int64_t columns, T* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i, x += n_) {
      const T w = tau * (x[0] + v[1] * x[1] + (columns == 3 ? v[2] * x[2] : T(0)));
      x[0] -= w;
      x[1] -= v[1] * w;
      if (columns == 3) x[2] -= v[2] * w;
    }
  }

  T *t_, *u_;
  const int64_t n_;
  T zero_ = 0;  // elements below the diagonal that are no larger are none
  T shifted_ = 0;  // by exceptional shifts
};

}  // namespace

template <class T>
bool schur_form(const T* a, int64_t n, bool with_u, Schur<T>& out) {
  constexpr bool kReal = std::is_same_v<T, RealOf<T>>;
  RealOf<T> scale = 0;
  for (int64_t i = 0; i < n * n; ++i) {
    if (!std::isfinite(std::real(a[i])) || !std::isfinite(std::imag(a[i]))) return false;
    scale = std::max(scale, std::abs(std::real(a[i])));
  }
  std::vector<T> columns(size_t(n * n), T(0));
  out.t.resize(size_t(n * n));
  out.u_transposed.resize(with_u ? size_t(n * n) : 0);
  T* u = with_u ? out.u_transposed.data() : nullptr;
  if (!kReal) scale = 1;
  const bool zero = scale < std::numeric_limits<RealOf<T>>::min();
  transpose(a, n, n, columns.data());
  for (T& x : columns) x = zero ? T(0) : x / scale;
  reduce_to_hessenberg(columns.data(), n, u);
  transpose(columns.data(), n, n, out.t.data());
  if (n > 1) {
    bool done;
    if constexpr (kReal) done = RealSchur<T>(out.t.data(), u, n).run();
    else done = ComplexSchur<RealOf<T>>(out.t.data(), u, n).run();
    if (!done) return false;
  }
  for (T& x : out.t) x *= scale;
  return true;
}

#define X(T) template bool schur_form(const T*, int64_t, bool, Schur<T>&);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels
