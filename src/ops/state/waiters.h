// Waiters: op calls that wait for the state of a resource to change (a queue to fill, a lock to be free),
// without a thread standing by. A call is an attempt that is tried again after every change.
#pragma once

#include <array>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <vector>

#include "op/cancellation.h"
#include "op/kernel.h"
#include "ops/state/ref_handle.h"

namespace weft_engine::ops {

class Waiters {
 public:
  struct Outcome {
    bool done = false, progress = false;
    core::Status status;
  };
  static Outcome wait() { return {}; }
  static Outcome progress() { return {false, true, {}}; }
  static Outcome finished(core::Status s = {}) { return {true, true, std::move(s)}; }

  using Attempt = std::function<Outcome()>;  // called with the mutex held
  // Of an ordered lane only the first attempt is tried; the free lane knows no order.
  enum Lane { kFirst, kSecond, kFree, kNumLanes };

  // How a waiting call is told to stop: what it then says, and what gives back what it has taken so far.
  struct Cancel {
    op::CancellationManager* manager = nullptr;  // null: it never is
    const char* text = "";
    std::function<void()> undo;  // called with the mutex held
  };

  std::mutex& mutex() const { return mutex_; }
  // The attempt must keep the object alive that holds these waiters.
  void submit(Lane lane, Attempt attempt, op::Kernel::Done done, Cancel cancel) {
    auto p = std::make_shared<Pending>();
    p->attempt = std::move(attempt);
    p->done = std::move(done);
    p->lane = lane;
    p->cancel = std::move(cancel);
    if (auto* manager = p->cancel.manager) {
      p->token = manager->get_token();
      if (!manager->register_callback(p->token, [this, p] { stop(*p); })) return p->done(core::cancelled(p->cancel.text));
    }
    std::unique_lock lock(mutex_);
    if (p->over) {  // cancelled meanwhile
      lock.unlock();
      return p->done(core::cancelled(p->cancel.text));
    }
    p->queued = true;
    lanes_[lane].push_back(std::move(p));
    flush(lock);
  }
  // Changes the state that attempts look at.
  template <class F>
  void change(F f) {
    std::unique_lock lock(mutex_);
    f();
    flush(lock);
  }
  // Inside change(): everyone in that lane fails.
  void cancel(Lane lane, const core::Status& why) {
    for (auto& p : lanes_[lane]) finish(std::move(p), why);
    lanes_[lane].clear();
  }

 private:
  struct Pending {
    Attempt attempt;
    op::Kernel::Done done;
    Lane lane;
    Cancel cancel;
    int64_t token = 0;
    bool queued = false, over = false;
  };
  using PendingPtr = std::shared_ptr<Pending>;

  void finish(PendingPtr p, core::Status status) {
    p->over = true;
    finished_.emplace_back(std::move(p), std::move(status));
  }
  // The step is cancelled. (The pending call keeps this object alive.)
  void stop(Pending& pending) {
    std::unique_lock lock(mutex_);
    if (pending.over) return;
    if (!pending.queued) {
      pending.over = true;  // submit sees to it
      return;
    }
    auto& lane = lanes_[pending.lane];
    for (auto it = lane.begin(); it != lane.end(); ++it) {
      if (it->get() != &pending) continue;
      PendingPtr p = std::move(*it);
      lane.erase(it);
      if (p->cancel.undo) p->cancel.undo();
      finish(std::move(p), core::cancelled(pending.cancel.text));
      break;
    }
    flush(lock);  // those behind it may go on
  }
  void flush(std::unique_lock<std::mutex>& lock) {
    for (bool again = true; again;) {
      again = false;
      for (int lane = 0; lane < kNumLanes; ++lane) again |= try_lane(lane);
    }
    auto finished = std::move(finished_);
    finished_.clear();
    lock.unlock();  // what is done may come back with another call
    for (auto& [p, status] : finished) {
      // Without waiting for a callback under way: it finds the call over.
      if (p->cancel.manager) p->cancel.manager->try_deregister_callback(p->token);
      p->done(std::move(status));
    }
  }
  bool try_lane(int lane) {
    bool changed = false;
    auto& pending = lanes_[size_t(lane)];
    for (auto it = pending.begin(); it != pending.end();) {
      Outcome o = (*it)->attempt();
      changed |= o.progress;
      if (o.done) {
        finish(std::move(*it), std::move(o.status));
        it = pending.erase(it);
      } else if (lane != kFree) {
        break;
      } else {
        ++it;
      }
    }
    return changed;
  }

