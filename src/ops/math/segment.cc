// Sums, means, products and extremes of rows that belong to the same segment.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "kernels/cpu/batch_matmul.h"
#include "kernels/cpu/segment_rows.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::SegmentOp;
using kernels::SegmentRows;

// ---- shape rules

// [dim0] + the dimensions of input 0 behind its first.
Status rows_shape(ShapeContext& c, int64_t dim0) {
  WEFT_ASSIGN(PartialShape data, c.with_rank_at_least(0, 1));
  if (!data.has_rank()) return {};
  c.output(0, PartialShape::vector(dim0).concat(data.slice(1, data.rank())));
  return {};
}

Status segment_shape(ShapeContext& c) {
  WEFT_ASSIGN([[maybe_unused]] PartialShape ids, c.with_rank(1, 1));
  return rows_shape(c, kUnknownDim);
}

Status unsorted_segment_shape(ShapeContext& c) {
  const PartialShape &data = c.input(0), &ids = c.input(1);
  WEFT_ASSIGN([[maybe_unused]] PartialShape count_shape, c.with_rank(2, 0));
  if (!data.has_rank() || !ids.has_rank()) return {};
  if (ids.rank() > data.rank()) return invalid_argument("Shape must be at least rank ", ids.rank(), " but is rank ", data.rank());
  WEFT_ASSIGN([[maybe_unused]] PartialShape prefix, ids.merge_with(data.slice(0, ids.rank())));
  const auto count = c.constant_int(2);
  if (count && *count < 0) return invalid_argument("Dimension size, given by scalar input 2, must be non-negative but is ", *count);
  c.output(0, PartialShape::vector(count ? *count : kUnknownDim).concat(data.slice(ids.rank(), data.rank())));
  return {};
}

Status check_sparse_ids(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape indices, c.with_rank(1, 1));
  WEFT_ASSIGN(PartialShape ids, c.with_rank(2, 1));
  WEFT_ASSIGN([[maybe_unused]] int64_t n, ShapeContext::merge_dim(indices.dim(0), ids.dim(0)));
  return {};
}

Status sparse_segment_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ids(c));
  return rows_shape(c, kUnknownDim);
}

// Input 3 says how many rows there are.
Status sparse_segment_rows_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ids(c));
  WEFT_ASSIGN([[maybe_unused]] PartialShape count_shape, c.with_rank(3, 0));
  const auto count = c.constant_int(3);
  if (count && *count < 0) return invalid_argument("Cannot specify a negative value for ", c.num_inputs() > 3 ? "num_segments" : "output_dim0");
  return rows_shape(c, count ? *count : kUnknownDim);
}

Status sparse_segment_grad_v2_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ids(c));
  WEFT_ASSIGN([[maybe_unused]] PartialShape count_shape, c.with_rank(3, 0));
  c.output(1, PartialShape::vector(kUnknownDim));
  return rows_shape(c, kUnknownDim);
}

// ---- kernels

// "[1,2]": where element i is.
std::string index_text(const Tensor& t, int64_t i) {
  std::string out;
  for (int d = t.rank() - 1; d >= 0; --d) {
    out = cat(i % t.dim(d), out.empty() ? "" : ",", out);
    i /= t.dim(d);
  }
  return cat("[", out, "]");
}

bool is_narrow(DType t) { return t == DType::kHalf || t == DType::kBfloat16; }

Result<Tensor> widened(KernelContext& c, const Tensor& t) {
  if (!is_narrow(t.dtype())) return t;
  WEFT_ASSIGN(Tensor wide, c.temp(DType::kFloat, t.shape()));
  kernels::widen(t.dtype(), t.raw(), wide.data<float>(), t.num_elements(), c.pool());
  return wide;
}

