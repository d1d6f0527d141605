// Functions by name: what stays when one is removed.
#include <doctest/doctest.h>

#include "engine/engine.h"
#include "graph/function_library.h"

namespace weft_engine::graph {
namespace {

FunctionDef identity(const std::string& name) {
  FunctionDef f;
  f.name = name;
  f.inputs.push_back({.name = "x", .type = DType::kFloat});
  f.outputs.push_back({.name = "y", .type = DType::kFloat});
  f.ret["y"] = "x";
  return f;
}

TEST_CASE("of a function that was removed its signature stays, and not its definition") {
  engine::Engine::get();
  FunctionLibrary library;
  REQUIRE(library.add(identity("called_by_name")).ok());
  const std::weak_ptr<const FunctionDef> def = library.find("called_by_name").value();
  const op::OpSpec* spec = library.find_spec("called_by_name");
  REQUIRE(spec);
  REQUIRE(library.remove("called_by_name").ok());
  CHECK(library.remove("called_by_name").code() == core::Code::kInvalidArgument);  // as TensorFlow
  CHECK(def.expired());
  CHECK(library.find_spec("called_by_name") == nullptr);
  // A node of an old graph still has it.
  CHECK(spec->name == "called_by_name");
  REQUIRE(spec->declared_inputs.size() == 1);
  CHECK(spec->declared_inputs[0] == "x: float");
}

TEST_CASE("a library that shares the function keeps its definition") {
  FunctionLibrary first, second;
  REQUIRE(first.add(identity("shared")).ok());
  REQUIRE(second.add_all(first).ok());
  const op::OpSpec* spec = first.find_spec("shared");
  REQUIRE(spec);
  REQUIRE(first.remove("shared").ok());
  CHECK(second.find("shared").ok());
  CHECK(second.find_spec("shared") == spec);
}

}  // namespace
}  // namespace weft_engine::graph
