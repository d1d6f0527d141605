// TensorHandle: a value that may not be there yet (async mode), on a device; one of another process stays there until it is
// waited for. An error is one of its states and passes to whoever uses the handle.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "core/allocator.h"
#include "core/buffer.h"
#include "core/device.h"
#include "core/tensor.h"
#include "eager/remote.h"
#include "op/emitter.h"

namespace weft_engine::eager {

using namespace weft_engine::core;

class TensorHandle final : public op::ValueRep {
 public:
  static RefPtr<TensorHandle> make(Tensor tensor, Device* device) { return RefPtr<TensorHandle>::adopt(new TensorHandle(std::move(tensor), device)); }
  // Its type is known, its value comes later by set or fail.
  static RefPtr<TensorHandle> pending(DType dtype, Device* device);
  // Its value is held by another process: who waits for it has it brought here.
  static RefPtr<TensorHandle> remote(DType dtype, Device* device, std::shared_ptr<RemoteValue> value);

  DType dtype() const override { return dtype_; }
  // These two wait for the value; unknown where it ended in an error. A remote one is not brought here for its shape.
  PartialShape shape() const override { return ready() ? PartialShape(tensor_.shape()) : slow_shape(); }
  // In host memory, wherever the value lies.
  const Tensor* constant() const override { return known_value(); }
  Device* device() const { return device_; }
  // How it is laid out over devices (layout.h); 0: it is not.
  int layout() const { return layout_; }
  void set_layout(int layout) { layout_ = layout; }
  // Waits until there is a value or an error.
  Status wait() const { return ready() ? Status() : wait_slowly(); }
  bool ready() const { return state_.load(std::memory_order_acquire) == State::kReady; }
  // Null: it is this process's own.
  std::shared_ptr<RemoteValue> remote_value() const { return waiting_ ? waiting_->remote : nullptr; }
  // As wait(), but a remote value stays where it is: only its op is waited for.
  Status wait_for_op() const;
  // After wait() was OK.
  const Tensor& tensor() const { return tensor_; }
  // The same in host memory: brought there once where it lies elsewhere (core/own_memory.h), and kept as long as the handle. After wait() was OK.
  Result<const Tensor*> host_tensor() const;

  void set(Tensor tensor);
  void fail(Status status);

  // For the one who makes a handle: the kernel writes its output here before anyone else sees it.
  Tensor& slot() { return tensor_; }
  void filled() { dtype_ = tensor_.dtype(); }

  // Handles come and go with every op; the allocator's per-thread lists make that cheap.
  static void* operator new(size_t n) {
    void* p = host_allocate(n);
    if (!p) throw std::bad_alloc();
    return p;
  }
  static void operator delete(void* p, size_t n) { host_free(p, n); }

 private:
  enum class State : int { kReady, kPending, kFailed };
  TensorHandle(Tensor tensor, Device* device) : dtype_(tensor.dtype()), device_(device), tensor_(std::move(tensor)) {}
  Status wait_slowly() const;
  PartialShape slow_shape() const;
  const Tensor* known_value() const;
  bool can_be_brought() const { return !waiting_ || !waiting_->remote || (dtype_ != DType::kResource && dtype_ != DType::kVariant); }

  std::atomic<State> state_{State::kReady};
  DType dtype_;
  int layout_ = 0;
  Device* device_;
  Tensor tensor_;
  // Only a handle that starts pending has these.
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    Status status;
    std::shared_ptr<RemoteValue> remote;
    bool fetching = false;
  };
  std::unique_ptr<Waiting> waiting_;
  mutable std::unique_ptr<Tensor> on_host_;
};

}  // namespace weft_engine::eager
