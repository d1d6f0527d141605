// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_LIB_STRINGS_STR_UTIL_H_
#define TENSORFLOW_CORE_LIB_STRINGS_STR_UTIL_H_

#include "tensorflow/core/platform/str_util.h"  // IWYU pragma: export

#endif  // TENSORFLOW_CORE_LIB_STRINGS_STR_UTIL_H_
