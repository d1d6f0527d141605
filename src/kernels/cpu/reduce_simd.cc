// The inner loops of reductions. A row is taken in blocks: four vectors of lanes, at most 32 steps deep,
// then a tree over the lanes, then one addition to the total; so rounding errors do not grow with the
// length, and the order is fixed.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/cpu/intrinsics.h"
#include "kernels/cpu/reduce.h"

#include "kernels/cpu/isa_begin.h"
#include "kernels/cpu/vector_math.h"

namespace {

#if defined(WEFT_ISA_AVX512)
constexpr int kBytes = 64;
#elif defined(WEFT_ISA_AVX2)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
constexpr int kDepth = 32;

template <class T>
struct Vec {
  typedef T type __attribute__((vector_size(kBytes)));
  typedef T loose __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));
  static constexpr int n = kBytes / sizeof(T);
};
template <class T>
constexpr bool kComplex = core::is_complex<T>;

// Each operation: identity, step (an element joins a lane), join (two lanes), all for numbers and vectors.
template <class T>
struct Add {
  using Total = std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<std::is_same_v<T, core::complex64>, core::complex128, T>>;
  static T identity() { return T(0); }
  template <class V>
  static inline __attribute__((always_inline)) V step(V a, V x) {
    return a + x;
  }
  template <class V>
  static inline __attribute__((always_inline)) V join(V a, V b) {
    return a + b;
  }
};
template <class T>
struct AddSquares : Add<T> {
  template <class V>
  static inline __attribute__((always_inline)) V step(V a, V x) {
    if constexpr (kComplex<V>) return a + V(x.real() * x.real() + x.imag() * x.imag(), 0);
    else return a + x * x;
  }
};
template <class T>
struct Multiply {
  using Total = T;
  static T identity() { return T(1); }
  template <class V>
  static inline __attribute__((always_inline)) V step(V a, V x) {
    return a * x;
  }
  template <class V>
  static inline __attribute__((always_inline)) V join(V a, V b) {
    return a * b;
  }
};
// A NaN, once met, stays.
template <class T>
struct Greatest {
  using Total = T;
  static T identity() { return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest(); }
  template <class V>
  static inline __attribute__((always_inline)) V step(V a, V x) {
    if constexpr (std::is_integral_v<T>) return x > a ? x : a;
    else return ((x > a) | (x != x)) ? x : a;
  }
  template <class V>
  static inline __attribute__((always_inline)) V join(V a, V b) {
    return step(a, b);
  }
};
template <class T>
struct Least {
  using Total = T;
  static T identity() { return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max(); }
  template <class V>
  static inline __attribute__((always_inline)) V step(V a, V x) {
    if constexpr (std::is_integral_v<T>) return x < a ? x : a;
    else return ((x < a) | (x != x)) ? x : a;
  }
  template <class V>
  static inline __attribute__((always_inline)) V join(V a, V b) {
    return step(a, b);
  }
};

// Small unsigned integers are computed in unsigned int: promotion to int could overflow.
template <class T>
using Lane = std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4 && std::is_unsigned_v<T>, unsigned, T>;

template <class Op>
struct Join {
  Floats operator()(Floats a, Floats b) const { return Op::join(a, b); }
};

template <class Op, class T>
struct Loops {
  using Total = typename Op::Total;

  static Total join_total(Total a, Total b) { return Total(Op::join(Lane<Total>(a), Lane<Total>(b))); }

  static void init(void* totals, int64_t n) { std::fill_n(static_cast<Total*>(totals), n, Total(Op::identity())); }

  static T block(const T* p, int64_t n) {  // n a multiple of 4 vectors
    using V = typename Vec<T>::type;
    using L = typename Vec<T>::loose;
    constexpr int N = Vec<T>::n;
    const V none = V{} + Op::identity();
    V a = none, b = none, c = none, d = none;
    for (int64_t i = 0; i < n; i += 4 * N) {
      a = Op::step(a, V(*reinterpret_cast<const L*>(p + i)));
      b = Op::step(b, V(*reinterpret_cast<const L*>(p + i + N)));
      c = Op::step(c, V(*reinterpret_cast<const L*>(p + i + 2 * N)));
      d = Op::step(d, V(*reinterpret_cast<const L*>(p + i + 3 * N)));
    }
    a = Op::join(Op::join(a, b), Op::join(c, d));
    if constexpr (std::is_same_v<T, float>) return across(a, Join<Op>())[0];
    T lanes[N];
    std::memcpy(lanes, &a, sizeof lanes);
    for (int half = N / 2; half; half /= 2) {
      for (int i = 0; i < half; ++i) lanes[i] = T(Op::join(Lane<T>(lanes[i]), Lane<T>(lanes[i + half])));
    }
    return lanes[0];
  }

