// Ragged tensors to dense ones, and to and from variants.
#include <algorithm>

#include "op/ragged_variant.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/ragged/ragged_splits.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// --- RaggedTensorToTensor

enum class Partition { kFirstDimSize, kValueRowids, kRowSplits, kOther };

Result<std::vector<Partition>> read_partitions(const std::vector<std::string>& names) {
  std::vector<Partition> out;
  for (const std::string& s : names) {
    if (s == "FIRST_DIM_SIZE") out.push_back(Partition::kFirstDimSize);
    else if (s == "VALUE_ROWIDS") out.push_back(Partition::kValueRowids);
    else if (s == "ROW_SPLITS") out.push_back(Partition::kRowSplits);
    else if (s == "ROW_LENGTHS" || s == "ROW_LIMITS" || s == "ROW_STARTS") out.push_back(Partition::kOther);
    else return invalid_argument("Unknown string for partition info type: ", s);
  }
  return out;
}

int ragged_rank_of(const std::vector<Partition>& types) { return int(types.size()) - (!types.empty() && types[0] == Partition::kFirstDimSize); }

Status check_default_shape(const PartialShape& fallback, const PartialShape& values) {
  if (!fallback.has_rank() || !values.has_rank()) return {};
  const auto prefix = [&] { return cat("default_value.shape=", fallback, " and rt_input.flat_values.shape=", values, " are incompatible: "); };
  if (fallback.rank() >= values.rank())
    return invalid_argument(prefix(), "default_value.rank = ", fallback.rank(), "  must be less than rt_input.flat_values.rank = ", values.rank());
  for (int i = 0; i < fallback.rank(); ++i) {
    // TensorFlow lines the dimensions up from the left here, though it broadcasts from the right below.
    const int64_t a = fallback.dim(i), b = values.dim(i + 1);
    if (a >= 0 && b >= 0 && a != 1 && a != b)
      return invalid_argument(prefix(), "default_value.shape[", i - fallback.rank(), "] = ", a, " but rt_input.flat_values.shape[",
                              i - fallback.rank(), "] = ", b);
  }
  return {};
}

// The shape asked for, with what the values tell; -1 is for the data to say.
Result<PartialShape> combine_shapes(int ragged_rank, const PartialShape& shape, const PartialShape& values) {
  if (!shape.has_rank() && !values.has_rank()) return PartialShape::unknown();
  PartialShape out = shape.has_rank() ? shape : PartialShape::unknown_of_rank(ragged_rank + values.rank());
  if (!values.has_rank()) return out;
  const int rank = ragged_rank + values.rank();
  if (rank != out.rank())
    return invalid_argument("rt_input.shape and shape=", shape, " are incompatible: rt_input.rank = ", rank, " but shape.rank = ", out.rank());
  for (int i = 1; i < values.rank(); ++i) {
    const int at = ragged_rank + i;
    const int64_t have = values.dim(i), want = out.dim(at);
    if (have < 0) continue;
    if (want >= 0 && want != have)
      return invalid_argument("rt_input.shape and shape=", shape, " are incompatible: rt_input.shape[", at, "] = ", have, " but shape[", at,
                              "] = ", want);
    out.set_dim(at, have);
  }
  return out;
}

Result<PartialShape> shape_input(const Tensor& t) {
  const std::vector<int64_t> dims = to_int64s(t);
  if (t.rank() > 1) return invalid_argument("Shape must be at most rank 1 but is rank ", t.rank());
  if (t.rank() == 0) {
    if (dims[0] != -1) return invalid_argument("The only valid scalar shape tensor is the fully unknown shape specified as -1.");
    return PartialShape::unknown();
  }
  for (int64_t d : dims) {
    if (d < -1) return invalid_argument("Dimension ", d, " must be >= -1");
  }
  return PartialShape(dims);
}

