// Kernels that call Python: PyFunc, PyFuncStateless and EagerPyFunc. Python keeps its functions by token.
#include <nanobind/stl/string.h>

#include "bridge.h"
#include "engine/engine.h"
#include "ops/print_hook.h"

namespace weft::python {
namespace {

PyObject*& caller() {
  static PyObject* code = nullptr;  // (token, tensors, types of the results, eager) -> list of tensors
  return code;
}

class PythonKernel final : public Kernel {
 public:
  PythonKernel(std::string token, bool eager) : token_(std::move(token)), eager_(eager) {}
  Status run(KernelContext& c) override {
    nb::gil_scoped_acquire gil;
    try {
      if (!caller()) return failed_precondition("Python is not ready to run functions");
      nb::list inputs, types;
      for (int i = 0; i < c.num_inputs(); ++i) inputs.append(nb::steal(wrap(eager::TensorHandle::make(c.input(i), nullptr))));
      for (int i = 0; i < c.num_outputs(); ++i) types.append(nb::borrow(dtype_object(c.output_type(i))));
      trace::Entered outside(nullptr);
      nb::object made = nb::steal(must(PyObject_CallFunctionObjArgs(caller(), nb::str(token_.c_str()).ptr(), inputs.ptr(), types.ptr(), eager_ ? Py_True : Py_False, nullptr)));
      int i = 0;
      for (nb::handle h : made) {
        if (i == c.num_outputs()) break;
        c.set_output(i++, data_of(h.ptr()));
      }
      if (i != c.num_outputs()) return internal_error("a Python function gave ", i, " results, not ", c.num_outputs());
      return {};
    } catch (nb::python_error& e) {
      return error_of(e);
    }
  }

 private:
  // The exception as TensorFlow tells it: its class says the code, the text has the traceback.
  Status error_of(nb::python_error& e) {
    Code code = Code::kUnknown;
    nb::object number = nb::steal(PyObject_GetAttrString(e.value().ptr(), "error_code"));
    if (number.is_valid() && PyLong_Check(number.ptr())) code = static_cast<Code>(PyLong_AsLong(number.ptr()));
    else if (e.matches(PyExc_ValueError) || e.matches(PyExc_TypeError)) code = Code::kInvalidArgument;
    else if (e.matches(PyExc_StopIteration)) code = Code::kOutOfRange;
    else if (e.matches(PyExc_MemoryError)) code = Code::kResourceExhausted;
    else if (e.matches(PyExc_NotImplementedError)) code = Code::kUnimplemented;
    PyErr_Clear();
    nb::object type = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(e.value().ptr())), "__name__"));
    nb::object text = nb::steal(PyObject_Str(e.value().ptr()));
    std::string message = cat(type.is_valid() ? PyUnicode_AsUTF8(type.ptr()) : "an error", ": ", text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : "");
    std::string trace = e.what();
    return Status(code, cat(message, "\n", trace));
  }
  const std::string token_;
  const bool eager_;
};

PyObject*& printer() {
  static PyObject* code = nullptr;  // (to stderr, text)
  return code;
}

// Through sys.stdout and sys.stderr: in order with what Python prints, and where the program has put them.
bool print(bool to_stderr, std::string_view text) {
  if (!Py_IsInitialized()) return false;
  nb::gil_scoped_acquire gil;
  if (!printer()) return false;
  nb::object s = nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "surrogateescape"));
  nb::object done = s.is_valid() ? nb::steal(PyObject_CallFunctionObjArgs(printer(), to_stderr ? Py_True : Py_False, s.ptr(), nullptr)) : nb::object();
  if (done.is_valid()) return true;
  PyErr_Clear();
  return false;
}

}  // namespace

void bind_py_func(nb::module_& m) {
  m.def("set_printer", [](nb::object code) {
    printer() = code.release().ptr();
    ops::print_hook().store(print);
  });
  m.def("set_py_func_caller", [](nb::object code) { caller() = code.release().ptr(); });
  for (const char* op : {"PyFunc", "PyFuncStateless", "EagerPyFunc"}) {
    const bool eager = std::string_view(op) == "EagerPyFunc";
    KernelDef def;
    def.make = [eager](const NodeInfo& n) -> Result<std::unique_ptr<Kernel>> { return std::unique_ptr<Kernel>(new PythonKernel(n.attr<std::string>("token"), eager)); };
    check(engine::Engine::get().registry().add_kernel(op, std::move(def)));
  }
}

}  // namespace weft::python
