// Custom ops in the manner of TensorFlow 2.21's own: this file compiles with TensorFlow's headers too, with which program.py printed ops.out.
#include <algorithm>
#include <string>
#include <vector>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/register_types.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/resource_op_kernel.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/util/work_sharder.h"

namespace tensorflow {
namespace {

using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// ---- Attributes of every kind ----

REGISTER_OP("WtAttrs")
    .Output("text: string")
    .Attr("i: int = 7")
    .Attr("f: float = 1.5")
    .Attr("b: bool = true")
    .Attr("s: string = 'hello'")
    .Attr("t: type = DT_INT32")
    .Attr("shape: shape = {dim {size: 2} dim {size: 3}}")
    .Attr("partial: shape = {unknown_rank: true}")
    .Attr("ints: list(int) = [1, 2, 3]")
    .Attr("fs: list(float) = []")
    .Attr("bs: list(bool) = [true, false]")
    .Attr("ss: list(string) = ['a', 'bc']")
    .Attr("ts: list(type) = [DT_FLOAT, DT_STRING]")
    .SetShapeFn(shape_inference::ScalarShape)
    .Doc("Says what its attributes are.");

class AttrsOp : public OpKernel {
 public:
  explicit AttrsOp(OpKernelConstruction* c) : OpKernel(c) {
    int32_t i = 0;
    int64_t wide = 0;
    float f = 0;
    bool b = false;
    std::string s;
    DataType t;
    TensorShape shape;
    PartialTensorShape partial;
    std::vector<int32_t> is;
    std::vector<float> fs;
    std::vector<bool> bs;
    std::vector<std::string> ss;
    std::vector<DataType> ts;
    OP_REQUIRES_OK(c, c->GetAttr("i", &i));
    OP_REQUIRES_OK(c, c->GetAttr("i", &wide));
    OP_REQUIRES_OK(c, c->GetAttr("f", &f));
    OP_REQUIRES_OK(c, c->GetAttr("b", &b));
    OP_REQUIRES_OK(c, c->GetAttr("s", &s));
    OP_REQUIRES_OK(c, c->GetAttr("t", &t));
    OP_REQUIRES_OK(c, c->GetAttr("shape", &shape));
    OP_REQUIRES_OK(c, c->GetAttr("partial", &partial));
    OP_REQUIRES_OK(c, c->GetAttr("ints", &is));
    OP_REQUIRES_OK(c, c->GetAttr("fs", &fs));
    OP_REQUIRES_OK(c, c->GetAttr("bs", &bs));
    OP_REQUIRES_OK(c, c->GetAttr("ss", &ss));
    OP_REQUIRES_OK(c, c->GetAttr("ts", &ts));
    OP_REQUIRES(c, i >= 0, absl::InvalidArgumentError("i must not be negative"));
    text_ = absl::StrCat(i, " ", wide, " ", f, " ", b ? "true" : "false", " ", s, " ", DataTypeString(t), " ", shape.DebugString(), " ",
                         partial.DebugString());
    for (int32_t v : is) absl::StrAppend(&text_, " ", v);
    for (float v : fs) absl::StrAppend(&text_, " ", v);
    for (bool v : bs) absl::StrAppend(&text_, v ? " T" : " F");
    for (const std::string& v : ss) absl::StrAppend(&text_, " ", v);
    for (DataType v : ts) absl::StrAppend(&text_, " ", DataTypeString(v));
    absl::StrAppend(&text_, c->HasAttr("nothing") ? " nothing" : "", " ", c->device_type().type_string());
  }
  void Compute(OpKernelContext* c) override {
    Tensor* out = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, TensorShape({}), &out));
    out->scalar<tstring>()() = text_;
  }

 private:
  std::string text_;
};
REGISTER_KERNEL_BUILDER(Name("WtAttrs").Device(DEVICE_CPU), AttrsOp);

// ---- One kernel for each type; an input's memory used again ----

REGISTER_OP("WtRelu").Input("x: T").Output("y: T").Attr("T: realnumbertype").SetShapeFn(shape_inference::UnchangedShape);

template <typename T>
class ReluOp : public OpKernel {
 public:
  explicit ReluOp(OpKernelConstruction* c) : OpKernel(c) {}
  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->forward_input_or_allocate_output({0}, 0, x.shape(), &y));
    auto in = x.flat<T>();
    auto out = y->flat<T>();
    for (int64_t i = 0; i < in.size(); ++i) out(i) = std::max(in(i), T(0));
  }
};
#define REGISTER_RELU(T) REGISTER_KERNEL_BUILDER(Name("WtRelu").Device(DEVICE_CPU).TypeConstraint<T>("T"), ReluOp<T>);
TF_CALL_REAL_NUMBER_TYPES(REGISTER_RELU)
#undef REGISTER_RELU

