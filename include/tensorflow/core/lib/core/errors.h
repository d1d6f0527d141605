// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_CORE_ERRORS_H_
#define TENSORFLOW_CORE_LIB_CORE_ERRORS_H_

#include "tensorflow/core/platform/errors.h"

#endif  // TENSORFLOW_CORE_LIB_CORE_ERRORS_H_
