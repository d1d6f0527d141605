// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_STRINGS_STRCAT_H_
#define TENSORFLOW_CORE_LIB_STRINGS_STRCAT_H_

#include "tensorflow/core/platform/strcat.h"

#endif  // TENSORFLOW_CORE_LIB_STRINGS_STRCAT_H_
