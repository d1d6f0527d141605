// Tensors joined and taken apart: Concat, Pack, Split, Unpack, DynamicPartition, DynamicStitch.
#include <algorithm>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/scatter_nd.h"
#include "op/api_traits.h"
#include "op/cancellation.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

using Tensors = std::span<const Tensor* const>;

// Copies a [outer, n] block of `from`, whose rows are from_row long, to rows of `to` that are to_row long.
void copy_block(KernelContext& c, const Tensor& from, int64_t from_at, int64_t from_row, Tensor& to, int64_t to_at, int64_t to_row, int64_t outer,
                int64_t n) {
  kernels::CopyPlan plan;
  plan.add(outer, from_row, to_row);
  plan.add(n, 1, 1);
  if (!plan.empty()) kernels::strided_copy(c.pool(), from.dtype(), element(from, from_at), element(to, to_at), plan);
}

// ---- Concat ----------------------------------------------------------------------------------------

Status concat(KernelContext& c, Tensors values, const Tensor& axis_in, const char* axis_name) {
  // A vector of one element counts as a scalar, as graphs of old have it.
  if (axis_in.rank() != 0 && !(axis_in.rank() == 1 && axis_in.dim(0) == 1))
    return invalid_argument(axis_name, " tensor should be a scalar integer, but got shape ", axis_in.shape());
  const Tensor& first = *values[0];
  const int rank = first.rank();
  int64_t axis = int_at(axis_in, 0);
  if ((axis < -rank || axis >= rank) && !(axis == 0 && rank == 0))
    return invalid_argument("ConcatOp : Expected concatenating dimensions in the range [", -rank, ", ", rank, "), but got ", axis);
  if (axis < 0) axis += rank;
  int64_t total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor& t = *values[i];
    if (t.rank() == 0) return invalid_argument("ConcatOp : Can't concatenate scalars (use tf.stack instead)");
    if (t.rank() != rank)
      return invalid_argument("ConcatOp : Ranks of all input tensors should match: shape[0] = ", first.shape(), " vs. shape[", i, "] = ", t.shape());
    for (int d = 0; d < rank; ++d) {
      if (d != axis && t.dim(d) != first.dim(d))
        return invalid_argument("ConcatOp : Dimension ", d, " in both shapes must be equal: shape[0] = ", first.shape(), " vs. shape[", i,
                                "] = ", t.shape());
    }
    if (__builtin_add_overflow(total, t.dim(int(axis)), &total)) return invalid_argument("ConcatOp : result is too large");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, first.shape().with_dim(int(axis), total)));
  if (out->num_elements() == 0) return {};
  const int64_t outer = first.shape().elements_in(0, int(axis)), inner = first.shape().elements_in(int(axis) + 1, rank);
  int64_t at = 0;
  for (const Tensor* t : values) {
    const int64_t n = t->dim(int(axis)) * inner;
    copy_block(c, *t, 0, n, *out, at, total * inner, outer, n);
    at += n;
  }
  return {};
}

Status run_concat(KernelContext& c) { return concat(c, c.input_list("values"), c.input(0), "concat_dim"); }
Status run_concat_v2(KernelContext& c) { return concat(c, c.input_list("values"), c.input(c.num_inputs() - 1), "axis"); }

Status concat_rule(ShapeContext& c, int first, int count, int axis_input) {
  if (c.input(axis_input).has_rank() && c.input(axis_input).rank() > 1)
    return invalid_argument("Shape must be rank 0 but is rank ", c.input(axis_input).rank());
  const auto axis_value = c.constant_int(axis_input);
  int rank = -1;
  for (int i = first; i < first + count; ++i) {
    const PartialShape& s = c.input(i);
    if (!s.has_rank()) continue;
    if (rank >= 0 && s.rank() != rank) return invalid_argument("Shape must be rank ", rank, " but is rank ", s.rank());
    rank = s.rank();
  }
  if (rank < 0) return {};
  if (rank == 0) return invalid_argument("Can't concatenate scalars (use tf.stack instead)");
  if (!axis_value) {
    c.output(0, PartialShape::unknown_of_rank(rank));
    return {};
  }
  int64_t axis = *axis_value;
  if (axis < -rank || axis >= rank)
    return invalid_argument("Shape must be at least rank ", axis < 0 ? 0 - uint64_t(axis) : uint64_t(axis) + 1, " but is rank ", rank);
  if (axis < 0) axis += rank;
  int64_t total = 0;
  PartialShape before = PartialShape::unknown_of_rank(int(axis)), after = PartialShape::unknown_of_rank(rank - int(axis) - 1);
  // From the last input, and what is before the axis apart from what is behind it: an error speaks of the shapes that TensorFlow's does.
  for (int i = first + count - 1; i >= first; --i) {
    const PartialShape s = c.input(i).has_rank() ? c.input(i) : PartialShape::unknown_of_rank(rank);
    total = shapes::add_dim(total, s.dim(int(axis)));
    WEFT_ASSIGN(before, s.slice(0, int(axis)).merge_with(before));
    WEFT_ASSIGN(after, s.slice(int(axis) + 1, rank).merge_with(after));
  }
  before.add_dim(total);
  c.output(0, before.concat(after));
  return {};
}

