// Rows written by index into a new tensor or a copy of one.
#include "kernels/cpu/scatter_nd.h"

#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/strided_slice.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_slice_util.h"

namespace weft_engine::ops {

namespace {

using kernels::ScatterNdSizes;
using kernels::Update;

// params op= updates at the indices, after the checks that all of these ops share.
Status scatter_into(KernelContext& c, Update op, const Tensor& indices, const Tensor& updates, Tensor& params) {
  WEFT_ASSIGN(const bool ignore, ignores_bad_indices(c.attr<std::string>("bad_indices_policy")));
  WEFT_ASSIGN(ScatterNdSizes sizes, kernels::check_scatter_nd(params.shape(), indices.shape(), updates.shape()));
  WEFT_ASSIGN(Tensor offsets, c.temp(DType::kInt64, {sizes.updates}));
  WEFT_RETURN_IF_ERROR((dispatch<int16_t, uint16_t, int32_t, int64_t>(indices.dtype(), [&]<class Index>(Tag<Index>) -> Status {
    const int64_t bad = kernels::scatter_nd_offsets(indices.data<Index>(), sizes, params.shape(), offsets.data<int64_t>());
    if (bad >= 0 && !ignore) return kernels::scatter_nd_error(indices.data<Index>(), indices.shape(), sizes, params.shape(), bad);
    return {};
  })));
  return kernels::scatter_update(c.pool(), op, params.dtype(), params.raw(), updates.raw(), offsets.span<int64_t>(), sizes.slice);
}

Status check_ranks(const Tensor& indices, const Tensor& updates) {
  if (indices.rank() < 1) return invalid_argument("Indices shape must have rank at least one. Found:", indices.shape());
  if (updates.rank() < 1) return invalid_argument("Updates shape must have rank at least one. Found:", updates.shape());
  return {};
}

bool empty_matches(int64_t params, int64_t indices, int64_t updates) {
  return (indices == 0 && updates == 0) || (params != 0 && indices != 0 && updates != 0);
}

// 0: they fit; 1: the leading dimensions differ; 2: the number of the others differs; 3: their sizes do.
int mismatch(const Shape& indices, const Shape& updates, const Shape& params) {
  const int outer = indices.rank() - 1;
  if (updates.rank() < outer) return 1;
  for (int i = 0; i < outer; ++i) {
    if (indices.dim(i) != updates.dim(i)) return 1;
  }
  const int64_t tuple = indices.dim(outer);
  if (updates.rank() - outer != params.rank() - tuple) return 2;
  for (int i = 0; i + outer < updates.rank(); ++i) {
    if (updates.dim(i + outer) != params.dim(int(tuple) + i)) return 3;
  }
  return 0;
}

Status run_scatter_nd(KernelContext& c) {
  const Tensor &indices = c.input(0), &updates = c.input(1), &dims = c.input(2);
  WEFT_RETURN_IF_ERROR(check_ranks(indices, updates));
  WEFT_ASSIGN(Shape shape, shape_from(dims));
  if (!empty_matches(dims.num_elements(), indices.num_elements(), updates.num_elements()))
    return invalid_argument("Indices and updates specified for empty output shape");
  const int outer = indices.rank() - 1;
  switch (mismatch(indices.shape(), updates.shape(), shape)) {
    case 0: break;
    case 1:
      return invalid_argument("Dimensions [0,", outer, ") of indices[shape=", indices.shape(), "] must match dimensions [0,", outer,
                              ") of updates[shape=", updates.shape(), "]");
    default:
      return invalid_argument("Dimensions [", indices.dim(outer), ",", shape.rank(), ") of input[shape=", shape, "] must match dimensions [", outer,
                              ",", updates.rank(), ") of updates[shape=", updates.shape(), "]");
  }
  if (dims.rank() != 1) return invalid_argument("Shape must be a vector");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  kernels::fill_zero(c.pool(), out->dtype(), out->raw(), out->num_elements());
  return scatter_into(c, Update::kAdd, indices, updates, *out);
}

// A copy of input 0 to write to; its own memory if nobody else needs it.
Result<Tensor*> writable_copy(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, in.shape(), 0));
  if (out->raw() != in.raw()) kernels::copy_run(c.pool(), in.dtype(), in.raw(), out->raw(), in.num_elements());
  return out;
}

Status run_non_aliasing_add(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(kernels::check_scatter_nd(c.input(0).shape(), c.input(1).shape(), c.input(2).shape()).status());
  WEFT_ASSIGN(Tensor* out, writable_copy(c));
  return scatter_into(c, Update::kAdd, c.input(1), c.input(2), *out);
}

