// The classes of ops for TensorFlow's C++ clients: names and order of arguments are those of TensorFlow's own headers.
#include "opgen/cc_wrappers.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/engine.h"
#include "tests/support/folder.h"

using namespace weft_engine;  // NOLINT

namespace {
std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("a file that is as it should be is not written again") {
  const testing::Folder folder;
  const std::string path = folder.path + "/a.h";
  REQUIRE(write_file(path, "one"));
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(path, long_ago);
  REQUIRE(write_file(path, "one"));
  CHECK(std::filesystem::last_write_time(path) == long_ago);
  REQUIRE(write_file(path, "two"));
  CHECK(text_of(path) == "two");
  CHECK(!write_file(folder.path + "/missing/a.h", "one"));
}

TEST_CASE("arguments, attributes and outputs are TensorFlow's") {
  const testing::Folder folder;
  REQUIRE(write_cc_wrappers(engine::Engine::get().registry(), folder.path));
  const std::string math = text_of(folder.path + "/math_ops.h");
  // reduction_indices is axis there; keep_dims has a default, T and Tidx follow from the inputs.
  CHECK(has(math,
            "explicit Sum(const ::tensorflow::Scope& scope, const ::tensorflow::Input& input, const ::tensorflow::Input& axis, const Attrs& attrs"));
  CHECK(has(math, "static Attrs KeepDims(bool x)"));
  // An attribute without a default is an argument behind the inputs.
  CHECK(has(math, "explicit Cast(const ::tensorflow::Scope& scope, const ::tensorflow::Input& x, ::tensorflow::DataType DstT, const Attrs& attrs"));
  CHECK(has(math, "explicit AddN(const ::tensorflow::Scope& scope, const ::tensorflow::InputList& inputs)"));
  // Lists of outputs; words of C++ get an underscore.
  const std::string array = text_of(folder.path + "/array_ops.h");
  CHECK(has(array,
            "explicit Split(const ::tensorflow::Scope& scope, const ::tensorflow::Input& axis, const ::tensorflow::Input& value, ::tensorflow::int64 "
            "num_split)"));
  CHECK(has(array, "::tensorflow::OutputList output;"));
  CHECK(has(text_of(folder.path + "/no_op.h"), "explicit NoOp(const ::tensorflow::Scope& scope)"));
  CHECK(has(text_of(folder.path + "/further_ops.h"), "namespace tensorflow::ops"));
}
