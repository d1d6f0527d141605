// Random numbers with a state: seeded kernels, whose stream continues from run to run, and generators kept
// in an int64 variable (counter, counter, key).
#include <mutex>

#include "kernels/cpu/random_fill.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/random/random_common.h"
#include "ops/state/variables.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::Distribution;
using kernels::Philox;

namespace {

template <Distribution kDistribution>
struct SeededFloats {
  static Result<SeededFloats> make(const NodeInfo& node) { return SeededFloats{SeededGenerator::of(node)}; }
  Status run(KernelContext& c) const {
    WEFT_ASSIGN(Shape shape, shape_input(c, 0));
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    return fill_floats(c, generator.reserve(out->num_elements()), int(kDistribution), *out);
  }
  SeededGenerator generator;
};

struct SeededInts {
  static Result<SeededInts> make(const NodeInfo& node) { return SeededInts{SeededGenerator::of(node)}; }
  Status run(KernelContext& c) const {
    WEFT_RETURN_IF_ERROR(check_int_range(c, 1));
    WEFT_ASSIGN(Shape shape, shape_input(c, 0));
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    fill_int_range(c, generator.reserve(out->num_elements()), 1, *out);
    return {};
  }
  SeededGenerator generator;
};

// Samples of the shape in input 0 for each parameter in input 1.
struct SeededGamma {
  static Result<SeededGamma> make(const NodeInfo& node) { return SeededGamma{SeededGenerator::of(node)}; }
  Status run(KernelContext& c) const {
    WEFT_ASSIGN(Shape shape, shape_input(c, 0));
    const Tensor& alpha = c.input(1);
    const int64_t samples = shape.num_elements(), alphas = alpha.num_elements();
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape.concat(alpha.shape())));
    if (out->num_elements() == 0) return {};
    kernels::sample_gamma(c.pool(), generator.reserve(samples * alphas), alpha.dtype(), alpha.raw(), alphas, samples, out->raw());
    return {};
  }
  SeededGenerator generator;
};

struct SeededPoisson {
  static Result<SeededPoisson> make(const NodeInfo& node) { return SeededPoisson{SeededGenerator::of(node)}; }
  Status run(KernelContext& c) const {
    WEFT_ASSIGN(Shape shape, shape_input(c, 0));
    const Tensor& rate = c.input(1);
    const int64_t samples = shape.num_elements(), rates = rate.num_elements();
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape.concat(rate.shape())));
    if (out->num_elements() == 0) return {};
    return kernels::sample_poisson(c.pool(), generator.reserve(samples * rates), rate.dtype(), rate.raw(), rates, samples, out->dtype(), out->raw());
  }
  SeededGenerator generator;
};

struct SeededMultinomial {
  static Result<SeededMultinomial> make(const NodeInfo& node) { return SeededMultinomial{SeededGenerator::of(node)}; }
  Status run(KernelContext& c) const {
    WEFT_RETURN_IF_ERROR(check_multinomial(c));
    const int64_t rows = c.input(0).dim(0), samples = c.input(1).data<int32_t>()[0];
    if (rows == 0 || samples == 0) return run_multinomial(c, Philox());
    return run_multinomial(c, generator.reserve(rows * ((samples + 3) / 4 * 4) * 2));
  }
  SeededGenerator generator;
};

struct SeededShuffle {
  static Result<SeededShuffle> make(const NodeInfo& node) { return SeededShuffle{SeededGenerator::of(node)}; }
  Status run(KernelContext& c) const {
    const Tensor& value = c.input(0);
    if (value.num_elements() <= 1 || value.dim(0) <= 1) {
      c.set_output(0, value);
      return {};
    }
    return shuffle_rows(c, value, generator.reserve_blocks(uint64_t(value.dim(0) - 1 + 3) / 4));
  }
  SeededGenerator generator;
};