template <Update kOp>
Status run_tensor_scatter(KernelContext& c) {
  const Tensor &in = c.input(0), &indices = c.input(1), &updates = c.input(2);
  WEFT_RETURN_IF_ERROR(check_ranks(indices, updates));
  if (!empty_matches(in.num_elements(), indices.num_elements(), updates.num_elements()))
    return invalid_argument("Indices and updates specified for empty output shape");
  const int outer = indices.rank() - 1;
  switch (mismatch(indices.shape(), updates.shape(), in.shape())) {
    case 0: break;
    case 1:
      return invalid_argument("Outer dimensions of indices and update must match. Indices shape: ", indices.shape(),
                              ", updates shape:", updates.shape());
    case 2:
      return invalid_argument("Inner dimensions of output shape must match inner dimensions of updates shape. Output: ", in.shape(),
                              " updates: ", updates.shape());
    default:
      return invalid_argument("The inner ", in.rank() - indices.dim(outer), " dimensions of output.shape=", in.shape(), " must match the inner ",
                              updates.rank() - outer, " dimensions of updates.shape=", updates.shape());
  }
  WEFT_RETURN_IF_ERROR(kernels::check_scatter_nd(in.shape(), indices.shape(), updates.shape()).status());
  WEFT_ASSIGN(Tensor* out, writable_copy(c));
  return scatter_into(c, kOp, indices, updates, *out);
}

// Checks of shapes as far as they are known; `params` has a rank.
Status scatter_nd_rule(const PartialShape& params, const PartialShape& indices, const PartialShape& updates) {
  if (!indices.has_rank() || !updates.has_rank() || !params.has_rank()) return {};
  if (indices.rank() < 1) return invalid_argument("Shape must be at least rank 1 but is rank 0");
  const int outer = indices.rank() - 1;
  const int64_t tuple = indices.dim(outer);
  if (updates.rank() < outer || !indices.slice(0, outer).compatible_with(updates.slice(0, outer)))
    return invalid_argument("Dimensions [0,", outer, ") of indices[shape=", indices, "] must match dimensions [0,", outer,
                            ") of updates[shape=", updates, "]");
  if (tuple < 0) return {};
  if (tuple > params.rank() || !params.slice(int(tuple), params.rank()).compatible_with(updates.slice(outer, updates.rank())))
    return invalid_argument("Dimensions [", tuple, ",", params.rank(), ") of input[shape=", params, "] must match dimensions [", outer, ",",
                            updates.rank(), ") of updates[shape=", updates, "]");
  return {};
}

Status scatter_nd_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape shape, c.constant_shape(2));
  WEFT_RETURN_IF_ERROR(scatter_nd_rule(shape, c.input(0), c.input(1)));
  c.output(0, std::move(shape));
  return {};
}

Status tensor_scatter_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(scatter_nd_rule(c.input(0), c.input(1), c.input(2)));
  c.output(0, c.input(0));
  return {};
}

Status run_slice_update(KernelContext& c) {
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(StridedSlice slice, parse_strided_slice(&c.input(1), &c.input(2), c.input(3), in.shape(), SliceMasks::of(c.node())));
  WEFT_ASSIGN(Tensor* out, writable_copy(c));
  if (Shape(slice.shape.dims()).num_elements() == 0) return {};
  return assign_broadcast(c.pool(), c.input(4), slice, *out);
}

Status slice_update_shape(ShapeContext& c) {
  for (int i = 1; i < 4; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
  return shapes::unchanged(c);
}

// y = x with rows i changed by v; the old ops, which wrap indices.
template <Update kOp>
Status run_inplace(KernelContext& c) {
  const Tensor &x = c.input(0), &i = c.input(1), &v = c.input(2);
  if (i.rank() != 1) return invalid_argument("i must be a vector. ", i.shape());
  if (x.rank() != v.rank()) return invalid_argument("x and v shape doesn't match (ranks differ): ", x.shape(), " vs. ", v.shape());
  if (x.rank() < 1) return invalid_argument("x must be at least 1-D, got shape ", x.shape());
  for (int d = 1; d < x.rank(); ++d) {
    if (x.dim(d) != v.dim(d)) return invalid_argument("x and v shape doesn't match at index ", d, " : ", x.shape(), " vs. ", v.shape());
  }
  if (i.dim(0) != v.dim(0)) return invalid_argument("i and x shape doesn't match at index 0: ", i.shape(), " vs. ", v.shape());
  WEFT_ASSIGN(Tensor* out, writable_copy(c));
  const int64_t rows = x.dim(0), row = x.shape().elements_in(1, x.rank());
  std::vector<int64_t> offsets(size_t(i.num_elements()), -1);
  for (size_t k = 0; rows > 0 && k < offsets.size(); ++k) {
    const int64_t r = i.data<int32_t>()[k] % rows;
    offsets[k] = (r < 0 ? r + rows : r) * row;
  }
  return kernels::scatter_update(c.pool(), kOp, x.dtype(), out->raw(), v.raw(), offsets, row);
}

// ---- gradients -----------------------------------------------------------------------------------------

// Shared among all that have the extreme value.
Grads scatter_extreme_grad(const GradContext& g) {
  const Value x = g.x(0), indices = g.x(1), y = g.x(2), dy = g.dy();
  const Value x_hits = cast(binary("Equal", x, g.y()), dy.dtype());
  const Value y_hits = cast(binary("Equal", y, g.one("GatherNd", {g.y(), indices})), dy.dtype());
  const Value count = x_hits + g.one("ScatterNd", {indices, y_hits, shape_of(x, indices.dtype())});
  return {dy * x_hits / count, {}, g.one("GatherNd", {dy / count, indices}) * y_hits};
}

Grads strided_slice_update_grad(const GradContext& g) {
  const AttrMap masks = g.attrs({"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"});
  const Value part = g.one("StridedSlice", {g.dy(), g.x(1), g.x(2), g.x(3)}, masks);
  const Value rest = g.one("TensorStridedSliceUpdate", {g.dy(), g.x(1), g.x(2), g.x(3), zeros_like(part)}, masks);
  return {rest, {}, {}, {}, sum_to(part, g.x(4))};
}

}  // namespace

