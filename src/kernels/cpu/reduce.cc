#include "kernels/cpu/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/cpu/batch_matmul.h"

namespace weft_engine::kernels {
namespace {

using core::DType;
using core::Status;
using core::ThreadPool;

struct Dim {
  int64_t size;
  bool reduced;
};

// Dimensions without those of size 1, neighbours of the same kind merged. Every one left has at least
// two elements, so more than 63 would not fit into memory; fixed arrays keep small reductions fast.
constexpr int kMaxDims = 64;
struct Dims {
  int count = 0;
  Dim at[kMaxDims];
};

void collapse(std::span<const int64_t> dims, std::span<const bool> reduced, Dims& out) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (out.count && out.at[out.count - 1].reduced == reduced[i]) out.at[out.count - 1].size *= dims[i];
    else out.at[out.count++] = {dims[i], reduced[i]};
  }
}

// The dimensions of one kind, of those outside the innermost loops: where the i-th combination is.
struct Offsets {
  int64_t count = 1;
  int rank = 0;
  int64_t sizes[kMaxDims], strides[kMaxDims];  // innermost first
  int64_t operator()(int64_t i) const {
    int64_t at = 0;
    for (int d = 0; d < rank; i /= sizes[d++]) at += i % sizes[d] * strides[d];
    return at;
  }
};

struct Plan {
  Offsets kept, reduced;      // outer dimensions
  bool inner_reduced = true;  // innermost: a row to reduce; otherwise `length` rows of `columns` columns
  int64_t length = 1, columns = 1;
};

void make_plan(const Dims& dims, Plan& p) {
  int outer = dims.count;
  if (outer && dims.at[outer - 1].reduced) {
    p.length = dims.at[--outer].size;
  } else if (outer) {
    p.inner_reduced = false;
    p.columns = dims.at[--outer].size;
    if (outer) p.length = dims.at[--outer].size;
  }
  int64_t stride = p.length * p.columns;
  for (int i = outer; i-- > 0;) {
    Offsets& o = dims.at[i].reduced ? p.reduced : p.kept;
    o.sizes[o.rank] = dims.at[i].size;
    o.strides[o.rank++] = stride;
    o.count *= dims.at[i].size;
    stride *= dims.at[i].size;
  }
}

// Runs a plan. The reduced range of one output (or tile of columns) is cut into `groups` when there are
// too few outputs to keep threads busy; that depends on the shape only.
class Run {
 public:
  Run(const ReduceLoops& loops, const Plan& plan, const char* in, char* out, double count, ThreadPool& pool)
      : loops_(loops), plan_(plan), in_(in), out_(out), count_(count), pool_(pool) {}

  void go() {
    const int64_t tiles = (plan_.columns + kReduceTile - 1) / kReduceTile;
    const int64_t work = plan_.length * plan_.reduced.count;  // elements behind one output
    const int64_t outputs = plan_.kept.count * plan_.columns;
    if (plan_.kept.count * tiles < 32 && work * outputs >= 1 << 17) {
      const int64_t wanted = std::min<int64_t>(64, work * outputs >> 15);
      return grouped(tiles, std::max<int64_t>(1, wanted / (plan_.kept.count * tiles)));
    }
    if (plan_.inner_reduced && plan_.reduced.count == 1) return many_rows();
    pool_.parallel_for(plan_.kept.count * tiles, double(work) * double(plan_.columns / tiles) * 0.1 + 20, [&](int64_t begin, int64_t end) {
      alignas(64) char totals[kReduceTile * 16];
      for (int64_t t = begin; t < end; ++t) {
        const int64_t o = t / tiles, c0 = t % tiles * kReduceTile, width = std::min(kReduceTile, plan_.columns - c0);
        loops_.init(totals, width);
        accumulate(o, c0, width, 0, units(), totals);
        loops_.finish(totals, out_ + (o * plan_.columns + c0) * loops_.out_size, width, count_);
      }
    });
  }

 private:
  // What grouping cuts: outer reduced combinations if there are any, else the innermost length.
  int64_t units() const { return plan_.reduced.count > 1 ? plan_.reduced.count : plan_.length; }

