// Running an eager op for Python.
#pragma once

#include "bridge.h"
#include "trace/op_call.h"

namespace weft_engine::python {

// Runs an eager call that was put together; raises with TensorFlow's text. `release`: other Python threads run meanwhile.
// `name`: what the caller called the op; null: TensorFlow says nothing of a name.
PyObject* run_one(trace::OpCall& call, bool release, const char* name = "");
std::vector<RefPtr<eager::TensorHandle>> run_all(trace::OpCall& call, bool release, const char* name = "");

// The name that TensorFlow gives an op in Python: "Conv2DBackpropInput" is conv2d_backprop_input.
std::string snake_case(std::string_view name);

// Whether results of ops go through a function of the package first (tf.debugging.enable_check_numerics).
bool ops_are_watched();

}  // namespace weft_engine::python
