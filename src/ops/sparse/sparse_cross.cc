// Feature crosses: every combination of one feature from each column, row by row.
#include <algorithm>
#include <limits>

#include "kernels/cpu/hash.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/sparse/feature_cross.h"
#include "ops/ragged/ragged_splits.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using kernels::fingerprint64;
using kernels::fingerprint_cat64;

// One input: row b has the values [splits[b], splits[b + 1]).
struct Column {
  const Tensor* values;
  std::vector<int64_t> splits;
  bool dense = false;
  int64_t count(int64_t b) const { return splits[size_t(b) + 1] - splits[size_t(b)]; }
  std::string text(int64_t i) const { return values->dtype() == DType::kString ? values->data<tstring>()[i].str() : cat(values->data<int64_t>()[i]); }
  uint64_t number(int64_t i) const {
    return values->dtype() == DType::kString ? fingerprint64(values->data<tstring>()[i]) : uint64_t(values->data<int64_t>()[i]);
  }
};
using Columns = std::vector<Column>;

Column dense_column(const Tensor& t) {
  Column column{&t, {}, true};
  for (int64_t b = 0; b <= t.dim(0); ++b) column.splits.push_back(b * t.dim(1));
  return column;
}

// How many crosses row b has; -1 if they overflow.
int64_t cross_count(const Columns& columns, int64_t b) {
  int64_t n = 1;
  for (const Column& c : columns) {
    if (c.count(b) == 0) return 0;
    if (n >= 0) n = multiply_without_overflow(n, c.count(b));
  }
  return n;
}

// Calls f(number of the cross, which value of each column) for row b; the last column turns fastest.
template <class F>
void each_cross(const Columns& columns, int64_t b, int64_t count, F f) {
  std::vector<int64_t> pick;
  for (const Column& c : columns) pick.push_back(c.splits[size_t(b)]);
  for (int64_t n = 0; n < count; ++n) {
    f(n, pick);
    for (size_t i = columns.size(); i-- > 0;) {
      if (++pick[i] < columns[i].splits[size_t(b) + 1]) break;
      pick[i] = columns[i].splits[size_t(b)];
    }
  }
}

std::string join_text(const Columns& columns, const std::vector<int64_t>& pick, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i) out += separator;
    out += columns[i].text(pick[i]);
  }
  return out;
}

int64_t to_bucket(uint64_t hash, int64_t buckets) { return int64_t(hash % uint64_t(buckets > 0 ? buckets : std::numeric_limits<int64_t>::max())); }

int64_t join_hash(const Columns& columns, const std::vector<int64_t>& pick, uint64_t key, int64_t buckets) {
  for (size_t i = 0; i < columns.size(); ++i) key = fingerprint_cat64(key, columns[i].number(pick[i]));
  return to_bucket(key, buckets);
}

// SparseCrossHashed takes the hash of every feature. TensorFlow hashes the first four bytes of an int64
// (it took the size of the type's name for that of the type) and leaves dense ones as they are.
struct SaltedHash {
  bool strong;
  uint64_t key0, key1;
  uint64_t operator()(const Column& c, int64_t i) const {
    std::string_view bytes;
    if (c.values->dtype() == DType::kString) {
      bytes = c.values->data<tstring>()[i];
    } else {
      if (c.dense && !strong) return uint64_t(c.values->data<int64_t>()[i]);
      bytes = {reinterpret_cast<const char*>(c.values->data<int64_t>() + i), 4};
    }
    return strong ? kernels::sip_hash(key0, key1, bytes) : fingerprint64(bytes);
  }
};

