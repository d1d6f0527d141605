#include "release.h"

#include <mutex>
#include <utility>

#include "interpreter.h"

namespace weft_engine::python {
namespace {

struct Waiting {
  std::mutex mutex;
  std::vector<PyObject*> objects;
  bool announced = false;
};
Waiting& waiting() {
  static auto* w = new Waiting;
  return *w;
}

int drain(void*) {
  std::vector<PyObject*> objects;
  {
    std::lock_guard lock(waiting().mutex);
    objects = std::exchange(waiting().objects, {});
    waiting().announced = false;
  }
  for (PyObject* o : objects) Py_DECREF(o);
  return 0;
}

}  // namespace

void release(std::vector<PyObject*> objects) {
  if (objects.empty() || !Py_IsInitialized()) return;
  if (PyGILState_Check()) {
    for (PyObject* o : objects) Py_DECREF(o);
    return;
  }
  if (interpreter_ends.load()) return;
  Waiting& w = waiting();
  std::lock_guard lock(w.mutex);
  w.objects.insert(w.objects.end(), objects.begin(), objects.end());
  if (!w.announced) w.announced = Py_AddPendingCall(drain, nullptr) == 0;  // else with the next ones
}

}  // namespace weft_engine::python