// ---- Lists of inputs and outputs ----

REGISTER_OP("WtPrefixSums")
    .Input("xs: N * T")
    .Output("sums: N * T")
    .Attr("N: int >= 1")
    .Attr("T: {float, int32}")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle all = c->input(0);
      for (int i = 1; i < c->num_inputs(); ++i) TF_RETURN_IF_ERROR(c->Merge(all, c->input(i), &all));
      for (int i = 0; i < c->num_outputs(); ++i) c->set_output(i, all);
      return absl::OkStatus();
    });

template <typename T>
class PrefixSumsOp : public OpKernel {
 public:
  explicit PrefixSumsOp(OpKernelConstruction* c) : OpKernel(c) {}
  void Compute(OpKernelContext* c) override {
    OpInputList xs;
    OpOutputList sums;
    OP_REQUIRES_OK(c, c->input_list("xs", &xs));
    OP_REQUIRES_OK(c, c->output_list("sums", &sums));
    Tensor total;
    OP_REQUIRES_OK(c, c->allocate_temp(xs[0].dtype(), xs[0].shape(), &total));
    total.flat<T>().setZero();
    for (int i = 0; i < xs.size(); ++i) {
      OP_REQUIRES(c, xs[i].shape() == total.shape(),
                  errors::InvalidArgument("shapes differ: ", total.shape().DebugString(), " and ", xs[i].shape().DebugString()));
      Tensor* sum = nullptr;
      OP_REQUIRES_OK(c, sums.allocate(i, total.shape(), &sum));
      for (int64_t k = 0; k < total.NumElements(); ++k) sum->flat<T>()(k) = total.flat<T>()(k) += xs[i].flat<T>()(k);
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("WtPrefixSums").Device(DEVICE_CPU).TypeConstraint<float>("T"), PrefixSumsOp<float>);
REGISTER_KERNEL_BUILDER(Name("WtPrefixSums").Device(DEVICE_CPU).TypeConstraint<int32_t>("T"), PrefixSumsOp<int32_t>);

// ---- Matrices, views and threads ----

REGISTER_OP("WtMatMul")
    .Input("a: float")
    .Input("b: float")
    .Output("c: float")
    .Attr("transpose_a: bool = false")
    .Attr("transpose_b: bool = false")
    .SetShapeFn(shape_inference::MatMulShape);

class MatMulOp : public OpKernel {
 public:
  explicit MatMulOp(OpKernelConstruction* c) : OpKernel(c) {}
  void Compute(OpKernelContext* c) override {
    const Tensor* a = nullptr;
    const Tensor* b = nullptr;
    OP_REQUIRES_OK(c, c->input("a", &a));
    OP_REQUIRES_OK(c, c->input("b", &b));
    OP_REQUIRES(c, TensorShapeUtils::IsMatrix(a->shape()) && TensorShapeUtils::IsMatrix(b->shape()),
                errors::InvalidArgument("a and b must be matrices, got ", a->shape().DebugString(), " and ", b->shape().DebugString()));
    OP_REQUIRES(c, a->dim_size(1) == b->dim_size(0), errors::InvalidArgument("Matrix size-incompatible: ", a->dim_size(1), " and ", b->dim_size(0)));
    Tensor* out = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output("c", TensorShape({a->dim_size(0), b->dim_size(1)}), &out));
    auto x = a->matrix<float>();
    auto y = b->matrix<float>();
    auto z = out->matrix<float>();
    auto workers = c->device()->tensorflow_cpu_worker_threads();
    Shard(workers->num_threads, workers->workers, x.dimension(0), 1000 * y.dimension(1) * x.dimension(1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = 0; j < y.dimension(1); ++j) {
          float sum = 0;
          for (int64_t k = 0; k < x.dimension(1); ++k) sum += x(i, k) * y(k, j);
          z(i, j) = sum;
        }
      }
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("WtMatMul").Device(DEVICE_CPU), MatMulOp);

// ---- Strings ----

REGISTER_OP("WtReverse").Input("x: string").Output("y: string").Output("lengths: int64").SetShapeFn([](InferenceContext* c) {
  c->set_output(0, c->input(0));
  c->set_output(1, c->input(0));
  return absl::OkStatus();
});

class ReverseOp : public OpKernel {
 public:
  explicit ReverseOp(OpKernelConstruction* c) : OpKernel(c) {}
  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    Tensor *y = nullptr, *lengths = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, x.shape(), &y));
    OP_REQUIRES_OK(c, c->allocate_output(1, x.shape(), &lengths));
    for (int64_t i = 0; i < x.NumElements(); ++i) {
      std::string s = x.flat<tstring>()(i);
      std::reverse(s.begin(), s.end());
      y->flat<tstring>()(i) = s;
      lengths->flat<int64_t>()(i) = static_cast<int64_t>(x.flat<tstring>()(i).size());
    }
  }
};
REGISTER_KERNEL_BUILDER(Name("WtReverse").Device(DEVICE_CPU), ReverseOp);

