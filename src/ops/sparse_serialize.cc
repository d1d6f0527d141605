// Sparse tensors as strings (three TensorProtos) or as variants, and back; single and in batches.
#include <algorithm>

#include "op/registry.h"
#include "op/tensor_variant.h"
#include "ops/all.h"
#include "ops/sparse_tensor.h"
#include "wire/tensor_proto.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Writes a tensor into element i of a string or variant tensor.
Status store(const Tensor& t, Tensor& out, int64_t i) {
  if (out.dtype() == DType::kVariant) {
    out.data<Variant>()[i] = wrap_tensor(t);
    return {};
  }
  WEFT_ASSIGN(std::string text, wire::encode_tensor_content(t));
  out.data<tstring>()[i].assign(text);
  return {};
}

Status check_ranks(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  if (indices.rank() != 2) return invalid_argument("Input indices should be a matrix but received shape ", indices.shape());
  if (values.rank() != 1) return invalid_argument("Input values should be a vector but received shape ", values.shape());
  if (shape.rank() != 1) return invalid_argument("Input shape should be a vector but received shape ", shape.shape());
  return {};
}

Status run_serialize(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_ranks(c.input(0), c.input(1), c.input(2)));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({3})));
  for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(store(c.input(i), *out, i));
  return {};
}

// Rows [begin, end) of a batch without the batch column.
Result<Tensor> inner_indices(const Tensor& indices, int64_t begin, int64_t end) {
  const int64_t rank = indices.dim(1);
  WEFT_ASSIGN(Tensor out, Tensor::allocate(DType::kInt64, Shape({end - begin, rank - 1})));
  int64_t* to = out.data<int64_t>();
  for (int64_t i = begin; i < end; ++i) to = std::copy_n(indices.data<int64_t>() + i * rank + 1, rank - 1, to);
  return out;
}

Status run_serialize_many(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  WEFT_RETURN_IF_ERROR(check_ranks(indices, values, shape));
  const int64_t rank = shape.dim(0);
  if (rank < 2) return invalid_argument("Rank of input SparseTensor should be > 1, but saw rank: ", rank);
  WEFT_ASSIGN(Shape dense, dense_shape_of(shape));
  WEFT_RETURN_IF_ERROR(check_sparse_parts(indices, values, rank));
  WEFT_RETURN_IF_ERROR(check_sparse_order(indices, dense.dims()));
  const int64_t batch = dense.dim(0), n = indices.dim(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({batch, 3})));
  WEFT_ASSIGN(Tensor inner_shape, shape.slice_rows(1, rank).copy());
  int64_t begin = 0;
  for (int64_t b = 0; b < batch; ++b) {
    int64_t end = begin;
    while (end < n && indices.data<int64_t>()[end * rank] == b) ++end;
    WEFT_ASSIGN(Tensor part, inner_indices(indices, begin, end));
    WEFT_ASSIGN(Tensor part_values, values.slice_rows(begin, end).copy());
    WEFT_RETURN_IF_ERROR(store(part, *out, b * 3));
    WEFT_RETURN_IF_ERROR(store(part_values, *out, b * 3 + 1));
    WEFT_RETURN_IF_ERROR(store(inner_shape, *out, b * 3 + 2));
    begin = end;
  }
  return {};
}

struct SparseParts {
  Tensor indices, values, shape;
};

Result<Tensor> load_text(const tstring& text) {
  auto t = wire::decode_tensor(text);
  if (!t.ok()) return invalid_argument("Could not parse serialized proto");
  return t;
}

Result<Tensor> load_variant(const Variant& v, int64_t at, int part) {
  const Tensor* t = unwrap_tensor(v);
  if (!t) return invalid_argument("Could not get a tensor from serialized_sparse[", at, ", ", part, "]");
  return *t;
}

// Reads and checks sparse tensor number `at`. Everything in it comes from outside.
Result<SparseParts> load(const Tensor& in, int64_t at, DType dtype) {
  SparseParts p;
  Tensor* parts[] = {&p.indices, &p.values, &p.shape};
  for (int k = 0; k < 3; ++k) {
    auto t = in.dtype() == DType::kVariant ? load_variant(in.data<Variant>()[at * 3 + k], at, k) : load_text(in.data<tstring>()[at * 3 + k]);
    if (!t.ok()) return t.status();
    *parts[k] = std::move(t).value();
  }
  if (p.indices.dtype() != DType::kInt64)
    return invalid_argument("Expected serialized_sparse[", at, ", 0] to be a matrix of DT_INT64 but received dtype ", p.indices.dtype());
  if (p.indices.rank() != 2)
    return invalid_argument("Expected serialized_sparse[", at, ", 0] to represent an index matrix but received shape ", p.indices.shape());
  if (p.values.rank() != 1)
    return invalid_argument("Expected serialized_sparse[", at, ", 1] to represent a values vector but received shape ", p.values.shape());
  if (p.values.dtype() != dtype)
    return invalid_argument("Requested SparseTensor of type ", dtype, " but SparseTensor[", at, "].values.dtype() == ", p.values.dtype());
  if (p.indices.dim(0) != p.values.dim(0))
    return invalid_argument("Expected row counts of SparseTensor[", at, "].indices and SparseTensor[", at,
                            "].values to match but they do not: ", p.indices.dim(0), " vs. ", p.values.dim(0));
  if (p.shape.dtype() != DType::kInt64)
    return invalid_argument("Expected serialized_sparse[", at, ", 2] to be a vector of DT_INT64 but received dtype ", p.shape.dtype());
  if (p.shape.rank() != 1)
    return invalid_argument("Expected serialized_sparse[", at, ", 1] to be a shape vector but its shape is ", p.shape.shape());
  if (p.indices.dim(1) != p.shape.dim(0))
    return invalid_argument("Expected column counts of SparseTensor[", at, "].indices to match size of SparseTensor[", at,
                            "].shape but they do not: ", p.indices.dim(1), " vs. ", p.shape.dim(0));
  return p;
}

