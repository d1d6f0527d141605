// First centres for k-means clustering, with the random numbers of TensorFlow.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "kernels/cpu/philox.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

kernels::PhiloxStream stream(int64_t seed) { return kernels::PhiloxStream(kernels::Philox(0, 0, uint64_t(seed))); }

// Points drawn in proportion to their distance from those drawn before.
class PlusPlus {
 public:
  PlusPlus(const Tensor& points, int64_t seed)
      : x_(points.data<float>()),
        n_(points.dim(0)),
        width_(points.dim(1)),
        random_(stream(seed)),
        norms_(size_t(n_)),
        nearest_(size_t(n_), std::numeric_limits<float>::infinity()),
        sums_(size_t(n_)) {
    for (int64_t i = 0; i < n_; ++i) norms_[size_t(i)] = 0.5f * dot(i, i);
  }
  // The next point, the best of 1 + retries by the sum of distances that it leaves.
  int64_t next(int64_t retries) {
    if (!drawn_.empty()) std::partial_sum(nearest_.begin(), nearest_.end(), sums_.begin());
    std::vector<float> best = nearest_;
    float least = std::numeric_limits<float>::infinity();
    int64_t chosen = 0;
    for (int64_t i = retries + 1; i > 0; --i) {
      const int64_t candidate = draw();
      std::vector<float> distances = distances_with(candidate);
      const float sum = retries == 0 ? 0 : std::accumulate(distances.begin(), distances.end(), 0.0f);
      if (sum < least) {
        least = sum;
        chosen = candidate;
        best.swap(distances);
      }
    }
    nearest_.swap(best);
    chosen = std::min(chosen, n_ - 1);
    drawn_.insert(chosen);
    return chosen;
  }

 private:
  float dot(int64_t i, int64_t j) const { return std::inner_product(x_ + i * width_, x_ + (i + 1) * width_, x_ + j * width_, 0.0f); }
  std::vector<float> distances_with(int64_t j) const {
    std::vector<float> d(nearest_);
    for (int64_t i = 0; i < n_; ++i) d[size_t(i)] = std::min(d[size_t(i)], (norms_[size_t(i)] - dot(i, j)) + norms_[size_t(j)]);
    return d;
  }
  int64_t draw() {
    if (drawn_.empty()) return int64_t(random_.below64(uint64_t(n_)));
    int64_t index;
    do {
      const float total = sums_.back();
      index = total > 0 ? std::upper_bound(sums_.begin(), sums_.end(), random_.uniform() * total) - sums_.begin()
                        : int64_t(random_.below64(uint64_t(n_)));
      index = std::min(index, n_ - 1);
    } while (drawn_.contains(index));
    return index;
  }
  const float* x_;
  const int64_t n_, width_;
  kernels::PhiloxStream random_;
  std::vector<float> norms_, nearest_, sums_;
  std::unordered_set<int64_t> drawn_;
};

constexpr int64_t kMostRetries = 1 << 20;

Status run_plus_plus(KernelContext& c) {
  const Tensor& points = c.input(0);
  if (points.rank() != 2) return invalid_argument("Input points should be a matrix.");
  static constexpr const char* kScalars[] = {"num_to_sample", "seed", "num_retries_per_sample"};
  for (int i = 0; i < 3; ++i) {
    if (c.input(i + 1).rank() != 0) return invalid_argument("Input ", kScalars[i], " should be a scalar.");
  }
  const int64_t wanted = c.input(1).data<int64_t>()[0];
  if (points.dim(0) <= 0) return invalid_argument("Expected points.rows() > 0.");
  if (wanted <= 0) return invalid_argument("Expected num_to_sample > 0.");
  if (wanted > points.dim(0)) return invalid_argument("Expected num_to_sample <= points.rows(). ", wanted, " vs ", points.dim(0), ".");
  int64_t retries = c.input(3).data<int64_t>()[0];
  if (retries < 0) retries = 2 + int64_t(std::log(double(wanted)));
  // TensorFlow takes any number, and hours for a great one.
  if (retries > kMostRetries) return invalid_argument("num_retries_per_sample must be at most ", kMostRetries, ", got ", retries, ".");
  const int64_t width = points.dim(1);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({wanted, width})));
  PlusPlus sampler(points, c.input(2).data<int64_t>()[0]);
  for (int64_t i = 0; i < wanted; ++i) std::copy_n(points.data<float>() + sampler.next(retries) * width, width, out->data<float>() + i * width);
  return {};
}

Status run_chain(KernelContext& c) {
  const Tensor& distances = c.input(0);
  if (distances.rank() != 1) return invalid_argument("Input distances should be a vector.");
  if (c.input(1).rank() != 0) return invalid_argument("Input seed should be a scalar.");
  if (distances.dim(0) <= 0) return invalid_argument("Expected distances_tensor.size() > 0.");
  auto random = stream(c.input(1).data<int64_t>()[0]);
  const auto d = distances.span<float>();
  int64_t selected = 0;
  for (size_t i = 1; i < d.size(); ++i) {
    if (d[i] > random.uniform() * d[size_t(selected)]) selected = int64_t(i);
  }
  c.set_output(0, Tensor::scalar(selected));
  return {};
}

}  // namespace

void clustering(Registry& r) {
  r.add("KMC2ChainInitialization")
      .doc("The last state of a Markov chain over candidates, in proportion to their distances.")
      .in("distances: float")
      .in("seed: int64")
      .out("index: int64")
      .shape(shapes::scalar)
      .cpu(run_chain);

  r.add("KmeansPlusPlusInitialization")
      .doc("First centres for k-means by k-means++.")
      .in("points: float")
      .in("num_to_sample: int64")
      .in("seed: int64")
      .in("num_retries_per_sample: int64")
      .out("samples: float")
      .shape(shapes::unknown)
      .cpu(run_plus_plus);
}

}  // namespace weft_engine::ops
