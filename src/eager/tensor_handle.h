// TensorHandle: a value that may not be there yet (async mode), on a device. An error is one of its
// states and passes to whoever uses the handle.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "core/allocator.h"
#include "core/buffer.h"
#include "core/device.h"
#include "core/tensor.h"
#include "op/emitter.h"

namespace weft::eager {

using namespace weft::core;

class TensorHandle final : public op::ValueRep {
 public:
  static RefPtr<TensorHandle> make(Tensor tensor, Device* device) {
    return RefPtr<TensorHandle>::adopt(new TensorHandle(std::move(tensor), device));
  }
  // Its type is known, its value comes later by set or fail.
  static RefPtr<TensorHandle> pending(DType dtype, Device* device);

  DType dtype() const override { return dtype_; }
  // These two wait for the value; unknown where it ended in an error.
  PartialShape shape() const override { return wait().ok() ? PartialShape(tensor_.shape()) : PartialShape::unknown(); }
  const Tensor* constant() const override { return wait().ok() ? &tensor_ : nullptr; }
  Device* device() const { return device_; }
  // How it is laid out over devices (layout.h); 0: it is not.
  int layout() const { return layout_; }
  void set_layout(int layout) { layout_ = layout; }
  // Waits until there is a value or an error.
  Status wait() const { return ready() ? Status() : wait_slowly(); }
  bool ready() const { return state_.load(std::memory_order_acquire) == State::kReady; }
  // After wait() was OK.
  const Tensor& tensor() const { return tensor_; }

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
  };
  std::unique_ptr<Waiting> waiting_;
};

}  // namespace weft::eager
