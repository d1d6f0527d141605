#include "kernels/cpu/softmax.h"

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/narrow_simd.h"

namespace weft_engine::kernels {
namespace {

using core::DType;
using core::ThreadPool;

// The row loops by type: float in vectors, double plainly.
struct FloatRows {
  using T = float;
  static float max(const float* x, int64_t n) { return WEFT_BEST_ISA(max_row)(x, n); }
  static float exp(const float* x, float shift, float* y, int64_t n) { return WEFT_BEST_ISA(exp_row)(x, shift, y, n); }
  static void scale(float* y, float f, int64_t n) { WEFT_BEST_ISA(scale_row)(y, f, n); }
  static void shift(const float* x, float s, float* y, int64_t n) { WEFT_BEST_ISA(shift_row)(x, s, y, n); }
};
struct DoubleRows {
  using T = double;
  static double max(const double* x, int64_t n) {
    double best = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < n; ++i) best = x[i] > best || x[i] != x[i] ? x[i] : best;
    return best;
  }
  static double exp(const double* x, double shift, double* y, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double e = std::exp(x[i] - shift);
      if (y) y[i] = e;
      sum += e;
    }
    return sum;
  }
  static void scale(double* y, double f, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] *= f;
  }
  static void shift(const double* x, double s, double* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i] - s;
  }
};

template <class R, class T = typename R::T>
void softmax_row(bool log, const T* x, T* y, int64_t n) {
  const T max = R::max(x, n);
  if (log) {
    const T sum = R::exp(x, max, nullptr, n);
    R::shift(x, max, y, n);  // first the maximum, then the rest, for the sake of small differences
    R::shift(y, std::log(sum), y, n);
  } else {
    const T sum = R::exp(x, max, y, n);
    R::scale(y, 1 / sum, n);
  }
}

template <class R, class T = typename R::T>
T cross_entropy_row(const T* x, const T* labels, T* grad, int64_t n) {
  const T max = R::max(x, n);
  const T sum = R::exp(x, max, grad, n);
  const T log_sum = std::log(sum), scale = 1 / sum;
  T loss = 0;
  for (int64_t j = 0; j < n; ++j) {
    loss += labels[j] * (log_sum - (x[j] - max));
    grad[j] = grad[j] * scale - labels[j];
  }
  return loss;
}

template <class R, class T = typename R::T>
T sparse_cross_entropy_row(const T* x, int64_t label, T* grad, int64_t n) {
  const T max = R::max(x, n);
  const T at_label = x[label] - max;
  const T sum = R::exp(x, max, grad, n);
  R::scale(grad, 1 / sum, n);
  grad[label] -= 1;
  return std::log(sum) - at_label;
}

// Narrow floats: TensorFlow rounds after every step, which shows in losses near zero.
template <class N>
struct Narrow {
  static float r(float v) { return float(N(v)); }
  // d[j] = x[j] - max; returns the logarithm of the sum of e = exp(d).
  static float prepare(const float* x, float* d, float* e, int64_t n, float& sum) {
    const float max = FloatRows::max(x, n);
    sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      d[j] = r(x[j] - max);
      e[j] = r(std::exp(d[j]));
      sum = r(sum + e[j]);
    }
    return r(std::log(sum));
  }
  static float dense(const float* x, const float* labels, float* grad, int64_t n) {
    std::vector<float> d(static_cast<size_t>(n));
    float sum, loss = 0;
    const float log_sum = prepare(x, d.data(), grad, n, sum);
    for (int64_t j = 0; j < n; ++j) {
      loss = r(loss + r(labels[j] * r(log_sum - d[size_t(j)])));
      grad[j] = r(grad[j] / sum) - labels[j];
    }
    return loss;
  }
  static float sparse(const float* x, int64_t label, float* grad, int64_t n) {
    std::vector<float> d(static_cast<size_t>(n));
    float sum;
    const float log_sum = prepare(x, d.data(), grad, n, sum);
    for (int64_t j = 0; j < n; ++j) grad[j] = r(grad[j] / sum) - (j == label ? 1.f : 0.f);
    return log_sum - d[size_t(label)];
  }
};

bool is_narrow(DType t) { return t == DType::kHalf || t == DType::kBfloat16; }

void widen_row(DType type, const void* from, int64_t at, float* to, int64_t n) {
  const uint16_t* p = static_cast<const uint16_t*>(from) + at;
  if (type == DType::kHalf) WEFT_BEST_ISA(half_to_floats)(p, to, n);
  else WEFT_BEST_ISA(bfloat_to_floats)(p, to, n);
}
void narrow_row(DType type, const float* from, void* to, int64_t at, int64_t n) {
  uint16_t* p = static_cast<uint16_t*>(to) + at;
  if (type == DType::kHalf) WEFT_BEST_ISA(floats_to_half)(from, p, n);
  else WEFT_BEST_ISA(floats_to_bfloat)(from, p, n);
}

