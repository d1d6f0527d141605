// AccumulatorBase: what dense and sparse conditional accumulators share. Gradients of one step are added
// up, those of older steps dropped; taking the sum or mean waits until enough came.
#pragma once

#include <string>

#include "op/registry.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

class AccumulatorBase : public core::Resource, public std::enable_shared_from_this<AccumulatorBase> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow26ConditionalAccumulatorBaseE";

  core::Status check_shared(const op::KernelContext& c) const;
  std::string type_name() const override { return "ConditionalAccumulator"; }
  core::DType dtype() const { return dtype_; }

  // The gradient stands in the inputs of c.
  core::Status apply(op::KernelContext& c, int64_t step);
  // Sets the outputs of c.
  void take(op::KernelContext& c, int64_t required, op::Kernel::Done done);
  void set_step(int64_t step);
  int64_t count() const;

 protected:
  AccumulatorBase(const op::KernelContext& c, std::string name);
  // With the lock held.
  virtual core::Status add(op::KernelContext& c, bool first) = 0;
  virtual core::Status give(op::KernelContext& c, int64_t count) = 0;

  const std::string name_;
  const core::DType dtype_;
  const core::PartialShape shape_;
  const bool mean_;

 private:
  Waiters waiters_;  // its mutex guards what follows, and what subclasses hold
  int64_t count_ = 0, step_ = 0;
};

// The kernels of the ops on either kind.
core::Status run_apply_gradient(op::KernelContext& c);
void run_take_gradient(op::KernelContext& c, op::Kernel::Done done);

// The types that the attribute dtype of these ops may have.
inline constexpr const char* kGradientTypes =
    "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
    "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}";

}  // namespace weft_engine::ops