  void accumulate(int64_t o, int64_t c0, int64_t width, int64_t begin, int64_t end, void* totals) const {
    const char* base = in_ + (plan_.kept(o) + c0) * loops_.in_size;
    auto take = [&](const char* at, int64_t length) {
      if (plan_.inner_reduced) loops_.rows(at, 1, length, totals);
      else loops_.columns(at, length, plan_.columns, width, totals);
    };
    if (plan_.reduced.count > 1) {
      for (int64_t q = begin; q < end; ++q) take(base + plan_.reduced(q) * loops_.in_size, plan_.length);
    } else {
      take(base + begin * plan_.columns * loops_.in_size, end - begin);
    }
  }

  void many_rows() {
    pool_.parallel_for(plan_.kept.count, double(plan_.length) * 0.1 + 2, [&](int64_t begin, int64_t end) {
      alignas(64) char totals[kReduceTile * 16];
      for (int64_t o = begin; o < end; o += kReduceTile) {
        const int64_t n = std::min(kReduceTile, end - o);
        loops_.init(totals, n);
        loops_.rows(in_ + o * plan_.length * loops_.in_size, n, plan_.length, totals);
        loops_.finish(totals, out_ + o * loops_.out_size, n, count_);
      }
    });
  }

  void grouped(int64_t tiles, int64_t groups) {
    groups = std::min(groups, units());
    const int64_t parts = plan_.kept.count * tiles;
    const size_t slot = size_t(std::min(kReduceTile, plan_.columns)) * size_t(loops_.total_size);
    std::vector<char> totals(size_t(parts * groups) * slot);
    pool_.parallel_chunks(parts * groups, [&](int64_t i) {
      const int64_t part = i / groups, g = i % groups, o = part / tiles, c0 = part % tiles * kReduceTile;
      const int64_t width = std::min(kReduceTile, plan_.columns - c0);
      char* to = totals.data() + size_t(i) * slot;
      loops_.init(to, width);
      accumulate(o, c0, width, units() * g / groups, units() * (g + 1) / groups, to);
    });
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t o = part / tiles, c0 = part % tiles * kReduceTile, width = std::min(kReduceTile, plan_.columns - c0);
      char* first = totals.data() + size_t(part * groups) * slot;
      for (int64_t g = 1; g < groups; ++g) loops_.merge(first, first + size_t(g) * slot, width);
      loops_.finish(first, out_ + (o * plan_.columns + c0) * loops_.out_size, width, count_);
    }
  }

  const ReduceLoops& loops_;
  const Plan& plan_;
  const char* in_;
  char* out_;
  double count_;
  ThreadPool& pool_;
};

int64_t product(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

template <class T>
void to_int64(const void* in, int64_t* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = int64_t(static_cast<const T*>(in)[i]);
}
template <class T>
void from_int64(const int64_t* in, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = T(in[i]);
}
// Roots of the wrapped sums of squares. A sum that wrapped to a negative number gives what the hardware's
// conversion of NaN gives: the least number, cut to the type.
template <class T>
void int_roots(void* out, int64_t n) {
  T* x = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    if (std::is_signed_v<T> && x[i] < 0) x[i] = sizeof(T) < 4 ? T(0) : std::numeric_limits<T>::min();
    else x[i] = T(std::sqrt(double(x[i])));
  }
}

#define WEFT_INT_CASES(call)                  \
  case DType::kInt8: call(int8_t); break;     \
  case DType::kUint8: call(uint8_t); break;   \
  case DType::kInt16: call(int16_t); break;   \
  case DType::kUint16: call(uint16_t); break; \
  case DType::kInt32: call(int32_t); break;   \
  case DType::kUint32: call(uint32_t); break; \
  case DType::kInt64: call(int64_t); break;   \
  case DType::kUint64: call(uint64_t); break;

