// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_PLATFORM_ENV_TIME_H_
#define TENSORFLOW_CORE_PLATFORM_ENV_TIME_H_

#include "tensorflow/core/platform/env.h"

#endif  // TENSORFLOW_CORE_PLATFORM_ENV_TIME_H_