int64_t longest_row(Partition type, std::span<const int64_t> p) {
  int64_t most = 0;
  if (type == Partition::kRowSplits) {
    for (size_t i = 1; i < p.size(); ++i) most = std::max(most, int64_t(uint64_t(p[i]) - uint64_t(p[i - 1])));
  } else {
    for (size_t begin = 0, i = 1; i <= p.size(); ++i) {
      if (i < p.size() && p[i] == p[begin]) continue;
      if (!p.empty()) most = std::max(most, int64_t(i - begin));
      begin = i;
    }
  }
  return most;
}

// For each row of one level, where it begins in the output (-1: cut off); from that, the same one level deeper.
// `limit`: how many there may be at most.
Result<Tensor> place_splits(KernelContext& c, const Tensor& parent, std::span<const int64_t> splits, int64_t step, int64_t width) {
  const int64_t rows = int64_t(splits.size()) - 1;
  if (rows > parent.dim(0)) return invalid_argument("Row partition size is greater than output size: ", rows, " > ", parent.dim(0));
  const bool bad = !splits.empty() && (splits[0] != 0 || !std::is_sorted(splits.begin(), splits.end()));
  if (bad) return invalid_argument("Invalid row split size.");
  WEFT_ASSIGN(Tensor out, c.temp(DType::kInt64, Shape({splits.empty() ? 0 : splits.back()})));
  int64_t* to = out.data<int64_t>();
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t start = parent.data<int64_t>()[r], length = splits[size_t(r) + 1] - splits[size_t(r)];
    for (int64_t j = 0; j < length; ++j) *to++ = start < 0 || j >= width ? -1 : start + j * step;
  }
  return out;
}

Result<Tensor> place_rowids(KernelContext& c, const Tensor& parent, std::span<const int64_t> ids, int64_t step, int64_t width) {
  WEFT_ASSIGN(Tensor out, c.temp(DType::kInt64, Shape({int64_t(ids.size())})));
  int64_t column = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= parent.dim(0))
      return invalid_argument("Got ", i == 0 ? "current" : "next", "_value_rowid=", ids[i], " which is not less than ", parent.dim(0));
    column = i > 0 && ids[i] == ids[i - 1] ? column + 1 : 0;
    const int64_t start = parent.data<int64_t>()[ids[i]];
    out.data<int64_t>()[i] = start < 0 || column >= width ? -1 : start + column * step;
  }
  return out;
}

// The default value repeated to the shape of one element; its dimensions line up with the last ones.
template <class T>
void broadcast_default(const Tensor& fallback, const Shape& element, T* to) {
  const int64_t n = element.num_elements();
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, at = 0, stride = 1;
    for (int d = 1; d <= fallback.rank(); ++d) {
      const int64_t size = element.dim(element.rank() - d), have = fallback.dim(fallback.rank() - d);
      if (have != 1) at += rest % size * stride;
      rest /= size;
      stride *= have;
    }
    to[i] = fallback.data<T>()[at];
  }
}

Status write_dense(const Tensor& values, const Tensor& fallback, const Tensor& where, const Shape& element, Tensor& out) {
  const int64_t size = element.num_elements(), n = where.dim(0), given = fallback.num_elements();
  for (int d = 1; given != 1 && given != size && d <= fallback.rank(); ++d) {
    const int64_t have = fallback.dim(fallback.rank() - d);
    if (have != 1 && have != element.dim(element.rank() - d)) return invalid_argument("Error broadcasting default_value");
  }
  if (n > values.dim(0)) return invalid_argument("Invalid row split size.");
  return dispatch_movable(values.dtype(), [&]<class T>(Tag<T>) {
    T* to = out.data<T>();
    if (given == 1) {
      std::fill_n(to, out.num_elements(), fallback.data<T>()[0]);
    } else {
      if (given == size) std::copy_n(fallback.data<T>(), size, to);
      else broadcast_default(fallback, element, to);
      for (int64_t i = size; i < out.num_elements(); ++i) to[i] = to[i - size];
    }
    for (int64_t i = 0; i < n; ++i) {
      if (const int64_t at = where.data<int64_t>()[i]; at >= 0) std::copy_n(values.data<T>() + i * size, size, to + at * size);
    }
    return Status();
  });
}

