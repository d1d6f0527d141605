// The file "checkpoint" in a folder of checkpoints: which there are and which is the latest (CheckpointState as text).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.h"

namespace weft_engine::saved_model {

using namespace weft_engine::core;

struct CheckpointState {
  std::string model_checkpoint_path;
  std::vector<std::string> all_model_checkpoint_paths;  // oldest first
  std::vector<double> all_model_checkpoint_timestamps;  // seconds since 1970; none, or one for each
  double last_preserved_timestamp = 0;
};

// Paths come out with the folder before them, unless they are absolute. None where there is no such file, and, as in TensorFlow,
// where it cannot be read (a warning says why). InvalidArgument if it names no checkpoint.
Result<std::optional<CheckpointState>> read_checkpoint_state(const std::string& folder, std::string_view file = "checkpoint");
// Paths below the folder are written relative to it. The latest is added to the list where it is missing. The file is replaced at once.
Status write_checkpoint_state(const std::string& folder, CheckpointState state, std::string_view file = "checkpoint");

// The prefix of the latest one; empty where there is none whose index exists.
Result<std::string> latest_checkpoint(const std::string& folder, std::string_view file = "checkpoint");

}  // namespace weft_engine::saved_model