Status check_inputs(std::span<const Tensor* const> indices, std::span<const Tensor* const> values, std::span<const Tensor* const> shapes,
                    std::span<const Tensor* const> dense, DType internal) {
  const size_t n = indices.size();
  const auto wrong_type = [&](const Tensor& t) { return internal == DType::kString && t.dtype() == DType::kInt64; };
  for (size_t i = 0; i < n; ++i) {
    if (indices[i]->rank() != 2)
      return invalid_argument("Input indices should be a matrix but received shape ", indices[i]->shape(), " at position ", i);
    if (indices[i]->dim(1) != 2) return invalid_argument("Expected D2 of index to be 2 got ", indices[i]->dim(1), " at position ", i);
  }
  if (values.size() != n) return invalid_argument("Expected ", n, " input values, got ", values.size());
  for (size_t i = 0; i < n; ++i) {
    if (wrong_type(*values[i]))
      return invalid_argument("Input values should be of internal type ", int(internal), " but received ", int(values[i]->dtype()));
    if (values[i]->rank() != 1)
      return invalid_argument("Input values should be a vector but received shape ", values[i]->shape(), " at position ", i);
    if (values[i]->dim(0) != indices[i]->dim(0))
      return invalid_argument("Expected size of values to be ", indices[i]->dim(0), " got ", values[i]->dim(0), " at position ", i);
  }
  for (size_t i = 0; i < n; ++i) {
    if (shapes[i]->rank() != 1)
      return invalid_argument("Input shapes should be a vector but received shape ", shapes[i]->shape(), " at position ", i);
    if (shapes[i]->dim(0) != 2) return invalid_argument("shape should imply a 2D tensor, but got ", shapes[i]->shape(), " at position ", i);
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    if (wrong_type(*dense[i]))
      return invalid_argument("Dense inputs should be of internal type ", int(internal), " but received ", int(dense[i]->dtype()));
    if (dense[i]->rank() != 2) return invalid_argument("Dense inputs should be a matrix but received shape ", dense[i]->shape(), " at position ", i);
  }
  return {};
}

// The entries of row b follow each other; a row out of order ends what is seen of a column.
Column sparse_column(const Tensor& indices, const Tensor& values, int64_t batch) {
  Column column{&values, {0}, false};
  int64_t at = 0;
  for (int64_t b = 0; b < batch; ++b) {
    while (at < indices.dim(0) && indices.data<int64_t>()[at * 2] == b) ++at;
    column.splits.push_back(at);
  }
  return column;
}

// The columns of the three SparseCross ops, checked, and the sparse tensor that they fill.
struct SparseOutput {
  Columns columns;
  int64_t batch = 0;
  std::vector<int64_t> starts;
  Tensor *indices = nullptr, *values = nullptr;
};

Result<SparseOutput> prepare_sparse(KernelContext& c, DType internal) {
  const auto indices = c.input_list("indices"), values = c.input_list("values"), shapes = c.input_list("shapes"),
             dense = c.input_list("dense_inputs");
  WEFT_RETURN_IF_ERROR(check_inputs(indices, values, shapes, dense, internal));
  SparseOutput out;
  out.batch = !shapes.empty() ? shapes[0]->data<int64_t>()[0] : !dense.empty() ? dense[0]->dim(0) : 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (const int64_t b = shapes[i]->data<int64_t>()[0]; b != out.batch)
      return invalid_argument("Expected batch size ", out.batch, " got ", b, " at position ", i);
  }
  for (size_t i = 0; i < dense.size(); ++i) {
    if (dense[i]->dim(0) != out.batch) return invalid_argument("Expected batch size ", out.batch, " got ", dense[i]->dim(0), " at dense tensor ", i);
  }
  // The batch size is a number from outside: memory for it must exist before any vector grows by it.
  WEFT_RETURN_IF_ERROR(c.temp(DType::kInt64, Shape({out.batch, int64_t(indices.size() + dense.size() + 1)})).status());
  for (size_t i = 0; i < indices.size(); ++i) out.columns.push_back(sparse_column(*indices[i], *values[i], out.batch));
  for (const Tensor* t : dense) out.columns.push_back(dense_column(*t));
  int64_t total = 0, most = 0;
  for (int64_t b = 0; b < out.batch; ++b) {
    out.starts.push_back(total);
    const int64_t n = cross_count(out.columns, b);
    if (n < 0 || __builtin_add_overflow(total, n, &total)) return resource_exhausted("too many crosses in row ", b);
    most = std::max(most, n);
  }
  out.starts.push_back(total);
  WEFT_ASSIGN(out.indices, c.allocate(0, Shape({total, 2})));
  WEFT_ASSIGN(out.values, c.allocate(1, Shape({total})));
  WEFT_ASSIGN(Tensor* shape, c.allocate(2, Shape({2})));
  shape->data<int64_t>()[0] = out.batch;
  shape->data<int64_t>()[1] = most;
  return out;
}

