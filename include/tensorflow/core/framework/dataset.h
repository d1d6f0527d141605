// SPDX-License-Identifier: Apache-2.0
//
// Datasets in C++: DatasetOpKernel makes a DatasetBase, of which a DatasetIterator walks over the elements. They stand in tf.data's pipelines beside the
// engine's own, and may have these as inputs.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DATASET_H_
#define TENSORFLOW_CORE_FRAMEWORK_DATASET_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/dataset_context.h"
#include "tensorflow/core/framework/dataset_options.pb.h"
#include "tensorflow/core/framework/dataset_state.h"
#include "tensorflow/core/framework/model.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/variant.h"
#include "tensorflow/core/platform/refcount.h"
#include "tensorflow/core/platform/statusor.h"

namespace tensorflow {
namespace data {

inline constexpr int kInfiniteCardinality = -1;
inline constexpr int kUnknownCardinality = -2;
using TraceMeMetadata = std::vector<std::pair<StringPiece, std::string>>;

// Several who walk one dataset together; the engine asks its own sources alone.
class SplitProvider {
 public:
  virtual ~SplitProvider() = default;
  virtual Status GetNext(Tensor* split, bool* end_of_splits) = 0;
  virtual Status Reset() = 0;
};

// One walk over a dataset.
class IteratorBase {
 public:
  virtual ~IteratorBase() = default;
  // The next element, or its end; never OutOfRange.
  virtual Status GetNext(IteratorContext* ctx, std::vector<Tensor>* out_tensors, bool* end_of_sequence) = 0;
  Status GetNext(IteratorContext&& ctx, std::vector<Tensor>* out_tensors, bool* end_of_sequence) {
    return GetNext(&ctx, out_tensors, end_of_sequence);
  }
  virtual Status Skip(IteratorContext* ctx, int num_to_skip, bool* end_of_sequence, int* num_skipped) = 0;
  virtual const DataTypeVector& output_dtypes() const = 0;
  virtual const std::vector<PartialTensorShape>& output_shapes() const = 0;
  virtual const std::string& prefix() const = 0;
  virtual bool SymbolicCheckpointCompatible() const { return false; }
  // Once, before the first element.
  virtual Status Initialize(IteratorContext*) { return OkStatus(); }
  Status Save(SerializationContext* ctx, IteratorStateWriter* writer) { return SaveInternal(ctx, writer); }
  Status Restore(IteratorContext* ctx, IteratorStateReader* reader) { return RestoreInternal(ctx, reader); }

 protected:
  virtual std::shared_ptr<model::Node> CreateNode(IteratorContext*, model::Node::Args args) const { return model::MakeUnknownNode(std::move(args)); }
  virtual Status SaveInternal(SerializationContext*, IteratorStateWriter*) { return errors::Unimplemented("SaveInternal"); }
  virtual Status RestoreInternal(IteratorContext*, IteratorStateReader*) { return errors::Unimplemented("RestoreInternal"); }
  Status SaveInput(SerializationContext* ctx, IteratorStateWriter* writer, const std::unique_ptr<IteratorBase>& input) {
    return input->Save(ctx, writer);
  }
  Status RestoreInput(IteratorContext* ctx, IteratorStateReader* reader, const std::unique_ptr<IteratorBase>& input) {
    return input->Restore(ctx, reader);
  }
  std::shared_ptr<model::Node> model_node() const { return nullptr; }
};

// Which op makes a dataset.
class DatasetContext {
 public:
  struct Params {
    std::string type_string, node_name;
  };
  explicit DatasetContext(Params params) : params_(std::move(params)) {}
  explicit DatasetContext(OpKernelContext* ctx) : params_{ctx->op_kernel().type_string(), ctx->op_kernel().name()} {}
  const std::string& type_string() const { return params_.type_string; }
  const std::string& node_name() const { return params_.node_name; }

 private:
  Params params_;
};

// A recipe for elements; counted.
class DatasetBase : public core::RefCounted {
 public:
  class DatasetGraphDefBuilder : public GraphDefBuilderWrapper {
   public:
    Status AddInputDataset(SerializationContext*, const DatasetBase*, Node**) { return NotAsked(); }
    Status AddDatasetOrTensor(SerializationContext*, const Tensor&, Node**) { return NotAsked(); }
  };
  explicit DatasetBase(DatasetContext&& ctx) : type_string_(ctx.type_string()), node_name_(ctx.node_name()) {}
  const std::string& type_string() const { return type_string_; }
  const std::string& node_name() const { return node_name_; }

