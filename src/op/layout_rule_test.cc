// Which layout rule ops have: what families say, and what follows from roles and traits.
#include "op/layout_rule.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "op/api_traits.h"
#include "op/registry.h"

namespace weft_engine::op {
namespace {

const OpSpec& spec(std::string_view op) {
  const OpSpec* found = engine::Engine::get().registry().find(op);
  REQUIRE(found);
  return *found;
}
LayoutRule rule(std::string_view op) { return layout_of(spec(op)); }

}  // namespace

TEST_CASE("a layout rule says what it needs to know of its op") {
  CHECK(rule("MatMul").name == rule("BatchMatMulV2").name);
  CHECK(rule("MatMul").transposed[0] == "transpose_a");
  CHECK(rule("BatchMatMulV2").transposed[1] == "adj_y");
  CHECK(rule("Conv2D").input == 0);
  CHECK(rule("Conv2DBackpropInput").input == 2);
  CHECK(rule("Concat").axis == 0);
  CHECK(rule("ConcatV2").axis == -1);
  CHECK(rule("Split").input == 1);
  CHECK(rule("Gather").axis == std::nullopt);
  CHECK(rule("GatherV2").axis == 2);
}

TEST_CASE("roles and traits give the rules of the other ops") {
  CHECK(rule("Tanh").name == layouts::kElementwise.name);
  CHECK(rule("ZerosLike").name == layouts::kElementwise.name);
  CHECK(rule("Sum").name == layouts::reduction(1).name);
  CHECK(rule("Shape").name == layouts::kReplicated.name);
  CHECK(rule("PartitionedCall").name == rule("StatefulPartitionedCall").name);
  CHECK(rule("AssignVariableOp").name == rule("AssignAddVariableOp").name);
}

TEST_CASE("what is said comes before what follows, and nothing is known of the rest") {
  CHECK(rule("Spence").name == layouts::kOneDevice.name);       // elementwise, but TensorFlow has no layout for it
  CHECK(rule("StringLower").name == layouts::kOneDevice.name);  // elementwise, of texts
  CHECK(rule("Qr").name == layouts::kOneDevice.name);
}

TEST_CASE("ops that TensorFlow's API treats in its own way") {
  CHECK(has_api_trait(spec("Sqrt"), ApiTrait::kOnSparseValues));
  CHECK_FALSE(has_api_trait(spec("Sinh"), ApiTrait::kOnSparseValues));
  CHECK(has_api_trait(spec("Maximum"), ApiTrait::kUnchecked));
  CHECK_FALSE(has_api_trait(spec("AddV2"), ApiTrait::kUnchecked));
  CHECK(has_api_trait(spec("Bitcast"), ApiTrait::kDispatchesAsUnary));
  CHECK(has_api_trait(spec("ApproximateEqual"), ApiTrait::kDispatchesAsBinary));
}

}  // namespace weft_engine::op
