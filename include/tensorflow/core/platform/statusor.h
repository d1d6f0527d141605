// SPDX-License-Identifier: Apache-2.0
//
// StatusOr<T>: a value, or why there is none.
#ifndef TENSORFLOW_CORE_PLATFORM_STATUSOR_H_
#define TENSORFLOW_CORE_PLATFORM_STATUSOR_H_

#include <optional>
#include <utility>

#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

template <class T>
class [[nodiscard]] StatusOr {
  // A StatusOr of the same type, by abseil.
  template <class O, class = void>
  struct IsForeign : std::false_type {};
  template <class O>
  struct IsForeign<O, std::enable_if_t<std::is_same_v<typename O::value_type, T> &&
                                       internal::IsForeignStatus<std::decay_t<decltype(std::declval<const O&>().status())>>::value>>
      : std::true_type {};

 public:
  using value_type = T;
  StatusOr() : status_(error::UNKNOWN, "") {}
  StatusOr(const Status& status) : status_(status) { CheckNotOk(); }  // NOLINT
  StatusOr(Status&& status) : status_(std::move(status)) { CheckNotOk(); }  // NOLINT
  // Of another type that converts to this.
  template <class U, std::enable_if_t<
                         !std::is_same_v<T, U> && std::is_constructible_v<T, const U&> && !std::is_constructible_v<T, const StatusOr<U>&>, int> = 0>
  StatusOr(const StatusOr<U>& o) : status_(o.status()) {  // NOLINT
    if (o.ok()) value_.emplace(*o);
  }
  template <class U,
            std::enable_if_t<!std::is_same_v<T, U> && std::is_constructible_v<T, U&&> && !std::is_constructible_v<T, StatusOr<U>&&>, int> = 0>
  StatusOr(StatusOr<U>&& o) : status_(o.status()) {  // NOLINT
    if (o.ok()) value_.emplace(*std::move(o));
  }
  template <class... Args>
  explicit StatusOr(std::in_place_t, Args&&... args) : value_(std::in_place, std::forward<Args>(args)...) {}
  template <class U = T, class = std::enable_if_t<std::is_constructible_v<T, U&&> && !std::is_same_v<std::decay_t<U>, StatusOr> &&
                                                  !std::is_same_v<std::decay_t<U>, Status> && !internal::IsForeignStatus<std::decay_t<U>>::value &&
                                                  !IsForeign<std::decay_t<U>>::value>>
  StatusOr(U&& value) : value_(std::forward<U>(value)) {}  // NOLINT
  // Abseil's own classes, both ways.
  template <class S, std::enable_if_t<internal::IsForeignStatus<S>::value, int> = 0>
  StatusOr(const S& status) : StatusOr(Status(status)) {}  // NOLINT
  template <class O, std::enable_if_t<IsForeign<O>::value, int> = 0>
  StatusOr(O other) : status_(other.status()) {  // NOLINT
    if (other.ok()) value_.emplace(*std::move(other));
  }
  template <class O, std::enable_if_t<IsForeign<O>::value, int> = 0>
  operator O() const {  // NOLINT
    if (ok()) return O(*value_);
    return O(static_cast<std::decay_t<decltype(std::declval<const O&>().status())>>(status_));
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  const T& value() const& { return Checked(), *value_; }
  T& value() & { return Checked(), *value_; }
  T&& value() && { return Checked(), std::move(*value_); }
  const T& ValueOrDie() const& { return value(); }
  T& ValueOrDie() & { return value(); }
  T&& ValueOrDie() && { return std::move(*this).value(); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  template <class U>
  T value_or(U&& other) const& {
    return ok() ? *value_ : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return ok() ? std::move(*value_) : static_cast<T>(std::forward<U>(other));
  }
  template <class... Args>
  T& emplace(Args&&... args) {
    status_ = Status();
    return value_.emplace(std::forward<Args>(args)...);
  }
  T ConsumeValueOrDie() { return std::move(*this).value(); }
  void IgnoreError() const {}
  friend bool operator==(const StatusOr& a, const StatusOr& b) { return a.ok() && b.ok() ? *a == *b : a.status() == b.status(); }
  friend bool operator!=(const StatusOr& a, const StatusOr& b) { return !(a == b); }

 private:
  void Checked() const {
    if (!ok()) internal::LogMessageFatal(__FILE__, __LINE__).stream() << "Attempting to fetch value instead of handling error " << status_;
  }
  void CheckNotOk() {
    if (status_.ok()) status_ = errors::Internal("An OK status is not a valid constructor argument to StatusOr<T>");
  }
  Status status_;
  std::optional<T> value_;
};

namespace absl_forms {
using ::tensorflow::StatusOr;
}
}  // namespace tensorflow

#define WEFT_JOIN_(a, b) a##b
#define WEFT_JOIN(a, b) WEFT_JOIN_(a, b)
#define TF_ASSIGN_OR_RETURN(lhs, expr) WEFT_ASSIGN_OR_RETURN_(WEFT_JOIN(weft_status_or_, __COUNTER__), lhs, expr)
#define WEFT_ASSIGN_OR_RETURN_(tmp, lhs, expr)          \
  auto tmp = (expr);                                    \
  if (TF_PREDICT_FALSE(!tmp.ok())) return tmp.status(); \
  lhs = std::move(tmp).value()

#endif  // TENSORFLOW_CORE_PLATFORM_STATUSOR_H_
