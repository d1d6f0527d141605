// Counting: how often each value occurs, as dense bins or as a sparse matrix; buckets and histograms.
#include <algorithm>
#include <limits>
#include <map>

#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

template <class F>
Status for_weights(DType t, F f) {
  return dispatch<int32_t, int64_t, float, double>(t, f);
}

// Integer sums wrap.
template <class T>
void add_to(T& bin, T weight) {
  if constexpr (std::is_integral_v<T>) bin = T(std::make_unsigned_t<T>(bin) + std::make_unsigned_t<T>(weight));
  else bin += weight;
}

// ---- dense bins

Status bins_shape(ShapeContext& c) {
  WEFT_ASSIGN([[maybe_unused]] PartialShape size_shape, c.with_rank(1, 0));
  const auto size = c.constant_int(1);
  if (size && *size < 0) return invalid_argument("size (", *size, ") must be non-negative");
  c.output(0, PartialShape::vector(size ? *size : kUnknownDim));
  return {};
}

Status dense_bincount_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_most(0, 2));
  WEFT_ASSIGN([[maybe_unused]] PartialShape size_shape, c.with_rank(1, 0));
  const auto size = c.constant_int(1);
  if (size && *size < 0) return invalid_argument("size (", *size, ") must be non-negative");
  const int64_t bins = size ? *size : kUnknownDim;
  if (!in.has_rank()) return {};
  c.output(0, in.rank() == 2 ? PartialShape::matrix(in.dim(0), bins) : PartialShape::vector(bins));
  return {};
}

Status sparse_bincount_shape(ShapeContext& c) {
  WEFT_ASSIGN([[maybe_unused]] PartialShape size_shape, c.with_rank(3, 0));
  const auto size = c.constant_int(3);
  if (size && *size < 0) return invalid_argument("size (", *size, ") must be non-negative");
  const int64_t bins = size ? *size : kUnknownDim;
  const PartialShape& shape = c.input(2);
  if (shape.rank() != 1 || shape.dim(0) < 0) return {};
  if (shape.dim(0) == 1) {
    c.output(0, PartialShape::vector(bins));
    return {};
  }
  const auto dims = c.constant_ints(2);
  c.output(0, PartialShape::matrix(dims && !dims->empty() && (*dims)[0] >= 0 ? (*dims)[0] : kUnknownDim, bins));
  return {};
}

Status ragged_bincount_shape(ShapeContext& c) {
  WEFT_ASSIGN([[maybe_unused]] PartialShape size_shape, c.with_rank(2, 0));
  const auto size = c.constant_int(2);
  if (size && *size < 0) return invalid_argument("size (", *size, ") must be non-negative");
  const auto splits = c.input(0).num_elements();
  c.output(0, PartialShape::matrix(splits && *splits > 0 ? *splits - 1 : kUnknownDim, size ? *size : kUnknownDim));
  return {};
}

Result<int64_t> size_of(const Tensor& t) {
  if (t.rank() != 0) return invalid_argument("Shape must be rank 0 but is rank ", t.rank());
  const int64_t size = int_at(t, 0);
  if (size < 0) return invalid_argument("size (", size, ") must be non-negative");
  return size;
}

// out[row(i), values[i]] += weights[i] (1 without weights), or = 1 if binary; values from `size` on are left out.
template <class Row>
Status count(Tensor& out, const Tensor& values, const Tensor& weights, int64_t size, bool binary, Row row) {
  return for_weights(out.dtype(), [&]<class T>(Tag<T>) {
    T* bins = out.data<T>();
    std::fill_n(bins, out.num_elements(), T(0));
    const bool weighted = weights.num_elements() > 0;
    const T* by = weighted ? weights.data<T>() : nullptr;
    const auto all = [&](const auto* v) {
      for (int64_t i = 0; i < values.num_elements(); ++i) {
        const int64_t at = v[i], r = row(i);
        if (at < 0 || at >= size) continue;
        if (binary) bins[r * size + at] = T(1);
        else add_to(bins[r * size + at], weighted ? by[i] : T(1));
      }
    };
    if (values.dtype() == DType::kInt32) all(values.data<int32_t>());
    else all(values.data<int64_t>());
    return Status();
  });
}

