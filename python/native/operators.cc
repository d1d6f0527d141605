#include "operators.h"

#include <array>

#include "bridge.h"
#include "call.h"
#include "engine/engine.h"
#include "op/op_traits.h"

namespace weft_engine::python {
namespace {

using op::Symbol;
// kNone: always Python's.
constexpr Symbol kSymbols[kNumOperators] = {Symbol::kPlus,    Symbol::kMinus,       Symbol::kTimes,     Symbol::kDivide, Symbol::kFloorDivide,
                                            Symbol::kModulo,  Symbol::kPower,       Symbol::kMatMul,    Symbol::kNone,   Symbol::kNone,
                                            Symbol::kNone,    Symbol::kLess,        Symbol::kLessEqual, Symbol::kEqual,  Symbol::kNotEqual,
                                            Symbol::kGreater, Symbol::kGreaterEqual};

bool plain_number(DType t) {
  return t == DType::kFloat || t == DType::kDouble || t == DType::kInt32 || t == DType::kInt64 || t == DType::kHalf || t == DType::kBfloat16;
}

// The types for which the op of the table is what the operator means; others take the way through Python.
bool takes(Operator o, DType t) {
  if (!plain_number(t)) return false;
  if (o == kTrueDiv) return t != DType::kInt32 && t != DType::kInt64;
  return true;
}

// A Python number as a scalar of that type; null where Python must decide.
RefPtr<eager::TensorHandle> scalar(PyObject* number, DType t) {
  const bool whole = PyLong_CheckExact(number);
  if (!whole && !PyFloat_CheckExact(number)) return nullptr;
  double d = 0;
  int64_t i = 0;
  if (whole) {
    int overflow = 0;
    i = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow) return nullptr;
    d = double(i);
  } else {
    d = PyFloat_AS_DOUBLE(number);
  }
  switch (t) {
    case DType::kFloat: return eager::TensorHandle::make(Tensor::scalar<float>(float(d)), nullptr);
    case DType::kDouble: return eager::TensorHandle::make(Tensor::scalar<double>(d), nullptr);
    case DType::kInt32:
      if (!whole || i != int32_t(i)) return nullptr;
      return eager::TensorHandle::make(Tensor::scalar<int32_t>(int32_t(i)), nullptr);
    case DType::kInt64:
      if (!whole) return nullptr;
      return eager::TensorHandle::make(Tensor::scalar<int64_t>(i), nullptr);
    default: return nullptr;
  }
}

const OpSpec& spec_of(Operator o) {
  static const auto specs = [] {
    std::array<const OpSpec*, kNumOperators> found{};
    for (int i = 0; i < kNumOperators; ++i) found[size_t(i)] = engine::Engine::get().registry().find(op_of(kSymbols[i]));
    return found;
  }();
  return *specs[size_t(o)];
}

// Null: not taken here, and nothing happened.
PyObject* fast(Operator o, PyObject* a, PyObject* b) {
  if (trace::FuncGraph::current() || ops_are_watched()) return nullptr;
  const bool ea = is_eager(a), eb = is_eager(b);
  if (!ea && !eb) return nullptr;
  const DType t = rep_of(ea ? a : b)->dtype();
  if (!takes(o, t)) return nullptr;
  RefPtr<eager::TensorHandle> x, y;
  if (ea) x = RefPtr<eager::TensorHandle>::share(handle_of(a));
  else if (!(x = scalar(a, t))) return nullptr;
  if (eb) y = RefPtr<eager::TensorHandle>::share(handle_of(b));
  else if (!(y = scalar(b, t))) return nullptr;
  if (ea && eb && y->dtype() != t) return nullptr;
  if (!x->ready() || !y->ready()) return nullptr;
  const Shape &sx = x->tensor().shape(), &sy = y->tensor().shape();
  if (o == kMatMul && (sx.rank() != 2 || sy.rank() != 2)) return nullptr;
  if ((o == kEqual || o == kNotEqual) && sx != sy && sx.rank() && sy.rank()) return nullptr;
  const bool large = sx.num_elements() + sy.num_elements() > kLongElements;
  trace::OpCall call(api::context());
  check(call.reset(spec_of(o), api::scoped_device()));
  call.add_input(std::move(x));
  call.add_input(std::move(y));
  return run_one(call, large);
}

template <int kOp>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    // A variable stands for its value.
    nb::object x, y;
    if (!is_eager(a) && is_variable(a)) x = nb::steal(wrap(read_variable(a)));
    // In a graph the second is read for the op, in its scope.
    const bool later = trace::FuncGraph::current() && (x.is_valid() || is_tensor(a));
    if (!later && !is_eager(b) && is_variable(b)) y = b == a ? x : nb::steal(wrap(read_variable(b)));
    if (x.is_valid()) a = x.ptr();
    if (y.is_valid()) b = y.ptr();
    if (kSymbols[kOp] != Symbol::kNone) {
      if (PyObject* r = fast(Operator(kOp), a, b)) return r;
    }
    return call_python(PyObject_CallFunctionObjArgs, hooks().binary[kOp], a, b, nullptr);
  });
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary<kPow>(a, b);
}

