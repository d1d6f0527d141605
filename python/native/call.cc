// Op: one op of the registry as a Python callable, eager or traced. Arguments are those of the OpDef: inputs, then the attributes that the
// inputs do not tell, by position or name.
#include "call.h"

#include <structmember.h>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "eager/layout.h"
#include "engine/engine.h"
#include "variable.h"

namespace weft_engine::python {

// ---- running -------------------------------------------------------------------------------------------

namespace {

// For whoever runs tensors with layouts.
struct ByProgram {
  const bool on = eager::layout_runner.load(std::memory_order_relaxed) != nullptr;
  ByProgram() {
    if (on) eager::called_by_program() = true;
  }
  ~ByProgram() {
    if (on) eager::called_by_program() = false;
  }
};

// Waits for a kernel: without the interpreter lock where that is worth it.
auto waiting(bool release) {
  return [release](auto execute) {
    ByProgram by_program;
    return run_released(release, execute);
  };
}

}  // namespace

std::vector<RefPtr<eager::TensorHandle>> run_all(trace::OpCall& call, bool release, const char* name) {
  stop_if_ending();
  std::vector<RefPtr<eager::TensorHandle>> out;
  if (Status s = call.run_eager(out, waiting(release)); !s.ok()) raise_op_error(call.op(), s, name);
  return out;
}

PyObject* run_one(trace::OpCall& call, bool release, const char* name) {
  stop_if_ending();
  RefPtr<eager::TensorHandle> out;
  if (Status s = call.run_one(out, waiting(release)); !s.ok()) [[unlikely]]
    raise_op_error(call.op(), s, name);
  return wrap(std::move(out));
}

// ---- the callable --------------------------------------------------------------------------------------

std::string snake_case(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool up = c >= 'A' && c <= 'Z';
    if (c == '>') {  // of a namespace
      out += '_';
      continue;
    }
    if (up && i && name[i - 1] != '>' &&
        ((name[i - 1] >= 'a' && name[i - 1] <= 'z') || (i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z')))
      out += '_';
    out += up ? char(c - 'A' + 'a') : c;
  }
  return out;
}

namespace {

// What TensorFlow's library of ops says of an attribute while a graph is built, before the runtime sees it.
void check_attr_in_graph(const AttrSpec& a, const AttrValue& value, std::string_view op) {
  auto refuse = [](const std::string& text) {
    PyErr_SetString(PyExc_ValueError, text.c_str());
    raise_current();
  };
  const std::string of = cat("Attr '", a.name, "' of '", op, "' Op passed ");
  auto string = [&](const std::string& s) {
    if (a.allowed_strings.empty() || std::find(a.allowed_strings.begin(), a.allowed_strings.end(), s) != a.allowed_strings.end()) return;
    refuse(cat(of, "string '", s, "' not in: \"", join(a.allowed_strings, "\", \""), "\"."));
  };
  if (const auto* s = value.get<std::string>()) string(*s);
  if (const auto* list = value.get<std::vector<std::string>>()) {
    for (const std::string& s : *list) string(s);
  }
  if (!a.minimum) return;
  if (const auto* n = value.get<int64_t>(); n && *n < *a.minimum) refuse(cat(of, *n, " less than minimum ", *a.minimum, "."));
  if (const auto* list = value.get<std::vector<int64_t>>(); list && int64_t(list->size()) < *a.minimum)
    refuse(cat(of, "list of length ", list->size(), " less than minimum ", *a.minimum, "."));
}

struct OpCallable {
  PyObject_HEAD vectorcallfunc vectorcall;
  const OpSpec* spec;
  const Signature* signature;
  std::vector<PyObject*>* parameters;    // interned names, in order
  std::vector<int>* attr_of_parameter;   // by parameter behind the inputs: index of the attribute
  PyObject* result_type;                 // namedtuple class of ops with several outputs; else null
  PyObject* python_name;
};

int num_required(const OpCallable& c) {
  int n = int(c.signature->inputs.size());
  for (int a : *c.attr_of_parameter) n += !c.signature->attrs[size_t(a)].default_value;
  return n;
}

// What the call was given, by parameter; null where nothing was.
struct Given {
  std::vector<PyObject*> values;
  PyObject* name = nullptr;
};

void take_arguments(const OpCallable& c, PyObject* const* args, size_t positional, PyObject* kwnames, Given& given) {
  const auto& names = *c.parameters;
  given.values.assign(names.size(), nullptr);
  if (positional > names.size() + 1) {
    PyErr_Format(PyExc_TypeError, "%U() takes at most %zu arguments (%zu given)", c.python_name, names.size() + 1, positional);
    raise_current();
  }
  for (size_t i = 0; i < positional; ++i) (i < names.size() ? given.values[i] : given.name) = args[i];
  const Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  static PyObject* name = PyUnicode_InternFromString("name");
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, k);
    PyObject* value = args[positional + size_t(k)];
    size_t at = 0;
    while (at < names.size() && names[at] != key) ++at;
    if (at == names.size()) {
      for (at = 0; at < names.size() && PyUnicode_Compare(names[at], key) != 0;) ++at;
    }
    if (at < names.size()) {
      if (given.values[at]) {
        PyErr_Format(PyExc_TypeError, "%U() got multiple values for argument '%U'", c.python_name, key);
        raise_current();
      }
      given.values[at] = value;
    } else if (key == name || PyUnicode_Compare(key, name) == 0) {
      given.name = value;
    } else {
      PyErr_Format(PyExc_TypeError, "%U() got an unexpected keyword argument '%U'", c.python_name, key);
      raise_current();
    }
  }
  std::string missing;
  int count = 0;
  const size_t inputs = c.signature->inputs.size();
  for (size_t i = 0; i < names.size(); ++i) {
    if (given.values[i]) continue;
    if (i >= inputs && c.signature->attrs[size_t((*c.attr_of_parameter)[i - inputs])].default_value) continue;
    missing += cat(count++ ? ", '" : "'", PyUnicode_AsUTF8(names[i]), "'");
  }
  if (count) {
    PyErr_Format(PyExc_TypeError, "%U() missing %d required positional argument%s: %s", c.python_name, count, count > 1 ? "s" : "", missing.c_str());
    raise_current();
  }
  if (given.name == Py_None) given.name = nullptr;
}

DType known_type(PyObject* o) {
  if (is_tensor(o)) return rep_of(o)->dtype();
  if (is_variable(o)) return variable_dtype(o);
  return DType::kInvalid;
}

const char* python_name(DType t) { return PyUnicode_AsUTF8(nb::steal(PyObject_GetAttrString(dtype_object(t), "name")).ptr()); }

// In a graph TensorFlow tells of types that do not fit before it asks the op: of one that the op does not take ...
void check_allowed(const OpCallable& c, const ArgSpec& arg, DType have) {
  const int attr = arg.type_attr >= 0 ? arg.type_attr : arg.type_list_attr;
  if (attr < 0 || !trace::FuncGraph::current()) return;
  const auto& allowed = c.signature->attrs[size_t(attr)].allowed_types;
  if (allowed.empty() || std::find(allowed.begin(), allowed.end(), have) != allowed.end()) return;
  std::string names;
  for (const DType t : allowed) names += cat(names.empty() ? "" : ", ", python_name(t));
  PyErr_Format(PyExc_TypeError, "Value passed to parameter '%s' has DataType %s not in list of allowed values: %s", arg.name.c_str(),
               python_name(have), names.c_str());
  raise_current();
}

// ... and of one that is not the type of the other arguments.
void check_type(const OpCallable& c, const ArgSpec& arg, DType have, const std::vector<DType>& types) {
  if (!trace::FuncGraph::current()) return;
  if (arg.type_attr < 0) {
    if (arg.type == DType::kInvalid || arg.type == have || arg.is_ref) return;
    PyErr_Format(PyExc_TypeError, "Input '%s' of '%s' Op has type %s that does not match expected type of %s.", arg.name.c_str(),
                 std::string(c.spec->name).c_str(), python_name(have), python_name(arg.type));
    raise_current();
  }
  const DType want = types[size_t(arg.type_attr)];
  if (want == DType::kInvalid || want == have) return;
  const char* first = "";
  for (const ArgSpec& a : c.signature->inputs) {
    if (a.type_attr == arg.type_attr) {
      first = a.name.c_str();
      break;
    }
  }
  PyErr_Format(PyExc_TypeError, "Input '%s' of '%s' Op has type %s that does not match type %s of argument '%s'.", arg.name.c_str(),
               std::string(c.spec->name).c_str(), python_name(have), python_name(want), first);
  raise_current();
}

// What is made for a node's inputs is named in its scope, while this lives.
class NodeScope {
 public:
  NodeScope(trace::FuncGraph* g, const std::string& node) : before_(g ? std::exchange(trace::name_scope(), node + "/") : std::string()), on_(g) {}
  ~NodeScope() {
    if (on_) trace::name_scope() = before_;
  }
  NodeScope(const NodeScope&) = delete;

 private:
  std::string before_;
  const bool on_;
};

// Puts an eager value into the graph under the name of the argument that it is for. The op still gets what the program holds: tapes know that.
void import_argument(trace::FuncGraph& g, const Value& v, const std::string& argument) {
  name_import(g, cat(trace::name_scope(), argument));
  g.emitter().set_device(api::scoped_device());
  auto own = g.import(v);
  name_import(g, {});
  g.emitter().set_device({});
  if (!own.ok()) raise(own.status());
}

// In loops over inputs and outputs, of which there may be millions.
void look_for_signals(size_t k) {
  constexpr size_t kLook = 4096;
  if (k % kLook == kLook - 1 && PyErr_CheckSignals() != 0) raise_current();
}

// The inputs as values, in a row. `plain`: TensorFlow's fast way would have taken them (see raise_op_error's name).
std::vector<Value> take_inputs(const OpCallable& c, const Given& given, bool& plain, std::vector<std::pair<std::string_view, AttrValue>>& attrs,
                               trace::FuncGraph* g) {
  const Signature& sig = *c.signature;
  int lists = 0;
  for (const ArgSpec& a : sig.inputs) lists += a.number_attr >= 0 || a.type_list_attr >= 0;
  std::vector<DType> types(sig.attrs.size(), DType::kInvalid);
  // Attributes that are given, and tensors that are given, tell the types of what else is given.
  for (size_t p = 0; p < c.attr_of_parameter->size(); ++p) {
    const int a = (*c.attr_of_parameter)[p];
    PyObject* o = given.values[sig.inputs.size() + p];
    if (o && o != Py_None && sig.attrs[size_t(a)].type == "type") types[size_t(a)] = dtype_of(o);
  }
  for (size_t i = 0; i < sig.inputs.size(); ++i) {
    const ArgSpec& arg = sig.inputs[i];
    if (arg.type_attr < 0 || types[size_t(arg.type_attr)] != DType::kInvalid) continue;
    PyObject* o = given.values[i];
    DType t = DType::kInvalid;
    if (arg.number_attr >= 0) {
      if (PyList_Check(o) || PyTuple_Check(o)) {
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o) && t == DType::kInvalid; ++k) t = known_type(PySequence_Fast_GET_ITEM(o, k));
      }
    } else {
      t = known_type(o);
    }
    types[size_t(arg.type_attr)] = t;
  }
  std::vector<Value> out;
  out.reserve(sig.inputs.size());
  std::vector<std::pair<Value, std::string>> eager;
  std::vector<char> inferred(g ? sig.attrs.size() : 0, 0);  // only graphs ask
  for (size_t p = 0; g && p < c.attr_of_parameter->size(); ++p) {
    PyObject* o = given.values[sig.inputs.size() + p];
    inferred[size_t((*c.attr_of_parameter)[p])] = o && o != Py_None;
  }
  for (size_t i = 0; i < sig.inputs.size(); ++i) {
    const ArgSpec& arg = sig.inputs[i];
    PyObject* o = given.values[i];
    // The first argument of a type tells it; of a list of types each does.
    const bool tells = g && (arg.type_list_attr >= 0 || (arg.type_attr >= 0 && !std::exchange(inferred[size_t(arg.type_attr)], 1)));
    auto one = [&](PyObject* object, Py_ssize_t k = -1) {
      if (is_tensor(object)) {
        if (tells) check_allowed(c, arg, rep_of(object)->dtype());
        check_type(c, arg, rep_of(object)->dtype(), types);
        Value v = value_of(object);
        // Captured when all arguments are converted, as in TensorFlow: variables among them are read before.
        if (g && !v.rep()->owner()) eager.emplace_back(v, k < 0 ? arg.name : cat(arg.name, "_", k));
        return v;
      }
      DType want = arg.type, preferred = DType::kInvalid;
      if (arg.type_attr >= 0) {
        want = types[size_t(arg.type_attr)];
        if (const auto& d = sig.attrs[size_t(arg.type_attr)].default_value; d && d->get<DType>()) preferred = *d->get<DType>();
      }
      plain = plain && !PyList_Check(object) && !PyTuple_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object);
      const std::string numbered = g && k >= 0 ? cat(arg.name, "_", k) : std::string();
      const std::string& name = k < 0 ? arg.name : numbered;
      if (g && want == DType::kResource && is_variable(object))
        name_import(*g, cat(trace::name_scope(), name));  // its handle may be captured for this
      Value v = convert_to_value(object, want, preferred, name.c_str());
      if (g) name_import(*g, {});
      if (tells) check_allowed(c, arg, v.dtype());
      if (g && !v.rep()->owner()) import_argument(*g, v, name);
      if (arg.type_attr >= 0 && want == DType::kInvalid) types[size_t(arg.type_attr)] = v.dtype();
      return v;
    };
    if (arg.number_attr < 0 && arg.type_list_attr < 0) {
      out.push_back(one(o));
      continue;
    }
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
      PyErr_Format(PyExc_TypeError, "Expected list for '%s' argument to '%U' Op, not %R.", arg.name.c_str(), c.python_name, o);
      raise_current();
    }
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k) {
      look_for_signals(size_t(k));
      if (k >= PySequence_Fast_GET_SIZE(o)) break;  // what a handler of signals did to the list
      out.push_back(one(PySequence_Fast_GET_ITEM(o, k), k));
    }
    if (lists < 2) continue;
    // Where one list ends and the next begins, the values in a row do not tell.
    const size_t n = size_t(PySequence_Fast_GET_SIZE(o));
    if (arg.number_attr >= 0) {
      attrs.emplace_back(sig.attrs[size_t(arg.number_attr)].name, int64_t(n));
    } else {
      std::vector<DType> list;
      for (size_t k = out.size() - n; k < out.size(); ++k) list.push_back(out[k].dtype());
      attrs.emplace_back(sig.attrs[size_t(arg.type_list_attr)].name, std::move(list));
    }
  }
  for (const auto& [v, name] : eager) import_argument(*g, v, name);
  return out;
}

