// Sparse tensors whose values only move: reordering, reshaping, slicing, splitting, joining, densifying.
#include <algorithm>
#include <numeric>

#include "kernels/cpu/sparse_index.h"
#include "kernels/cpu/strided_copy.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/sparse/fill_empty_rows.h"
#include "ops/sparse/sparse_tensor.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

std::vector<int64_t> standard_order(int64_t rank) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Status run_reorder(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1);
  WEFT_RETURN_IF_ERROR(check_sparse(indices, values, c.input(2), IndexCheck::kNone));
  const int64_t n = indices.dim(0), rank = indices.dim(1);
  const int64_t* ix = indices.data<int64_t>();
  bool sorted = true;
  for (int64_t i = 1; i < n && sorted; ++i) sorted = kernels::compare_index_rows(ix + (i - 1) * rank, ix + i * rank, rank) < 0;
  if (sorted) {
    c.set_output(0, indices);
    c.set_output(1, values);
    return {};
  }
  const auto rows = kernels::sort_index_rows(ix, n, rank, standard_order(rank));
  WEFT_ASSIGN(Tensor out_indices, pick_rows(indices, rows));
  WEFT_ASSIGN(Tensor out_values, pick_values(values, rows));
  c.set_output(0, std::move(out_indices));
  c.set_output(1, std::move(out_values));
  return {};
}

// The shape asked for, with a -1 worked out.
Result<Shape> reshape_target(const Shape& in, std::span<const int64_t> wanted) {
  int64_t product = 1, unknown = -1;
  std::vector<int64_t> dims(wanted.begin(), wanted.end());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == -1) {
      if (unknown >= 0) return invalid_argument("only one output dimension may be -1, not both ", unknown, " and ", d);
      unknown = int64_t(d);
      dims[d] = 1;
      continue;
    }
    if (dims[d] < 0) return invalid_argument("size ", d, " must be non-negative, not ", dims[d]);
    product = multiply_without_overflow(product, dims[d]);
    if (product < 0) return Shape(dims).check();
  }
  WEFT_ASSIGN(Shape out, Shape::make(dims));
  if (unknown >= 0) {
    if (product <= 0)
      return invalid_argument("reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are non-zero");
    const int64_t missing = in.num_elements() / product;
    if (product * missing != in.num_elements())
      return invalid_argument("Input to reshape is a SparseTensor with ", in.num_elements(),
                              " dense values, but the requested shape requires a multiple of ", product, ". input_shape=", in, " output_shape=", out);
    out.set_dim(int(unknown), missing);
  }
  if (out.num_elements() != in.num_elements())
    return invalid_argument("Input to reshape is a tensor with ", in.num_elements(), " dense values, but the requested shape has ",
                            out.num_elements(), ". input_shape=", in, " output_shape=", out);
  return out;
}

std::vector<uint64_t> strides_of(const Shape& s) {
  std::vector<uint64_t> strides(size_t(s.rank()), 1);
  for (int d = s.rank() - 2; d >= 0; --d) strides[size_t(d)] = strides[size_t(d) + 1] * uint64_t(s.dim(d + 1));
  return strides;
}

