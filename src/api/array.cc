#include "weft/array.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "api/op_args.h"
#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/linalg.h"
#include "weft/raw/math.h"
#include "weft/raw/nn.h"

namespace weft {

using api::ints;
using api::known_rank;

namespace {

[[noreturn]] void fail(const std::string& message) { throw Error(Code::kInvalidArgument, message); }

Tensor pairs(const std::vector<std::pair<int64_t, int64_t>>& paddings) {
  std::vector<int64_t> flat;
  for (const auto& [before, after] : paddings) flat.insert(flat.end(), {before, after});
  return Tensor::of<int64_t>({int64_t(paddings.size()), 2}, std::span<const int64_t>(flat));
}
// An axis counted from the start; the rank must be known.
int64_t axis_of(const Tensor& x, int64_t axis, const char* who) {
  const int rank = known_rank(x);
  if (rank < 0) fail(std::string(who) + " needs a tensor whose rank is known");
  if (axis < -rank || axis >= rank)
    fail(std::string(who) + ": axis " + std::to_string(axis) + " is out of range for a tensor of rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}
// Two dimensions exchanged.
Tensor swapped(const Tensor& x, int64_t a, int64_t b) {
  if (a == b) return x;
  std::vector<int64_t> perm(size_t(known_rank(x)));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[size_t(a)], perm[size_t(b)]);
  return transpose(x, perm);
}

}  // namespace

Tensor zeros(std::vector<int64_t> shape, DType dtype) {
  return raw::Fill(ints(shape), dtype == DType::string ? Tensor("") : cast(Tensor(0.f), dtype));
}
Tensor ones(std::vector<int64_t> shape, DType dtype) { return raw::Fill(ints(shape), cast(Tensor(1.f), dtype)); }
Tensor fill(std::vector<int64_t> shape, const Tensor& value) { return raw::Fill(ints(shape), value); }
Tensor zeros_like(const Tensor& x) { return raw::ZerosLike(x); }
Tensor ones_like(const Tensor& x) { return raw::OnesLike(x); }
Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  if (columns < 0) columns = rows;
  return raw::MatrixSetDiag(zeros({rows, columns}, dtype), ones({std::min(rows, columns)}, dtype));
}
Tensor one_hot(const Tensor& indices, int64_t depth, int64_t axis, DType dtype) {
  return raw::OneHot(indices, Tensor(int32_t(depth)), cast(Tensor(1.f), dtype), cast(Tensor(0.f), dtype), {.axis = axis});
}
Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta) { return raw::Range(start, limit, delta); }
Tensor range(const Tensor& limit) { return raw::Range(zeros_like(limit), limit, ones_like(limit)); }
Tensor linspace(const Tensor& start, const Tensor& stop, int64_t num) { return raw::LinSpace(start, stop, Tensor(num)); }
std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, const MeshgridOptions& o) {
  if (o.indexing != "xy" && o.indexing != "ij") fail("meshgrid: indexing must be \"xy\" or \"ij\", got \"" + o.indexing + "\"");
  std::vector<Tensor> sizes, out;
  const size_t n = vectors.size();
  const bool exchange = o.indexing == "xy" && n > 1;
  std::vector<size_t> dim_of(n);
  for (size_t i = 0; i < n; ++i) dim_of[i] = exchange && i < 2 ? 1 - i : i;
  sizes.resize(n);
  for (size_t i = 0; i < n; ++i) sizes[dim_of[i]] = size(vectors[i]);
  const Tensor form = n ? stack(sizes) : Tensor();
  for (size_t i = 0; i < n; ++i) {
    std::vector<int64_t> dims(n, 1);
    dims[dim_of[i]] = -1;
    out.push_back(raw::BroadcastTo(reshape(vectors[i], dims), form));
  }
  return out;
}
Tensor sequence_mask(const Tensor& lengths, int64_t maxlen, DType dtype) {
  const Tensor places = range(cast(Tensor(maxlen), lengths.dtype()));
  const Tensor mask = places < expand_dims(lengths, -1);
  return dtype == DType::boolean ? mask : cast(mask, dtype);
}

