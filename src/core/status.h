// Status: what every engine function that can fail returns; Result<T>: a value or a Status.
// The codes are TensorFlow's, number for number. A status is one pointer, which is null for OK.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cat.h"

namespace weft_engine::core {

enum class Code : int {
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

// "InvalidArgument", "NotFound", ...
const char* code_name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  Status(const Status& other) : rep_(other.rep_) {
    if (rep_) [[unlikely]]
      keep(rep_);
  }
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Status() {
    if (rep_) [[unlikely]]
      release(rep_);
  }

  bool ok() const { return !rep_; }
  Code code() const;
  const std::string& message() const;
  // "OK", or "InvalidArgument: text".
  std::string to_string() const;

  // The same code with more text behind the message. No effect on OK.
  Status with_suffix(std::string_view suffix) const;

  // Where an error came from, as far as it is known. Front ends print it, each in its own way; it is no part of the message.
  struct Origin {
    std::string op, node, function;
    std::shared_ptr<void> exception;  // of another language, which a callback raised
  };
  const Origin& origin() const;
  Status with_origin(Origin origin) const;

  // Named binary notes that travel with an error (TF_SetPayload).
  using Payloads = std::vector<std::pair<std::string, std::string>>;
  const Payloads& payloads() const;
  Status with_payload(std::string key, std::string value) const;

 private:
  struct Rep;  // shared, counted, never changed
  explicit Status(const Rep* rep) : rep_(rep) {}
  [[gnu::cold]] static void keep(const Rep* rep);
  [[gnu::cold]] static void release(const Rep* rep);
  const Rep* rep_ = nullptr;
};

[[gnu::cold]] Status make_error(Code code, const char* kinds, const uintptr_t* words);  // a message as cat() makes it
#define WEFT_ERROR(function, code)                                     \
  template <class... Args>                                             \
  [[gnu::always_inline]] inline Status function(const Args&... args) { \
    const CatArguments<std::decay_t<const Args&>...> all(args...);     \
    return make_error(Code::code, all.kinds, all.words);               \
  }
WEFT_ERROR(cancelled, kCancelled)
WEFT_ERROR(unknown_error, kUnknown)
WEFT_ERROR(invalid_argument, kInvalidArgument)
WEFT_ERROR(deadline_exceeded, kDeadlineExceeded)
WEFT_ERROR(not_found, kNotFound)
WEFT_ERROR(already_exists, kAlreadyExists)
WEFT_ERROR(permission_denied, kPermissionDenied)
WEFT_ERROR(resource_exhausted, kResourceExhausted)
WEFT_ERROR(failed_precondition, kFailedPrecondition)
WEFT_ERROR(aborted, kAborted)
WEFT_ERROR(out_of_range, kOutOfRange)
WEFT_ERROR(unimplemented, kUnimplemented)
WEFT_ERROR(internal_error, kInternal)
WEFT_ERROR(unavailable, kUnavailable)
WEFT_ERROR(data_loss, kDataLoss)
#undef WEFT_ERROR

[[gnu::cold]] Status missing_value();  // of a Result that was given OK instead of a value: a mistake in the code

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                        // NOLINT: implicit on purpose
  Result(Status status) : status_(std::move(status)) {                 // NOLINT: an error
    if (status_.ok()) [[unlikely]]
      status_ = missing_value();
  }
  template <class U>
    requires(std::is_convertible_v<U, T> && !std::is_same_v<std::decay_t<U>, T> && !std::is_same_v<std::decay_t<U>, Status> &&
             !std::is_same_v<std::decay_t<U>, Result>)
  Result(U&& value) : value_(T(std::forward<U>(value))) {}          // NOLINT

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status&& status() && { return std::move(status_); }
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

#define WEFT_CONCAT_(a, b) a##b
#define WEFT_CONCAT(a, b) WEFT_CONCAT_(a, b)

// Leaves the function with the status, if it is an error.
#define WEFT_RETURN_IF_ERROR(expr)                                                          \
  do {                                                                                      \
    if (::weft_engine::core::Status weft_status_ = (expr); !weft_status_.ok()) [[unlikely]] \
      return weft_status_;                                                                  \
  } while (0)

// WEFT_ASSIGN(int64_t axis, attrs.get_int("axis")): declares the variable, or leaves with the error.
#define WEFT_ASSIGN(declaration, expr) WEFT_ASSIGN_(WEFT_CONCAT(weft_result_, __COUNTER__), declaration, expr)
#define WEFT_ASSIGN_(tmp, declaration, expr) \
  auto tmp = (expr);                         \
  if (!tmp.ok()) [[unlikely]]                \
    return std::move(tmp).status();          \
  declaration = std::move(tmp).value()

}  // namespace weft_engine::core
