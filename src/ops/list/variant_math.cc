#include "ops/list/variant_math.h"

#include "core/own_memory.h"
#include "op/csr_matrix.h"
#include "op/dispatch.h"
#include "op/optional.h"
#include "op/tensor_list.h"
#include "op/tensor_map.h"
#include "ops/sparse/sparse_matrix.h"
#include "ops/list/tensor_list_util.h"

namespace weft_engine::ops {
namespace {

Result<Variant> zeros_like(const Variant& v);
Result<Variant> add(const Variant& a, const Variant& b);

Result<Tensor> zeros_like(const Tensor& t) {
  if (!t.valid()) return t;
  if (t.dtype() == DType::kVariant) {
    WEFT_ASSIGN(Tensor out, Tensor::allocate(t.dtype(), t.shape()));
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      WEFT_ASSIGN(out.data<Variant>()[i], zeros_like(t.data<Variant>()[i]));
    }
    return out;
  }
  if (!is_simple(t.dtype())) return invalid_argument("Trying to compute zeros_like for unsupported dtype ", dtype_name(t.dtype()));
  return Tensor::zeros(t.dtype(), t.shape());
}

template <class T>
void add_into(Tensor& to, const Tensor& from) {
  T* a = to.data<T>();
  const T* b = from.data<T>();
  for (int64_t i = 0; i < to.num_elements(); ++i) {
    if constexpr (std::is_integral_v<T>) a[i] = T(std::make_unsigned_t<T>(a[i]) + std::make_unsigned_t<T>(b[i]));
    else a[i] = T(a[i] + b[i]);
  }
}

Result<Tensor> add(const Tensor& a, const Tensor& b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  if (a.dtype() != b.dtype())
    return invalid_argument("Trying to add two tensors with incompatible element types. One is ", dtype_name(a.dtype()), " and the other is ",
                            dtype_name(b.dtype()));
  if (a.shape() != b.shape())
    return invalid_argument("Trying to add two tensors with incompatible element shapes. One is ", a.shape(), " and the other is ", b.shape());
  WEFT_ASSIGN(Tensor out, a.copy());
  if (a.dtype() == DType::kVariant) {
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      WEFT_ASSIGN(out.data<Variant>()[i], add(a.data<Variant>()[i], b.data<Variant>()[i]));
    }
    return out;
  }
  WEFT_RETURN_IF_ERROR((dispatch<WEFT_NUMBERS>(a.dtype(), [&]<class T>(Tag<T>) {
    add_into<T>(out, b);
    return Status();
  })));
  return out;
}

Result<Variant> add_lists(const TensorList& a, const TensorList& b) {
  if (a.element_dtype != b.element_dtype)
    return invalid_argument("Trying to add two lists of tensors of different dtypes. One is ", dtype_name(a.element_dtype), " and the other is ",
                            dtype_name(b.element_dtype));
  if (!a.element_shape.compatible_with(b.element_shape))
    return invalid_argument("Trying to add two lists of tensors with incompatible element shapes. One is ", a.element_shape, " and the other is ",
                            b.element_shape);
  if (a.tensors.size() != b.tensors.size())
    return invalid_argument("Trying to add two lists of tensors with different lengths. One is ", a.tensors.size(), " and the other is ",
                            b.tensors.size());
  auto out = std::make_shared<TensorList>(a);
  WEFT_ASSIGN(out->element_shape, merge_shapes(a.element_shape, b.element_shape));
  for (size_t i = 0; i < out->tensors.size(); ++i) {
    WEFT_ASSIGN(out->tensors[i], add(a.tensors[i], b.tensors[i]));
  }
  return Variant(std::move(out));
}

Result<Variant> add_optionals(const Optional& a, const Optional& b) {
  if (a.has_value != b.has_value) return invalid_argument("Cannot add optionals because one has a value and the other doesn't.");
  auto out = std::make_shared<Optional>(a);
  if (a.values.size() != b.values.size()) return invalid_argument("Cannot add optionals because they have different numbers of components.");
  for (size_t i = 0; i < a.values.size(); ++i) {
    WEFT_ASSIGN(const Tensor x, core::to_host(a.values[i]));
    WEFT_ASSIGN(const Tensor y, core::to_host(b.values[i]));
    WEFT_ASSIGN(out->values[i], add(x, y));
  }
  return Variant(std::move(out));
}

