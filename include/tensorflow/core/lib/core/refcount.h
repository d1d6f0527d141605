// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_CORE_REFCOUNT_H_
#define TENSORFLOW_CORE_LIB_CORE_REFCOUNT_H_

#include "tensorflow/core/platform/refcount.h"

#endif  // TENSORFLOW_CORE_LIB_CORE_REFCOUNT_H_
