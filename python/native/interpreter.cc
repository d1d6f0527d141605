#include "interpreter.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "bridge.h"
#include "core/threads.h"

namespace weft_engine::python {
namespace {

std::atomic<pthread_t> ending_thread{};
std::atomic<int> standing{0};
std::atomic<pthread_t> main_thread{};  // where Python runs the handlers of signals

bool may_go_on() { return !interpreter_ends.load() || pthread_equal(ending_thread.load(), pthread_self()); }

int other_threads() {
  int n = 0;
  for (PyThreadState* s = PyInterpreterState_ThreadHead(PyInterpreterState_Get()); s; s = PyThreadState_Next(s)) ++n;
  return n - 1;
}

// The last of the program's exit functions. Threads that are in the engine or come to it are stopped, before Python ends them; those
// that are not, after a moment, are in code of others.
void end() {
  ending_thread.store(pthread_self());
  core::process_ending.store(true);
  interpreter_ends.store(true);
  for (int i = 0; i < 50 && standing.load() < other_threads(); ++i) {
    PyThreadState* state = PyEval_SaveThread();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
  }
}

}  // namespace

void block_forever() noexcept {
  standing.fetch_add(1);
  for (;;) pause();
}

void stop_here() {
  if (may_go_on()) return;
  PyEval_SaveThread();
  block_forever();
}

void Released::take_back(PyThreadState* state) noexcept {
  if (!may_go_on()) block_forever();
  try {
    PyEval_RestoreThread(state);
  } catch (abi::__forced_unwind&) {
    block_forever();
  }
  stop_if_ending();
}

Watched::Watched() : state_(PyEval_SaveThread()) {
  if (pthread_equal(main_thread.load(std::memory_order_relaxed), pthread_self())) interrupt_.emplace(&look, this);
}

bool Watched::look(void* p) {
  auto* self = static_cast<Watched*>(p);
  Released::take_back(self->state_);
  const bool raised = PyErr_CheckSignals() != 0;
  if (raised) PyErr_Fetch(&self->type_, &self->value_, &self->traceback_);
  self->state_ = PyEval_SaveThread();
  return raised;
}

bool Watched::end() noexcept {
  if (!state_) return true;
  interrupt_.reset();
  Released::take_back(std::exchange(state_, nullptr));
  if (!type_) return true;
  PyErr_Restore(std::exchange(type_, nullptr), value_, traceback_);
  return false;
}

Locked::Locked() noexcept {
  if (!Py_IsInitialized() || !may_go_on()) return;
  try {
    state_ = PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {
    block_forever();
  }
  held_ = true;
}

void bind_interpreter(nb::module_& m) {
  m.def("_end", end);
  main_thread.store(pthread_t(nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"))));
  pthread_atfork(nullptr, nullptr, [] { main_thread.store(pthread_self()); });
  nb::module_::import_("atexit").attr("register")(m.attr("_end"));
}

}  // namespace weft_engine::python