Tensor identity(const Tensor& x) { return raw::Identity(x); }
Tensor cast(const Tensor& x, DType dtype) { return raw::Cast(x, dtype); }
Tensor bitcast(const Tensor& x, DType dtype) { return raw::Bitcast(x, dtype); }
Tensor saturate_cast(const Tensor& x, DType dtype) {
  double low = 0, high = 0;
  if (!api::integer_limits(dtype, low, high)) return cast(x, dtype);
  double from_low = -INFINITY, from_high = INFINITY;
  api::integer_limits(x.dtype(), from_low, from_high);
  const auto bound = [&](double v) { return cast(Tensor(v), x.dtype()); };
  Tensor y = x;
  // The limits of 64 bits are no numbers of float types: the next one inside is.
  const bool wide = (dtype == DType::int64 || dtype == DType::uint64) && std::isinf(from_high);
  if (from_high > high) y = minimum(y, wide ? nextafter(bound(high), zeros_like(bound(high))) : bound(high));
  if (from_low < low) y = maximum(y, bound(low));
  return cast(y, dtype);
}
Tensor shape(const Tensor& x, DType dtype) { return raw::Shape(x, {.out_type = dtype}); }
Tensor size(const Tensor& x, DType dtype) { return raw::Size(x, {.out_type = dtype}); }
Tensor rank(const Tensor& x) { return raw::Rank(x); }
Tensor ensure_shape(const Tensor& x, const PartialShape& shape) { return raw::EnsureShape(x, shape); }

Tensor reshape(const Tensor& x, std::vector<int64_t> shape) { return raw::Reshape(x, ints(shape)); }
Tensor transpose(const Tensor& x, std::vector<int64_t> perm) {
  if (perm.empty()) {
    const int rank = known_rank(x);
    if (rank < 0) return raw::Transpose(x, raw::Range(raw::Rank(x) - Tensor(int32_t(1)), Tensor(int32_t(-1)), Tensor(int32_t(-1))));
    for (int i = rank; i-- > 0;) perm.push_back(i);
  }
  return raw::Transpose(x, ints(perm));
}
Tensor expand_dims(const Tensor& x, int64_t axis) { return raw::ExpandDims(x, Tensor(axis)); }
Tensor squeeze(const Tensor& x, std::vector<int64_t> axis) { return raw::Squeeze(x, {.squeeze_dims = axis}); }
Tensor tile(const Tensor& x, std::vector<int64_t> multiples) { return raw::Tile(x, ints(multiples)); }
Tensor repeat(const Tensor& x, int64_t repeats, int64_t axis) {
  const int64_t at = axis_of(x, axis, "repeat");
  const PartialShape s = x.partial_shape();
  std::vector<int64_t> multiples(s.dims.size() + 1, 1);
  multiples[size_t(at) + 1] = repeats;
  const Tensor wide = tile(expand_dims(x, at + 1), multiples);
  std::vector<Tensor> dims;
  for (size_t i = 0; i < s.dims.size(); ++i) {
    const Tensor n = s.dims[i] >= 0 ? Tensor(int32_t(s.dims[i])) : shape(x)[int64_t(i)];
    dims.push_back(int64_t(i) == at ? n * Tensor(int32_t(repeats)) : n);
  }
  return raw::Reshape(wide, stack(dims));
}
Tensor broadcast_to(const Tensor& x, std::vector<int64_t> shape) { return raw::BroadcastTo(x, ints(shape)); }
Tensor pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const Tensor& value) {
  return value.has_value() ? raw::PadV2(x, pairs(paddings), value) : raw::Pad(x, pairs(paddings));
}
Tensor mirror_pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const std::string& mode) {
  return raw::MirrorPad(x, pairs(paddings), mode);
}
Tensor slice(const Tensor& x, std::vector<int64_t> begin, std::vector<int64_t> size) { return raw::Slice(x, ints(begin), ints(size)); }
Tensor reverse(const Tensor& x, std::vector<int64_t> axis) { return raw::ReverseV2(x, ints(axis)); }
Tensor roll(const Tensor& x, std::vector<int64_t> shift, std::vector<int64_t> axis) { return raw::Roll(x, ints(shift), ints(axis)); }

