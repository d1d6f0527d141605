// Ops as programs in the wild have them: lists of types, shapes that depend on values, state beside the kernel, names of attributes read from the node.
#include <map>
#include <string>
#include <vector>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_mgr.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor_util.h"
#include "tensorflow/core/lib/strings/strcat.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/util/batch_util.h"
#include "tensorflow/core/util/work_sharder.h"

namespace {

using namespace tensorflow;  // NOLINT
using shape_inference::DimensionHandle;
using shape_inference::InferenceContext;
using shape_inference::ShapeHandle;

// ---- Any number of inputs of any types, described in one text ----
REGISTER_OP("DescribeAll")
    .Input("values: T")
    .Output("text: string")
    .Attr("T: list(type) >= 1")
    .Attr("names: list(string) = []")
    .Attr("weights: list(float) = [1.0, 2.5]")
    .Attr("shapes: list(shape) = []")
    .Attr("mode: {'short', 'long'} = 'short'")
    .SetShapeFn(shape_inference::ScalarShape);
class DescribeAll : public OpKernel {
 public:
  explicit DescribeAll(OpKernelConstruction* c) : OpKernel(c) {
    OP_REQUIRES_OK(c, c->GetAttr("T", &types_));
    OP_REQUIRES_OK(c, c->GetAttr("names", &names_));
    OP_REQUIRES_OK(c, c->GetAttr("shapes", &shapes_));
    OP_REQUIRES(c, names_.empty() || names_.size() == types_.size(),
                errors::InvalidArgument("got ", names_.size(), " names for ", types_.size(), " values"));
    std::vector<float> weights;
    OP_REQUIRES_OK(c, GetNodeAttr(def(), "weights", &weights));
    for (const float w : weights) strings::StrAppend(&weights_, " ", w);
    OP_REQUIRES_OK(c, GetNodeAttr(def(), "mode", &mode_));
    int none = 0;
    const auto missing = GetNodeAttr(def(), "nothing", &none);
    OP_REQUIRES(c, errors::IsNotFound(missing) && !HasNodeAttr(def(), "nothing"), errors::Internal("found what is not there"));
  }
  void Compute(OpKernelContext* c) override {
    OpInputList values;
    OP_REQUIRES_OK(c, c->input_list("values", &values));
    std::string text;
    for (int i = 0; i < values.size(); ++i) {
      strings::StrAppend(&text, names_.empty() ? std::to_string(i) : names_[static_cast<size_t>(i)], ":",
                         DataTypeString(types_[static_cast<size_t>(i)]), values[i].shape().DebugString(),
                         mode_ == "long" ? values[i].SummarizeValue(3) : "", ";");
    }
    for (const PartialTensorShape& s : shapes_) strings::StrAppend(&text, " ", s.DebugString());
    text += weights_;
    Tensor* out = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, TensorShape({}), &out));
    out->scalar<tstring>()() = text;
  }

 private:
  DataTypeVector types_;
  std::vector<std::string> names_;
  std::vector<PartialTensorShape> shapes_;
  std::string weights_, mode_;
};
REGISTER_KERNEL_BUILDER(Name("DescribeAll").Device(DEVICE_CPU), DescribeAll);

// ---- Shapes from values: rows of x for each count, in front of a given shape ----
REGISTER_OP("RepeatRows")
    .Input("x: T")
    .Input("counts: int64")
    .Input("shape: int32")
    .Output("y: T")
    .Output("filled: T")
    .Output("rest: int32")
    .Attr("T: {float, int32, string}")
    .SetShapeFn([](InferenceContext* c) -> Status {
      ShapeHandle x, counts, rest, shape;
      DimensionHandle rows;
      TF_RETURN_IF_ERROR(c->WithRankAtLeast(c->input(0), 1, &x));
      TF_RETURN_IF_ERROR(c->WithRank(c->input(1), 1, &counts));
      TF_RETURN_IF_ERROR(c->Merge(c->Dim(x, 0), c->Dim(counts, 0), &rows));
      TF_RETURN_IF_ERROR(c->Subshape(x, 1, &rest));
      ShapeHandle y;
      TF_RETURN_IF_ERROR(c->Concatenate(c->Vector(InferenceContext::kUnknownDim), rest, &y));
      c->set_output(0, y);
      TF_RETURN_IF_ERROR(c->MakeShapeFromShapeTensor(2, &shape));
      c->set_output(1, shape);
      if (!c->RankKnown(x)) {
        c->set_output(2, c->UnknownShapeOfRank(1));
        return OkStatus();
      }
      DimensionHandle n;
      TF_RETURN_IF_ERROR(c->Subtract(c->MakeDim(c->Rank(x)), 1, &n));
      c->set_output(2, c->Vector(n));
      return OkStatus();
    });
