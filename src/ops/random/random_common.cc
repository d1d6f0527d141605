#include "ops/random/random_common.h"

#include <atomic>
#include <cstring>
#include <random>
#include <utility>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/random_fill.h"
#include "op/dispatch.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT
using kernels::Philox;

Result<Shape> shape_input(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.rank() != 1 || (t.dtype() != DType::kInt32 && t.dtype() != DType::kInt64))
    return invalid_argument("shape must be a vector of {int32,int64}, got shape ", t.shape());
  if (t.num_elements() > kMaxRank) return invalid_argument("Too many dimensions in tensor: ", t.num_elements(), " > ", kMaxRank);
  std::vector<int64_t> dims(static_cast<size_t>(t.num_elements()));
  for (size_t k = 0; k < dims.size(); ++k) {
    dims[k] = t.dtype() == DType::kInt32 ? t.data<int32_t>()[k] : t.data<int64_t>()[k];
    if (dims[k] < 0) return invalid_argument("Dimension ", dims[k], " must be >= 0");
  }
  return Shape::make(dims);
}

Result<Philox> stateless_seed(const KernelContext& c, int i) {
  const Tensor& t = c.input(i);
  if (t.rank() != 1 || t.dim(0) != 2) return invalid_argument("seed must have shape [2], not ", t.shape());
  if (t.dtype() == DType::kInt32)
    return Philox::from_stateless_seed(uint64_t(int64_t(t.data<int32_t>()[0])), uint64_t(int64_t(t.data<int32_t>()[1])));
  if (t.dtype() == DType::kInt64) return Philox::from_stateless_seed(uint64_t(t.data<int64_t>()[0]), uint64_t(t.data<int64_t>()[1]));
  return invalid_argument("Invalid seed type: ", t.dtype());
}

Status KeyCounter::check() const { return algorithm == 1 ? Status() : invalid_argument("Unsupported algorithm id: ", algorithm); }

Result<KeyCounter> key_counter_input(const KernelContext& c, int i) {
  const Tensor &key = c.input(i), &counter = c.input(i + 1), &alg = c.input(i + 2);
  if (alg.rank() != 0) return invalid_argument("input ", i + 2, " (0-based) must have shape [], not ", alg.shape());
  int algorithm = alg.data<int32_t>()[0];
  if (algorithm == 3) algorithm = 1;  // "choose for me"
  if (key.rank() != 1 || key.dim(0) != 1)
    return invalid_argument("key must have shape [1], not ", key.shape(), ". (Note that batched keys are not supported yet.)");
  const int64_t words = algorithm == 2 ? 2 : 1;
  if (counter.rank() != 1 || counter.dim(0) < words)
    return invalid_argument("counter must be a vector with length at least ", words, "; got shape: ", counter.shape(),
                            ". (Note that batched counters are not supported yet.)");
  const uint64_t* words_of = counter.data<uint64_t>();
  return KeyCounter{Philox(words_of[0], counter.dim(0) > 1 ? words_of[1] : 0, key.data<uint64_t>()[0]), algorithm};
}

uint64_t entropy() {
  static std::mutex mutex;
  static std::mt19937_64 engine = [] {
    std::random_device device;
    return std::mt19937_64(uint64_t(device()) << 32 | device());
  }();
  std::lock_guard lock(mutex);
  return engine();
}

namespace {
std::atomic<uint64_t> g_generation{0};
}

void restart_generators() { g_generation.fetch_add(1); }

namespace {

thread_local WalkGenerators* t_walk = nullptr;

}  // namespace

WalkGenerators::Scope::Scope(WalkGenerators* walk) : outer_(std::exchange(t_walk, walk)) {}
WalkGenerators::Scope::~Scope() { t_walk = outer_; }

SeededGenerator SeededGenerator::of(const NodeInfo& node) {
  SeededGenerator g;
  g.state_ = std::make_shared<State>();
  g.state_->seed = uint64_t(node.attr<int64_t>("seed"));
  g.state_->seed2 = uint64_t(node.attr<int64_t>("seed2"));
  g.state_->generation = g_generation.load();
  g.state_->philox = g.state_->beginning();
  return g;
}

