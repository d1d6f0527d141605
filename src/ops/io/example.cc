// Batches of tf.Example into sparse, dense and ragged tensors.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/io/example_parser.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using Wanted = WantedFeature;

// Reads the examples and gives the outputs of all three ops.
Status run(ExampleParser& p, KernelContext& c) {
  WEFT_RETURN_IF_ERROR(p.parse());
  auto first = [&](std::string_view name) { return c.output_range(name).begin; };
  for (const Wanted& w : p.wanted) {
    const int k = int(w.index);
    switch (w.kind) {
      case Wanted::kSparse:
        WEFT_RETURN_IF_ERROR(w.column.emit_sparse(c, p.batched, first("sparse_indices") + k, first("sparse_values") + k, first("sparse_shapes") + k));
        break;
      case Wanted::kDense: {
        WEFT_ASSIGN(Tensor dense, p.dense(w));
        c.set_output(first("dense_values") + k, std::move(dense));
        break;
      }
      case Wanted::kRagged: {
        const int splits = first("ragged_row_splits") + k;
        WEFT_RETURN_IF_ERROR(w.column.emit_values(c, first("ragged_values") + k));
        // For a single example TensorFlow leaves the splits empty.
        WEFT_RETURN_IF_ERROR(p.batched ? w.column.emit_splits(c, splits) : c.allocate(splits, Shape({0})).status());
        break;
      }
    }
  }
  return {};
}

Status want_dense(ExampleParser& p, std::string_view key, size_t k, const NodeInfo& node, const Tensor& fallback) {
  return p.want_dense(key, k, node.attr<std::vector<PartialShape>>("dense_shapes"), fallback);
}

Status read_serialized(ExampleParser& p, KernelContext& c, bool scalar_allowed, bool vector_allowed) {
  const Tensor& t = c.input(0);
  if (t.rank() > (vector_allowed ? 1 : 0) || (t.rank() == 0 && !scalar_allowed))
    return invalid_argument("Expected serialized to be a ", scalar_allowed ? "scalar" : "", scalar_allowed && vector_allowed ? " or " : "",
                            vector_allowed ? "vector" : "", ", got shape: ", t.shape());
  p.batched = t.rank() == 1;
  for (const tstring& s : t.span<tstring>()) p.serialized.push_back(s.view());
  return {};
}

Status read_names(ExampleParser& p, const Tensor& names, const Tensor& serialized) {
  if (names.num_elements() == 0) return {};
  if (names.shape() != serialized.shape())
    return invalid_argument("Expected names have the same shape as serialized: name.shape=", names.shape(),
                            ", serialized.shape=", serialized.shape());
  for (const tstring& s : names.span<tstring>()) p.names.push_back(s.view());
  return {};
}

Status run_parse_example(KernelContext& c) {
  ExampleParser p;
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
  return run(p, c);
}

Status run_parse_example_v2(KernelContext& c) {
  ExampleParser p;
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
  return run(p, c);
}

Status run_parse_single_example(KernelContext& c) {
  ExampleParser p;
  WEFT_RETURN_IF_ERROR(read_serialized(p, c, true, false));
  const auto defaults = c.input_list("dense_defaults");
  const auto &sparse_keys = c.attr<std::vector<std::string>>("sparse_keys"), &dense_keys = c.attr<std::vector<std::string>>("dense_keys");
  const auto& sparse_types = c.attr<std::vector<DType>>("sparse_types");
  if (defaults.size() != dense_keys.size()) return invalid_argument("len(dense_keys) != len(dense_types)");
  if (sparse_types.size() != sparse_keys.size() || int64_t(sparse_keys.size()) != c.attr<int64_t>("num_sparse"))
    return invalid_argument("len(sparse_keys) != len(sparse_types)");
  for (size_t k = 0; k < dense_keys.size(); ++k) WEFT_RETURN_IF_ERROR(want_dense(p, dense_keys[k], k, c.node(), *defaults[k]));
  for (size_t k = 0; k < sparse_keys.size(); ++k) p.want(sparse_keys[k], {.kind = Wanted::kSparse, .index = k, .column = Column(sparse_types[k])});
  return run(p, c);
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
    each("ragged_row_splits", [&](size_t) { return PartialShape::vector(in.rank() == 0 ? 0 : in.has_rank() && n ? *n + 1 : kUnknownDim); });
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

}  // namespace weft_engine::ops
