// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow has an example of an op here; weft has none.
#ifndef TENSORFLOW_CC_OPS_USER_OPS_H_
#define TENSORFLOW_CC_OPS_USER_OPS_H_

#include "tensorflow/cc/framework/op_wrapper.h"

#endif  // TENSORFLOW_CC_OPS_USER_OPS_H_
