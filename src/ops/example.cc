// Batches of tf.Example into sparse, dense and ragged tensors.
#include <algorithm>
#include <unordered_map>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/example_columns.h"
#include "wire/example.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using wire::Feature;

// One wanted feature and what has been read of it.
struct Wanted {
  enum Kind { kSparse, kDense, kRagged };
  Kind kind;
  size_t index;  // among those of its kind
  Column column;
  PartialShape shape = {};            // dense
  const Tensor* fallback = nullptr;   // dense: the default, or the padding of a variable length
  bool variable() const { return shape.rank() > 0 && shape.dim(0) < 0; }
  // Elements of one row, or of one step where the length is variable.
  int64_t stride() const {
    int64_t n = 1;
    for (int d = variable() ? 1 : 0; d < shape.rank(); ++d) n = multiply_without_overflow(n, shape.dim(d));
    return n;
  }
};

struct Parser {
  bool batched = true;
  std::vector<std::string_view> serialized, names;
  std::vector<Wanted> wanted;
  std::unordered_map<std::string_view, std::vector<size_t>> by_key;

  void want(std::string_view key, Wanted w) {
    by_key[key].push_back(wanted.size());
    w.column.key = key;
    wanted.push_back(std::move(w));
  }
  Status run(KernelContext& c);

 private:
  std::string_view name(size_t i) const { return names.empty() ? "<unknown>" : names[i]; }
  // The start of an error about one feature of one example.
  std::string at(size_t i, std::string_view key) const {
    return batched ? cat("Name: ", name(i), ", Key: ", key, ", Index: ", i, ".  ") : cat("Key: ", key, ".  ");
  }
  Status take(size_t i, const Feature& feature, Wanted& w);
  Status read(size_t i);
  Status emit_dense(KernelContext& c, const Wanted& w, int output) const;
};

Status Parser::take(size_t i, const Feature& feature, Wanted& w) {
  FeatureValues& values = w.column.values;
  if (feature.kind == wire::FeatureKind::kUnsupported) return invalid_argument("Unsupported datatype.");
  if (feature.dtype() != values.dtype()) {
    const std::string got = dtype_name(feature.dtype()), expected = dtype_name(values.dtype());
    if (w.kind == Wanted::kDense) return invalid_argument(at(i, w.column.key), "Data types don't match. Data type: ", got, " but expected type: ", expected);
    return invalid_argument(at(i, w.column.key), "Data types don't match. Expected type: ", expected, ", Actual type: ", got);
  }
  const int64_t before = values.size();
  if (!values.append(feature)) return invalid_argument(at(i, w.column.key), "Can't parse serialized Example.");
  const int64_t n = values.size() - before;
  if (w.kind == Wanted::kDense && !w.variable() && n != w.stride())
    return invalid_argument(at(i, w.column.key), "Number of ", dtype_name(values.dtype()), " values != expected.  Values size: ", n,
                            " but output shape: ", w.shape);
  if (w.kind == Wanted::kDense && w.variable() && n % w.stride() != 0)
    return invalid_argument(at(i, w.column.key), "Number of ", dtype_name(values.dtype()),
                            " values is not a multiple of stride length. Saw ", n, " values but output shape is: ", w.shape);
  w.column.present.back() = true;
  return {};
}

Status Parser::read(size_t i) {
  wire::FeatureMap features;
  if (!wire::read_example(serialized[i], features)) return invalid_argument("Could not parse example input, value: '", serialized[i], "'");
  for (Wanted& w : wanted) w.column.present.push_back(false);
  // Backwards: of features with one name, the last counts.
  for (size_t k = features.size(); k-- > 0;) {
    const auto found = by_key.find(features[k].first);
    if (found == by_key.end() || !features[k].second.present()) continue;
    for (size_t id : found->second)
      if (!wanted[id].column.present.back()) WEFT_RETURN_IF_ERROR(take(i, features[k].second, wanted[id]));
  }
  for (Wanted& w : wanted) {
    w.column.ends.push_back(w.column.values.size());
    if (w.kind == Wanted::kDense && !w.variable() && !w.column.present.back() && w.fallback->num_elements() == 0)
      return invalid_argument(batched ? cat("Name: ", name(i), ", ") : std::string(), "Feature: ", w.column.key, " (data type: ",
                              dtype_name(w.column.values.dtype()), ") is required but could not be found.");
  }
  return {};
}

