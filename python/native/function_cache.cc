// FunctionBase: what tf.function's objects are made on. A call of arguments that were seen before goes from here to the engine: a key of the
// tensors' types and shapes and of plain Python values finds the trace, whose results are put together here, too. All else is
// Python's `_call_slow`, which teaches the cache by `_remember`.
#include "bridge.h"
#include "core/small_array.h"

#include <structmember.h>

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "eager/result_handle.h"
#include "eager/layout.h"
#include "trace/polymorphic_function.h"
#include "trace/variable.h"
#include "variable.h"

namespace weft_engine::python {
namespace {

using trace::ConcreteFunction;
using trace::FuncGraph;

constexpr size_t kMaxWords = 160, kMaxTensors = 64;

enum Tag : uint64_t { kTensor = 1, kInt, kFloat, kBool, kNone, kText, kTuple, kList, kDict, kVariable, kKeyword, kObject };

// Composite objects whose type spec and tensors are the same as long as they live say so by this attribute of their class; an object's own is the
// tuple of its tensors (iterators: data/iterator.py).
PyObject* fixed_name() {
  static PyObject* name = PyUnicode_InternFromString("_fixed_tensors");
  return name;
}
bool has_fixed_tensors(PyObject* o) { return _PyType_Lookup(Py_TYPE(o), fixed_name()); }

// What a call is told apart by, and the tensors in it.
struct Reader {
  uint64_t words[kMaxWords];
  size_t count = 0;
  PyObject* tensors[kMaxTensors];
  size_t num_tensors = 0;
  PyObject* objects[8];  // known by identity
  size_t num_objects = 0;
  nb::object arrays[8];  // tensors made of numpy's arrays
  size_t num_arrays = 0;