template <class T>
class RepeatRows : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    const auto counts = c->input(1).vec<int64_t>();
    OP_REQUIRES(c, x.dim_size(0) == counts.size(), errors::InvalidArgument("one count for each of ", x.dim_size(0), " rows"));
    int64_t total = 0;
    for (int64_t i = 0; i < counts.size(); ++i) {
      OP_REQUIRES(c, counts(i) >= 0, errors::InvalidArgument("count ", i, " is ", counts(i)));
      total += counts(i);
    }
    TensorShape shape = x.shape();
    shape.set_dim(0, total);
    Tensor* y = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, shape, &y));
    int64_t at = 0;
    for (int64_t i = 0; i < counts.size(); ++i) {
      for (int64_t k = 0; k < counts(i); ++k) OP_REQUIRES_OK(c, batch_util::CopyContiguousSlices(x, i, at++, 1, y));
    }
    TensorShape filled;
    OP_REQUIRES_OK(c, TensorShapeUtils::MakeShape(c->input(2).vec<int32>().data(), c->input(2).NumElements(), &filled));
    Tensor* second = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(1, filled, &second));
    if (x.NumElements() > 0) second->flat<T>().setConstant(x.flat<T>()(0));
    Tensor* rest = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(2, TensorShape({x.dims() - 1}), &rest));
    for (int i = 1; i < x.dims(); ++i) rest->vec<int32>()(i - 1) = static_cast<int32>(x.dim_size(i));
  }
};
#define REGISTER(T) REGISTER_KERNEL_BUILDER(Name("RepeatRows").Device(DEVICE_CPU).TypeConstraint<T>("T"), RepeatRows<T>);
REGISTER(float)
REGISTER(int32)
REGISTER(tstring)
#undef REGISTER

// ---- Parts of a sparse tensor, looked at before there are values ----
REGISTER_OP("SparseParts").Input("indices: int64").Input("values: float").Input("shape: int64").SetShapeFn([](InferenceContext* c) -> Status {
  return shape_inference::ValidateSparseTensor(c, c->input(0), c->input(1), c->input(2));
});

// ---- State by name: a histogram that several kernels of a program share ----
class Histogram : public ResourceBase {
 public:
  std::string DebugString() const override {
    tf_shared_lock lock(mu_);
    return strings::StrCat("histogram of ", counts_.size(), " keys");
  }
  int64_t Add(const std::string& key, int64_t n) {
    mutex_lock lock(mu_);
    return counts_[key] += n;
  }

 private:
  mutable mutex mu_;
  std::map<std::string, int64_t> counts_ TF_GUARDED_BY(mu_);
};
REGISTER_OP("HistogramAdd")
    .Input("keys: string")
    .Output("counts: int64")
    .Attr("name_of_it: string")
    .SetIsStateful()
    .SetShapeFn(shape_inference::UnchangedShape);
class HistogramAdd : public OpKernel {
 public:
  explicit HistogramAdd(OpKernelConstruction* c) : OpKernel(c) { OP_REQUIRES_OK(c, c->GetAttr("name_of_it", &name_)); }
  void Compute(OpKernelContext* c) override {
    Histogram* histogram = nullptr;
    OP_REQUIRES_OK(c, c->resource_manager()->LookupOrCreate<Histogram>("tests", name_, &histogram, [](Histogram** made) {
      *made = new Histogram;
      return OkStatus();
    }));
    core::ScopedUnref unref(histogram);
    const auto keys = c->input(0).flat<tstring>();
    Tensor* out = nullptr;
    OP_REQUIRES_OK(c, c->allocate_output(0, c->input(0).shape(), &out));
    auto counts = out->flat<int64_t>();
    for (int64_t i = 0; i < keys.size(); ++i) counts(i) = histogram->Add(keys(i), 1);
  }

 private:
  std::string name_;
};
REGISTER_KERNEL_BUILDER(Name("HistogramAdd").Device(DEVICE_CPU), HistogramAdd);

// ---- Parts of a tensor, copied and put together again; nodes as messages ----
REGISTER_OP("Halves").Input("x: T").Output("y: T").Output("told: string").Attr("T: type").SetShapeFn([](InferenceContext* c) -> Status {
  ShapeHandle same, as_vector;
  TF_RETURN_IF_ERROR(c->WithRankAtMost(c->input(0), 3, &same));
  TF_RETURN_IF_ERROR(c->MakeShapeFromShapeProto(TensorShapeProto(), &as_vector));
  c->set_output(0, same);
  c->set_output(1, as_vector);
  return OkStatus();
});
class Halves : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* c) override {
    const Tensor& x = c->input(0);
    const int64_t n = x.dims() ? x.dim_size(0) : 0;
    std::vector<Tensor> parts;
    OP_REQUIRES_OK(c, tensor::Split(x, {n / 2, n - n / 2}, &parts));
    std::swap(parts[0], parts[1]);
    Tensor y;
    OP_REQUIRES_OK(c, tensor::Concat(parts, &y));
    const Tensor copy = tensor::DeepCopy(y);
    OP_REQUIRES(c, !copy.SharesBufferWith(y) || y.NumElements() == 0, errors::Internal("no copy"));
    c->set_output(0, copy);
    NodeDef node;
    OP_REQUIRES_OK(c, NodeDefBuilder("sum", "AddN").Input({{"a", 0, x.dtype()}, {"b", 1, x.dtype()}}).ControlInput("c").Finalize(&node));
    const auto wrong = NodeDefBuilder("sum", "AddN").Finalize(&node);
    Tensor told(DT_STRING, TensorShape({}));
    told.scalar<tstring>()() = strings::StrCat(SummarizeNodeDef(node), " ", wrong.message());
    c->set_output(1, told);
  }
};
REGISTER_KERNEL_BUILDER(Name("Halves").Device(DEVICE_CPU), Halves);

}  // namespace