Status Parser::emit_dense(KernelContext& c, const Wanted& w, int output) const {
  const auto batch = int64_t(serialized.size());
  Shape shape;
  if (batched) shape.add_dim(batch);
  int64_t steps = 1;
  if (w.variable()) {
    steps = w.column.longest() / w.stride();
    shape.add_dim(steps);
  }
  for (int d = w.variable() ? 1 : 0; d < w.shape.rank(); ++d) shape.add_dim(w.shape.dim(d));
  WEFT_ASSIGN(Tensor* out, c.allocate(output, shape));
  const int64_t row = steps * w.stride();
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t n = w.column.count(i);
    w.column.values.copy_to(w.column.begin(i), n, *out, i * row);
    if (w.variable()) {
      for (int64_t k = n; k < row; ++k) copy_elements(*w.fallback, 0, *out, i * row + k, 1);
    } else if (!w.column.present[size_t(i)]) {
      copy_elements(*w.fallback, 0, *out, i * row, row);
    }
  }
  return {};
}

Status Parser::run(KernelContext& c) {
  for (size_t i = 0; i < serialized.size(); ++i) WEFT_RETURN_IF_ERROR(read(i));
  auto first = [&](std::string_view name) { return c.output_range(name).begin; };
  for (const Wanted& w : wanted) {
    const int k = int(w.index);
    switch (w.kind) {
      case Wanted::kSparse:
        WEFT_RETURN_IF_ERROR(w.column.emit_sparse(c, batched, first("sparse_indices") + k, first("sparse_values") + k, first("sparse_shapes") + k));
        break;
      case Wanted::kDense: WEFT_RETURN_IF_ERROR(emit_dense(c, w, first("dense_values") + k)); break;
      case Wanted::kRagged: {
        const int splits = first("ragged_row_splits") + k;
        WEFT_RETURN_IF_ERROR(w.column.emit_values(c, first("ragged_values") + k));
        // For a single example TensorFlow leaves the splits empty.
        WEFT_RETURN_IF_ERROR(batched ? w.column.emit_splits(c, splits) : c.allocate(splits, Shape({0})).status());
        break;
      }
    }
  }
  return {};
}

Status check_default(const Wanted& w) {
  const Tensor& d = *w.fallback;
  if (!w.shape.has_rank() || std::any_of(w.shape.dims().begin() + (w.variable() ? 1 : 0), w.shape.dims().end(), [](int64_t x) { return x < 0; }))
    return invalid_argument("dense_shapes[", w.index, "] has unknown rank or unknown inner dimensions: ", w.shape);
  if (w.variable()) {
    if (d.num_elements() != 1)
      return invalid_argument("dense_shape[", w.index, "] is a variable length shape: ", w.shape, ", therefore def_value[", w.index,
                              "] must contain a single element (the padding element).  But its shape is: ", d.shape());
    if (w.stride() <= 0) return invalid_argument("dense_shapes[", w.index, "] has steps without elements: ", w.shape);
  } else if (d.num_elements() > 0 && !w.shape.compatible_with(d.shape())) {
    return invalid_argument("def_value[", w.index, "].shape() == ", d.shape(), " is not compatible with dense_shapes_[", w.index, "] == ", w.shape);
  }
  if (!w.variable() && w.stride() < 0) return invalid_argument("dense_shapes[", w.index, "] is too large: ", w.shape);
  return {};
}

Status want_dense(Parser& p, std::string_view key, size_t k, const NodeInfo& node, const Tensor& fallback) {
  const auto& shapes = node.attr<std::vector<PartialShape>>("dense_shapes");
  if (k >= shapes.size()) return invalid_argument("len(dense_keys) != len(dense_shapes)");
  Wanted w{.kind = Wanted::kDense, .index = k, .column = Column(fallback.dtype()), .shape = shapes[k], .fallback = &fallback};
  WEFT_RETURN_IF_ERROR(check_default(w));
  p.want(key, std::move(w));
  return {};
}

Status read_serialized(Parser& p, KernelContext& c, bool scalar_allowed, bool vector_allowed) {
  const Tensor& t = c.input(0);
  if (t.rank() > (vector_allowed ? 1 : 0) || (t.rank() == 0 && !scalar_allowed))
    return invalid_argument("Expected serialized to be a ", scalar_allowed ? "scalar" : "", scalar_allowed && vector_allowed ? " or " : "",
                            vector_allowed ? "vector" : "", ", got shape: ", t.shape());
  p.batched = t.rank() == 1;
  for (const tstring& s : t.span<tstring>()) p.serialized.push_back(s.view());
  return {};
}

Status read_names(Parser& p, const Tensor& names, const Tensor& serialized) {
  if (names.num_elements() == 0) return {};
  if (names.shape() != serialized.shape())
    return invalid_argument("Expected names have the same shape as serialized: name.shape=", names.shape(), ", serialized.shape=", serialized.shape());
  for (const tstring& s : names.span<tstring>()) p.names.push_back(s.view());
  return {};
}