// The first negative number, or 0.
int64_t first_negative(const Tensor& t) {
  const auto find = [&](const auto* v) -> int64_t {
    const auto* end = v + t.num_elements();
    const auto* at = std::find_if(v, end, [](auto x) { return x < 0; });
    return at == end ? 0 : *at;
  };
  return t.dtype() == DType::kInt32 ? find(t.data<int32_t>()) : find(t.data<int64_t>());
}

bool any_negative(const Tensor& t) { return first_negative(t) < 0; }

Status check_weights(const Tensor& values, const Tensor& weights) {
  if (weights.num_elements() > 0 && weights.num_elements() != values.num_elements())
    return invalid_argument("Input indices and weights must have the same size.");
  return {};
}

Status run_bincount(KernelContext& c) {
  const Tensor &arr = c.input(0), &weights = c.input(2);
  WEFT_ASSIGN(int64_t size, size_of(c.input(1)));
  WEFT_RETURN_IF_ERROR(check_weights(arr, weights));
  if (any_negative(arr)) return invalid_argument("Input arr must be non-negative!");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({size})));
  return count(*out, arr, weights, size, false, [](int64_t) { return 0; });
}

Status run_dense_bincount(KernelContext& c) {
  const Tensor &in = c.input(0), &weights = c.input(2);
  if (in.rank() > 2) return invalid_argument("Shape must be at most rank 2 but is rank ", in.rank());
  WEFT_ASSIGN(int64_t size, size_of(c.input(1)));
  if (weights.num_elements() > 0 && weights.shape() != in.shape()) {
    return invalid_argument(
        "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights equal to 1. Received ",
        weights.shape());
  }
  const bool matrix = in.rank() == 2;
  if (const int64_t negative = first_negative(in)) {
    if (!matrix) return invalid_argument("Input arr must be non-negative!");
    return invalid_argument("Input 'in' must be non-negative! Negative input value found: ", negative);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, matrix ? Shape({in.dim(0), size}) : Shape({size})));
  const int64_t columns = matrix ? in.dim(1) : 1;
  return count(*out, in, weights, size, c.attr<bool>("binary_output"), [&](int64_t i) { return matrix ? i / columns : 0; });
}

Status check_sparse(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank() != 2) return invalid_argument("Sparse indices must be rank 2 but is rank ", indices.rank());
  if (values.rank() != 1) return invalid_argument("Sparse values must be rank 1 but is rank ", values.rank());
  if (shape.rank() != 1) return invalid_argument("Sparse shape must be rank 1 but is rank ", shape.rank());
  if (indices.dim(0) != values.dim(0)) {
    return invalid_argument("Number of elements in indices (", indices.dim(0), ") and values (", values.dim(0), ") do not match");
  }
  if (indices.dim(1) != shape.dim(0)) return invalid_argument("Index rank (", indices.dim(1), ") and shape rank (", shape.dim(0), ") do not match");
  const int64_t rank = shape.dim(0);
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    for (int64_t d = 0; d < rank; ++d) {
      const int64_t at = indices.data<int64_t>()[i * rank + d];
      if (at >= 0 && at < shape.data<int64_t>()[d]) continue;
      std::string tuple;
      for (int64_t e = 0; e < rank; ++e) tuple += cat(e ? ", " : "", indices.data<int64_t>()[i * rank + e]);
      return invalid_argument("Sparse index tuple indices[", i, ", :] = [", tuple, "] is out of bounds");
    }
  }
  return {};
}

