// SPDX-License-Identifier: Apache-2.0
//
// gtl::MakeCleanup(f): calls f at the end of the scope.
#ifndef TENSORFLOW_CORE_PLATFORM_CLEANUP_H_
#define TENSORFLOW_CORE_PLATFORM_CLEANUP_H_

#include <utility>

namespace tensorflow {
namespace gtl {

template <class F>
class Cleanup {
 public:
  explicit Cleanup(F f) : f_(std::move(f)) {}
  Cleanup(Cleanup&& o) noexcept : f_(std::move(o.f_)), armed_(o.armed_) { o.armed_ = false; }
  ~Cleanup() {
    if (armed_) f_();
  }
  F release() {
    armed_ = false;
    return std::move(f_);
  }
  bool is_released() const { return !armed_; }

 private:
  F f_;
  bool armed_ = true;
};
template <class F>
Cleanup<std::decay_t<F>> MakeCleanup(F&& f) {
  return Cleanup<std::decay_t<F>>(std::forward<F>(f));
}

}  // namespace gtl
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_CLEANUP_H_