// Fills the crosses of all rows with make(pick), which gives a T.
template <class T, class Make>
void fill_sparse(KernelContext& c, const SparseOutput& out, Make make) {
  const double cost = 100.0 * double(out.columns.size()) * (double(out.starts.back()) / double(std::max<int64_t>(out.batch, 1)) + 1);
  c.pool().parallel_for(out.batch, cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t start = out.starts[size_t(b)];
      each_cross(out.columns, b, out.starts[size_t(b) + 1] - start, [&](int64_t n, const std::vector<int64_t>& pick) {
        out.indices->data<int64_t>()[(start + n) * 2] = b;
        out.indices->data<int64_t>()[(start + n) * 2 + 1] = n;
        out.values->data<T>()[start + n] = T(make(pick));
      });
    }
  });
}

Status run_cross(KernelContext& c) {
  WEFT_ASSIGN(SparseOutput out, prepare_sparse(c, c.attr<DType>("internal_type")));
  if (out.values->dtype() == DType::kString) {
    fill_sparse<tstring>(c, out, [&](const std::vector<int64_t>& pick) { return join_text(out.columns, pick, "_X_"); });
    return {};
  }
  const uint64_t key = uint64_t(c.attr<int64_t>("hash_key"));
  const int64_t buckets = c.attr<int64_t>("num_buckets");
  fill_sparse<int64_t>(c, out, [&](const std::vector<int64_t>& pick) { return join_hash(out.columns, pick, key, buckets); });
  return {};
}

Status run_cross_v2(KernelContext& c) {
  const Tensor& separator = c.input("sep");
  WEFT_ASSIGN(SparseOutput out, prepare_sparse(c, DType::kInvalid));
  if (separator.rank() != 0)
    return invalid_argument("Input separator should be a scalar. Received: Tensor<type: string shape: ", separator.shape(),
                            " values: ", join(separator.span<tstring>(), " "), ">");
  const std::string between = separator.data<tstring>()[0].str();
  fill_sparse<tstring>(c, out, [&](const std::vector<int64_t>& pick) { return join_text(out.columns, pick, between); });
  return {};
}

Status run_cross_hashed(KernelContext& c) {
  const Tensor &buckets = c.input("num_buckets"), &strong = c.input("strong_hash"), &salt = c.input("salt");
  if (buckets.num_elements() != 1) return invalid_argument("num_buckets must be a scalar, got shape ", buckets.shape());
  if (strong.num_elements() != 1) return invalid_argument("strong_hash must be a scalar, got shape ", strong.shape());
  if (salt.num_elements() != 2) return invalid_argument("Input \"salt\" must have length 2 but has length ", salt.num_elements());
  WEFT_ASSIGN(SparseOutput out, prepare_sparse(c, DType::kInvalid));
  if (out.columns.empty()) return {};
  const SaltedHash hash{strong.data<bool>()[0], uint64_t(salt.data<int64_t>()[0]), uint64_t(salt.data<int64_t>()[1])};
  fill_sparse<int64_t>(c, out, [&](const std::vector<int64_t>& pick) {
    uint64_t value = hash(out.columns[0], pick[0]);
    for (size_t i = 1; i < pick.size(); ++i) value = fingerprint_cat64(value, hash(out.columns[i], pick[i]));
    return to_bucket(value, buckets.data<int64_t>()[0]);
  });
  return {};
}

Status cross_shape(ShapeContext& c) {
  c.output(0, PartialShape::matrix(kUnknownDim, 2));
  c.output(1, PartialShape::vector(kUnknownDim));
  c.output(2, PartialShape::vector(2));
  return {};
}

// --- RaggedCross

