// SPDX-License-Identifier: Apache-2.0
//
// Status: an error with a code and a message, or OK. The forms of all versions of TensorFlow 2 are here: Status::OK(), OkStatus(),
// error_message() and absl::OkStatus(), message(). Abseil's own Status converts to and from ours, in whatever order the headers come.
#ifndef TENSORFLOW_CORE_PLATFORM_STATUS_H_
#define TENSORFLOW_CORE_PLATFORM_STATUS_H_

#include <atomic>
#include <functional>  // as iostream, memory and vector: programs take them from here
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensorflow/core/platform/macros.h"
#include "tensorflow/core/platform/stringpiece.h"
#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace absl_forms {
enum class StatusCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};
}  // namespace absl_forms

namespace error {
enum Code : int {
  OK = 0,
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  NOT_FOUND = 5,
  ALREADY_EXISTS = 6,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  ABORTED = 10,
  OUT_OF_RANGE = 11,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
  DATA_LOSS = 15,
  UNAUTHENTICATED = 16,
};
inline const char* Code_Name(Code code) {
  static constexpr const char* kNames[] = {"OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
                                           "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
                                           "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
                                           "DATA_LOSS", "UNAUTHENTICATED"};
  return code >= 0 && code <= UNAUTHENTICATED ? kNames[code] : "";
}
}  // namespace error

namespace internal {

// A scoped enumeration: absl::StatusCode, ours or abseil's.
template <class E>
using ScopedEnum = std::enable_if_t<std::is_enum_v<E> && !std::is_convertible_v<E, int>, int>;

// A code that compares with the enumerators of both forms.
class StatusCode {
 public:
  constexpr StatusCode(int code) : code_(static_cast<error::Code>(code)) {}  // NOLINT
  constexpr operator error::Code() const { return code_; }                   // NOLINT
  template <class E, ScopedEnum<E> = 0>
  constexpr explicit operator E() const {  // a switch sees one conversion
    return static_cast<E>(code_);
  }
  friend constexpr bool operator==(StatusCode a, StatusCode b) { return a.code_ == b.code_; }
  friend constexpr bool operator!=(StatusCode a, StatusCode b) { return a.code_ != b.code_; }
  friend constexpr bool operator==(StatusCode a, error::Code b) { return a.code_ == b; }
  friend constexpr bool operator!=(StatusCode a, error::Code b) { return a.code_ != b; }
  friend constexpr bool operator==(error::Code a, StatusCode b) { return a == b.code_; }
  template <class E, ScopedEnum<E> = 0>
  friend constexpr bool operator==(StatusCode a, E b) {
    return int(a.code_) == int(b);
  }
  template <class E, ScopedEnum<E> = 0>
  friend constexpr bool operator!=(StatusCode a, E b) {
    return int(a.code_) != int(b);
  }
  template <class E, ScopedEnum<E> = 0>
  friend constexpr bool operator==(E a, StatusCode b) {
    return b == a;
  }
  friend std::ostream& operator<<(std::ostream& out, StatusCode code) { return out << error::Code_Name(code.code_); }