Status run_sparse_bincount(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2), &weights = c.input(4);
  WEFT_ASSIGN(int64_t size, size_of(c.input(3)));
  WEFT_RETURN_IF_ERROR(check_sparse(indices, values, shape));
  WEFT_RETURN_IF_ERROR(check_weights(values, weights));
  const int64_t rank = shape.dim(0);
  if (rank < 1) return invalid_argument("Sparse shape must have at least one dimension");
  if (rank == 1 && any_negative(values)) return invalid_argument("Input arr must be non-negative!");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, rank == 1 ? Shape({size}) : Shape({shape.data<int64_t>()[0], size})));
  return count(*out, values, weights, size, c.attr<bool>("binary_output"),
               [&](int64_t i) { return rank == 1 ? 0 : indices.data<int64_t>()[i * rank]; });
}

Status check_splits(const Tensor& splits, int64_t values) {
  const int64_t *s = splits.data<int64_t>(), last = s[splits.num_elements() - 1];
  if (s[0] != 0) return invalid_argument("Splits must start with 0, not with ", s[0]);
  if (last != values) return invalid_argument("Splits must end with the number of values, got ", last, " instead of ", values);
  return {};
}

// The row of each value in turn; the last split is behind all values, so the walk ends inside.
struct RaggedRows {
  const int64_t* splits;
  int64_t next = 0;
  int64_t operator()(int64_t i) {
    while (i >= splits[next]) ++next;
    return next - 1;
  }
};

Status run_ragged_bincount(KernelContext& c) {
  const Tensor &splits = c.input(0), &values = c.input(1), &weights = c.input(3);
  WEFT_ASSIGN(int64_t size, size_of(c.input(2)));
  if (splits.num_elements() == 0) return invalid_argument("Splits must be non-empty");
  WEFT_RETURN_IF_ERROR(check_splits(splits, values.num_elements()));
  WEFT_RETURN_IF_ERROR(check_weights(values, weights));
  if (any_negative(values)) return invalid_argument("Input must be non-negative");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({splits.num_elements() - 1, size})));
  return count(*out, values, weights, size, c.attr<bool>("binary_output"), RaggedRows{splits.data<int64_t>()});
}

// ---- sparse counts

Status sparse_count_shape(ShapeContext& c) {
  int64_t rank = kUnknownDim;
  if (c.node().op() == "DenseCountSparseOutput") rank = c.input(0).rank();
  else if (c.node().op() == "RaggedCountSparseOutput") rank = 2;
  else if (c.input(2).rank() == 1 && c.input(2).dim(0) >= 0) rank = c.input(2).dim(0) == 1 ? 1 : 2;
  c.output(0, PartialShape::matrix(kUnknownDim, rank));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(rank));
  return {};
}

// Counts per (row, value), written in that order. `rows` < 0: a single row, and indices of one column.
template <class Row>
Status count_sparse(KernelContext& c, const Tensor& values, const Tensor& weights, int64_t rows, Row row) {
  const int64_t min_length = c.attr<int64_t>("minlength"), max_length = c.attr<int64_t>("maxlength");
  const bool binary = c.attr<bool>("binary_output");
  if (any_negative(values)) return invalid_argument("Input values must all be non-negative");
  return for_weights(c.output_type(1), [&]<class T>(Tag<T>) -> Status {
    std::map<std::pair<int64_t, int64_t>, T> counts;
    int64_t greatest = 0;
    for (int64_t i = 0; i < values.num_elements(); ++i) {
      const int64_t v = int_at(values, i), r = row(i);
      if (max_length >= 0 && v >= max_length) continue;
      greatest = std::max(greatest, v);
      T& bin = counts[{r, v}];
      if (binary) bin = T(1);
      else add_to(bin, weights.num_elements() ? weights.data<T>()[i] : T(1));
    }
    const int64_t rank = rows < 0 ? 1 : 2, n = int64_t(counts.size());
    WEFT_ASSIGN(Tensor* indices, c.allocate(0, Shape({n, rank})));
    WEFT_ASSIGN(Tensor* out, c.allocate(1, Shape({n})));
    WEFT_ASSIGN(Tensor* shape, c.allocate(2, Shape({rank})));
    int64_t at = 0;
    for (const auto& [key, bin] : counts) {
      if (rank == 2) indices->data<int64_t>()[2 * at] = key.first;
      indices->data<int64_t>()[rank * at + rank - 1] = key.second;
      out->data<T>()[at++] = bin;
    }
    if (greatest < std::numeric_limits<int64_t>::max()) ++greatest;
    if (rank == 2) shape->data<int64_t>()[0] = rows;
    shape->data<int64_t>()[rank - 1] = max_length >= 0 ? max_length : std::max(greatest, min_length);
    return {};
  });
}

