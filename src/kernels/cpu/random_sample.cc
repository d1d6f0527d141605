#include "kernels/cpu/random_sample.h"

#include <limits>
#include <utility>
#include <vector>

#include "kernels/cpu/random_fill.h"

namespace weft_engine::kernels {

using namespace weft_engine::core;

namespace {

// A draw that is never accepted (a rate that is not a number, or too big for its type) ends here.
constexpr int kMaxDraws = 10000;

// Draws in blocks and hands each block out from its end, as TensorFlow's samplers do.
class UniformBuffer {
 public:
  explicit UniformBuffer(Philox& gen) : gen_(gen) {}
  double operator()() {
    if (left_ == 0) {
      const Philox::Block b = gen_();
      values_[0] = uniform_double(b[0], b[1]);
      values_[1] = uniform_double(b[2], b[3]);
      left_ = 2;
    }
    return values_[--left_];
  }

 private:
  Philox& gen_;
  double values_[2];
  int left_ = 0;
};

class NormalBuffer {
 public:
  explicit NormalBuffer(Philox& gen) : gen_(gen) {}
  double operator()() {
    if (left_ == 0) {
      const Philox::Block b = gen_();
      box_muller(b[0], b[1], b[2], b[3], values_);
      left_ = 2;
    }
    return values_[--left_];
  }

 private:
  Philox& gen_;
  double values_[2];
  int left_ = 0;
};

// To an integer as the processor does it: what does not fit becomes the least number.
template <class U, class X>
U to_output(X x) {
  if constexpr (std::is_integral_v<U>) {
    const double d = double(x), limit = std::ldexp(1.0, std::numeric_limits<U>::digits);
    return d >= -limit && d < limit ? U(d) : std::numeric_limits<U>::min();
  } else {
    return U(x);
  }
}

double gamma_one(double alpha, Philox gen) {
  if (alpha == 1.0) {  // exponential
    const Philox::Block b = gen();
    return -std::log1p(-uniform_double(b[2], b[3]));
  }
  const bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  NormalBuffer normal(gen);
  UniformBuffer uniform(gen);
  for (int draw = 0;; ++draw) {
    const double x = normal();
    double v = 1 + c * x;
    if (v <= 0 && draw < kMaxDraws) continue;
    v = v * v * v;
    const double u = uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v)) || draw >= kMaxDraws) {
      const double result = d * v;
      return small ? result * std::pow(uniform(), 1 / alpha) : result;
    }
  }
}

template <class T>
void gamma_samples(ThreadPool& pool, const Philox& gen, const T* alpha, int64_t alphas, int64_t samples, T* out) {
  pool.parallel_for(alphas * samples, 200, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Philox local = gen;
      local.skip(kReservedBlocks * uint64_t(i));
      const int64_t p = i / samples;
      out[(i % samples) * alphas + p] = T(gamma_one(double(alpha[p]), local));
    }
  });
}

double poisson_one(double rate, Philox gen) {
  UniformBuffer uniform(gen);
  if (rate < 10) {
    const double bound = std::exp(-rate);
    double product = 1, x = 0;
    for (int draw = 0; draw < kMaxDraws; ++draw) {
      product = product * uniform();
      if (product <= bound) break;
      x += 1;
    }
    return x;
  }
  if (!std::isfinite(rate)) return rate;
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (int draw = 0;; ++draw) {
    const double u = uniform() - 0.5, v = uniform();
    const double shifted = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if ((shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) || draw >= kMaxDraws) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    const double s = std::log(v * inv_alpha / (a / (shifted * shifted) + b));
    const double t = -rate + k * log_rate - std::lgamma(k + 1);
    if (s <= t) return k;
  }
}

template <class F>
bool with_type(DType t, F f) {
  switch (t) {
    case DType::kHalf: f(half()); return true;
    case DType::kFloat: f(float()); return true;
    case DType::kDouble: f(double()); return true;
    case DType::kInt32: f(int32_t()); return true;
    case DType::kInt64: f(int64_t()); return true;
    default: return false;
  }
}

// Writes one number at out[at]; the loops below make doubles, so that only this part depends on the output type.
using Store = void (*)(void* out, int64_t at, double value);
Store store_of(DType t) {
  switch (t) {
    case DType::kHalf: return [](void* o, int64_t i, double v) { static_cast<half*>(o)[i] = half(float(v)); };
    case DType::kFloat: return [](void* o, int64_t i, double v) { static_cast<float*>(o)[i] = float(v); };
    case DType::kDouble: return [](void* o, int64_t i, double v) { static_cast<double*>(o)[i] = v; };
    case DType::kInt32: return [](void* o, int64_t i, double v) { static_cast<int32_t*>(o)[i] = to_output<int32_t>(v); };
    case DType::kInt64: return [](void* o, int64_t i, double v) { static_cast<int64_t*>(o)[i] = to_output<int64_t>(v); };
    default: return nullptr;
  }
}

