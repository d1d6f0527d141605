// Conditional accumulators: gradients of one step are added up, those of older steps dropped; taking the
// sum or mean waits until enough came.
#include "kernels/cpu/accumulate.h"
#include "ops/queue_families.h"
#include "ops/waiters.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

class Accumulator final : public Resource, public std::enable_shared_from_this<Accumulator> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow26ConditionalAccumulatorBaseE";
  static Result<std::shared_ptr<Accumulator>> make(const KernelContext& c, std::string name) {
    return std::shared_ptr<Accumulator>(new Accumulator(std::move(name), c.attr<DType>("dtype"), c.attr<PartialShape>("shape"),
                                                        c.attr<std::string>("reduction_type") == "MEAN"));
  }
  Status check_shared(const KernelContext& c) const {
    if (c.attr<DType>("dtype") != dtype_)
      return invalid_argument("Shared conditional accumulator '", name_, "' has dtype ", dtype_, " but requested dtype was ", c.attr<DType>("dtype"));
    if (!(c.attr<PartialShape>("shape") == shape_))
      return invalid_argument("Shared conditional accumulator '", name_, "' has shape ", shape_, " but requested shape was ", c.attr<PartialShape>("shape"));
    return {};
  }
  std::string type_name() const override { return "ConditionalAccumulator"; }
  DType dtype() const { return dtype_; }

  Status apply(int64_t step, const Tensor& gradient, ThreadPool& pool) {
    Status status;
    waiters_.change([&] { status = apply_locked(step, gradient, pool); });
    return status;
  }
  void take(KernelContext& c, int64_t required, Kernel::Done done) {
    auto attempt = [self = shared_from_this(), &c, required] {
      if (self->count_ < required) return Waiters::wait();
      return Waiters::finished(self->take_locked(c));
    };
    waiters_.submit(Waiters::kFirst, std::move(attempt), std::move(done), {c.env().cancellation, "TakeGrad operation was cancelled", nullptr});
  }
  void set_step(int64_t step) {
    std::lock_guard lock(waiters_.mutex());
    step_ = step;
  }
  int64_t count() const {
    std::lock_guard lock(waiters_.mutex());
    return count_;
  }

 private:
  Accumulator(std::string name, DType dtype, PartialShape shape, bool mean) : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)), mean_(mean) {}

  Status apply_locked(int64_t step, const Tensor& gradient, ThreadPool& pool) {
    if (step < step_) return {};
    if (count_ > 0 && gradient.shape() != sum_.shape()) return invalid_argument("Shape mismatch: expected ", sum_.shape(), ", got ", gradient.shape());
    if (!shape_.compatible_with(gradient.shape())) return invalid_argument("Shape mismatch: expected ", shape_, ", got ", gradient.shape());
    if (count_ == 0) {
      WEFT_ASSIGN(sum_, gradient.copy());
    } else if (!kernels::accumulate(dtype_, sum_.raw(), gradient.raw(), gradient.num_elements(), false, pool)) {
      return unimplemented("no kernel for type ", dtype_);
    }
    ++count_;
    return {};
  }

  Status take_locked(KernelContext& c) {
    if (mean_) {
      WEFT_RETURN_IF_ERROR((dispatch<half, float, double>(dtype_, [&]<class T>(Tag<T>) {
        for (T& x : sum_.span<T>()) x = T(x / T(float(count_)));
        return Status();
      })));
    }
    ++step_;
    count_ = 0;
    c.set_output(0, std::move(sum_));
    sum_ = {};
    return {};
  }

  const std::string name_;
  const DType dtype_;
  const PartialShape shape_;
  const bool mean_;
  Waiters waiters_;  // its mutex guards what follows
  Tensor sum_;
  int64_t count_ = 0, step_ = 0;
};

Status check_scalar(const char* name, const Tensor& t) {
  if (t.rank() != 0) return invalid_argument("Argument ", name, " must be scalar, but had bad shape ", t.shape());
  return {};
}

Status run_apply(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Accumulator> a, c.resource<Accumulator>(0));
  if (c.input(2).dtype() != a->dtype())
    return invalid_argument("Signature mismatch, have: resource, int64, ", c.input(2).dtype(), "-> expected: resource, int64, ", a->dtype(), "->");
  WEFT_RETURN_IF_ERROR(check_scalar("local_step", c.input(1)));
  return a->apply(c.input(1).data<int64_t>()[0], c.input(2), c.pool());
}

Status run_count(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Accumulator> a, c.resource<Accumulator>(0));
  c.set_output(0, Tensor::scalar(int32_t(a->count())));
  return {};
}

Status run_set_step(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Accumulator> a, c.resource<Accumulator>(0));
  WEFT_RETURN_IF_ERROR(check_scalar("new_global_step", c.input(1)));
  a->set_step(c.input(1).data<int64_t>()[0]);
  return {};
}

Status start_take(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<Accumulator> a, c.resource<Accumulator>(0));
  if (c.output_type(0) != a->dtype())
    return invalid_argument("Signature mismatch, have: resource, int32->", c.output_type(0), " expected: resource, int32->", a->dtype());
  WEFT_RETURN_IF_ERROR(check_scalar("num_required", c.input(1)));
  const int32_t required = c.input(1).data<int32_t>()[0];
  if (required <= 0) return invalid_argument("Argument num_required must be positive, but was ", required);
  a->take(c, required, std::move(done));
  return {};
}

void run_take(KernelContext& c, Kernel::Done done) {
  if (Status s = start_take(c, done); !s.ok()) done(s);
}

}  // namespace

void conditional_accumulators(Registry& r) {
  r.add("ResourceAccumulatorApplyGradient")
      .doc("Adds a gradient unless its step is past.")
      .in("handle: resource")
      .in("local_step: int64")
      .in("gradient: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(run_apply);

  r.add("ResourceAccumulatorNumAccumulated")
      .doc("Gives the number of gradients added so far.")
      .in("handle: resource")
      .out("num_accumulated: int32")
      .stateful().effect_free()
      .shape(shapes::scalar)
      .cpu(run_count);

  r.add("ResourceAccumulatorSetGlobalStep")
      .doc("Sets the step from which gradients count.")
      .in("handle: resource")
      .in("new_global_step: int64")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(run_set_step);

  r.add("ResourceAccumulatorTakeGradient")
      .doc("Takes the sum or mean when enough gradients came, and starts the next step.")
      .in("handle: resource")
      .in("num_required: int32")
      .out("average: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_take>::create);

  r.add("ResourceConditionalAccumulator")
      .doc("Makes or finds an accumulator of gradients.")
      .out("handle: resource")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("shape: shape")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
      .stateful().effect_free()
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<Accumulator>::create, types<half, float, double>("dtype"));
}

}  // namespace weft::ops
