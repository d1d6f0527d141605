// SPDX-License-Identifier: Apache-2.0
//
// BundleReader: a checkpoint's tensors in the order of their names. BundleWriter writes one.
#ifndef TENSORFLOW_CORE_UTIL_TENSOR_BUNDLE_TENSOR_BUNDLE_H_
#define TENSORFLOW_CORE_UTIL_TENSOR_BUNDLE_TENSOR_BUNDLE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/c/checkpoint_reader.h"
#include "tensorflow/core/framework/tensor_slice.h"
#include "tensorflow/core/platform/env.h"

namespace tensorflow {

// The checkpoint is there when Finish() succeeds. After an error all calls give it.
class BundleWriter {
 public:
  struct Options {
    Options() {}
    int data_alignment{1};  // 1 alone: tensors lie side by side
  };
  BundleWriter(Env*, std::string_view prefix, const Options& options = Options()) : writer_(weft_bundle_writer_new(internal::Text(prefix))) {
    if (options.data_alignment != 1) status_ = errors::Unimplemented("tensors aligned in a checkpoint's file");
  }
  BundleWriter(const BundleWriter&) = delete;
  void operator=(const BundleWriter&) = delete;
  ~BundleWriter() { weft_bundle_writer_delete(writer_); }
  Status status() const { return status_; }
  Status Add(std::string_view key, const Tensor& value) {
    return Then([&] { return weft_bundle_writer_add(writer_, internal::Text(key), value.c_tensor()); });
  }
  // A part of a tensor; parts come in any order.
  Status AddSlice(std::string_view full_tensor_key, const TensorShape& full_tensor_shape, const TensorSlice& slice, const Tensor& part) {
    const std::string text = slice.DebugString();
    return Then([&] {
      return weft_bundle_writer_add_slice(writer_, internal::Text(full_tensor_key), full_tensor_shape.c_dims(), internal::Text(text),
                                          part.c_tensor());
    });
  }
  Status Finish() {
    return Then([&] { return weft_bundle_writer_finish(writer_); });
  }

 private:
  template <class F>
  Status Then(F f) {
    if (status_.ok()) status_ = internal::FromC(f());
    return status_;
  }
  weft_bundle_writer* writer_;
  Status status_;
};

// Makes one checkpoint of several, whose indices are removed.
inline Status MergeBundles(Env*, gtl::ArraySlice<tstring> prefixes, std::string_view merged_prefix, bool allow_missing_files = false) {
  std::vector<weft_text> names;
  for (const tstring& p : prefixes) names.push_back({p.data(), p.size()});
  return internal::FromC(weft_merge_bundles(names.data(), names.size(), internal::Text(merged_prefix), allow_missing_files));
}

class BundleReader {
 public:
  BundleReader(Env*, std::string_view prefix) {
    TF_Status* s = TF_NewStatus();
    reader_ = std::make_unique<checkpoint::CheckpointReader>(std::string(prefix), s);
    status_ = internal::FromC(s);
    at_ = reader_->GetVariableToShapeMap().begin();
  }
  Status status() const { return status_; }
  bool Contains(std::string_view key) const { return reader_->HasTensor(std::string(key)); }
  // A tensor that has elements must be of the shape and type that is stored.
  Status Lookup(std::string_view key, Tensor* value) {
    TF_RETURN_IF_ERROR(status_);
    if (!Contains(key)) return Missing(key);
    std::unique_ptr<Tensor> found;
    TF_Status* s = TF_NewStatus();
    reader_->GetTensor(std::string(key), &found, s);
    TF_RETURN_IF_ERROR(internal::FromC(s));
    *value = *found;
    return OkStatus();
  }
  Status LookupDtypeAndShape(std::string_view key, DataType* dtype, TensorShape* shape) {
    if (!Contains(key)) return Missing(key);
    *dtype = reader_->GetVariableToDataTypeMap().at(std::string(key));
    *shape = reader_->GetVariableToShapeMap().at(std::string(key));
    return OkStatus();
  }
  Status LookupTensorShape(std::string_view key, TensorShape* shape) {
    DataType type;
    return LookupDtypeAndShape(key, &type, shape);
  }
  // Nothing for a tensor that is there as a whole; in no order.
  Status LookupTensorSlices(std::string_view key, std::vector<TensorSlice>* slices) {
    slices->clear();
    return internal::FromC(weft_checkpoint_slices(reader_->c(), internal::Text(key), slices, [](void* sink, weft_text slice, weft_text) {
      static_cast<std::vector<TensorSlice>*>(sink)->push_back(TensorSlice::ParseOrDie(std::string(internal::View(slice))));
    }));
  }
  Status LookupSlice(std::string_view full_tensor_key, const TensorSlice& slice, Tensor* value) {
    TF_RETURN_IF_ERROR(status_);
    TF_Tensor* found = nullptr;
    const std::string text = slice.DebugString();
    TF_RETURN_IF_ERROR(internal::FromC(weft_checkpoint_slice(reader_->c(), internal::Text(full_tensor_key), internal::Text(text), &found)));
    *value = Tensor::Received(found);
    return OkStatus();
  }
  Status ReadCurrent(Tensor* value) { return Lookup(key(), value); }
  // The first key that is not before `key`.
  void Seek(std::string_view key) { at_ = reader_->GetVariableToShapeMap().lower_bound(std::string(key)); }
  void Next() { ++at_; }
  bool Valid() const { return at_ != reader_->GetVariableToShapeMap().end(); }
  std::string_view key() const { return at_->first; }
  std::string DebugString() const { return reader_->DebugString(); }

 private:
  static Status Missing(std::string_view key) { return errors::NotFound("Key ", key, " not found in checkpoint"); }
  std::unique_ptr<checkpoint::CheckpointReader> reader_;
  Status status_;
  checkpoint::CheckpointReader::VarToShapeMap::const_iterator at_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_UTIL_TENSOR_BUNDLE_TENSOR_BUNDLE_H_