// The result as Python sees it.
template <class List, class Make>
PyObject* result_of(const OpCallable& c, List& flat, const NodeInfo* node, Make make) {
  const auto& outputs = c.signature->outputs;
  if (outputs.size() == 1 && outputs[0].number_attr < 0 && outputs[0].type_list_attr < 0) return make(flat[0]);
  nb::object fields = nb::steal(must(PyTuple_New(Py_ssize_t(outputs.size()))));
  size_t at = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    PyObject* field = nullptr;
    if (outputs[i].number_attr < 0 && outputs[i].type_list_attr < 0) {
      field = make(flat[at++]);
    } else {
      // Only one list at a time is open: what the others do not take.
      const size_t n = node ? size_t(node->output_range(int(i)).size()) : flat.size() - (outputs.size() - 1);
      nb::list list;
      for (size_t k = 0; k < n; ++k) {
        look_for_signals(k);
        list.append(nb::steal(make(flat[at++])));
      }
      field = list.release().ptr();
    }
    PyTuple_SET_ITEM(fields.ptr(), Py_ssize_t(i), field);
  }
  if (outputs.size() == 1) return Py_NewRef(PyTuple_GET_ITEM(fields.ptr(), 0));
  if (!c.result_type) return fields.release().ptr();
  return must(call_python(PyObject_CallObject, c.result_type, fields.ptr()));
}

