#include "weft/nn/initializers.h"

#include <cmath>
#include <map>
#include <mutex>
#include <random>

#include "api/nn/support.h"
#include "weft/raw/array.h"
#include "weft/raw/linalg.h"
#include "weft/raw/math.h"
#include "weft/raw/random.h"

namespace weft::nn {

using namespace detail;

namespace {

// Keras makes a pair of an integer seed this way.
Tensor seed_pair(int64_t seed) {
  constexpr int64_t kBound = 2147483646;
  return Tensor{int32_t(seed % kBound), int32_t(0)};
}

struct Seeds {
  std::mutex mutex;
  std::mt19937_64 engine{std::random_device{}()};
};
Seeds& seeds() {
  static auto* s = new Seeds;
  return *s;
}

int64_t seed_or_drawn(int64_t seed) { return seed >= 0 ? seed : draw_seed(); }

double fan_scale(const std::vector<int64_t>& shape, const VarianceScalingOptions& o) {
  double fan_in = 1, fan_out = 1;
  if (shape.size() == 1) {
    fan_in = fan_out = double(shape[0]);
  } else if (shape.size() >= 2) {
    double field = 1;  // of a kernel, whose last two dimensions are the depths
    for (size_t i = 0; i + 2 < shape.size(); ++i) field *= double(shape[i]);
    fan_in = double(shape[shape.size() - 2]) * field;
    fan_out = double(shape.back()) * field;
  }
  const double fan = o.mode == "fan_in" ? fan_in : o.mode == "fan_out" ? fan_out : (fan_in + fan_out) / 2;
  return o.scale / std::max(1.0, fan);
}

Tensor uniform(const std::vector<int64_t>& shape, double low, double high, int64_t seed, DType t) {
  const Tensor a = number(low, t), b = number(high, t);
  return random_uniform(ints(shape), seed_pair(seed), t) * (b - a) + a;
}
Tensor normal(const std::vector<int64_t>& shape, double mean, double stddev, int64_t seed, DType t) {
  return random_normal(ints(shape), seed_pair(seed), t) * number(stddev, t) + number(mean, t);
}
Tensor truncated(const std::vector<int64_t>& shape, double mean, double stddev, int64_t seed, DType t) {
  return raw::StatelessTruncatedNormal(ints(shape), seed_pair(seed), {.dtype = t}) * number(stddev, t) + number(mean, t);
}

Initializer scaled(double scale, const char* mode, const char* distribution, int64_t seed) {
  return initializers::variance_scaling({.scale = scale, .mode = mode, .distribution = distribution, .seed = seed});
}

Initializer named_initializer(const std::string& name) {
  using namespace initializers;
  static const auto* table = new std::map<std::string, Initializer (*)()>{
      {"zeros", [] { return zeros(); }},
      {"ones", [] { return ones(); }},
      {"constant", [] { return constant(0); }},
      {"identity", [] { return identity(); }},
      {"random_normal", [] { return random_normal(); }},
      {"normal", [] { return random_normal(); }},
      {"truncated_normal", [] { return truncated_normal(); }},
      {"random_uniform", [] { return random_uniform(); }},
      {"uniform", [] { return random_uniform(); }},
      {"variance_scaling", [] { return variance_scaling(); }},
      {"glorot_uniform", [] { return glorot_uniform(); }},
      {"glorot_normal", [] { return glorot_normal(); }},
      {"he_uniform", [] { return he_uniform(); }},
      {"he_normal", [] { return he_normal(); }},
      {"lecun_uniform", [] { return lecun_uniform(); }},
      {"lecun_normal", [] { return lecun_normal(); }},
      {"orthogonal", [] { return orthogonal(); }},
  };
  auto it = table->find(name);
  if (it == table->end()) fail(Code::kInvalidArgument, "Could not interpret initializer identifier: " + name);
  return it->second();
}

}  // namespace

void set_random_seed(int64_t seed) {
  std::lock_guard lock(seeds().mutex);
  seeds().engine.seed(uint64_t(seed));
}

int64_t draw_seed() {
  std::lock_guard lock(seeds().mutex);
  return int64_t(seeds().engine() % 1000000000) + 1;
}

Initializer::Initializer(const char* name) : Initializer(named_initializer(name)) {}
Initializer::Initializer(const std::string& name) : Initializer(named_initializer(name)) {}

Tensor Initializer::operator()(const std::vector<int64_t>& shape, DType dtype) const {
  if (!f_) fail(Code::kInvalidArgument, "an initializer that is none was called");
  return f_(shape, dtype);
}

namespace initializers {

Initializer zeros() {
  return [](const std::vector<int64_t>& shape, DType t) { return weft::zeros(shape, t); };
}
Initializer ones() {
  return [](const std::vector<int64_t>& shape, DType t) { return weft::ones(shape, t); };
}
Initializer constant(double value) {
  return [value](const std::vector<int64_t>& shape, DType t) { return raw::Fill(ints(shape), number(value, t)); };
}
Initializer identity(double gain) {
  return [gain](const std::vector<int64_t>& shape, DType t) {
    if (shape.size() != 2)
      fail(Code::kInvalidArgument, "Identity matrix initializer can only be used for 2D matrices. Received: shape=" + text(shape) + " of rank " +
                                       std::to_string(shape.size()) + ".");
    const int64_t n = std::min(shape[0], shape[1]);
    return raw::MatrixSetDiag(weft::zeros(shape, t), raw::Fill(ints({n}), number(gain, t)));
  };
}
Initializer random_normal(const NormalOptions& o) {
  const int64_t seed = seed_or_drawn(o.seed);
  return [o, seed](const std::vector<int64_t>& shape, DType t) { return normal(shape, o.mean, o.stddev, seed, t); };
}
Initializer truncated_normal(const NormalOptions& o) {
  const int64_t seed = seed_or_drawn(o.seed);
  return [o, seed](const std::vector<int64_t>& shape, DType t) { return truncated(shape, o.mean, o.stddev, seed, t); };
}
Initializer random_uniform(const UniformOptions& o) {
  const int64_t seed = seed_or_drawn(o.seed);
  return [o, seed](const std::vector<int64_t>& shape, DType t) { return uniform(shape, o.minval, o.maxval, seed, t); };
}

Initializer variance_scaling(const VarianceScalingOptions& o) {
  if (!(o.scale > 0)) fail(Code::kInvalidArgument, "Argument `scale` must be positive float. Received: scale=" + std::to_string(o.scale));
  if (o.mode != "fan_in" && o.mode != "fan_out" && o.mode != "fan_avg")
    fail(Code::kInvalidArgument, "Invalid `mode` argument: " + o.mode + ". Please use one of 'fan_in', 'fan_out', 'fan_avg'");
  if (o.distribution != "truncated_normal" && o.distribution != "untruncated_normal" && o.distribution != "uniform")
    fail(Code::kInvalidArgument,
         "Invalid `distribution` argument: " + o.distribution + ". Please use one of 'uniform', 'truncated_normal', 'untruncated_normal'");
  const int64_t seed = seed_or_drawn(o.seed);
  return [o, seed](const std::vector<int64_t>& shape, DType t) {
    const double scale = fan_scale(shape, o);
    // The deviation of a normal distribution cut at two.
    if (o.distribution == "truncated_normal") return truncated(shape, 0, std::sqrt(scale) / 0.87962566103423978, seed, t);
    if (o.distribution == "untruncated_normal") return normal(shape, 0, std::sqrt(scale), seed, t);
    const double limit = std::sqrt(3 * scale);
    return uniform(shape, -limit, limit, seed, t);
  };
}
Initializer glorot_uniform(const SeedOptions& o) { return scaled(1, "fan_avg", "uniform", o.seed); }
Initializer glorot_normal(const SeedOptions& o) { return scaled(1, "fan_avg", "truncated_normal", o.seed); }
Initializer he_uniform(const SeedOptions& o) { return scaled(2, "fan_in", "uniform", o.seed); }
Initializer he_normal(const SeedOptions& o) { return scaled(2, "fan_in", "truncated_normal", o.seed); }
Initializer lecun_uniform(const SeedOptions& o) { return scaled(1, "fan_in", "uniform", o.seed); }
Initializer lecun_normal(const SeedOptions& o) { return scaled(1, "fan_in", "truncated_normal", o.seed); }

Initializer orthogonal(const OrthogonalOptions& o) {
  const int64_t seed = seed_or_drawn(o.seed);
  return [o, seed](const std::vector<int64_t>& shape, DType t) {
    if (shape.size() < 2) {
      fail(Code::kInvalidArgument, "The tensor to initialize must be at least two-dimensional. Received: shape=" + text(shape) + " of rank " +
                                       std::to_string(shape.size()) + ".");
    }
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    const int64_t cols = shape.back();
    const Tensor a = normal({std::max(rows, cols), std::min(rows, cols)}, 0, 1, seed, t);
    const raw::QrResult qr = raw::Qr(a);
    // The signs of R's diagonal make the distribution uniform.
    Tensor q = qr.q * raw::Sign(raw::MatrixDiagPart(qr.r_));
    if (rows < cols) q = transpose(q, {1, 0});
    return number(o.gain, t) * reshape(q, shape);
  };
}

}  // namespace initializers

namespace {

Regularizer named_regularizer(const std::string& name) {
  if (name == "l1") return regularizers::l1();
  if (name == "l2") return regularizers::l2();
  if (name == "l1_l2") return regularizers::l1_l2();
  if (name == "orthogonal_regularizer" || name == "orthogonal") return regularizers::orthogonal();
  fail(Code::kInvalidArgument, "Could not interpret regularizer identifier: " + name);
}

Constraint named_constraint(const std::string& name) {
  if (name == "max_norm") return constraints::max_norm();
  if (name == "min_max_norm") return constraints::min_max_norm();
  if (name == "unit_norm") return constraints::unit_norm();
  if (name == "non_neg") return constraints::non_neg();
  fail(Code::kInvalidArgument, "Could not interpret constraint identifier: " + name);
}

Tensor normalized(const Tensor& x, int64_t axis) {
  const Tensor norm = weft::sqrt(reduce_sum(square(x), {.axis = {axis}, .keepdims = true}));
  return x / maximum(norm, number(1e-12, x));
}

constexpr double kEpsilon = 1e-7;

Tensor norms(const Tensor& w, const std::vector<int64_t>& axis) {
  return weft::sqrt(maximum(reduce_sum(square(w), {.axis = axis, .keepdims = true}), number(0, w)));
}

}  // namespace

Regularizer::Regularizer(const char* name) : Regularizer(named_regularizer(name)) {}
Regularizer::Regularizer(const std::string& name) : Regularizer(named_regularizer(name)) {}

namespace regularizers {

Regularizer l1(double factor) {
  return [factor](const Tensor& x) { return number(factor, x) * reduce_sum(weft::abs(x)); };
}
Regularizer l2(double factor) {
  return [factor](const Tensor& x) { return number(factor, x) * reduce_sum(square(x)); };
}
Regularizer l1_l2(double l1, double l2) {
  return [l1, l2](const Tensor& x) {
    Tensor sum = number(0, x);
    if (l1 != 0) sum = sum + number(l1, x) * reduce_sum(weft::abs(x));
    if (l2 != 0) sum = sum + number(l2, x) * reduce_sum(square(x));
    return sum;
  };
}
Regularizer orthogonal(double factor, const std::string& mode) {
  if (mode != "rows" && mode != "columns") {
    fail(Code::kInvalidArgument, "Invalid value for argument `mode`. Expected one of {\"rows\", \"columns\"}. Received: mode=" + mode);
  }
  const bool rows = mode == "rows";
  return [factor, rows](const Tensor& x) {
    const std::vector<int64_t> shape = x.shape();
    if (shape.size() != 2) fail(Code::kInvalidArgument, "Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape=" + text(shape));
    const Tensor n = normalized(x, rows ? 1 : 0);
    const Tensor product = rows ? matmul(n, n, {.transpose_b = true}) : matmul(n, n, {.transpose_a = true});
    const int64_t size = rows ? shape[0] : shape[1];
    const Tensor off_diagonal = product * (weft::ones({size, size}, x.dtype()) - initializers::identity()({size, size}, x.dtype()));
    const double pairs = double(size) * (double(size) - 1) / 2;
    return number(factor * 0.5, x) * reduce_sum(weft::abs(off_diagonal)) / number(pairs, x);
  };
}

}  // namespace regularizers

Constraint::Constraint(const char* name) : Constraint(named_constraint(name)) {}
Constraint::Constraint(const std::string& name) : Constraint(named_constraint(name)) {}

namespace constraints {

Constraint max_norm(double max_value, std::vector<int64_t> axis) {
  return [max_value, axis](const Tensor& w) {
    const Tensor n = norms(w, axis);
    return w * (minimum(n, number(max_value, w)) / (n + number(kEpsilon, w)));
  };
}
Constraint min_max_norm(double min_value, double max_value, double rate, std::vector<int64_t> axis) {
  return [=](const Tensor& w) {
    const Tensor n = norms(w, axis);
    const Tensor desired = number(rate, w) * minimum(maximum(n, number(min_value, w)), number(max_value, w)) + number(1 - rate, w) * n;
    return w * (desired / (n + number(kEpsilon, w)));
  };
}
Constraint unit_norm(std::vector<int64_t> axis) {
  return [axis](const Tensor& w) { return w / (norms(w, axis) + number(kEpsilon, w)); };
}
Constraint non_neg() {
  return [](const Tensor& w) { return maximum(w, number(0, w)); };
}

}  // namespace constraints
}  // namespace weft::nn
