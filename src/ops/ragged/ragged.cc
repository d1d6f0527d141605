// Ragged tensors: flat values with row splits. Ranges, gathers, empty rows, and the way to sparse tensors.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/sparse_index.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/sparse/feature_cross.h"
#include "ops/sparse/fill_empty_rows.h"
#include "ops/ragged/ragged_splits.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// --- RaggedRange

// How many steps of delta are in [start, limit).
template <class T>
Result<int64_t> range_size(T start, T limit, T delta, int64_t most) {
  if (delta == T(0)) return invalid_argument("Requires delta != 0");
  if ((delta > T(0) && limit < start) || (delta < T(0) && limit > start)) return 0;
  const auto too_many = [&] { return invalid_argument("Requires ((limit - start) / delta) <= ", most); };
  if constexpr (std::is_integral_v<T>) {
    const uint64_t span = limit > start ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
    const uint64_t step = delta > 0 ? uint64_t(delta) : 0 - uint64_t(delta);
    const uint64_t size = span / step + (span % step != 0);
    if (size > uint64_t(most)) return too_many();
    return int64_t(size);
  } else {
    const double size = std::ceil(std::abs(double((limit - start) / delta)));
    if (!(size < double(most))) return too_many();  // NaN too
    return int64_t(size);
  }
}

template <class T>
Status fill_ranges(KernelContext& c, int64_t rows) {
  const Tensor &starts = c.input(0), &limits = c.input(1), &deltas = c.input(2);
  const auto at = [](const Tensor& t, int64_t i) { return t.data<T>()[t.rank() == 0 ? 0 : i]; };
  const int64_t most = c.output_type(0) == DType::kInt32 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
  std::vector<int64_t> splits = {0};
  for (int64_t i = 0; i < rows; ++i) {
    WEFT_ASSIGN(int64_t size, range_size<T>(at(starts, i), at(limits, i), at(deltas, i), most));
    if (size > most - splits.back())
      return invalid_argument("The total range size overflowed. Consider using int64 instead of int32 for row_splits_dtype.");
    splits.push_back(splits.back() + size);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(1, Shape({splits.back()})));
  T* to = out->data<T>();
  for (int64_t i = 0; i < rows; ++i) {
    T value = at(starts, i);
    const T delta = at(deltas, i);
    // Summed step by step, as TensorFlow does: start + i * delta rounds differently.
    for (int64_t n = splits[size_t(i)]; n < splits[size_t(i) + 1]; ++n, value = kernels::wrap_add(value, delta)) *to++ = value;
  }
  WEFT_ASSIGN(Tensor out_splits, from_int64s(splits, c.output_type(0)));
  c.set_output(0, std::move(out_splits));
  return {};
}

Status run_range(KernelContext& c) {
  const char* names[] = {"starts", "limits", "deltas"};
  int64_t rows = -1;
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).rank() > 1) return invalid_argument(names[i], " must be a scalar or vector");
  }
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).rank() == 0) continue;
    if (rows >= 0 && rows != c.input(i).dim(0)) return invalid_argument("starts, limits, and deltas must have the same shape");
    rows = c.input(i).dim(0);
  }
  return dispatch<float, double, int32_t, int64_t>(c.input(0).dtype(), [&]<class T>(Tag<T>) { return fill_ranges<T>(c, rows < 0 ? 1 : rows); });
}

// --- RaggedGather

// "[0,1]": where the flat index is in the shape.
std::string position(const Shape& shape, int64_t flat) {
  std::vector<int64_t> at(size_t(shape.rank()));
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at[size_t(d)] = flat % shape.dim(d);
    flat /= shape.dim(d);
  }
  return cat("[", join(at), "]");
}

Status check_gather_splits(const std::vector<std::vector<int64_t>>& nested, int64_t num_values) {
  for (size_t k = 0; k < nested.size(); ++k) {
    const auto& s = nested[k];
    const int64_t limit = k + 1 < nested.size() ? int64_t(nested[k + 1].size()) - 1 : num_values;
    if (s.empty()) return invalid_argument("Ragged splits may not be empty");
    if (s[0] < 0) return invalid_argument("Ragged splits must be non-negative");
    if (s.back() > limit) return invalid_argument("Ragged splits must not point past values");
    if (!std::is_sorted(s.begin(), s.end())) return invalid_argument("Ragged splits must be sorted");
  }
  return {};
}

