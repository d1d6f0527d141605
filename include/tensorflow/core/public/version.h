// SPDX-License-Identifier: Apache-2.0
//
// The version of TensorFlow whose interface this is.
#ifndef TENSORFLOW_CORE_PUBLIC_VERSION_H_
#define TENSORFLOW_CORE_PUBLIC_VERSION_H_

#define TF_MAJOR_VERSION 2
#define TF_MINOR_VERSION 21
#define TF_PATCH_VERSION 0
#define TF_VERSION_SUFFIX ""
#define TF_VERSION_STRING "2.21.0"

// Of graphs: what is written, and what is read.
#define TF_GRAPH_DEF_VERSION_MIN_PRODUCER 0
#define TF_GRAPH_DEF_VERSION_MIN_CONSUMER 0
#define TF_GRAPH_DEF_VERSION 2474
// Of checkpoints.
#define TF_CHECKPOINT_VERSION_MIN_PRODUCER 0
#define TF_CHECKPOINT_VERSION_MIN_CONSUMER 0
#define TF_CHECKPOINT_VERSION 1

#endif  // TENSORFLOW_CORE_PUBLIC_VERSION_H_
