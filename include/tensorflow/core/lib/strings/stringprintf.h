// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_LIB_STRINGS_STRINGPRINTF_H_
#define TENSORFLOW_CORE_LIB_STRINGS_STRINGPRINTF_H_

#include "tensorflow/core/platform/stringprintf.h"  // IWYU pragma: export

#endif  // TENSORFLOW_CORE_LIB_STRINGS_STRINGPRINTF_H_