double binomial_inversion(double count, double prob, Philox gen) {
  UniformBuffer uniform(gen);
  double sum = 0;
  int64_t n = 0;
  for (; n < (int64_t(1) << 20); ++n) {
    sum += std::ceil(std::log(uniform()) / std::log1p(-prob));
    if (!(sum <= count)) break;
  }
  return double(n);
}

// What is left of log(k!) after Stirling's formula.
double stirling_tail(double k) {
  static constexpr double kTail[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                                     0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
  if (k >= 0 && k <= 9) return kTail[int(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

double binomial_rejection(double count, double prob, Philox gen) {
  const double deviation = std::sqrt(count * prob * (1 - prob));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob, c = count * prob + 0.5;
  const double v_r = 0.92 - 4.2 / b, r = prob / (1 - prob), alpha = (2.83 + 5.1 / b) * deviation;
  const double m = std::floor((count + 1) * prob);
  UniformBuffer uniform(gen);
  for (int draw = 0;; ++draw) {
    const double u = uniform() - 0.5;
    double v = uniform();
    const double us = 0.5 - std::abs(u), k = std::floor((2 * a / us + b) * u + c);
    if ((us >= 0.07 && v <= v_r) || draw >= kMaxDraws) return k;
    if (k < 0 || k > count) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) + (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + stirling_tail(m) + stirling_tail(count - m) - stirling_tail(k) -
                         stirling_tail(count - k);
    if (v <= bound) return k;
  }
}

// The sample of index i; T is the parameters' type, in which the choice of method is made.
template <class T>
double binomial_one(T count, T prob, const Philox& gen, int64_t i) {
  const double n = double(count);
  if (n <= 0 || prob <= T(0)) return 0;
  if (prob >= T(1)) return n;
  if (!(prob <= T(0.5)) && !(prob > T(0.5))) return std::numeric_limits<double>::quiet_NaN();
  const bool flip = prob > T(0.5);
  const T p = flip ? T(T(1) - prob) : prob;
  Philox local = gen;
  double k;
  if (T(count * p) >= T(10)) {
    local.skip(256 * uint64_t(i));
    k = binomial_rejection(n, double(p), local);
  } else {
    local.skip(42 * uint64_t(i));
    k = binomial_inversion(n, double(p), local);
  }
  return flip ? n - k : k;
}

}  // namespace

void sample_gamma(ThreadPool& pool, const Philox& gen, DType dtype, const void* alpha, int64_t alphas, int64_t samples, void* out) {
  auto go = [&]<class T>(T) { gamma_samples(pool, gen, static_cast<const T*>(alpha), alphas, samples, static_cast<T*>(out)); };
  switch (dtype) {
    case DType::kHalf: return go(half());
    case DType::kBfloat16: return go(bfloat16());
    case DType::kFloat: return go(float());
    case DType::kDouble: return go(double());
    default: return;
  }
}

Status sample_poisson(ThreadPool& pool, const Philox& gen, DType rate_type, const void* rate, int64_t rates, int64_t samples, DType out_type,
                      void* out) {
  const Store store = store_of(out_type);
  if (!store) return unimplemented("no kernel for type ", out_type);
  const bool known = with_type(rate_type, [&]<class T>(T) {
    const T* in = static_cast<const T*>(rate);
    pool.parallel_for(rates * samples, 250, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Philox local = gen;
        local.skip(kReservedBlocks * uint64_t(i));
        const int64_t p = i / samples;
        store(out, (i % samples) * rates + p, poisson_one(double(in[p]), local));
      }
    });
  });
  return known ? Status() : unimplemented("no kernel for type ", rate_type);
}

Status sample_binomial(ThreadPool& pool, const Philox& gen, DType type, Parameter counts, Parameter probs, int64_t batches, int64_t samples,
                       DType out_type, void* out) {
  const Store store = store_of(out_type);
  if (!store) return unimplemented("no kernel for type ", out_type);
  const bool known = with_type(type, [&]<class T>(T) {
    const T *n = static_cast<const T*>(counts.data), *p = static_cast<const T*>(probs.data);
    pool.parallel_for(batches * samples, 400, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / samples;
        store(out, (i % samples) * batches + b, binomial_one<T>(n[counts.index ? counts.index[b] : b], p[probs.index ? probs.index[b] : b], gen, i));
      }
    });
  });
  return known ? Status() : unimplemented("no kernel for type ", type);
}