struct SeededTruncatedNormal {
  static Result<SeededTruncatedNormal> make(const NodeInfo& node) { return SeededTruncatedNormal{SeededGenerator::of(node)}; }
  Status run(KernelContext& c) const {
    static constexpr const char* kNames[] = {"means", "stddevs", "minvals", "maxvals"};
    const Tensor& shape_tensor = c.input(0);
    if (shape_tensor.rank() != 1) return invalid_argument("Input shape should be a vector, got shape: ", shape_tensor.shape());
    if (shape_tensor.num_elements() == 0)
      return invalid_argument("Shape tensor must not be empty, got Tensor<type: ", shape_tensor.dtype(), " shape: [0] values: >");
    WEFT_ASSIGN(Shape shape, shape_input(c, 0));
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    bool all_one = true;
    for (int i = 1; i <= 4; ++i) {
      const Tensor& t = c.input(i);
      if (t.rank() > 1) return invalid_argument("Input ", kNames[i - 1], " should be a scalar or vector, got shape: ", t.shape());
      all_one &= t.rank() == 0 || (i <= 2 && t.dim(0) == 1);
    }
    int64_t batches = shape.dim(0), samples = shape.elements_in(1, shape.rank());
    if (all_one) {  // one set of parameters: batches of a handy size
      samples = 100;
      batches = (out->num_elements() + samples - 1) / samples;
    }
    kernels::Parameter parameters[4];
    const std::vector<int64_t> zeros(static_cast<size_t>(std::max<int64_t>(batches, 1)), 0);
    for (int i = 1; i <= 4; ++i) {
      const Tensor& t = c.input(i);
      if (t.rank() == 1 && t.dim(0) != 1 && t.dim(0) != batches)
        return invalid_argument("Input ", kNames[i - 1], " should have length 1 or shape[0], got shape: ", t.shape());
      parameters[i - 1] = {t.raw(), t.num_elements() == 1 ? zeros.data() : nullptr};
    }
    if (out->num_elements() == 0) return {};
    const Philox gen = generator.reserve_blocks(uint64_t(batches) * 2 * 1000 * uint64_t(samples + 3) / 4);
    return kernels::sample_truncated_normal(gen, out->dtype(),
                                            {.means = parameters[0],
                                             .deviations = parameters[1],
                                             .minima = parameters[2],
                                             .maxima = parameters[3],
                                             .batches = batches,
                                             .samples = samples,
                                             .limit = out->num_elements(),
                                             .strided = false},
                                            out->raw());
  }
  SeededGenerator generator;
};

struct SeededCropBox {
  static Result<SeededCropBox> make(const NodeInfo& node) {
    WEFT_ASSIGN(CropOptions options, CropOptions::of(node));
    float covered = 0;
    if (node.num_inputs() == 2) {
      covered = node.attr<float>("min_object_covered");
      if (!(covered >= 0)) return invalid_argument("Min object covered must be non-negative: ", covered);
    }
    return SeededCropBox{SeededGenerator::of(node), options, covered};
  }
  Status run(KernelContext& c) const {
    float covered = min_covered;
    if (c.num_inputs() == 3) {
      if (c.input(2).rank() != 0) return invalid_argument("min_object_covered must be 0-D, got shape ", c.input(2).shape());
      covered = c.input(2).data<float>()[0];
    }
    return run_random_crop_box(c, options, covered, generator.reserve_blocks(uint64_t(options.attempts)));
  }
  SeededGenerator generator;
  CropOptions options;
  float min_covered;
};

struct SeededCrop {
  static Result<SeededCrop> make(const NodeInfo& node) { return SeededCrop{SeededGenerator::of(node)}; }
  Status run(KernelContext& c) const {
    const Tensor &image = c.input(0), &size = c.input(1);
    if (image.rank() != 3) return invalid_argument("input must be 3-dimensional", image.shape());
    if (size.rank() != 1) return invalid_argument("shape_t must be 1-dimensional", size.shape());
    if (size.num_elements() != 2) return invalid_argument("shape_t must have two elements", size.shape());
    const int64_t height = size.data<int64_t>()[0], width = size.data<int64_t>()[1], depth = image.dim(2);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({height, width, depth})));
    if (image.dim(0) < height) return failed_precondition("height must be >= target_height: height = ", image.dim(0), ", target_height = ", height);
    if (image.dim(1) < width) return failed_precondition("width must be >= target_width: width = ", image.dim(1), ", target_width = ", width);
    kernels::PhiloxStream random(generator.reserve_blocks(1));
    const int64_t y = image.dim(0) > height ? int64_t(random.next()) % (image.dim(0) - height + 1) : 0;
    const int64_t x = image.dim(1) > width ? int64_t(random.next()) % (image.dim(1) - width + 1) : 0;
    for (int64_t row = 0; row < height; ++row) copy_elements(image, ((y + row) * image.dim(1) + x) * depth, *out, row * width * depth, width * depth);
    return {};
  }
  SeededGenerator generator;
};