Status concat_shape(ShapeContext& c) { return concat_rule(c, 1, c.num_inputs() - 1, 0); }
Status concat_v2_shape(ShapeContext& c) { return concat_rule(c, 0, c.num_inputs() - 1, c.num_inputs() - 1); }

std::string ints_text(const Tensor& t) {
  std::string out = "[";
  for (int64_t i = 0; i < t.num_elements(); ++i) out += cat(i ? " " : "", int_at(t, i));
  return out + "]";
}

Status run_concat_offset(KernelContext& c) {
  const Tensor& dim = c.input(0);
  if (dim.rank() != 0) return invalid_argument("Concat dim tensor should be a scalar integer, but got shape ", dim.shape());
  const int n = c.num_inputs() - 1;
  for (int i = 0; i < n; ++i) {
    if (c.input(i + 1).rank() != 1) return invalid_argument("input ", i + 1, " should be a vector, but got shape ", c.input(i + 1).shape());
  }
  const Tensor& first = c.input(1);
  const int64_t rank = first.num_elements(), given = int_at(dim, 0), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return invalid_argument("Concat dim is out of range: ", given, " vs. ", rank);
  int64_t offset = 0;
  for (int i = 0; i < n; ++i) {
    const Tensor& in = c.input(i + 1);
    if (in.num_elements() != rank) return invalid_argument("input ", i, " should contain ", rank, " elements, but got ", in.num_elements());
    WEFT_ASSIGN(Tensor* out, c.allocate(i, {rank}));
    for (int64_t d = 0; d < rank; ++d) {
      put_int(*out, d, d == axis ? offset : 0);
      if (d != axis && int_at(in, d) != int_at(first, d))
        return invalid_argument("All dimensions except ", axis, " must match. Input ", i, " has shape ", ints_text(in),
                                " and doesn't match input 0 with shape ", ints_text(first), ".");
    }
    offset = int64_t(uint64_t(offset) + uint64_t(int_at(in, axis)));
  }
  return {};
}

Status concat_offset_shape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    WEFT_ASSIGN(PartialShape s, c.with_rank(i, 1));
    c.output(i - 1, std::move(s));
  }
  return {};
}

// ---- Pack and ParallelConcat -----------------------------------------------------------------------