// Where a result is gathered: the output itself, or floats that finish() rounds.
struct Target {
  Tensor* out = nullptr;
  Tensor rows;
  static Result<Target> make(KernelContext& c, const Shape& shape) {
    Target t;
    WEFT_ASSIGN(t.out, c.allocate(0, shape));
    t.rows = *t.out;
    if (is_narrow(t.out->dtype())) {
      WEFT_ASSIGN(t.rows, c.temp(DType::kFloat, shape));
    }
    return t;
  }
  void finish(KernelContext& c) {
    if (is_narrow(out->dtype())) kernels::narrow(out->dtype(), rows.data<float>(), out->raw(), out->num_elements(), c.pool());
  }
};

enum class Scale { kNone, kMean, kSqrtN };

double divisor(Scale s, int64_t count) { return s == Scale::kMean ? double(count) : std::sqrt(double(count)); }

// Cuts sorted ids into runs and calls f(id, begin, end) for each; the texts are TensorFlow's.
template <class F>
Status for_each_run(const std::vector<int64_t>& ids, int64_t rows, F f) {
  const int64_t n = int64_t(ids.size());
  for (int64_t begin = 0; begin < n;) {
    const int64_t id = ids[size_t(begin)];
    int64_t end = begin + 1;
    while (end < n && ids[size_t(end)] == id) ++end;
    if (end < n && ids[size_t(end)] < id) return invalid_argument("segment ids are not increasing");
    if (id < 0 || id >= rows) {
      return invalid_argument("Segment id ", id, " out of range [0, ", rows, "), possibly because 'segment_ids' input is not sorted.");
    }
    WEFT_RETURN_IF_ERROR(f(id, begin, end));
    begin = end;
  }
  return {};
}

// Rows that no segment names are 0, or 1 for products.
template <SegmentOp op, bool mean>
Status run_segment(KernelContext& c) {
  const Tensor &data = c.input(0), &ids_tensor = c.input(1);
  if (data.rank() < 1) return invalid_argument("input must be at least rank 1");
  if (ids_tensor.rank() != 1) return invalid_argument("segment_ids should be a vector.");
  if (ids_tensor.dim(0) != data.dim(0)) return invalid_argument("segment_ids should be the same size as dimension 0 of input.");
  const std::vector<int64_t> ids = ints_of(ids_tensor);
  const int64_t last = ids.empty() ? -1 : ids.back();
  if (!ids.empty() && (last < 0 || last == std::numeric_limits<int64_t>::max())) return invalid_argument("segment ids must be >= 0");
  Shape shape = data.shape();
  shape.set_dim(0, last + 1);
  WEFT_ASSIGN(Target target, Target::make(c, shape));
  WEFT_ASSIGN(Tensor in, widened(c, data));
  const SegmentRows* rows = kernels::segment_rows(in.dtype());
  if (!rows) return unimplemented("no kernel for type ", dtype_name(data.dtype()));
  const int64_t width = data.shape().elements_in(1, data.rank());
  const int64_t row_bytes = width * rows->size;
  const char* from = static_cast<const char*>(in.raw());
  char* to = static_cast<char*>(target.rows.raw());
  rows->fill(op == SegmentOp::kProd ? op : SegmentOp::kSum, to, target.rows.num_elements());
  WEFT_RETURN_IF_ERROR(for_each_run(ids, last + 1, [&](int64_t id, int64_t begin, int64_t end) {
    char* row = to + id * row_bytes;
    if (row_bytes) std::memcpy(row, from + begin * row_bytes, size_t(row_bytes));
    for (int64_t i = begin + 1; i < end; ++i) rows->combine(op, row, from + i * row_bytes, width);
    if (mean) rows->divide(row, width, double(end - begin));
    return Status();
  }));
  target.finish(c);
  return {};
}

