// Datasets of the records of CSV files.
#include "op/registry.h"
#include "ops/dataset/dataset.h"

namespace weft::ops::data {

namespace {

Status csv_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank_at_most(0, 1).status());
  for (std::string_view name : {"select_cols", "exclude_cols"}) WEFT_RETURN_IF_ERROR(c.with_rank(c.node().input_range(name).begin, 1).status());
  const auto defaults = c.node().input_range("record_defaults");
  for (int i = defaults.begin; i < defaults.end; ++i) WEFT_RETURN_IF_ERROR(c.with_rank_at_most(i, 1).status());
  return dataset_of(c, {"compression_type", "buffer_size", "header", "field_delim", "use_quote_delim", "na_value"});
}

}  // namespace

void csv_files(Registry& r) {
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
}

}  // namespace weft::ops::data
