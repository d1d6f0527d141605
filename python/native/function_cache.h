// Calls of functions for Python.
#pragma once

#include "bridge.h"

namespace weft::python {

// What a failed call says, as TensorFlow words it.
Status function_error(trace::ConcreteFunction& f, const Status& s);

}  // namespace weft::python
