// Python objects as tensors: numbers, text, nested sequences and whatever has the buffer protocol (numpy), with TensorFlow's rules for types.
#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>

#include "bridge.h"
#include "call.h"
#include "core/copy_by_parts.h"

namespace weft_engine::python {
namespace {

enum class Kind { kNone, kBool, kInt, kFloat, kComplex, kText, kOther };

Kind kind_of(PyObject* o) {
  if (PyBool_Check(o)) return Kind::kBool;
  if (PyLong_CheckExact(o)) return Kind::kInt;
  if (PyFloat_CheckExact(o)) return Kind::kFloat;
  if (PyUnicode_Check(o) || PyBytes_Check(o)) return Kind::kText;
  if (PyComplex_CheckExact(o)) return Kind::kComplex;
  if (PyLong_Check(o)) return Kind::kInt;  // enums and the like
  return Kind::kOther;
}

bool is_array(PyObject* o) { return PyObject_CheckBuffer(o) && !PyBytes_Check(o) && !PyByteArray_Check(o); }

[[noreturn]] void fail(PyObject* type, const std::string& text) {
  PyErr_SetString(type, text.c_str());
  raise_current();
}

// ---- nested sequences ----------------------------------------------------------------------------------

// What a nested sequence holds, found in one walk.
struct Walked {
  std::vector<int64_t> dims;
  Kind kind = Kind::kNone;
  bool wide = false;      // a whole number beyond 32 bits
  bool foreign = false;   // something that is no plain Python value: the package must look
  std::vector<PyObject*> leaves;
};

// The first element tells the kind; it takes what Python's own conversions take.
Kind together(Kind a, Kind b) {
  if (a == Kind::kNone || a == b) return b;
  const bool number = b == Kind::kBool || b == Kind::kInt || b == Kind::kFloat;
  if (a == Kind::kInt && number) return b == Kind::kFloat ? b : a;
  if ((a == Kind::kFloat || a == Kind::kComplex) && number) return a;
  fail(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
}

void walk(PyObject* o, size_t depth, Walked& w, bool first) {
  if (PyList_Check(o) || PyTuple_Check(o)) {
    if (depth > 254) fail(PyExc_ValueError, "the nesting of a Python sequence is deeper than a tensor can be");
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (depth == w.dims.size()) {
      if (!first || !w.leaves.empty())
        fail(PyExc_ValueError,
             cat("Can't convert ", w.leaves.empty() ? "non-rectangular Python sequence" : "Python sequence with mixed types", " to Tensor."));
      w.dims.push_back(n);
    } else if (w.dims[depth] != n) {
      fail(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor.");
    }
    for (Py_ssize_t i = 0; i < n && !w.foreign; ++i) walk(PySequence_Fast_GET_ITEM(o, i), depth + 1, w, first && i == 0);
    return;
  }
  const Kind k = kind_of(o);
  if (k == Kind::kOther) {
    if (o == Py_None && !w.leaves.empty()) fail(PyExc_ValueError, "Can't convert Python sequence with mixed types to Tensor.");
    w.foreign = true;
    return;
  }
  if (depth != w.dims.size()) fail(PyExc_ValueError, "Can't convert non-rectangular Python sequence to Tensor.");
  w.kind = together(w.kind, k);
  w.leaves.push_back(o);
}

bool wide(PyObject* o) {
  int overflow = 0;
  const int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
  return overflow != 0 || v != int32_t(v);
}

thread_local PyObject* t_whole = nullptr;  // the sequence that is being converted, for errors

[[noreturn]] void cannot_convert(PyObject* o, DType t) {
  nb::object text = nb::steal(PyObject_Repr(t_whole ? t_whole : o));
  fail(PyExc_TypeError,
       cat("Cannot convert ", text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : "a value", " to EagerTensor of dtype ", dtype_name(t)));
}

template <class T>
void store_whole(PyObject* o, DType t, T* out) {
  if (PyFloat_Check(o) || PyComplex_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o)) cannot_convert(o, t);
  int overflow = 0;
  const int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow) {
    if (t == DType::kUint64) {
      const uint64_t u = PyLong_AsUnsignedLongLong(o);
      if (!PyErr_Occurred()) {
        *out = T(u);
        return;
      }
      forget_error();
    }
    fail(PyExc_ValueError, "Can't convert Python sequence with out-of-range integer to Tensor.");
  }
  *out = T(v);
}

double real_of(PyObject* o, DType t) {
  if (PyFloat_Check(o)) return PyFloat_AS_DOUBLE(o);
  if (PyLong_Check(o)) {
    const double d = PyLong_AsDouble(o);
    if (d == -1.0 && PyErr_Occurred()) raise_current();
    return d;
  }
  cannot_convert(o, t);
}

void store(PyObject* o, DType t, Tensor& out, int64_t i) {
  switch (t) {
    case DType::kFloat: {
      const double d = real_of(o, t);
      if (std::isfinite(d) && std::isinf(float(d)))
        fail(PyExc_ValueError, "Can't convert Python sequence with a value out of range for a double-precision float.");
      out.data<float>()[i] = float(d);
      return;
    }
    case DType::kDouble: out.data<double>()[i] = real_of(o, t); return;
    case DType::kHalf: out.data<half>()[i] = half(float(real_of(o, t))); return;
    case DType::kBfloat16: out.data<bfloat16>()[i] = bfloat16(float(real_of(o, t))); return;
    case DType::kInt8:
    case DType::kQint8: store_whole(o, t, out.data<int8_t>() + i); return;
    case DType::kUint8:
    case DType::kQuint8: store_whole(o, t, out.data<uint8_t>() + i); return;
    case DType::kInt16:
    case DType::kQint16: store_whole(o, t, out.data<int16_t>() + i); return;
    case DType::kUint16:
    case DType::kQuint16: store_whole(o, t, out.data<uint16_t>() + i); return;
    case DType::kInt32:
    case DType::kQint32:
      if (!PyBool_Check(o) && PyLong_Check(o) && wide(o))
        fail(PyExc_ValueError, "Can't convert Python sequence with out-of-range integer to Tensor.");
      store_whole(o, t, out.data<int32_t>() + i);
      return;
    case DType::kUint32: store_whole(o, t, out.data<uint32_t>() + i); return;
    case DType::kInt64: store_whole(o, t, out.data<int64_t>() + i); return;
    case DType::kUint64: store_whole(o, t, out.data<uint64_t>() + i); return;
    case DType::kBool:
      if (!PyBool_Check(o)) cannot_convert(o, t);
      out.data<bool>()[i] = o == Py_True;
      return;
    case DType::kComplex64:
    case DType::kComplex128: {
      if (!PyComplex_Check(o) && !PyFloat_Check(o) && !PyLong_Check(o)) cannot_convert(o, t);
      const Py_complex c = PyComplex_AsCComplex(o);
      if (PyErr_Occurred()) raise_current();
      if (t == DType::kComplex64) out.data<complex64>()[i] = complex64(float(c.real), float(c.imag));
      else out.data<complex128>()[i] = complex128(c.real, c.imag);
      return;
    }
    case DType::kString: {
      const char* data = nullptr;
      Py_ssize_t n = 0;
      if (PyUnicode_Check(o)) {
        data = PyUnicode_AsUTF8AndSize(o, &n);
        if (!data) raise_current();
      } else if (PyBytes_Check(o)) {
        data = PyBytes_AS_STRING(o);
        n = PyBytes_GET_SIZE(o);
      } else {
        cannot_convert(o, t);
      }
      out.data<tstring>()[i] = std::string_view(data, size_t(n));
      return;
    }
    default: cannot_convert(o, t);
  }
}

bool stores(DType t) {
  switch (t) {
    case DType::kFloat:
    case DType::kDouble:
    case DType::kHalf:
    case DType::kBfloat16:
    case DType::kInt8:
    case DType::kQint8:
    case DType::kUint8:
    case DType::kQuint8:
    case DType::kInt16:
    case DType::kQint16:
    case DType::kUint16:
    case DType::kQuint16:
    case DType::kInt32:
    case DType::kQint32:
    case DType::kUint32:
    case DType::kInt64:
    case DType::kUint64:
    case DType::kBool:
    case DType::kComplex64:
    case DType::kComplex128:
    case DType::kString: return true;
    default: return false;
  }
}

DType natural(const Walked& w) {
  switch (w.kind) {
    case Kind::kBool: return DType::kBool;
    case Kind::kFloat: return DType::kFloat;
    case Kind::kComplex: return DType::kComplex128;
    case Kind::kText: return DType::kString;
    case Kind::kInt:
      for (PyObject* o : w.leaves) {
        if (wide(o)) return DType::kInt64;
      }
      return DType::kInt32;
    default: return DType::kFloat;  // nothing in it
  }
}

// ---- arrays --------------------------------------------------------------------------------------------

DType type_of_format(const char* f, Py_ssize_t size) {
  if (!f) return DType::kUint8;
  if (*f == '<' || *f == '=' || *f == '@') ++f;
  if (*f == '>' && size > 1) return DType::kInvalid;
  if (f[0] == 'Z') return f[1] == 'f' ? DType::kComplex64 : f[1] == 'd' ? DType::kComplex128 : DType::kInvalid;
  if (f[1]) return DType::kInvalid;
  switch (f[0]) {
    case '?': return DType::kBool;
    case 'e': return DType::kHalf;
    case 'f': return DType::kFloat;
    case 'd': return DType::kDouble;
    case 'b': return DType::kInt8;
    case 'B': return DType::kUint8;
    case 'h': return DType::kInt16;
    case 'H': return DType::kUint16;
    case 'i':
    case 'l':
    case 'q': return size == 4 ? DType::kInt32 : DType::kInt64;
    case 'I':
    case 'L':
    case 'Q': return size == 4 ? DType::kUint32 : DType::kUint64;
    default: return DType::kInvalid;
  }
}

// Copies: a tensor never changes, and the array is the user's.
bool from_array(PyObject* o, DType want, Tensor& out) {
  Py_buffer view;
  if (PyObject_GetBuffer(o, &view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
    forget_error();
    return false;
  }
  struct Release {
    Py_buffer* v;
    ~Release() { PyBuffer_Release(v); }
  } release{&view};
  const DType t = type_of_format(view.format, view.itemsize);
  if (t == DType::kInvalid || (want != DType::kInvalid && want != t)) return false;
  std::vector<int64_t> dims(view.shape, view.shape + view.ndim);
  out = unwrap(Tensor::allocate(t, unwrap(Shape::make(dims))));
  if (out.byte_size() != size_t(view.len)) return false;
  const bool big = view.len > (1 << 20);
  if (PyBuffer_IsContiguous(&view, 'C')) {
    Released released(big);
    core::copy_by_parts(used_context().pool(), out.raw(), view.buf, size_t(view.len));
    return true;
  }
  return PyBuffer_ToContiguous(out.raw(), &view, view.len, 'C') == 0 || (PyErr_Clear(), false);
}

}  // namespace

bool convert_native(PyObject* o, DType dtype, Tensor& out) {
  if (dtype != DType::kInvalid && !stores(dtype)) return false;
  const bool sequence = PyList_CheckExact(o) || PyTuple_CheckExact(o);
  if (!sequence && kind_of(o) == Kind::kOther) return is_array(o) && from_array(o, dtype, out);
  if (!sequence) {
    Walked w;
    walk(o, 0, w, true);
    out = unwrap(Tensor::allocate(dtype == DType::kInvalid ? natural(w) : dtype, Shape()));
    store(o, out.dtype(), out, 0);
    return true;
  }
  Walked w;
  walk(o, 0, w, true);
  if (w.foreign) return false;
  const DType t = dtype == DType::kInvalid ? natural(w) : dtype;
  out = unwrap(Tensor::allocate(t, unwrap(Shape::make(w.dims))));
  struct Whole {
    explicit Whole(PyObject* o) { t_whole = o; }
    ~Whole() { t_whole = nullptr; }
  } whole(o);
  for (size_t i = 0; i < w.leaves.size(); ++i) store(w.leaves[i], t, out, int64_t(i));
  return true;
}

PyObject* convert(PyObject* o, DType dtype, DType preferred, const char* name) {
  if (is_tensor(o) && (dtype == DType::kInvalid || rep_of(o)->dtype() == dtype)) return Py_NewRef(o);
  if (is_variable(o) && dtype != DType::kResource) {
    Value v = read_variable(o);
    if (dtype == DType::kInvalid || v.dtype() == dtype) return wrap(v);
  }
  if (is_variable(o) && dtype == DType::kResource) return wrap(variable_handle(o));
  if (!is_tensor(o) && !is_variable(o)) {
    Tensor t;
    bool made = false;
    // A preferred type is taken where it can be.
    const bool wish = dtype == DType::kInvalid && preferred != DType::kInvalid;
    if (wish) {
      try {
        made = convert_native(o, preferred, t);
      } catch (nb::python_error& e) {
        if (!e.matches(PyExc_TypeError) && !e.matches(PyExc_ValueError)) throw;
      }
    }
    // An array is cast to the preferred type by the package.
    if (made || (!(wish && kind_of(o) == Kind::kOther && is_array(o)) && convert_native(o, dtype, t))) {
      // What code that is traced has written into it has no device: graphs take that as a constant.
      return wrap(eager::TensorHandle::make(std::move(t), trace::FuncGraph::current() ? nullptr : used_context().host()));
    }
  }
  nb::object want = nb::borrow(dtype == DType::kInvalid ? Py_None : dtype_object(dtype));
  nb::object wish = nb::borrow(preferred == DType::kInvalid ? Py_None : dtype_object(preferred));
  nb::object called = name ? nb::object(nb::str(name)) : nb::none();
  PyObject* made = must(call_python(PyObject_CallFunctionObjArgs, hooks().convert, o, want.ptr(), wish.ptr(), called.ptr(), nullptr));
  if (!is_tensor(made)) {
    nb::object owned = nb::steal(made);
    PyErr_Format(PyExc_TypeError, "the conversion of %R to a tensor gave %R", o, made);
    raise_current();
  }
  if (trace::FuncGraph::current() && is_eager(made) && (PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyFloat_CheckExact(o)) &&
      handle_of(made)->ready()) {
    nb::object owned = nb::steal(made);
    return wrap(eager::TensorHandle::make(Tensor(handle_of(made)->tensor()), nullptr));
  }
  return made;
}

Value convert_to_value(PyObject* o, DType dtype, DType preferred, const char* name) {
  if (is_variable(o)) {
    if (dtype == DType::kResource) return variable_handle(o);
    Value v = read_variable(o);
    if (dtype == DType::kInvalid || v.dtype() == dtype) return v;
  }
  nb::object made = nb::steal(convert(o, dtype, preferred, name));
  return value_of(made.ptr());
}

// ---- attributes ----------------------------------------------------------------------------------------

namespace {

[[noreturn]] void unexpected(PyObject* o, const char* kind, std::string_view name) {
  forget_error();
  nb::object text = nb::steal(PyObject_Repr(o));
  fail(PyExc_TypeError, cat("Expected ", kind, " for argument '", name, "' not ", text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : "this", "."));
}
int64_t whole(PyObject* o, std::string_view name) {
  nb::object n = nb::steal(PyFloat_Check(o) ? PyNumber_Long(o) : PyNumber_Index(o));  // as int() does, TensorFlow drops what is behind the point
  if (!n.is_valid()) unexpected(o, "int", name);
  const int64_t v = PyLong_AsLongLong(n.ptr());
  if (v == -1 && PyErr_Occurred()) raise_current();
  return v;
}
float real(PyObject* o, std::string_view name) {
  const double v = PyFloat_AsDouble(o);
  if (v == -1.0 && PyErr_Occurred()) unexpected(o, "float", name);
  return float(v);
}
bool bool_value(PyObject* o) {
  const int v = PyObject_IsTrue(o);
  if (v < 0) raise_current();
  return v != 0;
}
std::string text(PyObject* o, std::string_view name) {
  if (PyBytes_Check(o)) return std::string(PyBytes_AS_STRING(o), size_t(PyBytes_GET_SIZE(o)));
  if (PyUnicode_Check(o)) {
    Py_ssize_t n = 0;
    const char* s = PyUnicode_AsUTF8AndSize(o, &n);
    if (!s) raise_current();
    return std::string(s, size_t(n));
  }
  unexpected(o, "string", name);
}
FunctionAttr function(PyObject* o) {
  nb::object name = nb::steal(must(call_python(PyObject_CallOneArg, hooks().function_name, o)));
  return FunctionAttr{nb::cast<std::string>(name), nullptr};
}
Tensor tensor(PyObject* o) {
  nb::object t = nb::steal(convert(o, DType::kInvalid, DType::kInvalid));
  return data_of(t.ptr());
}

template <class F>
auto listed(PyObject* o, std::string_view name, std::string_view op, F f) {
  std::vector<decltype(f(o))> out;
  if (!PyList_Check(o) && !PyTuple_Check(o)) {
    nb::object sequence = nb::steal(PySequence_List(o));
    if (!sequence.is_valid()) {
      forget_error();
      nb::object text = nb::steal(PyObject_Repr(o));
      fail(PyExc_TypeError, cat("Expected list for '", name, "' argument to '", snake_case(op), "' Op, not ",
                                text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : "this", "."));
    }
    for (nb::handle h : sequence) out.push_back(f(h.ptr()));
    return out;
  }
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) out.push_back(f(PySequence_Fast_GET_ITEM(o, i)));
  return out;
}

}  // namespace

AttrValue attr_of(PyObject* o, std::string_view type, std::string_view name, std::string_view op) {
  if (type == "int") return whole(o, name);
  if (type == "float") return real(o, name);
  if (type == "bool") return bool_value(o);
  if (type == "string") return text(o, name);
  if (type == "type") return dtype_of(o);
  if (type == "shape") return shape_of(o);
  if (type == "tensor") return tensor(o);
  if (type == "func") return function(o);
  if (type == "list(int)") return listed(o, name, op, [&](PyObject* x) { return whole(x, name); });
  if (type == "list(float)") return listed(o, name, op, [&](PyObject* x) { return real(x, name); });
  if (type == "list(bool)") return listed(o, name, op, [&](PyObject* x) { return bool_value(x); });
  if (type == "list(string)") return listed(o, name, op, [&](PyObject* x) { return text(x, name); });
  if (type == "list(type)") return listed(o, name, op, [&](PyObject* x) { return dtype_of(x); });
  if (type == "list(shape)") return listed(o, name, op, [&](PyObject* x) { return shape_of(x); });
  if (type == "list(tensor)") return listed(o, name, op, [&](PyObject* x) { return tensor(x); });
  if (type == "list(func)") return listed(o, name, op, [&](PyObject* x) { return function(x); });
  // One that the op does not declare ("_class"): by what it is.
  if (PyBool_Check(o)) return o == Py_True;
  if (PyLong_Check(o)) return whole(o, name);
  if (PyFloat_Check(o)) return real(o, name);
  if (PyUnicode_Check(o) || PyBytes_Check(o)) return text(o, name);
  if (is_tensor(o)) return tensor(o);
  if (PyList_Check(o) || PyTuple_Check(o)) {
    if (PySequence_Fast_GET_SIZE(o) == 0) return EmptyList{};
    PyObject* first = PySequence_Fast_GET_ITEM(o, 0);
    if (PyBool_Check(first)) return attr_of(o, "list(bool)", name, op);
    if (PyLong_Check(first)) return attr_of(o, "list(int)", name, op);
    if (PyFloat_Check(first)) return attr_of(o, "list(float)", name, op);
    if (PyUnicode_Check(first) || PyBytes_Check(first)) return attr_of(o, "list(string)", name, op);
    return attr_of(o, "list(type)", name, op);
  }
  return dtype_of(o);
}

nb::object attr_to_python(const AttrValue& v) {
  auto bytes = [](const std::string& s) { return nb::object(nb::bytes(s.data(), s.size())); };
  auto shape = [](const PartialShape& s) {
    return nb::steal(must(call_python(PyObject_CallOneArg, hooks().tensor_shape, nb::steal(shape_tuple(s)).ptr())));
  };
  auto tensor = [](const Tensor& t) { return nb::steal(wrap(eager::TensorHandle::make(t, nullptr))); };
  auto list = [](const auto& values, auto f) {
    nb::list out;
    for (const auto& x : values) out.append(f(x));
    return nb::object(out);
  };
  if (auto* p = v.get<int64_t>()) return nb::int_(*p);
  if (auto* p = v.get<float>()) return nb::float_(double(*p));
  if (auto* p = v.get<bool>()) return nb::bool_(*p);
  if (auto* p = v.get<std::string>()) return bytes(*p);
  if (auto* p = v.get<DType>()) return nb::borrow(dtype_object(*p));
  if (auto* p = v.get<PartialShape>()) return shape(*p);
  if (auto* p = v.get<Tensor>()) return tensor(*p);
  if (auto* p = v.get<FunctionAttr>()) return nb::str(p->name.c_str());
  if (auto* p = v.get<std::vector<int64_t>>()) return list(*p, [](int64_t x) { return nb::int_(x); });
  if (auto* p = v.get<std::vector<float>>()) return list(*p, [](float x) { return nb::float_(double(x)); });
  if (auto* p = v.get<std::vector<bool>>()) return list(*p, [](bool x) { return nb::bool_(x); });
  if (auto* p = v.get<std::vector<std::string>>()) return list(*p, bytes);
  if (auto* p = v.get<std::vector<DType>>()) return list(*p, [](DType x) { return nb::borrow(dtype_object(x)); });
  if (auto* p = v.get<std::vector<PartialShape>>()) return list(*p, shape);
  if (auto* p = v.get<std::vector<Tensor>>()) return list(*p, tensor);
  if (auto* p = v.get<std::vector<FunctionAttr>>()) return list(*p, [](const FunctionAttr& f) { return nb::str(f.name.c_str()); });
  if (v.get<EmptyList>()) return nb::list();
  return nb::none();
}

}  // namespace weft_engine::python
