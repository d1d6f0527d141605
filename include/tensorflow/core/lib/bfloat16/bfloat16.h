// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_BFLOAT16_BFLOAT16_H_
#define TENSORFLOW_CORE_LIB_BFLOAT16_BFLOAT16_H_

#include "tensorflow/core/framework/numeric_types.h"

#endif  // TENSORFLOW_CORE_LIB_BFLOAT16_BFLOAT16_H_