Status run_reshape(KernelContext& c) {
  const Tensor &indices = c.input(0), &shape = c.input(1), &wanted = c.input(2);
  if (indices.rank() != 2) return invalid_argument("Input must be a matrix.");
  if (shape.rank() != 1) return invalid_argument("Input shape must be a vector.");
  if (indices.dim(1) != shape.dim(0)) return invalid_argument("Input tensor rank must match input shape length.");
  if (wanted.rank() != 1) return invalid_argument("Target shape should be a vector but received shape ", wanted.shape());
  WEFT_ASSIGN(Shape in, dense_shape_of(shape));
  WEFT_ASSIGN(Shape out, reshape_target(in, wanted.span<int64_t>()));
  if (in == out) {
    c.set_output(0, indices);
    c.set_output(1, shape);
    return {};
  }
  const int64_t n = indices.dim(0), in_rank = in.rank(), out_rank = out.rank();
  WEFT_ASSIGN(Tensor* out_shape, c.allocate(1, Shape({out_rank})));
  std::copy_n(out.dims().data(), out_rank, out_shape->data<int64_t>());
  WEFT_ASSIGN(Tensor* out_indices, c.allocate(0, Shape({n, out_rank})));
  if (n == 0) return {};
  if (in.num_elements() == 0)
    return invalid_argument("Input tensor has ", n, " non zero elements but input shape (", in, ") or output shape (", out, ") is empty");
  const auto in_strides = strides_of(in), out_strides = strides_of(out);
  const int64_t* ix = indices.data<int64_t>();
  int64_t* to = out_indices->data<int64_t>();
  for (int64_t i = 0; i < n; ++i, ix += in_rank, to += out_rank) {
    uint64_t id = 0;  // wraps for indices outside of the shape, which TensorFlow lets pass
    for (int64_t d = 0; d < in_rank; ++d) id += uint64_t(ix[d]) * in_strides[size_t(d)];
    int64_t rest = int64_t(id);
    for (int64_t d = 0; d < out_rank; ++d) {
      const int64_t stride = int64_t(out_strides[size_t(d)]);
      to[d] = rest / stride;
      rest %= stride;
    }
  }
  return {};
}

Status run_slice(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2), &start = c.input(3), &size = c.input(4);
  WEFT_RETURN_IF_ERROR(check_sparse(indices, values, shape, IndexCheck::kNone));
  if (start.rank() != 1) return invalid_argument("Input start should be a vector but received shape ", start.shape());
  if (size.rank() != 1) return invalid_argument("Input size should be a vector but received shape ", size.shape());
  const int64_t n = indices.dim(0), rank = shape.dim(0);
  if (start.dim(0) != rank) return invalid_argument("Expected start to be a vector of length ", rank, " but got length ", start.dim(0));
  if (size.dim(0) != rank) return invalid_argument("Expected size to be a vector of length ", rank, " but got length ", size.dim(0));
  WEFT_ASSIGN(Shape dense, dense_shape_of(shape));
  const int64_t *from = start.data<int64_t>(), *count = size.data<int64_t>();
  std::vector<int64_t> dims(dense.vec()), end(static_cast<size_t>(rank));
  for (int64_t d = 0; d < rank; ++d) {
    const __int128 room = __int128(dims[size_t(d)]) - from[d];
    const __int128 got = room > count[d] ? __int128(count[d]) : std::max<__int128>(room, 0);
    if (got < 0) return invalid_argument("Expected a non-negative size, got ", int64_t(got));
    dims[size_t(d)] = int64_t(std::min<__int128>(got, INT64_MAX));
    end[size_t(d)] = int64_t(std::min<__int128>(__int128(from[d]) + count[d], INT64_MAX));
  }
  WEFT_RETURN_IF_ERROR(Shape(dims).check());
  std::vector<int64_t> rows;
  const int64_t* ix = indices.data<int64_t>();
  for (int64_t i = 0; i < n; ++i, ix += rank) {
    bool inside = true;
    for (int64_t d = 0; d < rank && inside; ++d) inside = ix[d] >= from[d] && ix[d] < end[size_t(d)];
    if (inside) rows.push_back(i);
  }
  WEFT_ASSIGN(Tensor out_indices, pick_rows(indices, rows));
  int64_t* to = out_indices.data<int64_t>();
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int64_t d = 0; d < rank; ++d, ++to) *to = int64_t(uint64_t(*to) - uint64_t(from[d]));
  }
  WEFT_ASSIGN(Tensor out_values, pick_values(values, rows));
  WEFT_ASSIGN(Tensor* out_shape, c.allocate(2, Shape({rank})));
  std::copy_n(dims.data(), rank, out_shape->data<int64_t>());
  c.set_output(0, std::move(out_indices));
  c.set_output(1, std::move(out_values));
  return {};
}

