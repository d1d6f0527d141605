#include "kernels/cpu/lrn.h"

#include <algorithm>
#include <memory>

#include "kernels/cpu/elementwise.h"

namespace weft_engine::kernels {
namespace {

constexpr int64_t kBlock = 2048;        // elements that are worked on at once, about
constexpr int64_t kMostAdditions = 64;  // a wider neighbourhood is the difference of two running sums

// Sums over neighbourhoods, for blocks of rows.
class Neighbourhood {
 public:
  Neighbourhood(int64_t radius, int64_t depth)
      : radius_(std::min(radius, depth)), depth_(depth), rows_(std::max<int64_t>(1, kBlock / depth)), wide_(2 * radius_ + 1 > kMostAdditions) {
    if (wide_) prefix_ = std::make_unique<double[]>(size_t(depth) + 1);
    else padded_ = std::make_unique<float[]>(size_t(rows_ * (depth + 2 * radius_) + kLrnSlack));
    for (auto* own : {&sums_, &values_}) *own = std::make_unique_for_overwrite<float[]>(size_t(rows_ * depth + kLrnSlack));
  }
  int64_t rows() const { return rows_; }
  float* values() { return values_.get(); }
  float* sums() { return sums_.get(); }

  // sums()[i, j] = t[i, j - radius] + ... + t[i, j + radius]; `square`: of the squares.
  void add(const float* t, int64_t rows, bool square) {
    if (!wide_) return WEFT_BEST_ISA(lrn_sums)(t, rows, depth_, radius_, square, padded_.get(), sums_.get());
    for (int64_t r = 0; r < rows; ++r, t += depth_) {
      for (int64_t j = 0; j < depth_; ++j) prefix_[size_t(j) + 1] = prefix_[size_t(j)] + (square ? double(t[j]) * double(t[j]) : double(t[j]));
      for (int64_t j = 0; j < depth_; ++j) {
        const int64_t begin = std::max<int64_t>(0, j - radius_), end = std::min(depth_, j + radius_ + 1);
        sums_[size_t(r * depth_ + j)] = float(prefix_[size_t(end)] - prefix_[size_t(begin)]);
      }
    }
  }

 private:
  int64_t radius_, depth_, rows_;
  bool wide_;
  std::unique_ptr<double[]> prefix_;
  std::unique_ptr<float[]> padded_, sums_, values_;
};

// norm[i] = bias + alpha * norm[i], power[i] = norm[i]^-beta.
void norms(const LrnArgs& args, float* norm, float* power, int64_t n) {
  WEFT_BEST_ISA(lrn_norms)(args, norm, power, n);
  if (args.beta == 0.5f || args.beta == 0.75f || args.beta == 1) return;
  const float exponent = -args.beta;
  binary_loop(Binary::kPow, core::DType::kFloat)(norm, &exponent, power, n, 1, 0);
}

}  // namespace

void lrn(const LrnArgs& args, const float* x, float* y, int64_t rows, int64_t depth, core::ThreadPool& pool) {
  pool.parallel_for(rows, double(depth) * 2, [&](int64_t begin, int64_t end) {
    Neighbourhood near(args.radius, depth);
    for (int64_t r = begin; r < end; r += near.rows()) {
      const int64_t count = std::min(near.rows(), end - r), n = count * depth;
      near.add(x + r * depth, count, true);
      norms(args, near.sums(), near.values(), n);
      WEFT_BEST_ISA(lrn_scale)(x + r * depth, near.values(), y + r * depth, n);
    }
  });
}

// Output j reaches every input in its neighbourhood with dy_j y_j / norm_j.
void lrn_grad(const LrnArgs& args, const float* dy, const float* x, const float* y, float* dx, int64_t rows, int64_t depth, core::ThreadPool& pool) {
  pool.parallel_for(rows, double(depth) * 4, [&](int64_t begin, int64_t end) {
    Neighbourhood near(args.radius, depth);
    for (int64_t r = begin; r < end; r += near.rows()) {
      const int64_t count = std::min(near.rows(), end - r), n = count * depth, at = r * depth;
      near.add(x + at, count, true);
      norms(args, near.sums(), near.values(), n);
      WEFT_BEST_ISA(lrn_reach)(dy + at, y + at, near.sums(), near.values(), dx + at, n);
      near.add(near.values(), count, false);
      WEFT_BEST_ISA(lrn_gradient)(x + at, near.sums(), -2 * args.alpha * args.beta, dx + at, n);
    }
  });
}

}  // namespace weft_engine::kernels
