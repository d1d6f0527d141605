#include "weft/random.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "api/op_args.h"
#include "api/op_seeds.h"
#include "weft/math.h"
#include "weft/nn/initializers.h"
#include "weft/raw/array.h"
#include "weft/raw/math.h"
#include "weft/raw/random.h"

namespace weft::random {

using api::ints;

namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
constexpr int64_t kDefaultSeed = 87654321;  // TensorFlow's, for ops that have a seed of their own where none was set for all
constexpr int32_t kPhilox = 1;
constexpr int64_t kCounters = 2;  // numbers of the state in front of the key

std::atomic<int64_t> global_seed{kNone};

bool is_integer(DType t) {
  double low = 0, high = 0;
  return api::integer_limits(t, low, high);
}
Tensor scaled(const Tensor& x, double factor, double offset) {
  const auto number = [&](double v) { return cast(Tensor(v), x.dtype()); };
  const Tensor y = factor == 1 ? x : x * number(factor);
  return offset == 0 ? y : y + number(offset);
}
void check_range(const UniformOptions& o) {
  if (is_integer(o.dtype) && o.maxval == 1 && o.minval == 0)
    throw Error(Code::kInvalidArgument, "Must specify maxval for integer dtype " + to_string(o.dtype));
}
Tensor bound(double v, DType t) { return t == DType::int32 ? Tensor(int32_t(v)) : cast(Tensor(int64_t(v)), t); }

}  // namespace

OpSeeds op_seeds(int64_t seed) {
  const int64_t all = global_seed;
  if (seed >= 0) return {all == kNone ? kDefaultSeed : all, seed};
  if (all == kNone) return {};  // of no known seed
  return {all, nn::draw_seed()};
}

void set_seed(int64_t seed) {
  global_seed = seed;
  nn::set_random_seed(seed);
}

Tensor normal(std::vector<int64_t> shape, const NormalOptions& o) {
  const OpSeeds s = op_seeds(o.seed);
  return scaled(raw::RandomStandardNormal(ints(shape), o.dtype, {.seed = s.first, .seed2 = s.second}), o.stddev, o.mean);
}
Tensor truncated_normal(std::vector<int64_t> shape, const NormalOptions& o) {
  const OpSeeds s = op_seeds(o.seed);
  return scaled(raw::TruncatedNormal(ints(shape), o.dtype, {.seed = s.first, .seed2 = s.second}), o.stddev, o.mean);
}
Tensor uniform(std::vector<int64_t> shape, const UniformOptions& o) {
  check_range(o);
  const OpSeeds s = op_seeds(o.seed);
  if (is_integer(o.dtype))
    return raw::RandomUniformInt(ints(shape), bound(o.minval, o.dtype), bound(o.maxval, o.dtype), {.seed = s.first, .seed2 = s.second});
  return scaled(raw::RandomUniform(ints(shape), o.dtype, {.seed = s.first, .seed2 = s.second}), o.maxval - o.minval, o.minval);
}
Tensor shuffle(const Tensor& x, int64_t seed) {
  const OpSeeds s = op_seeds(seed);
  return raw::RandomShuffle(x, {.seed = s.first, .seed2 = s.second});
}
Tensor categorical(const Tensor& logits, int64_t num_samples, int64_t seed) {
  const OpSeeds s = op_seeds(seed);
  return raw::Multinomial(logits, Tensor(int32_t(num_samples)), {.seed = s.first, .seed2 = s.second});
}

namespace {

// A key and a counter, and what the ops make of them.
struct Source {
  Tensor key, counter;

  Tensor normal(const std::vector<int64_t>& shape, const NormalOptions& o) const {
    return scaled(raw::StatelessRandomNormalV2(ints(shape), key, counter, Tensor(kPhilox), {.dtype = o.dtype}), o.stddev, o.mean);
  }
  Tensor truncated_normal(const std::vector<int64_t>& shape, const NormalOptions& o) const {
    return scaled(raw::StatelessTruncatedNormalV2(ints(shape), key, counter, Tensor(kPhilox), {.dtype = o.dtype}), o.stddev, o.mean);
  }
  Tensor uniform(const std::vector<int64_t>& shape, const UniformOptions& o) const {
    check_range(o);
    if (is_integer(o.dtype))
      return raw::StatelessRandomUniformIntV2(ints(shape), key, counter, Tensor(kPhilox), bound(o.minval, o.dtype), bound(o.maxval, o.dtype));
    return scaled(raw::StatelessRandomUniformV2(ints(shape), key, counter, Tensor(kPhilox), {.dtype = o.dtype}), o.maxval - o.minval, o.minval);
  }
};
Source from_seed_pair(const Tensor& seed) {
  const raw::StatelessRandomGetKeyCounterResult r = raw::StatelessRandomGetKeyCounter(seed);
  return {r.key, r.counter};
}
Source next_of(const Variable& state, const std::vector<int64_t>& shape) {
  uint64_t count = 1;
  for (int64_t d : shape) count *= uint64_t(d);
  const Tensor before = raw::Bitcast(raw::RngReadAndSkip(state.handle(), Tensor(kPhilox), Tensor(count)), DType::uint64);
  return {before[{slice(kCounters, kCounters + 1)}], before[{slice(0, kCounters)}]};
}
Tensor state_of_seed(int64_t seed) { return Tensor{seed, seed < 0 ? int64_t(-1) : int64_t(0), seed < 0 ? int64_t(-1) : int64_t(0)}; }

}  // namespace

Tensor stateless_normal(std::vector<int64_t> shape, const Tensor& seed, const NormalOptions& o) { return from_seed_pair(seed).normal(shape, o); }
Tensor stateless_truncated_normal(std::vector<int64_t> shape, const Tensor& seed, const NormalOptions& o) {
  return from_seed_pair(seed).truncated_normal(shape, o);
}
Tensor stateless_uniform(std::vector<int64_t> shape, const Tensor& seed, const UniformOptions& o) { return from_seed_pair(seed).uniform(shape, o); }

Generator::Generator(const Tensor& state) : state_(state, {.name = "StateVar", .trainable = false}) {}
Generator Generator::from_seed(int64_t seed) { return Generator(state_of_seed(seed)); }
Generator Generator::from_non_deterministic_state() {
  return Generator(raw::NonDeterministicInts(Tensor{int64_t(kCounters + 1)}, {.dtype = DType::int64}));
}
Tensor Generator::normal(std::vector<int64_t> shape, const NormalOptions& o) const { return next_of(state_, shape).normal(shape, o); }
Tensor Generator::truncated_normal(std::vector<int64_t> shape, const NormalOptions& o) const {
  return next_of(state_, shape).truncated_normal(shape, o);
}
Tensor Generator::uniform(std::vector<int64_t> shape, const UniformOptions& o) const { return next_of(state_, shape).uniform(shape, o); }
void Generator::skip(int64_t count) const { raw::RngReadAndSkip(state_.handle(), Tensor(kPhilox), Tensor(uint64_t(count))); }
void Generator::reset_from_seed(int64_t seed) const { state_.assign(state_of_seed(seed)); }

}  // namespace weft::random
