// Samples of distributions with parameters. Sample i of parameter p has index p * samples + i and draws
// from its own stretch of blocks; it is written to out[i * parameters + p].
#pragma once

#include <span>

#include "core/dtype.h"
#include "core/status.h"
#include "core/thread_pool.h"
#include "kernels/cpu/philox.h"

namespace weft_engine::kernels {

// Where the parameters of distribution p stand: in[index ? index[p] : p].
struct Parameter {
  const void* data;
  const int64_t* index = nullptr;
};

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). Types half, bfloat16, float, double.
void sample_gamma(core::ThreadPool& pool, const Philox& gen, core::DType dtype, const void* alpha, int64_t alphas, int64_t samples, void* out);

// Knuth's product for rates below 10, Hörmann's transformed rejection (1993) above.
core::Status sample_poisson(core::ThreadPool& pool, const Philox& gen, core::DType rate_type, const void* rate, int64_t rates, int64_t samples,
                            core::DType out_type, void* out);

// Inversion for small means, Hörmann's BTRS (1993) for large ones.
core::Status sample_binomial(core::ThreadPool& pool, const Philox& gen, core::DType type, Parameter counts, Parameter probs, int64_t batches,
                             int64_t samples, core::DType out_type, void* out);

// Normal numbers of a mean and deviation, cut to an interval. One generator serves elements [0, batches * samples)
// in order. `strided`: sample s of batch b goes to out[s * batches + b], else to out[b * samples + s]; never beyond `limit`.
struct TruncatedNormalJob {
  Parameter means, deviations, minima, maxima;
  int64_t batches, samples, limit;
  bool strided;
};
core::Status sample_truncated_normal(const Philox& gen, core::DType dtype, const TruncatedNormalJob& job, void* out);

// Classes drawn with probabilities exp(logits); out int32 or int64.
core::Status sample_classes(const Philox& gen, core::DType type, const void* logits, int64_t rows, int64_t classes, int64_t samples,
                            core::DType out_type, void* out);

// Swaps each element with one of those from it on; T: unsigned, of any size.
template <class T>
void shuffle_elements(const Philox& gen, std::span<T> x);
// order becomes the order that shuffle_elements() leaves 0 ... n - 1 in.
void shuffle_indices(const Philox& gen, std::span<int64_t> order);

// The place of `index` in a pseudorandom order of 0 ... max_index: a Simon block cipher (Beaulieu et al.,
// eprint 2013/404) of just enough bits, applied until it lands inside.
uint64_t shuffle_index(uint64_t index, const std::array<uint32_t, 3>& key, uint64_t max_index, int64_t rounds);

// d sample / d alpha of a gamma sample, by differentiating the incomplete gamma function.
double gamma_sample_derivative(double alpha, double sample);
float gamma_sample_derivative(float alpha, float sample);

}  // namespace weft_engine::kernels