Status run_dense_count(KernelContext& c) {
  const Tensor &values = c.input(0), &weights = c.input(1);
  if (values.rank() != 1 && values.rank() != 2) return invalid_argument("Input must be a 1 or 2-dimensional tensor. Got: ", values.shape());
  if (weights.num_elements() > 0 && weights.shape() != values.shape()) {
    return invalid_argument("Weights and data must have the same shape. Weight shape: ", weights.shape(), "; data shape: ", values.shape());
  }
  const bool matrix = values.rank() == 2;
  if (matrix && values.dim(0) == 0) return invalid_argument("Invalid input: Shapes dimension cannot be 0.");
  const int64_t columns = matrix ? values.dim(1) : 1;
  return count_sparse(c, values, weights, matrix ? values.dim(0) : -1, [&](int64_t i) { return matrix ? i / columns : 0; });
}

Status check_count_weights(const Tensor& values, const Tensor& weights) {
  if (weights.num_elements() > 0 && weights.shape() != values.shape()) {
    return invalid_argument("Weights and values must have the same shape. Weight shape: ", weights.shape(), "; values shape: ", values.shape());
  }
  return {};
}

Status run_sparse_count(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2), &weights = c.input(3);
  if (indices.rank() != 2) return invalid_argument("Input indices must be a 2-dimensional tensor. Got: ", indices.shape());
  if (values.rank() != 1) return invalid_argument("Input values must be a vector. Got: ", values.shape());
  if (shape.rank() != 1) return invalid_argument("Input shape must be a vector. Got: ", shape.shape());
  if (values.dim(0) != indices.dim(0)) {
    return invalid_argument("Number of values must match first dimension of indices.", "Got ", values.dim(0),
                            " values, indices shape: ", indices.shape());
  }
  if (shape.dim(0) != indices.dim(1)) {
    return invalid_argument("Number of dimensions must match second dimension of indices.", "Got ", shape.dim(0),
                            " dimensions, indices shape: ", indices.shape());
  }
  if (shape.dim(0) == 0) return invalid_argument("The shape argument requires at least one element.");
  WEFT_RETURN_IF_ERROR(check_count_weights(values, weights));
  const int64_t rank = shape.dim(0);
  for (int64_t i = 0; i < indices.num_elements(); ++i) {
    const int64_t at = indices.data<int64_t>()[i], limit = shape.data<int64_t>()[i % rank];
    if (at >= 0 && at < limit) continue;
    std::string dims;
    for (int64_t d = 0; d < rank; ++d) dims += cat(d ? " " : "", shape.data<int64_t>()[d]);
    return invalid_argument("Invalid index value at ", i / rank, ": dimension ", i % rank, " has value ", at, " which is not in [0, ", limit,
                            ") (as given by dense shape Tensor<type: int64 shape: ", shape.shape(), " values: ", dims, ">");
  }
  return count_sparse(c, values, weights, rank == 1 ? -1 : shape.data<int64_t>()[0],
                      [&](int64_t i) { return rank == 1 ? 0 : indices.data<int64_t>()[i * rank]; });
}