Status narrow_reduce(ReduceOp op, DType type, const void* in, std::span<const int64_t> dims, std::span<const bool> reduced, int64_t n, int64_t n_out,
                     void* out, ThreadPool& pool) {
  auto wide = std::make_unique_for_overwrite<float[]>(size_t(n + n_out));
  widen(type, in, wide.get(), n, pool);
  float* sums = wide.get() + n;
  // As in TensorFlow, the sum behind a mean is rounded (and may overflow) before it is divided.
  const bool mean = op == ReduceOp::kMean;
  WEFT_RETURN_IF_ERROR(reduce(mean ? ReduceOp::kSum : op, DType::kFloat, wide.get(), dims, reduced, sums, pool));
  narrow(type, sums, out, n_out, pool);
  if (mean) {
    widen(type, out, sums, n_out, pool);
    const float count = float(n / std::max<int64_t>(n_out, 1));
    for (int64_t i = 0; i < n_out; ++i) sums[i] /= count;
    narrow(type, sums, out, n_out, pool);
  }
  return {};
}

// Means of integers are taken of 64-bit sums.
Status int_mean(DType type, const void* in, std::span<const int64_t> dims, std::span<const bool> reduced, int64_t n, int64_t n_out, void* out,
                ThreadPool& pool) {
  auto wide = std::make_unique_for_overwrite<int64_t[]>(size_t(n + n_out));
  switch (type) {
#define WEFT_CALL(T) to_int64<T>(in, wide.get(), n)
    WEFT_INT_CASES(WEFT_CALL)
#undef WEFT_CALL
    default: break;
  }
  WEFT_RETURN_IF_ERROR(reduce(ReduceOp::kMean, DType::kInt64, wide.get(), dims, reduced, wide.get() + n, pool));
  switch (type) {
#define WEFT_CALL(T) from_int64<T>(wide.get() + n, out, n_out)
    WEFT_INT_CASES(WEFT_CALL)
#undef WEFT_CALL
    default: break;
  }
  return {};
}

}  // namespace

Status reduce(ReduceOp op, DType type, const void* in, std::span<const int64_t> dims, std::span<const bool> reduced, void* out, ThreadPool& pool) {
  const int64_t n = product(dims);
  int64_t n_out = 1, count = 1;
  for (size_t i = 0; i < dims.size(); ++i) (reduced[i] ? count : n_out) *= dims[i];
  if (n_out == 0) return {};
  if (type == DType::kHalf || type == DType::kBfloat16) return narrow_reduce(op, type, in, dims, reduced, n, n_out, out, pool);
  if (op == ReduceOp::kMean && core::is_integer_type(type) && type != DType::kInt64 && type != DType::kUint64) {
    return int_mean(type, in, dims, reduced, n, n_out, out, pool);
  }
  const ReduceLoops* loops = WEFT_BEST_ISA(reduce_loops)(op, type);
  if (!loops) return core::unimplemented("no reduction of this kind for type ", core::dtype_name(type));
  if (n == 0) {
    std::vector<char> totals(size_t(loops->total_size) * size_t(kReduceTile));
    loops->init(totals.data(), kReduceTile);
    for (int64_t i = 0; i < n_out; i += kReduceTile) {
      loops->finish(totals.data(), static_cast<char*>(out) + i * loops->out_size, std::min(kReduceTile, n_out - i), 0);
    }
  } else {
    Dims collapsed;
    collapse(dims, reduced, collapsed);
    Plan plan;
    make_plan(collapsed, plan);
    Run(*loops, plan, static_cast<const char*>(in), static_cast<char*>(out), double(count), pool).go();
  }
  if (op == ReduceOp::kNorm && core::is_integer_type(type)) {
    switch (type) {
#define WEFT_CALL(T) int_roots<T>(out, n_out)
      WEFT_INT_CASES(WEFT_CALL)
#undef WEFT_CALL
      default: break;
    }
  }
  return {};
}

