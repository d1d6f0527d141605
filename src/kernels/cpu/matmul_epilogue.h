// What a fused product or convolution does to its float result: adds a bias along the last dimension
// and applies an activation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/thread_pool.h"

namespace weft::kernels {

enum class Epilogue { kNone, kRelu, kRelu6, kElu, kLeakyRelu, kTanh, kSigmoid, kGeluExact, kGeluApproximate };

// By the name that fused_ops uses: "Relu", ..., "GeluExact".
std::optional<Epilogue> epilogue_of(std::string_view name);

// x[i, j] = f(x[i, j] + bias[j]); without bias if it is null. alpha is LeakyRelu's slope.
void apply_epilogue(Epilogue e, float alpha, const float* bias, float* x, int64_t rows, int64_t columns, core::ThreadPool& pool);

}  // namespace weft::kernels
