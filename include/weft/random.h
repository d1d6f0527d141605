// tf.random: random numbers. The same seed gives the numbers that TensorFlow gives for it.
//
//   weft::Tensor x = weft::random::normal({2, 3});
//   auto g = weft::random::Generator::from_seed(42);
//   weft::Tensor y = g.uniform({4}, {.maxval = 10.});
#pragma once

#include <vector>

#include "weft/variable.h"

namespace weft::random {

struct NormalOptions {
  double mean = 0, stddev = 1;
  DType dtype = DType::float32;
  int64_t seed = -1;  // -1: as set_seed says, else of no known seed. Not read where the seed is an argument.
};
struct UniformOptions {
  double minval = 0, maxval = 1;  // not included; of integers it must be given
  DType dtype = DType::float32;
  int64_t seed = -1;
};

// Numbers of a normal distribution.
WEFT_API Tensor normal(std::vector<int64_t> shape, const NormalOptions& options = {});
// The same, where numbers more than two standard deviations from the mean are drawn again.
WEFT_API Tensor truncated_normal(std::vector<int64_t> shape, const NormalOptions& options = {});
// Numbers of a uniform distribution in [minval, maxval).
WEFT_API Tensor uniform(std::vector<int64_t> shape, const UniformOptions& options = {});
// The rows of a tensor in random order.
WEFT_API Tensor shuffle(const Tensor& x, int64_t seed = -1);
// Classes by logits: for each row num_samples of them.
WEFT_API Tensor categorical(const Tensor& logits, int64_t num_samples, int64_t seed = -1);
// Makes the numbers that follow in this process come in the same order again.
WEFT_API void set_seed(int64_t seed);

// Numbers of a normal distribution from a seed of two integers, always the same.
WEFT_API Tensor stateless_normal(std::vector<int64_t> shape, const Tensor& seed, const NormalOptions& options = {});
// The same, without those more than two standard deviations from the mean.
WEFT_API Tensor stateless_truncated_normal(std::vector<int64_t> shape, const Tensor& seed, const NormalOptions& options = {});
// Numbers of a uniform distribution from a seed of two integers, always the same.
WEFT_API Tensor stateless_uniform(std::vector<int64_t> shape, const Tensor& seed, const UniformOptions& options = {});

// A stream of random numbers (Philox) whose state is a variable: the same eagerly and in functions, and it can be saved.
class WEFT_API Generator {
 public:
  // Begins with a seed.
  static Generator from_seed(int64_t seed);
  // Begins at a state that nobody knows.
  static Generator from_non_deterministic_state();
  // Numbers of a normal distribution.
  Tensor normal(std::vector<int64_t> shape, const NormalOptions& options = {}) const;
  // The same, without those more than two standard deviations from the mean.
  Tensor truncated_normal(std::vector<int64_t> shape, const NormalOptions& options = {}) const;
  // Numbers of a uniform distribution.
  Tensor uniform(std::vector<int64_t> shape, const UniformOptions& options = {}) const;
  // Leaves out numbers.
  void skip(int64_t count) const;
  // Begins again with a seed.
  void reset_from_seed(int64_t seed) const;
  // Two counters and the key, int64.
  const Variable& state() const { return state_; }

 private:
  explicit Generator(const Tensor& state);
  Variable state_;
};

}  // namespace weft::random
