// SPDX-License-Identifier: Apache-2.0
//
// TensorReference: keeps a tensor's memory until Unref().
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_REFERENCE_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_REFERENCE_H_

#include <memory>
#include <vector>

#include "tensorflow/core/framework/tensor.h"

namespace tensorflow {

class TensorReference {
 public:
  explicit TensorReference(const Tensor& tensor) : held_(std::make_shared<Tensor>(tensor)) {}
  void Unref() const { held_.reset(); }
  size_t TotalBytes() const { return held_ ? held_->TotalBytes() : 0; }
  bool SharesBufferWith(const TensorReference& o) const { return held_ && o.held_ && held_->SharesBufferWith(*o.held_); }

 private:
  mutable std::shared_ptr<Tensor> held_;
};
using TensorReferenceVector = std::vector<TensorReference>;

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_TENSOR_REFERENCE_H_