Status run_gather(KernelContext& c) {
  const auto params = c.input_list("params_nested_splits");
  const int depth = int(params.size());
  const Tensor &values = c.input(depth), &indices = c.input(depth + 1);
  std::vector<std::vector<int64_t>> nested;
  for (const Tensor* t : params) nested.push_back(to_int64s(*t));
  const std::vector<int64_t> rows = to_int64s(indices);
  const int64_t num_rows = (params[0]->rank() ? params[0]->dim(0) : 1) - 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= num_rows)
      return invalid_argument("indices", position(indices.shape(), int64_t(i)), " = ", rows[i], " is not in [0, ", num_rows, ")");
  }
  if (values.rank() == 0) return invalid_argument("params.rank must be nonzero");
  WEFT_RETURN_IF_ERROR(check_gather_splits(nested, values.dim(0)));
  // Dimensions of `indices` beyond the first become splits of equal length; a scalar takes the outermost ragged one away.
  const int outer = indices.rank() - 1, out_depth = outer + depth;
  if (out_depth != c.num_outputs() - 1)
    return invalid_argument("OUTPUT_RAGGED_RANK must be ", out_depth, " for indices of rank ", indices.rank(), ", got ", c.num_outputs() - 1);
  int64_t count = 1;
  for (int d = 0; d < outer; ++d) {
    count *= indices.dim(d);
    WEFT_ASSIGN(Tensor wide, c.temp(DType::kInt64, Shape({count + 1})));
    for (int64_t i = 0; i <= count; ++i) wide.data<int64_t>()[i] = i * indices.dim(d + 1);
    WEFT_ASSIGN(Tensor out, from_int64s(wide.span<int64_t>(), c.output_type(d)));
    c.set_output(d, std::move(out));
  }
  // Each chosen row is a range of rows one level deeper, and so on down to the values.
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t r : rows) ranges.push_back({r, r + 1});
  for (int k = 0; k < depth; ++k) {
    const auto& s = nested[size_t(k)];
    int64_t total = 1;
    for (auto [begin, end] : ranges) {
      if (__builtin_add_overflow(total, end - begin, &total)) return resource_exhausted("RaggedGather's result is too large");
    }
    if (outer + k >= 0) {
      WEFT_ASSIGN(Tensor wide, c.temp(DType::kInt64, Shape({total})));
      int64_t *to = wide.data<int64_t>(), sum = 0;
      *to++ = 0;
      for (auto [begin, end] : ranges) {
        for (int64_t i = begin; i < end; ++i) *to++ = sum += s[size_t(i) + 1] - s[size_t(i)];
      }
      WEFT_ASSIGN(Tensor out, from_int64s(wide.span<int64_t>(), c.output_type(outer + k)));
      c.set_output(outer + k, std::move(out));
    }
    for (auto& [begin, end] : ranges) {
      begin = s[size_t(begin)];
      end = s[size_t(end)];
    }
  }
  int64_t total = 0;
  for (auto [begin, end] : ranges) {
    if (__builtin_add_overflow(total, end - begin, &total)) return resource_exhausted("RaggedGather's result is too large");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(out_depth, values.shape().with_dim(0, total)));
  const int64_t inner = values.shape().elements_in(1, values.rank());
  int64_t at = 0;
  for (auto [begin, end] : ranges) {
    copy_elements(values, begin * inner, *out, at * inner, (end - begin) * inner);
    at += end - begin;
  }
  return {};
}

// --- RaggedTensorToSparse

Status check_sparse_splits(const std::vector<std::vector<int64_t>>& nested, const Tensor& values) {
  const char* kLast = "Final value of ragged splits must match the length the corresponding ragged values.";
  for (size_t k = 0; k < nested.size(); ++k) {
    const auto& s = nested[k];
    if (s.empty()) return invalid_argument("ragged splits may not be empty.");
    if (s[0] != 0) return invalid_argument("First value of ragged splits must be 0.");
    for (size_t i = 1; i < s.size(); ++i) {
      if (s[i] < s[i - 1]) return invalid_argument("Ragged splits should be non decreasing, but we got ", s[i - 1], " followed by ", s[i]);
    }
    if (k > 0 && int64_t(s.size()) - 1 != nested[k - 1].back()) return invalid_argument(kLast);
  }
  if (values.rank() == 0 || values.dim(0) != nested.back().back()) return invalid_argument(kLast);
  return {};
}

