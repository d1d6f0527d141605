// What a fused product or convolution does to its float result: adds a bias along the last dimension
// and applies an activation.
#pragma once

#include <cstdint>

#include "core/thread_pool.h"

namespace weft_engine::kernels {

enum class Epilogue { kNone, kRelu, kRelu6, kElu, kLeakyRelu, kTanh, kSigmoid, kGeluExact, kGeluApproximate };

// x[i, j] = f(x[i, j] + bias[j]); without bias if it is null. alpha is LeakyRelu's slope.
void apply_epilogue(Epilogue e, float alpha, const float* bias, float* x, int64_t rows, int64_t columns, core::ThreadPool& pool);

}  // namespace weft_engine::kernels