// Of ops that newer graphs may not have.
void check_version(const OpSpec& spec, int producer) {
  if (spec.deprecated_since <= 0 || producer < spec.deprecated_since) return;
  PyErr_SetString(PyExc_NotImplementedError, cat("Op ", spec.name, " is not available in GraphDef version ", producer,
                                                 ". It has been removed in version ", spec.deprecated_since, ". ", spec.deprecation, ".")
                                                 .c_str());
  raise_current();
}

// A node with the name, device and scope that TensorFlow's Python gives it.
Result<std::vector<Value>> add_node(trace::FuncGraph& g, std::string_view op, std::span<const Value> inputs, AttrMap attrs, PyObject* name) {
  trace::OpCall call(g.context(), &g);
  WEFT_RETURN_IF_ERROR(call.reset(op));
  for (const Value& v : inputs) WEFT_RETURN_IF_ERROR(call.add_input(v));
  prepare_node(g, op, name);
  auto made = call.add_node(std::move(attrs));
  node_done(g);
  return made;
}

PyObject* call_op(OpCallable& c, const Given& given) {
  bool plain = true;
  std::vector<std::pair<std::string_view, AttrValue>> attrs;
  trace::FuncGraph* g = trace::FuncGraph::current();
  if (g) check_version(*c.spec, g->graph().versions.producer);
  // Marked when the inputs are there: what cannot be converted may come back as something else (dispatch).
  const std::string full = g ? node_name(*g, c.spec->name, given.name, false) : std::string();
  std::vector<Value> inputs;
  {
    NodeScope scope(g, full);
    inputs = take_inputs(c, given, plain, attrs, g);
    for (const Value& v : inputs) {
      if (!g || !v.rep()->owner() || v.rep()->owner() == &g->emitter()) continue;
      check(g->import(v).status());
    }
  }
  for (size_t p = 0; p < c.attr_of_parameter->size(); ++p) {
    PyObject* o = given.values[c.signature->inputs.size() + p];
    const AttrSpec& a = c.signature->attrs[size_t((*c.attr_of_parameter)[p])];
    if (!o || (o == Py_None && (a.default_value || a.type != "shape"))) continue;
    attrs.emplace_back(a.name, attr_of(o, a.type, a.name, c.spec->name));
  }
  if (g) {
    for (const auto& [name, value] : attrs) {
      for (const AttrSpec& a : c.signature->attrs) {
        if (a.name == name) check_attr_in_graph(a, value, c.spec->name);
      }
    }
    AttrMap map;
    for (auto& [name, value] : attrs) map.emplace(std::string(name), std::move(value));
    auto added = add_node(*g, c.spec->name, inputs, std::move(map), given.name);
    if (const Status& s = added.status(); !s.ok()) {
      // What a graph refuses is a ValueError in TensorFlow.
      if (is_refused_by_graph(s)) {
        PyErr_SetString(PyExc_ValueError, std::string(s.message()).c_str());
        raise_current();
      }
      raise(s);
    }
    graph::Node* node = g->emitter().added().back();
    if (c.signature->outputs.empty() || added->empty()) return operation_object(*g, node).release().ptr();
    return result_of(c, *added, &node->info(), [](const Value& v) { return wrap(v); });
  }
  trace::OpCall call(used_context());
  check(call.reset(*c.spec, api::scoped_device()));
  int64_t elements = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    look_for_signals(k);
    const Value& v = inputs[k];
    auto* h = trace::eager_handle(v);
    if (!h) {
      PyErr_Format(PyExc_TypeError,
                   "%R is out of scope and cannot be used here. Use return values, explicit Python locals or TensorFlow collections "
                   "to access it.\nPlease see https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for more "
                   "information.",
                   nb::steal(wrap(v)).ptr());
      raise_current();
    }
    if (h->ready()) elements += h->tensor().num_elements();
    call.add_input(RefPtr<eager::TensorHandle>::share(h));
  }
  for (auto& [name, value] : attrs) check(call.set_attr(name, std::move(value)));
  // Where its fast way does not take the arguments, TensorFlow's eager errors say nothing of a name.
  const char* name = !plain ? nullptr : given.name && PyUnicode_Check(given.name) ? PyUnicode_AsUTF8(given.name) : "";
  // What has state may wait for something that another thread of Python does.
  const bool release = c.spec->stateful || c.spec->distributed_communication || elements > kLongElements;
  const auto& outputs = c.signature->outputs;
  if (outputs.size() == 1 && outputs[0].number_attr < 0 && outputs[0].type_list_attr < 0) return run_one(call, release, name);
  int lists = 0;
  for (const ArgSpec& a : outputs) lists += a.number_attr >= 0 || a.type_list_attr >= 0;
  AttrMap map;
  if (lists > 1) {
    for (const auto& [attr, value] : call.op().attrs()) map.insert_or_assign(std::string(attr), value);
  }
  auto flat = run_all(call, release, name);
  if (outputs.empty()) Py_RETURN_NONE;
  std::optional<NodeInfo> node;
  if (lists > 1) {
    std::vector<DType> types;
    for (const Value& v : inputs) types.push_back(v.dtype());
    node = unwrap(NodeInfo::make(*c.spec, std::string(), std::move(map), types));
  }
  return result_of(c, flat, node ? &*node : nullptr, [](RefPtr<eager::TensorHandle>& h) { return wrap(std::move(h)); });
}

