// SPDX-License-Identifier: Apache-2.0
//
// Datasets written in C++ against DatasetBase are not there.
#ifndef TENSORFLOW_CORE_FRAMEWORK_DATASET_H_
#define TENSORFLOW_CORE_FRAMEWORK_DATASET_H_

#include "tensorflow/core/platform/types.h"

#error \
    "tensorflow/core/framework/dataset.h: datasets in C++ (DatasetBase, DatasetIterator, DatasetOpKernel) are not there; compose one of tf.data's own, or register an op"

#endif  // TENSORFLOW_CORE_FRAMEWORK_DATASET_H_
