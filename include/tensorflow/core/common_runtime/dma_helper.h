// SPDX-License-Identifier: Apache-2.0
//
// DMAHelper: the memory of a tensor, whatever its elements are.
#ifndef TENSORFLOW_CORE_COMMON_RUNTIME_DMA_HELPER_H_
#define TENSORFLOW_CORE_COMMON_RUNTIME_DMA_HELPER_H_

#include "tensorflow/core/framework/tensor.h"

namespace tensorflow {

class DMAHelper {
 public:
  static bool CanUseDMA(const Tensor* t) { return DataTypeCanUseMemcpy(t->dtype()); }
  static const void* base(const Tensor* t) { return t->data(); }
  static void* base(Tensor* t) { return t->data(); }
  // A shape of as many elements.
  static void UnsafeSetShape(Tensor* t, const TensorShape& shape) {
    const Tensor had = *t;
    CHECK(t->CopyFrom(had, shape)) << "a tensor of " << had.shape().DebugString() << " has other elements than one of " << shape.DebugString();
  }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_COMMON_RUNTIME_DMA_HELPER_H_
