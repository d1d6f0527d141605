// fingerprint.pb of a model that TensorFlow saved: the numbers that its own reader gives, and what a changed file does.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "saved_model/fingerprint.h"
#include "tests/support/folder.h"

namespace weft_engine::saved_model {
namespace {

const std::string kModel = "tests/models/model_api/calls";

TEST_CASE("TensorFlow's fingerprint is read and holds") {
  auto read = read_fingerprint(kModel);
  REQUIRE(read.ok());
  REQUIRE(read->has_value());
  const Fingerprint& f = **read;
  CHECK(f.saved_model_checksum == 10300581212608777003u);
  CHECK(f.graph_def_program_hash == 2714434926539217579u);
  CHECK(f.signature_def_hash == 16025790335338438069u);
  CHECK(f.saved_object_graph_hash == 17363553838486472459u);
  CHECK(f.checkpoint_hash == 4470672302072989994u);
  CHECK(verify_fingerprint(kModel, f).ok());
  CHECK(verify_saved_model(kModel).ok());
}

TEST_CASE("a changed file is found, and no fingerprint is told") {
  const testing::Folder folder;
  const std::filesystem::path copy = folder.path + "/model";
  std::filesystem::copy(kModel, copy, std::filesystem::copy_options::recursive);
  CHECK(verify_saved_model(copy.string()).ok());
  {
    std::fstream file(copy / "saved_model.pb", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\x7f');
  }
  CHECK(verify_saved_model(copy.string()).code() == Code::kDataLoss);
  std::filesystem::remove(copy / "fingerprint.pb");
  CHECK(verify_saved_model(copy.string()).code() == Code::kNotFound);
}

}  // namespace
}  // namespace weft_engine::saved_model
