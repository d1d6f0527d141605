// Fills arrays with random numbers of the simple distributions. Which bits serve which element depends on
// its place alone, never on the threads.
#pragma once

#include "core/dtype.h"
#include "core/thread_pool.h"
#include "kernels/cpu/philox.h"

namespace weft_engine::kernels {

// Blocks that TensorFlow sets aside for each element, so that those that reject draws never run out.
inline constexpr uint64_t kReservedBlocks = 256;

enum class Distribution { kUniform, kNormal, kTruncatedNormal };

// half, bfloat16, float or double; false for other types. Truncated: draws beyond two deviations are repeated.
bool fill_random(core::ThreadPool& pool, const Philox& gen, Distribution distribution, core::DType dtype, void* out, int64_t n);

// Integers in [low, high), 32 or 64 bits wide, given as their bits; low < high.
void fill_uniform_int32(core::ThreadPool& pool, const Philox& gen, uint32_t low, uint32_t high, uint32_t* out, int64_t n);
void fill_uniform_int64(core::ThreadPool& pool, const Philox& gen, uint64_t low, uint64_t high, uint64_t* out, int64_t n);
// All bits random.
void fill_bits32(core::ThreadPool& pool, const Philox& gen, uint32_t* out, int64_t n);
void fill_bits64(core::ThreadPool& pool, const Philox& gen, uint64_t* out, int64_t n);

}  // namespace weft_engine::kernels
