// Reductions: Sum, Mean, Prod, Max, Min, All, Any, EuclideanNorm; ArgMax and ArgMin.
#include "kernels/cpu/reduce.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::ReduceOp;

Status reduction_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(1, 1).status());
  const auto axes = c.constant_ints(1);
  const PartialShape& in = c.input(0);
  if (!axes && in.has_rank() && !c.attr<bool>("keep_dims") && c.input(1).has_rank()) {
    // Even without their values, the number of axes tells the rank.
    const auto count = c.input(1).num_elements();
    if (count && *count <= in.rank()) {
      c.output(0, PartialShape::unknown_of_rank(in.rank() - int(*count)));
      return {};
    }
  }
  WEFT_ASSIGN(PartialShape out, shapes::reduced(in, axes, c.attr<bool>("keep_dims")));
  c.output(0, std::move(out));
  return {};
}

// Which dimensions go.
Status find_reduced_dims(const Tensor& in, const Tensor& axes, bool* gone) {
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const int64_t axis = axes.dtype() == DType::kInt32 ? axes.data<int32_t>()[i] : axes.data<int64_t>()[i];
    if (axis < -in.rank() || axis >= in.rank()) {
      return invalid_argument("Invalid reduction dimension (", axis, " for input with ", in.rank(), " dimension(s)");
    }
    bool& flag = gone[size_t(axis < 0 ? axis + in.rank() : axis)];
    if (flag) return invalid_argument("Invalid reduction arguments: Axes contains duplicate dimension: ", axis < 0 ? axis + in.rank() : axis);
    flag = true;
  }
  return {};
}

template <ReduceOp op>
struct Reduction {
  static Result<Reduction> make(const NodeInfo& node) { return Reduction{node.attr<bool>("keep_dims")}; }
  Status run(KernelContext& c) const {
    const Tensor& in = c.input(0);
    bool gone[kMaxRank] = {};
    WEFT_RETURN_IF_ERROR(find_reduced_dims(in, c.input(1), gone));
    Shape shape;
    for (int i = 0; i < in.rank(); ++i) {
      if (!gone[size_t(i)]) shape.add_dim(in.dim(i));
      else if (keep_dims) shape.add_dim(1);
    }
    if (in.num_elements() == shape.num_elements() && in.num_elements() > 0 && op != ReduceOp::kNorm) {  // each element is reduced alone
      c.set_output(0, in.viewed_as(in.dtype(), shape));
      return {};
    }
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    WEFT_RETURN_IF_ERROR(kernels::reduce(op, in.dtype(), in.raw(), in.shape().dims(), {gone, size_t(in.rank())}, out->raw(), c.pool()));
    if (in.dtype() == DType::kBool) {  // the minimum of no bytes is 255
      for (uint8_t& b : out->span<uint8_t>()) b = b != 0;
    }
    return {};
  }
  bool keep_dims;
};

// ---- ArgMax, ArgMin

Status arg_shape(ShapeContext& c) {
  WEFT_ASSIGN([[maybe_unused]] PartialShape axis_shape, c.with_rank(1, 0));
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return {};
  if (in.rank() <= 1) {
    c.output(0, PartialShape::scalar());
    return {};
  }
  const auto axis = c.constant_int(1);
  if (!axis) {
    c.output(0, PartialShape::unknown_of_rank(in.rank() - 1));
    return {};
  }
  if (*axis < -in.rank() || *axis >= in.rank()) {
    return invalid_argument("Dimension (", *axis, ") must be in the range [", -in.rank(), ", ", in.rank(), "), where ", in.rank(),
                            " is the number of dimensions in the input.");
  }
  const int at = int(*axis < 0 ? *axis + in.rank() : *axis);
  c.output(0, in.slice(0, at).concat(in.slice(at + 1, in.rank())));
  return {};
}

template <bool greatest>
Status run_arg(KernelContext& c) {
  const Tensor &in = c.input(0), &dimension = c.input(1);
  if (dimension.rank() != 0) return invalid_argument("dim must be a scalar, but received tensor of shape: ", dimension.shape());
  const int64_t axis = dimension.dtype() == DType::kInt16   ? dimension.data<int16_t>()[0]
                       : dimension.dtype() == DType::kInt32 ? dimension.data<int32_t>()[0]
                                                            : dimension.data<int64_t>()[0];
  const int rank = in.rank();
  if (axis < -rank || axis >= rank) return invalid_argument("Expected dimension in the range [", -rank, ", ", rank, "), but got ", axis);
  const int at = int(axis < 0 ? axis + rank : axis);
  if (in.dim(at) == 0) return invalid_argument("Reduction axis ", axis, " is empty in shape ", in.shape());
  Shape shape = in.shape();
  shape.remove_dim(at);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  return kernels::arg_extreme(greatest, in.dtype(), in.raw(), in.shape().elements_in(0, at), in.dim(at), in.shape().elements_in(at + 1, rank),
                              out->raw(), int(dtype_size(out->dtype())), c.pool());
}

