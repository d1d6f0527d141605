#include "kernels/cpu/strided_copy.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>

#include "core/resource.h"
#include "core/tstring.h"
#include "core/variant.h"
#include "kernels/cpu/fill.h"

namespace weft_engine::kernels {

using core::DType;
using core::ThreadPool;

namespace {

struct Pair {
  uint64_t a, b;
};

constexpr int64_t kRunBlock = 1 << 15;  // elements of a long run that one task takes
constexpr int64_t kTile = 32;           // side of a transposed block: two of 8-byte elements fit the first cache
constexpr double kBytesPerNs = 8;

// n times the same element.
template <class T>
void fill_row(const T& value, T* target, int64_t n) {
  if constexpr (std::is_same_v<T, uint32_t>) {
    WEFT_BEST_ISA(fill_words)(value, target, n);
    return;
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    constexpr int64_t kPattern = 64 / sizeof(T);
    if (n >= kPattern) {
      T pattern[kPattern];
      std::fill_n(pattern, kPattern, value);
      int64_t i = 0;
      for (; i + kPattern <= n; i += kPattern) std::memcpy(target + i, pattern, sizeof pattern);
      std::memcpy(target + n - kPattern, pattern, sizeof pattern);
      return;
    }
  }
  std::fill_n(target, n, value);
}

template <class T>
void copy_row(const T* source, int64_t ss, T* target, int64_t ts, int64_t n) {
  if (ss == 1 && ts == 1) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (n * int64_t(sizeof(T)) >= 64) {
        std::memcpy(target, source, size_t(n) * sizeof(T));
        return;
      }
    }
    for (int64_t i = 0; i < n; ++i) target[i] = source[i];
  } else if (ss == 0 && ts == 1) {
    fill_row(T(*source), target, n);
  } else if (ts == 1) {
    if constexpr (std::is_same_v<T, uint32_t>) {
      if (ss == -1) return WEFT_BEST_ISA(reverse_words)(source, target, n);
    }
    for (int64_t i = 0; i < n; ++i) target[i] = source[i * ss];
  } else {
    for (int64_t i = 0; i < n; ++i) target[i * ts] = source[i * ss];
  }
}

// Where the walk over the first `count` dimensions is.
struct Odometer {
  int64_t at[CopyPlan::kMaxDims];
  int64_t source = 0, target = 0;

  void start(const CopyPlan& p, const int* order, int count, int64_t index) {
    source = target = 0;
    for (int i = count; i-- > 0;) {
      const CopyPlan::Dim& d = p[order[i]];
      at[i] = index % d.size;
      index /= d.size;
      source += at[i] * d.source;
      target += at[i] * d.target;
    }
  }
  void next(const CopyPlan& p, const int* order, int count) {
    for (int i = count; i-- > 0;) {
      const CopyPlan::Dim& d = p[order[i]];
      source += d.source;
      target += d.target;
      if (++at[i] < d.size) return;
      source -= d.source * d.size;
      target -= d.target * d.size;
      at[i] = 0;
    }
  }
};

// `rows` short runs, each of a whole number of small vectors: no call for each of them.
constexpr int64_t kVector = 16, kShortRun = 256;  // bytes
void copy_short_runs(const char* source, int64_t source_step, char* target, int64_t target_step, int64_t rows, int64_t bytes) {
  for (int64_t r = 0; r < rows; ++r, source += source_step, target += target_step) {
    for (int64_t i = 0; i < bytes; i += kVector) {
      char vector[kVector];
      std::memcpy(vector, source + i, kVector);
      std::memcpy(target + i, vector, kVector);
    }
  }
}

double cost_ns(int64_t elements, size_t size, double factor) { return double(elements) * double(size) / kBytesPerNs * factor + 2; }

