// Freezing: variables become constants, in the graph and in the functions that it calls, as TensorFlow's
// convert_variables_to_constants_v2 does. The result is one graph that needs no checkpoint.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saved_model/model.h"

namespace weft::saved_model {

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

}  // namespace weft::saved_model
