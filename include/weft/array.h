// Functions on the form of tensors under their Python names: tf.reshape is weft::reshape. Axes below 0 count from the end.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weft/tensor.h"

namespace weft {

// Filled with zeros.
WEFT_API Tensor zeros(std::vector<int64_t> shape, DType dtype = DType::float32);
// Filled with ones.
WEFT_API Tensor ones(std::vector<int64_t> shape, DType dtype = DType::float32);
// Filled with a scalar.
WEFT_API Tensor fill(std::vector<int64_t> shape, const Tensor& value);
// Zeros with the shape and type of x.
WEFT_API Tensor zeros_like(const Tensor& x);
// Ones with the shape and type of x.
WEFT_API Tensor ones_like(const Tensor& x);
// The identity matrix; columns of -1: as many as rows.
WEFT_API Tensor eye(int64_t rows, int64_t columns = -1, DType dtype = DType::float32);
// A new last dimension (or `axis`) with 1 at the index and 0 elsewhere.
WEFT_API Tensor one_hot(const Tensor& indices, int64_t depth, int64_t axis = -1, DType dtype = DType::float32);
// start, start + delta, ... below limit.
WEFT_API Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta);
// 0, 1, ... below limit.
WEFT_API Tensor range(const Tensor& limit);
// num values from start to stop, both included.
WEFT_API Tensor linspace(const Tensor& start, const Tensor& stop, int64_t num);
struct MeshgridOptions {
  std::string indexing = "xy";  // "ij": the first vector along the first dimension
};
// For each vector a tensor of its values at all points of the grid.
WEFT_API std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, const MeshgridOptions& options = {});
// true for the first lengths[i] of maxlen places.
WEFT_API Tensor sequence_mask(const Tensor& lengths, int64_t maxlen, DType dtype = DType::boolean);

// The same value, as an op of its own.
WEFT_API Tensor identity(const Tensor& x);
// Each element as another type.
WEFT_API Tensor cast(const Tensor& x, DType dtype);
// As cast, with values that are out of the type's range replaced by its limits.
WEFT_API Tensor saturate_cast(const Tensor& x, DType dtype);
// The same bits read as another type.
WEFT_API Tensor bitcast(const Tensor& x, DType dtype);
// The shape as a tensor: also where it is not known before the graph runs.
WEFT_API Tensor shape(const Tensor& x, DType dtype = DType::int32);
// The number of elements as a tensor.
WEFT_API Tensor size(const Tensor& x, DType dtype = DType::int32);
// The number of dimensions as a tensor.
WEFT_API Tensor rank(const Tensor& x);
// Throws unless the tensor has that shape; -1 fits every size.
WEFT_API Tensor ensure_shape(const Tensor& x, const PartialShape& shape);

// The same elements in another shape; one size may be -1.
WEFT_API Tensor reshape(const Tensor& x, std::vector<int64_t> shape);
// The dimensions in the order `perm`; empty: reversed.
WEFT_API Tensor transpose(const Tensor& x, std::vector<int64_t> perm = {});
// A dimension of size 1 inserted at axis.
WEFT_API Tensor expand_dims(const Tensor& x, int64_t axis);
// Dimensions of size 1 removed; empty: all of them.
WEFT_API Tensor squeeze(const Tensor& x, std::vector<int64_t> axis = {});
// Repeated multiples[i] times along each dimension.
WEFT_API Tensor tile(const Tensor& x, std::vector<int64_t> multiples);
// Each element repeated along an axis.
WEFT_API Tensor repeat(const Tensor& x, int64_t repeats, int64_t axis);
// Repeated along dimensions of size 1 to a larger shape.
WEFT_API Tensor broadcast_to(const Tensor& x, std::vector<int64_t> shape);
// Elements added before and after each dimension: zeros, or `value`.
WEFT_API Tensor pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const Tensor& value = {});
// The mirror image of the tensor added, mode "REFLECT" (without the edge) or "SYMMETRIC".
WEFT_API Tensor mirror_pad(const Tensor& x, const std::vector<std::pair<int64_t, int64_t>>& paddings, const std::string& mode);
// A block: `size` elements from `begin` on; a size of -1: to the end.
WEFT_API Tensor slice(const Tensor& x, std::vector<int64_t> begin, std::vector<int64_t> size);
// Reversed along axes.
WEFT_API Tensor reverse(const Tensor& x, std::vector<int64_t> axis);
// Moved along axes by `shift`; what leaves at one end enters at the other.
WEFT_API Tensor roll(const Tensor& x, std::vector<int64_t> shift, std::vector<int64_t> axis);

