// SPDX-License-Identifier: Apache-2.0
//
// Old address of tsl/platform/ctstring_internal.h, which clients still include.
#ifndef TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_
#define TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_

#include "tsl/platform/ctstring_internal.h"

#endif  // TENSORFLOW_CORE_PLATFORM_CTSTRING_INTERNAL_H_
