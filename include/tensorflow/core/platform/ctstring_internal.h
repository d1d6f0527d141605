// SPDX-License-Identifier: Apache-2.0
//
// Old address of tsl/platform/ctstring_internal.h, which clients still include.
#ifndef WEFT_TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_
#define WEFT_TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_

#include "tsl/platform/ctstring_internal.h"

#endif  // WEFT_TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_
