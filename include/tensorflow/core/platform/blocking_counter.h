// SPDX-License-Identifier: Apache-2.0
//
// BlockingCounter: waits until so many parts are done.
#ifndef TENSORFLOW_CORE_PLATFORM_BLOCKING_COUNTER_H_
#define TENSORFLOW_CORE_PLATFORM_BLOCKING_COUNTER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {

class BlockingCounter {
 public:
  explicit BlockingCounter(int n) : left_(n) {}
  void DecrementCount() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--left_ <= 0) done_.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return left_ <= 0; });
  }
  bool WaitFor(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex_);
    return done_.wait_for(lock, time, [this] { return left_ <= 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  int left_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_BLOCKING_COUNTER_H_