// Keys of both; values of common ones are added.
Result<Variant> add_maps(const TensorMap& a, const TensorMap& b) {
  auto out = std::make_shared<TensorMap>(a);
  for (const auto& [bytes, item] : b.items) {
    auto [it, inserted] = out->items.emplace(bytes, item);
    if (inserted) continue;
    WEFT_ASSIGN(it->second.second, add(it->second.second, item.second));
  }
  return Variant(std::move(out));
}

Result<Variant> add_matrices(const CsrMatrix& a, const CsrMatrix& b) {
  if (a.dtype() != b.dtype()) return invalid_argument("Trying to add two sparse matrices of different dtypes: ", a.dtype(), " and ", b.dtype());
  Tensor one;
  WEFT_RETURN_IF_ERROR((dispatch<float, double, complex64, complex128>(a.dtype(), [&]<class T>(Tag<T>) {
    one = Tensor::scalar(T(1));
    return Status();
  })));
  WEFT_ASSIGN(std::shared_ptr<CsrMatrix> sum, csr_sum(a, one, b, one));
  return Variant(std::move(sum));
}

// The matrix without entries.
Result<Variant> zeros_like(const CsrMatrix& m) {
  auto out = std::make_shared<CsrMatrix>();
  out->shape = m.shape;
  WEFT_ASSIGN(out->batch_pointers, Tensor::zeros(DType::kInt32, m.batch_pointers.shape()));
  WEFT_ASSIGN(out->row_pointers, Tensor::zeros(DType::kInt32, m.row_pointers.shape()));
  WEFT_ASSIGN(out->columns, Tensor::zeros(DType::kInt32, Shape({0})));
  WEFT_ASSIGN(out->values, Tensor::zeros(m.dtype(), Shape({0})));
  return Variant(std::move(out));
}

Result<Variant> add(const Variant& a, const Variant& b) {
  if (const auto *x = a.get<CsrMatrix>(), *y = b.get<CsrMatrix>(); x && y) return add_matrices(*x, *y);
  if (const auto *x = a.get<TensorList>(), *y = b.get<TensorList>(); x && y) return add_lists(*x, *y);
  if (const auto *x = a.get<Optional>(), *y = b.get<Optional>(); x && y) return add_optionals(*x, *y);
  if (const auto *x = a.get<TensorMap>(), *y = b.get<TensorMap>(); x && y) return add_maps(*x, *y);
  return unimplemented("No binary variant binary_op function found for op ADD, variant types ", a.type_name(), " and ", b.type_name());
}

Result<Variant> zeros_like(const Variant& v) {
  if (const auto* m = v.get<CsrMatrix>()) return zeros_like(*m);
  if (const auto* list = v.get<TensorList>()) {
    auto out = std::make_shared<TensorList>(*list);
    for (Tensor& t : out->tensors) {
      WEFT_ASSIGN(Tensor zeros, zeros_like(t));
      t = std::move(zeros);
    }
    return Variant(std::move(out));
  }
  if (const auto* o = v.get<Optional>()) {
    auto out = std::make_shared<Optional>(*o);
    for (Tensor& t : out->values) {
      WEFT_ASSIGN(Tensor zeros, zeros_like(t));
      t = std::move(zeros);
    }
    return Variant(std::move(out));
  }
  if (v.get<TensorMap>()) return Variant(std::make_shared<TensorMap>());  // TensorFlow's zero of a map is the empty one
  return unimplemented("No unary variant unary_op function found for op ZEROS_LIKE, variant type_name: ", v.type_name());
}

}  // namespace

Status run_add_variants(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).rank() != 0)
      return invalid_argument("AddN of non-scalar Tensor with dtype=DT_VARIANT is not supported; inputs[", i, " has shape: ", c.input(i).shape(),
                              ".");
  }
  Variant total = c.input(0).data<Variant>()[0];
  for (int i = 1; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(total, add(total, c.input(i).data<Variant>()[0]));
  }
  c.set_output(0, Tensor::scalar(std::move(total)));
  return {};
}

Status run_zeros_like_variant(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.rank() != 0) return invalid_argument("ZerosLike non-scalar Tensor with dtype=DT_VARIANT is not supported.");
  WEFT_ASSIGN(Variant zeros, zeros_like(in.data<Variant>()[0]));
  c.set_output(0, Tensor::scalar(std::move(zeros)));
  return {};
}

}  // namespace weft_engine::ops