// All parts as one sparse tensor with the dimensions `batch` in front.
Status output_batch(KernelContext& c, std::span<const SparseParts> parts, const Shape& batch, DType dtype) {
  const int64_t inner = parts[0].shape.dim(0), rank = batch.rank() + inner;
  std::vector<int64_t> dims(batch.vec());
  dims.resize(size_t(rank), 0);
  int64_t total = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& s = parts[i].shape;
    if (s.dim(0) != inner)
      return invalid_argument("Inconsistent shape across SparseTensors: rank prior to SparseTensor[", i, "] was: ", inner,
                              " but rank of SparseTensor[", i, "] is: ", s.dim(0));
    for (int64_t d = 0; d < inner; ++d) {
      int64_t& dim = dims[size_t(batch.rank() + d)];
      dim = i == 0 ? s.data<int64_t>()[d] : std::max(dim, s.data<int64_t>()[d]);
    }
    total += parts[i].values.dim(0);
  }
  if (c.input(0).dtype() == DType::kString) WEFT_RETURN_IF_ERROR(Shape::make(dims).status());
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

Status run_deserialize(KernelContext& c) {
  const Tensor& in = c.input(0);
  const DType dtype = c.attr<DType>("dtype");
  if (in.rank() == 0) return invalid_argument("Serialized sparse should have non-zero rank ", in.shape());
  if (in.dim(in.rank() - 1) != 3) return invalid_argument("Serialized sparse should have 3 as the last dimension ", in.shape());
  if (in.rank() == 1) {
    WEFT_ASSIGN(SparseParts p, load(in, 0, dtype));
    c.set_output(0, std::move(p.indices));
    c.set_output(1, std::move(p.values));
    c.set_output(2, std::move(p.shape));
    return {};
  }
  const int64_t count = in.num_elements() / 3;
  if (count == 0)
    return invalid_argument("Serialized sparse should have at least 1 serialized tensor, but has a zero dimension ", in.shape());
  std::vector<SparseParts> parts;
  for (int64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(SparseParts p, load(in, i, dtype));
    parts.push_back(std::move(p));
  }
  return output_batch(c, parts, in.shape().slice(0, in.rank() - 1), dtype);
}

// --- shape rules

Status serialize_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  c.output(0, PartialShape::vector(3));
  return {};
}

Status serialize_many_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_sparse_ranks(c, 0));
  c.output(0, PartialShape::matrix(kUnknownDim, 3));
  return {};
}

void output_unknown(ShapeContext& c) {
  c.output(0, PartialShape::matrix(kUnknownDim, kUnknownDim));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(kUnknownDim));
}

Status deserialize_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 1));
  if (in.has_rank() && in.dim(-1) >= 0 && in.dim(-1) != 3) return invalid_argument("Dimension must be 3 but is ", in.dim(-1));
  output_unknown(c);
  return {};
}

Status deserialize_many_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank(0, 2));
  if (in.dim(1) >= 0 && in.dim(1) != 3) return invalid_argument("Dimension must be 3 but is ", in.dim(1));
  output_unknown(c);
  return {};
}

}  // namespace

void sparse_serialize(Registry& r) {
  r.add("DeserializeManySparse")
      .in("serialized_sparse: string")
      .out("sparse_indices: int64")
      .out("sparse_values: dtype")
      .out("sparse_shape: int64")
      .attr("dtype: type")
      .doc("Reads a batch of serialized sparse tensors into one with a new first dimension.")
      .shape(deserialize_many_shape)
      .cpu(run_deserialize);

  r.add("DeserializeSparse")
      .in("serialized_sparse: Tserialized")
      .out("sparse_indices: int64")
      .out("sparse_values: dtype")
      .out("sparse_shape: int64")
      .attr("dtype: type")
      .attr("Tserialized: {string, variant} = DT_STRING")
      .doc("Reads serialized sparse tensors; the dimensions of the input in front of the last come first in the result.")
      .shape(deserialize_shape)
      .cpu(run_deserialize);

  r.add("SerializeManySparse")
      .in("sparse_indices: int64")
      .in("sparse_values: T")
      .in("sparse_shape: int64")
      .out("serialized_sparse: out_type")
      .attr("T: type")
      .attr("out_type: {string, variant} = DT_STRING")
      .doc("Writes each row of a sparse tensor's first dimension as a serialized sparse tensor.")
      .shape(serialize_many_shape)
      .cpu(run_serialize_many);

  r.add("SerializeSparse")
      .in("sparse_indices: int64")
      .in("sparse_values: T")
      .in("sparse_shape: int64")
      .out("serialized_sparse: out_type")
      .attr("T: type")
      .attr("out_type: {string, variant} = DT_STRING")
      .doc("Writes a sparse tensor as three strings or variants: indices, values and dense shape.")
      .shape(serialize_shape)
      .cpu(run_serialize);
}

}  // namespace weft::ops