Status run_parse_example(KernelContext& c) {
  Parser p;
  WEFT_RETURN_IF_ERROR(read_serialized(p, c, false, true));
  WEFT_RETURN_IF_ERROR(read_names(p, c.input(1), c.input(0)));
  const auto dense_keys = c.input_list("dense_keys"), sparse_keys = c.input_list("sparse_keys"), defaults = c.input_list("dense_defaults");
  const auto& sparse_types = c.attr<std::vector<DType>>("sparse_types");
  if (sparse_types.size() != sparse_keys.size()) return invalid_argument("len(sparse_keys) != len(sparse_types)");
  if (defaults.size() != dense_keys.size()) return invalid_argument("len(dense_keys) != len(dense_defaults)");
  for (size_t k = 0; k < dense_keys.size(); ++k) {
    WEFT_ASSIGN(std::string_view key, scalar_key(*dense_keys[k], "dense_keys", k));
    WEFT_RETURN_IF_ERROR(want_dense(p, key, k, c.node(), *defaults[k]));
  }
  for (size_t k = 0; k < sparse_keys.size(); ++k) {
    WEFT_ASSIGN(std::string_view key, scalar_key(*sparse_keys[k], "sparse_keys", k));
    p.want(key, {.kind = Wanted::kSparse, .index = k, .column = Column(sparse_types[k])});
  }
  return p.run(c);
}

Status run_parse_example_v2(KernelContext& c) {
  Parser p;
  WEFT_RETURN_IF_ERROR(read_serialized(p, c, true, true));
  WEFT_RETURN_IF_ERROR(read_names(p, c.input("names"), c.input(0)));
  const auto defaults = c.input_list("dense_defaults");
  const auto &sparse_types = c.attr<std::vector<DType>>("sparse_types"), &ragged_types = c.attr<std::vector<DType>>("ragged_value_types"),
             &split_types = c.attr<std::vector<DType>>("ragged_split_types");
  WEFT_ASSIGN(auto dense_keys, vector_keys(c.input("dense_keys"), "dense_keys", defaults.size()));
  WEFT_ASSIGN(auto sparse_keys, vector_keys(c.input("sparse_keys"), "sparse_keys", sparse_types.size()));
  WEFT_ASSIGN(auto ragged_keys, vector_keys(c.input("ragged_keys"), "ragged_keys", ragged_types.size()));
  if (split_types.size() != ragged_types.size()) return invalid_argument("len(ragged_value_types) != len(ragged_split_types)");
  if (int64_t(sparse_types.size()) != c.attr<int64_t>("num_sparse")) return invalid_argument("len(sparse_keys) != len(sparse_types)");
  for (size_t k = 0; k < dense_keys.size(); ++k) WEFT_RETURN_IF_ERROR(want_dense(p, dense_keys[k], k, c.node(), *defaults[k]));
  for (size_t k = 0; k < sparse_keys.size(); ++k) p.want(sparse_keys[k], {.kind = Wanted::kSparse, .index = k, .column = Column(sparse_types[k])});
  for (size_t k = 0; k < ragged_keys.size(); ++k) p.want(ragged_keys[k], {.kind = Wanted::kRagged, .index = k, .column = Column(ragged_types[k])});
  return p.run(c);
}

Status run_parse_single_example(KernelContext& c) {
  Parser p;
  WEFT_RETURN_IF_ERROR(read_serialized(p, c, true, false));
  const auto defaults = c.input_list("dense_defaults");
  const auto &sparse_keys = c.attr<std::vector<std::string>>("sparse_keys"), &dense_keys = c.attr<std::vector<std::string>>("dense_keys");
  const auto& sparse_types = c.attr<std::vector<DType>>("sparse_types");
  if (defaults.size() != dense_keys.size()) return invalid_argument("len(dense_keys) != len(dense_types)");
  if (sparse_types.size() != sparse_keys.size() || int64_t(sparse_keys.size()) != c.attr<int64_t>("num_sparse"))
    return invalid_argument("len(sparse_keys) != len(sparse_types)");
  for (size_t k = 0; k < dense_keys.size(); ++k) WEFT_RETURN_IF_ERROR(want_dense(p, dense_keys[k], k, c.node(), *defaults[k]));
  for (size_t k = 0; k < sparse_keys.size(); ++k) p.want(sparse_keys[k], {.kind = Wanted::kSparse, .index = k, .column = Column(sparse_types[k])});
  return p.run(c);
}