Result<int64_t> first_dimension(const std::vector<Partition>& types, const Tensor& first) {
  if (first.num_elements() < 1) return invalid_argument("Invalid first partition input. Tensor requires at least one element.");
  switch (types[0]) {
    case Partition::kFirstDimSize:
      if (first.num_elements() != 1) return invalid_argument("FIRST_DIM_SIZE must be a scalar.");
      return to_int64s(first)[0];
    case Partition::kValueRowids: return invalid_argument("Cannot handle VALUE_ROWIDS in first dimension.");
    case Partition::kRowSplits:
      if (first.rank() < 1) return invalid_argument("Row partition must be a vector.");
      return first.dim(0) - 1;
    default: return invalid_argument("Cannot handle type ROW_LENGTHS");
  }
}

Status run_to_tensor(KernelContext& c) {
  const Tensor &values = c.input(1), &fallback = c.input(2);
  const auto partitions = c.input_list("row_partition_tensors");
  WEFT_ASSIGN(std::vector<Partition> types, read_partitions(c.attr<std::vector<std::string>>("row_partition_types")));
  if (types.empty()) return invalid_argument("No row_partition_types given.");
  WEFT_ASSIGN(int64_t first, first_dimension(types, *partitions[0]));
  WEFT_RETURN_IF_ERROR(check_default_shape(fallback.shape(), values.shape()));
  WEFT_ASSIGN(PartialShape wanted, shape_input(c.input(0)));
  const int depth = ragged_rank_of(types), skip = int(types.size()) - depth;
  WEFT_ASSIGN(PartialShape combined, combine_shapes(depth, wanted, values.shape()));
  if (types.size() != partitions.size())
    return invalid_argument("Number of row partition tensors (", partitions.size(), ") does not equal the number of row partition types(",
                            types.size(), ").");
  std::vector<std::vector<int64_t>> parts;
  for (int k = 0; k < depth; ++k) {
    if (types[size_t(k + skip)] != Partition::kRowSplits && types[size_t(k + skip)] != Partition::kValueRowids)
      return invalid_argument("Cannot handle partition type ", c.attr<std::vector<std::string>>("row_partition_types")[size_t(k + skip)]);
    parts.push_back(to_int64s(*partitions[size_t(k + skip)]));
  }
  std::vector<int64_t> dims = combined.dims();
  if (dims[0] < 0) dims[0] = first;
  for (int k = 1; k <= depth; ++k) {
    if (dims[size_t(k)] < 0) dims[size_t(k)] = longest_row(types[size_t(k - 1 + skip)], parts[size_t(k - 1)]);
  }
  for (int64_t d : dims) {
    if (d < 0) return invalid_argument("Dimension ", d, " must be >= 0");
  }
  const Shape shape(dims);
  if (!shape.valid()) return invalid_argument("Shape ", shape, " would have more than 2**63 - 1 elements");
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  if (out->num_elements() == 0) return {};
  // Positions count elements of the innermost ragged dimension; every size below is positive, so nothing overflows.
  std::vector<int64_t> step(size_t(depth) + 1, 1);
  for (int k = depth - 1; k >= 0; --k) step[size_t(k)] = step[size_t(k) + 1] * dims[size_t(k) + 1];
  if (first < 0) return invalid_argument("Dimension ", first, " must be >= 0");
  WEFT_ASSIGN(Tensor where, c.temp(DType::kInt64, Shape({first})));
  for (int64_t i = 0; i < first; ++i) where.data<int64_t>()[i] = i < dims[0] ? i * step[0] : -1;
  for (int k = 0; k < depth; ++k) {
    const bool splits = types[size_t(k + skip)] == Partition::kRowSplits;
    WEFT_ASSIGN(where, (splits ? place_splits : place_rowids)(c, where, parts[size_t(k)], step[size_t(k) + 1], dims[size_t(k) + 1]));
  }
  return write_dense(values, fallback, where, shape.slice(depth + 1, shape.rank()), *out);
}

