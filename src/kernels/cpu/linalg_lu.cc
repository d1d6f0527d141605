// LU with row pivots, in panels: the largest element of a column is its pivot, the first of several.
#include <cmath>
#include <numeric>

#include "kernels/cpu/linalg_blocks.h"

namespace weft_engine::kernels {
namespace {

template <class T>
class Lu {
 public:
  Lu(const T* a, int64_t n, bool adjoint) : n_(n), values_(size_t(n * n), T(0)), rows_(size_t(n)) {
    if (adjoint) transpose(a, n, n, values_.data(), true);
    else std::copy_n(a, n * n, values_.data());
    std::iota(rows_.begin(), rows_.end(), int64_t(0));
    for (int64_t begin = 0; begin < n; begin += kPanel) {
      const int64_t end = std::min(begin + kPanel, n), rest = n - end;
      for (int64_t j = begin; j < end; ++j) eliminate(j, end);
      for (int64_t i = begin + 1; i < end; ++i) {
        for (int64_t j = begin; j < i; ++j) subtract(row(i)[j], row(j) + end, row(i) + end, rest);
      }
      subtract_product(rest, rest, end - begin, row(end) + begin, n, row(begin) + end, n, row(end) + end, n);
    }
  }

  const std::vector<T>& values() const { return values_; }
  const std::vector<int64_t>& rows() const { return rows_; }  // where each row comes from
  T pivot(int64_t i) const { return values_[size_t(i * n_ + i)]; }
  bool even() const { return even_; }  // the permutation
  // NaN is not zero: it passes, and shows in the result.
  bool has_zero_pivot() const {
    for (int64_t i = 0; i < n_; ++i) {
      if (pivot(i) == T(0)) return true;
    }
    return false;
  }

  // x, [n, k], are the rows of the right-hand side in their new order, and become the solution.
  void solve(T* x, int64_t k) const {
    for (int64_t begin = 0; begin < n_; begin += kPanel) {
      const int64_t end = std::min(begin + kPanel, n_);
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = begin; j < i; ++j) subtract(row(i)[j], x + j * k, x + i * k, k);
      }
      subtract_product(n_ - end, k, end - begin, row(end) + begin, n_, x + begin * k, k, x + end * k, k);
    }
    for (int64_t end = n_; end > 0;) {
      const int64_t begin = (end - 1) / kPanel * kPanel;
      for (int64_t i = end - 1; i >= begin; --i) {
        for (int64_t j = i + 1; j < end; ++j) subtract(row(i)[j], x + j * k, x + i * k, k);
        const T scale = T(1) / pivot(i);
        for (int64_t c = 0; c < k; ++c) x[i * k + c] = multiply(x[i * k + c], scale);
      }
      subtract_product(begin, k, end - begin, row(0) + begin, n_, x + begin * k, k, x, k);
      end = begin;
    }
  }

 private:
  T* row(int64_t i) { return values_.data() + i * n_; }
  const T* row(int64_t i) const { return values_.data() + i * n_; }

  // Column j, in the columns before `end`.
  void eliminate(int64_t j, int64_t end) {
    int64_t largest = j;
    RealOf<T> size = std::abs(row(j)[j]);
    for (int64_t i = j + 1; i < n_; ++i) {
      if (const RealOf<T> s = std::abs(row(i)[j]); s > size) {
        size = s;
        largest = i;
      }
    }
    if (size == 0) return;
    if (largest != j) {
      std::swap_ranges(row(j), row(j) + n_, row(largest));
      std::swap(rows_[size_t(j)], rows_[size_t(largest)]);
      even_ = !even_;
    }
    for (int64_t i = j + 1; i < n_; ++i) {
      row(i)[j] /= row(j)[j];
      subtract(row(i)[j], row(j) + j + 1, row(i) + j + 1, end - j - 1);
    }
  }

  const int64_t n_;
  std::vector<T> values_;
  std::vector<int64_t> rows_;
  bool even_ = true;
};

}  // namespace

template <class T>
bool lu_inverse(const T* a, int64_t n, bool adjoint, T* x) {
  const Lu<T> lu(a, n, adjoint);
  if (lu.has_zero_pivot()) return false;
  std::fill_n(x, n * n, T(0));
  for (int64_t i = 0; i < n; ++i) x[i * n + lu.rows()[size_t(i)]] = T(1);
  lu.solve(x, n);
  return true;
}

template <class T>
bool lu_solve(const T* a, const T* b, int64_t n, int64_t k, bool adjoint, T* x) {
  const Lu<T> lu(a, n, adjoint);
  if (lu.has_zero_pivot()) return false;
  for (int64_t i = 0; i < n; ++i) std::copy_n(b + lu.rows()[size_t(i)] * k, k, x + i * k);
  lu.solve(x, k);
  return true;
}

template <class T>
bool lu_factor(const T* a, int64_t n, T* out, int64_t* permutation) {
  const Lu<T> lu(a, n, false);
  std::copy(lu.values().begin(), lu.values().end(), out);
  std::copy(lu.rows().begin(), lu.rows().end(), permutation);
  return !lu.has_zero_pivot();
}

template <class T>
RealOf<T> lu_log_determinant(const T* a, int64_t n, T* sign) {
  *sign = T(1);
  RealOf<T> log = 0;
  if (n == 0) return log;
  const Lu<T> lu(a, n, false);
  if (!lu.even()) *sign = T(-1);
  for (int64_t i = 0; i < n; ++i) {
    const T d = lu.pivot(i);
    const RealOf<T> size = std::abs(d);
    log += std::log(size);
    if constexpr (std::is_same_v<T, RealOf<T>>) {
      *sign *= d > 0 ? T(1) : d < 0 ? T(-1) : d;  // zero and NaN stay
    } else {
      *sign *= size == 0 ? T(0) : d / size;
    }
  }
  return log;
}

#define X(T)                                                              \
  template bool lu_inverse(const T*, int64_t, bool, T*);                  \
  template bool lu_solve(const T*, const T*, int64_t, int64_t, bool, T*); \
  template bool lu_factor(const T*, int64_t, T*, int64_t*);               \
  template RealOf<T> lu_log_determinant(const T*, int64_t, T*);
WEFT_FOR_SCALARS(X)
#undef X

}  // namespace weft_engine::kernels
