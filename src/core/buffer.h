// Reference-counted memory behind tensors. A buffer owns elements of one type; it may also wrap memory
// of the user, given back through a deallocator.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "core/dtype.h"

namespace weft_engine::core {

// Owner of an object that counts its own references (T::add_ref, T::drop_ref).
template <class T>
class RefPtr {
 public:
  RefPtr() = default;
  RefPtr(std::nullptr_t) {}  // NOLINT
  static RefPtr adopt(T* p) {
    RefPtr r;
    r.p_ = p;
    return r;
  }
  static RefPtr share(T* p) {
    if (p) p->add_ref();
    return adopt(p);
  }
  RefPtr(const RefPtr& o) : p_(o.p_) {
    if (p_) p_->add_ref();
  }
  RefPtr(RefPtr&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  RefPtr& operator=(RefPtr o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  RefPtr& operator=(std::nullptr_t) noexcept {
    if (T* p = std::exchange(p_, nullptr)) p->drop_ref();
    return *this;
  }
  ~RefPtr() {
    if (p_) p_->drop_ref();
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  // Gives up ownership without dropping the reference; for C handles.
  T* release() { return std::exchange(p_, nullptr); }

 private:
  T* p_ = nullptr;
};

class Buffer {
 public:
  using Deallocator = void (*)(void* data, size_t size, void* arg);

  // `count` elements, constructed if the type needs it, otherwise not initialised. Null if out of memory.
  static RefPtr<Buffer> allocate(DType dtype, int64_t count) noexcept;
  // Takes over memory of the user. Elements of strings are not constructed or destroyed here.
  static RefPtr<Buffer> wrap(void* data, size_t size, Deallocator deallocator, void* arg);

  void* data() const { return data_; }
  size_t size() const { return size_; }
  bool unique() const { return refs_.load(std::memory_order_acquire) == 1; }
  bool owns_elements() const { return deallocator_ == nullptr; }

  void add_ref() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void drop_ref() {
    if (refs_.load(std::memory_order_acquire) == 1 || refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 private:
  Buffer() = default;
  void destroy();

  std::atomic<int> refs_{1};
  DType dtype_ = DType::kInvalid;
  void* data_ = nullptr;
  size_t size_ = 0;   // bytes of data
  size_t block_ = 0;  // bytes of the block that holds this header and the data; 0: made with new
  Deallocator deallocator_ = nullptr;
  void* arg_ = nullptr;
};

}  // namespace weft_engine::core
