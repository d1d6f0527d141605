// VariableBase: what weft.Variable is made on: a variable of the engine, with its facts.
#include "trace/variable.h"

#include <unordered_map>

#include "bridge.h"
#include "core/error_notes.h"
#include "op/op_traits.h"
#include "operators.h"
#include "variable.h"

namespace weft_engine::python {

PyTypeObject* variable_base = nullptr;

namespace {

struct VariableObject {
  PyObject_HEAD std::shared_ptr<trace::VariableState> state;
  uint64_t number;  // later ones have higher numbers
};

VariableObject& cell(PyObject* o) { return *reinterpret_cast<VariableObject*>(o); }

// The Python object of a variable, for tapes and functions, which know the engine's. Guarded by the interpreter lock.
std::unordered_map<const trace::VariableState*, PyObject*>& objects() {
  static auto* map = new std::unordered_map<const trace::VariableState*, PyObject*>;
  return *map;
}

trace::VariableState& state(PyObject* o) {
  if (!cell(o).state) {
    PyErr_SetString(PyExc_RuntimeError, "this variable has no value in the engine: it was not made, or belongs to a graph of version 1");
    raise_current();
  }
  return *cell(o).state;
}

// For a node whose first input is the variable's handle, which may have to be captured for it.
std::string prepare_resource_node(trace::FuncGraph& g, std::string_view op) {
  const std::string node = prepare_node(g, op, nullptr);
  g.capture_name = node + "/resource";
  return node;
}

PyObject* variable_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  static uint64_t next = 0;  // guarded by the interpreter lock
  if (o) {
    new (&cell(o).state) std::shared_ptr<trace::VariableState>;
    cell(o).number = next++;
  }
  return o;
}
void forget(PyObject* self) {
  auto it = objects().find(cell(self).state.get());
  if (it != objects().end() && it->second == self) objects().erase(it);
}
void variable_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  forget(self);
  cell(self).state.~shared_ptr();
  type->tp_free(self);
}

// (dtype, shape, name, trainable, synchronization, aggregation, device)
PyObject* make(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PyObject *dtype, *shape;
    const char *name, *device;
    int trainable, synchronization, aggregation;
    if (!PyArg_ParseTuple(args, "OOspiis", &dtype, &shape, &name, &trainable, &synchronization, &aggregation, &device)) return nullptr;
    trace::VariableSpec spec;
    spec.name = name;
    spec.dtype = dtype_of(dtype);
    spec.shape = shape_of(shape);
    spec.trainable = trainable;
    spec.synchronization = static_cast<trace::Synchronization>(synchronization);
    spec.aggregation = static_cast<trace::Aggregation>(aggregation);
    spec.device = device;
    auto made = trace::VariableState::make(used_context(), std::move(spec));
    if (made.status().code() == Code::kInvalidArgument && !core::find_note(made.status(), core::kNoteVariableAgain)) {
      PyErr_SetString(PyExc_ValueError, made.status().message().c_str());
      return nullptr;
    }
    forget(self);
    cell(self).state = unwrap(std::move(made));
    objects()[cell(self).state.get()] = self;
    Py_RETURN_NONE;
  });
}
// Shares the state of another object, for copies that stand for the same variable.
PyObject* adopt(PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    cell(self).state = cell(other).state;
    Py_RETURN_NONE;
  });
}
PyObject* initialize(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    check(state(self).initialize(value_of(nb::handle(value))));
    Py_RETURN_NONE;
  });
}
PyObject* read(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(read_variable(self)); });
}
PyObject* handle(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(variable_handle(self)); });
}
PyObject* eager_handle(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(RefPtr<eager::TensorHandle>(state(self).eager_handle())); });
}
// (op, value)
PyObject* assign(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    const char* op;
    PyObject* value;
    if (!PyArg_ParseTuple(args, "sO", &op, &value)) return nullptr;
    Value v = value_of(nb::handle(value));
    trace::VariableState& s = state(self);
    if (trace::FuncGraph* g = trace::FuncGraph::current()) {
      if (v.rep() && !v.rep()->owner()) {
        g->emitter().set_next_name(g->unique_name(cat(trace::name_scope(), op_of(op::Role::kConst)), false));
        v = unwrap(g->import(v));
        g->emitter().set_next_name({});
      }
      const std::string node = prepare_resource_node(*g, op);
      if (v.rep() && v.rep()->owner() != &g->emitter()) {  // of a graph around this one: named in the scope of the node
        check(s.handle().status());
        const std::string scope = std::exchange(trace::name_scope(), node + "/");
        auto own = g->import(v);
        trace::name_scope() = scope;
        v = unwrap(std::move(own));
      }
    }
    check(s.assign(op, v));
    if (trace::FuncGraph* g = trace::FuncGraph::current()) {
      node_done(*g);
      return operation_object(*g, g->emitter().added().back()).release().ptr();
    }
    Py_RETURN_NONE;
  });
}
PyObject* accessed(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    check(state(self).accessed());
    Py_RETURN_NONE;
  });
}
PyObject* get_dtype(PyObject* self, PyObject*) {
  return guarded([&] { return Py_NewRef(dtype_object(state(self).spec().dtype)); });
}
PyObject* get_shape(PyObject* self, PyObject*) {
  return guarded([&] { return shape_tuple(state(self).spec().shape); });
}
PyObject* has_state(PyObject* self, PyObject*) { return PyBool_FromLong(cell(self).state != nullptr); }
PyObject* set_trainable(PyObject* self, PyObject* on) {
  return guarded([&]() -> PyObject* {
    state(self).set_trainable(PyObject_IsTrue(on) == 1);
    Py_RETURN_NONE;
  });
}

