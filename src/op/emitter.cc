#include "op/emitter.h"

namespace weft_engine::op {

struct Value::Slices {
  Value values, indices, dense_shape;
};

Value Value::slices(Value values, Value indices, Value dense_shape) {
  Value v;
  if (!values.valid() || !indices.valid()) return v;
  v.emitter_ = values.emitter_;
  v.slices_ = std::make_shared<const Slices>(Slices{std::move(values), std::move(indices), std::move(dense_shape)});
  return v;
}

DType Value::dtype() const { return rep_ ? rep_->dtype() : slices_ ? slices_->values.dtype() : DType::kInvalid; }

PartialShape Value::shape() const {
  if (rep_) return rep_->shape();
  if (!slices_) return {};
  if (const Tensor* dims = slices_->dense_shape.constant()) {
    PartialShape s = PartialShape::scalar();
    for (int64_t i = 0; i < dims->num_elements(); ++i)
      s.add_dim(dims->dtype() == DType::kInt32 ? dims->data<int32_t>()[i] : dims->data<int64_t>()[i]);
    return s;
  }
  const PartialShape rows = slices_->values.shape();
  if (!rows.has_rank() || rows.rank() == 0) return {};
  PartialShape s = rows;
  s.set_dim(0, kUnknownDim);
  return s;
}

const Value& Value::slice_values() const { return slices_->values; }
const Value& Value::slice_indices() const { return slices_->indices; }
const Value& Value::slice_dense_shape() const { return slices_->dense_shape; }

Value Value::dense() const {
  if (!slices_) return *this;
  Emitter& e = *emitter_;
  Value shape = slices_->dense_shape;
  if (!shape.valid()) {
    e.fail(invalid_argument("slices of a tensor whose shape is not known cannot become a tensor"));
    return {};
  }
  // The number of rows is the first of the shape.
  AttrMap attrs;
  attrs["shrink_axis_mask"] = int64_t(1);
  auto at = [&](int32_t i) { return e.constant(Tensor::vector(std::vector<int32_t>{i})); };
  Value rows = e.one("StridedSlice", {shape, at(0), at(1), at(1)}, std::move(attrs));
  return e.one("UnsortedSegmentSum", {slices_->values, slices_->indices, rows});
}

std::vector<Value> Emitter::apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  if (failed()) return {};
  std::vector<Value> dense;
  dense.reserve(inputs.size());
  for (const Value& v : inputs) {
    if (!v.valid()) {
      fail(internal_error("an empty value among the inputs of ", op));
      return {};
    }
    dense.push_back(v.dense());
  }
  if (failed()) return {};
  auto made = do_apply(op, dense, std::move(attrs));
  if (!made.ok()) {
    fail(made.status());
    return {};
  }
  return std::move(made).value();
}

Value Emitter::one(std::string_view op, std::initializer_list<Value> inputs, AttrMap attrs) {
  auto all = apply(op, inputs, std::move(attrs));
  return all.empty() ? Value() : std::move(all[0]);
}

Value Emitter::constant(Tensor value) {
  if (failed()) return {};
  auto made = do_constant(std::move(value));
  if (made.ok()) return std::move(made).value();
  fail(made.status());
  return {};
}

}  // namespace weft_engine::op
