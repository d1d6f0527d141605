// Random numbers that are functions of their inputs alone: the same seed, or key and counter, gives the
// same numbers, TensorFlow's numbers.
#include "kernels/cpu/random_fill.h"
#include "kernels/cpu/sobol.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/random/random_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::Distribution;
using kernels::Philox;

namespace {

// Shape in input 0 and seed in input 1; draws nothing for an empty result.
template <class Fill>
Status run_seeded(KernelContext& c, Fill fill) {
  WEFT_ASSIGN(Shape shape, shape_input(c, 0));
  const Tensor& seed = c.input(1);
  if (seed.rank() != 1 || seed.dim(0) != 2) return invalid_argument("seed must have shape [2], not ", seed.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  WEFT_ASSIGN(Philox gen, stateless_seed(c, 1));
  return fill(gen, *out);
}

// Shape in input 0, key, counter and algorithm behind it.
template <class Fill>
Status run_keyed(KernelContext& c, Fill fill) {
  WEFT_ASSIGN(KeyCounter k, key_counter_input(c, 1));
  WEFT_ASSIGN(Shape shape, shape_input(c, 0));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  return fill(k, *out);
}

template <Distribution kDistribution>
Status run_floats(KernelContext& c) {
  return run_seeded(c, [&](const Philox& gen, Tensor& out) { return fill_floats(c, gen, int(kDistribution), out); });
}

template <Distribution kDistribution>
Status run_floats_v2(KernelContext& c) {
  return run_keyed(c, [&](const KeyCounter& k, Tensor& out) {
    WEFT_RETURN_IF_ERROR(k.check());
    return fill_floats(c, k.philox, int(kDistribution), out);
  });
}

Status run_full_int(KernelContext& c) {
  return run_seeded(c, [&](const Philox& gen, Tensor& out) {
    fill_bits(c, gen, out);
    return Status();
  });
}

Status run_full_int_v2(KernelContext& c) {
  return run_keyed(c, [&](const KeyCounter& k, Tensor& out) {
    WEFT_RETURN_IF_ERROR(k.check());
    fill_bits(c, k.philox, out);
    return Status();
  });
}

Status run_uniform_int(KernelContext& c) {
  return run_seeded(c, [&](const Philox& gen, Tensor& out) {
    WEFT_RETURN_IF_ERROR(check_int_range(c, 2));
    fill_int_range(c, gen, 2, out);
    return Status();
  });
}

Status run_uniform_int_v2(KernelContext& c) {
  return run_keyed(c, [&](const KeyCounter& k, Tensor& out) {
    WEFT_RETURN_IF_ERROR(check_int_range(c, 4));
    WEFT_RETURN_IF_ERROR(k.check());
    fill_int_range(c, k.philox, 4, out);
    return Status();
  });
}

Status sample_gammas(KernelContext& c, const Philox& gen, const Tensor& alpha, Tensor& out) {
  if (!ends_with(out.shape(), alpha.shape())) return invalid_argument("Shape passed in must end with broadcasted shape.");
  const int64_t alphas = alpha.num_elements();
  if (alphas <= 0) return invalid_argument("Input alpha should have non-zero element count, got: ", alphas);
  kernels::sample_gamma(c.pool(), gen, alpha.dtype(), alpha.raw(), alphas, out.num_elements() / alphas, out.raw());
  return {};
}

Status run_gamma_v2(KernelContext& c) {
  return run_seeded(c, [&](const Philox& gen, Tensor& out) { return sample_gammas(c, gen, c.input(2), out); });
}

Status run_gamma_v3(KernelContext& c) {
  return run_keyed(c, [&](const KeyCounter& k, Tensor& out) {
    WEFT_RETURN_IF_ERROR(k.check());
    return sample_gammas(c, k.philox, c.input(4), out);
  });
}

Status run_poisson(KernelContext& c) {
  return run_seeded(c, [&](const Philox& gen, Tensor& out) {
    const Tensor& rate = c.input(2);
    if (!ends_with(out.shape(), rate.shape())) return invalid_argument("Shape passed in must end with broadcasted shape.");
    const int64_t rates = rate.num_elements();
    return kernels::sample_poisson(c.pool(), gen, rate.dtype(), rate.raw(), rates, out.num_elements() / rates, out.dtype(), out.raw());
  });
}

Status run_binomial(KernelContext& c) {
  const Tensor &counts = c.input(2), &probs = c.input(3);
  auto b = Broadcasting::of({counts.shape(), probs.shape()});
  if (!b) return invalid_argument("counts and probs must have compatible batch dimensions: ", counts.shape(), " vs. ", probs.shape());
  if (c.input(0).rank() != 1) return invalid_argument("Input shape should be a vector, got shape: ", c.input(0).shape());
  WEFT_ASSIGN(Shape shape, shape_input(c, 0));
  if (!ends_with(shape, b->shape())) return invalid_argument("Shape passed in must end with broadcasted shape.");
  WEFT_ASSIGN(Philox gen, stateless_seed(c, 1));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const int64_t batches = b->shape().num_elements();
  return kernels::sample_binomial(c.pool(), gen, counts.dtype(), b->parameter(0, counts), b->parameter(1, probs), batches,
                                  out->num_elements() / batches, out->dtype(), out->raw());
}

Status run_truncated_normal(KernelContext& c) {
  WEFT_ASSIGN(Philox gen, stateless_seed(c, 1));
  auto b = Broadcasting::of({c.input(2).shape(), c.input(3).shape(), c.input(4).shape(), c.input(5).shape()});
  if (!b)
    return invalid_argument("means, stddevs, minvals, maxvals must have compatible batch dimensions: ", c.input(2).shape(), " vs. ",
                            c.input(3).shape(), " vs. ", c.input(4).shape(), " vs. ", c.input(5).shape());
  if (c.input(0).rank() != 1) return invalid_argument("Input shape should be a vector, got shape: ", c.input(0).shape());
  WEFT_ASSIGN(Shape shape, shape_input(c, 0));
  if (!ends_with(shape, b->shape())) return invalid_argument("Shape passed in must end with broadcasted shape.");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const int64_t batches = b->shape().num_elements();
  kernels::TruncatedNormalJob job{.means = b->parameter(0, c.input(2)),
                                  .deviations = b->parameter(1, c.input(3)),
                                  .minima = b->parameter(2, c.input(4)),
                                  .maxima = b->parameter(3, c.input(5)),
                                  .batches = batches,
                                  .samples = out->num_elements() / batches,
                                  .limit = out->num_elements(),
                                  .strided = true};
  return kernels::sample_truncated_normal(gen, out->dtype(), job, out->raw());
}

Status run_stateless_multinomial(KernelContext& c) {
  WEFT_ASSIGN(Philox gen, stateless_seed(c, 2));
  WEFT_RETURN_IF_ERROR(check_multinomial(c));
  return run_multinomial(c, gen);
}

Status run_stateless_shuffle(KernelContext& c) {
  WEFT_ASSIGN(KeyCounter k, key_counter_input(c, 1));
  WEFT_RETURN_IF_ERROR(k.check());
  const Tensor& value = c.input(0);
  if (value.num_elements() <= 1 || value.dim(0) <= 1) {
    c.set_output(0, value);
    return {};
  }
  return shuffle_rows(c, value, k.philox);
}

Status run_stateless_crop_box(KernelContext& c) {
  WEFT_ASSIGN(CropOptions options, CropOptions::of(c.node()));
  WEFT_ASSIGN(Philox gen, stateless_seed(c, 3));
  const Tensor& covered = c.input(2);
  if (covered.rank() != 0) return invalid_argument("min_object_covered must be 0-D, got shape ", covered.shape());
  return run_random_crop_box(c, options, covered.data<float>()[0], gen);
}

Status set_words(KernelContext& c, int i, std::span<const uint64_t> words) {
  WEFT_ASSIGN(Tensor* out, c.allocate(i, Shape({int64_t(words.size())})));
  std::copy(words.begin(), words.end(), out->data<uint64_t>());
  return {};
}

Status run_get_key_counter(KernelContext& c) {
  WEFT_ASSIGN(Philox gen, stateless_seed(c, 0));
  const uint64_t key[] = {gen.key()}, counter[] = {gen.counter_low(), gen.counter_high()};
  WEFT_RETURN_IF_ERROR(set_words(c, 0, key));
  WEFT_RETURN_IF_ERROR(set_words(c, 1, counter));
  if (c.num_outputs() == 3) c.set_output(2, Tensor::scalar(int32_t(1)));
  return {};
}

Status run_get_alg(KernelContext& c) {
  c.set_output(0, Tensor::scalar(int32_t(1)));
  return {};
}

// ---- RandomIndexShuffle, SobolSample, RandomGammaGrad ----

std::array<uint32_t, 3> index_seed(const Tensor& seed, int64_t row) {
  std::array<uint32_t, 3> out{};
  for (int64_t i = 0; i < 3; ++i)
    out[size_t(i)] = dtype_size(seed.dtype()) == 4 ? seed.data<uint32_t>()[3 * row + i] : uint32_t(seed.data<uint64_t>()[3 * row + i]);
  return out;
}

Status run_index_shuffle(KernelContext& c) {
  const Tensor &index = c.input(0), &seed = c.input(1), &max_index = c.input(2);
  const int64_t rounds = c.attr<int64_t>("rounds");
  const int64_t n = std::max({index.num_elements(), max_index.num_elements(), seed.num_elements() / 3});
  if (index.rank() != 0 && (index.rank() != 1 || index.dim(0) != n)) return invalid_argument("Index bust be a scalar or vector.");
  if (!(seed.rank() == 1 && seed.dim(0) == 3) && !(seed.rank() == 2 && seed.dim(0) == n && seed.dim(1) == 3))
    return invalid_argument("Seed must be a vector of size [3] or a matrix of size [", n, ", 3] but got ", seed.shape(), ".");
  if (max_index.rank() != 0 && (max_index.rank() != 1 || max_index.dim(0) != n))
    return invalid_argument("Maxval must be a scalar or a vector of the same size as index but got ", max_index.shape());
  if (rounds > 1024) return invalid_argument("rounds must be at most 1024, got ", rounds);
  const bool scalar = index.rank() == 0 && seed.rank() == 1 && max_index.rank() == 0;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, scalar ? Shape() : Shape({n})));
  return dispatch<int32_t, int64_t, uint32_t, uint64_t>(index.dtype(), [&]<class T>(Tag<T>) {
    for (int64_t i = 0; i < n; ++i) {
      const T at = index.data<T>()[index.rank() ? i : 0], last = max_index.data<T>()[max_index.rank() ? i : 0];
      if constexpr (std::is_signed_v<T>) {
        if (at < 0) return invalid_argument("index must be >= 0 but was ", at);
        if (last < 0) return invalid_argument("max_index must be >= 0 but was ", last);
      }
      if (last < at) return invalid_argument("max_index must be >= index, but ", last, " < ", at);
      out->data<T>()[i] = T(kernels::shuffle_index(uint64_t(at), index_seed(seed, seed.rank() == 1 ? 0 : i), uint64_t(last), rounds));
    }
    return Status();
  });
}