  static void rows(const void* in, int64_t rows, int64_t n, void* totals) {
    const T* p = static_cast<const T*>(in);
    Total* out = static_cast<Total*>(totals);
    for (int64_t r = 0; r < rows; ++r, p += n) {
      int64_t i = 0;
      Total total = out[r];
      if constexpr (!kComplex<T>) {
        constexpr int64_t kStep = 4 * Vec<T>::n, kBlock = kStep * kDepth;
        while (n - i >= kStep) {
          const int64_t take = std::min(kBlock, (n - i) / kStep * kStep);
          total = join_total(total, Total(block(p + i, take)));
          i += take;
        }
      }
      if constexpr (std::is_same_v<T, float>) {
        if (i < n) {  // less than four vectors
          Floats rest = all(Op::identity());
          for (; i + kLanes <= n; i += kLanes) rest = Op::step(rest, load(p + i));
          if (i < n) rest = Op::step(rest, load_part(p + i, n - i, Op::identity()));
          total = join_total(total, Total(across(rest, Join<Op>())[0]));
        }
        out[r] = total;
        continue;
      }
      while (i < n) {
        const int64_t stop = std::min(n, i + 64);
        Lane<T> rest = Lane<T>(Op::identity());
        for (; i < stop; ++i) rest = Op::step(rest, Lane<T>(p[i]));
        total = join_total(total, Total(T(rest)));
      }
      out[r] = total;
    }
  }

  // Short rows that are one behind the other are taken as fewer, longer ones.
  static void columns(const void* in, int64_t rows, int64_t stride, int64_t columns, void* totals) {
    const T* p = static_cast<const T*>(in);
    Total* __restrict out = static_cast<Total*>(totals);
    const int64_t join = stride == columns ? std::min(kReduceTile / 2 / columns, rows / 16) : 1;
    if (join > 1) {
      alignas(64) Total wide[kReduceTile / 2];
      init(wide, join * columns);
      wide_columns(p, rows / join, join * stride, join * columns, wide);
      for (int64_t k = 0; k < join; ++k) {
        for (int64_t j = 0; j < columns; ++j) out[j] = join_total(out[j], wide[k * columns + j]);
      }
      p += rows / join * join * stride;
      rows %= join;
    }
    wide_columns(p, rows, stride, columns, out);
  }

  // Once for both calls: these loops are most of the code of a reduction.
  [[gnu::noinline]] static void wide_columns(const T* p, int64_t rows, int64_t stride, int64_t columns, Total* __restrict out) {
    alignas(64) T part[kReduceTile];
    T* __restrict a = part;
    for (int64_t r = 0; r < rows;) {
      const int64_t stop = std::min(rows, r + kDepth);
      for (int64_t j = 0; j < columns; ++j) a[j] = T(Op::step(Lane<T>(Op::identity()), Lane<T>(p[r * stride + j])));
      for (++r; r + 3 < stop; r += 4) {
        const T *x = p + r * stride, *y = x + stride, *z = y + stride, *w = z + stride;
        for (int64_t j = 0; j < columns; ++j) {
          a[j] = T(Op::step(Op::step(Op::step(Op::step(Lane<T>(a[j]), Lane<T>(x[j])), Lane<T>(y[j])), Lane<T>(z[j])), Lane<T>(w[j])));
        }
      }
      for (; r < stop; ++r) {
        const T* x = p + r * stride;
        for (int64_t j = 0; j < columns; ++j) a[j] = T(Op::step(Lane<T>(a[j]), Lane<T>(x[j])));
      }
      for (int64_t j = 0; j < columns; ++j) out[j] = join_total(out[j], Total(a[j]));
    }
  }

  static void merge(void* totals, const void* more, int64_t n) {
    Total* out = static_cast<Total*>(totals);
    for (int64_t i = 0; i < n; ++i) out[i] = join_total(out[i], static_cast<const Total*>(more)[i]);
  }

  static void finish(const void* totals, void* out, int64_t n, double) {
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = T(static_cast<const Total*>(totals)[i]);
  }
  static void finish_mean(const void* totals, void* out, int64_t n, double count) {
    for (int64_t i = 0; i < n; ++i) {
      const Total t = static_cast<const Total*>(totals)[i];
      if constexpr (std::is_integral_v<T>) static_cast<T*>(out)[i] = count > 0 ? T(t / uint64_t(count)) : T(0);
      else if constexpr (kComplex<T>) static_cast<T*>(out)[i] = T(t / typename Total::value_type(count));
      else static_cast<T*>(out)[i] = T(t / Total(count));
    }
  }
  static void finish_signed_mean(const void* totals, void* out, int64_t n, double count) {
    for (int64_t i = 0; i < n; ++i) static_cast<int64_t*>(out)[i] = count > 0 ? static_cast<const int64_t*>(totals)[i] / int64_t(count) : 0;
  }
  static void finish_norm(const void* totals, void* out, int64_t n, double) {
    for (int64_t i = 0; i < n; ++i) {
      const Total t = static_cast<const Total*>(totals)[i];
      if constexpr (kComplex<T>) static_cast<T*>(out)[i] = T(std::sqrt(t.real()));
      else static_cast<T*>(out)[i] = T(std::sqrt(t));  // integers: reduce.cc takes the root
    }
  }

