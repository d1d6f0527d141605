// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_HASH_CRC32C_H_
#define TENSORFLOW_CORE_LIB_HASH_CRC32C_H_

#include "tensorflow/core/platform/crc32c.h"

#endif  // TENSORFLOW_CORE_LIB_HASH_CRC32C_H_
