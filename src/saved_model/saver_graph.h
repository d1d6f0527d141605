// The graph of a SavedModel, for loaders without objects (TF Serving, version 1): variables, assets and tables as nodes, a call for each signature,
// and ops that save, restore and initialise.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "saved_model/saver.h"

namespace weft_engine::saved_model {

struct SavedGraph {
  std::unique_ptr<graph::Graph> graph;
  std::string init_op;
  std::string filename, save_tensor, restore_op;            // of the saver; empty: none
  std::vector<std::pair<std::string, std::string>> assets;  // the tensor that gets the path, and the file's name
  std::map<std::string, std::string> signatures;            // SignatureDefs by key
};

// Made of the description, whose constants and assets get the names and numbers that they have in the file. `trackables` is what the checkpoint
// tells of the objects.
Result<SavedGraph> build_saved_graph(const op::Registry& registry, std::shared_ptr<graph::FunctionLibrary> library, ModelDescription& model,
                                     std::span<const SavedTrackable> trackables);

}  // namespace weft_engine::saved_model
