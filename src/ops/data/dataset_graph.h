// Datasets as GraphDefs and back (op/graph_message.h), and parts of datasets: to cut one among its files, or where the program marked it, the ops that made
// it run again in a changed graph.
#pragma once

#include <set>

#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

// What is other in the graph that is written.
struct GraphChanges {
  std::set<const Dataset*> cut_inputs;  // their first input is cut into parts before them
  bool replace_hints = false;  // Shard datasets whose numbers are SHARD_HINT get those of the part
  int64_t count = 1, index = 0;
};

Result<std::string> graph_of(const Dataset& dataset, const KernelEnv& env, bool fail_if_stateful = false, const GraphChanges* changes = nullptr);
// InvalidArgument for bytes that are none, or a graph that makes no dataset.
Result<Tensor> dataset_of_graph(const KernelEnv& env, std::string_view graph);

// The part of a dataset that is one worker's. NotFound where a dataset of no files is to be cut among files.
Result<DatasetPtr> part_of(const DatasetPtr& dataset, const KernelEnv& env, const Shard& shard);

}  // namespace weft_engine::ops::data
