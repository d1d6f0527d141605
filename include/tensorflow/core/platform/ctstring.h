// SPDX-License-Identifier: Apache-2.0
//
// Old address of tsl/platform/ctstring.h, which clients still include.
#ifndef WEFT_TENSORFLOW_CORE_PLATFORM_CTSTRING_H_
#define WEFT_TENSORFLOW_CORE_PLATFORM_CTSTRING_H_

#include "tsl/platform/ctstring.h"

#endif  // WEFT_TENSORFLOW_CORE_PLATFORM_CTSTRING_H_