Status run_non_deterministic_ints(KernelContext& c) {
  WEFT_ASSIGN(Shape shape, shape_input(c, 0));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  fill_bits(c, Philox::from_seeds(entropy(), entropy()), *out);
  return {};
}

// ---- generators in variables ----

constexpr int64_t kPhilox = 1, kThreeFry = 2, kChooseForMe = 3;
constexpr int64_t kPhiloxWords = 3;

template <class T>
Result<T> scalar_input(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.rank() != 0) return invalid_argument("input ", i, " (0-based) must have shape [], not ", t.shape());
  if (t.dtype() != dtype_of<T>) return invalid_argument("dtype of input ", i, " (0-based) must be ", dtype_of<T>, ", not ", t.dtype());
  return t.data<T>()[0];
}

// Takes the generator out of the variable in input 0 and leaves it `elements` elements further. `old`, if
// wanted, gets the words from before. The algorithm is in front of the state where `algorithm` is null.
Result<Philox> take_generator(KernelContext& c, const int64_t* algorithm, uint64_t elements, int64_t* old = nullptr) {
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  std::unique_lock lock(v->mutex());
  WEFT_RETURN_IF_ERROR(check_exists(c, v));
  const Tensor& state = v->tensor();
  if (state.dtype() != DType::kInt64) return invalid_argument("dtype of RNG state variable must be int64, not ", state.dtype());
  if (state.rank() != 1) return invalid_argument("RNG state must have one and only one dimension, not ", state.rank());
  const int64_t first = algorithm ? 0 : 1;
  if (state.num_elements() < first) return invalid_argument("Size of tensor must be at least 1");
  const int64_t alg = algorithm ? *algorithm : state.data<int64_t>()[0];
  if (alg == kThreeFry) return unimplemented("Non-XLA devices don't support the ThreeFry algorithm.");
  if (alg != kPhilox && alg != kChooseForMe) return invalid_argument("Unsupported algorithm id: ", alg);
  if (state.num_elements() < first + kPhiloxWords)
    return invalid_argument("For the Philox algorithm, the size of state must be at least ", first + kPhiloxWords, "; got ", state.num_elements());
  WEFT_RETURN_IF_ERROR(v->make_writable());
  int64_t* words = v->tensor().data<int64_t>() + first;
  if (old) std::copy_n(words, kPhiloxWords, old);
  const Philox now{uint64_t(words[0]), uint64_t(words[1]), uint64_t(words[2])};
  Philox next = now;
  next.skip(elements * kernels::kReservedBlocks);
  words[0] = int64_t(next.counter_low());
  words[1] = int64_t(next.counter_high());
  return now;
}

Status run_read_and_skip(KernelContext& c) {
  WEFT_ASSIGN(int32_t alg, scalar_input<int32_t>(c, 1));
  WEFT_ASSIGN(uint64_t delta, scalar_input<uint64_t>(c, 2));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({kPhiloxWords})));
  const int64_t algorithm = alg;
  return take_generator(c, &algorithm, delta, out->data<int64_t>()).status();
}

Status run_skip(KernelContext& c) {
  WEFT_ASSIGN(int64_t algorithm, scalar_input<int64_t>(c, 1));
  WEFT_ASSIGN(int64_t delta, scalar_input<int64_t>(c, 2));
  return take_generator(c, &algorithm, uint64_t(delta)).status();
}

template <Distribution kDistribution>
Status run_stateful_floats(KernelContext& c) {
  WEFT_ASSIGN(int64_t algorithm, scalar_input<int64_t>(c, 1));
  WEFT_ASSIGN(Shape shape, shape_input(c, 2));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  WEFT_ASSIGN(Philox gen, take_generator(c, &algorithm, uint64_t(out->num_elements())));
  return fill_floats(c, gen, int(kDistribution), *out);
}

