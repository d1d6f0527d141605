// Conditional accumulators of dense gradients, and the ops that serve both kinds. Version 1 has handles of its
// own kind, see ref_handle.h, and the same kernels.
#include "ops/state/conditional_accumulator.h"

#include "kernels/cpu/accumulate.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

AccumulatorBase::AccumulatorBase(const KernelContext& c, std::string name)
    : name_(std::move(name)),
      dtype_(c.attr<DType>("dtype")),
      shape_(c.attr<PartialShape>("shape")),
      mean_(c.attr<std::string>("reduction_type") == "MEAN") {}

Status AccumulatorBase::check_shared(const KernelContext& c) const {
  if (c.attr<DType>("dtype") != dtype_)
    return invalid_argument("Shared conditional accumulator '", name_, "' has dtype ", dtype_, " but requested dtype was ", c.attr<DType>("dtype"));
  if (!(c.attr<PartialShape>("shape") == shape_))
    return invalid_argument("Shared conditional accumulator '", name_, "' has shape ", shape_, " but requested shape was ",
                            c.attr<PartialShape>("shape"));
  return {};
}

Status AccumulatorBase::apply(KernelContext& c, int64_t step) {
  Status status;
  waiters_.change([&] {
    if (step < step_) return;
    status = add(c, count_ == 0);
    if (status.ok()) ++count_;
  });
  return status;
}

void AccumulatorBase::take(KernelContext& c, int64_t required, Kernel::Done done) {
  auto attempt = [self = shared_from_this(), &c, required] {
    if (self->count_ < required) return Waiters::wait();
    Status s = self->give(c, self->count_);
    if (s.ok()) {
      ++self->step_;
      self->count_ = 0;
    }
    return Waiters::finished(std::move(s));
  };
  waiters_.submit(Waiters::kFirst, std::move(attempt), std::move(done), {c.env().cancellation, "TakeGrad operation was cancelled", nullptr});
}

void AccumulatorBase::set_step(int64_t step) {
  std::lock_guard lock(waiters_.mutex());
  step_ = step;
}

int64_t AccumulatorBase::count() const {
  std::lock_guard lock(waiters_.mutex());
  return count_;
}

namespace {

class DenseAccumulator final : public AccumulatorBase {
 public:
  DenseAccumulator(const KernelContext& c, std::string name) : AccumulatorBase(c, std::move(name)) {}
  static Result<std::shared_ptr<AccumulatorBase>> make(const KernelContext& c, std::string name) {
    return std::shared_ptr<AccumulatorBase>(std::make_shared<DenseAccumulator>(c, std::move(name)));
  }

 private:
  Status add(KernelContext& c, bool first) override {
    if (c.num_inputs() != 3) return invalid_argument("Unknown input name: gradient");
    const Tensor& gradient = c.input(2);
    if (!first && gradient.shape() != sum_.shape()) return invalid_argument("Shape mismatch: expected ", sum_.shape(), ", got ", gradient.shape());
    if (!shape_.compatible_with(gradient.shape())) return invalid_argument("Shape mismatch: expected ", shape_, ", got ", gradient.shape());
    if (first) {
      WEFT_ASSIGN(sum_, gradient.copy());
    } else if (!kernels::accumulate(dtype_, sum_.raw(), gradient.raw(), gradient.num_elements(), false, c.pool())) {
      return unimplemented("no kernel for type ", dtype_);
    }
    return {};
  }

  Status give(KernelContext& c, int64_t count) override {
    if (c.num_outputs() != 1) return invalid_argument("the accumulator '", name_, "' holds dense gradients");
    if (mean_) {
      WEFT_RETURN_IF_ERROR((dispatch<half, float, double>(dtype_, [&]<class T>(Tag<T>) {
        for (T& x : sum_.span<T>()) x = T(x / T(float(count)));
        return Status();
      })));
    }
    c.set_output(0, std::move(sum_));
    sum_ = {};
    return {};
  }

  Tensor sum_;
};

Status check_scalar(const char* name, const Tensor& t) {
  if (t.rank() != 0) return invalid_argument("Argument ", name, " must be scalar, but had bad shape ", t.shape());
  return {};
}

// A gradient is one tensor, or indices, values and shape.
void append_gradient(std::vector<DType>& types, bool sparse, DType dtype) {
  if (sparse) types.insert(types.end(), {DType::kInt64, dtype, DType::kInt64});
  else types.push_back(dtype);
}

Status check_types(const KernelContext& c, const std::vector<DType>& inputs, const std::vector<DType>& outputs) {
  const auto &in = c.node().input_types(), &out = c.node().output_types();
  if (in == inputs && out == outputs) return {};
  return invalid_argument("Signature mismatch, have: ", join(in, ", "), "->", join(out, ", "), " expected: ", join(inputs, ", "), "->",
                          join(outputs, ", "));
}

Status run_count(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<AccumulatorBase> a, handle_input<AccumulatorBase>(c));
  c.set_output(0, Tensor::scalar(int32_t(a->count())));
  return {};
}

