// Sums, means, products and extremes of rows that belong to the same segment, and counts of values.
#include <limits>

#include "ops/lower_util.h"
#include "ops/math/math_lower.h"

namespace weft_engine::ops {

namespace {

using ir::Compare;
using ir::Reduce;

template <class T>
Value bound(ir::Builder& b, bool highest) {
  return b.constant(Tensor::scalar<T>(highest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest()));
}

// What a segment without rows holds: the neutral element. Floats have their largest numbers, not infinities, as in TensorFlow.
Value neutral(LowerContext& l, DType t, Reduce how) {
  if (how == Reduce::kSum || how == Reduce::kProd) return l.b.scalar(t, how == Reduce::kProd);
  const bool highest = how == Reduce::kMin;
  switch (t) {
    case DType::kFloat: return bound<float>(l.b, highest);
    case DType::kDouble: return bound<double>(l.b, highest);
    case DType::kInt8: return bound<int8_t>(l.b, highest);
    case DType::kInt16: return bound<int16_t>(l.b, highest);
    case DType::kInt32: return bound<int32_t>(l.b, highest);
    case DType::kInt64: return bound<int64_t>(l.b, highest);
    case DType::kUint8: return bound<uint8_t>(l.b, highest);
    case DType::kUint16: return bound<uint16_t>(l.b, highest);
    case DType::kUint32: return bound<uint32_t>(l.b, highest);
    case DType::kUint64: return bound<uint64_t>(l.b, highest);
    default: return l.b.fail(unimplemented("the compiler cannot lower ", l.node.op(), " of ", dtype_name(t)));
  }
}

// data as [rows, ...] under ids as [rows].
bool as_rows(LowerContext& l, Value& data, Value& ids) {
  if (!data || !ids) return false;
  const int shared = ids->rank();
  if (shared > data->rank())
    return l.b.fail(invalid_argument("data.shape = ", shape_text(l.b, data->type.dims),
                                     " does not start with segment_ids.shape = ", shape_text(l.b, ids->type.dims))),
           false;
  for (int i = 0; i < shared; ++i) l.b.same(data->dim(i), ids->dim(i));
  Dims dims = dims_of(data, shared, data->rank());
  dims.insert(dims.begin(), ids->type.elements());
  data = l.b.reshape(data, std::move(dims));
  ids = as_index(l.b, l.b.reshape(ids, {ids->type.elements()}));
  return data && ids;
}

Value rows_filled(LowerContext& l, Value data, const Dim& rows, Value v) {
  Dims dims = data->type.dims;
  dims[0] = rows;
  return l.b.broadcast_to(v, std::move(dims));
}

// Negative ids are left out; too large ones are an error.
template <Reduce kHow>
LoweredList unsorted(LowerContext& l) {
  Value data = l.x(0), ids = l.x(1);
  const auto count = l.sizes(2);
  if (!count || count->size() != 1 || !as_rows(l, data, ids)) return {};
  const Dim& n = (*count)[0];
  if (n.is_const() && n.value() < 0) return l.fail(invalid_argument("Input num_segments == ", n.value(), " must not be negative."));
  const Value limit = l.b.convert(l.b.sizes({n}, DType::kInt64, true), ids->type.dtype);
  l.b.check(l.b.reduce(Reduce::kAnd, l.b.compare(Compare::kLt, ids, limit), {0}),
            cat("segment_ids[...] is out of range [0, ", size_text(l.b, n), ")"));
  return {l.b.scatter(rows_filled(l, data, n, neutral(l, data->type.dtype, kHow)), ids, data, kHow, "")};
}

// The number of segments is in the ids, which must be known.
LoweredList sorted(LowerContext& l, Reduce how, bool mean) {
  Value data = l.x(0), ids = l.x(1);
  const auto known = l.ints(1);
  if (!known || !as_rows(l, data, ids)) return {};
  for (size_t i = 1; i < known->size(); ++i) {
    if ((*known)[i] < (*known)[i - 1]) return l.fail(invalid_argument("segment ids are not increasing"));
  }
  if (!known->empty() && (*known)[0] < 0) return l.fail(invalid_argument("segment ids must be >= 0"));
  const int64_t n = known->empty() ? 0 : known->back() + 1;
  if (n > 1 << 20) return l.unsupported("so many segments");
  const DType t = data->type.dtype;
  std::vector<int64_t> counts(static_cast<size_t>(n), 0);
  for (int64_t id : *known) ++counts[size_t(id)];
  Value out = l.b.scatter(rows_filled(l, data, Dim(n), neutral(l, t, how)), ids, data, how, "");
  if (!out) return {};
  Dims column(size_t(out->rank()), Dim(1));
  column[0] = Dim(n);
  const Value count = l.b.reshape(l.b.ints(counts, DType::kInt64), column);
  if (mean) out = l.b.div(out, l.b.convert(l.b.max(count, 1), t));
  // A segment without rows is 0, or 1 for products.
  if (how == Reduce::kMax || how == Reduce::kMin)
    out = l.b.select(l.b.compare(Compare::kGt, count, l.b.scalar_int(DType::kInt64, 0)), out, l.b.scalar(t, 0));
  return {out};
}

// ---- rows named by indices

enum class Scale { kNone, kMean, kSqrtN };

Scale scale_of(std::string_view op) {
  return op.starts_with("SparseSegmentMean") ? Scale::kMean : op.starts_with("SparseSegmentSqrtN") ? Scale::kSqrtN : Scale::kNone;
}

// What the sum of each segment is divided by: [n, 1 ...], at least 1.
Value divisors(ir::Builder& b, Scale scale, Value ids, const Dim& n, DType t, int rank) {
  const Value count = b.scatter(b.fill(t, {n}, 0), ids, b.fill(t, {ids->dim(0)}, 1), Reduce::kSum, "");
  const Value least = b.max(count, 1.0);
  Dims dims(size_t(rank), Dim(1));
  dims[0] = n;
  return b.reshape(scale == Scale::kSqrtN ? b.sqrt(least) : least, dims);
}

bool check_vectors(LowerContext& l, Value indices, Value ids) {
  if (indices->rank() != 1) return l.fail(invalid_argument("indices should be a vector.")), false;
  if (ids->rank() != 1) return l.fail(invalid_argument("segment_ids should be a vector.")), false;
  l.b.same(indices->dim(0), ids->dim(0));
  return l.ok();
}

LoweredList sparse_segment(LowerContext& l) {
  ir::Builder& b = l.b;
  const Value data = widened(l, l.x(0)), indices = l.x(1), ids = l.x(2);
  if (!data || !indices || !ids || !check_vectors(l, indices, ids)) return {};
  if (data->rank() < 1) return l.fail(invalid_argument("Shape must be at least rank 1"));
  Dim n(0);
  if (l.num_inputs() > 3) {
    const auto given = l.sizes(3);
    if (!given || given->size() != 1) return {};
    n = (*given)[0];
    require_nonnegative(l, n, "Expected num_segments to be non-negative");
  } else {
    const auto known = l.ints(2);
    if (!known) return {};
    n = known->empty() ? 0 : known->back() + 1;
    if (!n.nonnegative() || n.value() > 1 << 20) return l.unsupported("these segments");
  }
  const Dim last = ids->dim(0) - Dim(1);
  if (last.nonnegative()) {
    const Value rising = b.compare(Compare::kGe, b.slice_axis(ids, 0, 1, last), b.slice_axis(ids, 0, 0, last));
    b.check(b.reduce(Reduce::kAnd, rising, {0}), "segment ids are not increasing");
  }
  Dims dims = data->type.dims;
  dims[0] = n;
  const Value rows = b.gather(data, indices, 0, 0, "indices out of range");
  const Value sum = b.scatter(b.fill(data->type.dtype, dims, 0), ids, rows, Reduce::kSum, "segment ids out of range");
  const Scale scale = scale_of(l.node.op());
  if (!sum) return {};
  return {b.convert(scale == Scale::kNone ? sum : b.div(sum, divisors(b, scale, ids, n, sum->type.dtype, sum->rank())), l.out_type())};
}

LoweredList sparse_segment_grad(LowerContext& l) {
  ir::Builder& b = l.b;
  Value dy = widened(l, l.x(0));
  const Value indices = l.x(1), ids = l.x(2);
  const auto rows = l.sizes(3);
  if (!dy || !indices || !ids || !rows || rows->size() != 1 || !check_vectors(l, indices, ids)) return {};
  if (dy->rank() < 1) return l.fail(invalid_argument("Shape must be at least rank 1"));
  const Scale scale = scale_of(l.node.op());
  if (scale != Scale::kNone) dy = b.div(dy, divisors(b, scale, ids, dy->dim(0), dy->type.dtype, dy->rank()));
  Dims dims = dy->type.dims;
  dims[0] = (*rows)[0];
  const Value each = b.gather(dy, ids, 0, 0, "Segment id out of range");
  return {b.convert(b.scatter(b.fill(dy->type.dtype, dims, 0), indices, each, Reduce::kSum, "Index out of range"), l.out_type())};
}

// How often each number below `size` is in each row of the values, or the sums of their weights.
LoweredList bincount(LowerContext& l, bool binary) {
  Value x = l.x(0), weights = l.x(2);
  const auto sizes = l.sizes(1);
  if (!x || !weights || !sizes || sizes->size() != 1) return {};
  const Dim& size = (*sizes)[0];
  const DType t = weights->type.dtype, index = x->type.dtype;
  l.b.check(l.b.reduce(Reduce::kAnd, l.b.compare(Compare::kGe, x, l.b.scalar_int(index, 0)), axes_from(0, x->rank())),
            "Input arr must be non-negative!");
  const bool matrix = x->rank() == 2 && l.node.op() != "Bincount";
  const Dim rows = matrix ? x->dim(0) : Dim(1), n = x->type.elements();
  // Values that are too large go nowhere.
  Value at = l.b.select(inside(l.b, x, size), x, l.b.scalar_int(index, -1));
  if (matrix) {
    const Value row = l.b.mul(l.b.iota(index, x->type.dims, 0), l.b.convert(l.b.sizes({size}, DType::kInt64, true), index));
    at = l.b.select(l.b.compare(Compare::kGe, at, l.b.scalar_int(index, 0)), l.b.add(at, row), at);
  }
  const bool weighted = !weights->type.elements().is(0) && !binary;
  const Value w = weighted ? l.b.reshape(weights, {n}) : l.b.fill(t, {n}, 1);
  const Value counts = l.b.scatter(l.b.fill(t, {rows * size}, 0), l.b.reshape(at, {n}), w, binary ? Reduce::kSet : Reduce::kSum, "");
  return {l.b.reshape(counts, matrix ? Dims{rows, size} : Dims{size})};
}

LoweredList histogram(LowerContext& l) {
  const Value x = l.x(0), range = l.b.convert(l.x(1), DType::kDouble);
  const auto bins = l.integer(2);
  if (!x || !range || !bins) return {};
  if (range->rank() != 1 || !range->dim(0).is(2)) return l.fail(invalid_argument("value_range should be a vector of 2 elements."));
  if (*bins <= 0) return l.fail(invalid_argument("nbins should be a positive number, but got '", *bins, "'"));
  const Value low = as_scalar(l.b, l.b.slice_axis(range, 0, 0, 1)), high = as_scalar(l.b, l.b.slice_axis(range, 0, 1, 1));
  l.b.check(l.b.compare(Compare::kLt, low, high), "value_range should satisfy value_range[0] < value_range[1]");
  const Dim n = x->type.elements();
  const Value v = l.b.convert(l.b.reshape(x, {n}), DType::kDouble);
  l.b.check(l.b.reduce(Reduce::kAnd, l.b.compare(Compare::kEq, v, v), {0}), "Histogram values must not contain NaN");
  const Value step = l.b.div(l.b.sub(high, low), double(*bins));
  const Value place = l.b.min(l.b.div(l.b.sub(l.b.max(v, low), low), step), double(*bins - 1));
  return {l.b.scatter(l.b.fill(l.out_type(), {Dim(*bins)}, 0), l.b.convert(place, DType::kInt64), l.b.fill(l.out_type(), {n}, 1), Reduce::kSum, "")};
}

}  // namespace

void lower_segment(Registry& r) {
  r.lower("Bincount", [](LowerContext& l) -> LoweredList { return bincount(l, false); });
  r.lower("DenseBincount", [](LowerContext& l) -> LoweredList { return bincount(l, l.attr<bool>("binary_output")); });
  r.lower("HistogramFixedWidth", histogram);
  r.lower("SegmentMax", [](LowerContext& l) -> LoweredList { return sorted(l, Reduce::kMax, false); });
  r.lower("SegmentMean", [](LowerContext& l) -> LoweredList { return sorted(l, Reduce::kSum, true); });
  r.lower("SegmentMin", [](LowerContext& l) -> LoweredList { return sorted(l, Reduce::kMin, false); });
  r.lower("SegmentProd", [](LowerContext& l) -> LoweredList { return sorted(l, Reduce::kProd, false); });
  r.lower("SegmentSum", [](LowerContext& l) -> LoweredList { return sorted(l, Reduce::kSum, false); });
  for (const char* what : {"Mean", "SqrtN", "Sum"}) {
    r.lower(cat("SparseSegment", what), sparse_segment);
    r.lower(cat("SparseSegment", what, "WithNumSegments"), sparse_segment);
    r.lower(cat("SparseSegment", what, "Grad"), sparse_segment_grad);
  }
  r.lower("UnsortedSegmentMax", unsorted<Reduce::kMax>);
  r.lower("UnsortedSegmentMin", unsorted<Reduce::kMin>);
  r.lower("UnsortedSegmentProd", unsorted<Reduce::kProd>);
  r.lower("UnsortedSegmentSum", unsorted<Reduce::kSum>);
}

}  // namespace weft_engine::ops