Status run_pack(KernelContext& c) {
  const Tensor& first = c.input(0);
  const int64_t n = c.num_inputs();
  const int rank = first.rank() + 1;
  int64_t axis = c.attr<int64_t>("axis");
  if (axis < -rank || axis >= rank) return invalid_argument("axis = ", axis, " not in [", -rank, ", ", rank, ")");
  if (axis < 0) axis += rank;
  for (int i = 1; i < n; ++i) {
    if (c.input(i).shape() != first.shape())
      return invalid_argument("Shapes of all inputs must match: values[0].shape = ", first.shape(), " != values[", i,
                              "].shape = ", c.input(i).shape());
  }
  Shape shape = first.shape();
  shape.insert_dim(int(axis), n);
  if (n == 1) {
    share_as(c, 0, first, std::move(shape));
    return {};
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  const int64_t outer = first.shape().elements_in(0, int(axis)), inner = first.shape().elements_in(int(axis), rank - 1);
  for (int64_t i = 0; i < n; ++i) copy_block(c, c.input(int(i)), 0, inner, *out, i * inner, n * inner, outer, inner);
  return {};
}

Status pack_shape(ShapeContext& c) {
  PartialShape s;
  for (int i = c.num_inputs(); i-- > 0;) {
    auto merged = c.input(i).merge_with(s);
    if (!merged.ok()) return merged.status().with_suffix(cat("\n\tFrom merging shape ", i, " with other shapes."));
    s = std::move(merged).value();
  }
  if (!s.has_rank()) return {};
  int64_t axis = c.attr<int64_t>("axis");
  const int rank = s.rank() + 1;
  if (axis < -rank || axis >= rank) return invalid_argument("Invalid axis: ", axis, "; must be in [", -rank, ",", rank, ")");
  if (axis < 0) axis += rank;
  c.output(0, s.slice(0, int(axis)).concat({c.num_inputs()}).concat(s.slice(int(axis), s.rank())));
  return {};
}

Status run_parallel_concat(KernelContext& c) {
  const auto shape = c.attr<PartialShape>("shape").concrete();
  if (!shape) return invalid_argument("All concat dims must be fully known, but got shape ", c.attr<PartialShape>("shape"));
  const int n = c.num_inputs();
  if (shape->rank() < 1 || shape->dim(0) != n)
    return invalid_argument("ParallelConcat of ", n, " values needs a shape that starts with ", n, ", but got ", *shape);
  const Shape row = shape->with_dim(0, 1);
  for (int i = 0; i < n; ++i) {
    if (c.input(i).shape() != row) return invalid_argument("value ", i, " of ParallelConcat has shape ", c.input(i).shape(), ", expected ", row);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, *shape));
  const int64_t size = row.num_elements();
  for (int i = 0; i < n; ++i) copy_block(c, c.input(i), 0, size, *out, i * size, size, 1, size);
  return {};
}

Status parallel_concat_shape(ShapeContext& c) {
  const PartialShape& shape = c.attr<PartialShape>("shape");
  if (!shape.fully_known()) return invalid_argument("shape attr must be fully defined.");
  if (shape.rank() < 1) return invalid_argument("shape attr must have at least one dimension.");
  PartialShape row = shape;
  row.set_dim(0, 1);
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).compatible_with(row)) return invalid_argument("All input shapes must be fully defined.");
  }
  c.output(0, shape);
  return {};
}

// ---- Split and Unpack --------------------------------------------------------------------------------

// Between outputs, of which there may be millions: whether the call shall end.
Status go_on(const KernelContext& c, size_t i) {
  constexpr size_t kLook = 1024;
  CancellationManager* const cancellation = i % kLook == kLook - 1 ? c.env().cancellation : nullptr;
  return cancellation && cancellation->asked_to_stop() ? cancelled(c.node().op(), " was cancelled after ", i, " of ", c.num_outputs(), " outputs")
                                                       : Status();
}

// Output i of the run gets rows [at, at + size) of the axis. Along axis 0 they share memory where aligned.
Status take_part(KernelContext& c, int i, const Tensor& in, int axis, int64_t at, int64_t size, const Shape& shape) {
  constexpr int64_t kAlignment = 64;
  WEFT_RETURN_IF_ERROR(go_on(c, size_t(i)));
  const int64_t inner = in.shape().elements_in(axis + 1, in.rank());
  if (in.num_elements() == 0) return c.allocate(i, shape).status();
  if (axis == 0 && is_simple(in.dtype()) && at * inner * int64_t(dtype_size(in.dtype())) % kAlignment == 0) {
    share_as(c, i, in.slice_rows(at, at + size), shape);
    return {};
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(i, shape));
  copy_block(c, in, at * inner, in.dim(axis) * inner, *out, 0, size * inner, in.shape().elements_in(0, axis), size * inner);
  return {};
}

