// Shapes: the dimension of the rows stays in front, and nobody sees it.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched reshaped(BatchContext& c) {
  if (c.has_rows(1)) return c.refused();
  Value to = c.inner(1);
  auto wanted = c.numbers(1);
  if (wanted && c.shape(0).fully_known()) {
    // An open size is worked out: there may be no rows at all.
    int64_t known = 1, *open = nullptr;
    for (int64_t& d : *wanted) {
      if (d == -1) open = &d;
      else known *= d;
    }
    if (open && known > 0) *open = c.shape(0).concrete()->num_elements() / known;
    to = c.list(*wanted);
  }
  return c.one(c.apply1("Reshape", {c.inner(0), c.join({c.rows_list(), to})}, c.typeless()));
}

Batched squeezed(BatchContext& c) {
  auto it = c.attrs.find("squeeze_dims");
  std::vector<int64_t> which;
  if (it != c.attrs.end() && it->second.get<std::vector<int64_t>>()) which = *it->second.get<std::vector<int64_t>>();
  const PartialShape s = c.shape(0);
  if (!s.has_rank()) return c.refused();
  if (which.empty()) {
    if (!s.fully_known()) return c.refused();
    for (int i = 0; i < s.rank(); ++i) {
      if (s.dim(i) == 1) which.push_back(i);
    }
  }
  for (int64_t& d : which) d = (d < 0 ? d + s.rank() : d) + 1;
  return c.one(which.empty() ? c.inner(0) : op::squeeze(c.inner(0), which));
}

Batched expanded(BatchContext& c) {
  if (c.has_rows(1)) return c.refused();
  return c.one(c.apply1("ExpandDims", {c.inner(0), c.shifted_axes(1)}, c.typeless()));
}

Batched shape_of_value(BatchContext& c) {
  auto it = c.attrs.find("out_type");
  const bool wide = it != c.attrs.end() && it->second.get<DType>() && *it->second.get<DType>() == DType::kInt64;
  if (wide && c.shape(0).fully_known()) return c.same(c.base.constant(Tensor::vector(c.shape(0).dims())));
  return c.same(op::cast(c.dims(0), wide ? DType::kInt64 : DType::kInt32));
}

Batched shapes_of_values(BatchContext& c) {
  std::vector<Value> out;
  AttrMap attrs;
  if (auto it = c.attrs.find("out_type"); it != c.attrs.end()) attrs["out_type"] = it->second;
  for (const Value& v : c.inputs) out.push_back(c.emitter.one("Shape", {v}, attrs));
  WEFT_RETURN_IF_ERROR(c.emitter.take_status());
  return out;
}

Batched rank_of_value(BatchContext& c) { return c.same(c.rank(0) >= 0 ? c.scalar(c.rank(0)) : op::rank_of(c.inner(0)) - c.scalar(1)); }

Batched size_of_value(BatchContext& c) {
  auto it = c.attrs.find("out_type");
  const DType type = it != c.attrs.end() && it->second.get<DType>() ? *it->second.get<DType>() : DType::kInt32;
  return c.same(op::cast(op::reduce("Prod", c.dims(0), c.scalar(0)), type));
}

Batched ensured(BatchContext& c) {
  auto it = c.attrs.find("shape");
  const PartialShape* s = it == c.attrs.end() ? nullptr : it->second.get<PartialShape>();
  if (!s) return c.refused();
  if (s->has_rank()) {
    std::vector<int64_t> dims = s->dims();
    dims.insert(dims.begin(), c.rows() >= 0 ? c.rows() : kUnknownDim);
    c.attrs["shape"] = PartialShape(dims);
  }
  return c.one(c.itself1({c.inner(0)}));
}

Batched each(BatchContext& c) { return std::vector<Value>(c.inputs.begin(), c.inputs.end()); }

}  // namespace

void batch_array(Registry& r) {
  r.batch("Reshape", reshaped);
  r.batch("Squeeze", squeezed);
  r.batch("ExpandDims", expanded);
  r.batch("Shape", shape_of_value);
  r.batch("ShapeN", shapes_of_values);
  r.batch("Rank", rank_of_value);
  r.batch("Size", size_of_value);
  r.batch("EnsureShape", ensured);
  r.batch("IdentityN", each);
  for (const char* op : {"Identity", "PreventGradient", "Snapshot", "StopGradient"}) r.batch(op, batch_leading<1>);
}

}  // namespace weft_engine::ops
