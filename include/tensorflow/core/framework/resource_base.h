// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_FRAMEWORK_RESOURCE_BASE_H_
#define TENSORFLOW_CORE_FRAMEWORK_RESOURCE_BASE_H_

#include "tensorflow/core/framework/resource_mgr.h"

#endif  // TENSORFLOW_CORE_FRAMEWORK_RESOURCE_BASE_H_
