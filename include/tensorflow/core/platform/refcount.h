// SPDX-License-Identifier: Apache-2.0
//
// core::RefCounted: objects that count who uses them, and owners for them.
#ifndef TENSORFLOW_CORE_PLATFORM_REFCOUNT_H_
#define TENSORFLOW_CORE_PLATFORM_REFCOUNT_H_

#include <atomic>
#include <memory>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace core {

class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  void operator=(const RefCounted&) = delete;
  void Ref() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  // True if that was the last one; the object is gone then.
  bool Unref() const {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    delete this;
    return true;
  }
  int_fast32_t RefCount() const { return refs_.load(std::memory_order_acquire); }
  bool RefCountIsOne() const { return RefCount() == 1; }

 protected:
  virtual ~RefCounted() = default;
  // One more, unless the object is going already.
  bool TryRef() const {
    int_fast32_t n = refs_.load(std::memory_order_relaxed);
    while (n != 0) {
      if (refs_.compare_exchange_weak(n, n + 1, std::memory_order_relaxed)) return true;
    }
    return false;
  }

 private:
  mutable std::atomic_int_fast32_t refs_{1};
};

struct RefCountDeleter {
  void operator()(const RefCounted* o) const { o->Unref(); }
};
template <class T>
class RefCountPtr : public std::unique_ptr<T, RefCountDeleter> {
 public:
  using std::unique_ptr<T, RefCountDeleter>::unique_ptr;
  // Another owner of the same object.
  RefCountPtr GetNewRef() const {
    if (this->get()) this->get()->Ref();
    return RefCountPtr(this->get());
  }
};
template <class T>
RefCountPtr<T> GetNewRef(T* p) {
  if (p) p->Ref();
  return RefCountPtr<T>(p);
}

class ScopedUnref {
 public:
  explicit ScopedUnref(const RefCounted* o) : o_(o) {}
  ~ScopedUnref() {
    if (o_) o_->Unref();
  }
  ScopedUnref(const ScopedUnref&) = delete;
  void operator=(const ScopedUnref&) = delete;

 private:
  const RefCounted* o_;
};

}  // namespace core
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_REFCOUNT_H_