  bool put(uint64_t w) {
    if (count == kMaxWords) return false;
    words[count++] = w;
    return true;
  }
  bool take(PyObject* o) {
    if (num_tensors == kMaxTensors) return false;
    tensors[num_tensors++] = o;
    return true;
  }
  bool text(PyObject* o, Tag tag) {
    Py_ssize_t n = 0;
    const char* s = PyUnicode_AsUTF8AndSize(o, &n);
    if (!s) {
      forget_error();
      return false;
    }
    if (n > 256 || !put(tag | uint64_t(n) << 8)) return false;
    for (Py_ssize_t i = 0; i < n; i += 8) {
      uint64_t w = 0;
      std::memcpy(&w, s + i, size_t(std::min<Py_ssize_t>(8, n - i)));
      if (!put(w)) return false;
    }
    return true;
  }
  bool tensor(PyObject* o) {
    auto* h = handle_of(o);
    if (!h->ready()) return false;
    const Tensor& t = h->tensor();
    if (!put(kTensor | uint64_t(t.dtype()) << 8 | uint64_t(t.rank()) << 16)) return false;
    for (int i = 0; i < t.rank(); ++i) {
      if (!put(uint64_t(t.dim(i)))) return false;
    }
    return take(o);
  }
  bool variable(PyObject* o) {
    const auto& state = variable_state(o);
    if (!state) return false;
    uint64_t alias = 0;  // which of the call's variables it is the same as
    for (size_t i = 0; i < num_tensors && tensors[i] != o; ++i) alias += is_variable(tensors[i]);
    const auto& spec = state->spec();
    const bool ranked = spec.shape.has_rank();
    if (!put(kVariable | uint64_t(spec.dtype) << 8 | uint64_t(spec.trainable) << 16 | uint64_t(ranked) << 17 |
             (ranked ? uint64_t(spec.shape.rank()) << 24 : 0) | alias << 40))
      return false;
    for (int i = 0; ranked && i < spec.shape.rank(); ++i) {
      if (!put(uint64_t(spec.shape.dim(i)))) return false;
    }
    return take(o);
  }
  bool dict(PyObject* o) {
    if (!put(kDict | uint64_t(PyDict_GET_SIZE(o)) << 8)) return false;
    PyObject *key, *value, *last = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);) {
      // In the order of keys, which is that of the tensors.
      if (!PyUnicode_CheckExact(key) || (last && PyUnicode_Compare(last, key) >= 0)) return false;
      last = key;
      if (!text(key, kKeyword) || !value_of(value)) return false;
    }
    return true;
  }
  bool value_of(PyObject* o) {
    if (is_eager(o)) return tensor(o);
    if (o == Py_None) return put(kNone);
    if (PyBool_Check(o)) return put(kBool | uint64_t(o == Py_True) << 8);
    if (PyLong_CheckExact(o)) {
      int overflow = 0;
      const long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
      return !overflow && put(kInt) && put(uint64_t(n));
    }
    if (PyFloat_CheckExact(o)) {
      const double d = PyFloat_AS_DOUBLE(o);
      uint64_t bits;
      std::memcpy(&bits, &d, 8);
      return d == d && put(kFloat) && put(bits);
    }
    if (PyUnicode_CheckExact(o)) return text(o, kText);
    if (PyTuple_CheckExact(o) || PyList_CheckExact(o)) {
      const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
      if (!put((PyTuple_CheckExact(o) ? kTuple : kList) | uint64_t(n) << 8)) return false;
      for (Py_ssize_t i = 0; i < n; ++i) {
        if (!value_of(PySequence_Fast_GET_ITEM(o, i))) return false;
      }
      return true;
    }
    if (PyDict_CheckExact(o)) return dict(o);
    return is_variable(o) ? variable(o) : object(o);
  }
  bool array(PyObject* o) {
    if (num_arrays == 8) return false;
    try {
      arrays[num_arrays] = nb::steal(convert(o, DType::kInvalid, DType::kInvalid));
    } catch (nb::python_error&) {
      return false;  // Python says what is wrong with it
    }
    return is_eager(arrays[num_arrays].ptr()) && tensor(arrays[num_arrays++].ptr());
  }
  // Whether `o`, of the call as Python sees it, is the tensor at i.
  bool same(size_t i, PyObject* o) const {
    if (tensors[i] == o) return true;
    for (size_t k = 0; k < num_arrays; ++k) {
      if (arrays[k].ptr() != tensors[i] || !is_eager(o)) continue;
      const Tensor &a = handle_of(o)->tensor(), &b = handle_of(tensors[i])->tensor();
      return a.dtype() == b.dtype() && a.shape() == b.shape();
    }
    return false;
  }
  // An object that is equal to itself alone. Entries check that it still lives.
  bool object(PyObject* o) {
    if (std::strcmp(Py_TYPE(o)->tp_name, "numpy.ndarray") == 0) return array(o);
    if (Py_TYPE(o)->tp_richcompare != PyBaseObject_Type.tp_richcompare || !PyType_SUPPORTS_WEAKREFS(Py_TYPE(o)) || num_objects == 8 || is_tensor(o))
      return false;
    objects[num_objects++] = o;
    return put(kObject) && put(reinterpret_cast<uintptr_t>(o)) && (!has_fixed_tensors(o) || fixed_tensors(o));
  }
  // The tensors that such an object is in a call, which it holds as long as it lives.
  bool fixed_tensors(PyObject* o) {
    nb::object tensors = nb::steal(PyObject_GetAttr(o, fixed_name()));
    if (!tensors.is_valid() || !PyTuple_CheckExact(tensors.ptr())) {
      forget_error();
      return false;
    }
    const Py_ssize_t n = PyTuple_GET_SIZE(tensors.ptr());
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* t = PyTuple_GET_ITEM(tensors.ptr(), i);
      if (!is_eager(t) || !handle_of(t)->ready() || !take(t)) return false;
    }
    return n > 0;
  }
  bool call(PyObject* const* args, size_t positional, PyObject* kwnames) {
    for (size_t i = 0; i < positional; ++i) {
      if (!value_of(args[i])) return false;
    }
    const Py_ssize_t keywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t k = 0; k < keywords; ++k) {
      if (!text(PyTuple_GET_ITEM(kwnames, k), kKeyword) || !value_of(args[positional + size_t(k)])) return false;
    }
    return true;
  }
  std::string_view key() const { return {reinterpret_cast<const char*>(words), count * sizeof *words}; }
};