// ---- A kernel that answers later ----

REGISTER_OP("WtLater").Input("x: int32").Output("y: int32").SetShapeFn(shape_inference::UnchangedShape);

class LaterOp : public AsyncOpKernel {
 public:
  explicit LaterOp(OpKernelConstruction* c) : AsyncOpKernel(c) {}
  void ComputeAsync(OpKernelContext* c, DoneCallback done) override {
    OP_REQUIRES_ASYNC(c, c->input(0).dims() <= 1, errors::InvalidArgument("at most a vector"), done);
    c->device()->tensorflow_cpu_worker_threads()->workers->Schedule([c, done] {
      Tensor* y = nullptr;
      OP_REQUIRES_OK_ASYNC(c, c->allocate_output(0, c->input(0).shape(), &y), done);
      for (int64_t i = 0; i < y->NumElements(); ++i) y->flat<int32_t>()(i) = c->input(0).flat<int32_t>()(i) + 1;
      done();
    });
  }
};
REGISTER_KERNEL_BUILDER(Name("WtLater").Device(DEVICE_CPU), LaterOp);

// ---- A resource ----

class Counter : public ResourceBase {
 public:
  std::string DebugString() const override { return "counter"; }
  int64_t Add(int64_t n) {
    mutex_lock lock(mu_);
    return total_ += n;
  }

 private:
  mutex mu_;
  int64_t total_ TF_GUARDED_BY(mu_) = 0;
};

REGISTER_OP("WtCounter")
    .Output("handle: resource")
    .Attr("container: string = ''")
    .Attr("shared_name: string = ''")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape);
REGISTER_OP("WtCount").Input("handle: resource").Input("n: int64").Output("total: int64").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);

class CounterOp : public ResourceOpKernel<Counter> {
 public:
  explicit CounterOp(OpKernelConstruction* c) : ResourceOpKernel<Counter>(c) {}

 private:
  absl::Status CreateResource(Counter** counter) override {
    *counter = new Counter;
    return absl::OkStatus();
  }
};
REGISTER_KERNEL_BUILDER(Name("WtCounter").Device(DEVICE_CPU), CounterOp);

class CountOp : public OpKernel {
 public:
  explicit CountOp(OpKernelConstruction* c) : OpKernel(c) {}
  void Compute(OpKernelContext* c) override {
    core::RefCountPtr<Counter> counter;
    OP_REQUIRES_OK(c, LookupResource(c, HandleFromInput(c, 0), &counter));
    Tensor* total = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, TensorShape({}), &total));
    total->scalar<int64_t>()() = counter->Add(c->input(1).scalar<int64_t>()());
  }
};
REGISTER_KERNEL_BUILDER(Name("WtCount").Device(DEVICE_CPU), CountOp);

// ---- A shape that depends on values ----

REGISTER_OP("WtFill")
    .Input("dims: int32")
    .Input("like: T")
    .Output("filled: T")
    .Output("first_rows: T")
    .Attr("T: type")
    .Attr("rows: int = 2")
    .SetShapeFn([](InferenceContext* c) {
      ShapeHandle shape, like, first;
      TF_RETURN_IF_ERROR(c->WithRank(c->input(0), 1, &shape));
      TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(0, &shape));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 0, &like));
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(shape, 1, &shape));
      int rows = 0;
      TF_RETURN_IF_ERROR(c->GetAttr("rows", &rows));
      DimensionHandle d;
      TF_RETURN_IF_ERROR(c->Min(c->Dim(shape, 0), rows, &d));
      TF_RETURN_IF_ERROR(c->ReplaceDim(shape, 0, d, &first));
      c->set_output(0, shape);
      c->set_output(1, first);
      return absl::OkStatus();
    });

class FillOp : public OpKernel {
 public:
  explicit FillOp(OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("rows", &rows_)); }
  void Compute(OpKernelContext* c) override {
    TensorShape shape;
    auto dims = c->input(0).vec<int32_t>();
    OP_REQUIRES_OK(c, TensorShapeUtils::MakeShape(dims.data(), dims.size(), &shape));
    Tensor filled;
    OP_REQUIRES_OK(c, c->allocate_temp(DT_FLOAT, shape, &filled));
    filled.flat<float>().setConstant(c->input(1).scalar<float>()());
    c->set_output(0, filled);
    c->set_output(1, filled.Slice(0, std::min<int64_t>(rows_, shape.dim_size(0))));
  }

 private:
  int64_t rows_ = 0;
};
REGISTER_KERNEL_BUILDER(Name("WtFill").Device(DEVICE_CPU).TypeConstraint<float>("T"), FillOp);

}  // namespace
}  // namespace tensorflow
