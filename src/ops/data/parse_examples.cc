// Datasets of batches of serialized tf.Example, as tensors by the names of their features.
#include <map>

#include "op/ragged_variant.h"
#include "op/registry.h"
#include "op/tensor_variant.h"
#include "ops/data/dataset.h"
#include "ops/io/example_parser.h"

namespace weft_engine::ops::data {

namespace {

struct ParseSpec {
  std::vector<std::string> dense_keys, sparse_keys, ragged_keys;
  std::vector<PartialShape> dense_shapes;
  Element dense_defaults;
  std::vector<DType> sparse_types, ragged_value_types, ragged_split_types;
  std::map<std::string, size_t> outputs;  // components are in the order of the names
};

class ParseExampleDataset final : public UnaryDataset {
 public:
  ParseExampleDataset(std::string_view kind, const DatasetPtr& input, ParseSpec spec, const std::vector<DType>& types,
                      const std::vector<PartialShape>& shapes)
      : UnaryDataset(kind, input, types, shapes), spec_(std::move(spec)) {}

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<ParseExampleDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      Element batch;
      WEFT_RETURN_IF_ERROR(pull(c, batch, end));
      return end ? Status() : d().parse(batch, out);
    }
  };

  Status parse(const Element& batch, Element& out) const {
    ExampleParser p;
    for (const Tensor& t : batch) {
      if (t.dtype() != DType::kString) return invalid_argument("Expected a dataset of strings, got a component of type ", dtype_name(t.dtype()), ".");
      for (const tstring& s : t.span<tstring>()) p.serialized.push_back(s.view());
    }
    for (size_t k = 0; k < spec_.dense_keys.size(); ++k)
      WEFT_RETURN_IF_ERROR(p.want_dense(spec_.dense_keys[k], k, spec_.dense_shapes, spec_.dense_defaults[k]));
    for (size_t k = 0; k < spec_.sparse_keys.size(); ++k)
      p.want(spec_.sparse_keys[k], {.kind = WantedFeature::kSparse, .index = k, .column = Column(spec_.sparse_types[k])});
    for (size_t k = 0; k < spec_.ragged_keys.size(); ++k)
      p.want(spec_.ragged_keys[k], {.kind = WantedFeature::kRagged, .index = k, .column = Column(spec_.ragged_value_types[k])});
    WEFT_RETURN_IF_ERROR(p.parse());
    out.resize(spec_.outputs.size());
    for (const WantedFeature& w : p.wanted) {
      WEFT_ASSIGN(Tensor t, component(p, w));
      out[spec_.outputs.at(std::string(w.column.key))] = std::move(t);
    }
    return verify_element(types(), shapes(), out);
  }

  Result<Tensor> component(const ExampleParser& p, const WantedFeature& w) const {
    if (w.kind == WantedFeature::kDense) return p.dense(w);
    WEFT_ASSIGN(Tensor values, w.column.values_tensor());
    if (w.kind == WantedFeature::kRagged) {
      auto ragged = std::make_shared<RaggedTensorVariant>();
      WEFT_ASSIGN(Tensor splits, w.column.splits_tensor(spec_.ragged_split_types[w.index]));
      ragged->splits.push_back(std::move(splits));
      ragged->values = std::move(values);
      return Tensor::scalar(Variant(std::move(ragged)));
    }
    WEFT_ASSIGN(Tensor indices, w.column.indices_tensor(true));
    WEFT_ASSIGN(Tensor shape, w.column.shape_tensor(true));
    WEFT_ASSIGN(Tensor sparse, Tensor::allocate(DType::kVariant, Shape({3})));
    sparse.data<Variant>()[0] = wrap_tensor(std::move(indices));
    sparse.data<Variant>()[1] = wrap_tensor(std::move(values));
    sparse.data<Variant>()[2] = wrap_tensor(std::move(shape));
    return sparse;
  }
  const ParseSpec spec_;
};