Philox SeededGenerator::State::beginning() const {
  return seed || seed2 ? Philox::from_seeds(seed, seed2) : Philox::from_seeds(entropy(), entropy());
}

Philox SeededGenerator::reserve_blocks(uint64_t blocks) const {
  if (WalkGenerators* walk = t_walk) {
    std::lock_guard lock(walk->mutex_);
    auto [it, added] = walk->generators_.try_emplace(state_);
    if (added) it->second = state_->beginning();
    Philox mine = it->second;
    it->second.skip(blocks);
    return mine;
  }
  std::lock_guard lock(state_->mutex);
  if (const uint64_t now = g_generation.load(std::memory_order_relaxed); state_->generation != now) {
    state_->generation = now;
    if (state_->seed || state_->seed2) state_->philox = state_->beginning();
  }
  Philox mine = state_->philox;
  state_->philox.skip(blocks);
  return mine;
}

Philox SeededGenerator::reserve(int64_t n) const { return reserve_blocks(uint64_t(n) * kernels::kReservedBlocks); }

bool ends_with(const Shape& shape, const Shape& tail) {
  return shape.rank() >= tail.rank() && shape.slice(shape.rank() - tail.rank(), shape.rank()) == tail;
}

std::optional<Broadcasting> Broadcasting::of(std::vector<Shape> shapes) {
  int rank = 0;
  for (const Shape& s : shapes) rank = std::max(rank, s.rank());
  std::vector<int64_t> dims(size_t(rank), 1);
  for (const Shape& s : shapes) {
    for (int i = 0; i < s.rank(); ++i) {
      int64_t& d = dims[size_t(rank - s.rank() + i)];
      if (s.dim(i) == d || s.dim(i) == 1) continue;
      if (d != 1) return std::nullopt;
      d = s.dim(i);
    }
  }
  Broadcasting b;
  b.shape_ = Shape(dims);
  b.indices_.resize(shapes.size());
  b.in_ = std::move(shapes);
  return b;
}

kernels::Parameter Broadcasting::parameter(size_t k, const Tensor& t) {
  if (in_[k] == shape_) return {t.raw(), nullptr};
  std::vector<int64_t>& index = indices_[k];
  index.assign(size_t(shape_.num_elements()), 0);
  const Shape& s = in_[k];
  int64_t inner_out = 1, inner_in = 1;
  for (int i = shape_.rank() - 1; i >= 0; --i) {
    const int at = i - (shape_.rank() - s.rank());
    if (at >= 0 && s.dim(at) != 1) {
      for (size_t e = 0; e < index.size(); ++e) index[e] += (int64_t(e) / inner_out % shape_.dim(i)) * inner_in;
      inner_in *= s.dim(at);
    }
    inner_out *= shape_.dim(i);
  }
  return {t.raw(), index.data()};
}

Status check_int_range(const KernelContext& c, int low) {
  const Tensor &lo = c.input(low), &hi = c.input(low + 1);
  if (lo.rank() != 0) return invalid_argument("minval must be 0-D, got shape ", lo.shape());
  if (hi.rank() != 0) return invalid_argument("maxval must be 0-D, got shape ", hi.shape());
  return dispatch<int32_t, int64_t, uint32_t, uint64_t>(lo.dtype(), [&]<class T>(Tag<T>) {
    const T a = lo.data<T>()[0], b = hi.data<T>()[0];
    return a < b ? Status() : invalid_argument("Need minval < maxval, got ", a, " >= ", b);
  });
}

void fill_int_range(KernelContext& c, const Philox& gen, int low, Tensor& out) {
  const Tensor &lo = c.input(low), &hi = c.input(low + 1);
  if (dtype_size(out.dtype()) == 4)
    kernels::fill_uniform_int32(c.pool(), gen, lo.data<uint32_t>()[0], hi.data<uint32_t>()[0], out.data<uint32_t>(), out.num_elements());
  else kernels::fill_uniform_int64(c.pool(), gen, lo.data<uint64_t>()[0], hi.data<uint64_t>()[0], out.data<uint64_t>(), out.num_elements());
}