Status run_stateful_normal_v1(KernelContext& c) {
  WEFT_ASSIGN(Shape shape, shape_input(c, 1));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  WEFT_ASSIGN(Philox gen, take_generator(c, nullptr, uint64_t(out->num_elements())));
  return fill_floats(c, gen, int(Distribution::kNormal), *out);
}

Status run_stateful_int(KernelContext& c) {
  WEFT_ASSIGN(int64_t algorithm, scalar_input<int64_t>(c, 1));
  WEFT_RETURN_IF_ERROR(check_int_range(c, 3));
  WEFT_ASSIGN(Shape shape, shape_input(c, 2));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  WEFT_ASSIGN(Philox gen, take_generator(c, &algorithm, uint64_t(out->num_elements())));
  fill_int_range(c, gen, 3, *out);
  return {};
}

Status run_stateful_full_int(KernelContext& c) {
  WEFT_ASSIGN(int64_t algorithm, scalar_input<int64_t>(c, 1));
  WEFT_ASSIGN(Shape shape, shape_input(c, 2));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  WEFT_ASSIGN(Philox gen, take_generator(c, &algorithm, uint64_t(out->num_elements())));
  fill_bits(c, gen, *out);
  return {};
}

Status run_stateful_binomial(KernelContext& c) {
  const Tensor &counts = c.input(3), &probs = c.input(4);
  auto b = Broadcasting::of({counts.shape(), probs.shape()});
  if (!b) return invalid_argument("counts and probs must have compatible batch dimensions: ", counts.shape(), " vs. ", probs.shape());
  if (c.input(2).rank() != 1) return invalid_argument("Input shape should be a vector, got shape: ", c.input(2).shape());
  WEFT_ASSIGN(Shape shape, shape_input(c, 2));
  if (!ends_with(shape, b->shape())) return invalid_argument("Shape passed in must end with broadcasted shape.");
  if (c.input(1).rank() != 0) return invalid_argument("algorithm must be of shape [], not ", c.input(1).shape());
  const int64_t algorithm = c.input(1).data<int64_t>()[0];
  if (algorithm != kPhilox && algorithm != kChooseForMe) return invalid_argument("Unsupported algorithm id: ", algorithm);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  const int64_t batches = b->shape().num_elements(), samples = batches > 0 ? out->num_elements() / batches : 0;
  WEFT_ASSIGN(Philox gen, take_generator(c, &algorithm, uint64_t(batches) * 2 * 100 * uint64_t(samples + 3) / 4));
  if (out->num_elements() == 0) return {};
  return kernels::sample_binomial(c.pool(), gen, counts.dtype(), b->parameter(0, counts), b->parameter(1, probs), batches, samples, out->dtype(),
                                  out->raw());
}

// ---- shape rules ----

template <int kShape>
Status shape_from(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(kShape));
  c.output(0, std::move(s));
  return {};
}

// Samples for each parameter: the shape in input 0, then the parameters' own.
Status per_parameter_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(0));
  c.output(0, s.concat(c.input(1)));
  return {};
}

Status read_and_skip_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 0).status());
  c.output(0, PartialShape::vector(kPhiloxWords));
  return {};
}

Status crop_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape image, c.with_rank(0, 3));
  const auto size = c.constant_ints(1);
  const bool known = size && size->size() == 2 && (*size)[0] >= 0 && (*size)[1] >= 0;
  c.output(0, PartialShape({known ? (*size)[0] : kUnknownDim, known ? (*size)[1] : kUnknownDim, image.dim(2)}));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// Implicitly: how alpha moves the sample when its quantile stays.
Grads random_gamma_grad(const GradContext& g) {
  const Value alpha = g.one("BroadcastTo", {g.x(1), shape_of(g.y())});
  return {{}, sum_to(g.dy() * g.one("RandomGammaGrad", {alpha, g.y()}), g.x(1))};
}

}  // namespace

