// SPDX-License-Identifier: Apache-2.0
//
// Another name of what it includes.
#ifndef TENSORFLOW_CORE_LIB_CORE_NOTIFICATION_H_
#define TENSORFLOW_CORE_LIB_CORE_NOTIFICATION_H_

#include "tensorflow/core/platform/notification.h"

#endif  // TENSORFLOW_CORE_LIB_CORE_NOTIFICATION_H_