Status run_to_sparse(KernelContext& c) {
  const auto params = c.input_list("rt_nested_splits");
  const int depth = int(params.size());
  const Tensor& values = c.input(depth);
  std::vector<std::vector<int64_t>> nested;
  for (const Tensor* t : params) nested.push_back(to_int64s(*t));
  WEFT_RETURN_IF_ERROR(check_sparse_splits(nested, values));
  const int rank = depth + values.rank();
  const int64_t n = values.num_elements(), inner = values.shape().elements_in(1, values.rank());
  WEFT_ASSIGN(Tensor* indices, c.allocate(0, Shape({n, int64_t(rank)})));
  WEFT_ASSIGN(Tensor* shape, c.allocate(2, Shape({int64_t(rank)})));
  int64_t* dims = shape->data<int64_t>();
  dims[0] = params[0]->rank() ? params[0]->dim(0) - 1 : 0;
  for (int k = 0; k < depth; ++k) {
    dims[k + 1] = 0;
    for (size_t i = 1; i < nested[size_t(k)].size(); ++i) dims[k + 1] = std::max(dims[k + 1], nested[size_t(k)][i] - nested[size_t(k)][i - 1]);
  }
  for (int d = 1; d < values.rank(); ++d) dims[depth + d] = values.dim(d);

  // row[k] is the row of level k that the current value is in; rows only move forward.
  std::vector<int64_t> row(size_t(depth), 0);
  int64_t* to = indices->data<int64_t>();
  if (depth == 1 && values.rank() == 1) {  // the usual case: row by row
    const auto& s = nested[0];
    for (size_t r = 0; r + 1 < s.size(); ++r) {
      for (int64_t k = 0; k < s[r + 1] - s[r]; ++k, to += 2) to[0] = int64_t(r), to[1] = k;
    }
    c.set_output(1, values);
    return {};
  }
  for (int64_t v = 0; n > 0 && v < values.dim(0); ++v) {
    int64_t at = v;
    for (int k = depth - 1; k >= 0; --k) {
      const auto& s = nested[size_t(k)];
      int64_t& r = row[size_t(k)];
      while (s[size_t(r) + 1] <= at) ++r;
      to[k + 1] = at - s[size_t(r)];
      at = r;
    }
    to[0] = at;
    for (int64_t e = 0; e < inner; ++e, to += rank) {
      if (e > 0) std::copy_n(to - rank, depth + 1, to);
      int64_t rest = e;
      for (int d = values.rank() - 1; d >= 1; --d) {
        to[depth + d] = rest % values.dim(d);
        rest /= values.dim(d);
      }
    }
  }
  c.set_output(1, values.reshaped(Shape({n})));
  return {};
}

Status run_fill(KernelContext& c) {
  const Tensor &ids = c.input(0), &values = c.input(1), &rows = c.input(2), &fallback = c.input(3);
  if (rows.rank() != 0) return invalid_argument("nrows must be a scalar, saw: ", rows.shape());
  if (ids.rank() != 1) return invalid_argument("value_rowids must be a vector, saw: ", ids.shape());
  if (values.rank() != 1) return invalid_argument("values must be a vector, saw: ", values.shape());
  if (ids.dim(0) != values.dim(0))
    return invalid_argument("The length of `values` (", values.dim(0), ") must match the first dimension of `value_rowids` (", ids.dim(0), ").");
  if (fallback.rank() != 0) return invalid_argument("default_value must be a scalar, saw: ", fallback.shape());
  return fill_empty_rows(c, rows.data<int64_t>()[0], true);
}

// --- shape rules

Status range_shape(ShapeContext& c) {
  int64_t rows = kUnknownDim;
  bool all_scalars = true;
  for (int i = 0; i < 3; ++i) {
    WEFT_ASSIGN(PartialShape s, c.with_rank_at_most(i, 1));
    if (s.rank() == 1) {
      WEFT_ASSIGN(rows, ShapeContext::merge_dim(rows, s.dim(0)));
    }
    all_scalars &= s.rank() == 0;
  }
  c.output(0, PartialShape::vector(all_scalars ? 2 : shapes::add_dim(rows, 1)));
  c.output(1, PartialShape::vector(kUnknownDim));
  return {};
}