  // The prefix names the iterators that lead to the new one.
  virtual Status MakeIterator(IteratorContext* ctx, const IteratorBase* parent, const std::string& output_prefix,
                              std::unique_ptr<IteratorBase>* iterator) const {
    (void)parent;
    std::unique_ptr<IteratorBase> made = MakeIteratorInternal(output_prefix);
    if (!made) return errors::Internal("MakeIteratorInternal of ", type_string_, " gave no iterator");
    TF_RETURN_IF_ERROR(made->Initialize(ctx));
    *iterator = std::move(made);
    return OkStatus();
  }
  Status MakeIterator(IteratorContext&& ctx, const IteratorBase* parent, const std::string& output_prefix,
                      std::unique_ptr<IteratorBase>* iterator) const {
    return MakeIterator(&ctx, parent, output_prefix, iterator);
  }
  Status MakeIterator(IteratorContext* ctx, const std::string& output_prefix, std::unique_ptr<IteratorBase>* iterator) const {
    return MakeIterator(ctx, nullptr, output_prefix, iterator);
  }
  virtual Status MakeSplitProviders(std::vector<std::unique_ptr<SplitProvider>>*) const {
    return errors::Unimplemented("Cannot create split providers for dataset of type ", type_string_, ".");
  }

  virtual const DataTypeVector& output_dtypes() const = 0;
  virtual const std::vector<PartialTensorShape>& output_shapes() const = 0;
  virtual int64 AllocatedBytes() const { return 0; }
  virtual int64 TotalBytes() const { return 0; }
  // How many elements there are. Sources say it in one of three forms.
  virtual int64 Cardinality() const { return CardinalityInternal(CardinalityOptions()); }
  int64 Cardinality(CardinalityOptions) const { return Cardinality(); }
  virtual int64 CardinalityInternal(CardinalityOptions) const { return CardinalityInternal(); }
  virtual int64 CardinalityInternal() const { return kUnknownCardinality; }
  virtual std::string DebugString() const = 0;
  virtual Status InputDatasets(std::vector<const DatasetBase*>*) const {
    return errors::Unimplemented("Cannot compute input sources for dataset of type ", type_string_,
                                 ", because the dataset does not implement `InputDatasets`.");
  }
  virtual Status CheckExternalState() const { return OkStatus(); }
  // One element, without a walk.
  virtual Status Get(AnyContext, int64, std::vector<Tensor>*) const {
    return errors::Unimplemented("Random access is not implemented for dataset ", DebugString());
  }
  virtual Status Get(OpKernelContext*, int64, std::vector<Tensor>*) const {
    return errors::Unimplemented("Random access is not implemented for dataset ", DebugString());
  }
  virtual Status RandomIndexingCompatible() const { return errors::FailedPrecondition(type_string_, " does not support random access."); }

 protected:
  virtual Status AsGraphDefInternal(SerializationContext*, DatasetGraphDefBuilder*, Node**) const {
    return errors::Unimplemented("AsGraphDefInternal");
  }
  virtual std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string& prefix) const = 0;

 private:
  const std::string type_string_, node_name_;
};

class DatasetBaseIterator : public IteratorBase {
 public:
  struct BaseParams {
    const DatasetBase* dataset;
    const std::string prefix;
  };
  explicit DatasetBaseIterator(const BaseParams& params) : params_(params) { params_.dataset->Ref(); }
  ~DatasetBaseIterator() override { params_.dataset->Unref(); }
  virtual const DatasetBase* dataset() const { return params_.dataset; }
  const DataTypeVector& output_dtypes() const override { return params_.dataset->output_dtypes(); }
  const std::vector<PartialTensorShape>& output_shapes() const override { return params_.dataset->output_shapes(); }
  const std::string& prefix() const override { return params_.prefix; }

  using IteratorBase::GetNext;
  Status GetNext(IteratorContext* ctx, std::vector<Tensor>* out_tensors, bool* end_of_sequence) final {
    out_tensors->clear();
    *end_of_sequence = false;
    return Checked(GetNextInternal(ctx, out_tensors, end_of_sequence));
  }
  Status Skip(IteratorContext* ctx, int num_to_skip, bool* end_of_sequence, int* num_skipped) final {
    return Checked(SkipInternal(ctx, num_to_skip, end_of_sequence, num_skipped));
  }

