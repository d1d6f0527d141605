// Variables between the engine and Python.
#pragma once

#include <memory>

#include "bridge.h"

namespace weft_engine::trace {
class VariableState;
}

namespace weft_engine::python {

DType variable_dtype(PyObject* variable);
uint64_t variable_number(PyObject* variable);  // in the order in which the program made them
const std::shared_ptr<trace::VariableState>& variable_state(PyObject* variable);  // null for one of a version 1 graph
nb::object variable_object(const trace::VariableState* state);                     // None where Python no longer has it

}  // namespace weft_engine::python
