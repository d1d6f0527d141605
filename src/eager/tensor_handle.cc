#include "eager/tensor_handle.h"

#include "core/interrupt.h"
#include "core/own_memory.h"
#include "core/threads.h"

namespace weft_engine::eager {

RefPtr<TensorHandle> TensorHandle::pending(DType dtype, Device* device) {
  auto h = make(Tensor(), device);
  h->dtype_ = dtype;
  h->waiting_ = std::make_unique<Waiting>();
  h->state_.store(State::kPending, std::memory_order_release);
  return h;
}

RefPtr<TensorHandle> TensorHandle::remote(DType dtype, Device* device, std::shared_ptr<RemoteValue> value) {
  auto h = pending(dtype, device);
  h->waiting_->remote = std::move(value);
  return h;
}

Status TensorHandle::wait_for_op() const {
  if (ready() || !waiting_ || !waiting_->remote) return wait();
  return waiting_->remote->shape().status();
}

Result<const Tensor*> TensorHandle::host_tensor() const {
  if (!lies_elsewhere(tensor_)) return &tensor_;
  static std::mutex mutex;  // copies wait for their device anyway
  std::lock_guard lock(mutex);
  if (!on_host_) {
    WEFT_ASSIGN(Tensor copy, to_host(tensor_));
    on_host_ = std::make_unique<Tensor>(std::move(copy));
  }
  return static_cast<const Tensor*>(on_host_.get());
}

const Tensor* TensorHandle::known_value() const {
  if (!ready() && (!can_be_brought() || !wait().ok())) return nullptr;
  const auto here = host_tensor();
  return here.ok() ? *here : nullptr;
}

PartialShape TensorHandle::slow_shape() const {
  if (waiting_->remote) {
    auto shape = waiting_->remote->shape();
    return shape.ok() ? *shape : PartialShape::unknown();
  }
  return wait().ok() ? PartialShape(tensor_.shape()) : PartialShape::unknown();
}

// Until something has happened, the process ends or the call is interrupted.
template <class Happened>
static Status wait_for(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, const Happened& happened) {
  while (!changed.wait_for(lock, core::kInterruptPollInterval, happened)) {
    core::Interrupt* const call = core::Interrupt::current();
    if (core::process_ending.load(std::memory_order_relaxed)) return cancelled("the process ends");
    if (!call) continue;
    lock.unlock();
    if (call->look()) return core::interrupted_call();
    lock.lock();
  }
  return {};
}

static Result<Tensor> fetch_and_wait(RemoteValue& of) {
  struct Answer {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Result<Tensor>> value;
  };
  auto answer = std::make_shared<Answer>();
  of.fetch([answer](Result<Tensor> value) {
    std::lock_guard lock(answer->mutex);
    answer->value.emplace(std::move(value));
    answer->changed.notify_all();
  });
  of.before_waiting([&answer] {
    std::lock_guard lock(answer->mutex);
    return answer->value.has_value();
  });
  std::unique_lock lock(answer->mutex);
  WEFT_RETURN_IF_ERROR(wait_for(lock, answer->changed, [&] { return answer->value.has_value(); }));
  return std::move(*answer->value);
}

Status TensorHandle::wait_slowly() const {
  if (!can_be_brought()) {
    // Many variants (lists, optionals) can be sent for who asks for them, others (datasets) cannot: one that did not come is still of use where it
    // is, so that the handle does not fail.
    WEFT_RETURN_IF_ERROR(waiting_->remote->shape().status());
    if (dtype_ == DType::kResource)
      return invalid_argument("a resource of ", device_->name(), " stays in its process: it can be used by ops there only");
    WEFT_ASSIGN(Tensor value, fetch_and_wait(*waiting_->remote));
    std::lock_guard lock(waiting_->mutex);
    if (ready()) return {};  // another thread was first
    auto* const self = const_cast<TensorHandle*>(this);
    self->tensor_ = std::move(value);
    self->state_.store(State::kReady, std::memory_order_release);
    return {};
  }
  std::unique_lock lock(waiting_->mutex);
  if (waiting_->remote && !std::exchange(waiting_->fetching, true) && state_.load(std::memory_order_acquire) == State::kPending) {
    lock.unlock();
    auto self = RefPtr<TensorHandle>::share(const_cast<TensorHandle*>(this));
    waiting_->remote->fetch([self](Result<Tensor> value) {
      if (value.ok()) self->set(std::move(value).value());
      else self->fail(value.status());
    });
    waiting_->remote->before_waiting([this] { return state_.load(std::memory_order_acquire) != State::kPending; });
    lock.lock();
  }
  WEFT_RETURN_IF_ERROR(wait_for(lock, waiting_->changed, [this] { return state_.load(std::memory_order_acquire) != State::kPending; }));
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

}  // namespace weft_engine::eager
