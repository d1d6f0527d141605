// TensorBase: what weft.Tensor, EagerTensor and SymbolicTensor are made on. It holds a value of the engine; the operators that programs use
// most are here, everything else is Python.
#include <map>
#include <optional>

#include "bridge.h"
#include "core/own_memory.h"
#include "core/resource.h"
#include "core/variant.h"
#include "graph/graph_emitter.h"
#include "interpreter.h"
#include "operators.h"

namespace weft_engine::python {

PyTypeObject* tensor_base = nullptr;

namespace {

// The object of an output of a node, as long as Python holds it: `op.inputs[0] is x`. Guarded by the interpreter lock.
using OutputKey = std::pair<const graph::Node*, int>;
std::map<OutputKey, PyObject*>& symbolic_objects() {
  static auto* map = new std::map<OutputKey, PyObject*>;
  return *map;
}

// None for values of graphs that no trace owns: nothing keeps their nodes.
std::optional<OutputKey> key_of(ValueRep* rep) {
  auto* owner = dynamic_cast<trace::TraceEmitter*>(rep->owner());
  if (!owner) return {};
  const auto at = graph::GraphEmitter::unwrap(Value(*owner, RefPtr<ValueRep>::share(rep)));
  return OutputKey{at.node, at.index};
}

PyObject* wrap_symbolic(RefPtr<ValueRep> rep) {
  const auto key = key_of(rep.get());
  if (key) {
    // One that is being freed just now has no references left.
    if (auto it = symbolic_objects().find(*key); it != symbolic_objects().end() && Py_REFCNT(it->second) > 0) return Py_NewRef(it->second);
  }
  PyTypeObject* type = hooks().symbolic_tensor;
  PyObject* o = must(type->tp_alloc(type, 0));
  new (&reinterpret_cast<TensorObject*>(o)->rep) RefPtr<ValueRep>(std::move(rep));
  if (key) symbolic_objects()[*key] = o;
  return o;
}

}  // namespace

PyObject* wrap(RefPtr<ValueRep> rep) {
  if (rep->owner()) return wrap_symbolic(std::move(rep));
  const bool laid_out = static_cast<eager::TensorHandle*>(rep.get())->layout() != 0;
  PyTypeObject* type = laid_out ? hooks().laid_out_tensor : hooks().eager_tensor;
  PyObject* o = must(type->tp_alloc(type, 0));
  new (&reinterpret_cast<TensorObject*>(o)->rep) RefPtr<ValueRep>(std::move(rep));
  return o;
}

nb::object wrap_or_none(const Value& v) {
  if (!v.valid()) return nb::none();
  if (v.is_slices())
    return nb::make_tuple(nb::steal(wrap(v.slice_values())), nb::steal(wrap(v.slice_indices())),
                          v.slice_dense_shape().valid() ? nb::steal(wrap(v.slice_dense_shape())) : nb::none());
  return nb::steal(wrap(v));
}

nb::list wrap_all(std::span<const Value> values) {
  nb::list out;
  for (const Value& v : values) out.append(wrap_or_none(v));
  return out;
}

Value value_of(PyObject* tensor) { return Value(trace::emitter_here(api::context()), RefPtr<ValueRep>::share(rep_of(tensor))); }

Value value_of(nb::handle tensor) {
  if (is_tensor(tensor.ptr())) return value_of(tensor.ptr());
  if (is_variable(tensor.ptr())) return read_variable(tensor.ptr());
  PyErr_Format(PyExc_TypeError, "a tensor was expected, not %R", tensor.ptr());
  raise_current();
}

std::vector<Value> values_of(nb::handle list) {
  std::vector<Value> out;
  for (nb::handle h : list) out.push_back(h.is_none() ? Value() : value_of(h));
  return out;
}

namespace {

// Waited for, wherever it lies.
eager::TensorHandle* waited_for(PyObject* tensor) {
  ValueRep* rep = rep_of(tensor);
  if (rep->owner()) {
    PyErr_SetString(PyExc_NotImplementedError, "a tensor of a graph has no value until the graph runs");
    raise_current();
  }
  auto* h = static_cast<eager::TensorHandle*>(rep);
  if (!h->ready()) {
    check(run_released(true, [&] { return h->wait(); }));
  }
  return h;
}

}  // namespace

const Tensor& data_of(PyObject* tensor) {
  eager::TensorHandle* const h = waited_for(tensor);
  if (!core::memory_of(h->tensor())) [[likely]]
    return h->tensor();
  // Of another device: a copy that lives until this thread has asked for some others.
  constexpr size_t kCopies = 32;
  static thread_local Tensor copies[kCopies];
  static thread_local size_t next = 0;
  Tensor& copy = copies[next++ % kCopies];
  // What kernels found wrong is told once, and numpy drops errors: it asks for the buffer twice, then calls __array__. So who asks for this tensor again gets the error again.
  static thread_local std::pair<core::RefPtr<eager::TensorHandle>, Status> failed;
  if (failed.first.get() == h) check(failed.second);
  auto here = [&] {
    const Released others(true);  // threads of the program, which may queue more work meanwhile
    return core::to_host(h->tensor());
  }();
  if (!here.ok()) failed = {core::RefPtr<eager::TensorHandle>::share(h), here.status()};
  copy = unwrap(std::move(here));
  return copy;
}

namespace {

nb::object element(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat: return nb::steal(PyFloat_FromDouble(t.data<float>()[i]));
    case DType::kDouble: return nb::steal(PyFloat_FromDouble(t.data<double>()[i]));
    case DType::kHalf: return nb::steal(PyFloat_FromDouble(float(t.data<half>()[i])));
    case DType::kBfloat16: return nb::steal(PyFloat_FromDouble(float(t.data<bfloat16>()[i])));
    case DType::kInt8:
    case DType::kQint8: return nb::steal(PyLong_FromLong(t.data<int8_t>()[i]));
    case DType::kUint8:
    case DType::kQuint8: return nb::steal(PyLong_FromLong(t.data<uint8_t>()[i]));
    case DType::kInt16:
    case DType::kQint16: return nb::steal(PyLong_FromLong(t.data<int16_t>()[i]));
    case DType::kUint16:
    case DType::kQuint16: return nb::steal(PyLong_FromLong(t.data<uint16_t>()[i]));
    case DType::kInt32:
    case DType::kQint32: return nb::steal(PyLong_FromLong(t.data<int32_t>()[i]));
    case DType::kUint32: return nb::steal(PyLong_FromUnsignedLong(t.data<uint32_t>()[i]));
    case DType::kInt64: return nb::steal(PyLong_FromLongLong(t.data<int64_t>()[i]));
    case DType::kUint64: return nb::steal(PyLong_FromUnsignedLongLong(t.data<uint64_t>()[i]));
    case DType::kBool: return nb::borrow(t.data<bool>()[i] ? Py_True : Py_False);
    case DType::kComplex64: return nb::steal(PyComplex_FromDoubles(t.data<complex64>()[i].real(), t.data<complex64>()[i].imag()));
    case DType::kComplex128: return nb::steal(PyComplex_FromDoubles(t.data<complex128>()[i].real(), t.data<complex128>()[i].imag()));
    case DType::kString: {
      const tstring& s = t.data<tstring>()[i];
      return nb::steal(PyBytes_FromStringAndSize(s.data(), Py_ssize_t(s.size())));
    }
    case DType::kVariant: {
      const std::string name = t.data<Variant>()[i].type_name();
      return nb::steal(PyUnicode_FromFormat("<Variant %s>", name.c_str()));
    }
    default: raise(unimplemented("elements of type ", dtype_name(t.dtype()), " as Python objects"));
  }
}

nb::object nested(const Tensor& t, int axis, int64_t& at) {
  if (axis == t.rank()) return element(t, at++);
  nb::list out;
  for (int64_t i = 0; i < t.dim(axis); ++i) out.append(nested(t, axis + 1, at));
  return out;
}

// ---- the type ------------------------------------------------------------------------------------------

void tensor_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  auto& rep = reinterpret_cast<TensorObject*>(self)->rep;
  if (rep && rep->owner()) {
    if (const auto key = key_of(rep.get())) {
      if (auto it = symbolic_objects().find(*key); it != symbolic_objects().end() && it->second == self) symbolic_objects().erase(it);
    }
  }
  {
    // A dataset's iterator may go with its handle: it waits for its threads, which may wait for the lock to call Python.
    const DType held = rep && !rep->owner() ? rep->dtype() : DType::kInvalid;
    Released released(held == DType::kResource || held == DType::kVariant);
    rep.~RefPtr<ValueRep>();
  }
  type->tp_free(self);
}