template <SegmentOp op>
Status run_unsorted(KernelContext& c) {
  const Tensor &data = c.input(0), &ids = c.input(1), &count = c.input(2);
  if (count.rank() != 0) return invalid_argument("num_segments should be a scalar, not shape ", count.shape());
  bool prefix = ids.rank() <= data.rank();
  for (int i = 0; prefix && i < ids.rank(); ++i) prefix = ids.dim(i) == data.dim(i);
  if (!prefix) return invalid_argument("data.shape = ", data.shape(), " does not start with segment_ids.shape = ", ids.shape());
  const int64_t segments = int_at(count, 0), n = ids.num_elements();
  if (segments < 0) return invalid_argument("Input num_segments == ", segments, " must not be negative.");
  Shape shape({segments});
  for (int i = ids.rank(); i < data.rank(); ++i) shape.add_dim(data.dim(i));
  for (int64_t i = 0; i < n; ++i) {
    if (int_at(ids, i) >= segments)
      return invalid_argument("segment_ids", index_text(ids, i), " = ", int_at(ids, i), " is out of range [0, ", segments, ")");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  const SegmentRows* rows = kernels::segment_rows(data.dtype());
  if (!rows) return unimplemented("no kernel for type ", dtype_name(data.dtype()));
  rows->fill(op, out->raw(), out->num_elements());
  if (out->num_elements() == 0 || n == 0) return {};
  const int64_t width = out->num_elements() / segments, row_bytes = width * rows->size;
  const char* from = static_cast<const char*>(data.raw());
  char* to = static_cast<char*>(out->raw());
  // Each part takes the rows of its own segments, in order.
  auto part = [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t id = int_at(ids, i);
      if (id >= begin && id < end) rows->combine(op, to + id * row_bytes, from + i * row_bytes, width);
    }
  };
  if (width >= 16) c.pool().parallel_for(segments, double(n) * double(width) * 0.3 / double(segments), part);
  else part(0, segments);
  return {};
}

Status run_sparse(KernelContext& c, Scale scale, bool counted) {
  const Tensor &data = c.input(0), &indices = c.input(1), &ids_tensor = c.input(2);
  int64_t rows_out = -1;
  if (counted) {
    const Tensor& count = c.input(3);
    if (count.rank() != 0) return invalid_argument("num_segments should be a scalar, not shape ", count.shape());
    rows_out = int_at(count, 0);
    if (rows_out < 0) return invalid_argument("segment ids must be >= 0");
  }
  if (indices.rank() != 1) return invalid_argument("indices should be a vector.");
  if (ids_tensor.rank() != 1) return invalid_argument("segment_ids should be a vector.");
  if (indices.dim(0) != ids_tensor.dim(0)) return invalid_argument("segment_ids and indices should have same size.");
  if (data.rank() < 1) return invalid_argument("Shape must be at least rank 1");
  const std::vector<int64_t> ids = ints_of(ids_tensor), index = ints_of(indices);
  const int64_t last = ids.empty() ? -1 : ids.back();
  if (!ids.empty() && (last < 0 || last == std::numeric_limits<int64_t>::max())) return invalid_argument("segment ids must be >= 0");
  if (!counted) rows_out = last + 1;
  else if (rows_out < last + 1) return invalid_argument("segment ids must be < num_segments");
  Shape shape = data.shape();
  shape.set_dim(0, rows_out);
  WEFT_ASSIGN(Target target, Target::make(c, shape));
  WEFT_ASSIGN(Tensor in, widened(c, data));
  const SegmentRows* rows = kernels::segment_rows(in.dtype());
  if (!rows) return unimplemented("no kernel for type ", dtype_name(data.dtype()));
  const int64_t width = data.shape().elements_in(1, data.rank()), row_bytes = width * rows->size;
  const char* from = static_cast<const char*>(in.raw());
  char* to = static_cast<char*>(target.rows.raw());
  rows->fill(SegmentOp::kSum, to, target.rows.num_elements());
  WEFT_RETURN_IF_ERROR(for_each_run(ids, rows_out, [&](int64_t id, int64_t begin, int64_t end) -> Status {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = index[size_t(i)];
      if (at < 0 || at >= data.dim(0)) return invalid_argument("Bad: indices[", i, "] == ", at, " out of range [0, ", data.dim(0), ")");
      rows->combine(SegmentOp::kSum, to + id * row_bytes, from + at * row_bytes, width);
    }
    if (scale != Scale::kNone) rows->divide(to + id * row_bytes, width, divisor(scale, end - begin));
    return {};
  }));
  target.finish(c);
  return {};
}