PyMethodDef methods[] = {
    {"_make", make, METH_VARARGS, "Makes the resource: dtype, shape, name, trainable, synchronization, aggregation, device."},
    {"_adopt", adopt, METH_O, "Stands for the variable of another object from now on."},
    {"_initialize", initialize, METH_O, "The first value, given outside any trace; one of a trace is computed outside of it."},
    {"_read", read, METH_NOARGS, "The value, here and now or in the graph; tapes hear of it."},
    {"_get_handle", handle, METH_NOARGS, "The resource as the code that runs now can use it."},
    {"_eager_handle", eager_handle, METH_NOARGS, "The resource itself, outside any trace."},
    {"_assign", assign, METH_VARARGS, "By an op's name: AssignVariableOp, AssignAddVariableOp, AssignSubVariableOp. In a graph: the operation."},
    {"_accessed", accessed, METH_NOARGS, "Tells the tapes."},
    {"_native_dtype", get_dtype, METH_NOARGS, nullptr},
    {"_native_shape", get_shape, METH_NOARGS, nullptr},
    {"_has_state", has_state, METH_NOARGS, nullptr},
    {"_set_trainable", set_trainable, METH_O, nullptr},
    {},
};

}  // namespace

Value read_variable(PyObject* variable) {
  if (!cell(variable).state) {
    nb::object v = nb::steal(must(call_python(PyObject_CallMethod, variable, "value", nullptr)));
    return value_of(nb::handle(v));
  }
  trace::VariableState& s = *cell(variable).state;
  if (trace::FuncGraph* g = trace::FuncGraph::current()) {
    prepare_resource_node(*g, op_of(op::Role::kReadVariable));
    Value v = unwrap(s.read());
    node_done(*g);
    return v;
  }
  return unwrap(s.read());
}

Value variable_handle(PyObject* variable) {
  if (!cell(variable).state) {
    nb::object h = nb::steal(must(PyObject_GetAttrString(variable, "handle")));
    return value_of(nb::handle(h));
  }
  return unwrap(state(variable).handle());
}

DType variable_dtype(PyObject* variable) {
  if (cell(variable).state) return cell(variable).state->spec().dtype;
  nb::object t = nb::steal(must(PyObject_GetAttrString(variable, "dtype")));
  return dtype_of(t.ptr());
}

uint64_t variable_number(PyObject* variable) { return cell(variable).number; }

const std::shared_ptr<trace::VariableState>& variable_state(PyObject* variable) { return cell(variable).state; }

nb::object variable_object(const trace::VariableState* state) {
  auto it = objects().find(state);
  return it == objects().end() ? nb::none() : nb::borrow(it->second);
}

void bind_variable(nb::module_& m) {
  std::vector<PyType_Slot> slots = operator_slots();
  slots.insert(slots.end(), {{Py_tp_new, reinterpret_cast<void*>(variable_new)},
                             {Py_tp_dealloc, reinterpret_cast<void*>(variable_dealloc)},
                             {Py_tp_methods, methods},
                             {Py_tp_doc, const_cast<char*>("A variable of the engine.")},
                             {0, nullptr}});
  PyType_Spec spec{"weft._weft.VariableBase", sizeof(VariableObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  variable_base = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&spec)));
  m.def(
      "matrix_product", [](nb::handle a, nb::handle b) { return nb::steal(must(matrix_product(a.ptr(), b.ptr()))); }, nb::arg("a").none(),
      nb::arg("b").none(), "The product of two matrices that are tensors or variables, eager; NotImplemented for all else.");
  m.attr("VariableBase") = nb::borrow(reinterpret_cast<PyObject*>(variable_base));
}

}  // namespace weft_engine::python
