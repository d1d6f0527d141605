#include "remote/blocking_call.h"

#include <condition_variable>
#include <mutex>

#include "core/threads.h"

namespace weft_engine::remote {

Result<Message> call_and_wait(Channel& channel, std::string_view method, Message request, const CallLimits& limits) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    Status status;
    Message response;
  };
  auto state = std::make_shared<State>();
  op::CancellationManager cancellation(limits.cancellation);
  auto call = channel.call(method, std::move(request), limits.seconds, limits.wait, [state](Status s, Message response) {
    std::lock_guard lock(state->mutex);
    state->status = std::move(s);
    state->response = std::move(response);
    state->done = true;
    state->changed.notify_all();
  });
  const auto token = cancellation.get_token();
  if (!cancellation.register_callback(token, [call] { call->cancel(); })) call->cancel();
  bool ending = false;
  {
    std::unique_lock lock(state->mutex);
    while (!ending && !state->changed.wait_for(lock, core::kInterruptPollInterval, [&] { return state->done; })) {
      ending = core::process_ending.load(std::memory_order_relaxed);
      core::Interrupt* const caller = core::Interrupt::current();
      if (!caller || caller->wanted()) continue;
      lock.unlock();
      if (caller->look()) cancellation.start_cancel();
      lock.lock();
    }
  }
  cancellation.deregister_callback(token);
  if (ending) return core::cancelled("the process ends");
  if (core::Interrupt* caller = core::Interrupt::current(); caller && caller->wanted()) return core::interrupted_call();
  WEFT_RETURN_IF_ERROR(state->status);
  return std::move(state->response);
}

}  // namespace weft_engine::remote
