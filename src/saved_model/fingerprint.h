// fingerprint.pb: hashes that tell whether a SavedModel is the one that was saved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/status.h"

namespace weft_engine::saved_model {

using namespace weft_engine::core;

struct Fingerprint {
  uint64_t saved_model_checksum = 0, graph_def_program_hash = 0, signature_def_hash = 0, saved_object_graph_hash = 0, checkpoint_hash = 0;
  std::string uuid;
  int producer = 0;
};

// As far as the file is there.
Result<std::optional<Fingerprint>> read_fingerprint(const std::string& dir);

// Writes fingerprint.pb for the files that are in the folder.
Status write_fingerprint(const std::string& dir);

// Compares the hashes of saved_model.pb and of variables.index (which has a checksum of every tensor). DataLoss names the
// file that is another one. The remaining hashes are of parts of the same files.
Status verify_fingerprint(const std::string& dir, const Fingerprint& fingerprint);

// All that can be checked before a SavedModel is used: the fingerprint, then the checksum of every tensor of its variables. NotFound where there is
// no fingerprint, DataLoss for what is not as it was saved. Assets have no checksums.
Status verify_saved_model(const std::string& dir);

}  // namespace weft_engine::saved_model