Status run_sobol(KernelContext& c) {
  static constexpr const char* kNames[] = {"dim", "num_results", "skip"};
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).rank() != 0) return invalid_argument(kNames[i], " must be a scalar");
  }
  const int32_t dim = c.input(0).data<int32_t>()[0], n = c.input(1).data<int32_t>()[0], skip = c.input(2).data<int32_t>()[0];
  if (dim < 1) return invalid_argument("dim must be at least one");
  if (dim > kernels::kMaxSobolDim) return invalid_argument("dim must be at most ", kernels::kMaxSobolDim);
  if (n < 1) return invalid_argument("num_results must be at least one");
  if (skip < 0) return invalid_argument("skip must be non-negative");
  if (n >= std::numeric_limits<int32_t>::max() - skip)
    return invalid_argument("num_results+skip must be less than ", std::numeric_limits<int32_t>::max());
  if (dim > kernels::kSobolTableDims)
    return unimplemented("SobolSample has no table for more than ", kernels::kSobolTableDims, " dimensions, got ", dim);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({n, dim})));
  return dispatch<float, double>(out->dtype(), [&]<class T>(Tag<T>) {
    kernels::sobol_points(dim, n, skip, out->data<T>());
    return Status();
  });
}

Status run_gamma_grad(KernelContext& c) {
  const Tensor &alpha = c.input(0), &sample = c.input(1);
  auto b = Broadcasting::of({alpha.shape(), sample.shape()});
  if (!b) return invalid_argument("Incompatible shapes: ", alpha.shape(), " vs. ", sample.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, b->shape()));
  if (out->num_elements() == 0) return {};
  const auto a = b->parameter(0, alpha), x = b->parameter(1, sample);
  return dispatch<float, double>(out->dtype(), [&]<class T>(Tag<T>) {
    const T *in_a = alpha.data<T>(), *in_x = sample.data<T>();
    T* o = out->data<T>();
    c.pool().parallel_for(out->num_elements(), 500, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) o[i] = kernels::gamma_sample_derivative(in_a[a.index ? a.index[i] : i], in_x[x.index ? x.index[i] : i]);
    });
    return Status();
  });
}