void random(Registry& r) {
  r.add("Multinomial")
      .in("logits: T")
      .in("num_samples: int32")
      .out("output: output_dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("output_dtype: {int32, int64} = DT_INT64")
      .stateful()
      .effect_free()
      .doc("Draws classes with probabilities given as unnormalised logarithms.")
      .on_gpu(OnGpu::kByCpu)
      .shape(multinomial_shape)
      .traits({.differs_by_row = true})
      .no_grad()
      .cpu<SeededMultinomial>(types<WEFT_FLOATS>("T"));

  r.add("NonDeterministicInts")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_INT64")
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .doc("Non-deterministic random integers.")
      .shape(random_shape)
      .cpu(run_non_deterministic_ints, types<int32_t, int64_t, uint32_t, uint64_t>("dtype"));

  r.add("ParameterizedTruncatedNormal")
      .in("shape: T")
      .in("means: dtype")
      .in("stdevs: dtype")
      .in("minvals: dtype")
      .in("maxvals: dtype")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful()
      .effect_free()
      .doc("Normal numbers of given means and deviations, cut to intervals; parameters are one for each first index.")
      .on_gpu(OnGpu::kByCpu)
      .shape(random_shape)
      .no_grad()
      .cpu<SeededTruncatedNormal>(types<half, float, double>("dtype"));

  r.add("RandomCrop")
      .in("image: T")
      .in("size: int64")
      .out("output: T")
      .attr("T: {uint8, int8, int16, int32, int64, float, double}")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful()
      .effect_free()
      .deprecated(8, "Random crop is now pure Python")
      .doc("Cuts a random part of given size out of an image.")
      .shape(crop_shape)
      .no_grad()
      .cpu<SeededCrop>();

  r.add("RandomGamma")
      .in("shape: S")
      .in("alpha: T")
      .out("output: T")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("S: {int32, int64}")
      .attr("T: {half, float, double}")
      .stateful()
      .effect_free()
      .doc("Gamma random numbers.")
      .shape(per_parameter_shape)
      .traits({.differs_by_row = true})
      .grad(random_gamma_grad)
      .cpu<SeededGamma>();

  r.add("RandomPoisson")
      .in("shape: S")
      .in("rate: dtype")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("S: {int32, int64}")
      .attr("dtype: {half, float, double}")
      .stateful()
      .effect_free()
      .deprecated(25, "Replaced by RandomPoissonV2")
      .doc("Poisson random numbers.")
      .shape(per_parameter_shape)
      .cpu<SeededPoisson>();

  r.add("RandomPoissonV2")
      .in("shape: S")
      .in("rate: R")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("S: {int32, int64}")
      .attr("R: {half, float, double, int32, int64} = DT_DOUBLE")
      .attr("dtype: {half, float, double, int32, int64} = DT_INT64")
      .stateful()
      .effect_free()
      .doc("Poisson random numbers.")
      .shape(per_parameter_shape)
      .traits({.differs_by_row = true})
      .cpu<SeededPoisson>();

  r.add("RandomShuffle")
      .in("value: T")
      .out("output: T")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("T: type")
      .stateful()
      .effect_free()
      .doc("Shuffles a tensor along its first dimension.")
      .shape(shapes::unchanged)
      .no_grad()
      .cpu<SeededShuffle>();

  r.add("RandomStandardNormal")
      .in("shape: T")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful()
      .effect_free()
      .doc("Normal random numbers.")
      .shape(random_shape)
      .traits({.differs_by_row = true})
      .no_grad()
      .cpu<SeededFloats<Distribution::kNormal>>();

  r.add("RandomUniform")
      .in("shape: T")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful()
      .effect_free()
      .doc("Uniform random numbers in [0, 1).")
      .shape(random_shape)
      .traits({.differs_by_row = true})
      .no_grad()
      .cpu<SeededFloats<Distribution::kUniform>>();

  r.add("RandomUniformInt")
      .in("shape: T")
      .in("minval: Tout")
      .in("maxval: Tout")
      .out("output: Tout")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("Tout: {int32, int64}")
      .attr("T: {int32, int64}")
      .stateful()
      .effect_free()
      .doc("Uniform random integers in [minval, maxval).")
      .shape(random_shape)
      .traits({.differs_by_row = true})
      .cpu<SeededInts>();

  r.add("RngReadAndSkip")
      .in("resource: resource")
      .in("alg: int32")
      .in("delta: uint64")
      .out("value: int64")
      .stateful()
      .doc("Gives the state of a generator and moves it on.")
      .shape(read_and_skip_shape)
      .cpu(run_read_and_skip);

  r.add("RngSkip")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("delta: int64")
      .stateful()
      .doc("Moves a generator on.")
      .shape(shapes::no_outputs)
      .cpu(run_skip);

  r.add("SampleDistortedBoundingBox")
      .in("image_size: T")
      .in("bounding_boxes: float")
      .out("begin: T")
      .out("size: T")
      .out("bboxes: float")
      .attr("T: {uint8, int8, int16, int32, int64}")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("min_object_covered: float = 0.1")
      .attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .attr("area_range: list(float) = [0.05, 1]")
      .attr("max_attempts: int = 100")
      .attr("use_image_if_no_bounding_boxes: bool = false")
      .stateful()
      .effect_free()
      .doc("Draws a random crop of an image that covers part of an object.")
      .shape(crop_box_shape)
      .no_grad()
      .cpu<SeededCropBox>();

  r.add("SampleDistortedBoundingBoxV2")
      .in("image_size: T")
      .in("bounding_boxes: float")
      .in("min_object_covered: float")
      .out("begin: T")
      .out("size: T")
      .out("bboxes: float")
      .attr("T: {uint8, int8, int16, int32, int64}")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .attr("area_range: list(float) = [0.05, 1]")
      .attr("max_attempts: int = 100")
      .attr("use_image_if_no_bounding_boxes: bool = false")
      .stateful()
      .effect_free()
      .doc("Draws a random crop of an image that covers part of an object.")
      .shape(crop_box_shape)
      .no_grad()
      .cpu<SeededCropBox>();

  r.add("StatefulRandomBinomial")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: S")
      .in("counts: T")
      .in("probs: T")
      .out("output: dtype")
      .attr("S: {int32, int64}")
      .attr("T: {half, float, double, int32, int64} = DT_DOUBLE")
      .attr("dtype: {half, float, double, int32, int64} = DT_INT64")
      .stateful()
      .doc("Binomial random numbers from a generator.")
      .shape(shape_from<2>)
      .cpu(run_stateful_binomial, types<half, float, double>("T"));

  r.add("StatefulStandardNormal")
      .in("resource: resource")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_FLOAT")
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .deprecated(29, "Use StatefulStandardNormalV2 instead")
      .doc("Normal random numbers from a generator whose algorithm is in its state.")
      .shape(shape_from<1>)
      .cpu(run_stateful_normal_v1, types<WEFT_FLOATS>("dtype"));

  r.add("StatefulStandardNormalV2")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_FLOAT")
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .doc("Normal random numbers from a generator.")
      .shape(shape_from<2>)
      .cpu(run_stateful_floats<Distribution::kNormal>, types<WEFT_FLOATS>("dtype"));

  r.add("StatefulTruncatedNormal")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_FLOAT")
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .doc("Normal random numbers within two deviations, from a generator.")
      .shape(shape_from<2>)
      .cpu(run_stateful_floats<Distribution::kTruncatedNormal>, types<WEFT_FLOATS>("dtype"));

  r.add("StatefulUniform")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_FLOAT")
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .doc("Uniform random numbers in [0, 1) from a generator.")
      .shape(shape_from<2>)
      .cpu(run_stateful_floats<Distribution::kUniform>, types<WEFT_FLOATS>("dtype"));

  r.add("StatefulUniformFullInt")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_UINT64")
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .doc("Integers with all bits random, from a generator.")
      .shape(shape_from<2>)
      .cpu(run_stateful_full_int, types<int32_t, int64_t, uint32_t, uint64_t>("dtype"));

  r.add("StatefulUniformInt")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .in("minval: dtype")
      .in("maxval: dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_INT64")
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .doc("Uniform random integers in [minval, maxval) from a generator.")
      .shape(shape_from<2>)
      .cpu(run_stateful_int, types<int32_t, int64_t>("dtype"));

  r.add("TruncatedNormal")
      .in("shape: T")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful()
      .effect_free()
      .doc("Normal random numbers within two deviations.")
      .shape(random_shape)
      .traits({.differs_by_row = true})
      .no_grad()
      .cpu<SeededFloats<Distribution::kTruncatedNormal>>();

  set_layout(r, {"Multinomial", "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "StatefulUniform", "TruncatedNormal"},
             layouts::kUnseededRandom);
  set_layout(r, {"RngReadAndSkip"}, layouts::kReplicated);
}

}  // namespace weft_engine::ops
