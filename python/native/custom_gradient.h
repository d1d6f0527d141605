// Custom gradients of code in graphs, between tapes, graphs and functions that are saved.
#pragma once

#include "bridge.h"

namespace weft_engine::graph {
class FunctionLibrary;
}

namespace weft_engine::python {

// A gradient as Python gives it: a tensor, None, or (values, indices, dense_shape).
Value gradient_value(nb::handle h);
// Functions that are to be saved: their custom gradients are traced and become functions of the library, which IdentityN nodes name.
void trace_custom_gradients(graph::FunctionLibrary& library);

}  // namespace weft_engine::python
