// Calls whose caller waits for the answer.
#pragma once

#include "op/cancellation.h"
#include "remote/transport.h"

namespace weft_engine::remote {

struct CallLimits {
  double seconds = 0;  // 0: no deadline
  bool wait = false;   // for an address that nobody listens on yet
  op::CancellationManager* cancellation = nullptr;
};
// An interrupt of this thread's caller (core/interrupt.h) ends the call, too.
Result<Message> call_and_wait(Channel& channel, std::string_view method, Message request, const CallLimits& limits = {});

}  // namespace weft_engine::remote