Status run_split(KernelContext& c) {
  const Tensor &dim = c.input(0), &in = c.input(1);
  const int rank = in.rank();
  const int64_t n = c.num_outputs();
  if (dim.rank() != 0) return invalid_argument("split_dim must be a scalar but has rank ", dim.rank());
  const int64_t given = int_at(dim, 0), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis >= rank) return invalid_argument("-input rank(-", rank, ") <= split_dim < input rank (", rank, "), but got ", given);
  const int64_t size = in.dim(int(axis));
  if (size % n != 0)
    return invalid_argument("Number of ways to split should evenly divide the split dimension, but got split_dim ", axis, " (size = ", size,
                            ") and num_split ", n);
  if (n == 1) {
    c.set_output(0, in);
    return {};
  }
  const Shape shape = in.shape().with_dim(int(axis), size / n);
  for (int64_t i = 0; i < n; ++i) WEFT_RETURN_IF_ERROR(take_part(c, int(i), in, int(axis), i * (size / n), size / n, shape));
  return {};
}

Status split_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  const PartialShape& in = c.input(1);
  if (!in.has_rank()) return {};
  PartialShape out = PartialShape::unknown_of_rank(in.rank());
  if (const auto given = c.constant_int(0)) {
    const int64_t axis = *given < 0 ? *given + in.rank() : *given;
    if (axis < 0 || axis >= in.rank())
      return invalid_argument("-input rank(-", in.rank(), ") <= split_dim < input rank (", in.rank(), "), but got ", *given);
    out = in;
    const int64_t size = in.dim(int(axis)), n = c.num_outputs();
    if (size >= 0 && size % n != 0)
      return invalid_argument("Dimension size must be evenly divisible by ", n, " but is ", size,
                              "\n\tNumber of ways to split should evenly divide the split dimension");
    out.set_dim(int(axis), size < 0 ? kUnknownDim : size / n);
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, out);
  return {};
}

// Sizes with the one of -1 worked out.
Result<std::vector<int64_t>> split_sizes(const Tensor& given, int64_t size) {
  std::vector<int64_t> sizes = ints_of(given);
  int unknown = -1;
  int64_t total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      if (unknown >= 0) return invalid_argument("There can only be one -1 in the input.");
      unknown = int(i);
    } else if (__builtin_add_overflow(total, sizes[i], &total)) {
      return invalid_argument("Split sizes add up to more than an int64 holds");
    }
  }
  if (unknown < 0 ? total != size : total > size)
    return invalid_argument(
        "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of the "
        "input along split_dim if not fully specified.  Got: ",
        total);
  if (unknown >= 0) sizes[size_t(unknown)] = int64_t(uint64_t(size) - uint64_t(total));  // a bad entry is reported below
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) return invalid_argument("Split size at index ", i, " must be >= 0. Got: ", sizes[i]);
  }
  return sizes;
}

Status run_split_v(KernelContext& c) {
  const Tensor &in = c.input(0), &given = c.input(1), &dim = c.input(2);
  const int rank = in.rank();
  if (dim.num_elements() != 1) return invalid_argument("split_dim_tensor must have exactly one element.");
  const int64_t wanted = int_at(dim, 0), axis = wanted < 0 ? wanted + rank : wanted;
  if (given.rank() != 1 || given.num_elements() != c.num_outputs())
    return invalid_argument("size of the split_tensor must be 1-D and have the same elements as outputs got ", given.rank(), " -D and ",
                            given.num_elements(), " elements");
  if (axis < 0 || axis >= rank) return invalid_argument("-input rank(-", rank, ") <= split_dim < input rank (", rank, "), but got ", wanted);
  WEFT_ASSIGN(std::vector<int64_t> sizes, split_sizes(given, in.dim(int(axis))));
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    WEFT_RETURN_IF_ERROR(take_part(c, int(i), in, int(axis), at, sizes[i], in.shape().with_dim(int(axis), sizes[i])));
    at += sizes[i];
  }
  return {};
}

Status split_v_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  WEFT_ASSIGN(PartialShape given, c.with_rank(1, 1));
  if (!in.has_rank()) return {};
  const auto dim = c.constant_int(2);
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, PartialShape::unknown_of_rank(in.rank()));
  if (!dim) return {};
  const int64_t axis = *dim < 0 ? *dim + in.rank() : *dim;
  if (axis < 0 || axis >= in.rank())
    return invalid_argument("-input rank(-", in.rank(), ") <= split_dim < input rank (", in.rank(), "), but got ", *dim);
  std::vector<int64_t> sizes(size_t(c.num_outputs()), kUnknownDim);
  if (const Tensor* t = c.constant(1)) {
    if (t->num_elements() != c.num_outputs()) return invalid_argument("Length of size_splits should be equal to num_outputs");
    if (in.dim(int(axis)) >= 0) {
      WEFT_ASSIGN(sizes, split_sizes(*t, in.dim(int(axis))));
    } else {
      sizes = ints_of(*t);
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    PartialShape out = in;
    out.set_dim(int(axis), sizes[size_t(i)]);
    c.output(i, std::move(out));
  }
  return {};
}

