// What ran when, and as which graphs, in TensorFlow's RunMetadata message.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "op/step_trace.h"

namespace weft_engine::io {

// `partition_graphs` are serialized GraphDefs.
std::string encode_run_metadata(const std::vector<op::StepTrace::Event>& events, const std::vector<std::string>& partition_graphs = {});
// A graph that was placed, as a GraphDef whose nodes name their devices.
core::Result<std::string> encode_placed_graph(graph::Graph& graph);
// RunOptions' output_partition_graphs.
bool wants_partition_graphs(std::string_view run_options);

}  // namespace weft_engine::io