  mutable std::mutex mutex_;
  std::array<std::list<PendingPtr>, kNumLanes> lanes_;
  std::vector<std::pair<PendingPtr, core::Status>> finished_;
};

// A kernel that is one asynchronous function. The context lives until done is called.
template <void (*kRun)(op::KernelContext&, op::Kernel::Done)>
class AsyncKernel final : public op::Kernel {
 public:
  static core::Result<std::unique_ptr<op::Kernel>> create(const op::NodeInfo&) {
    return std::unique_ptr<op::Kernel>(std::make_unique<AsyncKernel>());
  }
  bool is_async() const override { return true; }
  void run_async(op::KernelContext& c, Done done) override { kRun(c, std::move(done)); }
  core::Status run(op::KernelContext& c) override {
    std::promise<core::Status> result;
    kRun(c, [&](core::Status s) { result.set_value(std::move(s)); });
    return result.get_future().get();
  }
};

inline std::string container_of(const op::KernelContext& c) {
  const std::string& given = c.attr<std::string>("container");
  return given.empty() ? c.resources().default_container() : given;
}

// The resource that the attributes container and shared_name stand for, made if it is not there; where no
// name is given the node's own serves.
template <class T, class Make>
core::Result<std::shared_ptr<T>> shared_resource(const op::KernelContext& c, Make make) {
  const std::string& given = c.attr<std::string>("shared_name");
  return c.resources().find_or_create<T>(container_of(c), given.empty() ? c.node().name() : given, make);
}

// A kernel that hands out a handle, a resource or of version 1: of a named resource, or of one of its own
// where no name is given.
// T needs `static Result<std::shared_ptr<T>> make(const KernelContext&, std::string name)` and
// `Status check_shared(const KernelContext&)`, which tells whether an existing one is as the node wants it.
// Base: what is found under the name, where several kinds share a type name.
template <class T, class Base = T>
class HandleKernel final : public op::Kernel {
 public:
  static core::Result<std::unique_ptr<op::Kernel>> create(const op::NodeInfo&) {
    return std::unique_ptr<op::Kernel>(std::make_unique<HandleKernel>());
  }
  core::Status run(op::KernelContext& c) override {
    const std::string& name = c.attr<std::string>("shared_name");
    std::lock_guard lock(mutex_);
    if (gives_ref_handle(c)) {
      const std::string& known = name.empty() ? ref_.private_name(c) : name;
      WEFT_RETURN_IF_ERROR(find(c, known));
      ref_.output(c, container_of(c), known);
      return {};
    }
    if (name.empty()) {
      if (!handle_.valid()) {
        WEFT_ASSIGN(std::shared_ptr<Base> made, T::make(c, c.node().name()));
        handle_ = op::make_handle(c.device().name(), container_of(c), c.node().name(), T::kTypeName, std::move(made), true);
      }
    } else {
      WEFT_RETURN_IF_ERROR(find(c, name));
      if (!handle_.valid()) handle_ = op::make_handle(c.device().name(), container_of(c), name, T::kTypeName);
    }
    c.set_output(0, handle_);
    return {};
  }

 private:
  static core::Status find(const op::KernelContext& c, const std::string& name) {
    WEFT_ASSIGN(std::shared_ptr<Base> found, c.resources().find_or_create<Base>(container_of(c), name, [&] { return T::make(c, name); }));
    return found->check_shared(c);
  }

  std::mutex mutex_;
  core::Tensor handle_;
  RefHandle ref_;
};

}  // namespace weft_engine::ops