Status fill_floats(KernelContext& c, const Philox& gen, int distribution, Tensor& out) {
  if (kernels::fill_random(c.pool(), gen, kernels::Distribution(distribution), out.dtype(), out.raw(), out.num_elements())) return {};
  return unimplemented("no kernel for type ", out.dtype());
}

void fill_bits(KernelContext& c, const Philox& gen, Tensor& out) {
  if (dtype_size(out.dtype()) == 4) kernels::fill_bits32(c.pool(), gen, out.data<uint32_t>(), out.num_elements());
  else kernels::fill_bits64(c.pool(), gen, out.data<uint64_t>(), out.num_elements());
}

namespace {

// A vector of numbers, in place.
template <class T>
void shuffle_vector(const Tensor& value, Tensor& out, const Philox& gen) {
  std::memcpy(out.raw(), value.raw(), value.byte_size());
  kernels::shuffle_elements(gen, std::span(static_cast<T*>(out.raw()), size_t(out.num_elements())));
}

}  // namespace

Status shuffle_rows(KernelContext& c, const Tensor& value, const Philox& gen) {
  if (value.num_elements() == value.dim(0) && is_simple(value.dtype())) {
    WEFT_ASSIGN(Tensor* out, c.allocate(0, value.shape()));
    switch (dtype_size(value.dtype())) {
      case 1: shuffle_vector<uint8_t>(value, *out, gen); return {};
      case 2: shuffle_vector<uint16_t>(value, *out, gen); return {};
      case 4: shuffle_vector<uint32_t>(value, *out, gen); return {};
      case 8: shuffle_vector<uint64_t>(value, *out, gen); return {};
      default: break;
    }
  }
  WEFT_ASSIGN(Tensor order, c.temp(DType::kInt64, Shape({value.dim(0)})));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, value.shape()));
  kernels::shuffle_indices(gen, order.span<int64_t>());
  kernels::gather(c.pool(), value.dtype(), value.raw(), 1, 1, value.dim(0), value.num_elements() / value.dim(0), order.data<int64_t>(), value.dim(0),
                  out->raw());
  return {};
}

Status check_multinomial(const KernelContext& c) {
  const Tensor &logits = c.input(0), &count = c.input(1);
  if (logits.rank() != 2) return invalid_argument("logits should be a matrix, got shape ", logits.shape());
  if (count.rank() != 0) return invalid_argument("num_samples should be a scalar, got shape ", count.shape());
  const int32_t samples = count.data<int32_t>()[0];
  if (samples < 0) return invalid_argument("num_samples should be non-negative, got ", samples);
  if (logits.dim(0) > std::numeric_limits<int32_t>::max()) return invalid_argument("batch_size cannot exceed max int");
  if (logits.dim(1) > std::numeric_limits<int32_t>::max()) return invalid_argument("num_classes cannot exceed max int");
  if (logits.dim(1) <= 0) return invalid_argument("num_classes should be positive, got ", logits.dim(1));
  return {};
}

Status run_multinomial(KernelContext& c, const Philox& gen) {
  const Tensor& logits = c.input(0);
  const int64_t samples = c.input(1).data<int32_t>()[0];
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({logits.dim(0), samples})));
  if (out->num_elements() == 0) return {};
  return kernels::sample_classes(gen, logits.dtype(), logits.raw(), logits.dim(0), logits.dim(1), samples, out->dtype(), out->raw());
}

Status random_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(0));
  c.output(0, std::move(s));
  return {};
}

Status multinomial_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape logits, c.with_rank(0, 2));
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  const auto samples = c.constant_int(1);
  if (samples && *samples < 0) return invalid_argument("Dimension size, given by scalar input 1, must be non-negative but is ", *samples);
  c.output(0, PartialShape::matrix(logits.dim(0), samples ? *samples : kUnknownDim));
  return {};
}

Status crop_box_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 3).status());
  c.output(0, PartialShape::vector(3));
  c.output(1, PartialShape::vector(3));
  c.output(2, PartialShape({1, 1, 4}));
  return {};
}

}  // namespace weft_engine::ops
