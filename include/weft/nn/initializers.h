// How weights start, what is added to the loss for their size, and what is done to them after each update. Each is a
// small value: a name ("glorot_uniform", "l2", "non_neg"), one of the functions below, or any function of that form.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/tensor.h"

namespace weft::nn {

class WEFT_API Initializer {
 public:
  using Function = std::function<Tensor(const std::vector<int64_t>& shape, DType dtype)>;
  Initializer() = default;                // none: the layer's own choice
  Initializer(const char* name);          // NOLINT: implicit on purpose
  Initializer(const std::string& name);   // NOLINT
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const std::vector<int64_t>&, DType>
  Initializer(F f) : f_(std::move(f)) {}  // NOLINT
  explicit operator bool() const { return bool(f_); }
  Tensor operator()(const std::vector<int64_t>& shape, DType dtype = DType::float32) const;

 private:
  Function f_;
};

// A seed of -1 is drawn at random (see set_random_seed). The same seed gives the same numbers as Keras does for it.
struct SeedOptions {
  int64_t seed = -1;
};
struct NormalOptions {
  double mean = 0, stddev = 0.05;
  int64_t seed = -1;
};
struct UniformOptions {
  double minval = -0.05, maxval = 0.05;
  int64_t seed = -1;
};
struct VarianceScalingOptions {
  double scale = 1;
  std::string mode = "fan_in";                   // "fan_in", "fan_out", "fan_avg"
  std::string distribution = "truncated_normal"; // or "untruncated_normal", "uniform"
  int64_t seed = -1;
};
struct OrthogonalOptions {
  double gain = 1;
  int64_t seed = -1;
};

namespace initializers {
// Zeros.
WEFT_API Initializer zeros();
// Ones.
WEFT_API Initializer ones();
// A number.
WEFT_API Initializer constant(double value);
// The identity matrix times gain.
WEFT_API Initializer identity(double gain = 1);
// Numbers of a normal distribution.
WEFT_API Initializer random_normal(const NormalOptions& o = {});
// The same without those more than two standard deviations from the mean.
WEFT_API Initializer truncated_normal(const NormalOptions& o = {});
// Numbers of a uniform distribution.
WEFT_API Initializer random_uniform(const UniformOptions& o = {});
// Numbers whose variance fits the number of inputs or outputs.
WEFT_API Initializer variance_scaling(const VarianceScalingOptions& o = {});
// Variance scaling by Glorot, He or LeCun.
WEFT_API Initializer glorot_uniform(const SeedOptions& o = {});
WEFT_API Initializer glorot_normal(const SeedOptions& o = {});
WEFT_API Initializer he_uniform(const SeedOptions& o = {});
WEFT_API Initializer he_normal(const SeedOptions& o = {});
WEFT_API Initializer lecun_uniform(const SeedOptions& o = {});
WEFT_API Initializer lecun_normal(const SeedOptions& o = {});
// An orthogonal matrix.
WEFT_API Initializer orthogonal(const OrthogonalOptions& o = {});
}  // namespace initializers

// Makes the seeds that are drawn from here on, in this process, come in the same order again.
WEFT_API void set_random_seed(int64_t seed);
// The next of them.
WEFT_API int64_t draw_seed();

// A number to be added to the loss, from the value of a weight.
class WEFT_API Regularizer {
 public:
  Regularizer() = default;                // none
  Regularizer(const char* name);          // NOLINT: "l1", "l2", "l1_l2", "orthogonal_regularizer"
  Regularizer(const std::string& name);   // NOLINT
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&>
  Regularizer(F f) : f_(std::move(f)) {}  // NOLINT
  explicit operator bool() const { return bool(f_); }
  Tensor operator()(const Tensor& x) const { return f_(x); }

 private:
  std::function<Tensor(const Tensor&)> f_;
};

namespace regularizers {
// The sum of sizes, of squares, or both.
WEFT_API Regularizer l1(double factor = 0.01);
WEFT_API Regularizer l2(double factor = 0.01);
WEFT_API Regularizer l1_l2(double l1 = 0.01, double l2 = 0.01);
// How far rows or columns are from orthogonal.
WEFT_API Regularizer orthogonal(double factor = 0.01, const std::string& mode = "rows");
}  // namespace regularizers

// What an optimiser makes of a weight after each update.
class WEFT_API Constraint {
 public:
  Constraint() = default;                // none
  Constraint(const char* name);          // NOLINT: "max_norm", "non_neg", "unit_norm", "min_max_norm"
  Constraint(const std::string& name);   // NOLINT
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F&, const Tensor&>
  Constraint(F f) : f_(std::move(f)) {}  // NOLINT
  explicit operator bool() const { return bool(f_); }
  const std::function<Tensor(const Tensor&)>& function() const { return f_; }
  Tensor operator()(const Tensor& x) const { return f_ ? f_(x) : x; }

 private:
  std::function<Tensor(const Tensor&)> f_;
};

namespace constraints {
// The norm at most, or within limits.
WEFT_API Constraint max_norm(double max_value = 2, std::vector<int64_t> axis = {0});
WEFT_API Constraint min_max_norm(double min_value = 0, double max_value = 1, double rate = 1, std::vector<int64_t> axis = {0});
// Vectors of length 1.
WEFT_API Constraint unit_norm(std::vector<int64_t> axis = {0});
// No number below 0.
WEFT_API Constraint non_neg();
}  // namespace constraints

}  // namespace weft::nn