// Of composite values (framework/nest.py).
bool is_composite(PyObject* o) {
  static PyObject* name = PyUnicode_InternFromString("_is_composite");
  static PyObject* own_way = PyUnicode_InternFromString("__tf_flatten__");
  return _PyType_Lookup(Py_TYPE(o), name) == Py_True && !_PyType_Lookup(Py_TYPE(o), own_way) && !PyTuple_Check(o) && !PyList_Check(o);
}
PyObject* call_method(PyObject* o, const char* name, PyObject* argument) {
  nb::object method = nb::steal(must(PyObject_GetAttrString(o, name)));
  return must(call_python(PyObject_CallOneArg, method.ptr(), argument));
}

// The results of a trace as Python gets them.
struct Shape {
  enum Kind { kOne, kNothing, kTupleOf, kListOf, kDictOf, kComposite } kind = kOne;
  size_t index = 0;              // of the tensor
  std::vector<Shape> parts;
  std::vector<PyObject*> keys;   // of a dict, in its order, or the type spec of a composite value; held with the cache's owner

  ~Shape() {
    for (PyObject* k : keys) Py_DECREF(k);
  }
  Shape() = default;
  Shape(Shape&& o) noexcept : kind(o.kind), index(o.index), parts(std::move(o.parts)), keys(std::exchange(o.keys, {})) {}
  Shape& operator=(Shape&& o) noexcept {
    std::swap(keys, o.keys);
    kind = o.kind;
    index = o.index;
    parts = std::move(o.parts);
    return *this;
  }

  // False for what only Python puts together. Tensors are in the order of nest.flatten: dicts by key.
  bool read(PyObject* o, size_t& next) {
    if (is_tensor(o)) {
      index = next++;
      return true;
    }
    if (o == Py_None) {
      kind = kNothing;
      return true;
    }
    if (PyTuple_CheckExact(o) || PyList_CheckExact(o)) {
      kind = PyTuple_CheckExact(o) ? kTupleOf : kListOf;
      parts.resize(size_t(PySequence_Fast_GET_SIZE(o)));
      for (size_t i = 0; i < parts.size(); ++i) {
        if (!parts[i].read(PySequence_Fast_GET_ITEM(o, Py_ssize_t(i)), next)) return false;
      }
      return true;
    }
    if (is_composite(o)) return read_composite(o, next);
    if (!PyDict_CheckExact(o)) return false;
    kind = kDictOf;
    parts.resize(size_t(PyDict_GET_SIZE(o)));
    nb::object order = nb::steal(PyDict_Keys(o));
    if (!order.is_valid() || PyList_Sort(order.ptr()) != 0) {
      forget_error();
      return false;
    }
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(o, &at, &key, &value);) keys.push_back(Py_NewRef(key));
    for (size_t i = 0; i < parts.size(); ++i) {
      PyObject* k = PyList_GET_ITEM(order.ptr(), Py_ssize_t(i));
      size_t at = 0;
      while (at < keys.size() && keys[at] != k) ++at;
      if (at == keys.size() || !parts[at].read(PyDict_GetItem(o, k), next)) return false;
    }
    return true;
  }
  bool read_composite(PyObject* o, size_t& next) {
    try {
      nb::object spec = nb::steal(must(PyObject_GetAttrString(o, "_type_spec")));
      nb::object components = nb::steal(call_method(spec.ptr(), "_to_components", o));
      kind = kComposite;
      keys.push_back(spec.release().ptr());
      return parts.emplace_back().read(components.ptr(), next);
    } catch (nb::python_error&) {
      return false;  // Python says what is wrong with it
    }
  }
  template <class Make>
  PyObject* build(Make& make) const {
    switch (kind) {
      case kOne: return make(index);
      case kNothing: Py_RETURN_NONE;
      case kTupleOf: {
        nb::object t = nb::steal(must(PyTuple_New(Py_ssize_t(parts.size()))));
        for (size_t i = 0; i < parts.size(); ++i) PyTuple_SET_ITEM(t.ptr(), Py_ssize_t(i), parts[i].build(make));
        return t.release().ptr();
      }
      case kListOf: {
        nb::object l = nb::steal(must(PyList_New(Py_ssize_t(parts.size()))));
        for (size_t i = 0; i < parts.size(); ++i) PyList_SET_ITEM(l.ptr(), Py_ssize_t(i), parts[i].build(make));
        return l.release().ptr();
      }
      case kComposite: {
        nb::object components = nb::steal(parts[0].build(make));
        return call_method(keys[0], "_from_components", components.ptr());
      }
      case kDictOf: break;
    }
    nb::object d = nb::steal(must(PyDict_New()));
    for (size_t i = 0; i < parts.size(); ++i) {
      nb::object v = nb::steal(parts[i].build(make));
      if (PyDict_SetItem(d.ptr(), keys[i], v.ptr()) != 0) raise_current();
    }
    return d.release().ptr();
  }
};

