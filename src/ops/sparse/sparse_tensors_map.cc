// Maps of sparse tensors: a number stands for a sparse tensor until it is taken out again, so that several can
// pass through ops that know tensors only (queues, batches).
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "op/registry.h"
#include "ops/sparse/sparse_parts.h"
#include "ops/sparse/sparse_tensor.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

class SparseTensorsMap final : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow16SparseTensorsMapE";
  explicit SparseTensorsMap(std::string name) : name_(std::move(name)) {}
  std::string type_name() const override { return "SparseTensorsMap"; }

  int64_t add(SparseParts p) {
    std::lock_guard lock(mutex_);
    held_.emplace(next_, std::move(p));
    return next_++;
  }
  // Those before one that is not there are taken all the same, as in TensorFlow.
  Status take(std::span<const int64_t> handles, std::vector<SparseParts>& out) {
    std::lock_guard lock(mutex_);
    for (int64_t h : handles) {
      auto found = held_.extract(h);
      if (!found) return invalid_argument("Unable to find SparseTensor: ", h, " in map: ", name_);
      out.push_back(std::move(found.mapped()));
    }
    return {};
  }

 private:
  const std::string name_;
  std::mutex mutex_;
  std::unordered_map<int64_t, SparseParts> held_;
  int64_t next_ = 0;
};

Result<std::shared_ptr<SparseTensorsMap>> map_of(const KernelContext& c) {
  std::string name = c.attr<std::string>("shared_name");
  if (name.empty()) name = c.node().name().empty() ? std::string(c.node().op()) : c.node().name();
  return c.resources().find_or_create<SparseTensorsMap>(c.attr<std::string>("container"), name, [&]() -> Result<std::shared_ptr<SparseTensorsMap>> {
    return std::make_shared<SparseTensorsMap>(name);
  });
}

Status run_add(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  WEFT_ASSIGN(std::shared_ptr<SparseTensorsMap> map, map_of(c));
  WEFT_RETURN_IF_ERROR(check_part_ranks(indices, values, shape));
  WEFT_RETURN_IF_ERROR(dense_shape_of(shape).status());
  WEFT_RETURN_IF_ERROR(check_sparse_parts(indices, values, shape.dim(0)));
  c.set_output(0, Tensor::scalar(map->add({indices, values, shape})));
  return {};
}

Status run_add_many(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  WEFT_ASSIGN(std::shared_ptr<SparseTensorsMap> map, map_of(c));
  WEFT_RETURN_IF_ERROR(check_part_ranks(indices, values, shape));
  if (values.dim(0) != indices.dim(0))
    return invalid_argument("Number of values must match first dimension of indices. Got ", values.dim(0),
                            " values, indices shape: ", indices.shape());
  const int64_t rank = shape.dim(0), n = indices.dim(0);
  if (rank != indices.dim(1))
    return invalid_argument("Number of dimensions must match second dimension of indices. Got ", rank,
                            " dimensions, indices shape: ", indices.shape());
  if (rank < 2) return invalid_argument("Rank of input SparseTensor should be > 1, but saw rank: ", rank);
  WEFT_ASSIGN(Shape dense, dense_shape_of(shape));
  WEFT_RETURN_IF_ERROR(check_sparse_order(indices, dense.dims()));
  // A row costs nothing in the input, but is an entry of the map.
  constexpr int64_t kMostRows = int64_t(1) << 24;
  const int64_t batch = dense.dim(0);
  if (batch > kMostRows) return resource_exhausted("too many rows for a map of sparse tensors: ", batch);
  WEFT_ASSIGN(Tensor* handles, c.allocate(0, Shape({batch})));
  int64_t* out = handles->data<int64_t>();
  std::fill_n(out, batch, int64_t(-1));
  for (int64_t begin = 0, end = 0; begin < n; begin = end) {
    const int64_t row = indices.data<int64_t>()[begin * rank];
    while (end < n && indices.data<int64_t>()[end * rank] == row) ++end;
    WEFT_ASSIGN(SparseParts p, inner_parts(indices, values, shape, begin, end));
    out[row] = map->add(std::move(p));
  }
  // Rows without entries get their numbers behind the others.
  WEFT_ASSIGN(SparseParts empty, inner_parts(indices, values, shape, 0, 0));
  for (int64_t row = 0; row < batch; ++row) {
    if (out[row] < 0) out[row] = map->add(empty);
  }
  return {};
}

Status run_take_many(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<SparseTensorsMap> map, map_of(c));
  const Tensor& handles = c.input(0);
  if (handles.rank() != 1) return invalid_argument("sparse_handles should be a vector but received shape ", handles.shape());
  if (handles.dim(0) == 0) return invalid_argument("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows");
  std::vector<SparseParts> parts;
  WEFT_RETURN_IF_ERROR(map->take(handles.span<int64_t>(), parts));
  const DType dtype = c.attr<DType>("dtype");
  const int64_t rank = parts[0].shape.dim(0);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].values.dtype() != dtype)
      return invalid_argument("Requested SparseTensor of type ", dtype, " but SparseTensor[", i, "].values.dtype() == ", parts[i].values.dtype());
    if (parts[i].shape.dim(0) != rank)
      return invalid_argument("Inconsistent rank across SparseTensors: rank prior to SparseTensor[", i, "] was: ", rank + 1,
                              " but rank of SparseTensor[", i, "] is: ", parts[i].shape.dim(0) + 1);
  }
  return output_sparse_batch(c, parts, handles.shape(), dtype, DenseSize::kAny);
}

// ---- shape rules ----

Status add_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  return shapes::scalar(c);
}

Status add_many_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  c.output(0, PartialShape::vector(kUnknownDim));
  return {};
}

Status take_many_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  c.output(0, PartialShape::matrix(kUnknownDim, kUnknownDim));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(kUnknownDim));
  return {};
}

}  // namespace

void sparse_tensors_map(Registry& r) {
  r.add("AddManySparseToTensorsMap")
      .doc("Puts each row of a sparse tensor's first dimension into a map and returns their keys.")
      .in("sparse_indices: int64")
      .in("sparse_values: T")
      .in("sparse_shape: int64")
      .out("sparse_handles: int64")
      .attr("T: type")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(add_many_shape)
      .cpu(run_add_many);

  r.add("AddSparseToTensorsMap")
      .doc("Puts a sparse tensor into a map and returns its key.")
      .in("sparse_indices: int64")
      .in("sparse_values: T")
      .in("sparse_shape: int64")
      .out("sparse_handle: int64")
      .attr("T: type")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(add_shape)
      .cpu(run_add);

  r.add("TakeManySparseFromTensorsMap")
      .doc("Takes sparse tensors out of a map, as one with a new first dimension.")
      .in("sparse_handles: int64")
      .out("sparse_indices: int64")
      .out("sparse_values: dtype")
      .out("sparse_shape: int64")
      .attr("dtype: type")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .shape(take_many_shape)
      .cpu(run_take_many);
}

}  // namespace weft_engine::ops
