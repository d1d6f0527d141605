// What files say of themselves, without loading them: SavedModels and checkpoints, for people and tools. `weft show` prints it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weft/saved_model.h"

namespace weft {

// One of the graphs of a SavedModel, told apart by its tags.
struct MetaGraphInfo {
  std::vector<std::string> tags;
  std::string tensorflow_version;         // that saved it
  std::vector<SignatureInfo> signatures;  // all, also those that only loaders use (names with two underscores)
  std::vector<FunctionInfo> functions;    // of the object graph; empty for version 1
  std::vector<VariableInfo> variables;
  std::map<std::string, int> ops;  // how often each occurs, in the graph and in its functions
  int nodes = 0, library_functions = 0;
  std::vector<std::string> assets;  // file names
  std::string init_op;              // what loading runs; empty: nothing
};

// fingerprint.pb: numbers that change with the model.
struct FingerprintInfo {
  uint64_t saved_model_checksum = 0, graph_def_program_hash = 0, signature_def_hash = 0, saved_object_graph_hash = 0, checkpoint_hash = 0;
  std::string uuid;
};

struct SavedModelInfo {
  std::vector<MetaGraphInfo> graphs;
  std::optional<FingerprintInfo> fingerprint;
};
// What is in a SavedModel.
WEFT_API SavedModelInfo describe_saved_model(const std::string& dir);

// A tensor in a checkpoint.
struct CheckpointEntry {
  std::string key;
  DType dtype = DType::invalid;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
  int shard = 0;
};
// What a checkpoint holds, by its prefix (PREFIX.index is one of its files).
WEFT_API std::vector<CheckpointEntry> describe_checkpoint(const std::string& prefix);
// One tensor of it.
WEFT_API Tensor read_checkpoint(const std::string& prefix, const std::string& key);

// Throws DataLoss where a file is not as it was saved. Of a SavedModel: its fingerprint (NotFound where it has none), then every tensor of its
// variables. Of a checkpoint: every tensor. Assets, and graphs outside of SavedModels, have no checksums.
WEFT_API void verify_saved_model(const std::string& dir);
WEFT_API void verify_checkpoint(const std::string& prefix);

}  // namespace weft
