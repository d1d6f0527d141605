#include "eager/tensor_handle.h"

#include "core/interrupt.h"
#include "core/threads.h"

namespace weft::eager {

RefPtr<TensorHandle> TensorHandle::pending(DType dtype, Device* device) {
  auto h = make(Tensor(), device);
  h->dtype_ = dtype;
  h->waiting_ = std::make_unique<Waiting>();
  h->state_.store(State::kPending, std::memory_order_release);
  return h;
}

Status TensorHandle::wait_slowly() const {
  std::unique_lock lock(waiting_->mutex);
  while (!waiting_->changed.wait_for(lock, core::kLookEvery, [this] { return state_.load(std::memory_order_acquire) != State::kPending; })) {
    core::Interrupt* const call = core::Interrupt::current();
    if (core::process_ending.load(std::memory_order_relaxed)) return cancelled("the process ends");
    if (!call) continue;
    lock.unlock();
    if (call->look()) return core::interrupted_call();
    lock.lock();
  }
  return waiting_->status;
}

void TensorHandle::set(Tensor tensor) {
  std::lock_guard lock(waiting_->mutex);
  tensor_ = std::move(tensor);
  state_.store(State::kReady, std::memory_order_release);
  waiting_->changed.notify_all();
}

void TensorHandle::fail(Status status) {
  std::lock_guard lock(waiting_->mutex);
  waiting_->status = std::move(status);
  state_.store(State::kFailed, std::memory_order_release);
  waiting_->changed.notify_all();
}

}  // namespace weft::eager