template <Scale scale, bool counted>
Status run_sparse_segment(KernelContext& c) {
  return run_sparse(c, scale, counted);
}

// output[indices[i]] += grad[segment_ids[i]], divided by what the forward op divided by. With
// `compact`, only rows that some index names are there, in order of the index.
Status run_grad(KernelContext& c, Scale scale, bool compact) {
  const Tensor &grad = c.input(0), &indices = c.input(1), &ids_tensor = c.input(2), &dim0 = c.input(3);
  if (indices.rank() != 1) return invalid_argument("indices should be a vector.");
  if (ids_tensor.rank() != 1) return invalid_argument("segment_ids should be a vector.");
  if (dim0.rank() != 0) return invalid_argument(compact ? "dense_output_dim0 should be a scalar." : "output_dim0 should be a scalar.");
  const std::vector<int64_t> ids = ints_of(ids_tensor), index = ints_of(indices);
  if (ids.size() != index.size()) return invalid_argument("segment_ids and indices should have same size.");
  if (grad.rank() < 1) return invalid_argument("Index must be less than 0, got 0");
  const int64_t rows_dense = int_at(dim0, 0), segments = grad.dim(0);
  if (rows_dense < 0) return invalid_argument("Expected a non-negative size, got ", rows_dense);
  if (!ids.empty() && ids.back() >= segments) return invalid_argument("Invalid number of segments");
  std::unordered_map<int64_t, int64_t> counts;  // not a vector: rows without elements may be more than memory holds
  for (int64_t id : ids) {
    if (id < 0 || id >= segments) return invalid_argument("Segment id ", id, " out of range [0, ", segments, ").");
    ++counts[id];
  }
  for (int64_t at : index) {
    if (at < 0 || at >= rows_dense) return invalid_argument("Index ", at, " out of range [0, ", rows_dense, ").");
  }
  std::vector<int64_t> place = index;
  int64_t rows_out = rows_dense;
  if (compact) {
    std::vector<int64_t> unique = index;
    std::sort(unique.begin(), unique.end());
    unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
    for (int64_t& p : place) p = std::lower_bound(unique.begin(), unique.end(), p) - unique.begin();
    rows_out = int64_t(unique.size());
    WEFT_ASSIGN(Tensor* named, c.allocate(1, Shape({rows_out})));
    for (size_t i = 0; i < unique.size(); ++i) {
      if (named->dtype() == DType::kInt32) named->data<int32_t>()[i] = int32_t(unique[i]);
      else named->data<int64_t>()[i] = unique[i];
    }
  }
  Shape shape = grad.shape();
  shape.set_dim(0, rows_out);
  WEFT_ASSIGN(Target target, Target::make(c, shape));
  WEFT_ASSIGN(Tensor in, widened(c, grad));
  const SegmentRows* rows = kernels::segment_rows(in.dtype());
  if (!rows) return unimplemented("no kernel for type ", dtype_name(grad.dtype()));
  const int64_t width = grad.shape().elements_in(1, grad.rank()), row_bytes = width * rows->size;
  rows->fill(SegmentOp::kSum, target.rows.raw(), target.rows.num_elements());
  for (size_t i = 0; i < ids.size(); ++i) {
    char* to = static_cast<char*>(target.rows.raw()) + place[i] * row_bytes;
    const char* from = static_cast<const char*>(in.raw()) + ids[i] * row_bytes;
    if (scale == Scale::kNone) rows->combine(SegmentOp::kSum, to, from, width);
    else rows->add_scaled(to, from, width, 1 / divisor(scale, counts[ids[i]]));
  }
  target.finish(c);
  return {};
}

