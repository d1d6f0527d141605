// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_CORE_BLOCKING_COUNTER_H_
#define TENSORFLOW_CORE_LIB_CORE_BLOCKING_COUNTER_H_

#include "tensorflow/core/platform/blocking_counter.h"

#endif  // TENSORFLOW_CORE_LIB_CORE_BLOCKING_COUNTER_H_
