#include "io/run_metadata.h"

#include <map>

#include "core/cat.h"
#include "io/graph_def.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::io {

using wire::ProtoWriter;

core::Result<std::string> encode_placed_graph(graph::Graph& graph) {
  for (graph::Node* n : graph.nodes()) {
    if (!n->assigned_device.empty()) n->device = n->assigned_device;
  }
  return encode_graph_def(graph);
}

bool wants_partition_graphs(std::string_view run_options) {
  bool wanted = false;
  wire::ProtoReader r(run_options);
  while (r.next()) {
    if (r.field() == 5) wanted = r.boolean();
  }
  return wanted;
}

std::string encode_run_metadata(const std::vector<op::StepTrace::Event>& events, const std::vector<std::string>& partition_graphs) {
  if (events.empty() && partition_graphs.empty()) return {};
  const int64_t offset = op::StepTrace::wall_offset_ns();
  std::map<std::string, std::vector<const op::StepTrace::Event*>> by_device;
  for (const auto& e : events) by_device[e.device].push_back(&e);
  ProtoWriter steps;
  for (const auto& [device, list] : by_device) {
    ProtoWriter d;
    d.bytes(1, device);
    for (const auto* e : list) {
      ProtoWriter n;
      n.bytes(1, e->node);
      const int64_t start = e->start_ns + offset, took = e->end_ns - e->start_ns;
      n.int64(2, start / 1000);   // all_start_micros
      n.int64(3, 0);              // op_start_rel_micros
      n.int64(4, took / 1000);    // op_end_rel_micros
      n.int64(5, took / 1000);    // all_end_rel_micros
      for (size_t i = 0; i < e->outputs.size(); ++i) {
        ProtoWriter output, tensor;
        if (i) output.int64(1, int64_t(i));
        tensor.int64(1, int64_t(e->outputs[i].first));
        tensor.bytes(2, wire::encode_shape(e->outputs[i].second));
        output.message(3, tensor);
        n.message(7, output);
      }
      n.bytes(8, core::cat(e->node, " = ", e->op, "()"));  // timeline_label
      n.int64(9, start / 1000);                            // scheduled_micros
      n.int64(10, e->thread);
      n.int64(13, start);   // all_start_nanos
      n.int64(14, 0);
      n.int64(15, took);
      n.int64(16, took);
      n.int64(17, start);
      d.message(2, n);
    }
    steps.message(1, d);
  }
  ProtoWriter out;
  if (!events.empty()) out.message(1, steps);
  for (const std::string& g : partition_graphs) out.bytes(3, g);
  return out.take();
}

}  // namespace weft_engine::io