// Outputs of all three ops, by the rank of `serialized`.
Status parse_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  auto each = [&](std::string_view name, auto shape_of) {
    const auto range = c.node().output_range(name);
    for (int i = range.begin; i < range.end; ++i) c.output(i, shape_of(size_t(i - range.begin)));
  };
  const int64_t columns = in.has_rank() ? in.rank() + 1 : kUnknownDim;
  each("sparse_indices", [&](size_t) { return PartialShape::matrix(kUnknownDim, columns); });
  each("sparse_values", [](size_t) { return PartialShape::vector(kUnknownDim); });
  each("sparse_shapes", [&](size_t) { return PartialShape::vector(columns); });
  const auto& dense = c.attr<std::vector<PartialShape>>("dense_shapes");
  Status bad;
  each("dense_values", [&](size_t k) -> PartialShape {
    if (k >= dense.size()) {
      bad = invalid_argument("len(dense_keys) != len(dense_shapes)");
      return {};
    }
    for (int d = 1; d < dense[k].rank(); ++d)
      if (dense[k].dim(d) < 0) bad = invalid_argument("dense_shapes[", k, "] has unknown rank or unknown inner dimensions: ", dense[k]);
    if (!dense[k].has_rank()) bad = invalid_argument("dense_shapes[", k, "] has unknown rank or unknown inner dimensions: ", dense[k]);
    return in.has_rank() ? in.concat(dense[k]) : PartialShape();
  });
  if (c.node().op() == "ParseExampleV2") {
    each("ragged_values", [](size_t) { return PartialShape::vector(kUnknownDim); });
    const auto n = in.num_elements();
    each("ragged_row_splits", [&](size_t) {
      return PartialShape::vector(in.rank() == 0 ? 0 : in.has_rank() && n ? *n + 1 : kUnknownDim);
    });
  }
  return bad;
}

Status parse_example_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  return parse_shape(c);
}
Status parse_example_v2_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  return parse_shape(c);
}
Status parse_single_example_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  return parse_shape(c);
}

}  // namespace

void example(Registry& r) {
  r.add("ParseExample")
      .doc("Tensors from a batch of serialized tf.Example.")
      .in("serialized: string")
      .in("names: string")
      .in("sparse_keys: Nsparse * string")
      .in("dense_keys: Ndense * string")
      .in("dense_defaults: Tdense")
      .out("sparse_indices: Nsparse * int64")
      .out("sparse_values: sparse_types")
      .out("sparse_shapes: Nsparse * int64")
      .out("dense_values: Tdense")
      .attr("Nsparse: int >= 0")
      .attr("Ndense: int >= 0")
      .attr("sparse_types: list({float, int64, string}) >= 0")
      .attr("Tdense: list({float, int64, string}) >= 0")
      .attr("dense_shapes: list(shape) >= 0")
      .shape(parse_example_shape)
      .cpu(run_parse_example);

  r.add("ParseExampleV2")
      .doc("Tensors, ragged ones too, from one serialized tf.Example or a batch of them.")
      .in("serialized: string")
      .in("names: string")
      .in("sparse_keys: string")
      .in("dense_keys: string")
      .in("ragged_keys: string")
      .in("dense_defaults: Tdense")
      .out("sparse_indices: num_sparse * int64")
      .out("sparse_values: sparse_types")
      .out("sparse_shapes: num_sparse * int64")
      .out("dense_values: Tdense")
      .out("ragged_values: ragged_value_types")
      .out("ragged_row_splits: ragged_split_types")
      .attr("Tdense: list({float, int64, string}) >= 0")
      .attr("num_sparse: int >= 0")
      .attr("sparse_types: list({float, int64, string}) >= 0")
      .attr("ragged_value_types: list({float, int64, string}) >= 0")
      .attr("ragged_split_types: list({int32, int64}) >= 0")
      .attr("dense_shapes: list(shape) >= 0")
      .shape(parse_example_v2_shape)
      .cpu(run_parse_example_v2);

  r.add("ParseSingleExample")
      .doc("Tensors from one serialized tf.Example.")
      .in("serialized: string")
      .in("dense_defaults: Tdense")
      .out("sparse_indices: num_sparse * int64")
      .out("sparse_values: sparse_types")
      .out("sparse_shapes: num_sparse * int64")
      .out("dense_values: Tdense")
      .attr("num_sparse: int >= 0")
      .attr("sparse_keys: list(string) >= 0")
      .attr("dense_keys: list(string) >= 0")
      .attr("sparse_types: list({float, int64, string}) >= 0")
      .attr("Tdense: list({float, int64, string}) >= 0")
      .attr("dense_shapes: list(shape) >= 0")
      .shape(parse_single_example_shape)
      .cpu(run_parse_single_example);
}

}  // namespace weft::ops
