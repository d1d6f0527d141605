// SPDX-License-Identifier: Apache-2.0
//
// core::RefCounted: objects that count who uses them, and owners for them.
#ifndef TENSORFLOW_CORE_PLATFORM_REFCOUNT_H_
#define TENSORFLOW_CORE_PLATFORM_REFCOUNT_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

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
    NotifyDeleted();
    delete this;
    return true;
  }
  int_fast32_t RefCount() const { return refs_.load(std::memory_order_acquire); }
  bool RefCountIsOne() const { return RefCount() == 1; }

 protected:
  virtual ~RefCounted() = default;
  virtual void NotifyDeleted() const {}  // before the object goes
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

template <class T>
class WeakPtr;
using WeakNotifyFn = std::function<void()>;

// Objects that others may point at without keeping them.
class WeakRefCounted : public RefCounted {
 public:
  int WeakRefCount() const { return static_cast<int>(life_.use_count()) - 1; }

 protected:
  void NotifyDeleted() const override { life_->End(); }

 private:
  template <class T>
  friend class WeakPtr;
  // Outlives the object.
  struct Life {
    explicit Life(const WeakRefCounted* o) : object(o) {}
    const WeakRefCounted* NewRef() {
      const std::lock_guard<std::mutex> lock(mu);
      return object && object->TryRef() ? object : nullptr;
    }
    int Tell(WeakNotifyFn f) {
      const std::lock_guard<std::mutex> lock(mu);
      if (!object || !f) return 0;
      told.emplace(++last, std::move(f));
      return last;
    }
    int TellAgain(int id) {
      WeakNotifyFn f;
      {
        const std::lock_guard<std::mutex> lock(mu);
        if (const auto it = told.find(id); it != told.end()) f = it->second;
      }
      return Tell(std::move(f));
    }
    void Forget(int id) {
      const std::lock_guard<std::mutex> lock(mu);
      told.erase(id);
    }
    // Those who are told may forget others meanwhile.
    void End() {
      std::unique_lock<std::mutex> lock(mu);
      while (!told.empty()) {
        const WeakNotifyFn f = std::move(told.begin()->second);
        told.erase(told.begin());
        lock.unlock();
        f();
        lock.lock();
      }
      object = nullptr;
    }
    std::mutex mu;
    const WeakRefCounted* object;
    std::map<int, WeakNotifyFn> told;
    int last = 0;
  };
  const std::shared_ptr<Life> life_ = std::make_shared<Life>(this);
};

// Points at an object, and calls a function when that goes.
template <class T>
class WeakPtr {
 public:
  explicit WeakPtr(WeakRefCounted* o = nullptr, WeakNotifyFn f = nullptr) {
    if (!o) return;
    life_ = o->life_;
    id_ = life_->Tell(std::move(f));
  }
  WeakPtr(const WeakPtr& o) : life_(o.life_), id_(life_ ? life_->TellAgain(o.id_) : 0) {}
  WeakPtr(WeakPtr&& o) noexcept : life_(std::move(o.life_)), id_(std::exchange(o.id_, 0)) {}
  WeakPtr& operator=(WeakPtr o) noexcept {
    std::swap(life_, o.life_);
    std::swap(id_, o.id_);
    return *this;
  }
  ~WeakPtr() {
    if (life_ && id_) life_->Forget(id_);
  }
  // Null once the object goes.
  RefCountPtr<T> GetNewRef() const { return RefCountPtr<T>(life_ ? static_cast<T*>(const_cast<WeakRefCounted*>(life_->NewRef())) : nullptr); }

 private:
  std::shared_ptr<WeakRefCounted::Life> life_;
  int id_ = 0;
};

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