template <Scale scale, bool compact>
Status run_sparse_grad(KernelContext& c) {
  return run_grad(c, scale, compact);
}

// ---- gradients -----------------------------------------------------------------------------------------

Grads segment_mean_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  // One for each row, in a shape that repeats over the rest of it.
  const Value rest = g.one("Fill", {reshape(rank_of(g.x(0)) - 1, ints(e, {1})), scalar(e, DType::kInt32, 1)});
  const Value parts[] = {shape_of(g.x(1)), rest};
  const Value ones = fill(concat(parts, 0), scalar(e, g.dy().dtype(), 1));
  return {gather(g.dy() / binary("SegmentSum", ones, g.x(1)), g.x(1)), {}};
}

Grads segment_extreme_grad(const GradContext& g) {
  const Value ids = g.x(1), hits = binary("Equal", g.x(0), gather(g.y(), ids));
  const Value share = g.dy() / binary("SegmentSum", cast(hits, g.dy().dtype()), ids);
  return {where(hits, gather(share, ids), zeros_like(g.x(0))), {}};
}

// Zeros need care: with one in a segment only that element has a gradient, with more none has.
Grads segment_prod_grad(const GradContext& g) {
  const Value x = g.x(0), ids = g.x(1), zero = binary("Equal", x, zeros_like(x));
  const Value zeros = binary("SegmentSum", cast(zero, DType::kInt32), ids);
  const Value dy = where(binary("Greater", zeros, ones_like(zeros)), zeros_like(g.dy()), g.dy());
  const Value safe = where(zero, ones_like(x), x);
  const Value others = where(zero, gather(binary("SegmentProd", safe, ids), ids), gather(g.y(), ids) / safe);
  return {gather(dy, ids) * others, {}};
}

// Which ids are not negative, in a shape that repeats over rows of the rank of `like`. A negative id drops its row.
Value alive(const Value& ids, const Value& like) {
  if (!like.valid() || !ids.valid()) return {};
  Emitter& e = ids.emitter();
  const Value rest = e.one("Fill", {reshape(rank_of(like) - rank_of(ids), ints(e, {1})), scalar(e, DType::kInt32, 1)});
  const Value parts[] = {shape_of(ids), rest};
  return reshape(binary("GreaterEqual", ids, zeros_like(ids)), concat(parts, 0));
}

// Rows by id; zeros where the id is negative.
Value gather_alive(const Value& x, const Value& ids) {
  if (!x.valid() || !ids.valid()) return {};
  const Value rows = gather(x, binary("Maximum", ids, zeros_like(ids)));
  return where(alive(ids, rows), rows, zeros_like(rows));
}

Grads unsorted_extreme_grad(const GradContext& g) {
  const Value ids = g.x(1);
  const Value hits = binary("LogicalAnd", binary("Equal", g.x(0), gather_alive(g.y(), ids)), alive(ids, g.x(0)));
  const Value share = g.dy() / g.one("UnsortedSegmentSum", {cast(hits, g.dy().dtype()), ids, g.x(2)});
  return {where(hits, gather_alive(share, ids), zeros_like(g.x(0))), {}, {}};
}

Grads unsorted_prod_grad(const GradContext& g) {
  const Value x = g.x(0), ids = g.x(1), n = g.x(2), zero = binary("Equal", x, zeros_like(x));
  const Value zeros = g.one("UnsortedSegmentSum", {cast(zero, DType::kInt32), ids, n});
  const Value dy = where(binary("Greater", zeros, ones_like(zeros)), zeros_like(g.dy()), g.dy());
  const Value safe = where(zero, ones_like(x), x), at = binary("Maximum", ids, zeros_like(ids));
  const Value others = where(zero, gather(g.one("UnsortedSegmentProd", {safe, ids, n}), at), gather(g.y(), at) / safe);
  return {gather_alive(dy, ids) * others, {}, {}};
}