// Joined along an axis.
WEFT_API Tensor concat(const std::vector<Tensor>& values, int64_t axis);
// Joined along a new axis.
WEFT_API Tensor stack(const std::vector<Tensor>& values, int64_t axis = 0);
// The parts along an axis, without it.
WEFT_API std::vector<Tensor> unstack(const Tensor& x, int64_t axis = 0);
// Equal parts along an axis.
WEFT_API std::vector<Tensor> split(const Tensor& x, int64_t parts, int64_t axis = 0);
// Parts of the given sizes along an axis.
WEFT_API std::vector<Tensor> split(const Tensor& x, std::vector<int64_t> sizes, int64_t axis = 0);

// x where the condition is true, y elsewhere, with broadcasting.
WEFT_API Tensor where(const Tensor& condition, const Tensor& x, const Tensor& y);
// The indices of true elements, one row each.
WEFT_API Tensor where(const Tensor& condition);
// The elements where a mask is true.
WEFT_API Tensor boolean_mask(const Tensor& x, const Tensor& mask);
// Slices along an axis by number.
WEFT_API Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis = 0);
struct GatherOptions {
  int64_t axis = 0;
  int64_t batch_dims = 0;  // dimensions that x and indices have in common
};
// The same for every element of a batch.
WEFT_API Tensor gather(const Tensor& x, const Tensor& indices, const GatherOptions& options);
// Slices by vectors of numbers, one for each leading dimension.
WEFT_API Tensor gather_nd(const Tensor& x, const Tensor& indices, int64_t batch_dims = 0);
// Zeros of a shape, with updates added at indices.
WEFT_API Tensor scatter_nd(const Tensor& indices, const Tensor& updates, std::vector<int64_t> shape);
// A copy with slices replaced.
WEFT_API Tensor tensor_scatter_nd_update(const Tensor& x, const Tensor& indices, const Tensor& updates);
// A copy with updates added to slices.
WEFT_API Tensor tensor_scatter_nd_add(const Tensor& x, const Tensor& indices, const Tensor& updates);
// A copy with updates subtracted from slices.
WEFT_API Tensor tensor_scatter_nd_sub(const Tensor& x, const Tensor& indices, const Tensor& updates);
// A copy with the larger of slice and update.
WEFT_API Tensor tensor_scatter_nd_max(const Tensor& x, const Tensor& indices, const Tensor& updates);
// A copy with the smaller of slice and update.
WEFT_API Tensor tensor_scatter_nd_min(const Tensor& x, const Tensor& indices, const Tensor& updates);
// Rows by the number that partitions has for them.
WEFT_API std::vector<Tensor> dynamic_partition(const Tensor& x, const Tensor& partitions, int64_t num_partitions);
// One tensor from rows at given places.
WEFT_API Tensor dynamic_stitch(const std::vector<Tensor>& indices, const std::vector<Tensor>& data);

struct SortOptions {
  int64_t axis = -1;
  std::string direction = "ASCENDING";  // or "DESCENDING"
};
// Sorted along an axis.
WEFT_API Tensor sort(const Tensor& x, const SortOptions& options = {});
// The indices that sort along an axis; equal elements keep their order.
WEFT_API Tensor argsort(const Tensor& x, const SortOptions& options = {});
struct TopK {
  Tensor values, indices;
};
// The k largest elements of each row, and where they are.
WEFT_API TopK top_k(const Tensor& x, int64_t k = 1, bool sorted = true);
// Where values would be inserted into sorted rows; side "left" or "right".
WEFT_API Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, const std::string& side = "left", DType dtype = DType::int32);
struct Unique {
  Tensor y, idx;  // the values in the order of their first places, and the place of each element in them
  Tensor count;   // of each value; for unique_with_counts
};
// The different values of a vector.
WEFT_API Unique unique(const Tensor& x, DType out_idx = DType::int32);
// The same, with how often each occurs.
WEFT_API Unique unique_with_counts(const Tensor& x, DType out_idx = DType::int32);

}  // namespace weft
