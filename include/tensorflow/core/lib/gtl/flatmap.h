// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_GTL_FLATMAP_H_
#define TENSORFLOW_CORE_LIB_GTL_FLATMAP_H_

#include "tensorflow/core/platform/containers.h"

#endif  // TENSORFLOW_CORE_LIB_GTL_FLATMAP_H_
