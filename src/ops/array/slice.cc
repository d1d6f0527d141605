// Parts cut out of a tensor: Slice, StridedSlice and its gradient.
#include "op/api_traits.h"
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

constexpr int64_t kAlignment = 64;  // what kernels may expect of a tensor's memory

// Rows [begin, begin + n) share the input's memory where that keeps them aligned.
bool share_rows(KernelContext& c, const Tensor& in, int64_t begin, int64_t n, Shape shape) {
  const int64_t row = in.shape().elements_in(1, in.rank()) * int64_t(dtype_size(in.dtype()));
  if (!is_simple(in.dtype()) || in.num_elements() == 0 || begin * row % kAlignment != 0) return false;
  share_as(c, 0, in.slice_rows(begin, begin + n), std::move(shape));
  return true;
}

struct StridedSliceKernel {
  static Result<StridedSliceKernel> make(const NodeInfo& node) { return StridedSliceKernel{SliceMasks::of(node)}; }
  Status run(KernelContext& c) const {
    const Tensor& in = c.input(0);
    WEFT_ASSIGN(StridedSlice slice, parse_strided_slice(&c.input(1), &c.input(2), c.input(3), in.shape(), masks));
    Shape shape(slice.shape.dims());
    if (slice.identity) {
      share_as(c, 0, in, std::move(shape));
      return {};
    }
    if (slice.only_rows && in.rank() > 0 && share_rows(c, in, slice.dims[0].begin, slice.dims[0].size, shape)) return {};
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    copy_slice(c.pool(), in, slice, *out);
    return {};
  }
  SliceMasks masks;
};

Status strided_slice_shape(ShapeContext& c) {
  for (int i = 1; i < 4; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
  const Tensor* strides = c.constant(3);
  if (!c.input(0).has_rank() || !strides) return {};
  WEFT_ASSIGN(StridedSlice slice, parse_strided_slice(c.constant(1), c.constant(2), *strides, c.input(0), SliceMasks::of(c.node())));
  c.output(0, slice.shape);
  if (const auto* h = c.handle(0)) c.output_handle(0, *h);
  return {};
}

Status run_strided_slice_grad(KernelContext& c) {
  const Tensor &dims = c.input(0), &dy = c.input(4);
  if (dims.rank() != 1) return invalid_argument("shape must be 1-D, got shape.shape = ", dims.shape());
  WEFT_ASSIGN(Shape shape, shape_from(dims));
  WEFT_ASSIGN(StridedSlice slice, parse_strided_slice(&c.input(1), &c.input(2), c.input(3), shape, SliceMasks::of(c.node())));
  if (Shape(slice.shape.dims()) != dy.shape()) return invalid_argument("shape of dy was ", dy.shape(), " instead of ", slice.shape);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  kernels::fill_zero(c.pool(), out->dtype(), out->raw(), out->num_elements());
  assign_slice(c.pool(), dy, slice.cut(), slice, *out);
  return {};
}

Status strided_slice_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(0));
  c.output(0, std::move(s));
  return {};
}

// begin and size of a Slice, checked.
Result<Shape> slice_size(const Shape& in, const Tensor& begin, const Tensor& size) {
  const int rank = in.rank();
  if (begin.rank() != 1 || size.rank() != 1 || begin.num_elements() != rank || size.num_elements() != rank)
    return invalid_argument("Expected begin and size arguments to be 1-D tensors of size ", rank, ", but got shapes ", begin.shape(), " and ",
                            size.shape(), " instead.");
  std::vector<int64_t> sizes;
  for (int i = 0; i < rank; ++i) {
    const int64_t b = int_at(begin, i), d = in.dim(i);
    int64_t s = int_at(size, i);
    if (s == -1) s = d - std::min(b, d);  // up to the end; a bad begin is reported below
    if (d == 0) {
      if (b != 0 || s != 0)
        return invalid_argument("Expected begin[", i, "] == 0 (got ", b, ") and size[", i, "] == 0 (got ", s, ") when input.dim_size(", i, ") == 0");
    } else {
      if (b < 0 || b > d) return invalid_argument("Expected begin[", i, "] in [0, ", d, "], but got ", b);
      if (s < 0 || s > d - b) return invalid_argument("Expected size[", i, "] in [0, ", d - b, "], but got ", s);
    }
    sizes.push_back(s);
  }
  return Shape(sizes);
}

Status run_slice(KernelContext& c) {
  const Tensor &in = c.input(0), &begin = c.input(1);
  WEFT_ASSIGN(Shape shape, slice_size(in.shape(), begin, c.input(2)));
  if (shape == in.shape()) return pass_through(c);
  bool only_rows = true;
  for (int i = 1; i < in.rank(); ++i) only_rows &= shape.dim(i) == in.dim(i);
  if (only_rows && share_rows(c, in, int_at(begin, 0), shape.dim(0), shape)) return {};
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const auto from = strides_of(in.shape()), to = strides_of(shape);
  kernels::CopyPlan plan;
  int64_t offset = 0;
  for (int i = 0; i < in.rank(); ++i) {
    offset += int_at(begin, i) * from[size_t(i)];
    plan.add(shape.dim(i), from[size_t(i)], to[size_t(i)]);
  }
  if (!plan.empty()) kernels::strided_copy(c.pool(), in.dtype(), element(in, offset), out->raw(), plan);
  return {};
}

