#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void dataset(Registry& r) {
  r.add("AnonymousIteratorV3")
      .out("handle: resource")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful();

  r.add("AnonymousMultiDeviceIteratorV3")
      .out("handle: resource")
      .attr("devices: list(string) >= 1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful();

  r.add("AutoShardDataset")
      .in("input_dataset: variant")
      .in("num_workers: int64")
      .in("index: int64")
      .out("handle: variant")
      .attr("auto_shard_policy: int = 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("num_replicas: int = 0");

  r.add("BatchDatasetV2")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .attr("parallel_copy: bool = false")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

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
      .attr("output_types: list({float, double, int32, int64, string}) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful();

  r.add("CacheDatasetV2")
      .in("input_dataset: variant")
      .in("filename: string")
      .in("cache: resource")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful();

  r.add("ConcatenateDataset")
      .in("input_dataset: variant")
      .in("another_dataset: variant")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("DatasetCardinality")
      .in("input_dataset: variant")
      .out("cardinality: int64")
      .attr("cardinality_options: string = ''");

  r.add("DeserializeIterator")
      .in("resource_handle: resource")
      .in("serialized: variant")
      .stateful();

  r.add("DummyMemoryCache")
      .out("handle: resource")
      .stateful();

  r.add("DummySeedGenerator")
      .out("handle: resource")
      .stateful();

  r.add("FilterDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .attr("predicate: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("FlatMapDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("GeneratorDataset")
      .in("init_func_other_args: Tinit_func_args")
      .in("next_func_other_args: Tnext_func_args")
      .in("finalize_func_other_args: Tfinalize_func_args")
      .out("handle: variant")
      .attr("init_func: func")
      .attr("next_func: func")
      .attr("finalize_func: func")
      .attr("Tinit_func_args: list(type) >= 0")
      .attr("Tnext_func_args: list(type) >= 0")
      .attr("Tfinalize_func_args: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful();

  r.add("GetOptions")
      .in("input_dataset: variant")
      .out("serialized_options: string");

  r.add("InterleaveDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .out("handle: variant")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("IteratorGetNext")
      .in("iterator: resource")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful();

  r.add("IteratorGetNextAsOptional")
      .in("iterator: resource")
      .out("optional: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful();

  r.add("MakeIterator")
      .in("dataset: variant")
      .in("iterator: resource")
      .stateful();

  r.add("MapDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("preserve_cardinality: bool = false")
      .attr("force_synchronous: bool = false")
      .attr("metadata: string = ''");

  r.add("MultiDeviceIteratorFromStringHandle")
      .in("string_handle: string")
      .out("multi_device_iterator: resource")
      .attr("output_types: list(type) >= 0 = []")
      .attr("output_shapes: list(shape) >= 0 = []")
      .stateful();

  r.add("MultiDeviceIteratorGetNextFromShard")
      .in("multi_device_iterator: resource")
      .in("shard_num: int32")
      .in("incarnation_id: int64")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful();

  r.add("MultiDeviceIteratorInit")
      .in("dataset: variant")
      .in("multi_device_iterator: resource")
      .in("max_buffer_size: int64")
      .out("incarnation_id: int64")
      .stateful();

  r.add("MultiDeviceIteratorToStringHandle")
      .in("multi_device_iterator: resource")
      .out("string_handle: string")
      .stateful();

  r.add("OptionsDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .attr("serialized_options: string")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("PaddedBatchDatasetV2")
      .in("input_dataset: variant")
      .in("batch_size: int64")
      .in("padded_shapes: N * int64")
      .in("padding_values: Toutput_types")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .attr("parallel_copy: bool = false")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .attr("metadata: string = ''");

  r.add("ParallelInterleaveDatasetV4")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .in("buffer_output_elements: int64")
      .in("prefetch_input_elements: int64")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .attr("f: func")
      .attr("deterministic: string = 'default'")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("ParallelMapDatasetV2")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("deterministic: string = 'default'")
      .attr("preserve_cardinality: bool = false")
      .attr("use_unbounded_threadpool: bool = false")
      .attr("metadata: string = ''");

  r.add("PrefetchDataset")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("slack_period: int = 0")
      .attr("legacy_autotune: bool = true")
      .attr("buffer_size_min: int = 0")
      .attr("metadata: string = ''");

  r.add("RandomDataset")
      .in("seed: int64")
      .in("seed2: int64")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful();

  r.add("RangeDataset")
      .in("start: int64")
      .in("stop: int64")
      .in("step: int64")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .attr("replicate_on_split: bool = false")
      .stateful();

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
      .stateful();

  r.add("RepeatDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("ScanDataset")
      .in("input_dataset: variant")
      .in("initial_state: Tstate")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .attr("f: func")
      .attr("Tstate: list(type) >= 1")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("preserve_cardinality: bool = false")
      .attr("use_default_device: bool = true")
      .attr("metadata: string = ''");

  r.add("SerializeIterator")
      .in("resource_handle: resource")
      .out("serialized: variant")
      .attr("external_state_policy: int = 0")
      .stateful();

  r.add("ShuffleDatasetV3")
      .in("input_dataset: variant")
      .in("buffer_size: int64")
      .in("seed: int64")
      .in("seed2: int64")
      .in("seed_generator: resource")
      .out("handle: variant")
      .attr("reshuffle_each_iteration: bool = true")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful();

  r.add("SkipDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("TFRecordDataset")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .out("handle: variant")
      .attr("metadata: string = ''")
      .stateful();

  r.add("TFRecordDatasetV2")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .in("byte_offsets: int64")
      .out("handle: variant")
      .attr("metadata: string = ''")
      .stateful();

  r.add("TakeDataset")
      .in("input_dataset: variant")
      .in("count: int64")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("TensorDataset")
      .in("components: Toutput_types")
      .out("handle: variant")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful();

  r.add("TensorSliceDataset")
      .in("components: Toutput_types")
      .out("handle: variant")
      .attr("Toutput_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("is_files: bool = false")
      .attr("metadata: string = ''")
      .attr("replicate_on_split: bool = false")
      .stateful();

  r.add("UnbatchDataset")
      .in("input_dataset: variant")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("WindowDataset")
      .in("input_dataset: variant")
      .in("size: int64")
      .in("shift: int64")
      .in("stride: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''");

  r.add("ZipDataset")
      .in("input_datasets: N * variant")
      .out("handle: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("N: int >= 1")
      .attr("metadata: string = ''");
}

}  // namespace weft::ops
