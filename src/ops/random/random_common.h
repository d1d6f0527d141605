// What the random families share: shapes and seeds from inputs, the generator that a stateful kernel
// keeps, parameters that are broadcast against each other.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "kernels/cpu/philox.h"
#include "kernels/cpu/random_sample.h"
#include "op/kernel.h"
#include "op/shape_context.h"

namespace weft_engine::ops {

// Input i as a shape: "shape must be a vector of {int32,int64}, got shape []".
core::Result<core::Shape> shape_input(const op::KernelContext& c, int i);

// The generator that the two seeds of input i stand for.
core::Result<kernels::Philox> stateless_seed(const op::KernelContext& c, int i);

// Key, counter and algorithm from inputs i, i + 1 and i + 2 (the V2 ops). No generator: an algorithm that
// only other devices have, which is an error as soon as a number is drawn.
struct KeyCounter {
  kernels::Philox philox;
  int algorithm;
  core::Status check() const;
};
core::Result<KeyCounter> key_counter_input(const op::KernelContext& c, int i);

// The generator of a kernel with the attributes seed and seed2: made with the kernel, moved on by each run.
class SeededGenerator {
 public:
  static SeededGenerator of(const op::NodeInfo& node);
  // A generator good for that many blocks; the next caller gets the ones behind.
  kernels::Philox reserve_blocks(uint64_t blocks) const;
  // Enough for n elements that reject draws.
  kernels::Philox reserve(int64_t n) const;

 private:
  struct State {
    kernels::Philox beginning() const;
    std::mutex mutex;
    kernels::Philox philox;
    uint64_t seed = 0, seed2 = 0;  // both 0: nobody asked for these numbers
    uint64_t generation = 0;
  };
  std::shared_ptr<State> state_;
};

// Generators that begin anew with each walk over a dataset: kernels that run on a thread where they are in force draw from them,
// and not from their own.
class WalkGenerators {
 public:
  class Scope {
   public:
    explicit Scope(WalkGenerators* walk);  // null: kernels draw from their own
    ~Scope();
    Scope(const Scope&) = delete;

   private:
    WalkGenerators* const outer_;
  };

 private:
  friend class SeededGenerator;
  std::mutex mutex_;
  std::map<std::shared_ptr<const void>, kernels::Philox> generators_;  // by the state of the kernel's own
};

// From here on all kernels that have seeds begin anew.
void restart_generators();

// 64 bits that nobody can foresee.
uint64_t entropy();

// Does `shape` end with `tail`?
bool ends_with(const core::Shape& shape, const core::Shape& tail);

// Several tensors broadcast to one shape; null if they do not fit.
class Broadcasting {
 public:
  static std::optional<Broadcasting> of(std::vector<core::Shape> shapes);
  const core::Shape& shape() const { return shape_; }
  // The parameter k, whose elements are t's. Lives as long as this object.
  kernels::Parameter parameter(size_t k, const core::Tensor& t);

 private:
  std::vector<core::Shape> in_;
  core::Shape shape_;
  std::vector<std::vector<int64_t>> indices_;
};

// Parts of kernels that stateful and stateless forms share; the caller has checked nothing but ranks of
// seeds.
core::Status check_int_range(const op::KernelContext& c, int low);  // inputs low and low + 1: scalars, in order
void fill_int_range(op::KernelContext& c, const kernels::Philox& gen, int low, core::Tensor& out);
core::Status fill_floats(op::KernelContext& c, const kernels::Philox& gen, int distribution, core::Tensor& out);
void fill_bits(op::KernelContext& c, const kernels::Philox& gen, core::Tensor& out);
core::Status shuffle_rows(op::KernelContext& c, const core::Tensor& value, const kernels::Philox& gen);
// Checks of the Multinomial ops, then the output: [batch, samples]; inputs 0 and 1.
core::Status check_multinomial(const op::KernelContext& c);
core::Status run_multinomial(op::KernelContext& c, const kernels::Philox& gen);

struct CropOptions {
  float min_aspect, max_aspect, min_area, max_area;
  int64_t attempts;
  bool whole_image_without_boxes;
  static core::Result<CropOptions> of(const op::NodeInfo& node);
};
// SampleDistortedBoundingBox: inputs 0 and 1, outputs 0 to 2.
core::Status run_random_crop_box(op::KernelContext& c, const CropOptions& options, float min_covered, const kernels::Philox& gen);

// Shape rules.
core::Status random_shape(op::ShapeContext& c);              // input 0 is the shape
core::Status multinomial_shape(op::ShapeContext& c);
core::Status crop_box_shape(op::ShapeContext& c);

}  // namespace weft_engine::ops