Status run_unpack(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int rank = in.rank();
  const int64_t given = c.attr<int64_t>("axis"), axis = given < 0 ? given + rank : given, n = c.num_outputs();
  if (axis < 0 || axis >= rank) return invalid_argument("axis = ", given, " not in [", -rank, ", ", rank, ")");
  if (in.dim(int(axis)) != n) return invalid_argument("Input shape axis ", axis, " must equal ", n, ", got shape ", in.shape());
  Shape shape = in.shape();
  shape.remove_dim(int(axis));
  for (int64_t i = 0; i < n; ++i) WEFT_RETURN_IF_ERROR(take_part(c, int(i), in, int(axis), i, 1, shape));
  return {};
}

Status unpack_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  if (!in.has_rank()) return {};
  const int64_t given = c.attr<int64_t>("axis"), axis = given < 0 ? given + in.rank() : given;
  if (axis < 0 || axis >= in.rank()) return invalid_argument("Invalid axis: ", given, "; must be in [", -in.rank(), ",", in.rank(), ")");
  if (in.dim(int(axis)) >= 0 && in.dim(int(axis)) != c.num_outputs())
    return invalid_argument("Dimension must be ", c.num_outputs(), " but is ", in.dim(int(axis)));
  const PartialShape out = in.slice(0, int(axis)).concat(in.slice(int(axis) + 1, in.rank()));
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, out);
  return {};
}

// ---- DynamicPartition and DynamicStitch ----------------------------------------------------------------

bool starts_with(const Shape& s, const Shape& head) { return s.rank() >= head.rank() && s.slice(0, head.rank()) == head; }

Status run_dynamic_partition(KernelContext& c) {
  const Tensor &data = c.input(0), &partitions = c.input(1);
  const int64_t parts = c.num_outputs(), n = partitions.num_elements();
  if (!starts_with(data.shape(), partitions.shape()))
    return invalid_argument("data.shape must start with partitions.shape, got data.shape = ", data.shape(),
                            ", partitions.shape = ", partitions.shape());
  const int32_t* part = partitions.data<int32_t>();
  const int64_t bad = kernels::first_bad_index(part, n, parts);
  if (bad >= 0)
    return invalid_argument("partitions", kernels::position_text(partitions.shape(), bad), " = ", part[bad], " is not in [0, ", parts, ")");
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(parts));
  for (int64_t i = 0; i < n; ++i) rows[size_t(part[i])].push_back(i);
  const Shape row = data.shape().slice(partitions.rank(), data.rank());
  for (size_t p = 0; p < rows.size(); ++p) {
    WEFT_RETURN_IF_ERROR(go_on(c, p));
    WEFT_ASSIGN(Tensor* out, c.allocate(int(p), Shape({int64_t(rows[p].size())}).concat(row)));
    if (out->num_elements() > 0)
      kernels::gather(c.pool(), data.dtype(), data.raw(), 1, 1, n, row.num_elements(), rows[p].data(), int64_t(rows[p].size()), out->raw());
  }
  return {};
}

Status dynamic_partition_shape(ShapeContext& c) {
  const PartialShape &data = c.input(0), &partitions = c.input(1);
  if (!partitions.has_rank() || !data.has_rank()) return {};
  if (data.rank() < partitions.rank()) return invalid_argument("Shape must be at least rank ", partitions.rank(), " but is rank ", data.rank());
  WEFT_RETURN_IF_ERROR(data.slice(0, partitions.rank()).merge_with(partitions).status());
  const PartialShape out = PartialShape::vector(kUnknownDim).concat(data.slice(partitions.rank(), data.rank()));
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, out);
  return {};
}

