// ThreadLocal<T>::get(): the calling thread's own T, by one look. At each use of an ordinary thread_local that has a constructor, a shared library
// asks for the address of the object and of its guard, by calls; an op of 100 ns feels them. The word here costs one such call.
// (Storage that needs none, tls_model("initial-exec"), is too scarce: libraries that are loaded late may then not load at all.)
#pragma once

#include <new>

namespace weft_engine::core {

template <class T>
class ThreadLocal {
 public:
  // Made at first use and gone with the thread. Null where memory is short, and in an ending thread that has given it up.
  static T* get() noexcept {
    const State& s = state_;
    if (s.own) [[likely]]
      return s.own;
    return make();
  }

 private:
  struct State {
    T* own = nullptr;
    bool ended = false;
  };
  struct Holder {
    Holder() { state_.own = new (std::nothrow) T; }
    ~Holder() {
      T* own = state_.own;
      state_ = {nullptr, true};
      delete own;
    }
  };
  [[gnu::noinline]] static T* make() noexcept {
    if (!state_.ended) [[maybe_unused]]
      thread_local Holder holder;
    return state_.own;
  }
  static constinit inline thread_local State state_ = {};
};

}  // namespace weft_engine::core