template <bool kRagged>
Result<ParseSpec> read_spec(const KernelContext& c) {
  ParseSpec spec;
  spec.dense_keys = c.attr<std::vector<std::string>>("dense_keys");
  spec.sparse_keys = c.attr<std::vector<std::string>>("sparse_keys");
  spec.dense_shapes = c.attr<std::vector<PartialShape>>("dense_shapes");
  spec.sparse_types = c.attr<std::vector<DType>>("sparse_types");
  spec.dense_defaults = inputs_of(c, "dense_defaults");
  if constexpr (kRagged) {
    spec.ragged_keys = c.attr<std::vector<std::string>>("ragged_keys");
    spec.ragged_value_types = c.attr<std::vector<DType>>("ragged_value_types");
    spec.ragged_split_types = c.attr<std::vector<DType>>("ragged_split_types");
  }
  if (spec.dense_defaults.size() != spec.dense_keys.size())
    return invalid_argument("Expected len(dense_defaults) == len(dense_keys) but got: ", spec.dense_defaults.size(), " vs. ", spec.dense_keys.size());
  if (spec.sparse_types.size() != spec.sparse_keys.size()) return invalid_argument("len(sparse_keys) != len(sparse_types)");
  if (spec.ragged_value_types.size() != spec.ragged_keys.size()) return invalid_argument("len(ragged_keys) != len(ragged_value_types)");
  if (spec.ragged_split_types.size() != spec.ragged_keys.size()) return invalid_argument("len(ragged_keys) != len(ragged_split_types)");
  ExampleParser check;
  for (size_t k = 0; k < spec.dense_keys.size(); ++k)
    WEFT_RETURN_IF_ERROR(check.want_dense(spec.dense_keys[k], k, spec.dense_shapes, spec.dense_defaults[k]));
  for (const auto* keys : {&spec.dense_keys, &spec.sparse_keys, &spec.ragged_keys}) {
    for (const std::string& key : *keys) {
      if (!spec.outputs.emplace(key, 0).second) return invalid_argument("Duplicate key not allowed: ", key);
    }
  }
  size_t i = 0;
  for (auto& output : spec.outputs) output.second = i++;
  return spec;
}

template <bool kRagged>
Status make_parse_example(KernelContext& c, std::string_view kind) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t calls, scalar_input<int64_t>(c, "num_parallel_calls"));
  if (calls <= 0 && calls != -1) return invalid_argument("num_parallel_calls must be greater than zero.");
  WEFT_ASSIGN(ParseSpec spec, read_spec<kRagged>(c));
  return emit(c, std::make_shared<ParseExampleDataset>(kind, input, std::move(spec), attr_types(c), attr_shapes(c)));
}

Status run_first(KernelContext& c) { return make_parse_example<false>(c, "ParseExample"); }
Status run_parse_example(KernelContext& c) { return make_parse_example<true>(c, "ParseExample"); }
Status run_parse_example_v2(KernelContext& c) {
  const std::string& deterministic = c.attr<std::string>("deterministic");
  if (deterministic != "true" && deterministic != "false" && deterministic != "default")
    return invalid_argument("Unrecognized value for DeterminismPolicy: ", deterministic);
  return make_parse_example<true>(c, "ParseExampleV2");
}

}  // namespace

void parse_examples(Registry& r) {
  r.add("ParseExampleDatasetV2")
      .in("input_dataset: variant")
      .in("num_parallel_calls: int64")
      .in("dense_defaults: Tdense")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("sparse_keys: list(string) >= 0")
      .attr("dense_keys: list(string) >= 0")
      .attr("sparse_types: list({float, int64, string}) >= 0")
      .attr("Tdense: list({float, int64, string}) >= 0")
      .attr("dense_shapes: list(shape) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("deterministic: string = 'default'")
      .attr("ragged_keys: list(string) >= 0 = []")
      .attr("ragged_value_types: list({float, int64, string}) >= 0 = []")
      .attr("ragged_split_types: list({int32, int64}) >= 0 = []")
      .doc("A dataset that parses batches of serialized tf.Example.")
      .shape([](ShapeContext& c) { return dataset_of(c, {}); })
      .cpu(run_parse_example_v2);

  r.add("ParseExampleDataset")
      .in("input_dataset: variant")
      .in("num_parallel_calls: int64")
      .in("dense_defaults: Tdense")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("sparse_keys: list(string) >= 0")
      .attr("dense_keys: list(string) >= 0")
      .attr("sparse_types: list({float, int64, string}) >= 0")
      .attr("Tdense: list({float, int64, string}) >= 0")
      .attr("dense_shapes: list(shape) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("sloppy: bool = false")
      .attr("ragged_keys: list(string) >= 0 = []")
      .attr("ragged_value_types: list({float, int64, string}) >= 0 = []")
      .attr("ragged_split_types: list({int32, int64}) >= 0 = []")
      .doc("The first version of ParseExampleDatasetV2.")
      .shape([](ShapeContext& c) { return dataset_of(c, {}); })
      .cpu(run_parse_example);

  r.add("ExperimentalParseExampleDataset")
      .in("input_dataset: variant")
      .in("num_parallel_calls: int64")
      .in("dense_defaults: Tdense")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("sparse_keys: list(string) >= 0")
      .attr("dense_keys: list(string) >= 0")
      .attr("sparse_types: list({float, int64, string}) >= 0")
      .attr("Tdense: list({float, int64, string}) >= 0")
      .attr("dense_shapes: list(shape) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("sloppy: bool = false")
      .doc("The former name of ParseExampleDataset, without ragged features.")
      .shape([](ShapeContext& c) { return dataset_of(c, {}); })
      .cpu(run_first);
}

}  // namespace weft_engine::ops::data
