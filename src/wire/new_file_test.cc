// What killed writers leave beside a file is removed by its next writer.
#include "wire/new_file.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/folder.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::wire;  // NOLINT

TEST_CASE("every writer looks for what was left, however long the folder takes to read") {
  const testing::Folder folder;
  for (int i = 0; i < 900; ++i) std::ofstream(folder.path + "/other_" + std::to_string(i)) << i;
  const std::string file = folder.path + "/state", left = file + ".tempstate123";
  for (int i = 0; i < 5; ++i) {
    std::ofstream(left) << "half";
    REQUIRE(replace_file(file, "whole").ok());
    CHECK(!std::filesystem::exists(left));
    CHECK(std::filesystem::exists(folder.path + "/other_0"));
  }
}

TEST_CASE("what another writer is writing stays") {
  const testing::Folder folder;
  const std::string file = folder.path + "/state";
  auto other = NewFile::create(file);
  REQUIRE(other.ok());
  REQUIRE(replace_file(file, "first").ok());
  REQUIRE(other->write("second").ok());
  REQUIRE(other->publish().ok());
  std::string text;
  std::getline(std::ifstream(file), text);
  CHECK(text == "second");
}
