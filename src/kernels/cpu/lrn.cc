#include "kernels/cpu/lrn.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weft_engine::kernels {
namespace {

// norm[j] = bias + alpha * sum of squares around j, from running sums in double.
void norms(const LrnArgs& args, const float* x, int64_t depth, double* prefix, float* norm) {
  prefix[0] = 0;
  for (int64_t j = 0; j < depth; ++j) prefix[j + 1] = prefix[j] + double(x[j]) * double(x[j]);
  for (int64_t j = 0; j < depth; ++j) {
    const int64_t begin = std::max<int64_t>(0, j - args.radius), end = std::min(depth, j + args.radius + 1);
    norm[j] = args.bias + args.alpha * float(prefix[end] - prefix[begin]);
  }
}

// x^-beta; roots where they do.
float inverse_power(float x, float beta) {
  if (beta == 0.5f) return 1 / std::sqrt(x);
  if (beta == 0.75f) return 1 / (std::sqrt(x) * std::sqrt(std::sqrt(x)));
  return beta == 1 ? 1 / x : std::pow(x, -beta);
}

}  // namespace

void lrn(const LrnArgs& args, const float* x, float* y, int64_t rows, int64_t depth, core::ThreadPool& pool) {
  pool.parallel_for(rows, double(depth) * 15, [&](int64_t begin, int64_t end) {
    std::vector<double> prefix(size_t(depth) + 1);
    std::vector<float> norm(static_cast<size_t>(depth));
    for (int64_t r = begin; r < end; ++r) {
      norms(args, x + r * depth, depth, prefix.data(), norm.data());
      for (int64_t j = 0; j < depth; ++j) y[r * depth + j] = x[r * depth + j] * inverse_power(norm[size_t(j)], args.beta);
    }
  });
}

void lrn_grad(const LrnArgs& args, const float* dy, const float* x, const float* y, float* dx, int64_t rows, int64_t depth, core::ThreadPool& pool) {
  pool.parallel_for(rows, double(depth) * 25, [&](int64_t begin, int64_t end) {
    std::vector<double> prefix(size_t(depth) + 1), back(size_t(depth) + 1);
    std::vector<float> norm(static_cast<size_t>(depth));
    for (int64_t r = begin; r < end; ++r) {
      const float *g = dy + r * depth, *in = x + r * depth, *out = y + r * depth;
      norms(args, in, depth, prefix.data(), norm.data());
      // Output j reaches every input k in its neighbourhood with dy_j y_j / norm_j; running sums add them up.
      back[0] = 0;
      for (int64_t j = 0; j < depth; ++j) back[size_t(j) + 1] = back[size_t(j)] + double(g[j]) * double(out[j]) / double(norm[size_t(j)]);
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t first = std::max<int64_t>(0, k - args.radius), last = std::min(depth, k + args.radius + 1);
        const float reach = float(back[size_t(last)] - back[size_t(first)]);
        dx[r * depth + k] = g[k] * inverse_power(norm[size_t(k)], args.beta) - 2 * args.alpha * args.beta * in[k] * reach;
      }
    }
  });
}

}  // namespace weft_engine::kernels