bool composite_failure() { return PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError); }

// A ragged or sparse tensor, or a class of the user's, among the arguments: the package may know what the op means for it.
PyObject* dispatched(OpCallable& c, const Given& given) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  nb::object arguments = nb::steal(PyDict_New());
  for (size_t i = 0; i < given.values.size(); ++i) {
    if (given.values[i]) PyDict_SetItem(arguments.ptr(), (*c.parameters)[i], given.values[i]);
  }
  if (given.name) PyDict_SetItemString(arguments.ptr(), "name", given.name);
  nb::object made = nb::steal(call_python(PyObject_CallFunctionObjArgs, hooks().dispatch, reinterpret_cast<PyObject*>(&c), arguments.ptr(), nullptr));
  if (!made.is_valid() || made.ptr() != Py_NotImplemented) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return made.release().ptr();
  }
  PyErr_Restore(type, value, trace);
  return nullptr;
}

PyObject* g_watch = nullptr;  // watch(op, arguments, result) gives the result that the caller sees

PyObject* watched(OpCallable& c, const Given& given, PyObject* result) {
  return guarded([&]() -> PyObject* {
    nb::object owned = nb::steal(result);
    nb::object arguments = nb::steal(must(PyDict_New()));
    for (size_t i = 0; i < given.values.size(); ++i) {
      if (given.values[i]) PyDict_SetItem(arguments.ptr(), (*c.parameters)[i], given.values[i]);
    }
    nb::object watch = nb::borrow(g_watch);
    return must(call_python(PyObject_CallFunctionObjArgs, watch.ptr(), reinterpret_cast<PyObject*>(&c), arguments.ptr(), result, nullptr));
  });
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  auto& c = *reinterpret_cast<OpCallable*>(self);
  Given given;
  PyObject* result = guarded([&]() -> PyObject* {
    take_arguments(c, args, size_t(PyVectorcall_NARGS(nargsf)), kwnames, given);
    return call_op(c, given);
  });
  if (!result && hooks().dispatch && composite_failure()) return dispatched(c, given);
  return result && g_watch ? watched(c, given, result) : result;
}

