// What a SavedModel says about itself: tags, signatures, assets, how to restore and to start.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"
#include "core/status.h"

namespace weft_engine::saved_model {

using namespace weft_engine::core;

struct TensorInfo {
  std::string name;  // "node:0"; empty for a sparse or composite value
  DType dtype = DType::kInvalid;
  PartialShape shape;
  std::vector<std::string> coo_sparse;  // values, indices, dense_shape; empty: not sparse
  std::vector<TensorInfo> composite;    // the parts of a composite value
};

struct Signature {
  std::map<std::string, TensorInfo> inputs, outputs;
  std::string method_name;
};

struct MetaGraph {
  std::shared_ptr<const std::string> file;  // the bytes of the whole file, which the views look into
  std::string_view bytes;                   // this MetaGraphDef
  std::string_view graph_def, object_graph;
  std::vector<std::string> tags;
  std::string tensorflow_version, git_version;
  std::map<std::string, std::string> aliases;  // function -> the name that the program gave it
  std::map<std::string, Signature> signatures;
  std::vector<std::pair<std::string, std::string>> assets;  // tensor name, file name
  std::string save_tensor, filename_tensor, restore_op;     // of the saver
  std::map<std::string, std::vector<std::string>> node_collections;
  std::set<std::string> trainable_variables;  // of a graph of version 1: names of nodes
  std::string init_op;  // empty: none
};

// The meta graphs of DIR/saved_model.pb (or .pbtxt). NotFound and DataLoss in TensorFlow's words.
Result<std::vector<MetaGraph>> read_saved_model(const std::string& dir);
// The one with exactly these tags.
Result<MetaGraph> read_meta_graph(const std::string& dir, const std::vector<std::string>& tags);
Result<MetaGraph> decode_meta_graph(std::shared_ptr<const std::string> file, std::string_view bytes);

}  // namespace weft_engine::saved_model
