// Gradients of ops as functions: REGISTER_OP_GRADIENT with FunctionDefHelper. function_gradients.py uses them.
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;  // NOLINT
typedef FunctionDefHelper FDH;

namespace {

template <class T, class F>
void Apply(OpKernelContext* c, F f) {
  Tensor* out = nullptr;
  OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &out));
  const auto x = c->input(0).flat<T>();
  for (int64_t i = 0; i < x.size(); ++i) out->flat<T>()(i) = f(x(i));
}

// y = x^power
class PowerOp : public OpKernel {
 public:
  explicit PowerOp(OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("power", &power_)); }
  void Compute(OpKernelContext* c) override {
    if (input_type(0) == DT_FLOAT) Apply<float>(c, [this](float x) { return Power(x); });
    else Apply<double>(c, [this](double x) { return Power(x); });
  }

 private:
  template <class T>
  T Power(T x) const {
    T y = 1;
    for (int i = 0; i < power_; ++i) y *= x;
    return y;
  }
  int power_ = 0;
};

// The rows of x, one by one; what comes back is put together again.
class RowsOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    OP_REQUIRES(c, c->input(0).dims() == 2 && c->input(0).dim_size(0) == num_outputs(), errors::InvalidArgument("as many rows as outputs"));
    const auto x = c->input(0).matrix<float>();
    for (int i = 0; i < num_outputs(); ++i) {
      Tensor* out = nullptr;
      OP_REQUIRES_OK(c, c->allocate_output(i, TensorShape({x.dimension(1)}), &out));
      for (int64_t k = 0; k < x.dimension(1); ++k) out->vec<float>()(k) = x(i, k);
    }
  }
};

class PassOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override { c->set_output(0, c->input(0)); }
};

}  // namespace

REGISTER_OP("WfPower").Input("x: T").Output("y: T").Attr("T: {float, double}").Attr("power: int >= 1").SetShapeFn(shape_inference::UnchangedShape);
REGISTER_KERNEL_BUILDER(Name("WfPower").Device(DEVICE_CPU), PowerOp);
REGISTER_OP("WfRows").Input("x: float").Output("rows: N * float").Attr("N: int");
REGISTER_KERNEL_BUILDER(Name("WfRows").Device(DEVICE_CPU), RowsOp);
REGISTER_OP("WfPass").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);
REGISTER_KERNEL_BUILDER(Name("WfPass").Device(DEVICE_CPU), PassOp);
REGISTER_OP("WfFails").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);
REGISTER_KERNEL_BUILDER(Name("WfFails").Device(DEVICE_CPU), PassOp);
REGISTER_OP("WfShort").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);
REGISTER_KERNEL_BUILDER(Name("WfShort").Device(DEVICE_CPU), PassOp);

// power * x^(power - 1) * dy, or dy
absl::Status PowerGrad(const AttrSlice& attrs, FunctionDef* g) {
  int power = 0;
  TF_RETURN_IF_ERROR(GetNodeAttr(attrs, "power", &power));
  if (power == 1) {
    *g = FDH::Define({"x: T", "dy: T"}, {"dx: T"}, {{"T: {float, double}"}}, {{{"dx"}, "Identity", {"dy"}, {{"T", "$T"}}}});
    return absl::OkStatus();
  }
  *g = FDH::Define(
      // Arguments
      {"x: T", "dy: T"},
      // Results
      {"dx: T"},
      // Attributes
      {{"T: {float, double}"}},
      // Nodes
      {{{"lower"}, "WfPower", {"x"}, {{"T", "$T"}, {"power", power - 1}}},
       FDH::Const("int_power", power),
       {{"factor"}, "Cast", {"int_power"}, {{"SrcT", DT_INT32}, {"DstT", "$T"}}},
       {{"slope"}, "Mul", {"lower", "factor"}, {{"T", "$T"}}, {"int_power"}},
       {{"dx"}, "Mul", {"slope", "dy"}, {{"T", "$T"}}}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("WfPower", PowerGrad);

absl::Status RowsGrad(const AttrSlice& attrs, FunctionDef* g) {
  int n = 0;
  TF_RETURN_IF_ERROR(GetNodeAttr(attrs, "N", &n));
  std::vector<std::string> in = {"x: float"}, rows;
  for (int i = 0; i < n; ++i) {
    in.push_back(strings::StrCat("dy", i, ": float"));
    rows.push_back(strings::StrCat("dy", i));
  }
  *g = FDH::Create("RowsGrad", in, {"dx: float"}, {}, {{{"stack"}, "Pack", rows, {{"T", DT_FLOAT}, {"N", n}, {"axis", 0}}}},
                   {{"dx", "stack:output:0"}});
  return absl::OkStatus();
}
REGISTER_OP_GRADIENT("WfRows", RowsGrad);

REGISTER_OP_NO_GRADIENT("WfPass");
REGISTER_OP_GRADIENT("WfFails", [](const AttrSlice&, FunctionDef*) -> absl::Status { return errors::Unavailable("no gradient today"); });
REGISTER_OP_GRADIENT("WfShort", [](const AttrSlice&, FunctionDef* g) -> absl::Status {
  *g = FDH::Define({"x: float"}, {"dx: float"}, {}, {{{"dx"}, "Identity", {"x"}, {{"T", DT_FLOAT}}}});
  return absl::OkStatus();
});
