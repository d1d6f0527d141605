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
  {
    std::unique_lock lock(state->mutex);
    op::CancellationManager::wait(lock, state->changed, &cancellation, [&] { return state->done; });
  }
  cancellation.deregister_callback(token);
  if (core::Interrupt* caller = core::Interrupt::current(); caller && caller->wanted()) return core::interrupted_call();
  WEFT_RETURN_IF_ERROR(state->status);
  return std::move(state->response);
}

}  // namespace weft_engine::remote