void op_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  auto& c = *reinterpret_cast<OpCallable*>(self);
  for (PyObject* p : *c.parameters) Py_DECREF(p);
  delete c.parameters;
  delete c.attr_of_parameter;
  Py_XDECREF(c.result_type);
  Py_XDECREF(c.python_name);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* op_repr(PyObject* self) {
  const auto& c = *reinterpret_cast<OpCallable*>(self);
  return PyUnicode_FromFormat("<op %s>", std::string(c.spec->name).c_str());
}
PyObject* op_name(PyObject* self, void*) {
  const auto& c = *reinterpret_cast<OpCallable*>(self);
  return PyUnicode_FromStringAndSize(c.spec->name.data(), Py_ssize_t(c.spec->name.size()));
}
PyObject* op_python_name(PyObject* self, void*) { return Py_NewRef(reinterpret_cast<OpCallable*>(self)->python_name); }
PyObject* op_doc(PyObject* self, void*) {
  const auto& c = *reinterpret_cast<OpCallable*>(self);
  return PyUnicode_FromStringAndSize(c.spec->summary.data(), Py_ssize_t(c.spec->summary.size()));
}
PyObject* op_parameters(PyObject* self, void*) {
  return guarded([&] {
    const auto& c = *reinterpret_cast<OpCallable*>(self);
    nb::list out;
    for (PyObject* p : *c.parameters) out.append(nb::borrow(p));
    return nb::tuple(out).release().ptr();
  });
}
PyObject* op_inputs(PyObject* self, void*) {
  return guarded([&] {
    nb::list out;
    for (const ArgSpec& a : reinterpret_cast<OpCallable*>(self)->signature->inputs) out.append(nb::str(a.name.c_str()));
    return nb::tuple(out).release().ptr();
  });
}
PyObject* op_outputs(PyObject* self, void*) {
  return guarded([&] {
    nb::list out;
    for (const ArgSpec& a : reinterpret_cast<OpCallable*>(self)->signature->outputs) out.append(nb::str(a.name.c_str()));
    return nb::tuple(out).release().ptr();
  });
}
PyObject* op_required(PyObject* self, void*) { return PyLong_FromLong(num_required(*reinterpret_cast<OpCallable*>(self))); }
PyObject* op_defaults(PyObject* self, void*) {
  return guarded([&] {
    const auto& c = *reinterpret_cast<OpCallable*>(self);
    nb::dict out;
    for (int a : *c.attr_of_parameter) {
      const AttrSpec& s = c.signature->attrs[size_t(a)];
      if (s.default_value) out[s.name.c_str()] = attr_to_python(*s.default_value);
    }
    return out.release().ptr();
  });
}
PyObject* op_stateful(PyObject* self, void*) { return PyBool_FromLong(reinterpret_cast<OpCallable*>(self)->spec->stateful); }

