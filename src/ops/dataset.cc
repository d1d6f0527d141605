#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// A dataset is a scalar variant; the named arguments must be scalars.
Status dataset_of(ShapeContext& c, std::initializer_list<std::string_view> scalars) {
  for (std::string_view name : scalars) WEFT_RETURN_IF_ERROR(c.with_rank(c.node().input_range(name).begin, 0).status());
  return shapes::scalar(c);
}

// The components of an element, with the shapes that the attribute promises.
Status components(ShapeContext& c) {
  const auto& wanted = c.attr<std::vector<PartialShape>>("output_shapes");
  if (int(wanted.size()) != c.num_outputs())
    return invalid_argument("`output_shapes` must be the same length as `output_types` (", wanted.size(), " vs. ", c.num_outputs(), ")");
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, wanted[size_t(i)]);
  return {};
}

Status next_components(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  return components(c);
}

Status shard_components(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return components(c);
}

Status csv_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  for (std::string_view name : {"select_cols", "exclude_cols"}) WEFT_RETURN_IF_ERROR(c.with_rank(c.node().input_range(name).begin, 1).status());
  const auto defaults = c.node().input_range("record_defaults");
  for (int i = defaults.begin; i < defaults.end; ++i) WEFT_RETURN_IF_ERROR(c.with_rank_at_most(i, 1).status());
  return dataset_of(c, {"compression_type", "buffer_size", "header", "field_delim", "use_quote_delim", "na_value"});
}

Status records_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  return dataset_of(c, {"compression_type", "buffer_size"});
}

Status iterator_target_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  return c.with_rank(1, 0).status();
}

}  // namespace

