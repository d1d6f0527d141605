// Dataset ops that TensorFlow 2.21 has and does not support. Known, so that a graph that holds one can be read; each says so when it runs.
#include "op/registry.h"
#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

namespace {

// TensorFlow 2.21 has the ops, and no support for their files.
Status run_lmdb(KernelContext&) {
  return unimplemented(
      "LMDB support is removed from TensorFlow. This API will be deleted in the next TensorFlow release. If you need LMDB support, please file a "
      "GitHub issue.");
}

}  // namespace

void not_supported(Registry& r) {
  r.add("LMDBDataset")
      .in("filenames: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("Records of LMDB files, which are not supported.")
      .shape(shapes::scalar)
      .cpu(run_lmdb);

  r.add("ExperimentalLMDBDataset")
      .in("filenames: string")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The former name of LMDBDataset.")
      .shape(shapes::scalar)
      .cpu(run_lmdb);
}

}  // namespace weft_engine::ops::data
