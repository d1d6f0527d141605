// A Status of the engine as the exception that TensorFlow's Python raises: the class goes by the code, the text is put together here, once, of the message and
// of where the error came from (Status::Origin).
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bridge.h"
#include "core/error_notes.h"
#include "eager/op.h"

namespace weft_engine::python {
namespace {

// Python's exceptions as Status::Origin::exception. The status may be dropped on any thread.
std::shared_ptr<void> kept(nb::object exception) {
  return {exception.release().ptr(), [](void* e) {
            const Locked lock;
            if (lock) Py_DECREF(static_cast<PyObject*>(e));
          }};
}

// The exception that is set, which is taken away.
nb::object taken_exception() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value && trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return nb::steal(value);
}

void set_exception(PyObject* value) {
  PyErr_Restore(Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(value))), Py_NewRef(value), PyException_GetTraceback(value));
}

nb::object unicode(const std::string& text) { return nb::steal(must(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace"))); }

void set_text(PyObject* type, const std::string& text) { PyErr_SetObject(type, unicode(text).ptr()); }

nb::object op_stacks(const char* function) { return nb::module_::import_("weft._src.framework.op_stacks").attr(function); }

// An error that TensorFlow's Python finds by itself, in its own classes. False: it is none.
bool set_python_error(const Status& status) {
  const Status::Origin& origin = status.origin();
  if (origin.exception) {
    set_exception(static_cast<PyObject*>(origin.exception.get()));
    return true;
  }
  if (status.payloads().empty()) return false;
  if (const std::string* tensor = core::find_note(status, core::kNoteOutOfScope)) {
    set_exception(op_stacks("out_of_scope")(unicode(*tensor)).ptr());
    return true;
  }
  if (const std::string* op = core::find_note(status, core::kNoteNoGradient)) {
    // The words of its registry for tapes, longer ones for nodes.
    set_text(PyExc_LookupError,
             origin.node.empty()
                 ? cat("gradient registry has no entry for: ", *op)
                 : cat("No gradient defined for operation'", origin.node, "' (op type: ", *op,
                       "). In general every operation must have an associated `@tf.RegisterGradient` for correct autodiff, which this op is lacking. "
                       "If you want to "
                       "pretend this operation is a constant in your program, you may insert `tf.stop_gradient`. This can be useful to silence the "
                       "error in cases "
                       "where you know gradients are not needed, e.g. the forward pass of tf.custom_gradient. Please see more details in "
                       "https://www.tensorflow.org/api_docs/python/tf/custom_gradient."));
    return true;
  }
  if (core::find_note(status, core::kNoteVariableAgain)) {
    set_text(PyExc_ValueError,
             "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only created once or created "
             "outside tf.function. See https://www.tensorflow.org/guide/function#creating_tfvariables for more information.");
    return true;
  }
  if (const std::string* text = core::find_note(status, core::kNoteGradientDisabled)) {
    set_text(PyExc_LookupError, *text);
    return true;
  }
  if (const std::string* text = core::find_note(status, core::kNoteGradientShape)) {
    set_text(PyExc_ValueError, *text);
    return true;
  }
  return false;
}

// The notes come to the exception without "weft/" before their names.
nb::dict notes_of(const Status& status, bool explained) {
  nb::dict notes;
  for (const auto& [key, value] : status.payloads()) {
    if (key.starts_with(kOwnNote)) notes[nb::str(key.c_str() + kOwnNote.size())] = unicode(value);
  }
  if (!status.origin().node.empty()) notes["names_node"] = unicode(status.origin().node);  // at the end of the message
  if (explained) notes["explained"] = "";
  return notes;
}

// `explained`: the text tells where the program made the node.
void set_op_error(const Status& status, nb::object text, bool explained = false) {
  PyObject* type = hooks().errors[size_t(status.code()) % 20];
  if (!type) return PyErr_SetObject(PyExc_RuntimeError, text.ptr());
  nb::object made = nb::steal(must(call_python(PyObject_CallFunctionObjArgs, type, Py_None, Py_None, text.ptr(), nullptr)));
  if (nb::dict notes = notes_of(status, explained); notes.size()) made.attr("_notes") = notes;
  PyErr_SetObject(type, made.ptr());
}

// TensorFlow's name of the function around an eager op tells the lengths of its lists: "Pack_N_2".
std::string wrapped_name(const eager::Op& op) {
  const Signature& sig = op.spec()->signature();
  std::string out(op.spec()->name);
  for (size_t a = 0; a < sig.attrs.size(); ++a) {
    size_t lists = 0, singles = 0, listed = 0;
    for (const ArgSpec& arg : sig.inputs) {
      singles += arg.number_attr < 0 && arg.type_list_attr < 0;
      lists += arg.number_attr == int(a);
    }
    for (const ArgSpec& arg : sig.outputs) listed += arg.number_attr == int(a);
    if (!lists && !listed) continue;
    int64_t n = -1;
    for (const auto& [name, value] : op.attrs()) {
      if (const auto* i = value.get<int64_t>(); i && name == sig.attrs[a].name) n = *i;
    }
    if (n < 0 && lists && op.inputs().size() >= singles) n = int64_t((op.inputs().size() - singles) / lists);
    if (n >= 0) out += cat("_", sig.attrs[a].name, "_", n);
  }
  return out;
}

}  // namespace

Status status_of_python_error() {
  nb::object exception = taken_exception();
  nb::object said = nb::steal(call_python(PyObject_Str, exception.ptr()));
  const char* text = said.is_valid() ? PyUnicode_AsUTF8(said.ptr()) : nullptr;
  if (!text) forget_error();
  Status s(Code::kUnknown, cat(Py_TYPE(exception.ptr())->tp_name, text && *text ? ": " : "", text ? text : ""));
  Status::Origin origin;
  origin.exception = kept(std::move(exception));
  return s.with_origin(std::move(origin));
}

bool is_refused_by_graph(const Status& status) {
  return status.code() == Code::kInvalidArgument && !core::find_note(status, core::kNoteOutOfScope) && !status.origin().exception;
}

std::string called_text(std::string_view message, std::string_view op, std::string_view ran, const char* name) {
  std::string text = ran.empty() ? std::string(message) : cat("{{function_node __wrapped__", ran, "}} ", message);
  text += cat(" [Op:", op, "]");
  if (name) text += cat(" name: ", name);
  return text;
}

void set_error(const Status& status) {
  if (set_python_error(status)) return;
  const Status::Origin& origin = status.origin();
  std::string text = origin.op.empty() ? status.message() : called_text(status.message(), origin.op);
  if (!origin.function.empty() && !origin.node.empty()) {
    if (core::find_note(status, kNoteExplained)) return set_op_error(status, unicode(text), true);
    nb::object explained = op_stacks("explained")(unicode(text), unicode(origin.node), unicode(origin.function));
    if (!explained.is_none()) return set_op_error(status, std::move(explained), true);
    text = cat("{{function_node ", origin.function, "}} ", text);
  }
  set_op_error(status, unicode(text));
}

void raise(const Status& status) {
  set_error(status);
  throw nb::python_error();
}

void raise_op_error(const eager::Op& op, const Status& s, const char* name) {
  if (set_python_error(s)) throw nb::python_error();
  std::string ran;
  Status told = s;
  if (const core::Device* d = op.ran_on()) {
    ran = cat(wrapped_name(op), "_device_", d->name());
    if (!core::find_note(s, core::kNoteSender)) told = s.with_payload(core::kNoteSender, d->name().substr(0, d->name().find("/device:")));
  }
  set_op_error(told, unicode(called_text(s.message(), op.spec()->name, ran, name)));
  throw nb::python_error();
}

void bind_errors(nb::module_& m) {
  m.def(
      "called_text",
      [](std::string_view message, std::string_view op, std::string_view ran, nb::object name) {
        return called_text(message, op, ran, name.is_none() ? nullptr : nb::cast<std::string>(name).c_str());
      },
      nb::arg("message"), nb::arg("op"), nb::arg("ran") = "", nb::arg("name").none() = nb::none());
}

}  // namespace weft_engine::python