graph::Endpoint endpoint(PyObject* self) {
  if (!rep_of(self)->owner()) {
    PyErr_SetString(PyExc_AttributeError, "Tensor.op is undefined when eager execution is enabled.");
    raise_current();
  }
  return graph::GraphEmitter::unwrap(Value(*rep_of(self)->owner(), RefPtr<ValueRep>::share(rep_of(self))));
}

// Of a node's output: also whether it is a reference.
PyObject* get_dtype(PyObject* self, void*) {
  ValueRep* rep = rep_of(self);
  if (!rep->owner()) return Py_NewRef(dtype_object(rep->dtype()));
  return guarded([&] {
    const graph::Endpoint e = endpoint(self);
    return Py_NewRef(dtype_object(e.node->output_type(e.index)));
  });
}

// Of another process: its shape is known here, its value is not brought for that.
bool is_elsewhere(PyObject* self) {
  eager::TensorHandle* h = handle_of(self);
  if (h->ready() || !h->remote_value()) return false;
  check(run_released(true, [&] { return h->wait_for_op(); }));
  return true;
}

PyObject* get_shape(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    ValueRep* rep = rep_of(self);
    nb::object dims;
    if (rep->owner() || is_elsewhere(self)) {
      dims = nb::steal(shape_tuple(rep->shape()));
    } else {
      const Shape& s = waited_for(self)->tensor().shape();
      dims = nb::steal(must(PyTuple_New(s.rank())));
      for (int i = 0; i < s.rank(); ++i) PyTuple_SET_ITEM(dims.ptr(), i, PyLong_FromLongLong(s.dim(i)));
    }
    return must(call_python(PyObject_CallOneArg, hooks().tensor_shape, dims.ptr()));
  });
}

