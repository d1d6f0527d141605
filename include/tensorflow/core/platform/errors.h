// SPDX-License-Identifier: Apache-2.0
//
// errors::InvalidArgument("x is ", x) and its like, and the macros that leave a function with an error.
#ifndef TENSORFLOW_CORE_PLATFORM_ERRORS_H_
#define TENSORFLOW_CORE_PLATFORM_ERRORS_H_

#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/platform/status.h"
#include "tensorflow/core/platform/strcat.h"

namespace tensorflow {
namespace errors {

using Code = ::tensorflow::error::Code;

#define WEFT_ERROR_FUNCTIONS(Name, CODE)                                \
  template <class... Args>                                              \
  Status Name(const Args&... args) {                                    \
    return Status(::tensorflow::error::CODE, strings::StrCat(args...)); \
  }                                                                     \
  inline bool Is##Name(const Status& s) { return s.code() == ::tensorflow::error::CODE; }
WEFT_ERROR_FUNCTIONS(Cancelled, CANCELLED)
WEFT_ERROR_FUNCTIONS(Unknown, UNKNOWN)
WEFT_ERROR_FUNCTIONS(InvalidArgument, INVALID_ARGUMENT)
WEFT_ERROR_FUNCTIONS(DeadlineExceeded, DEADLINE_EXCEEDED)
WEFT_ERROR_FUNCTIONS(NotFound, NOT_FOUND)
WEFT_ERROR_FUNCTIONS(AlreadyExists, ALREADY_EXISTS)
WEFT_ERROR_FUNCTIONS(PermissionDenied, PERMISSION_DENIED)
WEFT_ERROR_FUNCTIONS(ResourceExhausted, RESOURCE_EXHAUSTED)
WEFT_ERROR_FUNCTIONS(FailedPrecondition, FAILED_PRECONDITION)
WEFT_ERROR_FUNCTIONS(Aborted, ABORTED)
WEFT_ERROR_FUNCTIONS(OutOfRange, OUT_OF_RANGE)
WEFT_ERROR_FUNCTIONS(Unimplemented, UNIMPLEMENTED)
WEFT_ERROR_FUNCTIONS(Internal, INTERNAL)
WEFT_ERROR_FUNCTIONS(Unavailable, UNAVAILABLE)
WEFT_ERROR_FUNCTIONS(DataLoss, DATA_LOSS)
WEFT_ERROR_FUNCTIONS(Unauthenticated, UNAUTHENTICATED)
#undef WEFT_ERROR_FUNCTIONS

// More text behind the message, on a line of its own.
template <class... Args>
void AppendToMessage(Status* status, const Args&... args) {
  *status = Status(status->code(), strings::StrCat(status->message(), "\n\t", args...));
}
inline Status CreateWithUpdatedMessage(const Status& status, std::string_view message) { return Status(status.code(), message); }

inline std::string FormatNodeNameForError(std::string_view name) { return strings::StrCat("{{node ", name, "}}"); }

}  // namespace errors
}  // namespace tensorflow

#define TF_RETURN_IF_ERROR(...)                                    \
  do {                                                             \
    ::tensorflow::Status weft_status_ = (__VA_ARGS__);             \
    if (TF_PREDICT_FALSE(!weft_status_.ok())) return weft_status_; \
  } while (0)
#define TF_RETURN_WITH_CONTEXT_IF_ERROR(expr, ...)                       \
  do {                                                                   \
    ::tensorflow::Status weft_status_ = (expr);                          \
    if (TF_PREDICT_FALSE(!weft_status_.ok())) {                          \
      ::tensorflow::errors::AppendToMessage(&weft_status_, __VA_ARGS__); \
      return weft_status_;                                               \
    }                                                                    \
  } while (0)
#define TF_CHECK_OK(expr)                                                                       \
  for (const ::tensorflow::Status weft_status_ = (expr); TF_PREDICT_FALSE(!weft_status_.ok());) \
  ::tensorflow::internal::LogMessageFatal(__FILE__, __LINE__).stream() << "Non-OK-status: " #expr "\nStatus: " << weft_status_
#define TF_QCHECK_OK(expr) TF_CHECK_OK(expr)
#define TF_DCHECK_OK(expr) TF_CHECK_OK(expr)

#endif  // TENSORFLOW_CORE_PLATFORM_ERRORS_H_