// The first dimension of the merged tensor and the shape of its rows, checked.
Result<Shape> stitched_shape(Tensors indices, Tensors data) {
  int64_t highest = -1;
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto at = indices[i]->span<int32_t>();
    for (size_t k = 0; k < at.size(); ++k) {
      if (at[k] < 0) return invalid_argument("indices[", k, "] is out of range");
      highest = std::max<int64_t>(highest, at[k]);
    }
  }
  const Tensor &data0 = *data[0], &indices0 = *indices[0];
  for (size_t i = 0; i < indices.size(); ++i) {
    const Tensor &d = *data[i], &x = *indices[i];
    if (!starts_with(d.shape(), x.shape()))
      return invalid_argument("data[", i, "].shape = ", d.shape(), " does not start with indices[", i, "].shape = ", x.shape());
    if (d.shape().slice(x.rank(), d.rank()) != data0.shape().slice(indices0.rank(), data0.rank()))
      return invalid_argument("Need data[0].shape[", indices0.rank(), ":] = data[", i, "].shape[", x.rank(),
                              ":], got data[0].shape = ", data0.shape(), ", data[", i, "].shape = ", d.shape(),
                              ", indices[0].shape = ", indices0.shape(), ", indices[", i, "].shape = ", x.shape());
  }
  return Shape({highest + 1}).concat(data0.shape().slice(indices0.rank(), data0.rank()));
}

Status run_dynamic_stitch(KernelContext& c) {
  const Tensors indices = c.input_list("indices"), data = c.input_list("data");
  WEFT_ASSIGN(Shape shape, stitched_shape(indices, data));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  const int64_t row = shape.elements_in(1, shape.rank());
  if (row == 0) return {};
  // Rows that no index names are zero: TensorFlow leaves what memory held.
  std::vector<bool> named(size_t(shape.dim(0)), false);
  for (const Tensor* t : indices) {
    for (int32_t at : t->span<int32_t>()) named[size_t(at)] = true;
  }
  if (std::find(named.begin(), named.end(), false) != named.end()) kernels::fill_zero(c.pool(), out->dtype(), out->raw(), out->num_elements());
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < indices.size(); ++i) {
    offsets.clear();
    for (int32_t at : indices[i]->span<int32_t>()) offsets.push_back(at * row);
    WEFT_RETURN_IF_ERROR(kernels::scatter_update(c.pool(), kernels::Update::kAssign, out->dtype(), out->raw(), data[i]->raw(), offsets, row));
  }
  return {};
}

Status dynamic_stitch_shape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  bool all_known = true;
  int64_t highest = -1;
  PartialShape rest;
  for (int i = 0; i < n; ++i) {
    const PartialShape &x = c.input(i), &d = c.input(i + n);
    if (const auto values = c.constant_ints(i)) {
      for (int64_t v : *values) highest = std::max(highest, v);
    } else {
      all_known = false;
    }
    if (!x.has_rank() || !d.has_rank()) continue;
    if (d.rank() < x.rank()) return invalid_argument("Shape must be at least rank ", x.rank(), " but is rank ", d.rank());
    WEFT_RETURN_IF_ERROR(d.slice(0, x.rank()).merge_with(x).status());
    WEFT_ASSIGN(rest, rest.merge_with(d.slice(x.rank(), d.rank())));
  }
  if (rest.has_rank()) c.output(0, PartialShape::vector(all_known ? highest + 1 : kUnknownDim).concat(rest));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// A gradient of some rows stays one: of the rows that are the value's, or of its part of every row.
Grads sparse_concat_grad(const GradContext& g, int begin, int64_t axis, const std::vector<Value>& offsets, const std::vector<Value>& sizes) {
  Grads grads = g.none();
  const Value &values = g.raw_dy().slice_values(), &indices = g.raw_dy().slice_indices();
  for (size_t i = 0; i < sizes.size(); ++i) {
    Value& grad = grads[size_t(begin) + i];
    if (axis > 0) {
      grad = Value::slices(
          g.one("Slice", {values, offsets[i],
                          concat(std::vector<Value>{ints(g.emitter(), {-1}), slice(sizes[i], ints(g.emitter(), {1}), ints(g.emitter(), {-1}))}, 0)}),
          indices, sizes[i]);
      continue;
    }
    const Value first = cast(element(offsets[i], 0), indices.dtype()), last = first + cast(element(sizes[i], 0), indices.dtype());
    const Value own = binary("LogicalAnd", binary("GreaterEqual", indices, first), binary("Less", indices, last));
    const Value rows = squeeze(g.one("Where", {own}), {1});
    grad = Value::slices(gather(values, rows), gather(indices, rows) - first, sizes[i]);
  }
  return grads;
}