// ---- shape rules ----

Status check_size(const PartialShape& s, int64_t wanted) {
  if (s.dim(0) < 0 || s.dim(0) == wanted) return {};
  return invalid_argument("Dimension must be ", wanted, " but is ", s.dim(0));
}

Status seeded_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape seed, c.with_rank(1, 1));
  WEFT_RETURN_IF_ERROR(check_size(seed, 2));
  return random_shape(c);
}

Status keyed_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape key, c.with_rank(1, 1));
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(3, 0).status());
  WEFT_RETURN_IF_ERROR(check_size(key, 1));
  return random_shape(c);
}

Status key_counter_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape seed, c.with_rank(0, 1));
  WEFT_RETURN_IF_ERROR(check_size(seed, 2));
  c.output(0, PartialShape::vector(1));
  c.output(1, PartialShape::vector(2));
  if (c.num_outputs() == 3) c.output(2, PartialShape::scalar());
  return {};
}

Status sobol_shape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  const auto dim = c.constant_int(0), n = c.constant_int(1);
  c.output(0, PartialShape::matrix(n && *n >= 0 ? *n : kUnknownDim, dim && *dim >= 0 ? *dim : kUnknownDim));
  return {};
}

Status index_shuffle_shape(ShapeContext& c) {
  const PartialShape &index = c.input(0), &seed = c.input(1), &last = c.input(2);
  if (!index.has_rank() || !seed.has_rank() || !last.has_rank()) return {};
  if (index.rank() == 0 && last.rank() == 0 && seed.rank() == 1) {
    c.output(0, PartialShape::scalar());
    return {};
  }
  int64_t n = kUnknownDim;
  if (index.rank() == 1) n = index.dim(0);
  else if (last.rank() == 1) n = last.dim(0);
  else if (seed.rank() == 2) n = seed.dim(0);
  c.output(0, PartialShape::vector(n));
  return {};
}