Status run_ragged_count(KernelContext& c) {
  const Tensor &splits = c.input(0), &values = c.input(1), &weights = c.input(2);
  if (splits.num_elements() < 2) return invalid_argument("Must provide at least 2 elements for the splits argument");
  WEFT_RETURN_IF_ERROR(check_splits(splits, values.num_elements()));
  WEFT_RETURN_IF_ERROR(check_count_weights(values, weights));
  return count_sparse(c, values, weights, splits.num_elements() - 1, RaggedRows{splits.data<int64_t>()});
}

// ---- Bucketize, HistogramFixedWidth

struct Bucketize {
  static Result<Bucketize> make(const NodeInfo& node) {
    Bucketize b{node.attr<std::vector<float>>("boundaries")};
    if (!std::is_sorted(b.boundaries.begin(), b.boundaries.end())) return invalid_argument("Expected sorted boundaries");
    return b;
  }
  Status run(KernelContext& c) const {
    const Tensor& in = c.input(0);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
    return dispatch<int32_t, int64_t, float, double>(in.dtype(), [&]<class T>(Tag<T>) {
      c.pool().parallel_for(in.num_elements(), 10, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          out->data<int32_t>()[i] = int32_t(std::upper_bound(boundaries.begin(), boundaries.end(), in.data<T>()[i]) - boundaries.begin());
        }
      });
      return Status();
    });
  }
  std::vector<float> boundaries;
};

Status histogram_shape(ShapeContext& c) {
  WEFT_ASSIGN([[maybe_unused]] PartialShape range, c.with_rank(1, 1));
  WEFT_ASSIGN([[maybe_unused]] PartialShape bins_shape, c.with_rank(2, 0));
  const auto bins = c.constant_int(2);
  if (bins && *bins < 0) return invalid_argument("Dimension size, given by scalar input 2, must be non-negative but is ", *bins);
  c.output(0, PartialShape::vector(bins ? *bins : kUnknownDim));
  return {};
}

Status run_histogram(KernelContext& c) {
  const Tensor &values = c.input(0), &range = c.input(1), &bins_tensor = c.input(2);
  if (range.rank() != 1) return invalid_argument("value_range should be a vector.");
  if (range.dim(0) != 2) return invalid_argument("value_range should be a vector of 2 elements.");
  if (bins_tensor.rank() != 0) return invalid_argument("nbins should be a scalar.");
  const int64_t bins = int_at(bins_tensor, 0);
  return dispatch<int32_t, int64_t, float, double>(values.dtype(), [&]<class T>(Tag<T>) -> Status {
    const T low = range.data<T>()[0], high = range.data<T>()[1];
    if (!(low < high)) {
      return invalid_argument("value_range should satisfy value_range[0] < value_range[1], but got '[", low, ", ", high, "]'");
    }
    if (bins <= 0) return invalid_argument("nbins should be a positive number, but got '", bins, "'");
    WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({bins})));
    const bool small = out->dtype() == DType::kInt32;
    std::fill_n(static_cast<char*>(out->raw()), out->byte_size(), char(0));
    const double step = (double(high) - double(low)) / double(bins);
    for (T v : values.span<T>()) {
      if (v != v) return invalid_argument("Histogram values must not contain NaN");
      const double place = std::min((double(std::max(v, low)) - double(low)) / step, double(bins - 1));
      const int64_t bin = place == place ? int64_t(place) : 0;  // inf - inf, for a range that is not finite
      if (small) ++out->data<int32_t>()[bin];
      else ++out->data<int64_t>()[bin];
    }
    return {};
  });
}

}  // namespace