// ---- gradients -----------------------------------------------------------------------------------------

// The shape of the input with a 1 for every reduced dimension.
Value kept_shape(const GradContext& g) {
  Emitter& e = g.emitter();
  const PartialShape in = g.x(0).shape();
  const Tensor* axes = g.x(1).constant();
  if (in.fully_known() && axes) {
    std::vector<int32_t> dims;
    for (int64_t d : in.dims()) dims.push_back(int32_t(d));
    for (int64_t i = 0; i < axes->num_elements(); ++i) {
      int64_t a = axes->dtype() == DType::kInt32 ? axes->data<int32_t>()[i] : axes->data<int64_t>()[i];
      if (a < 0) a += in.rank();
      if (a < 0 || a >= in.rank())
        return g.emitter().fail(invalid_argument("Invalid reduction dimension ", a, " for input with ", in.rank(), " dimensions.")), Value();
      dims[size_t(a)] = 1;
    }
    return ints(e, dims);
  }
  const Value shape = shape_of(g.x(0)), rank = rank_of(g.x(0));
  Value flat = reshape(cast(g.x(1), DType::kInt32), ints(e, {-1}));
  flat = binary("FloorMod", flat + rank, rank);
  const Value all = g.one("Range", {scalar(e, DType::kInt32, 0), rank, scalar(e, DType::kInt32, 1)});
  const Value parts[] = {all, flat, shape, ones_like(flat)};
  auto stitched = g.apply("DynamicStitch", parts, {{"N", int64_t(2)}});
  return stitched.empty() ? Value() : stitched[0];
}

// Repeats a value of the result's shape over the reduced dimensions.
Value spread(const GradContext& g, const Value& v) { return g.one("BroadcastTo", {reshape(v, kept_shape(g)), shape_of(g.x(0))}); }

Grads mean_grad(const GradContext& g) {
  const Value sum = spread(g, g.dy());
  const auto in = g.x(0).shape().num_elements(), out = g.y().shape().num_elements();
  if (in && out) return {sum / double(*in / std::max<int64_t>(*out, 1)), {}};
  const Value factor = binary("FloorDiv", size_of(g.x(0)), binary("Maximum", size_of(g.y()), scalar(g.emitter(), DType::kInt32, 1)));
  return {sum / cast(factor, sum.dtype()), {}};
}

// Shared among all elements that are the extreme one.
Grads extreme_grad(const GradContext& g) {
  const Value kept = kept_shape(g), x = g.x(0);
  const Value hits = cast(binary("Equal", reshape(g.y(), kept), x), g.dy().dtype());
  const Value count = reshape(reduce("Sum", hits, g.x(1)), kept);
  return {hits / count * reshape(g.dy(), kept), {}};
}

// The product of the others: what comes before times what comes behind, so that zeros do no harm.
Grads prod_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value x = g.x(0), shape = shape_of(x), rank = rank_of(x);
  const Value zero = scalar(e, DType::kInt32, 0), one = scalar(e, DType::kInt32, 1);
  Value reduced = reshape(cast(g.x(1), DType::kInt32), ints(e, {-1}));
  reduced = binary("FloorMod", reduced + rank, rank);
  auto others = g.apply("ListDiff", std::vector<Value>{g.one("Range", {zero, rank, one}), reduced});
  if (others.empty()) return g.none();
  const Value order_parts[] = {reduced, others[0]};
  const Value order = concat(order_parts, 0);
  auto count = [&](const Value& axes) { return reshape(reduce("Prod", gather(shape, axes), zero), ints(e, {1})); };
  const Value size_parts[] = {count(reduced), count(others[0])};
  const Value transposed = transpose(x, order);
  const Value table = reshape(transposed, concat(size_parts, 0));
  const Value before = g.one("Cumprod", {table, zero}, {{"exclusive", true}});
  const Value behind = g.one("Cumprod", {table, zero}, {{"exclusive", true}, {"reverse", true}});
  const Value product = reshape(conj(before) * conj(behind), shape_of(transposed));
  const Value back = transpose(product, unary("InvertPermutation", order));
  return {reshape(spread(g, g.dy()) * back, shape), {}};
}

