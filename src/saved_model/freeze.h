// Freezing: variables become constants, in the graph and in the functions that it calls, as TensorFlow's
// convert_variables_to_constants_v2 does. The result is one graph that needs no checkpoint.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "saved_model/model.h"

namespace weft_engine::saved_model {

struct FrozenGraph {
  std::unique_ptr<graph::Graph> graph;
  std::vector<std::string> inputs, outputs;  // names of placeholders and of identities, in the order of the ports
  std::vector<std::string> constants;        // the variables that are constants now
};

// What fills the tables of a frozen graph: a node that must run once before the others. Model::load does.
inline constexpr const char* kInitTables = "init_all_tables";

// The part of the model between these tensors (a signature's, or any), variables at their values of now.
// InvalidArgument, naming node and variable, where a variable is written; FailedPrecondition where one has no value.
Result<FrozenGraph> freeze(Model& model, const std::vector<BoundSignature::Port>& inputs, const std::vector<BoundSignature::Port>& outputs);

// The same of a GraphDef: nodes of these names become constants with these values, variables' handles (and arguments that stand for them) among them.
// All that reads them takes values, also in functions that are called. For Python, whose traces and sessions know where the values are.
Result<std::string> freeze_graph_def(std::shared_ptr<const std::string> graph_def, const std::map<std::string, Tensor>& values,
                                     const Registry& registry);

}  // namespace weft_engine::saved_model