Status gather_shape(ShapeContext& c) {
  const int depth = int(c.attr<int64_t>("PARAMS_RAGGED_RANK")), out_depth = int(c.attr<int64_t>("OUTPUT_RAGGED_RANK"));
  if (out_depth - depth + 1 < 0) return invalid_argument("Shape must be rank ", out_depth - depth + 1);
  WEFT_RETURN_IF_ERROR(c.with_rank(depth + 1, out_depth - depth + 1).status());
  for (int i = 0; i < depth; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
  WEFT_ASSIGN(PartialShape values, c.with_rank_at_least(depth, 1));
  for (int i = 0; i < out_depth; ++i) c.output(i, PartialShape::vector(kUnknownDim));
  if (values.has_rank()) {
    values.set_dim(0, kUnknownDim);
    c.output(out_depth, values);
  }
  return {};
}

Status to_sparse_shape(ShapeContext& c) {
  const int depth = int(c.attr<int64_t>("RAGGED_RANK"));
  for (int i = 0; i < depth; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
  WEFT_ASSIGN(PartialShape values, c.with_rank_at_least(depth, 1));
  const int64_t rank = values.has_rank() ? values.rank() + depth : kUnknownDim;
  const auto count = values.num_elements();
  c.output(0, PartialShape::matrix(count ? *count : kUnknownDim, rank));
  c.output(1, PartialShape::vector(count ? *count : kUnknownDim));
  c.output(2, PartialShape::vector(rank));
  return {};
}

Status fill_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 0).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(3, 0).status());
  WEFT_ASSIGN(int64_t n, ShapeContext::merge_dim(c.input(0).dim(0), c.input(1).dim(0)));
  const auto rows = c.constant_int(2);
  c.output(0, PartialShape::vector(kUnknownDim));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(rows && *rows >= 0 ? *rows : kUnknownDim));
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

Status cross_shape(ShapeContext& c) {
  const auto mismatch = [] { return invalid_argument("inputs must all have the same batch dimension size."); };
  if (c.attr<std::vector<DType>>("ragged_values_types").size() != c.attr<std::vector<DType>>("ragged_splits_types").size())
    return invalid_argument("Parameters `values` and `row_splits` must be the same length");
  PartialShape splits = PartialShape::unknown_of_rank(1);
  const auto range = c.node().input_range("ragged_row_splits"), dense = c.node().input_range("dense_inputs");
  for (int i = range.begin; i < range.end; ++i) {
    auto merged = splits.merge_with(c.input(i));
    if (!merged.ok()) return mismatch();
    splits = std::move(merged).value();
  }
  for (int i = dense.begin; i < dense.end; ++i) {
    if (c.input(i).rank() < 1 || c.input(i).dim(0) < 0) continue;
    auto merged = splits.merge_with(PartialShape::vector(c.input(i).dim(0) + 1));
    if (!merged.ok()) return mismatch();
    splits = std::move(merged).value();
  }
  c.output(0, PartialShape::vector(kUnknownDim));
  c.output(1, splits);
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

Grads fill_grad(const GradContext& g) {
  auto out = g.emitter().apply("RaggedFillEmptyRowsGrad", {g.y(3), g.dy(1)});
  if (out.size() < 2) return g.none();
  return {{}, out[0], {}, out[1]};
}

// The values of row i are those from begins[i] to begins[i + 1], through all levels.
Grads gather_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const int levels = g.num_inputs() - 2;
  Value begins = g.x(0);
  for (int i = 1; i < levels; ++i) begins = gather(g.x(i), begins);
  const Value rows = reshape(g.x(levels + 1), ints(e, {-1}));
  auto range =
      e.apply("RaggedRange", {gather(begins, rows), gather(begins, rows + 1), scalar(e, begins.valid() ? begins.dtype() : DType::kInt64, 1)});
  Grads grads = g.none();
  if (range.size() == 2) grads[size_t(levels)] = Value::slices(g.dy(g.num_outputs() - 1), range[1], shape_of(g.x(levels)));
  return grads;
}

