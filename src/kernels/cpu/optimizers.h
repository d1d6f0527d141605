// One step of an optimizer over the memory of a variable and its slots.
#pragma once

#include "core/dtype.h"
#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

enum class Optimizer {
  kGradientDescent,
  kProximalGradientDescent,
  kMomentum,
  kKerasMomentum,
  kAdagrad,
  kAdagradV2,
  kProximalAdagrad,
  kAdagradDA,
  kAdadelta,
  kRmsProp,
  kCenteredRmsProp,
  kFtrl,
  kFtrlV2,
  kAdam,
  kAdaMax,
  kAdamWithAmsgrad,
  kAddSign,
  kPowerSign,
  kScaledAdam,  // Adam whose rate comes ready: rate, 1 - beta1, 1 - beta2, epsilon
};

template <class T>
struct OptimizerStep {
  T* var;
  T* slots[3];
  const T* grad;
  T scalars[6];  // in the order of the op's inputs
  int64_t step;  // AdagradDA
  bool flag;     // use_nesterov, update_slots or multiply_linear_by_lr
};

// Elements [begin, end); or, if `rows` is set, the rows of `width` elements that it names (gradient row i
// belongs to row rows[i]) as far as they lie in [begin, end), one after the other.
struct OptimizerRange {
  int64_t begin, end;
  const int64_t* rows = nullptr;
  int64_t count = 0, width = 0;
};

// The step with arrays of any type, in untyped form.
struct OptimizerArrays {
  void* var;
  void* slots[3];
  const void* grad;
  const void* scalars[6];
  int64_t step;
  bool flag;
};

// n elements, or the given rows of a variable of n rows. False if the type is not half, bfloat16, float,
// double or complex.
bool run_optimizer(core::ThreadPool& pool, Optimizer kind, core::DType type, const OptimizerArrays& arrays, int64_t n, const int64_t* rows = nullptr,
                   int64_t count = 0, int64_t width = 0);

WEFT_DECLARE_ISA(void optimize_floats(Optimizer kind, const OptimizerStep<float>& s, const OptimizerRange& r))
WEFT_DECLARE_ISA(void optimize_doubles(Optimizer kind, const OptimizerStep<double>& s, const OptimizerRange& r))

}  // namespace weft_engine::kernels
