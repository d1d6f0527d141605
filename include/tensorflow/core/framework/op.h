// SPDX-License-Identifier: Apache-2.0
//
// REGISTER_OP("Name").Input("x: T").Output("y: T").Attr("T: type").SetShapeFn(...): an op's signature. In a library it is registered while the
// library is loaded, in a program before main.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_H_

#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/op_def_builder.h"
#include "tensorflow/core/platform/logging.h"

#define WEFT_REGISTER_OP(counter, name) WEFT_REGISTER_OP_(counter, name)
#define WEFT_REGISTER_OP_(counter, name) \
  static const ::tensorflow::internal::RegisteredOp weft_registered_op_##counter [[maybe_unused]] = ::tensorflow::OpDefBuilder(name)
#define REGISTER_OP(name) WEFT_REGISTER_OP(__COUNTER__, name)
#define REGISTER_SYSTEM_OP(name) REGISTER_OP(name)

#endif  // TENSORFLOW_CORE_FRAMEWORK_OP_H_