// Each value gets its part of the gradient; values are inputs [begin, end).
Grads concat_grad(const GradContext& g, int begin, int end, int axis_at) {
  Grads grads = g.none();
  if (end - begin == 1) {
    grads[size_t(begin)] = g.raw_dy();
    return grads;
  }
  std::vector<Value> values, sizes;
  for (int i = begin; i < end; ++i) values.push_back(g.x(i));
  for (const Value& v : values) sizes.push_back(shape_of(v));
  const Value axis = binary("FloorMod", cast(g.x(axis_at), DType::kInt32), rank_of(values[0]));
  std::vector<Value> in = {axis};
  in.insert(in.end(), sizes.begin(), sizes.end());
  const auto offsets = g.apply("ConcatOffset", in);
  if (offsets.size() != values.size()) return g.none();
  const Tensor* along = g.x(axis_at).constant();
  if (g.raw_dy().is_slices() && along && values[0].shape().has_rank()) {
    const int64_t at = along->dtype() == DType::kInt64 ? along->data<int64_t>()[0] : along->data<int32_t>()[0];
    return sparse_concat_grad(g, begin, at < 0 ? at + values[0].shape().rank() : at, offsets, sizes);
  }
  const Value dy = g.dy();
  for (size_t i = 0; i < values.size(); ++i) grads[size_t(begin) + i] = g.one("Slice", {dy, offsets[i], sizes[i]});
  return grads;
}

Grads pack_grad(const GradContext& g) {
  return g.apply("Unpack", std::vector<Value>{g.dy()}, {{"num", int64_t(g.num_inputs())}, {"axis", g.attr<int64_t>("axis")}});
}

std::vector<Value> all_dys(const GradContext& g) {
  std::vector<Value> dys;
  for (int i = 0; i < g.num_outputs(); ++i) dys.push_back(g.dy(i));
  return dys;
}

Grads unpack_grad(const GradContext& g) { return g.apply("Pack", all_dys(g), {{"axis", g.attr<int64_t>("axis")}}); }

Value joined(const GradContext& g, const Value& axis) {
  std::vector<Value> parts = all_dys(g);
  if (parts.size() == 1) return parts[0];
  parts.push_back(axis);
  auto out = g.apply("ConcatV2", parts);
  return out.empty() ? Value() : out[0];
}
Grads split_grad(const GradContext& g) { return {{}, joined(g, g.x(0))}; }
Grads split_v_grad(const GradContext& g) { return {joined(g, g.x(2)), {}, {}}; }

// Where each row went is found by sending the numbers of the rows the same way.
Grads dynamic_partition_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value parts = g.x(1), zero = scalar(e, DType::kInt32, 0);
  const Value rows = reshape(g.one("Range", {zero, size_of(parts), scalar(e, DType::kInt32, 1)}), shape_of(parts));
  std::vector<Value> in = g.apply("DynamicPartition", std::vector<Value>{rows, parts}, {{"num_partitions", g.attr<int64_t>("num_partitions")}});
  for (Value& dy : all_dys(g)) in.push_back(std::move(dy));
  auto whole = g.apply("DynamicStitch", in, {{"N", int64_t(g.num_outputs())}});
  if (whole.empty()) return g.none();
  return {reshape(whole[0], shape_of(g.x(0))), {}};
}

Grads dynamic_stitch_grad(const GradContext& g) {
  Grads grads = g.none();
  const int n = g.num_inputs() / 2;
  for (int i = 0; i < n; ++i) grads[size_t(n + i)] = gather(g.dy(), g.x(i));
  return grads;
}

}  // namespace