 protected:
  // out_tensors comes empty.
  virtual Status GetNextInternal(IteratorContext* ctx, std::vector<Tensor>* out_tensors, bool* end_of_sequence) = 0;
  virtual Status SkipInternal(IteratorContext* ctx, int num_to_skip, bool* end_of_sequence, int* num_skipped) {
    *num_skipped = 0;
    *end_of_sequence = false;
    for (std::vector<Tensor> element; *num_skipped < num_to_skip; ++*num_skipped) {
      element.clear();
      TF_RETURN_IF_ERROR(GetNextInternal(ctx, &element, end_of_sequence));
      if (*end_of_sequence) break;
    }
    return OkStatus();
  }
  std::string full_name(const std::string& name) const { return strings::StrCat(params_.prefix, ":", name); }
  virtual TraceMeMetadata GetTraceMeMetadata() const { return {}; }
  // What performance models are told; there is none.
  void DisableAutotune(IteratorContext*, IteratorBase*) {}
  void EnableAutotune(IteratorContext*, IteratorBase*) {}
  void RecordBufferDequeue(IteratorContext*, const std::vector<Tensor>&) {}
  void RecordBufferEnqueue(IteratorContext*, const std::vector<Tensor>&) {}
  void RecordElement(IteratorContext*, std::vector<Tensor>*) {}
  void RecordStart(IteratorContext*) {}
  void RecordStop(IteratorContext*) {}

 private:
  Status Checked(Status s) const {
    if (!errors::IsOutOfRange(s)) return s;
    return errors::Internal("Iterator \"", params_.prefix,
                            "\" returned `OutOfRange`. This indicates an implementation error as `OutOfRange` errors are not expected to be "
                            "returned here. Original message: ",
                            s.error_message());
  }
  const BaseParams params_;
};

// With the dataset as its own class.
template <class DatasetType>
class DatasetIterator : public DatasetBaseIterator {
 public:
  struct Params {
    const DatasetType* dataset;
    const std::string prefix;
  };
  explicit DatasetIterator(const Params& params) : DatasetBaseIterator({params.dataset, params.prefix}), typed_dataset_(params.dataset) {}
  const DatasetType* dataset() const final { return typed_dataset_; }

 private:
  const DatasetType* const typed_dataset_;
};

namespace internal {

using ::tensorflow::internal::FromC;
using ::tensorflow::internal::Text;
using ::tensorflow::internal::ToC;
using ::tensorflow::internal::View;

inline void AddTensor(void* list, const TF_Tensor* tensor) {
  static_cast<std::vector<Tensor>*>(list)->push_back(Tensor::Received(weft_tensor_share(tensor)));
}

// A walk over a dataset of the engine.
class EngineIterator final : public IteratorBase {
 public:
  EngineIterator(const DatasetBase* dataset, weft_iterator* it, const std::string& prefix) : dataset_(dataset), it_(it), prefix_(prefix) {
    dataset_->Ref();
  }
  ~EngineIterator() override {
    weft_iterator_delete(it_);
    dataset_->Unref();
  }
  Status GetNext(IteratorContext* ctx, std::vector<Tensor>* out_tensors, bool* end_of_sequence) override {
    out_tensors->clear();
    int end = 0;
    TF_RETURN_IF_ERROR(FromC(weft_iterator_next(it_, ctx->walk(), out_tensors, AddTensor, &end)));
    *end_of_sequence = end != 0;
    return OkStatus();
  }
  Status Skip(IteratorContext* ctx, int num_to_skip, bool* end_of_sequence, int* num_skipped) override {
    *end_of_sequence = false;
    std::vector<Tensor> element;
    for (*num_skipped = 0; *num_skipped < num_to_skip; ++*num_skipped) {
      TF_RETURN_IF_ERROR(GetNext(ctx, &element, end_of_sequence));
      if (*end_of_sequence) break;
    }
    return OkStatus();
  }
  const DataTypeVector& output_dtypes() const override { return dataset_->output_dtypes(); }
  const std::vector<PartialTensorShape>& output_shapes() const override { return dataset_->output_shapes(); }
  const std::string& prefix() const override { return prefix_; }

