// FunctionBody: a function as a graph, for one choice of its attributes: _Arg nodes in front, _Retval
// nodes behind.
#pragma once

#include <memory>
#include <vector>

#include "graph/graph.h"

namespace weft_engine::graph {

struct FunctionBody {
  std::string name;
  std::unique_ptr<Graph> graph;
  std::vector<Node*> args, rets;     // by index
  std::vector<Node*> control_rets;   // must run, too
  std::vector<DType> arg_types, ret_types;
};

// A copy with a graph of its own.
FunctionBody clone(const FunctionBody& body);

// InvalidArgument, naming the node, for a body that is not right.
Result<FunctionBody> instantiate_function(const FunctionDef& def, const AttrMap& attrs, const Registry& registry,
                                          std::shared_ptr<FunctionLibrary> library);

// Argument and result types without making the graph.
Status function_types(const FunctionDef& def, const AttrMap& attrs, std::vector<DType>& args, std::vector<DType>& rets);

}  // namespace weft_engine::graph