PyGetSetDef op_properties[] = {
    {"op_name", op_name, nullptr, "Its name in the registry.", nullptr},
    {"__name__", op_python_name, nullptr, nullptr, nullptr},
    {"__doc__", op_doc, nullptr, nullptr, nullptr},
    {"parameters", op_parameters, nullptr, "Names of inputs and attributes, in order.", nullptr},
    {"inputs", op_inputs, nullptr, nullptr, nullptr},
    {"outputs", op_outputs, nullptr, nullptr, nullptr},
    {"num_required", op_required, nullptr, nullptr, nullptr},
    {"defaults", op_defaults, nullptr, "Attributes that need not be given, with their values.", nullptr},
    {"stateful", op_stateful, nullptr, nullptr, nullptr},
    {},
};
PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpCallable, vectorcall), READONLY, nullptr}, {}};
PyTypeObject* op_type = nullptr;

// Attributes that the inputs tell are not asked for.
bool told_by_inputs(const Signature& sig, int attr) {
  for (const ArgSpec& a : sig.inputs) {
    if (a.type_attr == attr || a.number_attr == attr || a.type_list_attr == attr) return true;
  }
  return false;
}

nb::object make_op(const std::string& name) {
  const OpSpec* spec = engine::Engine::get().registry().find(name);
  if (!spec) {
    PyErr_Format(PyExc_AttributeError, "there is no op named '%s'", name.c_str());
    raise_current();
  }
  nb::object self = nb::steal(must(op_type->tp_alloc(op_type, 0)));
  auto& c = *reinterpret_cast<OpCallable*>(self.ptr());
  c.parameters = new std::vector<PyObject*>;
  c.attr_of_parameter = new std::vector<int>;
  c.vectorcall = vectorcall;
  c.spec = spec;
  c.signature = &spec->signature();
  c.result_type = nullptr;
  c.python_name = must(PyUnicode_FromString(snake_case(name).c_str()));
  for (const ArgSpec& a : c.signature->inputs) c.parameters->push_back(must(PyUnicode_InternFromString(a.name.c_str())));
  for (const bool with_default : {false, true}) {
    for (size_t a = 0; a < c.signature->attrs.size(); ++a) {
      const AttrSpec& s = c.signature->attrs[a];
      if (told_by_inputs(*c.signature, int(a)) || s.default_value.has_value() != with_default) continue;
      c.attr_of_parameter->push_back(int(a));
      c.parameters->push_back(must(PyUnicode_InternFromString(s.name.c_str())));
    }
  }
  if (c.signature->outputs.size() > 1 && hooks().result_type) {
    nb::list fields;
    for (const ArgSpec& a : c.signature->outputs) fields.append(nb::str(a.name.c_str()));
    c.result_type = must(call_python(PyObject_CallFunctionObjArgs, hooks().result_type, nb::str(name.c_str()).ptr(), fields.ptr(), nullptr));
  }
  return self;
}