void dataset(Registry& r) {
  r.add("AnonymousIteratorV3")
      .out("handle: resource")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("An iterator over datasets that lives as long as its handle.")
      .shape(shapes::scalar);

  r.add("AnonymousMultiDeviceIteratorV3")
      .out("handle: resource")
      .attr("devices: list(string) >= 1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("An iterator that feeds several devices and lives as long as its handle.")
      .shape(shapes::scalar);

  r.add("AutoShardDataset")
      .in("input_dataset: variant")
      .in("num_workers: int64")
      .in("index: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("auto_shard_policy: int = 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("num_replicas: int = 0")
      .doc("A dataset that gives one worker its share of the elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_workers", "index"}); });

  r.add("BatchDatasetV2")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("parallel_copy: bool = false")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that stacks elements into batches.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size", "drop_remainder"}); });

  r.add("CSVDatasetV2")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .in("header: bool")
      .in("field_delim: string")
      .in("use_quote_delim: bool")
      .in("na_value: string")
      .in("select_cols: int64")
      .in("record_defaults: output_types")
      .in("exclude_cols: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list({float, double, int32, int64, string}) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A dataset of the records of CSV files.")
      .shape(csv_shape);

  r.add("CacheDatasetV2")
      .in("input_dataset: variant")
      .in("filename: string")
      .in("cache: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset that keeps the elements of another in memory or in files.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"filename", "cache"}); });

  r.add("ConcatenateDataset")
      .in("input_dataset: variant")
      .in("another_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset with the elements of one dataset after those of another.")
      .shape(shapes::scalar);

  r.add("DatasetCardinality")
      .in("input_dataset: variant")
      .out("cardinality: int64")
      .attr("cardinality_options: string = ''")
      .doc("How many elements a dataset has, or a negative number for endless or unknown.")
      .shape(shapes::scalar);

  r.add("DeserializeIterator")
      .in("resource_handle: resource")
      .in("serialized: variant")
      .stateful()
      .doc("Sets an iterator to a state that SerializeIterator saved.")
      .shape(shapes::no_outputs);

  r.add("DummyMemoryCache")
      .out("handle: resource")
      .stateful()
      .doc("A handle to a cache that holds nothing.")
      .shape(shapes::scalar);

  r.add("DummySeedGenerator")
      .out("handle: resource")
      .stateful()
      .doc("A handle to a generator of seeds that is never asked.")
      .shape(shapes::scalar);

  r.add("FilterDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("predicate: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset with those elements for which a function gives true.")
      .shape(shapes::scalar);

  r.add("FlatMapDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that joins the datasets which a function makes of each element.")
      .shape(shapes::scalar);

  r.add("GeneratorDataset")
      .in("init_func_other_args: Tinit_func_args")
      .in("next_func_other_args: Tnext_func_args")
      .in("finalize_func_other_args: Tfinalize_func_args")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("init_func: func")
      .attr("next_func: func")
      .attr("finalize_func: func")
      .attr("Tinit_func_args: list(type) >= 0")
      .attr("Tnext_func_args: list(type) >= 0")
      .attr("Tfinalize_func_args: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset whose elements come from calls of a function, until it reports the end.")
      .shape(shapes::scalar);

  r.add("GetOptions")
      .in("input_dataset: variant")
      .out("serialized_options: string")
      .doc("The options of a dataset as a serialized message.")
      .shape(shapes::scalar);

  r.add("InterleaveDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that takes turns among the datasets which a function makes of each element.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"cycle_length", "block_length"}); });

  r.add("IteratorGetNext")
      .in("iterator: resource")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The next element of an iterator; fails at the end.")
      .shape(next_components);

  r.add("IteratorGetNextAsOptional")
      .in("iterator: resource")
      .out("optional: variant")
      .full_type("OPTIONAL(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The next element of an iterator as an optional, which is empty at the end.")
      .shape(shapes::scalar);

  r.add("MakeIterator")
      .in("dataset: variant")
      .in("iterator: resource")
      .stateful()
      .doc("Points an iterator at the start of a dataset.")
      .shape(iterator_target_shape);

  r.add("MapDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("preserve_cardinality: bool = false")
      .attr("force_synchronous: bool = false")
      .attr("metadata: string = ''")
      .doc("A dataset with a function applied to each element.")
      .shape(shapes::scalar);

  r.add("MultiDeviceIteratorFromStringHandle")
      .in("string_handle: string")
      .out("multi_device_iterator: resource")
      .attr("output_types: list(type) >= 0 = []")
      .attr("output_shapes: list(shape) >= 0 = []")
      .stateful()
      .doc("The multi-device iterator behind a string handle.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"string_handle"}); });

  r.add("MultiDeviceIteratorGetNextFromShard")
      .in("multi_device_iterator: resource")
      .in("shard_num: int32")
      .in("incarnation_id: int64")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The next element of one device's share of a multi-device iterator.")
      .shape(shard_components);

  r.add("MultiDeviceIteratorInit")
      .in("dataset: variant")
      .in("multi_device_iterator: resource")
      .in("max_buffer_size: int64")
      .out("incarnation_id: int64")
      .stateful()
      .doc("Points a multi-device iterator at a dataset and gives the number of this start.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"max_buffer_size"}); });

  r.add("MultiDeviceIteratorToStringHandle")
      .in("multi_device_iterator: resource")
      .out("string_handle: string")
      .stateful()
      .doc("A string that names a multi-device iterator.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"multi_device_iterator"}); });

  r.add("OptionsDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("serialized_options: string")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that carries options for those made from it.")
      .shape(shapes::scalar);

  r.add("PaddedBatchDatasetV2")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("padded_shapes: N * int64")
      .in("padding_values: Toutput_types")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("parallel_copy: bool = false")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that pads elements to one shape and stacks them into batches.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size", "drop_remainder"}); });

  r.add("ParallelInterleaveDatasetV4")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .in("buffer_output_elements: int64")
      .in("prefetch_input_elements: int64")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("deterministic: string = 'default'")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("As InterleaveDataset, with the inner datasets read in parallel.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"cycle_length", "block_length", "buffer_output_elements", "prefetch_input_elements", "num_parallel_calls"}); });

  r.add("ParallelMapDatasetV2")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("deterministic: string = 'default'")
      .attr("preserve_cardinality: bool = false")
      .attr("use_unbounded_threadpool: bool = false")
      .attr("metadata: string = ''")
      .doc("As MapDataset, with several calls of the function at once.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_parallel_calls"}); });

  r.add("PrefetchDataset")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("slack_period: int = 0")
      .attr("legacy_autotune: bool = true")
      .attr("buffer_size_min: int = 0")
      .attr("metadata: string = ''")
      .doc("A dataset that fetches elements ahead of their use.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"buffer_size"}); });

  r.add("RandomDataset")
      .in("seed: int64")
      .in("seed2: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of random numbers.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"seed", "seed2"}); });

  r.add("RangeDataset")
      .in("start: int64")
      .in("stop: int64")
      .in("step: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .attr("replicate_on_split: bool = false")
      .stateful()
      .doc("A dataset of the numbers from start to stop in steps.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"start", "stop", "step"}); });

  r.add("ReduceDataset")
      .in("input_dataset: variant")
      .in("initial_state: Tstate")
      .in("other_arguments: Targuments")
      .out("components: output_types")
      .attr("f: func")
      .attr("Tstate: list(type) >= 1")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("metadata: string = ''")
      .stateful()
      .doc("Folds the elements of a dataset into a state with a function.")
      .shape(components);

  r.add("RepeatDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that gives its elements several times over.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"count"}); });

  r.add("ScanDataset")
      .in("input_dataset: variant")
      .in("initial_state: Tstate")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Tstate: list(type) >= 1")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("preserve_cardinality: bool = false")
      .attr("use_default_device: bool = true")
      .attr("metadata: string = ''")
      .doc("A dataset with a function applied to each element and a state that it carries along.")
      .shape(shapes::scalar);

  r.add("SerializeIterator")
      .in("resource_handle: resource")
      .out("serialized: variant")
      .attr("external_state_policy: int = 0")
      .stateful()
      .doc("The state of an iterator as a variant.")
      .shape(shapes::scalar);

  r.add("ShuffleDatasetV3")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .in("seed: int64")
      .in("seed2: int64")
      .in("seed_generator: resource")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("reshuffle_each_iteration: bool = true")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset that draws its elements at random from a buffer.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"buffer_size", "seed", "seed2", "seed_generator"}); });

  r.add("SkipDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset without its first elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"count"}); });

  r.add("TFRecordDataset")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of the records of TFRecord files.")
      .shape(records_shape);

  r.add("TFRecordDatasetV2")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .in("byte_offsets: int64")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of the records of TFRecord files from given offsets on.")
      .shape(records_shape);

  r.add("TakeDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of the first elements of another.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"count"}); });

  r.add("TensorDataset")
      .in("components: Toutput_types")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of a single element.")
      .shape(shapes::scalar);

  r.add("TensorSliceDataset")
      .in("components: Toutput_types")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("is_files: bool = false")
      .attr("metadata: string = ''")
      .attr("replicate_on_split: bool = false")
      .stateful()
      .doc("A dataset of the rows of tensors.")
      .shape(shapes::scalar);

  r.add("UnbatchDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of the rows of the elements of another.")
      .shape(shapes::scalar);

  r.add("WindowDataset")
      .in("input_dataset: variant")
      .in("size: int64")
      .in("shift: int64")
      .in("stride: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of datasets, each a window of elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"size", "shift", "stride", "drop_remainder"}); });

  r.add("ZipDataset")
      .in("input_datasets: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of the elements of several datasets side by side.")
      .shape(shapes::scalar);
}

}  // namespace weft::ops
