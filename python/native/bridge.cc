#include "bridge.h"

namespace weft::python {

Hooks& hooks() {
  static Hooks* h = new Hooks;
  return *h;
}

namespace {

// An exception of Python code on its way through the engine: kept for the thread that it was raised on.
struct Pending {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
};
thread_local Pending t_pending;
constexpr std::string_view kPending = "an exception of Python code passes";

}  // namespace

Status status_of_python_error() {
  Py_XDECREF(t_pending.type);
  Py_XDECREF(t_pending.value);
  Py_XDECREF(t_pending.trace);
  PyErr_Fetch(&t_pending.type, &t_pending.value, &t_pending.trace);
  return Status(Code::kUnknown, std::string(kPending));
}

bool is_out_of_scope(const Status& status) {
  const std::string_view text = status.message();
  return text.starts_with("the tensor '") && text.find("is out of scope and cannot be used here") != text.npos;
}

namespace {
constexpr std::string_view kNoGradient = "gradient registry has no entry for: ", kDisabled = "Gradient explicitly disabled. ", kBadShape = "Incompatible shapes between op input and calculated input gradient.";
}

bool is_gradient_error(const Status& status) {
  const std::string_view said = status.message();
  return said.starts_with(kNoGradient) || said.starts_with(kDisabled) || said.starts_with(kBadShape);
}

void set_error(const Status& status) {
  if (status.code() == Code::kUnknown && t_pending.type && std::string_view(status.message()).starts_with(kPending)) {
    PyErr_Restore(std::exchange(t_pending.type, nullptr), std::exchange(t_pending.value, nullptr), std::exchange(t_pending.trace, nullptr));
    return;
  }
  if (is_out_of_scope(status)) {
    nb::object made = nb::module_::import_("weft.framework.op_stacks").attr("out_of_scope")(std::string(status.message()).c_str());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    return;
  }
  const std::string_view said = status.message();
  if (status.code() == Code::kNotFound && said.starts_with(kNoGradient)) {
    // TensorFlow's words: those of its registry for tapes, longer ones for nodes.
    const std::string_view entry = said.substr(0, said.find(" (No gradient"));
    const size_t node = said.find("{{node ");
    const std::string text = node == said.npos ? std::string(entry)
        : cat("No gradient defined for operation'", said.substr(node + 7, said.find('}', node) - node - 7), "' (op type: ", entry.substr(entry.rfind(' ') + 1),
              "). In general every operation must have an associated `@tf.RegisterGradient` for correct autodiff, which this op is lacking. If you want to pretend this operation "
              "is a constant in your program, you may insert `tf.stop_gradient`. This can be useful to silence the error in cases where you know gradients are not needed, e.g. "
              "the forward pass of tf.custom_gradient. Please see more details in https://www.tensorflow.org/api_docs/python/tf/custom_gradient.");
    PyErr_SetString(PyExc_LookupError, text.c_str());
    return;
  }
  if (said.starts_with(kDisabled)) {
    PyErr_SetString(PyExc_LookupError, std::string(said.substr(0, said.find("\n\t [[{{node"))).c_str());
    return;
  }
  if (said.starts_with(kBadShape)) {
    PyErr_SetString(PyExc_ValueError, std::string(said.substr(0, said.find("\n\t [[{{node"))).c_str());
    return;
  }
  PyObject* type = hooks().errors[size_t(status.code()) % 20];
  if (!type) {
    PyErr_SetString(PyExc_RuntimeError, std::string(status.message()).c_str());
    return;
  }
  const std::string text(status.message());
  nb::object message = nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"));
  nb::object made = nb::steal(call_python(PyObject_CallFunctionObjArgs, type, Py_None, Py_None, message.ptr(), nullptr));
  if (made.is_valid()) PyErr_SetObject(type, made.ptr());
}

void raise(const Status& status) {
  set_error(status);
  throw nb::python_error();
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

}  // namespace weft::python
