// A dataset in C++: the squares of 0, 1, 2, ... below a limit. In Python:
//   ops = tf.load_op_library("./squares_dataset.so")
//   squares = tf.data.experimental.from_variant(ops.squares_dataset(100), tf.TensorSpec([], tf.int64))
//   for batch in squares.map(lambda x: x + 1).batch(4): ...
#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/op.h"

using namespace tensorflow;
using namespace tensorflow::data;

REGISTER_OP("SquaresDataset").Input("limit: int64").Output("handle: variant").SetShapeFn(shape_inference::ScalarShape);

class SquaresDatasetOp : public DatasetOpKernel {
 public:
  using DatasetOpKernel::DatasetOpKernel;
  void MakeDataset(OpKernelContext* ctx, DatasetBase** output) override {
    int64_t limit = 0;
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "limit", &limit));
    *output = new Dataset(ctx, limit);
  }

 private:
  class Dataset : public DatasetBase {
   public:
    Dataset(OpKernelContext* ctx, int64_t limit) : DatasetBase(DatasetContext(ctx)), limit_(limit) {}
    std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
      return std::make_unique<Iterator>(Iterator::Params{this, prefix + "::Squares"});
    }
    const DataTypeVector& output_dtypes() const override { return types_; }
    const std::vector<PartialTensorShape>& output_shapes() const override { return shapes_; }
    std::string DebugString() const override { return "SquaresDatasetOp::Dataset"; }
    Status CheckExternalState() const override { return OkStatus(); }
    Status AsGraphDefInternal(SerializationContext*, DatasetGraphDefBuilder* b, Node** output) const override {
      Node* limit = nullptr;
      TF_RETURN_IF_ERROR(b->AddScalar(limit_, &limit));
      return b->AddDataset(this, {limit}, output);
    }

   private:
    class Iterator : public DatasetIterator<Dataset> {
     public:
      using DatasetIterator<Dataset>::DatasetIterator;
      Status GetNextInternal(IteratorContext*, std::vector<Tensor>* out, bool* end) override {
        const mutex_lock lock(mu_);
        *end = next_ * next_ >= dataset()->limit_;
        if (!*end) out->emplace_back(next_ * next_), ++next_;
        return OkStatus();
      }
      Status SaveInternal(SerializationContext*, IteratorStateWriter* writer) override { return writer->WriteScalar(full_name("next"), next_); }
      Status RestoreInternal(IteratorContext*, IteratorStateReader* reader) override { return reader->ReadScalar(full_name("next"), &next_); }

     private:
      mutex mu_;
      int64_t next_ = 0;
    };
    const int64_t limit_;
    const DataTypeVector types_ = {DT_INT64};
    const std::vector<PartialTensorShape> shapes_ = {PartialTensorShape({})};
  };
};
REGISTER_KERNEL_BUILDER(Name("SquaresDataset").Device(DEVICE_CPU), SquaresDatasetOp);
