// Rows taken by index.
#include "kernels/cpu/gather.h"

#include "kernels/cpu/scatter_nd.h"
#include "op/api_traits.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

// Calls f(pointer to the indices) with their type.
template <class F>
Status with_indices(const Tensor& t, F f) {
  return dispatch<int16_t, int32_t, int64_t>(t.dtype(), [&]<class Index>(Tag<Index>) { return f(t.data<Index>()); });
}

Status gather_along(KernelContext& c, int64_t axis, int64_t batch_dims) {
  const Tensor &params = c.input(0), &indices = c.input(1);
  const int at = int(axis), shared = int(batch_dims), rank = params.rank();
  for (int i = 0; i < shared; ++i) {
    if (params.dim(i) != indices.dim(i))
      return invalid_argument("params.shape[", i, "]: ", params.dim(i), " should be equal to indices.shape[", i, "]: ", indices.dim(i));
  }
  const int64_t limit = params.dim(at);
  if (indices.dtype() == DType::kInt32 && limit > INT32_MAX)
    return invalid_argument("params.shape[", axis, "] too large for int32 indexing: ", limit, " > ", INT32_MAX);
  Shape shape = params.shape().slice(0, at);
  shape = shape.concat(indices.shape().slice(shared, indices.rank())).concat(params.shape().slice(at + 1, rank));
  const int64_t batch = params.shape().elements_in(0, shared), outer = params.shape().elements_in(shared, at),
                inner = params.shape().elements_in(at + 1, rank), n = indices.shape().elements_in(shared, indices.rank());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  return with_indices(indices, [&](const auto* index) -> Status {
    const int64_t bad = kernels::first_bad_index(index, indices.num_elements(), limit);
    if (bad >= 0) return invalid_argument("indices", kernels::position_text(indices.shape(), bad), " = ", index[bad], " is not in [0, ", limit, ")");
    kernels::gather(c.pool(), params.dtype(), params.raw(), batch, outer, limit, inner, index, n, out->raw());
    return {};
  });
}

Status run_gather(KernelContext& c) {
  if (c.input(0).rank() < 1) return invalid_argument("params must be at least 1 dimensional");
  return gather_along(c, 0, 0);
}

struct GatherV2 {
  static Result<GatherV2> make(const NodeInfo& node) { return GatherV2{node.attr<int64_t>("batch_dims")}; }
  Status run(KernelContext& c) const {
    const Tensor &params = c.input(0), &indices = c.input(1), &axis_in = c.input(2);
    if (params.rank() < 1) return invalid_argument("params must be at least 1 dimensional");
    if (axis_in.rank() != 0) return invalid_argument("axis must be scalar");
    int64_t axis = int_at(axis_in, 0), batch = batch_dims;
    if (axis < -params.rank() || axis >= params.rank()) {
      // TensorFlow counts what the axis asks for.
      const int64_t least = axis >= 0 ? (axis == INT64_MAX ? axis : axis + 1) : axis == INT64_MIN ? INT64_MAX : -axis;
      return invalid_argument("Shape must be at least rank ", least, " but is rank ", params.rank());
    }
    if (axis < 0) axis += params.rank();
    if (batch != 0) {
      if (batch < -indices.rank() || batch > indices.rank())
        return invalid_argument("Expected batch_dims in the range [", -indices.rank(), ", ", indices.rank(), "], but got ", batch);
      if (batch < 0) batch += indices.rank();
      if (batch >= params.rank()) return invalid_argument("batch_dims (", batch, ") must be less than rank(params) (", params.rank(), ").");
      if (axis < batch) return invalid_argument("batch_dims (", batch, ") must be less than or equal to axis (", axis, ").");
    }
    return gather_along(c, axis, batch);
  }
  int64_t batch_dims;
};

Status gather_shape(ShapeContext& c) {
  const PartialShape &params = c.input(0), &indices = c.input(1);
  WEFT_RETURN_IF_ERROR(c.with_rank_at_least(0, 1).status());
  if (params.has_rank()) c.output(0, indices.concat(params.slice(1, params.rank())));
  return {};
}

