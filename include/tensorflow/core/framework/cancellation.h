// SPDX-License-Identifier: Apache-2.0
//
// CancellationManager: how a step is told to stop.
#ifndef TENSORFLOW_CORE_FRAMEWORK_CANCELLATION_H_
#define TENSORFLOW_CORE_FRAMEWORK_CANCELLATION_H_

#include <cstddef>
#include <functional>
#include <memory>

#include "tensorflow/core/platform/types.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {

using CancellationToken = int64;
using CancelCallback = std::function<void()>;

// That of a run is a name for the engine's own object, which lasts as long as that; one of the program's has the engine's object in it.
class CancellationManager {
 public:
  static constexpr CancellationToken kInvalidToken = -1;
  CancellationManager() : CancellationManager(nullptr) {}
  // Cancelled when its parent is, which must live longer.
  explicit CancellationManager(CancellationManager* parent) { weft_cancellation_construct(memory_, parent ? parent->c() : nullptr); }
  ~CancellationManager() { weft_cancellation_destroy(memory_); }
  CancellationManager(const CancellationManager&) = delete;
  void operator=(const CancellationManager&) = delete;

  // Calls all callbacks, once.
  void StartCancel() { weft_cancellation_cancel(c()); }
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
  // The same without waiting for a callback that is being called.
  bool TryDeregisterCallback(CancellationToken token) { return weft_cancellation_try_deregister(c(), token) != 0 || !IsCancelled(); }

  // For these headers.
  static CancellationManager* Of(weft_cancellation* c) { return reinterpret_cast<CancellationManager*>(c); }
  weft_cancellation* c() { return reinterpret_cast<weft_cancellation*>(this); }

 private:
  alignas(std::max_align_t) char memory_[WEFT_CANCELLATION_SIZE];
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_CANCELLATION_H_
