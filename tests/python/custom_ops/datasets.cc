// Datasets as custom ops write them: a source with state that is saved, transformations of one and two inputs, one with a thread of its own, and an op
// that walks over a dataset by itself.
#include <deque>

#include "tensorflow/core/framework/common_shape_fns.h"
#include "tensorflow/core/framework/dataset.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/partial_tensor_shape.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/mutex.h"

namespace tensorflow {
namespace data {
namespace {

REGISTER_OP("TestCountDataset")
    .Input("limit: int64")
    .Attr("what: string = ''")
    .Output("handle: variant")
    .SetIsStateful()
    .SetShapeFn(shape_inference::ScalarShape);

class CountDatasetOp : public DatasetOpKernel {
 public:
  explicit CountDatasetOp(OpKernelConstruction* ctx) : DatasetOpKernel(ctx) { OP_REQUIRES_OK(ctx, ctx->GetAttr("what", &what_)); }

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase** output) override {
    int64_t limit = 0;
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "limit", &limit));
    OP_REQUIRES(ctx, limit >= 0, errors::InvalidArgument("limit must not be negative, got ", limit));
    *output = new Dataset(ctx, limit, what_);
  }

 private:
  class Dataset : public DatasetBase {
   public:
    Dataset(OpKernelContext* ctx, int64_t limit, const std::string& what) : DatasetBase(DatasetContext(ctx)), limit_(limit), what_(what) {}

    std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
      return std::unique_ptr<IteratorBase>(new Iterator({this, prefix + "::TestCount"}));
    }
    const DataTypeVector& output_dtypes() const override {
      static auto* const types = new DataTypeVector({DT_INT64, DT_STRING});
      return *types;
    }
    const std::vector<PartialTensorShape>& output_shapes() const override {
      static auto* const shapes = new std::vector<PartialTensorShape>({PartialTensorShape({}), PartialTensorShape({1})});
      return *shapes;
    }
    std::string DebugString() const override { return "TestCountDatasetOp::Dataset"; }
    int64_t CardinalityInternal(CardinalityOptions) const override { return limit_; }
    Status InputDatasets(std::vector<const DatasetBase*>* inputs) const override {
      inputs->clear();
      return OkStatus();
    }
    Status CheckExternalState() const override {
      return what_ == "external" ? errors::FailedPrecondition("the moon is not in the graph") : OkStatus();
    }

   protected:
    Status AsGraphDefInternal(SerializationContext*, DatasetGraphDefBuilder* b, Node** output) const override {
      Node* limit = nullptr;
      TF_RETURN_IF_ERROR(b->AddScalar(limit_, &limit));
      AttrValue what;
      b->BuildAttrValue(what_, &what);
      return b->AddDataset(this, {limit}, {{"what", what}}, output);
    }

   private:
    class Iterator : public DatasetIterator<Dataset> {
     public:
      explicit Iterator(const Params& params) : DatasetIterator<Dataset>(params) {}
      Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors, bool* end_of_sequence) override {
        mutex_lock l(mu_);
        if (next_ == dataset()->limit_) {
          *end_of_sequence = true;
          return OkStatus();
        }
        const std::string& what = dataset()->what_;
        if (next_ == 2 && what == "fail") return errors::DataLoss("element 2 is broken");
        if (next_ == 2 && what == "out of range") return errors::OutOfRange("too far");
        Tensor number(ctx->allocator({}), DT_INT64, {});
        number.scalar<int64_t>()() = next_;
        Tensor text(cpu_allocator(), DT_STRING, {1});
        text.vec<tstring>()(0) = full_name("element").find("TestCount") == std::string::npos ? "?" : "element " + std::to_string(next_);
        out_tensors->emplace_back(std::move(number));
        out_tensors->emplace_back(std::move(text));
        ++next_;
        *end_of_sequence = false;
        return OkStatus();
      }

     protected:
      std::shared_ptr<model::Node> CreateNode(IteratorContext*, model::Node::Args args) const override {
        return model::MakeSourceNode(std::move(args));
      }
      Status SaveInternal(SerializationContext*, IteratorStateWriter* writer) override {
        mutex_lock l(mu_);
        return writer->WriteScalar(full_name("next"), next_);
      }
      Status RestoreInternal(IteratorContext*, IteratorStateReader* reader) override {
        mutex_lock l(mu_);
        return reader->ReadScalar(full_name("next"), &next_);
      }

     private:
      mutex mu_;
      int64_t next_ TF_GUARDED_BY(mu_) = 0;
    };
    const int64_t limit_;
    const std::string what_;
  };
  std::string what_;
};
REGISTER_KERNEL_BUILDER(Name("TestCountDataset").Device(DEVICE_CPU), CountDatasetOp);

REGISTER_OP("TestEveryDataset")
    .Input("input_dataset: variant")
    .Input("step: int64")
    .Output("handle: variant")
    .Attr("output_types: list(type) >= 1")
    .Attr("output_shapes: list(shape) >= 1")
    .SetShapeFn(shape_inference::ScalarShape);