namespace {

constexpr int kMaxIterations = 1000;

// One interval: which method, and the draws of it. Numbers are rounded to T after each step, as TensorFlow's are.
template <class T>
struct TruncatedNormal {
  T mean, deviation, low, high;
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;

  static void uniform(Philox& gen, T* out) {
    const Philox::Block b = gen();
    if constexpr (std::is_same_v<T, double>) {
      out[0] = uniform_double(b[0], b[1]);
      out[1] = uniform_double(b[2], b[3]);
    } else {
      for (size_t i = 0; i < 4; ++i) {
        if constexpr (std::is_same_v<T, half>) out[i] = uniform_half(b[i]);
        else out[i] = uniform_float(b[i]);
      }
    }
  }
  static void normal(Philox& gen, T* out) {
    const Philox::Block b = gen();
    if constexpr (std::is_same_v<T, double>) {
      box_muller(b[0], b[1], b[2], b[3], out);
    } else {
      float f[4];
      box_muller(b[0], b[1], f);
      box_muller(b[2], b[3], f + 2);
      for (int i = 0; i < 4; ++i) out[i] = T(f[i]);
    }
  }

  // put(value) says whether more are wanted.
  template <class Put>
  Status run(Philox& gen, Put put) const {
    const T factor = T(std::sqrt(T(low * low) + T(4)));
    const T cutoff = T(2) * T(std::exp(T(0.5) + T(low * T(low - factor)) / T(4))) / T(low + factor);
    const T width = high - low;
    const T inside = T(1.3);
    if ((low < -inside && high >= T(0)) || (high > inside && low <= T(0))) return by_rejection(gen, put);
    return width < cutoff ? by_uniform(gen, width, put) : by_exponential(gen, factor, put);
  }
  template <class Put>
  Status by_rejection(Philox& gen, Put put) const {
    for (int misses = 0;;) {
      T draws[4];
      normal(gen, draws);
      for (int i = 0; i < kGroup; ++i) {
        if (draws[i] >= low && draws[i] <= high) {
          if (!put(T(draws[i] * deviation + mean))) return {};
          misses = 0;
        } else if (++misses > kMaxIterations) {
          return internal_error("TruncatedNormal randn rejection sampler failed to accept a sample.");
        }
      }
    }
  }
  template <class Put>
  Status by_uniform(Philox& gen, T width, Put put) const {
    const T plus = low < T(0) ? T(0) : T(low * low);
    for (int misses = 0;;) {
      T z[4], u[4];
      uniform(gen, z);
      uniform(gen, u);
      for (int i = 0; i < kGroup; ++i) {
        z[i] = z[i] * width + low;
        const T g = (plus - z[i] * z[i]) / T(2);
        if (u[i] <= T(std::exp(g))) {
          if (!put(T(z[i] * deviation + mean))) return {};
          misses = 0;
        } else if (++misses >= kMaxIterations) {
          return internal_error("TruncatedNormal uniform rejection sampler failed to  accept a sample.");
        }
      }
    }
  }
  template <class Put>
  Status by_exponential(Philox& gen, T factor, Put put) const {
    const T alpha = (low + factor) / T(2);
    for (int misses = 0;;) {
      T draws[4];
      uniform(gen, draws);
      for (int i = 0; i < kGroup; i += 2) {
        const T z = -T(std::log(draws[i])) / alpha + low;
        const T x = low < alpha ? T(alpha - z) : T(low - alpha);
        if (draws[i + 1] <= T(std::exp(-x * x / T(2))) && z < high) {
          if (!put(T(z * deviation + mean))) return {};
          misses = 0;
        } else if (++misses >= kMaxIterations) {
          return internal_error("TruncatedNormal exponential distribution rejection sampler failed to accept a sample.");
        }
      }
    }
  }
};

template <class T>
Status truncated_normal(const Philox& gen, const TruncatedNormalJob& job, T* out) {
  auto at = [](const Parameter& p, int64_t b) { return static_cast<const T*>(p.data)[p.index ? p.index[b] : b]; };
  Philox local = gen;
  for (int64_t b = 0; b < job.batches; ++b) {
    const T mean = at(job.means, b);
    T deviation = at(job.deviations, b), low = at(job.minima, b), high = at(job.maxima, b);
    if (!(deviation > T(0) && low < high && (std::isfinite(float(low)) || std::isfinite(float(high))))) return invalid_argument("Invalid parameters");
    if ((std::isinf(float(low)) && low < T(0)) || high < mean) {  // turn it round: the finite or nearer end becomes the lower one
      std::swap(low, high);
      deviation = -deviation;
    }
    const int64_t first = b * job.samples, count = std::min(job.samples, job.limit - first);
    if (count <= 0) break;
    int64_t s = 0;
    const TruncatedNormal<T> interval{mean, deviation, (low - mean) / deviation, (high - mean) / deviation};
    WEFT_RETURN_IF_ERROR(interval.run(local, [&](T value) {
      out[job.strided ? s * job.batches + b : first + s] = value;
      return ++s < count;
    }));
  }
  return {};
}

}  // namespace

