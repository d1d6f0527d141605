// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_HASH_HASH_H_
#define TENSORFLOW_CORE_LIB_HASH_HASH_H_

#include "tensorflow/core/platform/hash.h"

#endif  // TENSORFLOW_CORE_LIB_HASH_HASH_H_
