// What it costs to call a kernel of a C++ source (REGISTER_KERNEL_BUILDER) beside one of the engine, by TFE_Execute: four numbers, negated. Run by
// custom_op.py.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"

using namespace tensorflow;  // NOLINT

REGISTER_OP("BenchNeg").Input("x: float").Output("y: float").SetShapeFn(shape_inference::UnchangedShape);

class BenchNegOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    const auto in = x.flat<float>();
    auto out = y->flat<float>();
    for (int64_t i = 0; i < in.size(); ++i) out(i) = -in(i);
  }
};
REGISTER_KERNEL_BUILDER(Name("BenchNeg").Device(DEVICE_CPU), BenchNegOp);

#ifndef LIBRARY
double Seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int main() {
  TF_Status* s = TF_NewStatus();
  TFE_ContextOptions* options = TFE_NewContextOptions();
  TFE_Context* context = TFE_NewContext(options, s);
  const int64_t dims[] = {4};
  TF_Tensor* t = TF_AllocateTensor(TF_FLOAT, dims, 1, 16);
  std::fill_n(static_cast<float*>(TF_TensorData(t)), 4, 1.0f);
  TFE_TensorHandle* x = TFE_NewTensorHandle(t, s);
  const auto microseconds = [&](const char* name) {
    constexpr int kCalls = 20000;
    const double start = Seconds();
    for (int i = 0; i < kCalls; ++i) {
      TFE_Op* op = TFE_NewOp(context, name, s);
      TFE_OpAddInput(op, x, s);
      TFE_TensorHandle* y = nullptr;
      int n = 1;
      TFE_Execute(op, &y, &n, s);
      TFE_DeleteOp(op);
      TFE_DeleteTensorHandle(y);
    }
    if (TF_GetCode(s) != TF_OK) std::printf("%s\n", TF_Message(s));
    return (Seconds() - start) * 1e6 / kCalls;
  };
  std::vector<double> own, engine;
  for (int round = 0; round < 26; ++round) {
    own.push_back(microseconds("BenchNeg"));
    engine.push_back(microseconds("Neg"));
  }
  const auto median = [](std::vector<double> v) {
    v.erase(v.begin());  // warming up
    std::nth_element(v.begin(), v.begin() + 12, v.end());
    return v[12];
  };
  std::printf("TFE_Execute: %.3f us, Neg %.3f us, ratio %.2f\n", median(own), median(engine), median(own) / median(engine));
  TFE_DeleteTensorHandle(x);
  TF_DeleteTensor(t);
  TFE_DeleteContext(context);
  TFE_DeleteContextOptions(options);
  TF_DeleteStatus(s);
}
#endif
