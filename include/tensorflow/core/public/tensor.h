// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_PUBLIC_TENSOR_H_
#define TENSORFLOW_CORE_PUBLIC_TENSOR_H_

#include "tensorflow/core/framework/tensor.h"  // IWYU pragma: export

#endif  // TENSORFLOW_CORE_PUBLIC_TENSOR_H_