// How a sample moves with alpha, summed over all samples of one alpha.
Value gamma_grad(const GradContext& g, const Value& shape, const Value& alpha) {
  Emitter& e = g.emitter();
  const Value leading = size_of(shape) - rank_of(alpha);
  const Value ones = g.one("Fill", {reshape(leading, ints(e, {1})), scalar(e, DType::kInt32, 1)}), parts[] = {ones, shape_of(alpha)};
  const Value slope = g.one("RandomGammaGrad", {g.one("BroadcastTo", {reshape(alpha, concat(parts, 0)), shape_of(g.y())}), g.y()});
  return reduce("Sum", g.dy() * slope, g.one("Range", {scalar(e, DType::kInt32, 0), leading, scalar(e, DType::kInt32, 1)}));
}

// ---- gradients -----------------------------------------------------------------------------------------

// The distribution function of the normal distribution.
Value normal_cdf(const Value& x) {
  const double half_root = 0.70710678118654752440;
  const Value w = x * half_root, z = unary("Abs", w);
  const Value tail = unary("Erfc", z), one = ones_like(w);
  const Value far = where(binary("Greater", w, zeros_like(w)), 2 - tail, tail);
  return 0.5 * where(binary("Less", z, one * half_root), 1 + unary("Erf", w), far);
}