PyObject* get_shape_tuple(PyObject* self, PyObject*) {
  return guarded([&] {
    ValueRep* rep = rep_of(self);
    return rep->owner() || is_elsewhere(self) ? shape_tuple(rep->shape()) : shape_tuple(PartialShape(waited_for(self)->tensor().shape()));
  });
}

PyObject* get_device(PyObject* self, void*);

// A result that an op of a device with its own memory left in host memory is there.
PyObject* get_backing_device(PyObject* self, void* closure) {
  ValueRep* rep = rep_of(self);
  if (rep->owner()) return get_device(self, closure);
  const auto* h = static_cast<eager::TensorHandle*>(rep);
  if (!h->device() || h->device()->host_memory()) return get_device(self, closure);
  return guarded([&]() -> PyObject* {
    waited_for(self);
    if (core::memory_of(h->tensor())) return get_device(self, nullptr);
    const std::string& name = api::context().host()->name();
    return PyUnicode_FromStringAndSize(name.data(), Py_ssize_t(name.size()));
  });
}

PyObject* get_device(PyObject* self, void*) {
  ValueRep* rep = rep_of(self);
  return guarded([&]() -> PyObject* {
    std::string name;
    if (!rep->owner()) {
      const Device* d = static_cast<eager::TensorHandle*>(rep)->device();
      name = (d ? d : api::context().host())->name();
    } else {
      name = graph::GraphEmitter::unwrap(value_of(self)).node->device;
    }
    return PyUnicode_FromStringAndSize(name.data(), Py_ssize_t(name.size()));
  });
}

trace::FuncGraph& graph_of(PyObject* self) { return static_cast<trace::TraceEmitter*>(rep_of(self)->owner())->func_graph(); }

