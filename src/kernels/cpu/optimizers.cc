#include "kernels/cpu/optimizers.h"

#include <cmath>
#include <complex>

namespace weft_engine::kernels {

using namespace weft_engine::core;

#include "kernels/cpu/optimizer_formulas.inc"

namespace {

template <class T>
void run_range(Optimizer kind, const OptimizerStep<T>& s, const OptimizerRange& r) {
  if constexpr (std::is_same_v<T, float>) WEFT_BEST_ISA(optimize_floats)(kind, s, r);
  else if constexpr (std::is_same_v<T, double>) WEFT_BEST_ISA(optimize_doubles)(kind, s, r);
  else run_any(kind, s, r);
}

template <class T>
bool run(ThreadPool& pool, Optimizer kind, const OptimizerArrays& a, int64_t n, const int64_t* rows, int64_t count, int64_t width) {
  OptimizerStep<T> s{static_cast<T*>(a.var), {}, static_cast<const T*>(a.grad), {}, a.step, a.flag};
  for (int i = 0; i < 3; ++i) s.slots[i] = static_cast<T*>(a.slots[i]);
  for (int i = 0; i < 6; ++i) s.scalars[i] = a.scalars[i] ? *static_cast<const T*>(a.scalars[i]) : T(0);
  if (!rows) {
    pool.parallel_for(n, 1.5, [&](int64_t b, int64_t e) { run_range(kind, s, {b, e}); });
    return true;
  }
  // Tasks own parts of the variable and look through all rows, so that a row named twice changes in order.
  constexpr int64_t kParallelElements = 1 << 16, kParallelWidth = 16, kParts = 16;
  if (width < kParallelWidth || count * width < kParallelElements || n < kParts) {
    run_range(kind, s, {0, n, rows, count, width});
    return true;
  }
  const int64_t part = (n + kParts - 1) / kParts;
  pool.parallel_chunks(kParts, [&](int64_t p) { run_range(kind, s, {p * part, std::min(n, (p + 1) * part), rows, count, width}); });
  return true;
}

}  // namespace

bool run_optimizer(ThreadPool& pool, Optimizer kind, DType type, const OptimizerArrays& a, int64_t n, const int64_t* rows, int64_t count,
                   int64_t width) {
  switch (type) {
    case DType::kFloat: return run<float>(pool, kind, a, n, rows, count, width);
    case DType::kDouble: return run<double>(pool, kind, a, n, rows, count, width);
    case DType::kHalf: return run<half>(pool, kind, a, n, rows, count, width);
    case DType::kBfloat16: return run<bfloat16>(pool, kind, a, n, rows, count, width);
    case DType::kComplex64: return run<complex64>(pool, kind, a, n, rows, count, width);
    case DType::kComplex128: return run<complex128>(pool, kind, a, n, rows, count, width);
    default: return false;
  }
}

}  // namespace weft_engine::kernels
