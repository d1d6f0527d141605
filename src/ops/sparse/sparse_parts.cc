#include "ops/sparse/sparse_parts.h"

#include <algorithm>
#include <vector>

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT

Status check_part_ranks(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank() != 2) return invalid_argument("Input indices should be a matrix but received shape ", indices.shape());
  if (values.rank() != 1) return invalid_argument("Input values should be a vector but received shape ", values.shape());
  if (shape.rank() != 1) return invalid_argument("Input shape should be a vector but received shape ", shape.shape());
  return {};
}

Result<SparseParts> inner_parts(const Tensor& indices, const Tensor& values, const Tensor& shape, int64_t begin, int64_t end) {
  const int64_t rank = indices.dim(1);
  SparseParts p;
  WEFT_ASSIGN(p.indices, Tensor::allocate(DType::kInt64, Shape({end - begin, rank - 1})));
  int64_t* to = p.indices.data<int64_t>();
  for (int64_t i = begin; i < end; ++i) to = std::copy_n(indices.data<int64_t>() + i * rank + 1, rank - 1, to);
  WEFT_ASSIGN(p.values, values.slice_rows(begin, end).copy());
  WEFT_ASSIGN(p.shape, shape.slice_rows(1, rank).copy());
  return p;
}

Status output_sparse_batch(KernelContext& c, std::span<const SparseParts> parts, const Shape& batch, DType dtype, DenseSize size) {
  const int64_t inner = parts[0].shape.dim(0), rank = batch.rank() + inner;
  std::vector<int64_t> dims(batch.vec());
  dims.resize(size_t(rank), 0);
  int64_t total = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& s = parts[i].shape;
    for (int64_t d = 0; d < inner; ++d) {
      int64_t& dim = dims[size_t(batch.rank() + d)];
      dim = i == 0 ? s.data<int64_t>()[d] : std::max(dim, s.data<int64_t>()[d]);
    }
    total += parts[i].values.dim(0);
  }
  if (size == DenseSize::kMustFit) WEFT_RETURN_IF_ERROR(Shape::make(dims).status());
  WEFT_ASSIGN(Tensor* indices, c.allocate(0, Shape({total, rank})));
  WEFT_ASSIGN(Tensor* shape, c.allocate(2, Shape({rank})));
  WEFT_ASSIGN(Tensor values, c.temp(dtype, Shape({total})));
  std::copy_n(dims.data(), rank, shape->data<int64_t>());
  std::vector<int64_t> position(size_t(batch.rank()), 0);
  int64_t at = 0, *to = indices->data<int64_t>();
  for (const SparseParts& p : parts) {
    const int64_t n = p.values.dim(0);
    for (int64_t i = 0; i < n; ++i) {
      to = std::copy(position.begin(), position.end(), to);
      to = std::copy_n(p.indices.data<int64_t>() + i * inner, inner, to);
    }
    copy_elements(p.values, 0, values, at, n);
    at += n;
    for (int d = batch.rank() - 1; d >= 0 && ++position[size_t(d)] == batch.dim(d); --d) position[size_t(d)] = 0;
  }
  c.set_output(1, std::move(values));
  return {};
}

}  // namespace weft_engine::ops
