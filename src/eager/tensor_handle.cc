#include "eager/tensor_handle.h"

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
  waiting_->changed.wait(lock, [this] { return state_.load(std::memory_order_acquire) != State::kPending; });
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