class EveryDatasetOp : public UnaryDatasetOpKernel {
 public:
  using UnaryDatasetOpKernel::UnaryDatasetOpKernel;

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase* input, DatasetBase** output) override {
    int64_t step = 0;
    OP_REQUIRES_OK(ctx, ParseScalarArgument<int64_t>(ctx, "step", &step));
    *output = new Dataset(ctx, input, step);
  }

 private:
  class Dataset : public DatasetBase {
   public:
    Dataset(OpKernelContext* ctx, const DatasetBase* input, int64_t step) : DatasetBase(DatasetContext(ctx)), input_(input), step_(step) {
      input_->Ref();
    }
    ~Dataset() override { input_->Unref(); }
    std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
      return std::make_unique<Iterator>(Iterator::Params{this, strings::StrCat(prefix, "::TestEvery")});
    }
    const DataTypeVector& output_dtypes() const override { return input_->output_dtypes(); }
    const std::vector<PartialTensorShape>& output_shapes() const override { return input_->output_shapes(); }
    std::string DebugString() const override { return "TestEveryDatasetOp::Dataset"; }
    int64_t CardinalityInternal(CardinalityOptions options) const override {
      const int64_t n = input_->Cardinality(options);
      return n < 0 ? n : (n + step_ - 1) / step_;
    }
    Status InputDatasets(std::vector<const DatasetBase*>* inputs) const override {
      inputs->push_back(input_);
      return OkStatus();
    }
    Status CheckExternalState() const override { return input_->CheckExternalState(); }

   protected:
    Status AsGraphDefInternal(SerializationContext* ctx, DatasetGraphDefBuilder* b, Node** output) const override {
      Node *input = nullptr, *step = nullptr;
      TF_RETURN_IF_ERROR(b->AddInputDataset(ctx, input_, &input));
      TF_RETURN_IF_ERROR(b->AddScalar(step_, &step));
      return b->AddDataset(this, {input, step}, output);
    }

   private:
    class Iterator : public DatasetIterator<Dataset> {
     public:
      explicit Iterator(const Params& params) : DatasetIterator<Dataset>(params) {}
      Status Initialize(IteratorContext* ctx) override { return dataset()->input_->MakeIterator(ctx, this, prefix(), &input_impl_); }
      Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors, bool* end_of_sequence) override {
        mutex_lock l(mu_);
        if (!input_impl_) {
          *end_of_sequence = true;
          return OkStatus();
        }
        TF_RETURN_IF_ERROR(input_impl_->GetNext(ctx, out_tensors, end_of_sequence));
        int skipped = 0;
        bool ended = *end_of_sequence;
        if (!ended) TF_RETURN_IF_ERROR(input_impl_->Skip(ctx, static_cast<int>(dataset()->step_ - 1), &ended, &skipped));
        if (ended) input_impl_.reset();
        return OkStatus();
      }

     protected:
      std::shared_ptr<model::Node> CreateNode(IteratorContext*, model::Node::Args args) const override {
        return model::MakeKnownRatioNode(std::move(args), 1.0);
      }
      Status SaveInternal(SerializationContext* ctx, IteratorStateWriter* writer) override {
        mutex_lock l(mu_);
        if (!input_impl_) return writer->WriteScalar(full_name("ended"), "");
        return SaveInput(ctx, writer, input_impl_);
      }
      Status RestoreInternal(IteratorContext* ctx, IteratorStateReader* reader) override {
        mutex_lock l(mu_);
        if (!reader->Contains(full_name("ended"))) return RestoreInput(ctx, reader, input_impl_);
        input_impl_.reset();
        return OkStatus();
      }

     private:
      mutex mu_;
      std::unique_ptr<IteratorBase> input_impl_ TF_GUARDED_BY(mu_);
    };
    const DatasetBase* const input_;
    const int64_t step_;
  };
};
REGISTER_KERNEL_BUILDER(Name("TestEveryDataset").Device(DEVICE_CPU), EveryDatasetOp);

// Elements of two datasets in turn, drawn by a thread of its own.
REGISTER_OP("TestTurnsDataset")
    .Input("input_dataset: variant")
    .Input("another_dataset: variant")
    .Output("handle: variant")
    .SetShapeFn(shape_inference::ScalarShape);

