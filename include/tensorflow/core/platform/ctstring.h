// SPDX-License-Identifier: Apache-2.0
//
// Old address of tsl/platform/ctstring.h, which clients still include.
#ifndef TENSORFLOW_CORE_PLATFORM_CTSTRING_H_
#define TENSORFLOW_CORE_PLATFORM_CTSTRING_H_

#include "tsl/platform/ctstring.h"

#endif  // TENSORFLOW_CORE_PLATFORM_CTSTRING_H_