  static constexpr ReduceLoops table(void (*end)(const void*, void*, int64_t, double)) {
    return {int(sizeof(T)), int(sizeof(Total)), int(sizeof(T)), init, rows, columns, merge, end};
  }
};

template <template <class> class Op, class T>
const ReduceLoops* plain() {
  static constexpr ReduceLoops t = Loops<Op<T>, T>::table(Loops<Op<T>, T>::finish);
  return &t;
}

template <class T>
const ReduceLoops* arithmetic(ReduceOp op) {
  static constexpr ReduceLoops mean = Loops<Add<T>, T>::table(Loops<Add<T>, T>::finish_mean);
  switch (op) {
    case ReduceOp::kSum: return plain<Add, T>();
    case ReduceOp::kMean: return &mean;
    case ReduceOp::kProd: return plain<Multiply, T>();
    case ReduceOp::kSumSquares: return plain<AddSquares, T>();
    case ReduceOp::kNorm:
      if constexpr (std::is_integral_v<T>) {
        return plain<AddSquares, T>();
      } else {
        static constexpr ReduceLoops norm = Loops<AddSquares<T>, T>::table(Loops<AddSquares<T>, T>::finish_norm);
        return &norm;
      }
    default: return nullptr;
  }
}

const ReduceLoops* signed_mean() {
  static constexpr ReduceLoops mean = Loops<Add<uint64_t>, uint64_t>::table(Loops<Add<uint64_t>, uint64_t>::finish_signed_mean);
  return &mean;
}

template <class T>
const ReduceLoops* extreme(ReduceOp op) {
  return op == ReduceOp::kMax ? plain<Greatest, T>() : plain<Least, T>();
}

}  // namespace

float extreme_float(bool greatest, const float* x, int64_t n) {
  using V = Vec<float>::type;
  using L = Vec<float>::loose;
  constexpr int N = Vec<float>::n;
  // The least is minus the greatest of the negated.
  const float sign = greatest ? 1.f : -1.f;
  V a = V{} + std::numeric_limits<float>::lowest(), b = a;
  int64_t i = 0;
  for (; i + 2 * N <= n; i += 2 * N) {
    const V p = *reinterpret_cast<const L*>(x + i) * sign, q = *reinterpret_cast<const L*>(x + i + N) * sign;
    a = p > a ? p : a;
    b = q > b ? q : b;
  }
  a = b > a ? b : a;
  float best = std::numeric_limits<float>::lowest();
  for (int l = 0; l < N; ++l) best = a[l] > best ? a[l] : best;
  for (; i < n; ++i) best = x[i] * sign > best ? x[i] * sign : best;
  return best * sign;
}

// Signed integers add and multiply like unsigned ones, which wrap without undefined behaviour.
const ReduceLoops* reduce_loops(ReduceOp op, core::DType type) {
  using core::DType;
  const bool is_extreme = op == ReduceOp::kMax || op == ReduceOp::kMin;
  switch (type) {
    case DType::kFloat: return is_extreme ? extreme<float>(op) : arithmetic<float>(op);
    case DType::kDouble: return is_extreme ? extreme<double>(op) : arithmetic<double>(op);
    case DType::kInt8: return is_extreme ? extreme<int8_t>(op) : arithmetic<uint8_t>(op);
    case DType::kBool:
    case DType::kUint8: return is_extreme ? extreme<uint8_t>(op) : arithmetic<uint8_t>(op);
    case DType::kInt16: return is_extreme ? extreme<int16_t>(op) : arithmetic<uint16_t>(op);
    case DType::kUint16: return is_extreme ? extreme<uint16_t>(op) : arithmetic<uint16_t>(op);
    case DType::kInt32: return is_extreme ? extreme<int32_t>(op) : arithmetic<uint32_t>(op);
    case DType::kUint32: return is_extreme ? extreme<uint32_t>(op) : arithmetic<uint32_t>(op);
    case DType::kInt64:
      if (op == ReduceOp::kMean) return signed_mean();
      return is_extreme ? extreme<int64_t>(op) : arithmetic<uint64_t>(op);
    case DType::kUint64: return is_extreme ? extreme<uint64_t>(op) : arithmetic<uint64_t>(op);
    case DType::kComplex64: return is_extreme ? nullptr : arithmetic<core::complex64>(op);
    case DType::kComplex128: return is_extreme ? nullptr : arithmetic<core::complex128>(op);
    default: return nullptr;
  }
}

#include "kernels/cpu/isa_end.h"