void scatter(Registry& r) {
  r.add("InplaceAdd")
      .in("x: T")
      .in("i: int32")
      .in("v: T")
      .out("y: T")
      .attr("T: type")
      .doc("The input with v added to rows i.")
      .traits({.impure = true})
      .shape(shapes::unchanged)
      .cpu(run_inplace<Update::kAdd>, types<WEFT_NUMBERS, bool>("T"));

  r.add("InplaceSub")
      .in("x: T")
      .in("i: int32")
      .in("v: T")
      .out("y: T")
      .attr("T: type")
      .doc("The input with v subtracted from rows i.")
      .traits({.impure = true})
      .shape(shapes::unchanged)
      .cpu(run_inplace<Update::kSub>, types<WEFT_NUMBERS>("T"));

  r.add("InplaceUpdate")
      .in("x: T")
      .in("i: int32")
      .in("v: T")
      .out("y: T")
      .attr("T: type")
      .doc("The input with rows i replaced by v.")
      .traits({.impure = true})
      .shape(shapes::unchanged)
      .cpu(run_inplace<Update::kAssign>);

  r.add("ScatterNd")
      .in("indices: Tindices")
      .in("updates: T")
      .in("shape: Tindices")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int16, int32, int64}")
      .attr("bad_indices_policy: string = ''")
      .doc("Zeros of the given shape with updates added at the index tuples.")
      .shape(scatter_nd_shape)
      .grad([](const GradContext& g) -> Grads { return {{}, g.one("GatherNd", {g.dy(), g.x(0)}), {}}; })
      .cpu(run_scatter_nd, types<WEFT_NUMBERS, bool, tstring>("T"));

  r.add("ScatterNdNonAliasingAdd")
      .in("input: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''")
      .doc("A copy of the input with updates added at the index tuples.")
      .shape(tensor_scatter_shape)
      .grad([](const GradContext& g) -> Grads { return {g.dy(), {}, g.one("GatherNd", {g.dy(), g.x(1)})}; })
      .cpu(run_non_aliasing_add, types<WEFT_NUMBERS, bool>("T"));

  r.add("TensorScatterAdd")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''")
      .doc("A copy of the tensor with updates added at the index tuples.")
      .shape(tensor_scatter_shape)
      .grad([](const GradContext& g) -> Grads { return {g.dy(), {}, g.one("GatherNd", {g.dy(), g.x(1)})}; })
      .cpu(run_tensor_scatter<Update::kAdd>, types<WEFT_NUMBERS>("T"));

  r.add("TensorScatterMax")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''")
      .doc("A copy of the tensor with the greater of old value and update at the index tuples.")
      .shape(tensor_scatter_shape)
      .grad(scatter_extreme_grad)
      .cpu(run_tensor_scatter<Update::kMax>, types<WEFT_REALS>("T"));

  r.add("TensorScatterMin")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''")
      .doc("A copy of the tensor with the lesser of old value and update at the index tuples.")
      .shape(tensor_scatter_shape)
      .grad(scatter_extreme_grad)
      .cpu(run_tensor_scatter<Update::kMin>, types<WEFT_REALS>("T"));

  r.add("TensorScatterSub")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''")
      .doc("A copy of the tensor with updates subtracted at the index tuples.")
      .shape(tensor_scatter_shape)
      .grad([](const GradContext& g) -> Grads { return {g.dy(), {}, -g.one("GatherNd", {g.dy(), g.x(1)})}; })
      .cpu(run_tensor_scatter<Update::kSub>, types<WEFT_NUMBERS>("T"));

  r.add("TensorScatterUpdate")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int16, int32, int64, uint16}")
      .attr("bad_indices_policy: string = ''")
      .doc("A copy of the tensor with the values at the index tuples replaced.")
      .shape(tensor_scatter_shape)
      .grad([](const GradContext& g) -> Grads {
        return {g.one("TensorScatterUpdate", {g.dy(), g.x(1), zeros_like(g.x(2))}), {}, g.one("GatherNd", {g.dy(), g.x(1)})};
      })
      .cpu(run_tensor_scatter<Update::kAssign>);

  r.add("TensorStridedSliceUpdate")
      .in("input: T")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .in("value: T")
      .out("output: T")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0")
      .doc("A copy of the input with a strided slice of it replaced.")
      .shape(slice_update_shape)
      .grad(strided_slice_update_grad)
      .cpu(run_slice_update);

  set_layout(r, {"ScatterNd"}, layouts::kScatterNd);
  set_layout(r, {"TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub", "TensorScatterUpdate"}, layouts::kUpdateNd);
}

}  // namespace weft_engine::ops