Status run_slice_grad(KernelContext& c) {
  const Tensor &grad = c.input(0), &in = c.input(1), &start = c.input(2), &out = c.input(3);
  if (in.rank() != 2 || out.rank() != 2)
    return invalid_argument("Input indices should be matrices but received shapes: ", in.shape(), " and ", out.shape());
  if (grad.rank() != 1) return invalid_argument("Input backprop_val_grad should be a vector but received shape: ", grad.shape());
  if (in.dim(1) != out.dim(1)) return invalid_argument("The input and output should have the same ndims: got: ", in.dim(1), " and ", out.dim(1));
  if (out.dim(0) > in.dim(0))
    return invalid_argument("# rows of output_indices should be not greater than of input_indices, got ", out.dim(0), " and ", in.dim(0));
  if (grad.dim(0) != out.dim(0))
    return invalid_argument("# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): got ", grad.dim(0), " and ",
                            out.dim(0));
  if (start.rank() != 1) return invalid_argument("Input start should be a vector but received shape ", start.shape());
  const int64_t n = in.dim(0), m = out.dim(0), rank = in.dim(1);
  if (start.dim(0) != rank) return invalid_argument("Expected input_start to be a vector of length ", rank, " but got length ", start.dim(0));
  WEFT_ASSIGN(Tensor* d_values, c.allocate(0, Shape({n})));
  if (d_values->byte_size()) std::memset(d_values->raw(), 0, d_values->byte_size());
  const int64_t *a = in.data<int64_t>(), *b = out.data<int64_t>(), *offset = start.data<int64_t>();
  int64_t used = 0;
  for (int64_t i = 0; i < n && used < m; ++i) {
    bool same = true;
    for (int64_t d = 0; d < rank && same; ++d) same = uint64_t(a[i * rank + d]) == uint64_t(b[used * rank + d]) + uint64_t(offset[d]);
    if (same) copy_elements(grad, used++, *d_values, i, 1);
  }
  if (used != m) return internal_error("Elements of backprop_val_grad aren't eaten up :all: ", m, " , used: ", used);
  return {};
}

Status run_split(KernelContext& c) {
  const Tensor &axis_input = c.input(0), &indices = c.input(1), &values = c.input(2), &shape = c.input(3);
  const int64_t parts = c.attr<int64_t>("num_split");
  if (axis_input.rank() != 0) return invalid_argument("Input axis should be a scalar but received shape ", axis_input.shape());
  if (indices.rank() != 2) return invalid_argument("Input indices should be a matrix but received shape ", indices.shape());
  if (values.rank() != 1) return invalid_argument("Input values should be a vector but received shape ", indices.shape());
  if (shape.rank() != 1) return invalid_argument("Input shape should be a vector but received shape ", shape.shape());
  WEFT_RETURN_IF_ERROR(check_sparse(indices, values, shape, IndexCheck::kInRange));
  const int64_t rank = shape.dim(0), given = axis_input.data<int64_t>()[0];
  if (given < -rank || given >= rank) return invalid_argument("Input axis should be in range [", -rank, ", ", rank, "), got ", given);
  const int64_t axis = given < 0 ? given + rank : given, extent = shape.data<int64_t>()[axis];
  if (parts > extent) return invalid_argument("Input num_split should be between 1 and the splitting dimension size (", extent, "), got ", parts);
  WEFT_RETURN_IF_ERROR(dense_shape_of(shape).status());
  // The first `longer` parts have one more than `size`.
  const int64_t size = extent / parts, longer = extent % parts, edge = longer * (size + 1);
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(parts));
  const int64_t* ix = indices.data<int64_t>();
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    const int64_t at = ix[i * rank + axis];
    rows[size_t(at < edge ? at / (size + 1) : longer + (at - edge) / size)].push_back(i);
  }
  for (int64_t p = 0; p < parts; ++p) {
    const int64_t begin = p * size + std::min(p, longer);
    WEFT_ASSIGN(Tensor out_indices, pick_rows(indices, rows[size_t(p)]));
    for (size_t i = 0; i < rows[size_t(p)].size(); ++i) out_indices.data<int64_t>()[int64_t(i) * rank + axis] -= begin;
    WEFT_ASSIGN(Tensor out_values, pick_values(values, rows[size_t(p)]));
    WEFT_ASSIGN(Tensor out_shape, shape.copy());
    out_shape.data<int64_t>()[axis] = size + (p < longer);
    c.set_output(int(p), std::move(out_indices));
    c.set_output(int(p + parts), std::move(out_values));
    c.set_output(int(p + 2 * parts), std::move(out_shape));
  }
  return {};
}