PyObject* get_operation(PyObject* self, PyObject*) {
  return guarded([&] {
    const auto at = endpoint(self);
    return operation_object(graph_of(self), at.node).release().ptr();
  });
}
PyObject* get_graph(PyObject* self, PyObject*) {
  return guarded([&] {
    endpoint(self);
    return graph_object(graph_of(self)).release().ptr();
  });
}
PyObject* get_index(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLong(endpoint(self).index); });
}
PyObject* get_node_id(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromLong(endpoint(self).node->id()); });
}
PyObject* get_node_name(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::string& name = endpoint(self).node->name();
    return PyUnicode_FromStringAndSize(name.data(), Py_ssize_t(name.size()));
  });
}
// Narrows what is known of the shape.
PyObject* set_shape(PyObject* self, PyObject* shape) {
  return guarded([&]() -> PyObject* {
    const PartialShape more = shape_of(shape);
    if (!rep_of(self)->owner()) {
      const PartialShape own(waited_for(self)->tensor().shape());
      if (!own.compatible_with(more)) {
        PyErr_Format(PyExc_ValueError, "Tensor's shape %s is not compatible with supplied shape %s.", own.to_string().c_str(),
                     more.to_string().c_str());
        raise_current();
      }
      Py_RETURN_NONE;
    }
    const auto at = endpoint(self);
    auto merged = at.node->shapes[size_t(at.index)].merge_with(more);
    if (!merged.ok()) {
      PyErr_SetString(PyExc_ValueError, std::string(merged.status().message()).c_str());
      raise_current();
    }
    at.node->shapes[size_t(at.index)] = *merged;
    Py_RETURN_NONE;
  });
}
// The value of a tensor of a graph where it is known before the graph runs; None where not.
PyObject* constant_value(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor* t = rep_of(self)->owner() ? rep_of(self)->constant() : &data_of(self);
    if (!t) Py_RETURN_NONE;
    return wrap(eager::TensorHandle::make(*t, nullptr));
  });
}
PyObject* to_list(PyObject* self, PyObject*) {
  return guarded([&] { return tensor_to_python(data_of(self)).release().ptr(); });
}
PyObject* flat_list(PyObject* self, PyObject*) {
  return guarded([&] {
    const Tensor& t = data_of(self);
    nb::list out;
    for (int64_t i = 0; i < t.num_elements(); ++i) out.append(element(t, i));
    return out.release().ptr();
  });
}
PyObject* handle_info(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = data_of(self);
    if (t.dtype() != DType::kResource || t.num_elements() < 1) Py_RETURN_NONE;
    const ResourceHandle& h = t.data<ResourceHandle>()[0];
    if (!h.info()) Py_RETURN_NONE;
    return nb::make_tuple(h.info()->container.c_str(), h.info()->name.c_str(), h.info()->type_name.c_str()).release().ptr();
  });
}
PyObject* identity(PyObject* self, PyObject*) { return PyLong_FromVoidPtr(rep_of(self)); }

const char* format_of(DType t) {
  switch (t) {
    case DType::kFloat: return "f";
    case DType::kDouble: return "d";
    case DType::kHalf: return "e";
    case DType::kInt8: return "b";
    case DType::kUint8: return "B";
    case DType::kInt16: return "h";
    case DType::kUint16: return "H";
    case DType::kInt32: return "i";
    case DType::kUint32: return "I";
    case DType::kInt64: return "l";
    case DType::kUint64: return "L";
    case DType::kBool: return "?";
    case DType::kComplex64: return "Zf";
    case DType::kComplex128: return "Zd";
    default: return nullptr;
  }
}