template <class T>
void copy_rows(ThreadPool& pool, const T* source, T* target, const CopyPlan& p) {
  int order[CopyPlan::kMaxDims];
  const int outer = p.rank() - 1;
  int64_t rows = 1;
  for (int i = 0; i < outer; ++i) {
    order[i] = i;
    rows *= p[i].size;
  }
  const CopyPlan::Dim in = p[outer];
  const bool run = in.source == 1 && in.target == 1;
  const double factor = std::is_trivially_copyable_v<T> ? (run ? 1 : 4) : 10;
  const int64_t blocks = in.size > 2 * kRunBlock ? (in.size + kRunBlock - 1) / kRunBlock : 1;
  if (blocks > 1) {
    pool.parallel_for(rows * blocks, cost_ns(kRunBlock, sizeof(T), factor), [&](int64_t b, int64_t e) {
      Odometer o;
      for (int64_t i = b; i < e; ++i) {
        o.start(p, order, outer, i / blocks);
        const int64_t from = (i % blocks) * kRunBlock, n = std::min(kRunBlock, in.size - from);
        copy_row(source + o.source + from * in.source, in.source, target + o.target + from * in.target, in.target, n);
      }
    });
    return;
  }
  const int64_t bytes = in.size * int64_t(sizeof(T));
  if (std::is_trivially_copyable_v<T> && run && outer > 0 && bytes <= kShortRun && bytes % kVector == 0) {
    constexpr int64_t kSize = sizeof(T);
    const CopyPlan::Dim& last = p[outer - 1];
    pool.parallel_for(rows, cost_ns(in.size, sizeof(T), factor), [&](int64_t b, int64_t e) {
      Odometer o;
      o.start(p, order, outer, b);
      for (int64_t i = b; i < e;) {
        const int64_t count = std::min(e - i, last.size - o.at[outer - 1]);
        copy_short_runs(reinterpret_cast<const char*>(source + o.source), last.source * kSize, reinterpret_cast<char*>(target + o.target),
                        last.target * kSize, count, bytes);
        i += count;
        o.source += (count - 1) * last.source, o.target += (count - 1) * last.target, o.at[outer - 1] += count - 1;
        o.next(p, order, outer);
      }
    });
    return;
  }
  pool.parallel_for(rows, cost_ns(in.size, sizeof(T), factor), [&](int64_t b, int64_t e) {
    Odometer o;
    o.start(p, order, outer, b);
    for (int64_t i = b; i < e; ++i) {
      copy_row(source + o.source, in.source, target + o.target, in.target, in.size);
      o.next(p, order, outer);
    }
  });
}

// Transposes n x n elements in vector registers, where n is what the element size makes worth it: column k
// of the block is a run at s + k * sx, row j of the result a run at t + j * ty.
template <class T>
inline constexpr int64_t kBlock = sizeof(T) == 4   ? 4
                                  : sizeof(T) == 8 ? 2
                                                   : 1;

template <class T>
inline void transpose_block(const T* s, int64_t sx, T* t, int64_t ty) {
  if constexpr (sizeof(T) == 4) {
    typedef uint32_t V __attribute__((vector_size(16)));
    V a, b, c, d;
    std::memcpy(&a, s, 16);
    std::memcpy(&b, s + sx, 16);
    std::memcpy(&c, s + 2 * sx, 16);
    std::memcpy(&d, s + 3 * sx, 16);
    const V ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const V ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const V rows[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                       __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5), __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7)};
    for (int j = 0; j < 4; ++j) std::memcpy(t + j * ty, &rows[j], 16);
  } else if constexpr (sizeof(T) == 8) {
    typedef uint64_t V __attribute__((vector_size(16)));
    V a, b;
    std::memcpy(&a, s, 16);
    std::memcpy(&b, s + sx, 16);
    const V first = __builtin_shufflevector(a, b, 0, 2), second = __builtin_shufflevector(a, b, 1, 3);
    std::memcpy(t, &first, 16);
    std::memcpy(t + ty, &second, 16);
  } else {
    *t = *s;
  }
}

template <class T>
void transpose_tile(const T* s, int64_t sx, T* t, int64_t ty, int64_t ny, int64_t nx) {
  constexpr int64_t kN = kBlock<T>;
  const int64_t whole_y = ny / kN * kN, whole_x = nx / kN * kN;
  for (int64_t j = 0; j < whole_y; j += kN) {
    for (int64_t k = 0; k < whole_x; k += kN) transpose_block(s + j + k * sx, sx, t + j * ty + k, ty);
  }
  for (int64_t j = 0; j < ny; ++j) {
    for (int64_t k = j < whole_y ? whole_x : 0; k < nx; ++k) t[j * ty + k] = s[j + k * sx];
  }
}

