// target += value and target -= value over arrays: AssignAdd, AssignSub and their variable forms.
#pragma once

#include "core/dtype.h"
#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// n elements of that type. Integers wrap. False if the type has no addition.
bool accumulate(core::DType type, void* target, const void* value, int64_t n, bool subtract, core::ThreadPool& pool);

WEFT_DECLARE_ISA(void add_floats_to(float* target, const float* value, int64_t n, bool subtract))
WEFT_DECLARE_ISA(void add_doubles_to(double* target, const double* value, int64_t n, bool subtract))

}  // namespace weft_engine::kernels