class TurnsDatasetOp : public BinaryDatasetOpKernel {
 public:
  using BinaryDatasetOpKernel::BinaryDatasetOpKernel;

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase* input, DatasetBase* another, DatasetBase** output) override {
    OP_REQUIRES(ctx, input->output_dtypes() == another->output_dtypes(), errors::InvalidArgument("the datasets have other types"));
    *output = new Dataset(ctx, input, another);
  }

 private:
  class Dataset : public DatasetBase {
   public:
    Dataset(OpKernelContext* ctx, const DatasetBase* a, const DatasetBase* b) : DatasetBase(DatasetContext(ctx)), inputs_{a, b} {
      for (const DatasetBase* input : inputs_) input->Ref();
    }
    ~Dataset() override {
      for (const DatasetBase* input : inputs_) input->Unref();
    }
    std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const override {
      return std::make_unique<Iterator>(Iterator::Params{this, strings::StrCat(prefix, "::TestTurns")});
    }
    const DataTypeVector& output_dtypes() const override { return inputs_[0]->output_dtypes(); }
    const std::vector<PartialTensorShape>& output_shapes() const override { return inputs_[0]->output_shapes(); }
    std::string DebugString() const override { return "TestTurnsDatasetOp::Dataset"; }
    Status InputDatasets(std::vector<const DatasetBase*>* inputs) const override {
      *inputs = inputs_;
      return OkStatus();
    }
    Status CheckExternalState() const override { return OkStatus(); }

   protected:
    Status AsGraphDefInternal(SerializationContext*, DatasetGraphDefBuilder*, Node**) const override {
      return errors::Unimplemented(DebugString(), " does not support serialization");
    }

   private:
    class Iterator : public DatasetIterator<Dataset> {
     public:
      explicit Iterator(const Params& params) : DatasetIterator<Dataset>(params) {}
      ~Iterator() override {
        {
          mutex_lock l(mu_);
          stop_ = true;
          changed_.notify_all();
        }
        thread_.reset();
      }
      Status Initialize(IteratorContext* ctx) override {
        for (int i = 0; i < 2; ++i) {
          TF_RETURN_IF_ERROR(dataset()->inputs_[i]->MakeIterator(ctx, this, strings::StrCat(prefix(), "[", i, "]"), &input_impls_[i]));
        }
        return OkStatus();
      }
      Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors, bool* end_of_sequence) override {
        mutex_lock l(mu_);
        if (!thread_) {
          auto shared = std::make_shared<IteratorContext>(*ctx);
          thread_ = ctx->StartThread("test_turns", [this, shared] { Draw(shared.get()); });
        }
        while (drawn_.empty() && !ended_) changed_.wait(l);
        *end_of_sequence = drawn_.empty();
        if (*end_of_sequence) return status_;
        *out_tensors = std::move(drawn_.front());
        drawn_.pop_front();
        changed_.notify_all();
        return OkStatus();
      }

     protected:
      Status SaveInternal(SerializationContext*, IteratorStateWriter*) override { return errors::Unimplemented("SaveInternal"); }
      Status RestoreInternal(IteratorContext*, IteratorStateReader*) override { return errors::Unimplemented("RestoreInternal"); }

     private:
      void Draw(IteratorContext* ctx) {
        for (int i = 0;; i = 1 - i) {
          std::vector<Tensor> element;
          bool end = false;
          const Status s = input_impls_[i]->GetNext(ctx, &element, &end);
          mutex_lock l(mu_);
          while (drawn_.size() > 2 && !stop_) changed_.wait(l);
          if (!s.ok() || end || stop_) {
            status_ = s;
            ended_ = true;
          } else {
            drawn_.push_back(std::move(element));
          }
          changed_.notify_all();
          if (ended_) return;
        }
      }
      mutex mu_;
      condition_variable changed_;
      std::deque<std::vector<Tensor>> drawn_ TF_GUARDED_BY(mu_);
      bool ended_ TF_GUARDED_BY(mu_) = false, stop_ TF_GUARDED_BY(mu_) = false;
      Status status_ TF_GUARDED_BY(mu_);
      std::unique_ptr<IteratorBase> input_impls_[2];
      std::unique_ptr<Thread> thread_;
    };
    const std::vector<const DatasetBase*> inputs_;
  };
};
REGISTER_KERNEL_BUILDER(Name("TestTurnsDataset").Device(DEVICE_CPU), TurnsDatasetOp);

// What a dataset is, seen from an op.
REGISTER_OP("TestDescribe").Input("dataset: variant").Output("text: string").SetIsStateful().SetShapeFn(shape_inference::ScalarShape);

class DescribeOp : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* ctx) override {
    DatasetBase* dataset = nullptr;
    OP_REQUIRES_OK(ctx, GetDatasetFromVariantTensor(ctx->input(0), &dataset));
    std::string text = strings::StrCat(DataTypeVectorString(dataset->output_dtypes()), " ", dataset->Cardinality(CardinalityOptions()));
    for (const PartialTensorShape& shape : dataset->output_shapes()) strings::StrAppend(&text, " ", shape.DebugString());
    Tensor* out = nullptr;
    OP_REQUIRES_OK(ctx, ctx->allocate_output(0, {}, &out));
    out->scalar<tstring>()() = text;
  }
};
REGISTER_KERNEL_BUILDER(Name("TestDescribe").Device(DEVICE_CPU), DescribeOp);

}  // namespace
}  // namespace data
}  // namespace tensorflow
