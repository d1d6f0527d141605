// SPDX-License-Identifier: Apache-2.0
//
// SH_RETURN_IF_ERROR, SH_ASSIGN_OR_RETURN: for ops that are written once for TensorFlow and TensorFlow Lite.
#ifndef TENSORFLOW_LITE_KERNELS_SHIM_STATUS_MACROS_H_
#define TENSORFLOW_LITE_KERNELS_SHIM_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#define SH_RETURN_IF_ERROR(...)                \
  do {                                         \
    ::absl::Status sh_status_ = (__VA_ARGS__); \
    if (!sh_status_.ok()) return sh_status_;   \
  } while (false)
#define SH_RETURN_WITH_CONTEXT_IF_ERROR(expr, ...)                                                                             \
  do {                                                                                                                         \
    ::absl::Status sh_status_ = (expr);                                                                                        \
    if (!sh_status_.ok()) return ::absl::Status(sh_status_.code(), ::absl::StrCat(sh_status_.message(), "\n\t", __VA_ARGS__)); \
  } while (false)
#define SH_STATUS_MACROS_CONCAT_NAME_INNER(a, b) a##b
#define SH_STATUS_MACROS_CONCAT_NAME(a, b) SH_STATUS_MACROS_CONCAT_NAME_INNER(a, b)
#define SH_ASSIGN_OR_RETURN(lhs, expr) SH_ASSIGN_OR_RETURN_IMPL(SH_STATUS_MACROS_CONCAT_NAME(sh_status_or_, __COUNTER__), lhs, expr)
#define SH_ASSIGN_OR_RETURN_IMPL(value_or, lhs, expr) \
  auto value_or = (expr);                             \
  if (!value_or.ok()) return value_or.status();       \
  lhs = std::move(value_or).value()

#endif  // TENSORFLOW_LITE_KERNELS_SHIM_STATUS_MACROS_H_
