#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void io_ops(Registry& r) {
  r.add("FixedLengthRecordReaderV2")
      .out("reader_handle: resource")
      .attr("header_bytes: int = 0")
      .attr("record_bytes: int")
      .attr("footer_bytes: int = 0")
      .attr("hop_bytes: int = 0")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("encoding: string = ''")
      .stateful();

  r.add("MergeV2Checkpoints")
      .in("checkpoint_prefixes: string")
      .in("destination_prefix: string")
      .attr("delete_old_dirs: bool = true")
      .attr("allow_missing_files: bool = false")
      .stateful();

  r.add("ReaderReadV2")
      .in("reader_handle: resource")
      .in("queue_handle: resource")
      .out("key: string")
      .out("value: string")
      .stateful();

  r.add("Restore")
      .in("file_pattern: string")
      .in("tensor_name: string")
      .out("tensor: dt")
      .attr("dt: type")
      .attr("preferred_shard: int = -1")
      .stateful();

  r.add("RestoreSlice")
      .in("file_pattern: string")
      .in("tensor_name: string")
      .in("shape_and_slice: string")
      .out("tensor: dt")
      .attr("dt: type")
      .attr("preferred_shard: int = -1")
      .stateful();

  r.add("RestoreV2")
      .in("prefix: string")
      .in("tensor_names: string")
      .in("shape_and_slices: string")
      .out("tensors: dtypes")
      .attr("dtypes: list(type) >= 1")
      .stateful();

  r.add("Save")
      .in("filename: string")
      .in("tensor_names: string")
      .in("data: T")
      .attr("T: list(type) >= 1")
      .stateful();

  r.add("SaveSlices")
      .in("filename: string")
      .in("tensor_names: string")
      .in("shapes_and_slices: string")
      .in("data: T")
      .attr("T: list(type) >= 1")
      .stateful();

  r.add("SaveV2")
      .in("prefix: string")
      .in("tensor_names: string")
      .in("shape_and_slices: string")
      .in("tensors: dtypes")
      .attr("dtypes: list(type) >= 1")
      .stateful();

  r.add("TFRecordReader")
      .out("reader_handle: Ref(string)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("compression_type: string = ''")
      .stateful()
      .deprecated(26, "");

  r.add("TFRecordReaderV2")
      .out("reader_handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("compression_type: string = ''")
      .stateful();
}

}  // namespace weft::ops