namespace {

template <class T, class I>
void arg_columns(bool greatest, const T* in, int64_t n, int64_t inner, I* out, T* best) {
  const T start = greatest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  std::fill_n(best, inner, start);
  std::fill_n(out, inner, I(0));
  for (int64_t i = 0; i < n; ++i, in += inner) {
    for (int64_t j = 0; j < inner; ++j) {
      const bool wins = greatest ? in[j] > best[j] : in[j] < best[j];
      out[j] = wins ? I(i) : out[j];
      best[j] = wins ? in[j] : best[j];
    }
  }
}

template <class T>
int64_t arg_row(bool greatest, const T* in, int64_t n) {
  const T start = greatest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  // Independent lanes find the value; a second look finds its first place.
  if constexpr (std::is_same_v<T, float>) {
    const float best = WEFT_BEST_ISA(extreme_float)(greatest, in, n);
    return best == start ? 0 : std::find(in, in + n, best) - in;
  }
  constexpr int kLanes = 32;
  T lanes[kLanes];
  std::fill_n(lanes, kLanes, start);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    if (greatest) {
      for (int l = 0; l < kLanes; ++l) lanes[l] = in[i + l] > lanes[l] ? in[i + l] : lanes[l];
    } else {
      for (int l = 0; l < kLanes; ++l) lanes[l] = in[i + l] < lanes[l] ? in[i + l] : lanes[l];
    }
  }
  T best = start;
  for (T v : lanes) best = (greatest ? v > best : v < best) ? v : best;
  for (; i < n; ++i) best = (greatest ? in[i] > best : in[i] < best) ? in[i] : best;
  if (best == start) return 0;
  for (i = 0; in[i] != best; ++i) {
  }
  return i;
}

template <class T, class I>
void arg_all(bool greatest, const T* in, int64_t outer, int64_t n, int64_t inner, I* out, ThreadPool& pool) {
  pool.parallel_for(outer, double(n) * double(inner) * 0.3 + 10, [&](int64_t begin, int64_t end) {
    std::vector<T> best(inner == 1 ? 0 : size_t(inner));
    for (int64_t o = begin; o < end; ++o) {
      if (inner == 1) out[o] = I(arg_row(greatest, in + o * n, n));
      else arg_columns(greatest, in + o * n * inner, n, inner, out + o * inner, best.data());
    }
  });
}

template <class T>
void arg_typed(bool greatest, const void* in, int64_t outer, int64_t n, int64_t inner, void* out, int index_size, ThreadPool& pool) {
  const T* x = static_cast<const T*>(in);
  if (index_size == 8) arg_all(greatest, x, outer, n, inner, static_cast<int64_t*>(out), pool);
  else if (index_size == 4) arg_all(greatest, x, outer, n, inner, static_cast<int32_t*>(out), pool);
  else arg_all(greatest, x, outer, n, inner, static_cast<uint16_t*>(out), pool);
}

}  // namespace

Status arg_extreme(bool greatest, DType type, const void* in, int64_t outer, int64_t n, int64_t inner, void* out, int index_size, ThreadPool& pool) {
  if (outer == 0 || inner == 0) return {};
  switch (type) {
#define WEFT_CALL(T) arg_typed<T>(greatest, in, outer, n, inner, out, index_size, pool)
    WEFT_INT_CASES(WEFT_CALL)
    case DType::kBool: WEFT_CALL(uint8_t); break;
    case DType::kFloat: WEFT_CALL(float); break;
    case DType::kDouble: WEFT_CALL(double); break;
#undef WEFT_CALL
    case DType::kHalf:
    case DType::kBfloat16: {
      // Widened, the lowest number of the narrow type must still lose against nothing.
      const int64_t count = outer * n * inner;
      auto wide = std::make_unique_for_overwrite<float[]>(size_t(count));
      widen(type, in, wide.get(), count, pool);
      const float lowest =
          type == DType::kHalf ? float(std::numeric_limits<core::half>::lowest()) : float(std::numeric_limits<core::bfloat16>::lowest());
      for (int64_t i = 0; i < count; ++i) {
        float& v = wide[size_t(i)];
        if (greatest ? v <= lowest : v >= -lowest) v = greatest ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::max();
      }
      arg_typed<float>(greatest, wide.get(), outer, n, inner, out, index_size, pool);
      break;
    }
    default: return core::unimplemented("no order for type ", core::dtype_name(type));
  }
  return {};
}

}  // namespace weft_engine::kernels