Status to_tensor_shape(ShapeContext& c) {
  WEFT_ASSIGN(std::vector<Partition> types, read_partitions(c.attr<std::vector<std::string>>("row_partition_types")));
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == Partition::kOther)
      return invalid_argument("Unsupported partition type: ", c.attr<std::vector<std::string>>("row_partition_types")[i]);
    if (i > 0 && types[i] == Partition::kFirstDimSize) return invalid_argument("FIRST_DIM_SIZE must be first");
  }
  if (types.empty()) return invalid_argument("Partition info types should not be empty");
  if (types[0] == Partition::kFirstDimSize && (types.size() < 2 || types[1] != Partition::kValueRowids))
    return invalid_argument("FIRST_DIM_SIZE must be followed by VALUE_ROWIDS");
  if (types[0] == Partition::kValueRowids) return invalid_argument("VALUE_ROWIDS cannot be first");
  const auto range = c.node().input_range("row_partition_tensors");
  if (range.size() != int(types.size()))
    return invalid_argument("Number of row partition tensors (", range.size(), ") does not equal the number of row partition types(", types.size(),
                            ").");
  for (int i = range.begin; i < range.end; ++i) {
    if (!c.input(i).has_rank()) continue;
    const bool size = types[size_t(i - range.begin)] == Partition::kFirstDimSize;
    if (c.input(i).rank() != (size ? 0 : 1)) return invalid_argument(size ? "FIRST_DIM_SIZE must be a scalar." : "Row partition must be a vector.");
  }
  PartialShape wanted;
  if (c.constant(0)) {
    WEFT_ASSIGN(wanted, shape_input(*c.constant(0)));
  } else if (c.input(0).rank() != 0) {
    WEFT_ASSIGN(wanted, c.constant_shape(0));
  }
  WEFT_RETURN_IF_ERROR(check_default_shape(c.input(2), c.input(1)));
  WEFT_ASSIGN(PartialShape out, combine_shapes(ragged_rank_of(types), wanted, c.input(1)));
  c.output(0, std::move(out));
  return {};
}

// --- variants

Variant make_variant(Tensor values, std::vector<Tensor> splits) {
  auto object = std::make_shared<RaggedTensorVariant>();
  object->values = std::move(values);
  object->splits = std::move(splits);
  return Variant(std::shared_ptr<const VariantObject>(std::move(object)));
}

// Row `row` of the outermost level: the levels below it, with splits that begin at 0, and its values.
Result<Variant> cut_row(const std::vector<std::vector<int64_t>>& nested, const Tensor& values, int64_t row, DType split_type) {
  int64_t begin = row, end = row + 1;
  std::vector<Tensor> splits;
  for (size_t k = 0; k < nested.size(); ++k) {
    if (k > 0) {
      std::vector<int64_t> part(nested[k].begin() + begin, nested[k].begin() + end + 1);
      for (int64_t first = part[0]; int64_t& s : part) s -= first;
      WEFT_ASSIGN(Tensor t, from_int64s(part, split_type));
      splits.push_back(std::move(t));
    }
    begin = nested[k][size_t(begin)];
    end = nested[k][size_t(end)];
  }
  WEFT_ASSIGN(Tensor part, values.slice_rows(begin, end).copy());
  if (nested.empty()) {
    Shape inner = values.shape().slice(1, values.rank());
    part = part.reshaped(inner);
  }
  return make_variant(std::move(part), std::move(splits));
}