Status slice_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape begin, c.with_rank(1, 1));
  WEFT_ASSIGN(PartialShape size, c.with_rank(2, 1));
  WEFT_ASSIGN(int64_t rank, ShapeContext::merge_dim(begin.dim(0), size.dim(0)));
  const PartialShape& in = c.input(0);
  if (rank >= 0 && in.has_rank() && in.rank() != rank) return invalid_argument("Shape must be rank ", rank, " but is rank ", in.rank());
  if (rank < 0 && in.has_rank()) rank = in.rank();
  if (rank > kMaxRank) return invalid_argument("Slice of a tensor with ", rank, " dimensions");
  // Where a slice begins, and how large it is, may be known in part; -1 stands for the rest only where all sizes are known.
  WEFT_ASSIGN(PartialShape begins, c.constant_shape(1));
  const auto sizes = c.constant_ints(2);
  if (!sizes) {
    WEFT_ASSIGN(PartialShape out, c.constant_shape(2));
    if (out.has_rank()) c.output(0, std::move(out));
    else if (rank >= 0) c.output(0, PartialShape::unknown_of_rank(int(rank)));
    return {};
  }
  std::vector<int64_t> out;
  for (size_t i = 0; i < sizes->size(); ++i) {
    const int64_t d = in.has_rank() ? in.dim(int(i)) : kUnknownDim, s = (*sizes)[i];
    const int64_t from = begins.has_rank() && int(i) < begins.rank() ? begins.dim(int(i)) : kUnknownDim;
    if (s < -1) return invalid_argument("Out of bounds slicing on dimension ", i, " of length ", d, ": sizes vector cannot be < -1, but was ", s);
    if (s >= 0) {
      out.push_back(s);
    } else if (from == 0 || d < 0 || from < 0) {
      out.push_back(from == 0 ? d : kUnknownDim);
    } else {
      if (from > d) return invalid_argument("Negative dimension size caused by subtracting ", from, " from ", d);
      out.push_back(d - from);
    }
  }
  c.output(0, PartialShape(std::move(out)));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// Zeros around the part that was read.
Grads slice_grad(const GradContext& g) {
  const DType index = g.x(1).dtype();
  const Value begin = expand_dims(g.x(1), 1);
  const Value behind = expand_dims(shape_of(g.x(0), index) - shape_of(g.y(), index) - g.x(1), 1);
  const Value parts[] = {begin, behind};
  return {g.one("Pad", {g.dy(), concat(parts, 1)}), {}, {}};
}

AttrMap masks(const GradContext& g) { return g.attrs({"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"}); }

Grads strided_slice_grad(const GradContext& g) {
  return {g.one("StridedSliceGrad", {shape_of(g.x(0), g.x(1).dtype()), g.x(1), g.x(2), g.x(3), g.dy()}, masks(g)), {}, {}, {}};
}

Grads strided_slice_grad_grad(const GradContext& g) { return {{}, {}, {}, {}, g.one("StridedSlice", {g.dy(), g.x(1), g.x(2), g.x(3)}, masks(g))}; }

}  // namespace

void slice(Registry& r) {
  r.add("Slice")
      .in("input: T")
      .in("begin: Index")
      .in("size: Index")
      .out("output: T")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .doc("The block of the input that starts at `begin` and has the given size.")
      .traits({.same_if_same_shape = true})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(slice_shape)
      .grad(slice_grad)
      .cpu(run_slice);

  r.add("StridedSlice")
      .in("input: T")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .out("output: T")
      .attr("T: type")
      .attr("Index: {int16, int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0")
      .doc("What Python's x[begin:end:stride, ...] cuts out of the input.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(strided_slice_shape)
      .grad(strided_slice_grad)
      .cpu<StridedSliceKernel>();

  r.add("StridedSliceGrad")
      .in("shape: Index")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .in("dy: T")
      .out("output: T")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0")
      .doc("Zeros of the given shape with `dy` where a strided slice would read.")
      .shape(strided_slice_grad_shape)
      .grad(strided_slice_grad_grad)
      .cpu(run_strided_slice_grad);

  set_layout(r, {"Slice"}, layouts::kSlice);
  set_layout(r, {"StridedSlice"}, layouts::kStridedSlice);
  set_layout(r, {"StridedSliceGrad"}, layouts::kStridedSliceGradient);
  set_api_trait(r, {"Slice", "StridedSlice", "StridedSliceGrad"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
