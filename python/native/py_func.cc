// Kernels that call Python: PyFunc, PyFuncStateless and EagerPyFunc. Python keeps its functions by token.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "autodiff/gradients.h"
#include "bridge.h"
#include "engine/engine.h"
#include "ops/control_flow/print_hook.h"

namespace weft_engine::python {
namespace {

PyObject*& caller() {
  static PyObject* code = nullptr;  // (token, tensors, types of the results, eager) -> list of tensors
  return code;
}

class PythonKernel final : public Kernel {
 public:
  PythonKernel(std::string token, bool eager) : token_(std::move(token)), eager_(eager) {}
  Status run(KernelContext& c) override {
    const Locked lock;
    if (!lock) return interpreter_finalized();
    try {
      if (!caller()) return failed_precondition("Python is not ready to run functions");
      nb::list inputs, types;
      for (int i = 0; i < c.num_inputs(); ++i) inputs.append(nb::steal(wrap(eager::TensorHandle::make(c.input(i), nullptr))));
      for (int i = 0; i < c.num_outputs(); ++i) types.append(nb::borrow(dtype_object(c.output_type(i))));
      trace::Entered outside(nullptr);
      nb::object made = nb::steal(must(call_python(PyObject_CallFunctionObjArgs, caller(), nb::str(token_.c_str()).ptr(), inputs.ptr(), types.ptr(),
                                                   eager_ ? Py_True : Py_False, nullptr)));
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
  // The package says what an exception of the user's code comes to; see weft/_src/function/py_func.py.
  Status error_of(nb::python_error& e) {
    if (e.matches(PyExc_KeyboardInterrupt)) {  // of the main thread, which is to get it
      e.restore();
      return status_of_python_error();
    }
    nb::object told = nb::steal(PyObject_GetAttrString(e.value().ptr(), "_py_func_status"));
    if (!told.is_valid()) {
      forget_error();
      return Status(Code::kUnknown, e.what());
    }
    const char* text = PyUnicode_AsUTF8(PyTuple_GetItem(told.ptr(), 1));
    if (!text) forget_error();
    Status s(static_cast<Code>(PyLong_AsLong(PyTuple_GetItem(told.ptr(), 0))), text ? text : "an error of Python code");
    for (auto [key, value] : nb::borrow<nb::dict>(PyTuple_GetItem(told.ptr(), 2)))
      s = s.with_payload(cat(kOwnNote, nb::cast<std::string>(key)), nb::cast<std::string>(value));
    return s;
  }
  const std::string token_;
  const bool eager_;
};

PyObject*& gradient_maker() {
  static PyObject* code = nullptr;  // (token, types of the inputs that want gradients) -> token of the gradient
  return code;
}

bool has_gradient(DType t) { return autodiff::differentiable(t) && is_simple(t); }

// The last result of the op is the number of the call, by which Python finds the tape that recorded it; the gradient gets it and the gradients of the results.
Grads gradient(const GradContext& g) {
  Grads out = g.none();
  std::vector<int> wanted;
  std::vector<DType> types;
  for (int i = 0; i < g.num_inputs(); ++i) {
    if (!has_gradient(g.x(i).dtype())) continue;
    wanted.push_back(i);
    types.push_back(g.x(i).dtype());
  }
  if (wanted.empty()) return out;
  std::string token;
  {
    const Locked lock;
    if (!lock) return g.fail(interpreter_finalized());
    try {
      nb::list kinds;
      for (DType t : types) kinds.append(nb::borrow(dtype_object(t)));
      nb::object made = nb::steal(must(
          call_python(PyObject_CallFunctionObjArgs, gradient_maker(), nb::str(g.attr<std::string>("token").c_str()).ptr(), kinds.ptr(), nullptr)));
      token = nb::cast<std::string>(made);
    } catch (nb::python_error& e) {
      e.restore();
      return g.fail(status_of_python_error());
    }
  }
  const int last = g.num_outputs() - 1;
  std::vector<Value> inputs{g.y(last)};
  for (int i = 0; i < last; ++i) {
    if (has_gradient(g.y(i).dtype())) inputs.push_back(g.dy(i));
  }
  AttrMap attrs;
  std::vector<DType> in_types;
  for (const Value& v : inputs) in_types.push_back(v.dtype());
  types.push_back(DType::kInt64);
  attrs["token"] = token;
  attrs["Tin"] = std::move(in_types);
  attrs["Tout"] = std::move(types);
  auto made = g.apply("EagerPyFunc", inputs, std::move(attrs));
  for (size_t k = 0; k < wanted.size() && k < made.size(); ++k) out[size_t(wanted[k])] = made[k];
  return out;
}

PyObject*& printer() {
  static PyObject* code = nullptr;  // (to stderr, text)
  return code;
}

// Through sys.stdout and sys.stderr: in order with what Python prints, and where the program has put them.
bool print(bool to_stderr, std::string_view text) {
  const Locked lock;
  if (!lock || !printer()) return false;
  nb::object s = nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "surrogateescape"));
  nb::object done =
      s.is_valid() ? nb::steal(call_python(PyObject_CallFunctionObjArgs, printer(), to_stderr ? Py_True : Py_False, s.ptr(), nullptr)) : nb::object();
  if (done.is_valid()) return true;
  forget_error();
  return false;
}

}  // namespace

void bind_py_func(nb::module_& m) {
  m.def("set_printer", [](nb::object code) {
    printer() = code.release().ptr();
    ops::print_hook().store(print);
  });
  m.def("set_py_func_gradient", [](nb::object code) {
    gradient_maker() = code.release().ptr();
    check(autodiff::register_gradient("EagerPyFunc", gradient));
  });
  m.def("set_py_func_caller", [](nb::object code) { caller() = code.release().ptr(); });
  for (const char* op : {"PyFunc", "PyFuncStateless", "EagerPyFunc"}) {
    const bool eager = std::string_view(op) == "EagerPyFunc";
    KernelDef def;
    def.make = [eager](const NodeInfo& n) -> Result<std::unique_ptr<Kernel>> {
      return std::unique_ptr<Kernel>(new PythonKernel(n.attr<std::string>("token"), eager));
    };
    check(engine::Engine::get().registry().add_kernel(op, std::move(def)));
  }
}

}  // namespace weft_engine::python
