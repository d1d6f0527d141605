// SPDX-License-Identifier: Apache-2.0
//
// BundleReader: a checkpoint's tensors in the order of their names.
#ifndef TENSORFLOW_CORE_UTIL_TENSOR_BUNDLE_TENSOR_BUNDLE_H_
#define TENSORFLOW_CORE_UTIL_TENSOR_BUNDLE_TENSOR_BUNDLE_H_

#include <memory>
#include <string>
#include <string_view>

#include "tensorflow/c/checkpoint_reader.h"
#include "tensorflow/core/platform/env.h"

namespace tensorflow {

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