Grads norm_grad(const GradContext& g) {
  const Value kept = kept_shape(g);
  return {g.x(0) / (reshape(g.y(), kept) / reshape(g.dy(), kept)), {}};
}

}  // namespace

void reduce(Registry& r) {
  r.add("All")
      .in("input: bool")
      .in("reduction_indices: Tidx")
      .out("output: bool")
      .attr("keep_dims: bool = false")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("Whether all elements along the given dimensions are true.")
      .traits({.reduction = true})
      .shape(reduction_shape)
      .batch(batch_along_axes)
      .no_grad()
      .cpu<Reduction<ReduceOp::kMin>>();

  r.add("Any")
      .in("input: bool")
      .in("reduction_indices: Tidx")
      .out("output: bool")
      .attr("keep_dims: bool = false")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("Whether any element along the given dimensions is true.")
      .traits({.reduction = true})
      .shape(reduction_shape)
      .batch(batch_along_axes)
      .no_grad()
      .cpu<Reduction<ReduceOp::kMax>>();

  r.add("ArgMax")
      .in("input: T")
      .in("dimension: Tidx")
      .out("output: output_type")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64, qint8, quint8, qint32, qint16, quint16, bool}")
      .attr("Tidx: {int16, int32, int64} = DT_INT32")
      .attr("output_type: {int16, uint16, int32, int64} = DT_INT64")
      .doc("The index of the greatest element along one dimension, the first among equals.")
      .shape(arg_shape)
      .batch(batch_along_axes)
      .grad([](const GradContext& g) -> Grads { return g.none(); })
      .cpu(run_arg<true>, types<WEFT_REALS, bool>("T"));

  r.add("ArgMin")
      .in("input: T")
      .in("dimension: Tidx")
      .out("output: output_type")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64, qint8, quint8, qint32, qint16, quint16, bool}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("output_type: {int32, int64} = DT_INT64")
      .doc("The index of the least element along one dimension, the first among equals.")
      .shape(arg_shape)
      .batch(batch_along_axes)
      .grad([](const GradContext& g) -> Grads { return g.none(); })
      .cpu(run_arg<false>, types<WEFT_REALS, bool>("T"));

  r.add("EuclideanNorm")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("The square root of the sum of squares along the given dimensions.")
      .shape(reduction_shape)
      .batch(batch_along_axes)
      .grad(norm_grad)
      .cpu<Reduction<ReduceOp::kNorm>>(types<WEFT_NUMBERS>("T"));

  r.add("Max")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64, qint8, quint8, qint32, qint16, quint16}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("The greatest element along the given dimensions; NaN if there is one.")
      .traits({.reduction = true})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(reduction_shape)
      .batch(batch_along_axes)
      .grad(extreme_grad)
      .cpu<Reduction<ReduceOp::kMax>>(types<WEFT_REALS>("T"));

  r.add("Mean")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("The mean along the given dimensions.")
      .traits({.reduction = true})
      .shape(reduction_shape)
      .batch(batch_along_axes)
      .grad(mean_grad)
      .cpu<Reduction<ReduceOp::kMean>>(types<WEFT_NUMBERS>("T"));

  r.add("Min")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64, qint8, quint8, qint32, qint16, quint16}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("The least element along the given dimensions; NaN if there is one.")
      .traits({.reduction = true})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(reduction_shape)
      .batch(batch_along_axes)
      .grad(extreme_grad)
      .cpu<Reduction<ReduceOp::kMin>>(types<WEFT_REALS>("T"));

  r.add("Prod")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("The product along the given dimensions.")
      .traits({.reduction = true})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(reduction_shape)
      .batch(batch_along_axes)
      .grad(prod_grad)
      .cpu<Reduction<ReduceOp::kProd>>(types<WEFT_NUMBERS>("T"));

  r.add("Sum")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("The sum along the given dimensions.")
      .traits({.reduction = true})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(reduction_shape)
      .batch(batch_along_axes)
      .grad([](const GradContext& g) -> Grads { return {spread(g, g.dy()), {}}; })
      .cpu<Reduction<ReduceOp::kSum>>(types<WEFT_NUMBERS>("T"));

  set_layout(r, {"ArgMax", "ArgMin", "EuclideanNorm"}, layouts::reduction(1));
}

}  // namespace weft_engine::ops