// Implicitly: how each parameter moves the sample when its quantile stays.
Grads truncated_normal_grad(const GradContext& g) {
  const Value mean = g.x(2), deviation = g.x(3), dy = g.dy();
  auto standard = [&](const Value& x) { return (x - mean) / deviation; };
  const Value low = standard(g.x(4)), high = standard(g.x(5)), sample = standard(g.y());
  const Value base = normal_cdf(low);
  const DType t = mean.dtype();
  const double tiny = t == DType::kDouble ? 2.2250738585072014e-308 : t == DType::kHalf ? 6.103515625e-05 : 1.1754943508222875e-38;
  const double epsilon = t == DType::kDouble ? 2.220446049250313e-16 : t == DType::kHalf ? 0.0009765625 : 1.1920928955078125e-07;
  Value cdf = (normal_cdf(sample) - base) / (normal_cdf(high) - base);
  cdf = binary("Maximum", binary("Minimum", cdf, scalar(g.emitter(), t, 1 - epsilon)), scalar(g.emitter(), t, tiny));
  auto moved = [&](const Value& bound, const Value& log) { return unary("Exp", 0.5 * (unary("Square", sample) - unary("Square", bound)) + log); };
  return {{},
          {},
          sum_to(dy, mean),
          sum_to(dy * sample, deviation),
          sum_to(dy * moved(low, unary("Log1p", -cdf)), g.x(4)),
          sum_to(dy * moved(high, unary("Log", cdf)), g.x(5))};
}

}  // namespace

