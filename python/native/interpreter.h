// The interpreter's lock, for threads that may outlive the interpreter. Python ends a thread that asks for the lock while the interpreter
// ends (pthread_exit), through all C++ code that is on the thread's stack: that cannot be, destructors would use Python without the lock. So
// nothing here asks then, and a thread that is ended nevertheless blocks until the process is gone.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>

#include <atomic>
#include <optional>

#include "core/interrupt.h"
#include "core/status.h"

namespace weft_engine::python {

// Whether the interpreter ends; from then on only the thread that ends it calls Python.
inline std::atomic<bool> interpreter_ends{false};
[[noreturn]] void block_forever() noexcept;
// With the lock held: another thread than that which ends the interpreter goes no further.
void stop_here();
inline void stop_if_ending() {
  if (interpreter_ends.load(std::memory_order_relaxed)) [[unlikely]]
    stop_here();
}

// PyErr_Clear for an error that is an answer; Ctrl-C is none, and comes again.
inline void forget_error() {
  const bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  PyErr_Clear();
  if (interrupted) PyErr_SetInterrupt();
}

// Calls a function of Python's API that may run Python code: f(arguments...).
template <class F, class... Args>
auto call_python(F f, Args... args) {
  try {
    return f(args...);
  } catch (abi::__forced_unwind&) {
    block_forever();
  }
}

// Lets go of the interpreter lock while it lives, if asked to.
class Released {
 public:
  explicit Released(bool on) : state_(on ? PyEval_SaveThread() : nullptr) {}
  ~Released() {
    if (state_) take_back(state_);
  }
  Released(const Released&) = delete;

 private:
  friend class Watched;
  static void take_back(PyThreadState* state) noexcept;
  PyThreadState* state_;
};

// A call of the engine without the lock, while this lives. On the main thread it looks for signals now and again; an exception that their handlers raise,
// KeyboardInterrupt before all, ends the call.
class Watched {
 public:
  Watched();
  ~Watched() { end(); }
  Watched(const Watched&) = delete;
  // Takes the lock back. False: with Python's error set, whatever the call has come to.
  bool end() noexcept;

 private:
  static bool look(void* self);
  PyThreadState* state_;
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
  std::optional<core::Interrupt> interrupt_;
};

// f(), which gives a status; `release`: without the lock, so that other Python threads run meanwhile.
template <class F>
core::Status run_released(bool release, F f) {
  if (!release) return f();
  Watched watched;
  core::Status s = f();
  if (!watched.end()) throw nanobind::python_error();
  return s;
}

// Holds the lock while it lives, on any thread. Not held (false): the interpreter ends or is gone, and Python must not be called.
class Locked {
 public:
  Locked() noexcept;
  ~Locked() {
    if (held_) PyGILState_Release(state_);
  }
  Locked(const Locked&) = delete;
  explicit operator bool() const { return held_; }

 private:
  bool held_ = false;
  PyGILState_STATE state_{};
  core::Uninterruptible own_;
};

}  // namespace weft_engine::python
