// SPDX-License-Identifier: Apache-2.0
//
// Notification: something that happens once, and threads that wait for it.
#ifndef TENSORFLOW_CORE_PLATFORM_NOTIFICATION_H_
#define TENSORFLOW_CORE_PLATFORM_NOTIFICATION_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {

class Notification {
 public:
  Notification() = default;
  Notification(const Notification&) = delete;
  void operator=(const Notification&) = delete;
  void Notify() {
    const std::lock_guard<std::mutex> lock(mutex_);
    notified_ = true;
    changed_.notify_all();
  }
  bool HasBeenNotified() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return notified_;
  }
  void WaitForNotification() const {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return notified_; });
  }

 private:
  friend bool WaitForNotificationWithTimeout(Notification* n, int64 microseconds);
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool notified_ = false;
};
// False if the time passed before.
inline bool WaitForNotificationWithTimeout(Notification* n, int64 microseconds) {
  std::unique_lock<std::mutex> lock(n->mutex_);
  return n->changed_.wait_for(lock, std::chrono::microseconds(microseconds), [n] { return n->notified_; });
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_NOTIFICATION_H_
