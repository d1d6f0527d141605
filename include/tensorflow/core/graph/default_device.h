// SPDX-License-Identifier: Apache-2.0
#ifndef TENSORFLOW_CORE_GRAPH_DEFAULT_DEVICE_H_
#define TENSORFLOW_CORE_GRAPH_DEFAULT_DEVICE_H_

#include <string>

#include "tensorflow/core/framework/graph.pb.h"

namespace tensorflow {
namespace graph {

// For the nodes that have none.
inline void SetDefaultDevice(const std::string& device, GraphDef* graph_def) {
  for (NodeDef& node : *graph_def->mutable_node()) {
    if (node.device().empty()) node.set_device(device);
  }
}

}  // namespace graph
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_DEFAULT_DEVICE_H_
