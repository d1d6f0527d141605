// SPDX-License-Identifier: Apache-2.0
//
// The wrappers of most ops. A program that includes only the headers that it needs compiles faster.
#ifndef TENSORFLOW_CC_OPS_STANDARD_OPS_H_
#define TENSORFLOW_CC_OPS_STANDARD_OPS_H_

#include "tensorflow/cc/ops/array_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/candidate_sampling_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/const_op.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/control_flow_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/data_flow_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/image_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/io_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/linalg_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/logging_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/lookup_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/math_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/nn_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/no_op.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/parsing_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/random_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/sparse_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/state_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/string_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/training_ops.h"  // IWYU pragma: export
#include "tensorflow/cc/ops/user_ops.h"  // IWYU pragma: export

#endif  // TENSORFLOW_CC_OPS_STANDARD_OPS_H_
