// SPDX-License-Identifier: Apache-2.0
//
// OP_REQUIRES and its like: leave a kernel with an error unless something holds.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_REQUIRES_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_REQUIRES_H_

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/macros.h"

#define OP_REQUIRES(context, condition, ...)                    \
  do {                                                          \
    if (!TF_PREDICT_TRUE(condition)) {                          \
      (context)->CtxFailure(__FILE__, __LINE__, (__VA_ARGS__)); \
      return;                                                   \
    }                                                           \
  } while (0)
#define OP_REQUIRES_OK(context, ...)                                      \
  do {                                                                    \
    const ::tensorflow::Status weft_status_ = (__VA_ARGS__);              \
    if (TF_PREDICT_FALSE(!weft_status_.ok())) {                           \
      (context)->CtxFailureWithWarning(__FILE__, __LINE__, weft_status_); \
      return;                                                             \
    }                                                                     \
  } while (0)
#define OP_REQUIRES_ASYNC(context, condition, status, done) \
  do {                                                      \
    if (!TF_PREDICT_TRUE(condition)) {                      \
      (context)->CtxFailure(__FILE__, __LINE__, (status));  \
      (done)();                                             \
      return;                                               \
    }                                                       \
  } while (0)
#define OP_REQUIRES_OK_ASYNC(context, status, done)                       \
  do {                                                                    \
    const ::tensorflow::Status weft_status_ = (status);                   \
    if (TF_PREDICT_FALSE(!weft_status_.ok())) {                           \
      (context)->CtxFailureWithWarning(__FILE__, __LINE__, weft_status_); \
      (done)();                                                           \
      return;                                                             \
    }                                                                     \
  } while (0)
#define OP_REQUIRES_VALUE(lhs, context, expr) WEFT_OP_REQUIRES_VALUE_(WEFT_JOIN(weft_value_, __COUNTER__), lhs, context, expr)
#define WEFT_OP_REQUIRES_VALUE_(tmp, lhs, context, expr) \
  auto tmp = (expr);                                     \
  OP_REQUIRES_OK(context, tmp.status());                 \
  lhs = std::move(tmp).value()

#endif  // TENSORFLOW_CORE_FRAMEWORK_OP_REQUIRES_H_