bool refers_to(PyObject* reference, PyObject* object) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* at = nullptr;
  PyWeakref_GetRef(reference, &at);
  Py_XDECREF(at);
  return at == object;
#else
  return PyWeakref_GetObject(reference) == object;
#endif
}

struct Entry : trace::PolymorphicFunction::Binding {
  std::vector<uint16_t> order;  // of the call's tensors; empty: as they are
  Shape shape;
  PyObject* builder = nullptr;  // borrowed, of a concrete function that the owner keeps: puts results together that `shape` cannot
  std::vector<nb::object> objects;  // weak references to the objects in the key

  bool alive(const Reader& r) const {
    for (size_t i = 0; i < objects.size(); ++i) {
      if (!refers_to(objects[i].ptr(), r.objects[i])) return false;
    }
    return true;
  }
};

// What an object comes to may depend on its state: such ones are Python's to look at, each time.
bool by_identity(PyObject* o) {
  if (has_fixed_tensors(o)) return true;
  for (const char* name : {"__tf_tracing_type__", "__attrs_attrs__", "_type_spec"}) {
    if (PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(o)), name)) return false;
  }
  return true;
}

// Counted: Python code, or another thread, may empty the cache while the function runs.
std::shared_ptr<const Entry> find(trace::PolymorphicFunction& cache, const Reader& r) {
  return std::static_pointer_cast<const Entry>(cache.find(r.key(), [&](const auto& b) { return static_cast<const Entry&>(b).alive(r); }));
}

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  trace::PolymorphicFunction* cache;
  // The last object whose method this was asked for, weakly, and the function of that object, which `_bind` keeps as long as the object lives.
  PyObject *owner, *bound;
};
FunctionObject& cell(PyObject* o) { return *reinterpret_cast<FunctionObject*>(o); }

// The results, with no tape to hear of them: straight from the plan.
PyObject* run_plain(ConcreteFunction& f, const Shape& shape, PyObject* builder, PyObject* const* tensors, size_t n,
                    const std::vector<uint16_t>& order) {
  const size_t captures = f.captures().size();
  core::SmallArray<Tensor, 16> args(n + captures);
  core::SmallArray<Tensor, 8> rets(f.ret_types().size());
  for (size_t i = 0; i < n; ++i) {
    PyObject* o = tensors[order.empty() ? i : order[i]];
    args[i] = is_eager(o) ? handle_of(o)->tensor() : variable_state(o)->eager_handle()->tensor();
  }
  const Status s = run_released(true, [&] { return f.run(args, n, rets); });
  check(s);
  Device* host = f.context().host();
  auto make = [&](size_t i) { return wrap(eager::result_handle(std::move(rets[i]), host)); };
  if (!builder) return shape.build(make);
  nb::list flat;
  for (size_t i = 0; i < rets.size(); ++i) flat.append(nb::steal(make(i)));
  return must(call_python(PyObject_CallOneArg, builder, flat.ptr()));
}