Status check_concat_inputs(std::span<const Tensor* const> indices, std::span<const Tensor* const> values, std::span<const Tensor* const> shapes) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i]->rank() != 2)
      return invalid_argument("Input indices should be a matrix but received shape ", indices[i]->shape(), " at position ", i);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]->rank() != 1)
      return invalid_argument("Input values should be a vector but received shape ", values[i]->shape(), " at position ", i);
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i]->rank() != 1)
      return invalid_argument("Input shapes should be a vector but received shape ", shapes[i]->shape(), " at position ", i);
    if (!dense_shape_of(*shapes[i]).ok()) return internal_error("Encountered overflow from large input shape.");
  }
  return {};
}

Status run_concat(KernelContext& c) {
  const auto indices = c.input_list("indices"), values = c.input_list("values"), shapes = c.input_list("shapes");
  WEFT_RETURN_IF_ERROR(check_concat_inputs(indices, values, shapes));
  const std::span<const int64_t> first = shapes[0]->span<int64_t>();
  const int64_t rank = int64_t(first.size()), given = c.attr<int64_t>("concat_dim");
  if (given < -rank || given >= rank) return invalid_argument("Concat dimension must be in range [", -rank, ", ", rank, "), got ", given);
  const int64_t axis = given < 0 ? given + rank : given;
  int64_t total = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::span<const int64_t> s = shapes[i]->span<int64_t>();
    if (int64_t(s.size()) != rank)
      return invalid_argument("Ranks of all input tensors must match: expected ", rank, " but got ", s.size(), " at position ", i);
    for (int64_t d = 0; d < rank; ++d) {
      if (d != axis && s[size_t(d)] != first[size_t(d)])
        return invalid_argument("Input shapes must match: expected ", first[size_t(d)], " for dimension ", d, " but got ", s[size_t(d)],
                                " at position ", i);
    }
    WEFT_RETURN_IF_ERROR(check_sparse_parts(*indices[i], *values[i], rank));
    total += indices[i]->dim(0);
  }
  // TensorFlow sorts each input with the axis first, joins, and sorts again; so do we, for the order of
  // repeated indices.
  std::vector<int64_t> by_axis = {axis};
  for (int64_t d = 0; d < rank; ++d) {
    if (d != axis) by_axis.push_back(d);
  }
  WEFT_ASSIGN(Tensor joined, c.temp(DType::kInt64, Shape({total, rank})));
  WEFT_ASSIGN(Tensor joined_values, c.temp(values[0]->dtype(), Shape({total})));
  int64_t at = 0;
  uint64_t offset = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t n = indices[i]->dim(0);
    const auto rows = kernels::sort_index_rows(indices[i]->data<int64_t>(), n, rank, by_axis);
    for (int64_t r = 0; r < n; ++r, ++at) {
      copy_elements(*indices[i], rows[size_t(r)] * rank, joined, at * rank, rank);
      copy_elements(*values[i], rows[size_t(r)], joined_values, at, 1);
      int64_t& moved = joined.data<int64_t>()[at * rank + axis];
      moved = int64_t(uint64_t(moved) + offset);
    }
    offset += uint64_t(shapes[i]->data<int64_t>()[axis]);
  }
  const auto rows = kernels::sort_index_rows(joined.data<int64_t>(), total, rank, standard_order(rank));
  WEFT_ASSIGN(Tensor out_indices, pick_rows(joined, rows));
  WEFT_ASSIGN(Tensor out_values, pick_values(joined_values, rows));
  WEFT_ASSIGN(Tensor out_shape, shapes[0]->copy());
  out_shape.data<int64_t>()[axis] = int64_t(offset);
  c.set_output(0, std::move(out_indices));
  c.set_output(1, std::move(out_values));
  c.set_output(2, std::move(out_shape));
  return {};
}

