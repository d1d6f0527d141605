// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_PLATFORM_BYTE_ORDER_H_
#define TENSORFLOW_CORE_PLATFORM_BYTE_ORDER_H_

#include "tensorflow/core/platform/bits.h"

#endif  // TENSORFLOW_CORE_PLATFORM_BYTE_ORDER_H_