Status run_set_step(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<AccumulatorBase> a, handle_input<AccumulatorBase>(c));
  WEFT_RETURN_IF_ERROR(check_scalar("new_global_step", c.input(1)));
  a->set_step(c.input(1).data<int64_t>()[0]);
  return {};
}

Status start_take(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<AccumulatorBase> a, handle_input<AccumulatorBase>(c));
  std::vector<DType> outputs;
  append_gradient(outputs, c.num_outputs() == 3, a->dtype());
  WEFT_RETURN_IF_ERROR(check_types(c, {c.node().input_types()[0], DType::kInt32}, outputs));
  WEFT_RETURN_IF_ERROR(check_scalar("num_required", c.input(1)));
  const int32_t required = c.input(1).data<int32_t>()[0];
  if (required <= 0) return invalid_argument("Argument num_required must be positive, but was ", required);
  a->take(c, required, std::move(done));
  return {};
}

// Container and name.
Status ref_handle(ShapeContext& c) {
  c.output(0, {2});
  return {};
}

}  // namespace

Status run_apply_gradient(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<AccumulatorBase> a, handle_input<AccumulatorBase>(c));
  std::vector<DType> inputs{c.node().input_types()[0], DType::kInt64};
  append_gradient(inputs, c.num_inputs() == 5, a->dtype());
  WEFT_RETURN_IF_ERROR(check_types(c, inputs, {}));
  WEFT_RETURN_IF_ERROR(check_scalar("local_step", c.input(1)));
  return a->apply(c, c.input(1).data<int64_t>()[0]);
}

void run_take_gradient(KernelContext& c, Kernel::Done done) {
  if (Status s = start_take(c, done); !s.ok()) done(s);
}

void conditional_accumulator(Registry& r) {
  r.add("AccumulatorApplyGradient")
      .doc("Adds a gradient unless its step is past, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("local_step: int64")
      .in("gradient: dtype")
      .attr(kGradientTypes)
      .shape(shapes::no_outputs)
      .cpu(run_apply_gradient);

  r.add("AccumulatorNumAccumulated")
      .doc("Gives the number of gradients added so far, by a version 1 handle.")
      .in("handle: Ref(string)")
      .out("num_accumulated: int32")
      .shape(shapes::scalar)
      .cpu(run_count);

  r.add("AccumulatorSetGlobalStep")
      .doc("Sets the step from which gradients count, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("new_global_step: int64")
      .shape(shapes::no_outputs)
      .cpu(run_set_step);

  r.add("AccumulatorTakeGradient")
      .doc("Takes the sum or mean when enough gradients came, and starts the next step, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("num_required: int32")
      .out("average: dtype")
      .attr(kGradientTypes)
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_take_gradient>::create);

  r.add("ConditionalAccumulator")
      .doc("Makes or finds an accumulator of gradients, behind a version 1 handle.")
      .out("handle: Ref(string)")
      .attr(kGradientTypes)
      .attr("shape: shape")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
      .stateful()
      .effect_free()
      .shape(ref_handle)
      .cpu_make(HandleKernel<DenseAccumulator, AccumulatorBase>::create, types<half, float, double>("dtype"));

  r.add("ResourceAccumulatorApplyGradient")
      .doc("Adds a gradient unless its step is past.")
      .in("handle: resource")
      .in("local_step: int64")
      .in("gradient: dtype")
      .attr(kGradientTypes)
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(run_apply_gradient);

  r.add("ResourceAccumulatorNumAccumulated")
      .doc("Gives the number of gradients added so far.")
      .in("handle: resource")
      .out("num_accumulated: int32")
      .stateful()
      .effect_free()
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
      .attr(kGradientTypes)
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<run_take_gradient>::create);

  r.add("ResourceConditionalAccumulator")
      .doc("Makes or finds an accumulator of gradients.")
      .out("handle: resource")
      .attr(kGradientTypes)
      .attr("shape: shape")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<DenseAccumulator, AccumulatorBase>::create, types<half, float, double>("dtype"));
}

}  // namespace weft_engine::ops