nb::list op_names() {
  nb::list out;
  for (const OpSpec* s : engine::Engine::get().registry().all()) out.append(nb::str(std::string(s->name).c_str()));
  return out;
}

// An op by name with values and attributes that Python put together: for importing and replaying graphs, and calls of functions by name.
nb::object execute_named(const std::string& op, nb::handle inputs, nb::dict attrs, nb::object name) {
  std::vector<Value> values = values_of(inputs);
  const OpSpec* spec = unwrap(eager::find_op(api::context(), op));
  AttrMap map;
  for (auto [key, value] : attrs) {
    const std::string k = nb::cast<std::string>(nb::str(key));
    const int at = spec->signature().attr_index(k);
    map.emplace(k, attr_of(value.ptr(), at >= 0 ? spec->signature().attrs[size_t(at)].type : "any", k, op));
  }
  if (trace::FuncGraph* g = trace::FuncGraph::current()) {
    check(add_node(*g, op, values, std::move(map), name.is_none() ? nullptr : name.ptr()).status());
    return operation_object(*g, g->emitter().added().back());
  }
  trace::OpCall call(used_context());
  check(call.reset(op, api::scoped_device()));
  for (const Value& v : values) check(call.add_input(v));
  for (auto& [key, value] : map) check(call.set_attr(key, std::move(value)));
  nb::list out;
  for (auto& h : run_all(call, true)) out.append(nb::steal(wrap(std::move(h))));
  return out;
}

}  // namespace

bool ops_are_watched() { return g_watch != nullptr; }

void bind_call(nb::module_& m) {
  m.def(
      "watch_ops",
      [](nb::object watch) {
        PyObject* before = g_watch;
        g_watch = watch.is_none() ? nullptr : watch.release().ptr();
        Py_XDECREF(before);
      },
      nb::arg("watch").none(), "watch(op, arguments, result) is called after each op; what it gives is the result. None: nobody watches.");
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(op_dealloc)},
      {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
      {Py_tp_getset, op_properties},
      {Py_tp_members, op_members},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {0, nullptr},
  };
  PyType_Spec spec{"weft._weft.Op", sizeof(OpCallable), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  op_type = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&spec)));
  m.attr("Op") = nb::borrow(reinterpret_cast<PyObject*>(op_type));
  m.def("op", make_op, nb::arg("name"), "The op of that name as a callable.");
  m.def("op_names", op_names);
  m.def("execute", execute_named, nb::arg("op"), nb::arg("inputs"), nb::arg("attrs"), nb::arg("name") = nb::none(),
        "Runs an op, or adds it to the graph (then the Operation is the result), with tensors and attributes as they are.");
}

}  // namespace weft_engine::python