// The source runs along dimension `down`, the target along the last: blocks of kTile x kTile keep both in
// the cache. Each target row of a block is written as a run.
template <class T>
void copy_tiles(ThreadPool& pool, const T* source, T* target, const CopyPlan& p, int down) {
  int order[CopyPlan::kMaxDims], outer = 0;
  int64_t rest = 1;
  for (int i = 0; i + 1 < p.rank(); ++i) {
    if (i == down) continue;
    order[outer++] = i;
    rest *= p[i].size;
  }
  const CopyPlan::Dim y = p[down], x = p[p.rank() - 1];
  const int64_t tiles_y = (y.size + kTile - 1) / kTile, tiles_x = (x.size + kTile - 1) / kTile, tiles = tiles_y * tiles_x;
  const int64_t elements = std::min(kTile, y.size) * std::min(kTile, x.size);
  pool.parallel_for(rest * tiles, cost_ns(elements, sizeof(T), 2), [&](int64_t b, int64_t e) {
    Odometer o;
    o.start(p, order, outer, b / tiles);
    int64_t tile = b % tiles;
    for (int64_t i = b; i < e; ++i) {
      const int64_t y0 = tile / tiles_x * kTile, x0 = tile % tiles_x * kTile;
      const int64_t ny = std::min(kTile, y.size - y0), nx = std::min(kTile, x.size - x0);
      const T* s = source + o.source + y0 * y.source + x0 * x.source;
      T* t = target + o.target + y0 * y.target + x0 * x.target;
      transpose_tile(s, x.source, t, y.target, ny, nx);
      if (++tile == tiles) {
        tile = 0;
        o.next(p, order, outer);
      }
    }
  });
}

template <class T>
void copy_plan(ThreadPool& pool, const T* source, T* target, const CopyPlan& p) {
  if (p.empty()) return;
  if (p.rank() == 0) {
    *target = *source;
    return;
  }
  const CopyPlan::Dim& in = p[p.rank() - 1];
  if (std::is_trivially_copyable_v<T> && in.target == 1 && in.source != 1 && in.source != 0) {
    for (int i = 0; i + 1 < p.rank(); ++i) {
      if (p[i].source == 1) return copy_tiles(pool, source, target, p, i);
    }
  }
  copy_rows(pool, source, target, p);
}

// Calls f with a null pointer of the type that stands for elements of this size.
template <class F>
void with_element(DType dtype, F f) {
  switch (dtype) {
    case DType::kString: return f(static_cast<core::tstring*>(nullptr));
    case DType::kResource: return f(static_cast<core::ResourceHandle*>(nullptr));
    case DType::kVariant: return f(static_cast<core::Variant*>(nullptr));
    default: break;
  }
  switch (core::dtype_size(dtype)) {
    case 1: return f(static_cast<uint8_t*>(nullptr));
    case 2: return f(static_cast<uint16_t*>(nullptr));
    case 4: return f(static_cast<uint32_t*>(nullptr));
    case 8: return f(static_cast<uint64_t*>(nullptr));
    case 16: return f(static_cast<Pair*>(nullptr));
    default: assert(false);
  }
}

}  // namespace

void strided_copy(ThreadPool& pool, DType dtype, const void* source, void* target, const CopyPlan& plan) {
  if (plan.empty()) return;
  with_element(dtype, [&]<class T>(T*) { copy_plan(pool, static_cast<const T*>(source), static_cast<T*>(target), plan); });
}

void copy_run(ThreadPool& pool, DType dtype, const void* source, void* target, int64_t n) {
  CopyPlan p;
  p.add(n, 1, 1);
  strided_copy(pool, dtype, source, target, p);
}

void fill(ThreadPool& pool, DType dtype, const void* value, void* target, int64_t n) {
  CopyPlan p;
  p.add(n, 0, 1);
  strided_copy(pool, dtype, value, target, p);
}

void fill_zero(ThreadPool& pool, DType dtype, void* target, int64_t n) {
  if (n <= 0) return;
  switch (dtype) {
    case DType::kString: std::fill_n(static_cast<core::tstring*>(target), n, core::tstring()); return;
    case DType::kResource: std::fill_n(static_cast<core::ResourceHandle*>(target), n, core::ResourceHandle()); return;
    case DType::kVariant: std::fill_n(static_cast<core::Variant*>(target), n, core::Variant()); return;
    default: break;
  }
  char* bytes = static_cast<char*>(target);
  const int64_t size = int64_t(core::dtype_size(dtype));
  pool.parallel_for(n, double(size) / kBytesPerNs, [&](int64_t b, int64_t e) { std::memset(bytes + b * size, 0, size_t((e - b) * size)); });
}

}  // namespace weft_engine::kernels