Status gather_v2_shape(ShapeContext& c) {
  const PartialShape &params = c.input(0), &indices = c.input(1);
  WEFT_RETURN_IF_ERROR(c.with_rank_at_least(0, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 0).status());
  int64_t batch = c.attr<int64_t>("batch_dims");
  const auto axis_value = c.constant_int(2);
  if (!axis_value) {
    if (!params.has_rank() || !indices.has_rank()) return {};
    if (batch < 0) batch += indices.rank();
    const int64_t rank = params.rank() + indices.rank() - 1 - batch;
    if (batch >= 0 && rank >= 0 && rank <= kMaxRank) c.output(0, PartialShape::unknown_of_rank(int(rank)));
    return {};
  }
  int64_t axis = *axis_value;
  if (!params.has_rank() || !indices.has_rank()) return {};
  if (axis < -params.rank() || axis >= params.rank())
    return invalid_argument("Shape must be at least rank ", axis < 0 ? -axis : axis + 1, " but is rank ", params.rank());
  if (axis < 0) axis += params.rank();
  if (batch < -indices.rank() || batch > indices.rank())
    return invalid_argument("Expected batch_dims in the range [", -indices.rank(), ", ", indices.rank(), "], but got ", batch);
  if (batch < 0) batch += indices.rank();
  if (batch > axis) return invalid_argument("batch_dims (", batch, ") must be less than or equal to axis (", axis, ").");
  PartialShape shared;
  if (batch > 0) {
    WEFT_ASSIGN(shared, params.slice(0, int(batch)).merge_with(indices.slice(0, int(batch))));
  } else {
    shared = PartialShape::scalar();
  }
  c.output(0, shared.concat(params.slice(int(batch), int(axis)))
                  .concat(indices.slice(int(batch), indices.rank()))
                  .concat(params.slice(int(axis) + 1, params.rank())));
  return {};
}

Status run_gather_nd(KernelContext& c) {
  const Tensor &params = c.input(0), &indices = c.input(1);
  if (params.rank() < 1) return invalid_argument("params must be at least a vector");
  if (indices.rank() < 1) return invalid_argument("indices must be at least a vector");
  const int last = indices.rank() - 1;
  const int64_t tuple = indices.dim(last);
  if (tuple > params.rank()) return invalid_argument("index innermost dimension length must be <= params rank; saw: ", tuple, " vs. ", params.rank());
  WEFT_ASSIGN(const bool ignore, ignores_bad_indices(c.attr<std::string>("bad_indices_policy")));
  const Shape tuples = indices.shape().slice(0, last), rest = params.shape().slice(int(tuple), params.rank());
  kernels::ScatterNdSizes sizes{tuples.num_elements(), tuple, rest.num_elements()};
  WEFT_ASSIGN(Tensor* out, c.allocate(0, tuples.concat(rest)));
  if (sizes.updates == 0) return {};
  if (params.num_elements() == 0) return invalid_argument("Requested more than 0 entries, but params is empty.  Params shape: ", params.shape());
  WEFT_ASSIGN(Tensor offsets, c.temp(DType::kInt64, {sizes.updates}));
  return with_indices(indices, [&](const auto* index) -> Status {
    const int64_t bad = kernels::scatter_nd_offsets(index, sizes, params.shape(), offsets.data<int64_t>());
    if (bad >= 0 && !ignore)
      return kernels::scatter_nd_error(index, indices.shape(), sizes, params.shape(), bad, "param shape")
          .with_suffix(cat(", node name: ", node_name(c.node())));
    kernels::gather_offsets(c.pool(), params.dtype(), params.raw(), offsets.data<int64_t>(), sizes.updates, sizes.slice, out->raw());
    return {};
  });
}