Status run_to_variant(KernelContext& c) {
  const auto params = c.input_list("rt_nested_splits");
  const Tensor& values = c.input(int(params.size()));
  if (!params.empty() && values.rank() == 0)
    return invalid_argument("Requires flat_values to have rank>=1 when nested_row_splits is not empty, but is 0.");
  for (size_t k = params.size(); k-- > 0;) {
    const int64_t below = k + 1 < params.size() ? params[k + 1]->num_elements() - 1 : values.dim(0);
    WEFT_RETURN_IF_ERROR(check_splits(*params[k], true, below));
  }
  if (!c.attr<bool>("batched_input")) {
    std::vector<Tensor> splits;
    for (const Tensor* t : params) splits.push_back(*t);
    WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
    out->data<Variant>()[0] = make_variant(values, std::move(splits));
    return {};
  }
  if (values.rank() == 0) return invalid_argument("Can't unbatch rank-0 tensor.");
  std::vector<std::vector<int64_t>> nested;
  for (const Tensor* t : params) nested.push_back(to_int64s(*t));
  const int64_t rows = nested.empty() ? values.dim(0) : int64_t(nested[0].size()) - 1;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({rows})));
  for (int64_t i = 0; i < rows; ++i) {
    WEFT_ASSIGN(out->data<Variant>()[i], cut_row(nested, values, i, c.attr<DType>("Tsplits")));
  }
  return {};
}

using Components = std::vector<const RaggedTensorVariant*>;

Result<Components> read_components(const Tensor& encoded, int64_t ragged_rank, DType value_type, DType split_type, bool need_rank) {
  Components out;
  for (int64_t i = 0; i < encoded.num_elements(); ++i) {
    const Variant& v = encoded.data<Variant>()[i];
    const auto* r = v.get<RaggedTensorVariant>();
    if (!r) return invalid_argument("Input Variant element at index ", i, " doesn't hold a RaggedTensorVariant: Variant<type: ", v.type_name(), ">");
    if (r->ragged_rank() != ragged_rank)
      return invalid_argument("Encoded input RaggedTensorVariant has ragged_rank=", r->ragged_rank(), ".  Expected ragged_rank=", ragged_rank, ".");
    if (r->values.dtype() != value_type) return invalid_argument("Expected values Tensor dtype: ", value_type, ", found: ", r->values.dtype());
    if (need_rank && r->values.rank() < 1)
      return invalid_argument("Ragged values must have rank >= 1; encoded scalar element at index ", i,
                              " has values Tensor: Tensor<type: ", r->values.dtype(), " shape: [] values: ", r->values.summary(), ">");
    for (const Tensor& s : r->splits) {
      if (s.dtype() != split_type) return invalid_argument("Expected row_splits Tensor dtype: ", split_type, ", found: ", s.dtype());
      if (s.rank() != 1)
        return invalid_argument("Ragged splits must have rank 1; encoded scalar element at index ", i, " has splits of rank ", s.rank());
    }
    out.push_back(r);
  }
  return out;
}

// The values of all components one after the other, along a first dimension that they have or (stacked) get.
Result<Tensor> join_values(const Components& parts, DType dtype, bool stacked) {
  if (parts.empty()) return Tensor::allocate(dtype, Shape({0}));
  int64_t rows = 0, at = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Shape &s = parts[i]->values.shape(), &first = parts[0]->values.shape();
    if (stacked ? s != first : s.rank() != first.rank() || s.slice(1, s.rank()) != first.slice(1, first.rank()))
      return invalid_argument("All flat_values must have compatible shapes.  Shape at index 0: ", first, ".  Shape at index ", i, ": ", s);
    rows += stacked ? 1 : s.dim(0);
  }
  Shape shape = parts[0]->values.shape();
  if (stacked) shape.insert_dim(0, rows);
  else shape.set_dim(0, rows);
  WEFT_ASSIGN(Tensor out, Tensor::allocate(dtype, shape));
  for (const auto* p : parts) {
    copy_elements(p->values, 0, out, at, p->values.num_elements());
    at += p->values.num_elements();
  }
  return out;
}

Status output_splits(KernelContext& c, int i, std::span<const int64_t> splits) {
  WEFT_ASSIGN(Tensor t, from_int64s(splits, c.output_type(i)));
  c.set_output(i, std::move(t));
  return {};
}