 private:
  error::Code code_;
};

// Abseil's own class.
template <class T, class = void>
struct IsForeignStatus : std::false_type {};

}  // namespace internal

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(const Status& s) : rep_(s.rep_) {
    if (rep_) ++rep_->references;
  }
  Status(Status&& s) noexcept : rep_(s.rep_) { s.rep_ = nullptr; }
  Status& operator=(Status s) noexcept {
    Rep* old = rep_;
    rep_ = s.rep_;
    s.rep_ = old;
    return *this;
  }
  ~Status() {
    if (rep_ && --rep_->references == 0) delete rep_;
  }
  Status(error::Code code, std::string_view message) : Status(static_cast<int>(code), message) {}
  template <class E, internal::ScopedEnum<E> = 0>
  Status(E code, std::string_view message) : Status(static_cast<int>(code), message) {}
  Status(internal::StatusCode code, std::string_view message) : Status(static_cast<int>(static_cast<error::Code>(code)), message) {}
  template <class E, class V, class = std::enable_if_t<std::is_enum_v<E> && internal::IsForeignView<V>::value>>
  Status(E code, const V& message) : Status(static_cast<int>(code), std::string_view(message.data(), message.size())) {}
  template <class S, std::enable_if_t<internal::IsForeignStatus<S>::value, int> = 0>
  Status(const S& s) : Status(static_cast<int>(s.raw_code()), std::string_view(s.message().data(), s.message().size())) {}  // NOLINT
  template <class S, std::enable_if_t<internal::IsForeignStatus<S>::value, int> = 0>
  operator S() const {  // NOLINT
    return S(static_cast<decltype(std::declval<const S&>().code())>(raw_code()), error_message());
  }
  static Status OK() { return Status(); }

  bool ok() const { return rep_ == nullptr; }
  internal::StatusCode code() const { return error_code(); }
  int raw_code() const { return error_code(); }
  const std::string& error_message() const {
    static const std::string* const kNone = new std::string;
    return rep_ ? rep_->message : *kNone;
  }
  std::string_view message() const { return error_message(); }
  std::string ToString() const { return ok() ? "OK" : std::string(error::Code_Name(error_code())) + ": " + rep_->message; }
  void IgnoreError() const {}
  // The first error stays.
  void Update(const Status& s) {
    if (ok()) *this = s;
  }
  friend bool operator==(const Status& a, const Status& b) { return a.error_code() == b.error_code() && a.error_message() == b.error_message(); }
  friend bool operator!=(const Status& a, const Status& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& out, const Status& s) { return out << s.ToString(); }

 private:
  Status(int code, std::string_view message) {
    if (code) rep_ = new Rep{{1}, static_cast<error::Code>(code), std::string(message)};
  }
  error::Code error_code() const { return rep_ ? rep_->code : error::OK; }
  // Counted here: std::shared_ptr brings a hundred functions into every program.
  struct Rep {
    std::atomic<int> references;
    error::Code code;
    std::string message;
  };
  Rep* rep_ = nullptr;
};

inline Status OkStatus() { return Status(); }

namespace internal {

template <class T>
struct IsForeignStatus<T, std::void_t<decltype(std::declval<const T&>().raw_code()), decltype(std::declval<const T&>().message().data()),
                                      decltype(std::declval<const T&>().ok())>> : std::bool_constant<!std::is_same_v<T, Status>> {};

inline weft_text Text(std::string_view s) { return {s.data(), s.size()}; }
inline std::string_view View(weft_text t) { return std::string_view(t.data, t.size); }
// From and to the library's functions, where null is OK.
inline Status FromC(TF_Status* s) {
  if (!s) return Status();
  Status status(static_cast<error::Code>(TF_GetCode(s)), TF_Message(s));
  TF_DeleteStatus(s);
  return status;
}
inline TF_Status* ToC(const Status& s) {
  if (s.ok()) return nullptr;
  TF_Status* c = TF_NewStatus();
  TF_SetStatus(c, static_cast<TF_Code>(s.raw_code()), s.error_message().c_str());
  return c;
}

}  // namespace internal

namespace absl_forms {
using ::tensorflow::OkStatus;
using ::tensorflow::Status;
#define WEFT_STATUS_FUNCTIONS(Name)                                                                    \
  inline Status Name##Error(std::string_view message) { return Status(StatusCode::k##Name, message); } \
  inline bool Is##Name(const Status& s) { return s.code() == StatusCode::k##Name; }
WEFT_STATUS_FUNCTIONS(Cancelled)
WEFT_STATUS_FUNCTIONS(Unknown)
WEFT_STATUS_FUNCTIONS(InvalidArgument)
WEFT_STATUS_FUNCTIONS(DeadlineExceeded)
WEFT_STATUS_FUNCTIONS(NotFound)
WEFT_STATUS_FUNCTIONS(AlreadyExists)
WEFT_STATUS_FUNCTIONS(PermissionDenied)
WEFT_STATUS_FUNCTIONS(ResourceExhausted)
WEFT_STATUS_FUNCTIONS(FailedPrecondition)
WEFT_STATUS_FUNCTIONS(Aborted)
WEFT_STATUS_FUNCTIONS(OutOfRange)
WEFT_STATUS_FUNCTIONS(Unimplemented)
WEFT_STATUS_FUNCTIONS(Internal)
WEFT_STATUS_FUNCTIONS(Unavailable)
WEFT_STATUS_FUNCTIONS(DataLoss)
WEFT_STATUS_FUNCTIONS(Unauthenticated)
#undef WEFT_STATUS_FUNCTIONS
}  // namespace absl_forms
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_STATUS_H_