struct RaggedInputs {
  std::span<const Tensor* const> values, splits, sparse_indices, sparse_values, sparse_shape, dense;
};

Result<int64_t> check_ragged_inputs(const RaggedInputs& in) {
  const auto wrong_rank = [] { return invalid_argument("tf.ragged.cross only supports inputs with rank=2."); };
  const auto mismatch = [] { return invalid_argument("inputs must all have the same batch dimension size."); };
  for (size_t i = 0; i < in.values.size(); ++i) {
    if (in.values[i]->rank() != 1 || in.splits[i]->rank() != 1) return wrong_rank();
    WEFT_RETURN_IF_ERROR(check_splits(*in.splits[i], true, in.values[i]->dim(0)));
  }
  for (size_t i = 0; i < in.sparse_indices.size(); ++i) {
    const Tensor &ix = *in.sparse_indices[i], &values = *in.sparse_values[i], &shape = *in.sparse_shape[i];
    if (ix.rank() != 2 || values.rank() != 1 || shape.rank() != 1 || ix.dim(1) < 1 || values.dim(0) > ix.dim(0))
      return invalid_argument("Invalid SparseTensor ", i);
    if (shape.dim(0) != 2) return wrong_rank();
  }
  for (const Tensor* t : in.dense) {
    if (t->rank() != 2) return wrong_rank();
  }
  const int64_t batch = !in.splits.empty()         ? in.splits[0]->dim(0) - 1
                        : !in.dense.empty()        ? in.dense[0]->dim(0)
                        : !in.sparse_shape.empty() ? in.sparse_shape[0]->data<int64_t>()[0]
                                                   : 0;
  for (const Tensor* t : in.splits) {
    if (t->dim(0) - 1 != batch) return mismatch();
  }
  for (const Tensor* t : in.sparse_shape) {
    if (t->data<int64_t>()[0] != batch) return mismatch();
  }
  for (const Tensor* t : in.dense) {
    if (t->dim(0) != batch) return mismatch();
  }
  return batch;
}

Column ragged_sparse_column(const Tensor& indices, const Tensor& values, int64_t batch) {
  Column column{&values, {0}, false};
  int64_t at = 0;
  for (int64_t b = 0; b < batch; ++b) {
    while (at < values.dim(0) && indices.data<int64_t>()[at * indices.dim(1)] <= b) ++at;
    column.splits.push_back(at);
  }
  return column;
}

Result<Columns> ragged_columns(const RaggedInputs& in, const std::string& order, int64_t batch) {
  Columns columns;
  size_t ragged = 0, sparse = 0, dense = 0;
  const auto missing = [&](const char* what, size_t at, size_t have, const char* things) {
    return invalid_argument("input_order \"", order, "\" specifies reading a ", what, " at index ", at, " from a list of ", have, " ", things, ".");
  };
  for (char kind : order) {
    if (kind == 'R') {
      if (ragged >= in.values.size()) return missing("ragged tensor value", ragged, in.values.size(), "values");
      columns.push_back({in.values[ragged], to_int64s(*in.splits[ragged]), false});
      ++ragged;
    } else if (kind == 'S') {
      if (sparse >= in.sparse_values.size()) return missing("sparse tensor value", sparse, in.sparse_values.size(), "values");
      columns.push_back(ragged_sparse_column(*in.sparse_indices[sparse], *in.sparse_values[sparse], batch));
      ++sparse;
    } else if (kind == 'D') {
      if (dense >= in.dense.size()) return missing("dense tensor", dense, in.dense.size(), "tensors");
      columns.push_back(dense_column(*in.dense[dense++]));
    } else {
      return invalid_argument("Unexpected input_order value.");
    }
  }
  return columns;
}

}  // namespace