Grads to_sparse_grad(const GradContext& g) {
  Grads grads = g.none();
  grads.back() = reshape(g.dy(1), shape_of(g.x(g.num_inputs() - 1)));
  return grads;
}

}  // namespace

void ragged(Registry& r) {
  r.add("RaggedCross")
      .in("ragged_values: ragged_values_types")
      .in("ragged_row_splits: ragged_splits_types")
      .in("sparse_indices: Nsparse * int64")
      .in("sparse_values: sparse_values_types")
      .in("sparse_shape: Nsparse * int64")
      .in("dense_inputs: dense_types")
      .out("output_values: out_values_type")
      .out("output_row_splits: out_row_splits_type")
      .attr("Nsparse: int >= 0")
      .attr("input_order: string")
      .attr("hashed_output: bool")
      .attr("num_buckets: int >= 0")
      .attr("hash_key: int")
      .attr("ragged_values_types: list({int64, string}) >= 0")
      .attr("ragged_splits_types: list({int32, int64}) >= 0")
      .attr("sparse_values_types: list({int64, string}) >= 0")
      .attr("dense_types: list({int64, string}) >= 0")
      .attr("out_values_type: {int64, string}")
      .attr("out_row_splits_type: {int32, int64}")
      .doc("Crosses the features of ragged, sparse and dense columns row by row, as strings joined with _X_ or as hashes.")
      .shape(cross_shape)
      .cpu(run_ragged_cross);

  r.add("RaggedFillEmptyRows")
      .in("value_rowids: int64")
      .in("values: T")
      .in("nrows: int64")
      .in("default_value: T")
      .out("output_value_rowids: int64")
      .out("output_values: T")
      .out("empty_row_indicator: bool")
      .out("reverse_index_map: int64")
      .attr("T: type")
      .doc("Puts a default value into every row of a ragged tensor that has none.")
      .on_gpu(OnGpu::kByCpu)
      .shape(fill_shape)
      .grad(fill_grad)
      .cpu(run_fill);

  r.add("RaggedFillEmptyRowsGrad")
      .in("reverse_index_map: int64")
      .in("grad_values: T")
      .out("d_values: T")
      .out("d_default_value: T")
      .attr("T: type")
      .doc("Gradient of RaggedFillEmptyRows for the values and the default value.")
      .shape(fill_grad_shape)
      .cpu(fill_empty_rows_grad, types<WEFT_NUMBERS>("T"));

  r.add("RaggedGather")
      .in("params_nested_splits: PARAMS_RAGGED_RANK * Tsplits")
      .in("params_dense_values: Tvalues")
      .in("indices: Tindices")
      .out("output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits")
      .out("output_dense_values: Tvalues")
      .attr("Tvalues: type")
      .attr("Tindices: {int32, int64}")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .attr("PARAMS_RAGGED_RANK: int >= 1")
      .attr("OUTPUT_RAGGED_RANK: int >= 0")
      .doc("Picks rows of a ragged tensor by index; the result is ragged again.")
      .shape(gather_shape)
      .grad(gather_grad)
      .cpu(run_gather);

  r.add("RaggedRange")
      .in("starts: T")
      .in("limits: T")
      .in("deltas: T")
      .out("rt_nested_splits: Tsplits")
      .out("rt_dense_values: T")
      .attr("T: {bfloat16, float, double, int32, int64} = DT_INT32")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .doc("A ragged tensor whose rows count from a start to a limit in steps of delta.")
      .shape(range_shape)
      .no_grad()
      .cpu(run_range, types<float, double, int32_t, int64_t>("T"));

  r.add("RaggedTensorToSparse")
      .in("rt_nested_splits: RAGGED_RANK * Tsplits")
      .in("rt_dense_values: T")
      .out("sparse_indices: int64")
      .out("sparse_values: T")
      .out("sparse_dense_shape: int64")
      .attr("RAGGED_RANK: int >= 1")
      .attr("T: type")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .doc("The sparse tensor with the values of a ragged one.")
      .shape(to_sparse_shape)
      .grad(to_sparse_grad)
      .cpu(run_to_sparse);
}

}  // namespace weft_engine::ops
