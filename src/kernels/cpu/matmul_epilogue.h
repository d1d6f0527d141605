// What a fused product or convolution does to its float result: adds a bias along the last dimension
// and applies an activation.
#pragma once

#include <cstdint>

#include "core/thread_pool.h"

namespace weft_engine::kernels {

enum class Epilogue { kNone, kRelu, kRelu6, kElu, kLeakyRelu, kTanh, kSigmoid, kGeluExact, kGeluApproximate };

// x[i, j] = f(x[i, j] + bias[j]); without bias if it is null. alpha is LeakyRelu's slope.
void apply_epilogue(Epilogue e, float alpha, const float* bias, float* x, int64_t rows, int64_t columns, core::ThreadPool& pool);

// The same on columns [j0, j1) of rows [i0, i1) alone, on the calling thread.
void apply_epilogue_part(Epilogue e, float alpha, const float* bias, float* x, int64_t columns, int64_t i0, int64_t i1, int64_t j0, int64_t j1);

}  // namespace weft_engine::kernels