void random_stateless(Registry& r) {
  r.add("RandomGammaGrad")
      .in("alpha: T")
      .in("sample: T")
      .out("output: T")
      .attr("T: {float, double}")
      .doc("The derivative of gamma samples by the shape parameter.")
      .shape(shapes::broadcast_binary)
      .cpu(run_gamma_grad);

  r.add("RandomIndexShuffle")
      .in("index: dtype")
      .in("seed: Tseed")
      .in("max_index: dtype")
      .out("output: dtype")
      .attr("rounds: int = 4")
      .attr("dtype: {int32, uint32, int64, uint64}")
      .attr("Tseed: {int32, uint32, int64, uint64}")
      .doc("The place of an index in a pseudorandom order, without making the order.")
      .shape(index_shuffle_shape)
      .no_grad()
      .cpu(run_index_shuffle);

  r.add("SobolSample")
      .in("dim: int32")
      .in("num_results: int32")
      .in("skip: int32")
      .out("samples: dtype")
      .attr("dtype: {float, double} = DT_FLOAT")
      .doc("Points of the Sobol sequence.")
      .shape(sobol_shape)
      .cpu(run_sobol);

  r.add("StatelessMultinomial")
      .in("logits: T")
      .in("num_samples: int32")
      .in("seed: Tseed")
      .out("output: output_dtype")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .attr("output_dtype: {int32, int64} = DT_INT64")
      .doc("Draws classes with probabilities given as unnormalised logarithms.")
      .on_gpu(OnGpu::kByCpu)
      .traits({.silent_by_row = true})
      .shape(multinomial_shape)
      .no_grad()
      .cpu(run_stateless_multinomial, types<WEFT_FLOATS>("T"));

  r.add("StatelessParameterizedTruncatedNormal")
      .in("shape: S")
      .in("seed: Tseed")
      .in("means: dtype")
      .in("stddevs: dtype")
      .in("minvals: dtype")
      .in("maxvals: dtype")
      .out("output: dtype")
      .attr("S: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .attr("dtype: {half, float, double}")
      .doc("Normal numbers of given means and deviations, cut to intervals.")
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .grad(truncated_normal_grad)
      .cpu(run_truncated_normal, types<half, float, double>("dtype"));

  r.add("StatelessRandomBinomial")
      .in("shape: S")
      .in("seed: Tseed")
      .in("counts: T")
      .in("probs: T")
      .out("output: dtype")
      .attr("S: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .attr("T: {half, float, double, int32, int64} = DT_DOUBLE")
      .attr("dtype: {half, float, double, int32, int64} = DT_INT64")
      .doc("Binomial random numbers.")
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .no_grad()
      .cpu(run_binomial, types<half, float, double>("T"));

  r.add("StatelessRandomGammaV2")
      .in("shape: T")
      .in("seed: Tseed")
      .in("alpha: dtype")
      .out("output: dtype")
      .attr("dtype: {half, float, double}")
      .attr("T: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .doc("Gamma random numbers.")
      .on_gpu(OnGpu::kByCpu)
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .grad([](const GradContext& g) -> Grads { return {{}, {}, gamma_grad(g, g.x(0), g.x(2))}; })
      .cpu(run_gamma_v2);

  r.add("StatelessRandomGammaV3")
      .in("shape: shape_dtype")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .in("alpha: dtype")
      .out("output: dtype")
      .attr("dtype: {half, float, double}")
      .attr("shape_dtype: {int32, int64} = DT_INT32")
      .doc("Gamma random numbers from a key and a counter.")
      .on_gpu(OnGpu::kByCpu)
      .traits({.silent_by_row = true})
      .shape(keyed_shape)
      .grad([](const GradContext& g) -> Grads { return {{}, {}, {}, {}, gamma_grad(g, g.x(0), g.x(4))}; })
      .cpu(run_gamma_v3);

  r.add("StatelessRandomGetAlg")
      .out("alg: int32")
      .stateful()
      .doc("The best generator of the device: here always Philox.")
      .traits({.silent_by_row = true})
      .shape(shapes::scalar)
      .cpu(run_get_alg);

  r.add("StatelessRandomGetKeyCounter")
      .in("seed: Tseed")
      .out("key: uint64")
      .out("counter: uint64")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .doc("Turns a seed into a key and a counter.")
      .traits({.silent_by_row = true})
      .shape(key_counter_shape)
      .cpu(run_get_key_counter);

  r.add("StatelessRandomGetKeyCounterAlg")
      .in("seed: Tseed")
      .out("key: uint64")
      .out("counter: uint64")
      .out("alg: int32")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .doc("Turns a seed into a key, a counter and an algorithm.")
      .traits({.silent_by_row = true})
      .shape(key_counter_shape)
      .cpu(run_get_key_counter);

  r.add("StatelessRandomNormal")
      .in("shape: T")
      .in("seed: Tseed")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .doc("Normal random numbers.")
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .no_grad()
      .cpu(run_floats<Distribution::kNormal>);

  r.add("StatelessRandomNormalV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("Normal random numbers from a key and a counter.")
      .traits({.silent_by_row = true})
      .shape(keyed_shape)
      .no_grad()
      .cpu(run_floats_v2<Distribution::kNormal>);

  r.add("StatelessRandomPoisson")
      .in("shape: T")
      .in("seed: Tseed")
      .in("lam: Rtype")
      .out("output: dtype")
      .attr("Rtype: {half, float, double, int32, int64}")
      .attr("dtype: {half, float, double, int32, int64}")
      .attr("T: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .doc("Poisson random numbers.")
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .no_grad()
      .cpu(run_poisson);

  r.add("StatelessRandomUniform")
      .in("shape: T")
      .in("seed: Tseed")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .doc("Uniform random numbers in [0, 1).")
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .no_grad()
      .cpu(run_floats<Distribution::kUniform>);

  r.add("StatelessRandomUniformFullInt")
      .in("shape: T")
      .in("seed: Tseed")
      .out("output: dtype")
      .attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64, uint32, uint64} = DT_INT64")
      .doc("Integers with all bits random.")
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .no_grad()
      .cpu(run_full_int);

  r.add("StatelessRandomUniformFullIntV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: dtype")
      .attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("Integers with all bits random, from a key and a counter.")
      .traits({.silent_by_row = true})
      .shape(keyed_shape)
      .no_grad()
      .cpu(run_full_int_v2);

  r.add("StatelessRandomUniformInt")
      .in("shape: T")
      .in("seed: Tseed")
      .in("minval: dtype")
      .in("maxval: dtype")
      .out("output: dtype")
      .attr("dtype: {int32, int64}")
      .attr("T: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .doc("Uniform random integers in [minval, maxval).")
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .no_grad()
      .cpu(run_uniform_int);

  r.add("StatelessRandomUniformIntV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .in("minval: dtype")
      .in("maxval: dtype")
      .out("output: dtype")
      .attr("dtype: {int32, int64, uint32, uint64}")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("Uniform random integers in [minval, maxval) from a key and a counter.")
      .traits({.silent_by_row = true})
      .shape(keyed_shape)
      .no_grad()
      .cpu(run_uniform_int_v2, types<int32_t, int64_t>("dtype"));

  r.add("StatelessRandomUniformV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("Uniform random numbers in [0, 1) from a key and a counter.")
      .traits({.silent_by_row = true})
      .shape(keyed_shape)
      .no_grad()
      .cpu(run_floats_v2<Distribution::kUniform>);

  r.add("StatelessSampleDistortedBoundingBox")
      .in("image_size: T")
      .in("bounding_boxes: float")
      .in("min_object_covered: float")
      .in("seed: Tseed")
      .out("begin: T")
      .out("size: T")
      .out("bboxes: float")
      .attr("T: {uint8, int8, int16, int32, int64}")
      .attr("Tseed: {int32, int64}")
      .attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .attr("area_range: list(float) = [0.05, 1]")
      .attr("max_attempts: int = 100")
      .attr("use_image_if_no_bounding_boxes: bool = false")
      .doc("Draws a random crop of an image that covers part of an object.")
      .traits({.silent_by_row = true})
      .shape(crop_box_shape)
      .cpu(run_stateless_crop_box);

  r.add("StatelessShuffle")
      .in("value: T")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: T")
      .attr("T: type")
      .doc("Shuffles a tensor along its first dimension.")
      .traits({.silent_by_row = true})
      .shape(shapes::unchanged)
      .cpu(run_stateless_shuffle);

  r.add("StatelessTruncatedNormal")
      .in("shape: T")
      .in("seed: Tseed")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .doc("Normal random numbers within two deviations.")
      .traits({.silent_by_row = true})
      .shape(seeded_shape)
      .no_grad()
      .cpu(run_floats<Distribution::kTruncatedNormal>);

  r.add("StatelessTruncatedNormalV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .doc("Normal random numbers within two deviations, from a key and a counter.")
      .traits({.silent_by_row = true})
      .shape(keyed_shape)
      .no_grad()
      .cpu(run_floats_v2<Distribution::kTruncatedNormal>);

  set_layout(r, {"StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal", "StatelessRandomUniformFullInt"}, layouts::random(1));
  set_layout(r, {"StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"}, layouts::random(1));
  set_layout(r, {"StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2"}, layouts::random(1));
  set_layout(r, {"StatelessRandomBinomial", "StatelessRandomUniformInt"}, layouts::kReplicated);
  set_layout(r, {"StatelessRandomGetAlg", "StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"}, layouts::kReplicated);
}

}  // namespace weft_engine::ops
