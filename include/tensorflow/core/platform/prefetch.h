// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_PLATFORM_PREFETCH_H_
#define TENSORFLOW_CORE_PLATFORM_PREFETCH_H_

#include "tensorflow/core/platform/macros.h"

#endif  // TENSORFLOW_CORE_PLATFORM_PREFETCH_H_
