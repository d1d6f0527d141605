#include "ops/list/tensor_list_grad.h"

#include "op/emit.h"
#include "op/registry.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

AttrMap element_type(const Value& x) { return {{"element_dtype", x.valid() ? x.dtype() : DType::kFloat}}; }
Value element_shape(const GradContext& g, const Value& list) { return g.one("TensorListElementShape", {list}, {{"shape_type", DType::kInt32}}); }
Value length(const GradContext& g, const Value& list) { return g.one("TensorListLength", {list}); }
// The shape of one row of x.
Value row_shape(const Value& x) { return x.valid() ? slice(shape_of(x), ints(x.emitter(), {1}), ints(x.emitter(), {-1})) : x; }
// A list like the one given, whose elements are not set.
Value reserve_like(const GradContext& g, const Value& list, const Value& element) {
  return g.one("TensorListReserve", {element_shape(g, list), length(g, list)}, element_type(element));
}
Value gather_rows(const GradContext& g, const Value& indices, const Value& rows) {
  return g.one("TensorListGather", {g.dy(), indices, row_shape(rows)}, element_type(rows));
}

}  // namespace

Grads list_concat_grad(const GradContext& g) {
  Grads grads = g.none();
  grads[0] = g.one("TensorListSplit", {g.dy(0), element_shape(g, g.x(0)), g.y(1)});
  return grads;
}

Grads list_from_tensor_grad(const GradContext& g) {
  const Value t = g.x(0);
  AttrMap attrs = element_type(t);
  const PartialShape s = t.shape();
  attrs["num_elements"] = s.has_rank() && s.rank() > 0 ? s.dim(0) : int64_t(-1);
  return {g.one("TensorListStack", {g.dy(), row_shape(t)}, std::move(attrs)), {}};
}

Grads list_gather_grad(const GradContext& g) {
  const Value dy = g.dy();
  return {g.one("TensorListScatterIntoExistingList", {reserve_like(g, g.x(0), dy), dy, g.x(1)}), {}, {}};
}

Grads list_get_item_grad(const GradContext& g) {
  const Value dy = g.dy();
  return {g.one("TensorListSetItem", {reserve_like(g, g.x(0), dy), g.x(1), dy}), {}, {}};
}

Grads list_pop_back_grad(const GradContext& g) {
  const Value element = g.dy(1);
  Value list = g.raw_dy(0);
  // Nothing flowed into the rest of the list: as if into an empty one.
  if (!list.valid()) list = g.one("EmptyTensorList", {element_shape(g, g.y(0)), scalar(g.emitter(), DType::kInt32, -1)}, element_type(element));
  return {g.one("TensorListPushBack", {list, element}), {}};
}

Grads list_push_back_grad(const GradContext& g) { return g.emitter().apply("TensorListPopBack", {g.dy(), shape_of(g.x(1))}, element_type(g.x(1))); }

Grads list_resize_grad(const GradContext& g) { return {g.one("TensorListResize", {g.dy(), length(g, g.x(0))}), {}}; }

Grads list_scatter_grad(const GradContext& g) {
  Grads grads = g.none();
  grads[0] = gather_rows(g, g.x(1), g.x(0));
  return grads;
}

Grads list_scatter_into_grad(const GradContext& g) {
  const Value list = g.one("TensorListScatterIntoExistingList", {g.dy(), zeros_like(g.x(1)), g.x(2)});
  return {list, gather_rows(g, g.x(2), g.x(1)), {}};
}

Grads list_set_item_grad(const GradContext& g) {
  const Value index = g.x(1), item = g.x(2);
  Value list = g.one("TensorListSetItem", {g.dy(), index, zeros_like(item)});
  if (g.attr<bool>("resize_if_index_out_of_bounds")) list = g.one("TensorListResize", {list, length(g, g.x(0))});
  return {list, {}, g.one("TensorListGetItem", {g.dy(), index, shape_of(item)}, element_type(item))};
}

Grads list_split_grad(const GradContext& g) {
  const Value shape[] = {ints(g.emitter(), {-1}), row_shape(g.x(0))};
  return {g.one("TensorListConcatV2", {g.dy(), concat(shape, 0), g.x(2)}, element_type(g.x(0))), {}, {}};
}

Grads list_stack_grad(const GradContext& g) { return {g.one("TensorListFromTensor", {g.dy(), row_shape(g.dy())}), {}}; }

}  // namespace weft_engine::ops
