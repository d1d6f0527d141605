// What the files of the extension share: the way between Python objects and the engine's values, and errors.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "interpreter.h"
#include "op/emitter.h"
#include "trace/concrete_function.h"

namespace weft::api {
// The process-wide eager context, made at the first op (api/context.cc): Python and C++ code of one process share it.
weft_engine::eager::Context& context();
void reset_context();
bool has_context();
// The device scope of this thread; empty: none.
std::string& scoped_device();
}  // namespace weft::api

namespace weft_engine::python {

namespace nb = nanobind;
namespace api = weft::api;
using namespace weft_engine::op;  // NOLINT: the extension speaks the engine's types

// Whether a program has used devices: run an op, made a tensor or a variable, traced a function. Graphs of version 1 alone do
// not count; until then the settings of the context may still change.
inline std::atomic<bool> devices_used{false}, devices_ever_used{false};
bool graph_entered();  // graph.cc: whether this thread is in a graph, also where it builds constants of it eagerly
inline void use_devices() {
  if (devices_used.load(std::memory_order_relaxed) || graph_entered()) return;
  devices_used.store(true);
  devices_ever_used.store(true);
}
// The context for eager work.
inline eager::Context& used_context() {
  use_devices();
  return api::context();
}

// Python objects that the package hands over when it is imported (weft/_src/framework/_hooks.py); held for ever.
struct Hooks {
  PyObject* dtypes[256] = {};         // tf.DType by number, refs included
  PyObject* errors[20] = {};          // exception classes by code
  PyTypeObject* eager_tensor = nullptr;
  PyTypeObject* symbolic_tensor = nullptr;
  PyTypeObject* laid_out_tensor = nullptr;  // of eager tensors with a layout; set when the first is made
  PyObject* tensor_shape = nullptr;   // (tuple or None) -> TensorShape
  PyObject* convert = nullptr;  // (object, DType or None, preferred DType or None, name or None) -> tensor, for what is not converted natively
  PyObject* as_dtype = nullptr;  // anything -> DType
  PyObject* as_shape = nullptr;  // anything -> tuple of ints or None
  PyObject* function_name = nullptr;  // what stands for a function in an attribute -> its name in the library
  PyObject* result_type = nullptr;  // (op name, field names) -> namedtuple class
  PyObject* operation = nullptr;  // (graph, node id) -> tf.Operation
  PyObject* graph_of = nullptr;  // (native graph) -> tf.Graph, for graphs that the engine made
  PyObject* binary[32] = {};  // the operators in Python, for what the native ones do not take
  PyObject* dispatch = nullptr;  // (op name, args, kwargs) -> result or NotImplemented, for composite tensors
};
Hooks& hooks();

// ---- errors --------------------------------------------------------------------------------------------

// Sets Python's error (errors.cc).
void set_error(const Status& status);
[[noreturn]] void raise(const Status& status);
inline void check(const Status& status) {
  if (!status.ok()) raise(status);
}
template <class T>
T unwrap(Result<T> result) {
  if (!result.ok()) raise(result.status());
  return std::move(result).value();
}
// After a call of Python's API failed.
[[noreturn]] inline void raise_current() { throw nb::python_error(); }
inline PyObject* must(PyObject* p) {
  if (!p) raise_current();
  return p;
}
// The error that Python code raised while the engine ran it, as a status that can pass through the engine, on any thread; `raise` gives the same
// exception again.
Status status_of_python_error();
// What is said to a thread that wants to call Python when that has ended.
inline Status interpreter_finalized() { return cancelled("the Python interpreter ends"); }
// What a graph does not take: a ValueError in TensorFlow, which finds it by itself.
bool is_refused_by_graph(const Status& status);
// The text of an error with the op or function that was called, as TensorFlow's Python ends it; `ran`: the op and device of an eager op that ran.
std::string called_text(std::string_view message, std::string_view op, std::string_view ran = {}, const char* name = nullptr);
inline constexpr std::string_view kOwnNote = "weft/";  // what the keys of notes (core/error_notes.h) begin with
// On errors of Python code that the engine runs: their text tells already where the program made the node that failed.
inline constexpr char kNoteExplained[] = "weft/explained";
// Of an eager op, in TensorFlow's words. `name`: what the caller called it; null: nothing is said of a name.
[[noreturn]] void raise_op_error(const eager::Op& op, const Status& status, const char* name);

// Runs f, whose exceptions become Python's; for functions of C.
template <class F>
auto guarded(F f) -> decltype(f()) {
  using R = decltype(f());
  try {
    return f();
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  if constexpr (std::is_pointer_v<R>) return nullptr;
  else return R(-1);
}

// ---- tensors (tensor.cc) -------------------------------------------------------------------------------

struct TensorObject {
  PyObject_HEAD RefPtr<ValueRep> rep;
};
extern PyTypeObject* tensor_base;

inline bool is_eager(PyObject* o) { return Py_TYPE(o) == hooks().eager_tensor; }
inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == hooks().eager_tensor || PyType_IsSubtype(Py_TYPE(o), tensor_base); }
inline ValueRep* rep_of(PyObject* o) { return reinterpret_cast<TensorObject*>(o)->rep.get(); }
inline eager::TensorHandle* handle_of(PyObject* o) { return static_cast<eager::TensorHandle*>(rep_of(o)); }

// New references.
PyObject* wrap(RefPtr<ValueRep> rep);
inline PyObject* wrap(const Value& v) { return wrap(RefPtr<ValueRep>::share(v.rep())); }
inline PyObject* wrap(RefPtr<eager::TensorHandle> h) { return wrap(RefPtr<ValueRep>::adopt(h.release())); }
nb::object wrap_or_none(const Value& v);  // None for an empty one, (values, indices, dense_shape) for slices
nb::list wrap_all(std::span<const Value> values);

// The value as the code that runs now can use it: whatever it is, what is made of it goes where this code is.
Value value_of(PyObject* tensor);
Value value_of(nb::handle tensor);  // raises TypeError where it is not a tensor
std::vector<Value> values_of(nb::handle list);
// Waited for; raises for a tensor of a graph.
const Tensor& data_of(PyObject* tensor);

PyObject* dtype_object(DType t);  // borrowed
DType dtype_of(PyObject* dtype);  // anything that as_dtype takes
PyObject* shape_tuple(const PartialShape& s);  // new: a tuple with None for open sizes, or None
PartialShape shape_of(PyObject* shape);  // anything that as_shape takes
nb::object tensor_to_python(const Tensor& t);  // numbers and lists, for small things

// ---- conversion (convert.cc) ---------------------------------------------------------------------------

// A tensor of a Python object: numbers, text, nested sequences, arrays. `dtype` kInvalid: by its content. Gives false, with no error
// set, for what only the package's `convert` knows.
bool convert_native(PyObject* object, DType dtype, Tensor& out);
// Any object, as a tensor or a variable's value; new reference. `name` is for nodes that this makes.
PyObject* convert(PyObject* object, DType dtype, DType preferred, const char* name = nullptr);
// The same, as a value of where the code runs. A resource is asked for: a variable gives its handle.
Value convert_to_value(PyObject* object, DType dtype, DType preferred, const char* name = nullptr);
AttrValue attr_of(PyObject* object, std::string_view type, std::string_view name, std::string_view op);
nb::object attr_to_python(const AttrValue& v);

// ---- variables (variable.cc) ---------------------------------------------------------------------------

extern PyTypeObject* variable_base;
inline bool is_variable(PyObject* o) { return variable_base && PyType_IsSubtype(Py_TYPE(o), variable_base); }
Value read_variable(PyObject* variable);  // tapes hear of it
Value variable_handle(PyObject* variable);

// ---- graphs (graph.cc) ---------------------------------------------------------------------------------

nb::object graph_object(trace::FuncGraph& graph);
nb::object operation_object(trace::FuncGraph& graph, const graph::Node* node);
trace::FuncGraph& func_graph_of(nb::handle graph);
// The name of the next node of that op; `name` may be null.
std::string node_name(trace::FuncGraph& graph, std::string_view op, PyObject* name, bool mark = true);
// What the next import of an eager tensor is called, constant or capture; empty: no name any more.
void name_import(trace::FuncGraph& graph, const std::string& name);
// Name, controls and device for the next node; `name` may be null. Gives the name.
std::string prepare_node(trace::FuncGraph& graph, std::string_view op, PyObject* name);
// Remembers where the program makes the node of that name.
void note_node(trace::FuncGraph& graph, const std::string& name);
// Ends the node's options.
void node_done(trace::FuncGraph& graph);

// ---- parts of the module -------------------------------------------------------------------------------

void bind_tensor(nb::module_& m);
void bind_call(nb::module_& m);
void bind_layout(nb::module_& m);
void bind_variable(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_function(nb::module_& m);
void bind_function_cache(nb::module_& m);
void bind_tape(nb::module_& m);
void bind_custom_gradient(nb::module_& m);
void bind_context(nb::module_& m);
void bind_server(nb::module_& m);
void bind_session(nb::module_& m);
void bind_py_func(nb::module_& m);
void bind_bundle(nb::module_& m);
void bind_proto(nb::module_& m);
void bind_files(nb::module_& m);
void bind_library(nb::module_& m);
void bind_interpreter(nb::module_& m);

// Whether a call of this size is worth letting other threads run meanwhile.
inline constexpr int64_t kLongElements = 4096;

}  // namespace weft_engine::python