Grads sparse_segment_grad(const GradContext& g, std::string_view op) {
  Grads grads = g.none();
  grads[0] = g.one(op, {g.dy(), g.x(1), g.x(2), element(shape_of(g.x(0)), 0)});
  return grads;
}

}  // namespace

void segment(Registry& r) {
  r.add("SegmentMax")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .doc("The greatest element of each segment of rows; ids are sorted.")
      .shape(segment_shape)
      .grad(segment_extreme_grad)
      .cpu(run_segment<SegmentOp::kMax, false>);

  r.add("SegmentMean")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .doc("The mean of each segment of rows; ids are sorted.")
      .shape(segment_shape)
      .grad(segment_mean_grad)
      .cpu(run_segment<SegmentOp::kSum, true>, types<WEFT_NUMBERS>("T"));

  r.add("SegmentMin")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .doc("The least element of each segment of rows; ids are sorted.")
      .shape(segment_shape)
      .grad(segment_extreme_grad)
      .cpu(run_segment<SegmentOp::kMin, false>);

  r.add("SegmentProd")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .doc("The product of each segment of rows; ids are sorted.")
      .shape(segment_shape)
      .grad(segment_prod_grad)
      .cpu(run_segment<SegmentOp::kProd, false>, types<WEFT_NUMBERS>("T"));

  r.add("SegmentSum")
      .in("data: T")
      .in("segment_ids: Tindices")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .doc("The sum of each segment of rows; ids are sorted.")
      .shape(segment_shape)
      .grad([](const GradContext& g) -> Grads { return {gather(g.dy(), g.x(1)), {}}; })
      .cpu(run_segment<SegmentOp::kSum, false>, types<WEFT_NUMBERS>("T"));

  r.add("SparseSegmentMean")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false")
      .doc("The mean of the rows that the indices name, segment by segment.")
      .shape(sparse_segment_shape)
      .grad([](const GradContext& g) -> Grads { return sparse_segment_grad(g, "SparseSegmentMeanGrad"); })
      .cpu(run_sparse_segment<Scale::kMean, false>);

  r.add("SparseSegmentMeanGrad")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("output_dim0: int32")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .doc("The gradient of SparseSegmentMean with respect to its data.")
      .shape(sparse_segment_rows_shape)
      .cpu(run_sparse_grad<Scale::kMean, false>);

  r.add("SparseSegmentMeanGradV2")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("dense_output_dim0: int32")
      .out("output: T")
      .out("sorted_unique_indices: Tidx")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .doc("As SparseSegmentMeanGrad, holding only rows that are not zero, and their indices.")
      .on_gpu(OnGpu::kByCpu)
      .shape(sparse_segment_grad_v2_shape)
      .cpu(run_sparse_grad<Scale::kMean, true>);

  r.add("SparseSegmentMeanWithNumSegments")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false")
      .doc("As SparseSegmentMean, with the number of segments given.")
      .shape(sparse_segment_rows_shape)
      .grad([](const GradContext& g) -> Grads { return sparse_segment_grad(g, "SparseSegmentMeanGrad"); })
      .cpu(run_sparse_segment<Scale::kMean, true>);

  r.add("SparseSegmentSqrtN")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false")
      .doc("The sum, divided by the root of the count, of the rows that the indices name, segment by segment.")
      .shape(sparse_segment_shape)
      .grad([](const GradContext& g) -> Grads { return sparse_segment_grad(g, "SparseSegmentSqrtNGrad"); })
      .cpu(run_sparse_segment<Scale::kSqrtN, false>);

  r.add("SparseSegmentSqrtNGrad")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("output_dim0: int32")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .doc("The gradient of SparseSegmentSqrtN with respect to its data.")
      .shape(sparse_segment_rows_shape)
      .cpu(run_sparse_grad<Scale::kSqrtN, false>);

  r.add("SparseSegmentSqrtNGradV2")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("dense_output_dim0: int32")
      .out("output: T")
      .out("sorted_unique_indices: Tidx")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .doc("As SparseSegmentSqrtNGrad, holding only rows that are not zero, and their indices.")
      .on_gpu(OnGpu::kByCpu)
      .shape(sparse_segment_grad_v2_shape)
      .cpu(run_sparse_grad<Scale::kSqrtN, true>);

  r.add("SparseSegmentSqrtNWithNumSegments")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false")
      .doc("As SparseSegmentSqrtN, with the number of segments given.")
      .shape(sparse_segment_rows_shape)
      .grad([](const GradContext& g) -> Grads { return sparse_segment_grad(g, "SparseSegmentSqrtNGrad"); })
      .cpu(run_sparse_segment<Scale::kSqrtN, true>);

  r.add("SparseSegmentSum")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false")
      .doc("The sum of the rows that the indices name, segment by segment.")
      .shape(sparse_segment_shape)
      .grad([](const GradContext& g) -> Grads { return sparse_segment_grad(g, "SparseSegmentSumGrad"); })
      .cpu(run_sparse_segment<Scale::kNone, false>);

  r.add("SparseSegmentSumGrad")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("output_dim0: int32")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .doc("The gradient of SparseSegmentSum with respect to its data.")
      .shape(sparse_segment_rows_shape)
      .cpu(run_sparse_grad<Scale::kNone, false>);

  r.add("SparseSegmentSumGradV2")
      .in("grad: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("dense_output_dim0: int32")
      .out("output: T")
      .out("sorted_unique_indices: Tidx")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .doc("As SparseSegmentSumGrad, holding only rows that are not zero, and their indices.")
      .on_gpu(OnGpu::kByCpu)
      .shape(sparse_segment_grad_v2_shape)
      .cpu(run_sparse_grad<Scale::kNone, true>);

  r.add("SparseSegmentSumWithNumSegments")
      .in("data: T")
      .in("indices: Tidx")
      .in("segment_ids: Tsegmentids")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .attr("Tsegmentids: {int32, int64} = DT_INT32")
      .attr("sparse_gradient: bool = false")
      .doc("As SparseSegmentSum, with the number of segments given.")
      .shape(sparse_segment_rows_shape)
      .grad([](const GradContext& g) -> Grads { return sparse_segment_grad(g, "SparseSegmentSumGrad"); })
      .cpu(run_sparse_segment<Scale::kNone, true>);

  r.add("UnsortedSegmentMax")
      .in("data: T")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .doc("The greatest element of each segment; ids come in any order, negative ones are left out.")
      .shape(unsorted_segment_shape)
      .grad(unsorted_extreme_grad)
      .cpu(run_unsorted<SegmentOp::kMax>);

  r.add("UnsortedSegmentMin")
      .in("data: T")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .doc("The least element of each segment; ids come in any order, negative ones are left out.")
      .shape(unsorted_segment_shape)
      .grad(unsorted_extreme_grad)
      .cpu(run_unsorted<SegmentOp::kMin>);

  r.add("UnsortedSegmentProd")
      .in("data: T")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .doc("The product of each segment; ids come in any order, negative ones are left out.")
      .shape(unsorted_segment_shape)
      .grad(unsorted_prod_grad)
      .cpu(run_unsorted<SegmentOp::kProd>, types<WEFT_NUMBERS>("T"));

  r.add("UnsortedSegmentSum")
      .in("data: T")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int16, int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32")
      .doc("The sum of each segment; ids come in any order, negative ones are left out.")
      .shape(unsorted_segment_shape)
      .grad([](const GradContext& g) -> Grads { return {gather_alive(g.dy(), g.x(1)), {}, {}}; })
      .cpu(run_unsorted<SegmentOp::kSum>, types<WEFT_NUMBERS>("T"));

  set_layout(r, {"SegmentMax", "SegmentMean", "SegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd", "UnsortedSegmentSum"},
             layouts::kSegments);
}

}  // namespace weft_engine::ops