// The dimensions of the variant tensor become ragged dimensions of equal rows in front of those of the components.
Status stack_components(KernelContext& c, const Tensor& encoded, const Components& parts, int64_t inner_rank) {
  const int dims = encoded.rank();
  int64_t count = 1;
  for (int d = 0; d + 1 < dims; ++d) {
    count *= encoded.dim(d);
    std::vector<int64_t> splits;
    for (int64_t i = 0; i <= count; ++i) splits.push_back(i * encoded.dim(d + 1));
    WEFT_RETURN_IF_ERROR(output_splits(c, d, splits));
  }
  std::vector<int64_t> splits = {0};
  for (const auto* p : parts) splits.push_back(splits.back() + (inner_rank > 0 ? p->splits[0].dim(0) - 1 : p->values.dim(0)));
  WEFT_RETURN_IF_ERROR(output_splits(c, dims - 1, splits));
  for (int64_t k = 0; k < inner_rank; ++k) {
    splits = {0};
    for (const auto* p : parts) {
      const std::vector<int64_t> part = to_int64s(p->splits[size_t(k)]);
      const int64_t base = splits.back();
      for (size_t i = 1; i < part.size(); ++i) splits.push_back(base + part[i]);
    }
    WEFT_RETURN_IF_ERROR(output_splits(c, dims + int(k), splits));
  }
  WEFT_ASSIGN(Tensor values, join_values(parts, c.output_type(c.num_outputs() - 1), false));
  c.set_output(c.num_outputs() - 1, std::move(values));
  return {};
}

Status run_from_variant(KernelContext& c) {
  const Tensor& encoded = c.input(0);
  const int64_t out_rank = c.attr<int64_t>("output_ragged_rank");
  int64_t in_rank = c.attr<int64_t>("input_ragged_rank");
  if (out_rank == 0) {
    in_rank = 0;
  } else if (in_rank == -1) {
    in_rank = out_rank - encoded.rank();
    if (in_rank < 0)
      return invalid_argument("Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, found output_ragged_rank: ",
                              out_rank, ", encoded_variant.dims(): ", encoded.rank(), ", inferred input_ragged_rank: ", in_rank);
  }
  if (out_rank != 0 && out_rank != encoded.rank() + in_rank)
    return invalid_argument("output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); output_ragged_rank: ", out_rank,
                            ", input_ragged_rank: ", in_rank, ", encoded_variant.dims(): ", encoded.rank(), ".");
  WEFT_ASSIGN(Components parts, read_components(encoded, in_rank, c.attr<DType>("Tvalues"), c.attr<DType>("Tsplits"), out_rank > 0));
  if (encoded.rank() == 0) {
    for (int64_t k = 0; k < in_rank; ++k) c.set_output(int(k), parts[0]->splits[size_t(k)]);
    c.set_output(int(in_rank), parts[0]->values);
    return {};
  }
  if (out_rank > 0) return stack_components(c, encoded, parts, in_rank);
  WEFT_ASSIGN(Tensor values, join_values(parts, c.output_type(0), true));
  c.set_output(0, std::move(values));
  return {};
}