Status run_ragged_cross(KernelContext& c) {
  const RaggedInputs in{c.input_list("ragged_values"), c.input_list("ragged_row_splits"), c.input_list("sparse_indices"),
                        c.input_list("sparse_values"), c.input_list("sparse_shape"),      c.input_list("dense_inputs")};
  const std::string& order = c.attr<std::string>("input_order");
  if (in.values.size() != in.splits.size()) return invalid_argument("ragged values and splits must have the same length");
  if (in.sparse_indices.size() != in.sparse_values.size()) return invalid_argument("sparse indices and values must have the same length");
  if (in.values.size() + in.sparse_values.size() + in.dense.size() != order.size()) return invalid_argument("Invalid length for input_order");
  WEFT_ASSIGN(int64_t batch, check_ragged_inputs(in));
  // As above: the batch size may be a mere number in a sparse shape.
  WEFT_RETURN_IF_ERROR(c.temp(DType::kInt64, Shape({batch, int64_t(order.size()) + 1})).status());
  WEFT_ASSIGN(Columns columns, ragged_columns(in, order, batch));
  std::vector<int64_t> splits = {0};
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t n = cross_count(columns, b);
    if (n < 0 || n > std::numeric_limits<int64_t>::max() - splits.back()) return invalid_argument("Invalid RaggedTensor");
    splits.push_back(splits.back() + n);
  }
  WEFT_ASSIGN(Tensor out_splits, from_int64s(splits, c.output_type(1)));
  c.set_output(1, std::move(out_splits));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape({splits.back()})));
  const uint64_t key = uint64_t(c.attr<int64_t>("hash_key"));
  const int64_t buckets = c.attr<int64_t>("num_buckets");
  const bool hashed = out->dtype() == DType::kInt64;
  c.pool().parallel_for(batch, 500.0 * double(columns.size()), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t start = splits[size_t(b)];
      each_cross(columns, b, splits[size_t(b) + 1] - start, [&](int64_t n, const std::vector<int64_t>& pick) {
        if (hashed) out->data<int64_t>()[start + n] = join_hash(columns, pick, key, buckets);
        else out->data<tstring>()[start + n].assign(join_text(columns, pick, "_X_"));
      });
    }
  });
  return {};
}

void sparse_cross(Registry& r) {
  r.add("SparseCross")
      .in("indices: N * int64")
      .in("values: sparse_types")
      .in("shapes: N * int64")
      .in("dense_inputs: dense_types")
      .out("output_indices: int64")
      .out("output_values: out_type")
      .out("output_shape: int64")
      .attr("N: int >= 0")
      .attr("hashed_output: bool")
      .attr("num_buckets: int >= 0")
      .attr("hash_key: int")
      .attr("sparse_types: list({int64, string}) >= 0")
      .attr("dense_types: list({int64, string}) >= 0")
      .attr("out_type: {int64, string}")
      .attr("internal_type: {int64, string}")
      .doc("Crosses the features of sparse and dense columns row by row, as strings joined with _X_ or as hashes.")
      .shape(cross_shape)
      .cpu(run_cross);

  r.add("SparseCrossHashed")
      .in("indices: N * int64")
      .in("values: sparse_types")
      .in("shapes: N * int64")
      .in("dense_inputs: dense_types")
      .in("num_buckets: int64")
      .in("strong_hash: bool")
      .in("salt: int64")
      .out("output_indices: int64")
      .out("output_values: int64")
      .out("output_shape: int64")
      .attr("N: int >= 0")
      .attr("sparse_types: list({int64, string}) >= 0")
      .attr("dense_types: list({int64, string}) >= 0")
      .doc("Crosses the features of sparse and dense columns row by row into hash buckets.")
      .shape(cross_shape)
      .cpu(run_cross_hashed);

  r.add("SparseCrossV2")
      .in("indices: N * int64")
      .in("values: sparse_types")
      .in("shapes: N * int64")
      .in("dense_inputs: dense_types")
      .in("sep: string")
      .out("output_indices: int64")
      .out("output_values: string")
      .out("output_shape: int64")
      .attr("N: int >= 0")
      .attr("sparse_types: list({int64, string}) >= 0")
      .attr("dense_types: list({int64, string}) >= 0")
      .doc("Crosses the features of sparse and dense columns row by row into strings with a given separator.")
      .shape(cross_shape)
      .cpu(run_cross_v2);
}

}  // namespace weft_engine::ops