 private:
  const DatasetBase* const dataset_;
  weft_iterator* const it_;
  const std::string prefix_;
};

// A dataset of the engine, as an input of one in C++.
class EngineDataset final : public DatasetBase {
 public:
  explicit EngineDataset(weft_dataset* d) : DatasetBase(DatasetContext(DatasetContext::Params{"Dataset", ""})), d_(d) {
    for (size_t i = 0; i < weft_dataset_num_components(d); ++i) {
      types_.push_back(static_cast<DataType>(weft_dataset_type(d, i)));
      const weft_dims dims = weft_dataset_shape(d, i);
      shapes_.push_back(dims.rank < 0 ? PartialTensorShape() : PartialTensorShape(gtl::ArraySlice<int64>(dims.dims, static_cast<size_t>(dims.rank))));
    }
  }
  ~EngineDataset() override { weft_dataset_delete(d_); }
  using DatasetBase::MakeIterator;
  Status MakeIterator(IteratorContext* ctx, const IteratorBase*, const std::string& prefix, std::unique_ptr<IteratorBase>* iterator) const override {
    weft_iterator* it = nullptr;
    TF_RETURN_IF_ERROR(FromC(weft_dataset_iterate(d_, ctx->walk(), &it)));
    *iterator = std::make_unique<EngineIterator>(this, it, prefix);
    return OkStatus();
  }
  const DataTypeVector& output_dtypes() const override { return types_; }
  const std::vector<PartialTensorShape>& output_shapes() const override { return shapes_; }
  int64 Cardinality() const override { return weft_dataset_cardinality(d_); }
  std::string DebugString() const override {
    TF_Buffer* text = weft_dataset_debug_string(d_);
    std::string out(static_cast<const char*>(text->data), text->length);
    TF_DeleteBuffer(text);
    return out;
  }

 protected:
  std::unique_ptr<IteratorBase> MakeIteratorInternal(const std::string&) const override { return nullptr; }  // needs a context

 private:
  weft_dataset* const d_;
  DataTypeVector types_;
  std::vector<PartialTensorShape> shapes_;
};

inline const weft_dataset_functions kDatasetFunctions = {
    {[](void* o) { static_cast<DatasetBase*>(o)->Ref(); }, [](void* o) { static_cast<DatasetBase*>(o)->Unref(); },
     [](void* o, void* sink, void (*write)(void*, weft_text)) {
       const std::string text = static_cast<DatasetBase*>(o)->DebugString();
       write(sink, Text(text));
     }},
    [](void* o) -> int64_t { return static_cast<DatasetBase*>(o)->Cardinality(); },
    [](void* o) { return ToC(static_cast<DatasetBase*>(o)->CheckExternalState()); },
    [](void* o, weft_walk* walk, weft_text prefix, void** iterator) {
      IteratorContext ctx(walk);
      std::unique_ptr<IteratorBase> made;
      const Status s = static_cast<DatasetBase*>(o)->MakeIterator(&ctx, nullptr, std::string(View(prefix)), &made);
      *iterator = made.release();
      return ToC(s);
    },
    [](void* it, weft_walk* walk, void* sink, weft_add_tensor add, int* end) {
      IteratorContext ctx(walk);
      std::vector<Tensor> element;
      bool ended = false;
      const Status s = static_cast<IteratorBase*>(it)->GetNext(&ctx, &element, &ended);
      *end = ended;
      for (const Tensor& t : element) add(sink, t.c_tensor());
      return ToC(s);
    },
    [](void* it) { delete static_cast<IteratorBase*>(it); },
    [](void* o, weft_walk* walk, int64_t index, void* sink, weft_add_tensor add) {
      IteratorContext ctx(walk);
      std::vector<Tensor> element;
      const Status s = static_cast<DatasetBase*>(o)->Get(AnyContext(&ctx), index, &element);
      for (const Tensor& t : element) add(sink, t.c_tensor());
      return ToC(s);
    },
};

inline Status MakeVariant(weft_run* run, DatasetBase* dataset, Tensor* tensor) {
  const DataTypeVector& types = dataset->output_dtypes();
  std::vector<int> numbers(types.begin(), types.end());
  std::vector<weft_dims> shapes;
  for (const PartialTensorShape& s : dataset->output_shapes()) shapes.push_back(s.c_dims());
  const weft_dataset_def def = {Text(dataset->type_string()), numbers.data(), shapes.data(), numbers.size(), shapes.size()};
  TF_Tensor* variant = nullptr;
  TF_RETURN_IF_ERROR(FromC(weft_dataset_make(run, &def, dataset, &kDatasetFunctions, &variant)));
  *tensor = Tensor::Owning(variant);
  return OkStatus();
}

}  // namespace internal

// The dataset in a variant, which keeps it: take a reference to keep it longer.
inline Status GetDatasetFromVariantTensor(const Tensor& tensor, DatasetBase** out_dataset) {
  void* object = nullptr;
  TF_RETURN_IF_ERROR(internal::FromC(weft_dataset_object(
      tensor.c_tensor(), &internal::kDatasetFunctions,
      [](weft_dataset* d) -> void* { return static_cast<DatasetBase*>(new internal::EngineDataset(d)); }, &object)));
  *out_dataset = static_cast<DatasetBase*>(object);
  return OkStatus();
}
// Takes one reference over.
inline Status StoreDatasetInVariantTensor(DatasetBase* dataset, Tensor* tensor) { return internal::MakeVariant(nullptr, dataset, tensor); }

template <class T>
Status ParseScalarArgument(OpKernelContext* ctx, StringPiece argument_name, T* output) {
  const Tensor* argument = nullptr;
  TF_RETURN_IF_ERROR(ctx->input(argument_name, &argument));
  if (!TensorShapeUtils::IsScalar(argument->shape())) return errors::InvalidArgument(argument_name, " must be a scalar");
  *output = argument->scalar<T>()();
  return OkStatus();
}
template <class T>
Status ParseVectorArgument(OpKernelContext* ctx, StringPiece argument_name, std::vector<T>* output) {
  const Tensor* argument = nullptr;
  TF_RETURN_IF_ERROR(ctx->input(argument_name, &argument));
  if (!TensorShapeUtils::IsVector(argument->shape())) return errors::InvalidArgument(argument_name, " must be a vector");
  const auto values = argument->vec<T>();
  for (int64 i = 0; i < argument->NumElements(); ++i) output->push_back(values(i));
  return OkStatus();
}

// The kernel of an op that makes a dataset: its one output, a variant.
class DatasetOpKernel : public OpKernel {
 public:
  explicit DatasetOpKernel(OpKernelConstruction* ctx) : OpKernel(ctx) {}
  void Compute(OpKernelContext* ctx) final {
    DatasetBase* dataset = nullptr;
    MakeDataset(ctx, &dataset);
    if (!ctx->status().ok()) {
      if (dataset) dataset->Unref();
      return;
    }
    OP_REQUIRES(ctx, dataset != nullptr, errors::Internal("MakeDataset of ", type_string(), " made no dataset"));
    Tensor variant(DT_VARIANT);
    OP_REQUIRES_OK(ctx, internal::MakeVariant(ctx->run(), dataset, &variant));
  }