Status sample_truncated_normal(const Philox& gen, DType dtype, const TruncatedNormalJob& job, void* out) {
  switch (dtype) {
    case DType::kHalf: return truncated_normal(gen, job, static_cast<half*>(out));
    case DType::kFloat: return truncated_normal(gen, job, static_cast<float*>(out));
    case DType::kDouble: return truncated_normal(gen, job, static_cast<double*>(out));
    default: return unimplemented("no kernel for type ", dtype);
  }
}

Status sample_classes(const Philox& gen, DType type, const void* logits, int64_t rows, int64_t classes, int64_t samples, DType out_type, void* out) {
  PhiloxStream stream(gen);  // rows one after the other: they share one stream of numbers
  std::vector<double> row(static_cast<size_t>(classes)), cdf(static_cast<size_t>(classes));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < classes; ++j) {
      const int64_t i = r * classes + j;
      double& v = row[size_t(j)];
      if (type == DType::kFloat) v = static_cast<const float*>(logits)[i];
      else if (type == DType::kDouble) v = static_cast<const double*>(logits)[i];
      else if (type == DType::kHalf) v = float(static_cast<const half*>(logits)[i]);
      else if (type == DType::kBfloat16) v = float(static_cast<const bfloat16*>(logits)[i]);
      else return unimplemented("no kernel for type ", type);
    }
    double largest = std::numeric_limits<double>::lowest(), total = 0;
    for (double v : row) {
      if (std::isfinite(v)) largest = std::max(largest, v);
    }
    for (size_t j = 0; j < row.size(); ++j) {
      if (std::isfinite(row[j])) total += std::exp(row[j] - largest);
      cdf[j] = total;
    }
    for (int64_t s = 0; s < samples; ++s) {
      const double wanted = stream.uniform_wide() * total;
      const int64_t found = std::upper_bound(cdf.begin(), cdf.end(), wanted) - cdf.begin();
      if (out_type == DType::kInt32) static_cast<int32_t*>(out)[r * samples + s] = int32_t(found);
      else static_cast<int64_t*>(out)[r * samples + s] = found;
    }
  }
  return {};
}

template <class T>
void shuffle_elements(const Philox& gen, std::span<T> x) {
  PhiloxStream stream(gen);
  constexpr int64_t kPrefetchDistance = 32;  // whose partners are on their way from memory
  int64_t partner[kPrefetchDistance];
  const int64_t n = int64_t(x.size());
  for (int64_t first = 0; first + 1 < n; first += kPrefetchDistance) {
    const int64_t count = std::min(kPrefetchDistance, n - 1 - first);
    for (int64_t k = 0; k < count; ++k) {
      const uint32_t left = uint32_t(n - first - k);
      partner[k] = first + k + (left ? stream.next() % left : 0);
      __builtin_prefetch(&x[size_t(partner[k])], 1);
    }
    for (int64_t k = 0; k < count; ++k) std::swap(x[size_t(first + k)], x[size_t(partner[k])]);
  }
}
template void shuffle_elements(const Philox&, std::span<uint8_t>);
template void shuffle_elements(const Philox&, std::span<uint16_t>);
template void shuffle_elements(const Philox&, std::span<uint32_t>);
template void shuffle_elements(const Philox&, std::span<uint64_t>);

void shuffle_indices(const Philox& gen, std::span<int64_t> order) {
  for (size_t i = 0; i < order.size(); ++i) order[i] = int64_t(i);
  shuffle_elements(gen, std::span(reinterpret_cast<uint64_t*>(order.data()), order.size()));
}

