// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_LIB_STRINGS_NUMBERS_H_
#define TENSORFLOW_CORE_LIB_STRINGS_NUMBERS_H_

#include "tensorflow/core/platform/numbers.h"  // IWYU pragma: export

#endif  // TENSORFLOW_CORE_LIB_STRINGS_NUMBERS_H_
