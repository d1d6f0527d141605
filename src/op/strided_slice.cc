#include "op/strided_slice.h"

#include <algorithm>
#include <bit>

namespace weft_engine::op {

namespace {

constexpr int kMaxEntries = 32;  // the masks of the wire format have 32 bits
constexpr int kNewAxis = -1;

int64_t entry(const Tensor& t, int i) {
  switch (t.dtype()) {
    case DType::kInt16: return t.data<int16_t>()[i];
    case DType::kInt32: return t.data<int32_t>()[i];
    default: return t.data<int64_t>()[i];
  }
}

bool bit(int64_t mask, int i) { return i < 63 && ((mask >> i) & 1); }

// The slice with one entry per dimension (StridedSliceDenseSpec in TensorFlow): the ellipsis written out, new axes set aside.
struct DenseSpec {
  struct Dim {
    int64_t begin = 0, end = 0, stride = 1;
    bool begin_masked = true, end_masked = true, shrink = false;
  };
  std::vector<Dim> dims;
  std::vector<int> result_axes;  // dimension of each axis of the result, or kNewAxis
};

Status check_vectors(const Tensor* begin, const Tensor* end, const Tensor& strides) {
  auto wrong = [&](const Tensor* t) {
    return t && (t->rank() != 1 || t->num_elements() != strides.num_elements() || t->num_elements() >= kMaxEntries);
  };
  if (!wrong(begin) && !wrong(end) && strides.rank() == 1 && strides.num_elements() < kMaxEntries) return {};
  if (begin && end)
    return invalid_argument("Expected begin, end, and strides to be 1D equal size tensors, but got shapes ", begin->shape(), ", ", end->shape(),
                            ", and ", strides.shape(), " instead.");
  return invalid_argument("Expected begin, end, and strides to be 1D equal size tensors, but got shape ", strides.shape(), " for strides.");
}

Result<DenseSpec> build_dense_spec(const Tensor* begin, const Tensor* end, const Tensor& strides, int rank, const SliceMasks& masks) {
  int entries = int(strides.num_elements());
  bool ellipsis_seen = false;
  int new_axes_after = 0, ellipsis_at = entries;  // without one, it is behind all entries
  for (int i = 0; i < entries; ++i) {
    if (ellipsis_seen && bit(masks.new_axis, i)) ++new_axes_after;
    if (bit(masks.ellipsis, i)) {
      ellipsis_seen = true;
      ellipsis_at = i;
    }
  }
  if (!ellipsis_seen) ++entries;

  DenseSpec dense;
  dense.dims.resize(size_t(rank));
  int at = 0;
  for (int i = 0; i < entries; ++i) {
    if (i == ellipsis_at) {
      const int next = std::min(rank - (entries - i) + 1 + new_axes_after, rank);
      for (; at < next; ++at) dense.result_axes.push_back(at);
    } else if (bit(masks.new_axis, i)) {
      dense.result_axes.push_back(kNewAxis);
    } else {
      if (at == rank) {
        if (rank == 0) return invalid_argument("Attempting to slice scalar input.");
        return invalid_argument("Index out of range using input dim ", at, "; input has only ", rank, " dims");
      }
      DenseSpec::Dim& d = dense.dims[size_t(at)];
      if (begin) d.begin = entry(*begin, i);
      if (end) d.end = entry(*end, i);
      d.stride = entry(strides, i);
      d.begin_masked = bit(masks.begin, i);
      d.end_masked = bit(masks.end, i);
      d.shrink = bit(masks.shrink_axis, i);
      if (!d.shrink) dense.result_axes.push_back(at);
      ++at;
    }
  }
  return dense;
}

// Begin and end as numbers of the dimension, counted from the front and clamped.
void clamp(DenseSpec::Dim& d, int64_t size) {
  const int64_t low = d.stride > 0 ? 0 : -1, high = d.stride > 0 ? size : size - 1;
  auto inside = [&](int64_t x) { return std::clamp(x < 0 ? size + x : x, low, high); };
  d.begin = d.begin_masked ? (d.stride > 0 ? low : high) : inside(d.begin);
  d.end = d.end_masked ? (d.stride > 0 ? high : low) : inside(d.end);
}

int64_t steps(int64_t length, int64_t stride) {
  if (length == 0 || (length < 0) != (stride < 0)) return 0;
  return length / stride + (length % stride != 0);
}

}  // namespace

SliceMasks SliceMasks::of(const NodeInfo& node) {
  return {node.attr<int64_t>("begin_mask"), node.attr<int64_t>("end_mask"), node.attr<int64_t>("ellipsis_mask"), node.attr<int64_t>("new_axis_mask"),
          node.attr<int64_t>("shrink_axis_mask")};
}

Shape StridedSlice::cut() const {
  std::vector<int64_t> sizes;
  for (const SliceDim& d : dims) sizes.push_back(d.size);
  return Shape(sizes);
}

Result<StridedSlice> parse_strided_slice(const Tensor* begin, const Tensor* end, const Tensor& strides, const PartialShape& shape,
                                         const SliceMasks& masks) {
  if (!shape.has_rank()) return invalid_argument("Unexpected input_shape with unknown rank");
  WEFT_RETURN_IF_ERROR(check_vectors(begin, end, strides));
  if (std::popcount(uint64_t(masks.ellipsis)) > 1) return invalid_argument("Multiple ellipses in slice spec not allowed");
  WEFT_ASSIGN(DenseSpec dense, build_dense_spec(begin, end, strides, shape.rank(), masks));

  StridedSlice out;
  const bool known = begin && end;
  for (int i = 0; i < shape.rank(); ++i) {
    DenseSpec::Dim& d = dense.dims[size_t(i)];
    const int64_t size = shape.dim(i);
    if (d.stride == 0) return invalid_argument("strides[", i, "] must be non-zero");
    if (size < 0) {
      out.dims.push_back({0, d.stride, d.shrink ? 1 : kUnknownDim});
      out.identity = out.only_rows = false;
      continue;
    }
    if (d.shrink && d.stride <= 0) return invalid_argument("only stride 1 allowed on non-range indexing.");
    int64_t count = kUnknownDim;
    const bool whole = d.begin_masked && d.end_masked;
    if (known && d.shrink) {
      if (d.begin < 0) d.begin += size;
      if (d.begin < 0 || d.begin >= size) return invalid_argument("slice index ", d.begin, " of dimension ", i, " out of bounds.");
      count = 1;
      d.end = d.begin + 1;
    } else if (known) {
      clamp(d, size);
      count = steps(d.end - d.begin, d.stride);
    } else if (d.shrink) {
      count = 1;
    } else if (whole) {
      count = steps(d.stride < 0 ? -size : size, d.stride);
    }
    const bool all = known ? d.stride == 1 && d.begin == 0 && d.end == size : d.stride == 1 && whole;
    out.identity &= all;
    out.only_rows &= all || (i == 0 && d.stride == 1);
    out.dims.push_back({d.begin, d.stride, count});
  }
  std::vector<int64_t> result;
  for (int axis : dense.result_axes) result.push_back(axis == kNewAxis ? 1 : out.dims[size_t(axis)].size);
  out.shape = PartialShape(std::move(result));
  out.axes = std::move(dense.result_axes);
  return out;
}

}  // namespace weft_engine::op