PyObject* run_entry(const Entry& e, const Reader& r) {
  const std::shared_ptr<ConcreteFunction>& keep = e.function;
  const nb::object builder = e.builder ? nb::borrow(e.builder) : nb::object();  // its owner may forget it meanwhile
  if (!trace::TapeStack::current().recording()) return run_plain(*keep, e.shape, e.builder, r.tensors, r.num_tensors, e.order);
  std::vector<Value> args;
  args.reserve(r.num_tensors);
  for (size_t i = 0; i < r.num_tensors; ++i) {
    PyObject* o = r.tensors[e.order.empty() ? i : e.order[i]];
    if (is_variable(o)) {
      check(variable_state(o)->accessed());
      args.push_back(variable_handle(o));
    } else {
      args.push_back(value_of(o));
    }
  }
  Result<std::vector<Value>> out = std::vector<Value>();
  (void)run_released(true, [&] {
    out = keep->call(args);
    return Status();
  });
  check(out.status());
  auto make = [&](size_t i) { return wrap((*out)[i]); };
  if (!e.builder) return e.shape.build(make);
  nb::list flat = wrap_all(*out);
  return must(call_python(PyObject_CallOneArg, e.builder, flat.ptr()));
}

PyObject* function_call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    stop_if_ending();
    const size_t positional = size_t(PyVectorcall_NARGS(nargsf));
    trace::PolymorphicFunction& cache = *cell(self).cache;
    if (!FuncGraph::current() && !trace::functions_run_eagerly.load(std::memory_order_relaxed) && !cache.empty() && api::scoped_device().empty() &&
        !eager::layout_runner.load(std::memory_order_relaxed) && !api::context().remote_tasks) {
      Reader r;
      if (r.call(args, positional, kwnames)) {
        if (const auto e = find(cache, r)) return run_entry(*e, r);
      }
    }
    static PyObject* slow = PyUnicode_InternFromString("_call_slow");
    nb::object method = nb::steal(must(PyObject_GetAttr(self, slow)));
    return must(call_python(PyObject_Vectorcall, method.ptr(), args, positional, kwnames));
  });
}

// As an attribute of a class: the function of the instance.
PyObject* function_get(PyObject* self, PyObject* instance, PyObject*) {
  return guarded([&]() -> PyObject* {
    if (!instance || instance == Py_None) return Py_NewRef(self);
    FunctionObject& f = cell(self);
    if (f.owner && refers_to(f.owner, instance)) return Py_NewRef(f.bound);
    static PyObject* bind = PyUnicode_InternFromString("_bind");
    nb::object made = nb::steal(must(call_python(PyObject_CallMethodOneArg, self, bind, instance)));
    PyObject* ref = PyType_SUPPORTS_WEAKREFS(Py_TYPE(instance)) ? PyWeakref_NewRef(instance, nullptr) : nullptr;
    if (!ref) forget_error();
    Py_XSETREF(f.owner, ref);
    f.bound = made.ptr();
    return made.release().ptr();
  });
}