Status run_fill(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2), &fallback = c.input(3);
  if (shape.rank() != 1) return invalid_argument("dense_shape must be a vector, saw: ", shape.shape());
  if (indices.rank() != 2) return invalid_argument("indices must be a matrix, saw: ", indices.shape());
  if (values.rank() != 1) return invalid_argument("values must be a vector, saw: ", values.shape());
  if (indices.dim(0) != values.dim(0))
    return invalid_argument("The length of `values` (", values.dim(0), ") must match the first dimension of `indices` (", indices.dim(0), ").");
  if (indices.dim(1) != shape.dim(0))
    return invalid_argument("The length of `dense_shape` (", shape.dim(0), ") must match the second dimension of `indices` (", indices.dim(1), ").");
  if (fallback.rank() != 0) return invalid_argument("default_value must be a scalar, saw: ", fallback.shape());
  if (shape.dim(0) == 0) return invalid_argument("Dense shape cannot be empty.");
  return fill_empty_rows(c, shape.data<int64_t>()[0], false);
}

// A shape from untrusted sizes with the texts of TensorFlow's MakeShape, which differ from its other ones.
Result<Shape> make_dense_shape(std::span<const int64_t> dims) {
  for (int64_t d : dims) {
    if (d < 0) return invalid_argument("Dimension ", d, " must be >= 0");
  }
  Shape s(dims);
  if (!s.valid()) return invalid_argument("Shape ", s, " would have more than 2**63 - 1 elements");
  return s;
}

Result<Tensor> as_int64(KernelContext& c, const Tensor& t, const Shape& shape) {
  if (t.dtype() == DType::kInt64) return t.reshaped(shape);
  WEFT_ASSIGN(Tensor out, c.temp(DType::kInt64, shape));
  std::copy_n(t.data<int32_t>(), t.num_elements(), out.data<int64_t>());
  return out;
}

Status run_to_dense(KernelContext& c) {
  const Tensor &given = c.input(0), &shape = c.input(1), &values = c.input(2), &fallback = c.input(3);
  if (given.rank() > 2) return invalid_argument("sparse_indices should be a scalar, vector, or matrix, got shape ", given.shape());
  const int64_t n = given.rank() > 0 ? given.dim(0) : 1, rank = given.rank() > 1 ? given.dim(1) : 1;
  if (shape.rank() != 1) return invalid_argument("output_shape must be rank 1, got shape ", shape.shape());
  if (shape.dim(0) != rank) return invalid_argument("output_shape has incorrect number of elements: ", shape.dim(0), " should be: ", rank);
  if (values.rank() != 0 && (values.rank() != 1 || values.dim(0) != n))
    return invalid_argument("sparse_values has incorrect shape ", values.shape(), ", should be [] or [", n, "]");
  if (fallback.rank() != 0) return invalid_argument("default_value should be a scalar.");
  if (rank > kMaxRank) return invalid_argument("output_shape has too many elements: ", rank);
  WEFT_ASSIGN(Tensor dims, as_int64(c, shape, Shape({rank})));
  WEFT_ASSIGN(Shape dense, make_dense_shape(dims.span<int64_t>()));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, dense));
  WEFT_ASSIGN(Tensor indices, as_int64(c, given, Shape({n, rank})));
  if (c.attr<bool>("validate_indices")) WEFT_RETURN_IF_ERROR(check_sparse_order(indices, dense.dims()));
  const auto strides = strides_of(dense);
  const int64_t *ix = indices.data<int64_t>(), *sizes = dims.data<int64_t>();
  const uint64_t* steps = strides.data();
  if (out->num_elements() > 0) kernels::fill(c.pool(), out->dtype(), fallback.raw(), out->raw(), out->num_elements());
  return dispatch_movable(values.dtype(), [&]<class T>(Tag<T>) {
    const T* in = values.data<T>();
    T* to = out->data<T>();
    const int64_t step = values.rank() == 0 ? 0 : 1;
    for (int64_t i = 0; i < n; ++i, ix += rank) {
      uint64_t at = 0;
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t x = ix[d];
        if (x < 0 || x >= sizes[d]) return invalid_argument("Indices are not valid (out of bounds).  Shape: ", dense);
        at += uint64_t(x) * steps[d];
      }
      to[at] = in[i * step];
    }
    return Status();
  });
}

// --- shape rules

Status reorder_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  c.output(0, *c.with_rank(0, 2));
  c.output(1, *c.with_rank(1, 1));
  return {};
}