Status gather_nd_shape(ShapeContext& c) {
  const PartialShape &params = c.input(0), &indices = c.input(1);
  WEFT_RETURN_IF_ERROR(c.with_rank_at_least(1, 1).status());
  if (!params.has_rank() || !indices.has_rank()) return {};
  const int64_t tuple = indices.dim(indices.rank() - 1);
  if (tuple < 0) return {};
  if (tuple > params.rank())
    return invalid_argument("indices.shape[-1] must be <= params.rank, but saw indices shape: ", indices, " and params shape: ", params);
  c.output(0, indices.slice(0, indices.rank() - 1).concat(params.slice(int(tuple), params.rank())));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// Rows of the first dimension stay slices.
Value row_slices(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value shape = shape_of(g.x(0)), rows = reshape(size_of(g.x(1)), ints(e, {1}));
  const Value tail = slice(shape, ints(e, {1}), ints(e, {-1})), parts[] = {rows, tail};
  return Value::slices(reshape(g.dy(), concat(parts, 0)), reshape(g.x(1), rows), shape);
}

Grads gather_grad(const GradContext& g) { return {row_slices(g), {}}; }

Value numbers(Emitter& e, const Value& from, const Value& to) { return e.one("Range", {from, to, scalar(e, DType::kInt32, 1)}); }

// With the gathered dimension right behind the batch dimensions, and those flattened, it is a sum over rows.
Grads gather_v2_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value x = g.x(0), indices = g.x(1);
  int64_t batch = g.attr<int64_t>("batch_dims");
  if (batch < 0) {
    if (!indices.shape().has_rank()) return g.fail(unimplemented("the gradient of GatherV2 with a negative batch_dims and indices of unknown rank"));
    batch += indices.shape().rank();
  }
  if (const Tensor* axis = g.x(2).constant(); axis && batch == 0) {
    const int64_t a = axis->dtype() == DType::kInt32 ? axis->data<int32_t>()[0] : axis->data<int64_t>()[0];
    if (a == 0) return {row_slices(g), {}, {}};
  }
  const Value shape = shape_of(x), rank = rank_of(x), zero = scalar(e, DType::kInt32, 0), b = scalar(e, DType::kInt32, double(batch));
  const Value axis = binary("FloorMod", cast(reshape(g.x(2), ints(e, {})), DType::kInt32), rank);
  auto vector = [&](const Value& v) { return reshape(v, ints(e, {1})); };
  const Value outer = slice(shape, ints(e, {0}), vector(axis)), inner = slice(shape, vector(axis + 1), ints(e, {-1}));
  const Value value_dims[] = {outer, ints(e, {-1}), inner};
  const Value values = reshape(g.dy(), concat(value_dims, 0));
  const Value order_parts[] = {numbers(e, zero, b), vector(axis), numbers(e, b, axis), numbers(e, axis + 1, rank)};
  const Value order = concat(order_parts, 0);
  const Value transposed = transpose(values, order), transposed_shape = gather(shape, order);
  const Value length = gather(shape, axis);
  const Value batches = reduce("Prod", slice(shape, ints(e, {0}), vector(b)), zero);
  const Value rest = slice(transposed_shape, vector(b + 1), ints(e, {-1}));
  const Value flat_dims[] = {ints(e, {-1}), rest};
  const Value flat = reshape(transposed, concat(flat_dims, 0));
  // Each batch has rows of its own.
  const Value pair[] = {vector(batches), ints(e, {-1})};
  const Value offsets = expand_dims(cast(numbers(e, zero, batches) * length, indices.dtype()), 1);
  const Value rows = reshape(reshape(indices, concat(pair, 0)) + offsets, ints(e, {-1}));
  const Value sums = g.one("UnsortedSegmentSum", {flat, rows, length * batches});
  const Value back = transpose(reshape(sums, transposed_shape), unary("InvertPermutation", order));
  return {reshape(back, shape), {}, {}};
}

Grads gather_nd_grad(const GradContext& g) {
  const Value indices = g.x(1), shape = shape_of(g.x(0), indices.dtype());
  const PartialShape s = indices.shape();
  if (s.has_rank() && s.rank() == 2 && s.dim(1) == 1) return {Value::slices(g.dy(), squeeze(indices, {-1}), shape), {}};
  return {g.one("ScatterNd", {indices, g.dy(), shape}, g.attrs({"bad_indices_policy"})), {}};
}

}  // namespace

void gather(Registry& r) {
  r.add("Gather")
      .in("params: Tparams")
      .in("indices: Tindices")
      .out("output: Tparams")
      .attr("validate_indices: bool = true")
      .attr("Tparams: type")
      .attr("Tindices: {int32, int64}")
      .doc("Rows of params at the given indices.")
      .shape(gather_shape)
      .grad(gather_grad)
      .cpu(run_gather);

  r.add("GatherNd")
      .in("params: Tparams")
      .in("indices: Tindices")
      .out("output: Tparams")
      .attr("Tparams: type")
      .attr("Tindices: {int16, int32, int64}")
      .attr("bad_indices_policy: string = ''")
      .doc("Slices of params at the given index tuples.")
      .shape(gather_nd_shape)
      .grad(gather_nd_grad)
      .cpu(run_gather_nd);

  r.add("GatherV2")
      .in("params: Tparams")
      .in("indices: Tindices")
      .in("axis: Taxis")
      .out("output: Tparams")
      .attr("batch_dims: int = 0")
      .attr("Tparams: type")
      .attr("Tindices: {int16, int32, int64}")
      .attr("Taxis: {int32, int64}")
      .doc("Slices of params along an axis at the given indices, with leading dimensions in common if batch_dims says so.")
      .shape(gather_v2_shape)
      .grad(gather_v2_grad)
      .cpu<GatherV2>();

  set_layout(r, {"Gather"}, layouts::gather(std::nullopt));
  set_layout(r, {"GatherV2"}, layouts::gather(2));
  set_layout(r, {"GatherNd"}, layouts::kGatherNd);
  set_api_trait(r, {"Gather", "GatherV2"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
