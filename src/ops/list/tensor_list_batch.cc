// Lists of tensors: one list, whose elements have rows.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Of an input that is an element's shape: that of an element with rows.
Value element_shape(BatchContext& c, size_t i) {
  if (c.rank(i) == 0) return op::cast(c.inner(i), DType::kInt32);  // -1: not known
  return c.join({c.rows_list(), c.inner(i)});
}

// A list whose elements have rows.
Value rowed_list(BatchContext& c, size_t i) {
  if (c.has_rows(i)) return c.inner(i);
  AttrMap stack;
  stack["element_dtype"] = c.attrs["element_dtype"];
  Value elements = c.apply1("TensorListStack", {c.inner(i), c.scalar(-1)}, std::move(stack));
  Value sizes = op::shape_of(elements);
  Value rest = op::slice(sizes, c.list({1}), c.list({-1}));
  Value spread = op::reshape(elements, c.join({op::slice(sizes, c.list({0}), c.list({1})), c.list({1}), rest}));
  spread = c.base.one("BroadcastTo", {spread, c.join({op::slice(sizes, c.list({0}), c.list({1})), c.rows_list(), rest})});
  return c.apply1("TensorListFromTensor", {spread, c.join({c.rows_list(), rest})});
}

Batched list_reserve(BatchContext& c) {
  if (c.has_rows_from(0) || c.rank(0) < 0) return c.refused();
  c.attrs.erase("shape_type");
  return c.one(c.itself1({element_shape(c, 0), c.inner(1)}));
}

Batched list_from_tensor(BatchContext& c) {
  if (c.has_rows(1) || c.rank(0) < 1 || c.rank(1) < 0) return c.refused();
  c.attrs.erase("shape_type");
  std::vector<int64_t> perm{1, 0};
  for (int i = 1; i < c.rank(0); ++i) perm.push_back(i + 1);
  return c.one(c.itself1({op::transpose(c.inner(0), c.list(perm)), element_shape(c, 1)}));
}

Batched list_stack(BatchContext& c) {
  if (c.has_rows(1) || c.rank(1) < 0) return c.refused();
  Value v = c.itself1({c.inner(0), element_shape(c, 1)});
  if (!v.valid()) return c.refused();
  if (v.shape().has_rank()) return c.one(c.to_front(v, 1));
  Value order = c.base.one("Range", {c.scalar(2), op::rank_of(v), c.scalar(1)});
  return c.one(op::transpose(v, c.join({c.list({1, 0}), order})));
}

Batched list_get(BatchContext& c) {
  if (c.has_rows_from(1) || c.rank(2) < 0) return c.refused();
  c.attrs.erase("Tshape");
  return c.one(c.itself1({c.inner(0), c.inner(1), element_shape(c, 2)}));
}

Batched list_set(BatchContext& c) {
  if (c.has_rows(1)) return c.refused();
  return c.one(c.itself1({rowed_list(c, 0), c.inner(1), c.with_rows(2)}));
}

Batched list_push(BatchContext& c) { return c.one(c.itself1({rowed_list(c, 0), c.with_rows(1)})); }

Batched list_pop(BatchContext& c) {
  if (c.has_rows(1) || c.rank(1) < 0) return c.refused();
  return c.all(c.itself({c.inner(0), element_shape(c, 1)}));
}

Batched list_length(BatchContext& c) { return c.same(c.itself1({c.inner(0)})); }

}  // namespace

void batch_tensor_list(Registry& r) {
  for (const char* op : {"TensorListReserve", "EmptyTensorList"}) r.batch(op, list_reserve);
  r.batch("TensorListFromTensor", list_from_tensor);
  r.batch("TensorListStack", list_stack);
  r.batch("TensorListGetItem", list_get);
  r.batch("TensorListSetItem", list_set);
  r.batch("TensorListPushBack", list_push);
  r.batch("TensorListPopBack", list_pop);
  r.batch("TensorListLength", list_length);
}

}  // namespace weft_engine::ops
