// SPDX-License-Identifier: Apache-2.0
//
// CancellationManager: how a step is told to stop.
#ifndef TENSORFLOW_CORE_FRAMEWORK_CANCELLATION_H_
#define TENSORFLOW_CORE_FRAMEWORK_CANCELLATION_H_

#include <functional>
#include <memory>

#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

using CancellationToken = int64;
using CancelCallback = std::function<void()>;

// A name for the engine's own object: there is nothing in it, and a pointer to it lasts as long as that object.
class CancellationManager {
 public:
  CancellationManager() = delete;
  CancellationManager(const CancellationManager&) = delete;
  bool IsCancelled() { return weft_cancellation_cancelled(c()) != 0; }
  CancellationToken get_cancellation_token() { return weft_cancellation_token(c()); }
  // False, and nothing kept, if it is cancelled already.
  bool RegisterCallback(CancellationToken token, CancelCallback callback) {
    return weft_cancellation_register(
               c(), token, [](void* f) { (*static_cast<CancelCallback*>(f))(); }, [](void* f) { delete static_cast<CancelCallback*>(f); },
               new CancelCallback(std::move(callback))) != 0;
  }
  // After true the callback will not be called.
  bool DeregisterCallback(CancellationToken token) { return weft_cancellation_deregister(c(), token) != 0; }

  // For these headers.
  static CancellationManager* Of(weft_cancellation* c) { return reinterpret_cast<CancellationManager*>(c); }

 private:
  weft_cancellation* c() { return reinterpret_cast<weft_cancellation*>(this); }
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_CANCELLATION_H_