// Row i of a view as a run of T; `buffer` is used when it is not contiguous.
template <class T>
const T* row_of(DType type, const MatrixView& v, int64_t i, int64_t n, std::vector<T>& buffer) {
  const int64_t at = i * v.row_step;
  if (!is_narrow(type) && v.column_step == 1) return static_cast<const T*>(v.data) + at;
  buffer.resize(size_t(n));
  if (n == 0) return buffer.data();
  if (is_narrow(type)) {
    if constexpr (std::is_same_v<T, float>) widen_row(type, v.data, at, buffer.data(), v.column_step ? n : 1);
  } else {
    buffer[0] = static_cast<const T*>(v.data)[at];
  }
  if (v.column_step == 0) std::fill(buffer.begin() + 1, buffer.end(), buffer[0]);
  return buffer.data();
}

// Where row i of a dense result is computed: in place, or in a buffer that store() then rounds.
template <class T>
struct OutRow {
  DType type;
  void* out;
  int64_t n;
  std::vector<T> buffer;
  T* at(int64_t i) {
    if (!is_narrow(type)) return static_cast<T*>(out) + i * n;
    buffer.resize(size_t(n));
    return buffer.data();
  }
  void store(int64_t i) {
    if constexpr (std::is_same_v<T, float>) {
      if (is_narrow(type)) narrow_row(type, buffer.data(), out, i * n, n);
    }
  }
};

template <class T>
void store_one(DType type, void* out, int64_t i, T value) {
  if constexpr (std::is_same_v<T, float>) {
    if (is_narrow(type)) return narrow_row(type, &value, out, i, 1);
  }
  static_cast<T*>(out)[i] = value;
}

template <class R>
void softmax_typed(DType type, bool log, const void* x, void* y, int64_t rows, int64_t n, ThreadPool& pool) {
  using T = typename R::T;
  pool.parallel_for(rows, double(n) * (sizeof(T) == 8 ? 8 : 1.2) + 20, [&](int64_t begin, int64_t end) {
    std::vector<T> buffer;
    OutRow<T> out{type, y, n, {}};
    for (int64_t i = begin; i < end; ++i) {
      softmax_row<R>(log, row_of<T>(type, {x, n, 1}, i, n, buffer), out.at(i), n);
      out.store(i);
    }
  });
}

template <class R, class Row>
void losses(DType type, const MatrixView& x, void* loss, void* grad, int64_t rows, int64_t n, ThreadPool& pool, Row row) {
  using T = typename R::T;
  pool.parallel_for(rows, double(n) * (sizeof(T) == 8 ? 10 : 2) + 30, [&](int64_t begin, int64_t end) {
    std::vector<T> buffer, label_buffer;
    OutRow<T> out{type, grad, n, {}};
    for (int64_t i = begin; i < end; ++i) {
      store_one<T>(type, loss, i, row(i, row_of<T>(type, x, i, n, buffer), out.at(i), label_buffer));
      out.store(i);
    }
  });
}

}  // namespace

void softmax_rows(DType type, bool log, const void* x, void* y, int64_t rows, int64_t columns, ThreadPool& pool) {
  if (columns == 0) return;
  if (type == DType::kFloat && !log) {
    const float* in = static_cast<const float*>(x);
    float* out = static_cast<float*>(y);
    return pool.parallel_for(rows, double(columns) * 0.7 + 10, [&](int64_t begin, int64_t end) {
      WEFT_BEST_ISA(softmax_floats)(in + begin * columns, out + begin * columns, end - begin, columns);
    });
  }
  if (type == DType::kDouble) softmax_typed<DoubleRows>(type, log, x, y, rows, columns, pool);
  else softmax_typed<FloatRows>(type, log, x, y, rows, columns, pool);
}

void cross_entropy_rows(DType type, const MatrixView& x, const MatrixView& labels, void* loss, void* grad, int64_t rows, int64_t columns,
                        ThreadPool& pool) {
  auto run = [&]<class R>(R) {
    using T = typename R::T;
    losses<R>(type, x, loss, grad, rows, columns, pool, [&](int64_t i, const T* in, T* out, std::vector<T>& buffer) {
      const T* label_row = row_of<T>(type, labels, i, columns, buffer);
      if constexpr (std::is_same_v<T, float>) {
        if (type == DType::kHalf) return Narrow<core::half>::dense(in, label_row, out, columns);
        if (type == DType::kBfloat16) return Narrow<core::bfloat16>::dense(in, label_row, out, columns);
      }
      return cross_entropy_row<R>(in, label_row, out, columns);
    });
  };
  if (type == DType::kDouble) run(DoubleRows{});
  else run(FloatRows{});
}

void sparse_cross_entropy_rows(DType type, const void* x, const int64_t* labels, void* loss, void* grad, int64_t rows, int64_t columns,
                               ThreadPool& pool) {
  auto run = [&]<class R>(R) {
    using T = typename R::T;
    losses<R>(type, {x, columns, 1}, loss, grad, rows, columns, pool, [&](int64_t i, const T* in, T* out, std::vector<T>&) {
      if constexpr (std::is_same_v<T, float>) {
        if (type == DType::kHalf) return Narrow<core::half>::sparse(in, labels[i], out, columns);
        if (type == DType::kBfloat16) return Narrow<core::bfloat16>::sparse(in, labels[i], out, columns);
      }
      return sparse_cross_entropy_row<R>(in, labels[i], out, columns);
    });
  };
  if (type == DType::kDouble) run(DoubleRows{});
  else run(FloatRows{});
}

}  // namespace weft_engine::kernels