Status run_to_variant_grad(KernelContext& c) {
  const Tensor &encoded = c.input(0), &splits = c.input(1), &shape_input = c.input(2);
  WEFT_RETURN_IF_ERROR(check_splits(splits, false, 0));
  const DType dtype = c.attr<DType>("Tvalues");
  if (shape_input.rank() != 1) return invalid_argument("dense_values_shape must be a vector, got shape ", shape_input.shape());
  WEFT_ASSIGN(Shape shape, Shape::make(to_int64s(shape_input)));
  const std::vector<int64_t> rows = to_int64s(splits);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < encoded.num_elements(); ++i) {
    if (const auto* r = encoded.data<Variant>()[i].get<RaggedTensorVariant>()) {
      if (r->values.dtype() != dtype) return invalid_argument("Expected values Tensor dtype: ", dtype, ", found: ", r->values.dtype());
      parts.push_back(r->values);
      continue;
    }
    // A row that nothing was computed from has an empty variant here: its gradient is zero.
    if (size_t(i) + 1 >= rows.size() || shape.rank() < 1 || !is_simple(dtype))
      return invalid_argument("row_splits of length ", rows.size(), " and dense_values_shape ", shape, " do not fit ", encoded.num_elements(),
                              " rows");
    WEFT_ASSIGN(Tensor zeros, Tensor::zeros(dtype, shape.with_dim(0, rows[size_t(i) + 1] - rows[size_t(i)])));
    parts.push_back(std::move(zeros));
  }
  if (parts.size() == 1) {
    c.set_output(0, std::move(parts[0]));
    return {};
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  int64_t at = 0;
  for (const Tensor& p : parts) {
    if (p.num_elements() > out->num_elements() - at) return invalid_argument("the values do not fit into dense_values_shape ", shape);
    copy_elements(p, 0, *out, at, p.num_elements());
    at += p.num_elements();
  }
  if (is_simple(dtype)) std::fill_n(out->data<char>() + size_t(at) * dtype_size(dtype), size_t(out->num_elements() - at) * dtype_size(dtype), 0);
  return {};
}

Status to_variant_shape(ShapeContext& c) {
  const auto range = c.node().input_range("rt_nested_splits");
  for (int i = range.begin; i < range.end; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 1).status());
  if (!c.attr<bool>("batched_input")) {
    c.output(0, PartialShape::scalar());
    return {};
  }
  WEFT_ASSIGN(PartialShape values, c.with_rank_at_least(range.end, 1));
  const int64_t n = range.size() > 0 ? c.input(0).dim(0) - (c.input(0).dim(0) > 0) : values.has_rank() ? values.dim(0) : kUnknownDim;
  c.output(0, PartialShape::vector(n));
  return {};
}

Status from_variant_shape(ShapeContext& c) {
  const int64_t in_rank = c.attr<int64_t>("input_ragged_rank"), out_rank = c.attr<int64_t>("output_ragged_rank");
  if (in_rank >= 0 && out_rank > 0 && out_rank >= in_rank) WEFT_RETURN_IF_ERROR(c.with_rank(0, int(out_rank - in_rank)).status());
  for (int i = 0; i < int(out_rank); ++i) c.output(i, PartialShape::vector(kUnknownDim));
  return {};
}

Status to_variant_grad_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 1).status());
  // A single row is passed through as it is, whatever the shape says: nothing is sure.
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// The op itself, of numbers, says which value each element of the result is: -1 for the default.
Grads to_tensor_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value values = g.x(1), shape = shape_of(values), dy = g.dy();
  const auto& types = g.attr<std::vector<std::string>>("row_partition_types");
  const int rank = 1 + int(std::count_if(types.begin(), types.end(), [](const std::string& t) { return t != "FIRST_DIM_SIZE"; }));
  const Value count = element(shape, 0), zero = scalar(e, DType::kInt32, 0), one = scalar(e, DType::kInt32, 1);
  std::vector<Value> in = {slice(shape_of(dy), ints(e, {0}), ints(e, {rank})), e.one("Range", {zero, count, one}), scalar(e, DType::kInt32, -1)};
  for (int i = 3; i < g.num_inputs(); ++i) in.push_back(g.x(i));
  auto numbers = g.apply("RaggedTensorToTensor", in, g.attrs({"row_partition_types"}));
  Grads grads = g.none();
  if (numbers.empty()) return grads;
  const Value source = reshape(numbers[0], ints(e, {-1}));
  const Value parts[] = {shape_of(source), e.one("StridedSlice", {shape, ints(e, {1}), ints(e, {0}), ints(e, {1})}, {{"end_mask", int64_t(1)}})};
  const Value rows = reshape(dy, concat(parts, 0));
  auto chosen = [&](const char* comparison) { return squeeze(unary("Where", binary(comparison, source, scalar(e, DType::kInt32, -1))), {1}); };
  const Value used = chosen("NotEqual");
  grads[1] = Value::slices(gather(rows, used), gather(source, used), shape);
  grads[2] = sum_to(gather(rows, chosen("Equal")), g.x(2));
  return grads;
}

