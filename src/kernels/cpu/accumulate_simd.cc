#include "kernels/cpu/accumulate.h"
#include "kernels/cpu/isa_begin.h"

namespace {

template <class T>
void add_to(T* __restrict target, const T* __restrict value, int64_t n, bool subtract) {
  if (subtract) {
    for (int64_t i = 0; i < n; ++i) target[i] -= value[i];
  } else {
    for (int64_t i = 0; i < n; ++i) target[i] += value[i];
  }
}

}  // namespace

void add_floats_to(float* target, const float* value, int64_t n, bool subtract) { add_to(target, value, n, subtract); }
void add_float_runs(float* to, int64_t to_step, int64_t to_run, const float* from, int64_t from_step, int64_t from_run, int64_t runs, int64_t n,
                    int64_t count) {
  for (int64_t i = 0; i < count; ++i, to += to_step, from += from_step) {
    for (int64_t r = 0; r < runs; ++r) {
      float* __restrict target = to + r * to_run;
      const float* __restrict value = from + r * from_run;
      for (int64_t j = 0; j < n; ++j) target[j] += value[j];
    }
  }
}
void add_doubles_to(double* target, const double* value, int64_t n, bool subtract) { add_to(target, value, n, subtract); }

#include "kernels/cpu/isa_end.h"