void concat(Registry& r) {
  r.add("Concat")
      .in("concat_dim: int32")
      .in("values: N * T")
      .out("output: T")
      .attr("N: int >= 2")
      .attr("T: type")
      .doc("The values one after the other along a dimension.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(concat_shape)
      .grad([](const GradContext& g) -> Grads { return concat_grad(g, 1, g.num_inputs(), 0); })
      .cpu(run_concat);

  r.add("ConcatOffset")
      .in("concat_dim: int32")
      .in("shape: N * shape_type")
      .out("offset: N * shape_type")
      .attr("N: int >= 2")
      .attr("shape_type: {int32, int64} = DT_INT32")
      .doc("Where each of the shapes would start in their concatenation.")
      .on_gpu(OnGpu::kAllOnHost)
      .shape(concat_offset_shape)
      .no_grad()
      .cpu(run_concat_offset);

  r.add("ConcatV2")
      .in("values: N * T")
      .in("axis: Tidx")
      .out("output: T")
      .attr("N: int >= 2")
      .attr("T: type")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("The values one after the other along an axis.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(concat_v2_shape)
      .grad([](const GradContext& g) -> Grads { return concat_grad(g, 0, g.num_inputs() - 1, g.num_inputs() - 1); })
      .cpu(run_concat_v2);

  r.add("DynamicPartition")
      .in("data: T")
      .in("partitions: int32")
      .out("outputs: num_partitions * T")
      .attr("num_partitions: int >= 1")
      .attr("T: type")
      .doc("The rows of the data, sorted into the partitions that are named for them.")
      .on_gpu(OnGpu::kByCpu)
      .shape(dynamic_partition_shape)
      .grad(dynamic_partition_grad)
      .cpu(run_dynamic_partition);

  r.add("DynamicStitch")
      .in("indices: N * int32")
      .in("data: N * T")
      .out("merged: T")
      .attr("N: int >= 1")
      .attr("T: type")
      .doc("One tensor from the rows of several, put where the indices say; the last one wins.")
      .shape(dynamic_stitch_shape)
      .grad(dynamic_stitch_grad)
      .cpu(run_dynamic_stitch);

  r.add("Pack")
      .in("values: N * T")
      .out("output: T")
      .attr("N: int >= 1")
      .attr("T: type")
      .attr("axis: int = 0")
      .doc("The values side by side along a new axis.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(pack_shape)
      .grad(pack_grad)
      .cpu(run_pack);

  r.add("ParallelConcat")
      .in("values: N * T")
      .out("output: T")
      .attr("N: int >= 1")
      .attr("T: type")
      .attr("shape: shape")
      .doc("The values, each of them one row, one after the other.")
      .shape(parallel_concat_shape)
      .cpu(run_parallel_concat);

  r.add("ParallelDynamicStitch")
      .in("indices: N * int32")
      .in("data: N * T")
      .out("merged: T")
      .attr("N: int >= 1")
      .attr("T: type")
      .doc("One tensor from the rows of several, put where the indices say.")
      .shape(dynamic_stitch_shape)
      .grad(dynamic_stitch_grad)
      .cpu(run_dynamic_stitch);

  r.add("Split")
      .in("split_dim: int32")
      .in("value: T")
      .out("output: num_split * T")
      .attr("num_split: int >= 1")
      .attr("T: type")
      .doc("The value in equal parts along a dimension.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(split_shape)
      .grad(split_grad)
      .cpu(run_split);

  r.add("SplitV")
      .in("value: T")
      .in("size_splits: Tlen")
      .in("split_dim: int32")
      .out("output: num_split * T")
      .attr("num_split: int >= 1")
      .attr("T: type")
      .attr("Tlen: {int8, int32, int64} = DT_INT64")
      .doc("The value in parts of the given sizes along a dimension; one may be -1 and takes what is left.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(split_v_shape)
      .grad(split_v_grad)
      .cpu(run_split_v);

  r.add("Unpack")
      .in("value: T")
      .out("output: num * T")
      .attr("num: int >= 0")
      .attr("T: type")
      .attr("axis: int = 0")
      .doc("The slices of the value along an axis.")
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(unpack_shape)
      .grad(unpack_grad)
      .cpu(run_unpack);

  set_layout(r, {"Concat"}, layouts::concat(0));
  set_layout(r, {"ConcatV2"}, layouts::concat(-1));
  set_layout(r, {"ConcatOffset"}, layouts::kReplicated);
  set_layout(r, {"Pack"}, layouts::kPack);
  set_layout(r, {"Unpack"}, layouts::kUnpack);
  set_layout(r, {"Split"}, layouts::split(1, 0));
  set_layout(r, {"SplitV"}, layouts::split(0, 2));
  set_api_trait(r, {"Concat", "ConcatV2", "Pack", "Unpack"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
