// SPDX-License-Identifier: Apache-2.0
//
// checkpoint::CheckpointReader: the tensors of a checkpoint by name.
#ifndef TENSORFLOW_C_CHECKPOINT_READER_H_
#define TENSORFLOW_C_CHECKPOINT_READER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/core/framework/tensor.h"

namespace tensorflow {
namespace checkpoint {

class CheckpointReader {
 public:
  using VarToShapeMap = std::map<std::string, TensorShape>;
  using VarToDataTypeMap = std::map<std::string, DataType>;

  CheckpointReader(const std::string& filename, TF_Status* status) : reader_(TF_NewCheckpointReader(filename.c_str(), status)) {
    if (!reader_) return;
    for (int i = 0; i < TF_CheckpointReaderSize(reader_.get()); ++i) {
      const std::string name = TF_CheckpointReaderGetVariable(reader_.get(), i);
      std::vector<int64_t> dims(static_cast<size_t>(TF_CheckpointReaderGetVariableNumDims(reader_.get(), name.c_str())));
      TF_CheckpointReaderGetVariableShape(reader_.get(), name.c_str(), dims.data(), static_cast<int>(dims.size()), status);
      shapes_.emplace(name, TensorShape(dims));
      types_[name] = static_cast<DataType>(TF_CheckpointReaderGetVariableDataType(reader_.get(), name.c_str()));
    }
  }
  bool HasTensor(const std::string& name) const { return shapes_.count(name) != 0; }
  std::string DebugString() const {
    std::string out;
    for (const auto& [name, shape] : shapes_) out += name + " (" + DataType_Name(types_.at(name)) + ") " + shape.DebugString() + "\n";
    return out;
  }
  const VarToShapeMap& GetVariableToShapeMap() const { return shapes_; }
  const VarToDataTypeMap& GetVariableToDataTypeMap() const { return types_; }
  void GetTensor(const std::string& name, std::unique_ptr<Tensor>* out, TF_Status* status) const {
    TF_Tensor* t = reader_ ? TF_CheckpointReaderGetTensor(reader_.get(), name.c_str(), status) : nullptr;
    if (t) *out = std::make_unique<Tensor>(Tensor::Received(t));
  }

  // For these headers.
  TF_CheckpointReader* c() const { return reader_.get(); }

 private:
  struct Deleter {
    void operator()(TF_CheckpointReader* reader) const { TF_DeleteCheckpointReader(reader); }
  };
  std::unique_ptr<TF_CheckpointReader, Deleter> reader_;
  VarToShapeMap shapes_;
  VarToDataTypeMap types_;
};

}  // namespace checkpoint
}  // namespace tensorflow

#endif  // TENSORFLOW_C_CHECKPOINT_READER_H_