PyObject* compare(PyObject* a, PyObject* b, int how) {
  switch (how) {
    case Py_LT: return binary<kLess>(a, b);
    case Py_LE: return binary<kLessEqual>(a, b);
    case Py_EQ: return binary<kEqual>(a, b);
    case Py_NE: return binary<kNotEqual>(a, b);
    case Py_GT: return binary<kGreater>(a, b);
    default: return binary<kGreaterEqual>(a, b);
  }
}

}  // namespace

PyObject* matrix_product(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (trace::FuncGraph::current()) Py_RETURN_NOTIMPLEMENTED;
    const auto fits = [](PyObject* o, int inner, int64_t& size, DType& t) {
      if (!is_eager(o)) return false;
      const eager::TensorHandle* h = handle_of(o);
      if (!h->ready() || h->tensor().shape().rank() != 2) return false;
      size = h->tensor().shape().dim(inner);
      t = h->dtype();
      return takes(kMatMul, t);
    };
    nb::object x, y;
    if (!is_eager(a) && is_variable(a)) x = nb::steal(wrap(read_variable(a)));
    if (!is_eager(b) && is_variable(b)) y = nb::steal(wrap(read_variable(b)));
    if (x.is_valid()) a = x.ptr();
    if (y.is_valid()) b = y.ptr();
    int64_t m = 0, n = 0;
    DType t = DType::kInvalid, u = DType::kInvalid;
    if (fits(a, 1, m, t) && fits(b, 0, n, u) && m == n && t == u) {
      if (PyObject* r = fast(kMatMul, a, b)) return r;
    }
    Py_RETURN_NOTIMPLEMENTED;
  });
}

std::vector<PyType_Slot> operator_slots() {
  auto slot = [](int id, auto* f) { return PyType_Slot{id, reinterpret_cast<void*>(f)}; };
  return {slot(Py_nb_add, binary<kAdd>),
          slot(Py_nb_subtract, binary<kSub>),
          slot(Py_nb_multiply, binary<kMul>),
          slot(Py_nb_true_divide, binary<kTrueDiv>),
          slot(Py_nb_floor_divide, binary<kFloorDiv>),
          slot(Py_nb_remainder, binary<kMod>),
          slot(Py_nb_power, power),
          slot(Py_nb_matrix_multiply, binary<kMatMul>),
          slot(Py_nb_and, binary<kAnd>),
          slot(Py_nb_or, binary<kOr>),
          slot(Py_nb_xor, binary<kXor>),
          slot(Py_tp_richcompare, compare),
          slot(Py_tp_hash, PyObject_HashNotImplemented)};
}

}  // namespace weft_engine::python
