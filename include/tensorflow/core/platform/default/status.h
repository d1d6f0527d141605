// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_PLATFORM_DEFAULT_STATUS_H_
#define TENSORFLOW_CORE_PLATFORM_DEFAULT_STATUS_H_

#include "tensorflow/core/platform/status.h"

#endif  // TENSORFLOW_CORE_PLATFORM_DEFAULT_STATUS_H_