uint64_t shuffle_index(uint64_t index, const std::array<uint32_t, 3>& key, uint64_t max_index, int64_t rounds) {
  if (max_index == 0) return 0;
  int block = int(std::ceil(std::log2(double(max_index))));
  block = std::min(std::max(block + block % 2, 16), 64);
  const int w = block / 2;
  const uint64_t mask = (uint64_t(1) << w) - 1;
  auto left_by = [&](uint64_t x, int r) { return (x << r | x >> (w - r)) & mask; };
  auto mix = [&](uint64_t x) { return (left_by(x, 1) & left_by(x, 8)) ^ left_by(x, 2); };
  std::vector<uint64_t> keys{key[0] & mask, key[1] & mask, key[2] & mask};
  uint64_t z = 0x7369f885192c0ef5u & mask;
  for (int64_t i = 3; i < rounds; ++i) {
    const uint64_t last = keys.back();
    keys.push_back((0xfffffffcu & mask) ^ (z & 1) ^ keys[size_t(i - 3)] ^ left_by(last, w - 3) ^ left_by(last, w - 4));
    z >>= 1;
  }
  if (keys.size() % 2) keys.push_back(0);
  for (;;) {
    uint64_t left = index >> w & mask, right = index & mask;
    for (size_t i = 0; i < keys.size(); i += 2) {
      left ^= mix(right) ^ keys[i];
      right ^= mix(left) ^ keys[i + 1];
    }
    index = left << w | right;
    if (index <= max_index) return index;
  }
}

namespace {

double digamma(double x) {
  double result = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    result -= M_PI / std::tan(M_PI * x);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double f = 1 / (x * x);  // asymptotic series
  return result + std::log(x) - 0.5 / x -
         f * (1.0 / 12 - f * (1.0 / 120 - f * (1.0 / 252 - f * (1.0 / 240 - f * (1.0 / 132 - f * (691.0 / 32760 - f / 12))))));
}

// The power series of the lower incomplete gamma function, and its derivative term by term.
double derivative_by_series(double a, double x) {
  double r = a, term = 1, sum = 1, term_da = 0, sum_da = 0;
  for (int i = 0; i < 2000; ++i) {
    r += 1;
    const double ratio_da = -x / (r * r);
    term_da = term_da * (x / r) + term * ratio_da;
    term *= x / r;
    sum += term;
    sum_da += term_da;
    if (std::abs(term_da) <= std::numeric_limits<double>::epsilon() * std::abs(sum_da)) break;
  }
  return -(sum_da + sum * (std::log(x) - digamma(a + 1))) * x / a;
}

// The continued fraction of the upper one (Cephes), and its derivative step by step.
double derivative_by_fraction(double a, double x) {
  constexpr double kBig = 4503599627370496.0;
  double y = 1 - a, z = x + y + 1;
  double pk2 = 1, qk2 = x, pk1 = x + 1, qk1 = z * x, ans = pk1 / qk1;
  double dpk2 = 0, dqk2 = 0, dpk1 = 0, dqk1 = -x, dans = (dpk1 - ans * dqk1) / qk1;
  for (int i = 0; i < 2000; ++i) {
    const double c = i + 1;
    y += 1;
    z += 2;
    const double yc = y * c, dy = -1, dz = -1;
    const double pk = pk1 * z - pk2 * yc, qk = qk1 * z - qk2 * yc;
    const double dpk = dpk1 * z + pk1 * dz - dpk2 * yc - pk2 * dy * c, dqk = dqk1 * z + qk1 * dz - dqk2 * yc - qk2 * dy * c;
    if (qk != 0) {
      ans = pk / qk;
      const double before = dans;
      dans = (dpk - ans * dqk) / qk;
      if (std::abs(dans - before) <= std::numeric_limits<double>::epsilon()) break;
    }
    pk2 = pk1, pk1 = pk, qk2 = qk1, qk1 = qk;
    dpk2 = dpk1, dpk1 = dpk, dqk2 = dqk1, dqk1 = dqk;
    if (std::abs(pk) > kBig) {
      for (double* v : {&pk2, &pk1, &qk2, &qk1, &dpk2, &dpk1, &dqk2, &dqk1}) *v /= kBig;
    }
  }
  return (dans + ans * (std::log(x) - digamma(a))) * x;
}

}  // namespace

double gamma_sample_derivative(double a, double x) {
  if (x == 0) return 0;
  if (!(x > 0) || !(a > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(x)) return std::isinf(a) ? std::numeric_limits<double>::quiet_NaN() : -0.0;
  return x > 1 && x > a ? derivative_by_fraction(a, x) : derivative_by_series(a, x);
}

float gamma_sample_derivative(float a, float x) { return float(gamma_sample_derivative(double(a), double(x))); }

}  // namespace weft_engine::kernels
