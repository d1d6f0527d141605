// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_GTL_INLINED_VECTOR_H_
#define TENSORFLOW_CORE_LIB_GTL_INLINED_VECTOR_H_

#include "tensorflow/core/platform/span.h"

#endif  // TENSORFLOW_CORE_LIB_GTL_INLINED_VECTOR_H_
