// Giving up references to Python objects on threads that do not have the interpreter lock.
#pragma once

#include <Python.h>

#include <vector>

namespace weft_engine::python {

// Drops the references now where this thread has the interpreter lock, else when Python next runs: a thread that waited for the lock
// here could be one that its holder waits for. They stay where the interpreter has ended.
void release(std::vector<PyObject*> objects);
inline void release(PyObject* object) { release(std::vector<PyObject*>{object}); }

}  // namespace weft_engine::python
