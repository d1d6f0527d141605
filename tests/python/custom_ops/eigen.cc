// A kernel in Eigen's expressions, on the threads of the device.
#define EIGEN_USE_THREADS
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"

namespace tensorflow {
using CPUDevice = Eigen::ThreadPoolDevice;

REGISTER_OP("EigenAxpy")
    .Input("a: T")
    .Input("x: T")
    .Input("y: T")
    .Output("z: T")
    .Output("sums: T")
    .Attr("T: {float, double}")
    .SetShapeFn([](shape_inference::InferenceContext* c) {
      c->set_output(0, c->input(1));
      c->set_output(1, c->Vector(c->Dim(c->input(1), 0)));
      return OkStatus();
    });

template <typename Device, typename T>
class AxpyOp : public OpKernel {
 public:
  explicit AxpyOp(OpKernelConstruction* c) : OpKernel(c) {}
  void Compute(OpKernelContext* c) override {
    const Tensor &x = c->input(1), &y = c->input(2);
    OP_REQUIRES(c, TensorShapeUtils::IsMatrix(x.shape()) && x.shape() == y.shape(), errors::InvalidArgument("two matrices of one shape"));
    Tensor *z = nullptr, *sums = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &z));
    OP_REQUIRES_OK(c, c->allocate_output(1, TensorShape({x.dim_size(0)}), &sums));
    const Device& d = c->eigen_device<Device>();
    const T a = c->input(0).scalar<T>()();
    z->flat<T>().device(d) = x.flat<T>() * a + y.flat<T>();
    const Eigen::array<int, 1> columns{1};
    sums->vec<T>().device(d) = z->matrix<T>().sum(columns);
  }
};
#define REGISTER(T) REGISTER_KERNEL_BUILDER(Name("EigenAxpy").Device(DEVICE_CPU).TypeConstraint<T>("T"), AxpyOp<CPUDevice, T>);
TF_CALL_float(REGISTER) TF_CALL_double(REGISTER)
}  // namespace tensorflow