// (args, kwargs, native concrete function, its structure, its builder, parameter of each argument, the tensors that the call comes to): true
// where calls like this one are answered here from now on.
PyObject* remember(PyObject* self, PyObject* given) {
  return guarded([&]() -> PyObject* {
    PyObject *args, *kwargs, *function, *structure, *builder, *parameters, *expected;
    if (!PyArg_ParseTuple(given, "O!O!OOOO!O!", &PyTuple_Type, &args, &PyDict_Type, &kwargs, &function, &structure, &builder, &PyList_Type,
                          &parameters, &PyList_Type, &expected))
      return nullptr;
    trace::PolymorphicFunction& cache = *cell(self).cache;
    Reader r;
    std::vector<std::pair<long, uint16_t>> from;  // (parameter, tensor)
    Py_ssize_t at = 0;
    auto one = [&](PyObject* value) {
      const size_t before = r.num_tensors;
      if (!r.value_of(value)) return false;
      const long parameter = PyLong_AsLong(PyList_GET_ITEM(parameters, at++));
      for (size_t i = before; i < r.num_tensors; ++i) from.emplace_back(parameter, uint16_t(i));
      return true;
    };
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
      if (!one(PyTuple_GET_ITEM(args, i))) Py_RETURN_FALSE;
    }
    PyObject *key, *value;
    for (Py_ssize_t p = 0; PyDict_Next(kwargs, &p, &key, &value);) {
      if (!r.text(key, kKeyword) || !one(value)) Py_RETURN_FALSE;
    }
    std::stable_sort(from.begin(), from.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    auto made = std::make_shared<Entry>();
    Entry& e = *made;
    bool in_order = true;
    if (from.size() != size_t(PyList_GET_SIZE(expected))) Py_RETURN_FALSE;
    for (size_t i = 0; i < from.size(); ++i) {
      if (!r.same(from[i].second, PyList_GET_ITEM(expected, Py_ssize_t(i)))) Py_RETURN_FALSE;
      in_order &= from[i].second == i;
      e.order.push_back(from[i].second);
    }
    if (in_order) e.order.clear();
    e.function = nb::cast<std::shared_ptr<ConcreteFunction>>(nb::handle(function));
    if (size_t(e.function->num_arguments()) != from.size()) Py_RETURN_FALSE;
    for (const Value& c : e.function->captures()) {
      if (!trace::eager_handle(c)) Py_RETURN_FALSE;  // of a trace around it
    }
    size_t next = 0;
    if (!e.shape.read(structure, next) || next != e.function->ret_types().size()) e.builder = builder;
    for (size_t i = 0; i < r.num_objects; ++i) {
      if (!by_identity(r.objects[i])) Py_RETURN_FALSE;
      e.objects.push_back(nb::steal(must(PyWeakref_NewRef(r.objects[i], nullptr))));
    }
    if (!cache.contains(r.key(), [&](const auto& b) { return static_cast<const Entry&>(b).alive(r); }))
      cache.bind(std::string(r.key()), std::move(made));
    Py_RETURN_TRUE;
  });
}

PyObject* forget(PyObject* self, PyObject*) {
  cell(self).cache->forget_keys();
  Py_RETURN_NONE;
}
PyObject* take_calls(PyObject* self, PyObject*) { return PyLong_FromLongLong(cell(self).cache->take_calls()); }

PyObject* function_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  if (!o) return nullptr;
  cell(o).vectorcall = function_call;
  cell(o).cache = new trace::PolymorphicFunction;
  cell(o).owner = cell(o).bound = nullptr;
  return o;
}
void function_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete cell(self).cache;
  Py_XDECREF(cell(self).owner);
  type->tp_free(self);
}

PyMethodDef methods[] = {
    {"_remember", remember, METH_VARARGS, "Calls like this one are answered without Python from now on."},
    {"_forget", forget, METH_NOARGS, nullptr},
    {"_take_calls", take_calls, METH_NOARGS, "How many calls were answered without Python since this was asked last."},
    {},
};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {},
};

}  // namespace

void bind_function_cache(nb::module_& m) {
  PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void*>(function_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(function_dealloc)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_descr_get, reinterpret_cast<void*>(function_get)},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {Py_tp_doc, const_cast<char*>("A function with traces; calls of known signatures do not need Python.")},
      {0, nullptr},
  };
  PyType_Spec spec{"weft._weft.FunctionBase", sizeof(FunctionObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL,
                   slots};
  m.attr("FunctionBase") = nb::steal(must(PyType_FromSpec(&spec)));
  // Python's classes do not inherit the quick way to be called before 3.12.
  m.def("call_quickly", [](nb::handle type) {
    auto* t = reinterpret_cast<PyTypeObject*>(type.ptr());
    t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    PyType_Modified(t);
    return nb::borrow(type);
  });
  m.def("set_run_functions_eagerly", [](bool on) { trace::functions_run_eagerly.store(on); });
  m.def("functions_run_eagerly", [] { return trace::functions_run_eagerly.load(); });
  m.def(
      "tape_access",
      [](nb::handle handle) {
        const Value h = value_of(handle);
        for (trace::Tape* t : trace::TapeStack::current().tapes()) t->access(h, nullptr);
      },
      "A variable that is an argument of the trace is used: tapes that watch variables by themselves hear of it.");
}

}  // namespace weft_engine::python