Tensor concat(const std::vector<Tensor>& values, int64_t axis) { return raw::ConcatV2(values, Tensor(axis)); }
Tensor stack(const std::vector<Tensor>& values, int64_t axis) { return raw::Pack(values, {.axis = axis}); }
std::vector<Tensor> unstack(const Tensor& x, int64_t axis) {
  const PartialShape s = x.partial_shape();
  const int64_t rank = int64_t(s.dims.size()), at = axis < 0 ? axis + rank : axis;
  if (!s.known_rank || at < 0 || at >= rank || s.dims[size_t(at)] < 0) fail("unstack needs a tensor whose size along the axis is known");
  return raw::Unpack(x, s.dims[size_t(at)], {.axis = axis});
}
std::vector<Tensor> split(const Tensor& x, int64_t parts, int64_t axis) { return raw::Split(Tensor(int32_t(axis)), x, parts); }
std::vector<Tensor> split(const Tensor& x, std::vector<int64_t> sizes, int64_t axis) {
  return raw::SplitV(x, ints(sizes), Tensor(int32_t(axis)), int64_t(sizes.size()));
}

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y) { return raw::SelectV2(condition, x, y); }
Tensor where(const Tensor& condition) { return raw::Where(condition); }
Tensor boolean_mask(const Tensor& x, const Tensor& mask) {
  if (mask.dtype() != DType::boolean) fail("boolean_mask needs a mask of booleans, got " + to_string(mask.dtype()));
  const int rank = known_rank(mask);
  if (rank < 1) fail("boolean_mask needs a mask whose rank is known and at least 1");
  const PartialShape of = x.partial_shape(), form = mask.partial_shape();
  if (of.known_rank && int(of.dims.size()) < rank)
    fail("a mask of " + std::to_string(rank) + " dimensions does not fit a tensor of " + std::to_string(of.dims.size()));
  for (size_t i = 0; of.known_rank && i < form.dims.size(); ++i) {
    if (of.dims[i] >= 0 && form.dims[i] >= 0 && of.dims[i] != form.dims[i])
      fail("a mask of size " + std::to_string(form.dims[i]) + " does not fit dimension " + std::to_string(i) + " of size " +
           std::to_string(of.dims[i]));
  }
  const Tensor flat = rank == 1 ? x : raw::Reshape(x, concat({Tensor{int32_t(-1)}, shape(x)[{slice(rank, _)}]}, 0));
  return gather(flat, squeeze(raw::Where(rank == 1 ? mask : reshape(mask, {-1})), {1}));
}
Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis) { return raw::GatherV2(x, indices, Tensor(axis)); }
Tensor gather(const Tensor& x, const Tensor& indices, const GatherOptions& o) {
  return raw::GatherV2(x, indices, Tensor(o.axis), {.batch_dims = o.batch_dims});
}
Tensor gather_nd(const Tensor& x, const Tensor& indices, int64_t batch_dims) {
  if (batch_dims == 0) return raw::GatherNd(x, indices);
  // The batch's own numbers in front of each index.
  const PartialShape s = indices.partial_shape();
  if (batch_dims < 0 || !s.known_rank || batch_dims >= int64_t(s.dims.size())) fail("gather_nd: batch_dims must be less than the rank of indices");
  std::vector<int64_t> dims = indices.shape(), parts(dims.begin(), dims.end() - 1);
  std::vector<Tensor> columns;
  for (int64_t i = 0; i < batch_dims; ++i) {
    std::vector<int64_t> one(dims.size(), 1), full = dims;
    one[size_t(i)] = dims[size_t(i)];
    full.back() = 1;
    columns.push_back(broadcast_to(reshape(cast(range(Tensor(dims[size_t(i)])), indices.dtype()), one), full));
  }
  columns.push_back(indices);
  return raw::GatherNd(x, concat(columns, -1));
}
Tensor scatter_nd(const Tensor& indices, const Tensor& updates, std::vector<int64_t> shape) {
  return raw::ScatterNd(indices, updates, cast(ints(shape), indices.dtype()));
}
Tensor tensor_scatter_nd_update(const Tensor& x, const Tensor& indices, const Tensor& updates) {
  return raw::TensorScatterUpdate(x, indices, updates);
}
Tensor tensor_scatter_nd_add(const Tensor& x, const Tensor& indices, const Tensor& updates) { return raw::TensorScatterAdd(x, indices, updates); }
Tensor tensor_scatter_nd_sub(const Tensor& x, const Tensor& indices, const Tensor& updates) { return raw::TensorScatterSub(x, indices, updates); }
Tensor tensor_scatter_nd_max(const Tensor& x, const Tensor& indices, const Tensor& updates) { return raw::TensorScatterMax(x, indices, updates); }
Tensor tensor_scatter_nd_min(const Tensor& x, const Tensor& indices, const Tensor& updates) { return raw::TensorScatterMin(x, indices, updates); }
std::vector<Tensor> dynamic_partition(const Tensor& x, const Tensor& partitions, int64_t num_partitions) {
  return raw::DynamicPartition(x, partitions, num_partitions);
}
Tensor dynamic_stitch(const std::vector<Tensor>& indices, const std::vector<Tensor>& data) { return raw::DynamicStitch(indices, data); }

