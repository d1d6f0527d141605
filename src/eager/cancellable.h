// Calls of ops on this thread that a manager may end, beside their caller's interrupt (runtime/interruptible.h).
#pragma once

#include "op/cancellation.h"

namespace weft_engine::eager {

class Cancellable {
 public:
  // The manager must live until the calls have ended; in async mode they keep one that is shared.
  explicit Cancellable(op::CancellationManager* manager);
  ~Cancellable();
  Cancellable(const Cancellable&) = delete;

 private:
  op::CancellationManager* const outer_;
};

}  // namespace weft_engine::eager
