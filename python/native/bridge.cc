#include "bridge.h"

namespace weft_engine::python {

Hooks& hooks() {
  static Hooks* h = new Hooks;
  return *h;
}

PyObject* dtype_object(DType t) {
  PyObject* o = hooks().dtypes[size_t(t) & 255];
  return o ? o : Py_None;
}

DType dtype_of(PyObject* dtype) {
  static PyObject* attribute = PyUnicode_InternFromString("_type_enum");
  nb::object number = nb::steal(PyObject_GetAttr(dtype, attribute));
  if (!number.is_valid()) {
    forget_error();
    nb::object made = nb::steal(must(call_python(PyObject_CallOneArg, hooks().as_dtype, dtype)));
    number = nb::steal(must(PyObject_GetAttr(made.ptr(), attribute)));
  }
  const long n = PyLong_AsLong(number.ptr());
  if (n == -1 && PyErr_Occurred()) raise_current();
  return static_cast<DType>(n);
}

PyObject* shape_tuple(const PartialShape& s) {
  if (!s.has_rank()) Py_RETURN_NONE;
  PyObject* t = must(PyTuple_New(s.rank()));
  for (int i = 0; i < s.rank(); ++i) PyTuple_SET_ITEM(t, i, s.dim(i) < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(s.dim(i)));
  return t;
}

PartialShape shape_of(PyObject* shape) {
  nb::object t = nb::steal(must(call_python(PyObject_CallOneArg, hooks().as_shape, shape)));
  if (t.is_none()) return PartialShape::unknown();
  std::vector<int64_t> dims;
  for (nb::handle d : t) {
    if (d.is_none()) {
      dims.push_back(-1);
      continue;
    }
    const int64_t n = PyLong_AsLongLong(d.ptr());
    if (n == -1 && PyErr_Occurred()) raise_current();
    dims.push_back(n);
  }
  return PartialShape(std::move(dims));
}

}  // namespace weft_engine::python
