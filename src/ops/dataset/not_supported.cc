// Dataset ops that need parts which are not there: graphs of datasets as values, races between
// datasets. Known, so that a graph that holds one can be read; each says so when it runs.
#include "op/registry.h"
#include "ops/dataset/dataset.h"

namespace weft::ops::data {

namespace {

Status run_not_supported(KernelContext& c) { return unimplemented("The op ", c.node().op(), " is not supported."); }

// TensorFlow 2.21 has the ops, and no support for their files.
Status run_lmdb(KernelContext&) {
  return unimplemented("LMDB support is removed from TensorFlow. This API will be deleted in the next TensorFlow release. If you need LMDB support, please file a "
                       "GitHub issue.");
}

}  // namespace

void not_supported(Registry& r) {
  r.add("DatasetToGraph")
      .in("input_dataset: variant")
      .out("graph: string")
      .attr("stateful_whitelist: list(string) >= 0 = []")
      .attr("allow_stateful: bool = false")
      .attr("strip_device_assignment: bool = false")
      .doc("The graph that makes a dataset, as a serialized message.")
      .shape(shapes::scalar)
      .cpu(run_not_supported);

  r.add("DatasetToGraphV2")
      .in("input_dataset: variant")
      .out("graph: string")
      .attr("external_state_policy: int = 0")
      .attr("strip_device_assignment: bool = false")
      .doc("The graph that makes a dataset, as a serialized message.")
      .shape(shapes::scalar)
      .cpu(run_not_supported);

  r.add("DatasetFromGraph")
      .in("graph_def: string")
      .out("handle: variant")
      .full_type("DATASET(ANY)")
      .doc("The dataset that a serialized graph makes.")
      .shape(shapes::scalar)
      .cpu(run_not_supported);

  r.add("ChooseFastestDataset")
      .in("input_datasets: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("N: int >= 2")
      .attr("num_experiments: int")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The dataset that was the fastest of several.")
      .shape(shapes::scalar)
      .cpu(run_not_supported);

  r.add("ExperimentalChooseFastestDataset")
      .in("input_datasets: N * variant")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("N: int >= 2")
      .attr("num_experiments: int")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of ChooseFastestDataset.")
      .shape(shapes::scalar)
      .cpu(run_not_supported);

  r.add("ChooseFastestBranchDataset")
      .in("input_dataset: variant")
      .in("ratio_numerator: int64")
      .in("ratio_denominator: int64")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("Targuments: list(type) >= 0")
      .attr("num_elements_per_branch: int >= 1")
      .attr("branches: list(func) >= 1")
      .attr("other_arguments_lengths: list(int) >= 1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset through the function that was the fastest of several.")
      .shape(shapes::scalar)
      .cpu(run_not_supported);

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

}  // namespace weft::ops::data
