// SPDX-License-Identifier: Apache-2.0
//
// Env: the clock. Its files and threads are not here yet.
#ifndef TENSORFLOW_CORE_PLATFORM_ENV_H_
#define TENSORFLOW_CORE_PLATFORM_ENV_H_

#include <chrono>
#include <thread>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

struct ThreadOptions {
  size_t stack_size = 0;
  size_t guard_size = 0;
  int numa_node = -1;
};

class Env {
 public:
  static Env* Default() {
    static Env env;
    return &env;
  }
  uint64 NowNanos() const { return Since<std::chrono::nanoseconds>(); }
  uint64 NowMicros() const { return Since<std::chrono::microseconds>(); }
  uint64 NowSeconds() const { return Since<std::chrono::seconds>(); }
  void SleepForMicroseconds(int64 n) { std::this_thread::sleep_for(std::chrono::microseconds(n)); }

 private:
  template <class Unit>
  static uint64 Since() {
    return static_cast<uint64>(std::chrono::duration_cast<Unit>(std::chrono::system_clock::now().time_since_epoch()).count());
  }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_ENV_H_