Grads to_variant_grad(const GradContext& g) {
  const int levels = g.num_inputs() - 1;
  const Value values = g.x(levels), splits = levels ? g.x(0) : scalar(g.emitter(), DType::kInt64, 0);
  Grads grads = g.none();
  grads.back() = g.one("RaggedTensorToVariantGradient", {g.raw_dy(), splits, shape_of(values)}, {{"Tvalues", values.dtype()}});
  return grads;
}

Grads from_variant_grad(const GradContext& g) {
  const PartialShape s = g.x().shape();
  if (s.has_rank() && s.rank() > 1)
    return g.fail(invalid_argument("Unable to compute gradient: RaggedTensorToVariant can currently only generate 0D or 1D output."));
  std::vector<Value> in;
  for (int i = 0; i + 1 < g.num_outputs(); ++i) in.push_back(g.y(i));
  const bool batched = s.has_rank() ? s.rank() == 1 : !in.empty();
  in.push_back(g.dy(g.num_outputs() - 1));
  AttrMap attrs = g.attrs({"Tsplits"});
  attrs["batched_input"] = batched;
  attrs["RAGGED_RANK"] = int64_t(g.num_outputs() - 1);
  return g.apply("RaggedTensorToVariant", in, std::move(attrs));
}

}  // namespace

void ragged_convert(Registry& r) {
  r.add("RaggedTensorFromVariant")
      .in("encoded_ragged: variant")
      .out("output_nested_splits: output_ragged_rank * Tsplits")
      .out("output_dense_values: Tvalues")
      .attr("input_ragged_rank: int >= -1")
      .attr("output_ragged_rank: int >= 0")
      .attr("Tvalues: type")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .doc("Unpacks ragged tensors from variants, stacking those of a variant tensor.")
      .shape(from_variant_shape)
      .grad(from_variant_grad)
      .cpu(run_from_variant);

  r.add("RaggedTensorToTensor")
      .in("shape: Tshape")
      .in("values: T")
      .in("default_value: T")
      .in("row_partition_tensors: num_row_partition_tensors * Tindex")
      .out("result: T")
      .attr("T: type")
      .attr("Tindex: {int64, int32}")
      .attr("Tshape: {int64, int32}")
      .attr("num_row_partition_tensors: int >= 1")
      .attr("row_partition_types: list(string)")
      .doc("The dense tensor with the values of a ragged one, padded with a default value or cut to the given shape.")
      .shape(to_tensor_shape)
      .grad(to_tensor_grad)
      .cpu(run_to_tensor);

  r.add("RaggedTensorToVariant")
      .in("rt_nested_splits: RAGGED_RANK * Tsplits")
      .in("rt_dense_values: Tvalues")
      .out("encoded_ragged: variant")
      .full_type("RAGGED(VAR:Tvalues)")
      .attr("RAGGED_RANK: int >= 0")
      .attr("Tvalues: type")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .attr("batched_input: bool")
      .doc("Packs a ragged tensor, or each of its rows, into a variant.")
      .shape(to_variant_shape)
      .grad(to_variant_grad)
      .cpu(run_to_variant);

  r.add("RaggedTensorToVariantGradient")
      .in("encoded_ragged_grad: variant")
      .in("row_splits: Tsplits")
      .in("dense_values_shape: int32")
      .out("dense_values_grad: Tvalues")
      .attr("Tvalues: type")
      .attr("Tsplits: {int32, int64} = DT_INT64")
      .doc("Gradient of RaggedTensorToVariant for the flat values.")
      .shape(to_variant_grad_shape)
      .cpu(run_to_variant_grad);
}

}  // namespace weft_engine::ops