Status reshape_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape indices, c.with_rank(0, 2));
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  WEFT_ASSIGN(PartialShape wanted, c.with_rank(2, 1));
  c.output(0, PartialShape::matrix(indices.dim(0), wanted.dim(0)));
  c.output(1, wanted);
  return {};
}

// Slice and split: as many columns as the shape has entries, any number of rows.
void output_parts(ShapeContext& c, const PartialShape& shape) {
  const int parts = c.num_outputs() / 3;
  const auto columns = shape.num_elements();
  for (int i = 0; i < parts; ++i) {
    c.output(i, PartialShape::matrix(kUnknownDim, columns ? *columns : kUnknownDim));
    c.output(i + parts, PartialShape::vector(kUnknownDim));
    c.output(i + 2 * parts, shape);
  }
}

Status slice_shape(ShapeContext& c) {
  output_parts(c, c.input(2));
  return {};
}

Status split_shape(ShapeContext& c) {
  output_parts(c, c.input(3));
  return {};
}

Status slice_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape indices, c.with_rank(1, 2));
  c.output(0, PartialShape::vector(indices.dim(0)));
  return {};
}

Status concat_shape(ShapeContext& c) {
  const int n = c.num_inputs() / 3;
  int64_t rows = 0, columns = kUnknownDim;
  PartialShape shape;
  for (int i = 0; i < n; ++i) {
    WEFT_ASSIGN(PartialShape indices, c.with_rank(i, 2));
    WEFT_ASSIGN(PartialShape values, c.with_rank(i + n, 1));
    WEFT_ASSIGN(PartialShape dense, c.with_rank(i + 2 * n, 1));
    WEFT_ASSIGN(int64_t count, ShapeContext::merge_dim(indices.dim(0), values.dim(0)));
    rows = shapes::add_dim(rows, count);
    WEFT_ASSIGN(columns, ShapeContext::merge_dim(columns, indices.dim(1)));
    WEFT_ASSIGN(shape, shape.merge_with(dense));
  }
  c.output(0, PartialShape::matrix(rows, columns));
  c.output(1, PartialShape::vector(rows));
  c.output(2, shape);
  return {};
}

Status fill_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  WEFT_RETURN_IF_ERROR(c.with_rank(3, 0).status());
  WEFT_ASSIGN(int64_t n, ShapeContext::merge_dim(c.input(0).dim(0), c.input(1).dim(0)));
  WEFT_ASSIGN(int64_t rank, ShapeContext::merge_dim(c.input(0).dim(1), c.input(2).dim(0)));
  const auto dense = c.constant_ints(2);
  c.output(0, PartialShape::matrix(kUnknownDim, rank));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(dense && !dense->empty() && (*dense)[0] >= 0 ? (*dense)[0] : kUnknownDim));
  c.output(3, PartialShape::vector(n));
  return {};
}

Status fill_grad_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape map, c.with_rank(0, 1));
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  c.output(0, map);
  c.output(1, PartialShape::scalar());
  return {};
}

Status to_dense_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape out, c.constant_shape(1));
  c.output(0, std::move(out));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// Where each value went is found by sending the numbers of the entries the same way.
Grads reorder_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value count = element(shape_of(g.x(0)), 0), zero = scalar(e, DType::kInt32, 0);
  const Value entries = g.one("Range", {zero, count, scalar(e, DType::kInt32, 1)});
  auto ordered = g.apply("SparseReorder", std::vector<Value>{g.x(0), entries, g.x(2)});
  if (ordered.size() < 2) return g.none();
  return {{}, gather(g.dy(1), unary("InvertPermutation", ordered[1])), {}};
}

Grads fill_rows_grad(const GradContext& g) {
  auto grads = g.apply("SparseFillEmptyRowsGrad", std::vector<Value>{g.y(3), g.dy(1)});
  if (grads.size() < 2) return g.none();
  return {{}, grads[0], {}, grads[1]};
}

Grads to_dense_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value values = g.one("GatherNd", {g.dy(), g.x(0)});
  auto total = [&](const Value& v) { return reduce("Sum", reshape(v, ints(e, {-1})), scalar(e, DType::kInt32, 0)); };
  return {{}, {}, reshape_like(values, g.x(2)), total(g.dy()) - total(values)};
}

}  // namespace

