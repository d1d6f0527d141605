// Sparse tensors as strings (three TensorProtos) or as variants, and back; single and in batches.
#include "op/registry.h"
#include "op/tensor_variant.h"
#include "ops/all.h"
#include "ops/sparse/sparse_parts.h"
#include "ops/sparse/sparse_tensor.h"
#include "wire/tensor_proto.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

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

Status run_serialize(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_part_ranks(c.input(0), c.input(1), c.input(2)));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({3})));
  for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(store(c.input(i), *out, i));
  return {};
}

Status run_serialize_many(KernelContext& c) {
  const Tensor &indices = c.input(0), &values = c.input(1), &shape = c.input(2);
  WEFT_RETURN_IF_ERROR(check_part_ranks(indices, values, shape));
  const int64_t rank = shape.dim(0);
  if (rank < 2) return invalid_argument("Rank of input SparseTensor should be > 1, but saw rank: ", rank);
  WEFT_ASSIGN(Shape dense, dense_shape_of(shape));
  WEFT_RETURN_IF_ERROR(check_sparse_parts(indices, values, rank));
  WEFT_RETURN_IF_ERROR(check_sparse_order(indices, dense.dims()));
  const int64_t batch = dense.dim(0), n = indices.dim(0);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({batch, 3})));
  int64_t begin = 0;
  for (int64_t b = 0; b < batch; ++b) {
    int64_t end = begin;
    while (end < n && indices.data<int64_t>()[end * rank] == b) ++end;
    WEFT_ASSIGN(SparseParts part, inner_parts(indices, values, shape, begin, end));
    WEFT_RETURN_IF_ERROR(store(part.indices, *out, b * 3));
    WEFT_RETURN_IF_ERROR(store(part.values, *out, b * 3 + 1));
    WEFT_RETURN_IF_ERROR(store(part.shape, *out, b * 3 + 2));
    begin = end;
  }
  return {};
}

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
  if (p.shape.rank() != 1) return invalid_argument("Expected serialized_sparse[", at, ", 1] to be a shape vector but its shape is ", p.shape.shape());
  if (p.indices.dim(1) != p.shape.dim(0))
    return invalid_argument("Expected column counts of SparseTensor[", at, "].indices to match size of SparseTensor[", at,
                            "].shape but they do not: ", p.indices.dim(1), " vs. ", p.shape.dim(0));
  return p;
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
  if (count == 0) return invalid_argument("Serialized sparse should have at least 1 serialized tensor, but has a zero dimension ", in.shape());
  std::vector<SparseParts> parts;
  for (int64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(SparseParts p, load(in, i, dtype));
    parts.push_back(std::move(p));
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    const int64_t rank = parts[0].shape.dim(0), other = parts[i].shape.dim(0);
    if (rank != other)
      return invalid_argument("Inconsistent shape across SparseTensors: rank prior to SparseTensor[", i, "] was: ", rank,
                              " but rank of SparseTensor[", i, "] is: ", other);
  }
  return output_sparse_batch(c, parts, in.shape().slice(0, in.rank() - 1), dtype,
                             in.dtype() == DType::kString ? DenseSize::kMustFit : DenseSize::kAny);
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

}  // namespace weft_engine::ops
