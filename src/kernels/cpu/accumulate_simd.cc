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
void add_doubles_to(double* target, const double* value, int64_t n, bool subtract) { add_to(target, value, n, subtract); }

#include "kernels/cpu/isa_end.h"
