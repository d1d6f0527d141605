// SPDX-License-Identifier: Apache-2.0
//
// Graphs from messages.
#ifndef TENSORFLOW_CORE_GRAPH_GRAPH_CONSTRUCTOR_H_
#define TENSORFLOW_CORE_GRAPH_GRAPH_CONSTRUCTOR_H_

#include <string>

#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/graph/graph.h"

namespace tensorflow {

inline Status ConvertGraphDefToGraph(const GraphConstructorOptions&, const GraphDef& def, Graph* graph) { return graph->Import(def); }

struct ImportGraphDefOptions {
  std::string prefix;
};
// With the names of nodes below the prefix. The results of an import are not told.
inline Status ImportGraphDef(const ImportGraphDefOptions& options, const GraphDef& def, Graph* graph, std::nullptr_t, std::nullptr_t = nullptr) {
  return graph->Import(def, options.prefix.c_str());
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_GRAPH_GRAPH_CONSTRUCTOR_H_
