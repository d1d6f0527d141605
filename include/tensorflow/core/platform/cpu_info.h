// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_PLATFORM_CPU_INFO_H_
#define TENSORFLOW_CORE_PLATFORM_CPU_INFO_H_

#include "tensorflow/core/platform/bits.h"

#endif  // TENSORFLOW_CORE_PLATFORM_CPU_INFO_H_