// The elements; as bytes for who does not ask for the type. Read-only: tensors share memory.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  return guarded([&]() -> int {
    const Tensor& t = data_of(self);
    if (handle_of(self)->layout()) {
      PyErr_SetString(PyExc_BufferError, "a tensor that is laid out over devices has its memory in parts");
      return -1;
    }
    if (!is_simple(t.dtype())) {
      PyErr_Format(PyExc_BufferError, "a tensor of %s has no plain memory", dtype_name(t.dtype()).c_str());
      return -1;
    }
    if (flags & PyBUF_WRITABLE) {
      PyErr_SetString(PyExc_BufferError, "tensors do not change: their memory is read-only");
      return -1;
    }
    if (!(flags & PyBUF_FORMAT)) return PyBuffer_FillInfo(view, self, const_cast<void*>(t.raw()), Py_ssize_t(t.byte_size()), 1, flags);
    const char* format = format_of(t.dtype());
    if (!format) {
      PyErr_Format(PyExc_BufferError, "the buffer protocol has no name for %s", dtype_name(t.dtype()).c_str());
      return -1;
    }
    auto* sizes = new Py_ssize_t[size_t(2 * t.rank() + 1)];
    Py_ssize_t stride = Py_ssize_t(dtype_size(t.dtype()));
    for (int i = t.rank(); i-- > 0; stride *= t.dim(i)) {
      sizes[i] = t.dim(i);
      sizes[t.rank() + i] = stride;
    }
    *view = Py_buffer{.buf = const_cast<void*>(t.raw()),
                      .obj = Py_NewRef(self),
                      .len = Py_ssize_t(t.byte_size()),
                      .itemsize = Py_ssize_t(dtype_size(t.dtype())),
                      .readonly = 1,
                      .ndim = t.rank(),
                      .format = const_cast<char*>(format),
                      .shape = sizes,
                      .strides = sizes + t.rank(),
                      .suboffsets = nullptr,
                      .internal = sizes};
    return 0;
  });
}

void release_buffer(PyObject*, Py_buffer* view) { delete[] static_cast<Py_ssize_t*>(view->internal); }

PyGetSetDef properties[] = {
    {"dtype", get_dtype, nullptr, "The type of its elements.", nullptr},
    {"shape", get_shape, nullptr, "Its shape, as far as it is known.", nullptr},
    {"device", get_device, nullptr, "The device that holds it.", nullptr},
    {"backing_device", get_backing_device, nullptr, "The device whose memory holds it.", nullptr},
    {},
};
PyMethodDef methods[] = {
    {"_shape_tuple", get_shape_tuple, METH_NOARGS, "Sizes, None for those that are open; None without a rank."},
    {"_operation", get_operation, METH_NOARGS, nullptr},
    {"_graph", get_graph, METH_NOARGS, nullptr},
    {"_index", get_index, METH_NOARGS, nullptr},
    {"_node_id", get_node_id, METH_NOARGS, nullptr},
    {"_node_name", get_node_name, METH_NOARGS, nullptr},
    {"_set_shape", set_shape, METH_O, nullptr},
    {"_constant_value", constant_value, METH_NOARGS, nullptr},
    {"_to_list", to_list, METH_NOARGS, "The elements as nested lists of Python objects."},
    {"_flat_list", flat_list, METH_NOARGS, "The elements in one list."},
    {"_handle_info", handle_info, METH_NOARGS, "Of a resource: container, name, type."},
    {"_identity", identity, METH_NOARGS, "A number that no other value has while this lives."},
    {},
};

}  // namespace

nb::object tensor_to_python(const Tensor& t) {
  int64_t at = 0;
  return nested(t, 0, at);
}

void bind_tensor(nb::module_& m) {
  PyType_Slot slots[40] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
      {Py_tp_getset, properties},
      {Py_tp_methods, methods},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
      {Py_tp_doc, const_cast<char*>("A value of the engine; made by ops.")},
  };
  size_t n = 6;
  for (const PyType_Slot& s : operator_slots()) slots[n++] = s;
  slots[n] = {0, nullptr};
  PyType_Spec spec{"weft._weft.TensorBase", sizeof(TensorObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                   slots};
  tensor_base = reinterpret_cast<PyTypeObject*>(must(PyType_FromSpec(&spec)));
  m.attr("TensorBase") = nb::borrow(reinterpret_cast<PyObject*>(tensor_base));
}

}  // namespace weft_engine::python
