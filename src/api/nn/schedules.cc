// Learning rates by the number of steps, in float32 and in Keras' order of operations.
#include <numbers>

#include "api/nn/train_ops.h"
#include "weft/optim.h"
#include "weft/raw/math.h"

namespace weft::nn {
namespace {

Tensor f(double v) { return Tensor(float(v)); }
Tensor f(const Tensor& step) { return cast(step, DType::float32); }

void check_steps(int64_t steps, const char* name) {
  if (steps <= 0)
    throw Error(Code::kInvalidArgument, std::string("Argument `") + name + "` must be > 0. Received: " + name + "=" + std::to_string(steps));
}

Tensor half_wave(const Tensor& fraction, double from, double alpha) {
  const Tensor cosine = f(0.5) * (f(1) + raw::Cos(f(std::numbers::pi) * fraction));
  return f(from) * (f(1 - alpha) * cosine + f(alpha));
}

}  // namespace

Tensor ExponentialDecay::operator()(const Tensor& step) const {
  check_steps(decay_steps, "decay_steps");
  Tensor p = f(step) / f(double(decay_steps));
  if (staircase) p = floor(p);
  return f(initial_learning_rate) * pow(f(decay_rate), p);
}

Tensor PiecewiseConstantDecay::operator()(const Tensor& step) const {
  if (boundaries.empty() || boundaries.size() + 1 != values.size())
    throw Error(Code::kInvalidArgument, "The length of boundaries should be 1 less than the length of values. Received: boundaries of length " +
                                            std::to_string(boundaries.size()) + ", and values of length " + std::to_string(values.size()) + ".");
  Tensor rate = f(values.back());
  for (size_t i = boundaries.size(); i-- > 0;) rate = where(step <= number_like(step, double(boundaries[i])), f(values[i]), rate);
  return rate;
}

Tensor PolynomialDecay::operator()(const Tensor& step) const {
  check_steps(decay_steps, "decay_steps");
  Tensor done = f(step), steps = f(double(decay_steps));
  if (cycle) steps = steps * where(done == f(0), f(1), raw::Ceil(done / steps));
  else done = minimum(done, steps);
  const Tensor p = done / steps;
  return (f(initial_learning_rate) - f(end_learning_rate)) * pow(f(1) - p, f(power)) + f(end_learning_rate);
}

Tensor InverseTimeDecay::operator()(const Tensor& step) const {
  check_steps(decay_steps, "decay_steps");
  Tensor p = f(step) / f(double(decay_steps));
  if (staircase) p = floor(p);
  return f(initial_learning_rate) / (f(1) + f(decay_rate) * p);
}

Tensor CosineDecay::operator()(const Tensor& step) const {
  check_steps(decay_steps, "decay_steps");
  const Tensor steps = f(double(decay_steps));
  if (!warmup_target) return half_wave(minimum(f(step), steps) / steps, initial_learning_rate, alpha);
  const Tensor warmup = f(double(warmup_steps)), done = minimum(f(step), steps + warmup);
  const Tensor rising = (f(*warmup_target) - f(initial_learning_rate)) * (done / warmup) + f(initial_learning_rate);
  return where(done < warmup, rising, half_wave((done - warmup) / steps, *warmup_target, alpha));
}

Tensor CosineDecayRestarts::operator()(const Tensor& step) const {
  check_steps(first_decay_steps, "first_decay_steps");
  Tensor fraction = f(step) / f(double(first_decay_steps)), restarts;
  if (float(t_mul) == 1.f) {
    restarts = floor(fraction);
    fraction = fraction - restarts;
  } else {
    const Tensor t = f(t_mul);
    restarts = floor(log(f(1) - fraction * (f(1) - t)) / log(t));
    const Tensor power = pow(t, restarts);
    fraction = (fraction - (f(1) - power) / (f(1) - t)) / power;
  }
  const Tensor cosine = f(0.5) * pow(f(m_mul), restarts) * (f(1) + raw::Cos(f(std::numbers::pi) * fraction));
  return f(initial_learning_rate) * ((f(1) - f(alpha)) * cosine + f(alpha));
}

}  // namespace weft::nn
