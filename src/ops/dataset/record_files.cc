// Datasets of records in files.
#include "op/registry.h"
#include "ops/dataset/dataset.h"

namespace weft::ops::data {

namespace {

Status files_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  return dataset_of(c, {"compression_type", "buffer_size"});
}

}  // namespace

void record_files(Registry& r) {
  r.add("TFRecordDataset")
      .in("filenames: string")
      .in("compression_type: string")
      .in("buffer_size: int64")
      .out("handle: variant")
      .full_type("DATASET(TENSOR(STRING))")
      .attr("metadata: string = ''")
      .stateful()
      .doc("A dataset of the records of TFRecord files.")
      .shape(files_shape);

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
      .shape(files_shape);
}

}  // namespace weft::ops::data
