#include "tests/compiler/arrays.h"

#include "core/float_types.h"
#include "tests/compiler/run_module.h"

namespace weft_engine::testing {

using namespace weft_engine::core;  // NOLINT

namespace {

template <class F>
void with_type(DType t, F f) {
  switch (t) {
    case DType::kFloat: return f(float());
    case DType::kDouble: return f(double());
    case DType::kHalf: return f(half());
    case DType::kBfloat16: return f(bfloat16());
    case DType::kInt8: return f(int8_t());
    case DType::kInt16: return f(int16_t());
    case DType::kInt32: return f(int32_t());
    case DType::kUint8: return f(uint8_t());
    case DType::kUint16: return f(uint16_t());
    case DType::kUint32: return f(uint32_t());
    case DType::kUint64: return f(uint64_t());
    case DType::kBool: return f(uint8_t());
    default: break;
  }
  return ir::is_float8(t) ? f(uint8_t()) : f(int64_t());
}

// Complex numbers: their parts side by side.
template <class T>
void take_parts(const Tensor& t, Array& a) {
  for (int64_t k = 0; k < t.num_elements(); ++k) {
    a.f.push_back(t.data<T>()[2 * k]);
    a.im.push_back(t.data<T>()[2 * k + 1]);
  }
}
template <class T>
void put_parts(const Array& a, Tensor& t) {
  for (size_t k = 0; k < a.size(); ++k) {
    t.data<T>()[2 * k] = T(a.f[k]);
    t.data<T>()[2 * k + 1] = T(a.im[k]);
  }
}

}  // namespace

Array to_array(const Tensor& t) {
  Array a;
  a.dtype = t.dtype();
  a.dims.assign(t.shape().dims().begin(), t.shape().dims().end());
  if (is_complex_type(t.dtype())) {
    t.dtype() == DType::kComplex64 ? take_parts<float>(t, a) : take_parts<double>(t, a);
    return a;
  }
  with_type(t.dtype(), [&](auto tag) {
    using T = decltype(tag);
    for (int64_t k = 0; k < t.num_elements(); ++k) {
      const T v = t.data<T>()[k];
      if constexpr (std::is_integral_v<T>) a.n.push_back(int64_t(v));
      else if constexpr (std::is_same_v<T, double>) a.f.push_back(v);
      else a.f.push_back(double(float(v)));
    }
  });
  return a;
}

Tensor to_tensor(const Array& a) {
  auto t = Tensor::allocate(a.dtype, Shape(a.dims));
  if (!t.ok()) return {};
  if (is_complex_type(a.dtype)) {
    a.dtype == DType::kComplex64 ? put_parts<float>(a, *t) : put_parts<double>(a, *t);
    return *t;
  }
  with_type(a.dtype, [&](auto tag) {
    using T = decltype(tag);
    for (size_t k = 0; k < a.size(); ++k) {
      if constexpr (std::is_integral_v<T>) t->data<T>()[k] = T(a.n[k]);
      else if constexpr (std::is_same_v<T, double>) t->data<T>()[k] = a.f[k];
      else t->data<T>()[k] = T(float(a.f[k]));
    }
  });
  return *t;
}

Result<std::vector<Tensor>> run(const ir::Module& m, const std::vector<Tensor>& parameters, const std::vector<int64_t>& symbols, bool compiled) {
  std::vector<Array> in;
  for (const Tensor& t : parameters) in.push_back(to_array(t));
  Interpreted out;
  if (compiled) {
    WEFT_ASSIGN(out, run_compiled(m, in, symbols));
  } else {
    out = interpret(m, in, symbols);
  }
  if (out.error) return Status(Code::kInvalidArgument, m.messages[size_t(out.error - 1)]);
  std::vector<Tensor> results;
  for (const Array& a : out.results) results.push_back(to_tensor(a));
  return results;
}

}  // namespace weft_engine::testing