namespace {

// Descending along the last axis; equal elements keep their order. The places, if they are asked for.
Tensor descending(const Tensor& x, Tensor* places) {
  const Tensor n = shape(x)[-1];
  const raw::TopKV2Result top = raw::TopKV2(x, n);
  if (places) *places = top.indices;
  return top.values;
}
// Numbers whose order is the reverse: without overflow also for the least integer.
Tensor mirrored(const Tensor& x) {
  double low = 0, high = 0;
  if (!api::integer_limits(x.dtype(), low, high)) return -x;
  return low == 0 ? cast(Tensor(uint64_t(-1)), x.dtype()) - x : Tensor(cast(Tensor(int64_t(-1)), x.dtype())) - x;
}
Tensor sorted_along(const Tensor& x, const SortOptions& o, bool indices) {
  if (o.direction != "ASCENDING" && o.direction != "DESCENDING")
    fail("sort: direction must be \"ASCENDING\" or \"DESCENDING\", got \"" + o.direction + "\"");
  const int64_t axis = axis_of(x, o.axis, "sort"), last = known_rank(x) - 1;
  const Tensor rows = swapped(x, axis, last);
  const bool up = o.direction == "ASCENDING";
  Tensor places;
  const Tensor values = descending(up ? mirrored(rows) : rows, indices ? &places : nullptr);
  return swapped(indices ? places : up ? mirrored(values) : values, axis, last);
}

}  // namespace

Tensor sort(const Tensor& x, const SortOptions& o) { return sorted_along(x, o, false); }
Tensor argsort(const Tensor& x, const SortOptions& o) { return sorted_along(x, o, true); }
TopK top_k(const Tensor& x, int64_t k, bool sorted) {
  const raw::TopKV2Result r = raw::TopKV2(x, Tensor(int32_t(k)), {.sorted = sorted});
  return {r.values, r.indices};
}
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, const std::string& side, DType dtype) {
  if (side != "left" && side != "right") fail("searchsorted: side must be \"left\" or \"right\", got \"" + side + "\"");
  // The ops take matrices.
  const Tensor rows = raw::Reshape(sorted_sequence, stack({Tensor(int32_t(-1)), shape(sorted_sequence)[-1]}));
  const Tensor wanted = raw::Reshape(values, stack({Tensor(int32_t(-1)), shape(values)[-1]}));
  const Tensor found = side == "left" ? raw::LowerBound(rows, wanted, {.out_type = dtype}) : raw::UpperBound(rows, wanted, {.out_type = dtype});
  return raw::Reshape(found, shape(values));
}
Unique unique(const Tensor& x, DType out_idx) {
  const raw::UniqueResult r = raw::Unique(x, {.out_idx = out_idx});
  return {r.y, r.idx, {}};
}
Unique unique_with_counts(const Tensor& x, DType out_idx) {
  const raw::UniqueWithCountsResult r = raw::UniqueWithCounts(x, {.out_idx = out_idx});
  return {r.y, r.idx, r.count};
}

}  // namespace weft