 protected:
  // Sets *output, or the status.
  virtual void MakeDataset(OpKernelContext* ctx, DatasetBase** output) = 0;
};
// With a dataset as its first input, or its first two.
class UnaryDatasetOpKernel : public DatasetOpKernel {
 public:
  explicit UnaryDatasetOpKernel(OpKernelConstruction* ctx) : DatasetOpKernel(ctx) {}

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase** output) final {
    DatasetBase* input = nullptr;
    OP_REQUIRES_OK(ctx, GetDatasetFromVariantTensor(ctx->input(0), &input));
    MakeDataset(ctx, input, output);
  }
  virtual void MakeDataset(OpKernelContext* ctx, DatasetBase* input, DatasetBase** output) = 0;
};
class BinaryDatasetOpKernel : public DatasetOpKernel {
 public:
  explicit BinaryDatasetOpKernel(OpKernelConstruction* ctx) : DatasetOpKernel(ctx) {}

 protected:
  void MakeDataset(OpKernelContext* ctx, DatasetBase** output) final {
    DatasetBase *input = nullptr, *another = nullptr;
    OP_REQUIRES_OK(ctx, GetDatasetFromVariantTensor(ctx->input(0), &input));
    OP_REQUIRES_OK(ctx, GetDatasetFromVariantTensor(ctx->input(1), &another));
    MakeDataset(ctx, input, another, output);
  }
  virtual void MakeDataset(OpKernelContext* ctx, DatasetBase* input, DatasetBase* another_input, DatasetBase** output) = 0;
};

}  // namespace data

// Their first names.
using data::DatasetBase;
using data::DatasetContext;
using data::DatasetIterator;
using data::DatasetOpKernel;
using data::IteratorBase;
using data::IteratorContext;
using data::IteratorStateReader;
using data::IteratorStateWriter;
using data::SerializationContext;
using data::UnaryDatasetOpKernel;

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_DATASET_H_
