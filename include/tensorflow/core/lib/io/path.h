// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_LIB_IO_PATH_H_
#define TENSORFLOW_CORE_LIB_IO_PATH_H_

#include "tensorflow/core/platform/path.h"  // IWYU pragma: export

#endif  // TENSORFLOW_CORE_LIB_IO_PATH_H_
