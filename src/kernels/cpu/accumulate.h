// target += value and target -= value over arrays: AssignAdd, AssignSub and their variable forms.
#pragma once

#include "core/dtype.h"
#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// n elements of that type. Integers wrap. False if the type has no addition.
bool accumulate(core::DType type, void* target, const void* value, int64_t n, bool subtract, core::ThreadPool& pool);

WEFT_DECLARE_ISA(void add_floats_to(float* target, const float* value, int64_t n, bool subtract))
// For each i < count and, inside, each r < runs: n elements from from + i * from_step + r * from_run are added to to + i * to_step + r * to_run.
WEFT_DECLARE_ISA(void add_float_runs(float* to, int64_t to_step, int64_t to_run, const float* from, int64_t from_step, int64_t from_run, int64_t runs,
                                     int64_t n, int64_t count))
WEFT_DECLARE_ISA(void add_doubles_to(double* target, const double* value, int64_t n, bool subtract))

}  // namespace weft_engine::kernels