void sparse(Registry& r) {
  r.add("SparseConcat")
      .in("indices: N * int64")
      .in("values: N * T")
      .in("shapes: N * int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("output_shape: int64")
      .attr("concat_dim: int")
      .attr("N: int >= 2")
      .attr("T: type")
      .doc("Joins sparse tensors along one dimension; the result is in row-major order.")
      .shape(concat_shape)
      .no_grad()
      .cpu(run_concat);

  r.add("SparseFillEmptyRows")
      .in("indices: int64")
      .in("values: T")
      .in("dense_shape: int64")
      .in("default_value: T")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("empty_row_indicator: bool")
      .out("reverse_index_map: int64")
      .attr("T: type")
      .doc("Puts a default value into the first column of every row that has no value.")
      .on_gpu(OnGpu::kByCpu)
      .shape(fill_shape)
      .grad(fill_rows_grad)
      .cpu(run_fill);

  r.add("SparseFillEmptyRowsGrad")
      .in("reverse_index_map: int64")
      .in("grad_values: T")
      .out("d_values: T")
      .out("d_default_value: T")
      .attr("T: type")
      .doc("Gradient of SparseFillEmptyRows for the values and the default value.")
      .shape(fill_grad_shape)
      .cpu(fill_empty_rows_grad, types<WEFT_NUMBERS>("T"));

  r.add("SparseReorder")
      .in("input_indices: int64")
      .in("input_values: T")
      .in("input_shape: int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .attr("T: type")
      .doc("Sorts the entries of a sparse tensor into row-major order.")
      .shape(reorder_shape)
      .grad(reorder_grad)
      .cpu(run_reorder);

  r.add("SparseReshape")
      .in("input_indices: int64")
      .in("input_shape: int64")
      .in("new_shape: int64")
      .out("output_indices: int64")
      .out("output_shape: int64")
      .doc("Recomputes the indices of a sparse tensor for another dense shape of equal size; one size may be -1.")
      .shape(reshape_shape)
      .cpu(run_reshape);

  r.add("SparseSlice")
      .in("indices: int64")
      .in("values: T")
      .in("shape: int64")
      .in("start: int64")
      .in("size: int64")
      .out("output_indices: int64")
      .out("output_values: T")
      .out("output_shape: int64")
      .attr("T: type")
      .doc("Cuts the box that begins at `start` and has extents `size` out of a sparse tensor.")
      .on_gpu(OnGpu::kByCpu)
      .shape(slice_shape)
      .grad([](const GradContext& g) -> Grads { return {{}, g.one("SparseSliceGrad", {g.dy(1), g.x(0), g.x(3), g.y(0)}), {}, {}, {}}; })
      .cpu(run_slice);

  r.add("SparseSliceGrad")
      .in("backprop_val_grad: T")
      .in("input_indices: int64")
      .in("input_start: int64")
      .in("output_indices: int64")
      .out("val_grad: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .doc("Gradient of SparseSlice for the values of its input.")
      .shape(slice_grad_shape)
      .cpu(run_slice_grad, types<WEFT_NUMBERS>("T"));

  r.add("SparseSplit")
      .in("split_dim: int64")
      .in("indices: int64")
      .in("values: T")
      .in("shape: int64")
      .out("output_indices: num_split * int64")
      .out("output_values: num_split * T")
      .out("output_shape: num_split * int64")
      .attr("num_split: int >= 1")
      .attr("T: type")
      .doc("Cuts a sparse tensor into parts along one dimension; the first parts are longer by one where it does not divide evenly.")
      .on_gpu(OnGpu::kByCpu)
      .shape(split_shape)
      .cpu(run_split);

  r.add("SparseToDense")
      .in("sparse_indices: Tindices")
      .in("output_shape: Tindices")
      .in("sparse_values: T")
      .in("default_value: T")
      .out("dense: T")
      .attr("validate_indices: bool = true")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .doc("A dense tensor with the sparse values in their places and the default value elsewhere.")
      .shape(to_dense_shape)
      .grad(to_dense_grad)
      .cpu(run_to_dense);
}

}  // namespace weft_engine::ops
