// Python's operators on eager tensors, without a detour through Python.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

namespace weft_engine::python {

// Slots of TensorBase and VariableBase.
std::vector<PyType_Slot> operator_slots();

// Two matrices, eager, that fit; NotImplemented for all else.
PyObject* matrix_product(PyObject* a, PyObject* b);

// What hooks().binary holds: the Python function for each.
enum Operator : int {
  kAdd,
  kSub,
  kMul,
  kTrueDiv,
  kFloorDiv,
  kMod,
  kPow,
  kMatMul,
  kAnd,
  kOr,
  kXor,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kNumOperators
};

}  // namespace weft_engine::python
