// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_PLATFORM_ERROR_CODES_PB_H_
#define TENSORFLOW_CORE_PLATFORM_ERROR_CODES_PB_H_

#include "tensorflow/core/platform/status.h"  // IWYU pragma: export

#endif  // TENSORFLOW_CORE_PLATFORM_ERROR_CODES_PB_H_