void bincount(Registry& r) {
  r.add("Bincount")
      .in("arr: int32")
      .in("size: int32")
      .in("weights: T")
      .out("bins: T")
      .attr("T: {int32, int64, float, double}")
      .doc("Counts, or sums of weights, of the values 0 to size - 1.")
      .shape(bins_shape)
      .cpu(run_bincount);

  r.add("Bucketize")
      .in("input: T")
      .out("output: int32")
      .attr("T: {int32, int64, float, double}")
      .attr("boundaries: list(float)")
      .doc("The index of the bucket between boundaries that each element is in.")
      .shape(shapes::unchanged)
      .traits({.elementwise = true})
      .cpu<Bucketize>();

  r.add("DenseBincount")
      .in("input: Tidx")
      .in("size: Tidx")
      .in("weights: T")
      .out("output: T")
      .attr("Tidx: {int32, int64}")
      .attr("T: {int32, int64, float, double}")
      .attr("binary_output: bool = false")
      .doc("As Bincount, for each row of a matrix or for a vector.")
      .shape(dense_bincount_shape)
      .cpu(run_dense_bincount);

  r.add("DenseCountSparseOutput")
      .in("values: T")
      .in("weights: output_type")
      .out("output_indices: int64")
      .out("output_values: output_type")
      .out("output_dense_shape: int64")
      .attr("T: {int32, int64}")
      .attr("minlength: int >= -1 = -1")
      .attr("maxlength: int >= -1 = -1")
      .attr("binary_output: bool")
      .attr("output_type: {int32, int64, float, double}")
      .doc("Counts of the values in each row, as a sparse matrix.")
      .shape(sparse_count_shape)
      .cpu(run_dense_count);

  r.add("HistogramFixedWidth")
      .in("values: T")
      .in("value_range: T")
      .in("nbins: int32")
      .out("out: dtype")
      .attr("T: {int32, int64, float, double}")
      .attr("dtype: {int32, int64} = DT_INT32")
      .doc("Counts of the elements in equal bins over a range; what is outside is counted in the end bins.")
      .shape(histogram_shape)
      .cpu(run_histogram);

  r.add("RaggedBincount")
      .in("splits: int64")
      .in("values: Tidx")
      .in("size: Tidx")
      .in("weights: T")
      .out("output: T")
      .attr("Tidx: {int32, int64}")
      .attr("T: {int32, int64, float, double}")
      .attr("binary_output: bool = false")
      .doc("As DenseBincount, for the rows of a ragged tensor.")
      .shape(ragged_bincount_shape)
      .cpu(run_ragged_bincount);

  r.add("RaggedCountSparseOutput")
      .in("splits: int64")
      .in("values: T")
      .in("weights: output_type")
      .out("output_indices: int64")
      .out("output_values: output_type")
      .out("output_dense_shape: int64")
      .attr("T: {int32, int64}")
      .attr("minlength: int >= -1 = -1")
      .attr("maxlength: int >= -1 = -1")
      .attr("binary_output: bool")
      .attr("output_type: {int32, int64, float, double}")
      .doc("As DenseCountSparseOutput, for a ragged tensor.")
      .shape(sparse_count_shape)
      .cpu(run_ragged_count);

  r.add("SparseBincount")
      .in("indices: int64")
      .in("values: Tidx")
      .in("dense_shape: int64")
      .in("size: Tidx")
      .in("weights: T")
      .out("output: T")
      .attr("Tidx: {int32, int64}")
      .attr("T: {int32, int64, float, double}")
      .attr("binary_output: bool = false")
      .doc("As DenseBincount, for the values of a sparse tensor.")
      .shape(sparse_bincount_shape)
      .cpu(run_sparse_bincount);

  r.add("SparseCountSparseOutput")
      .in("indices: int64")
      .in("values: T")
      .in("dense_shape: int64")
      .in("weights: output_type")
      .out("output_indices: int64")
      .out("output_values: output_type")
      .out("output_dense_shape: int64")
      .attr("T: {int32, int64}")
      .attr("minlength: int >= -1 = -1")
      .attr("maxlength: int >= -1 = -1")
      .attr("binary_output: bool")
      .attr("output_type: {int32, int64, float, double}")
      .doc("As DenseCountSparseOutput, for a sparse tensor.")
      .shape(sparse_count_shape)
      .cpu(run_sparse_count);

  set_layout(r, {"Bucketize"}, layouts::kOneDevice);
}

}  // namespace weft_engine::ops
