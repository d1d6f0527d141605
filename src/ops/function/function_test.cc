// What branches, loops and collectives know of the shapes of their results, and calls of functions. Shapes and texts are TensorFlow 2.21's.
#include "ops/testing.h"

using namespace weft_engine::ops::testing;  // NOLINT
using weft::Tensor;
using weft_engine::core::DType;
using weft_engine::core::PartialShape;
using Floats = std::vector<float>;

namespace {

weft_engine::op::AttrMap attrs(std::vector<const char*> functions, std::vector<PartialShape> shapes) {
  weft_engine::op::AttrMap out{{"output_shapes", shapes}};
  for (const char* f : functions) out[f] = weft_engine::op::FunctionAttr{"f", nullptr};
  return out;
}

}  // namespace

TEST_CASE("the shapes of a branch are promised, those of a loop are what goes in, or promised") {
  auto branch = attrs({"then_branch", "else_branch"}, {{2}, {-1, 3}});
  branch["Tout"] = std::vector<DType>{DType::kFloat, DType::kFloat};
  const std::vector<Given> in{{DType::kBool, scalar()}, {DType::kFloat, {2}}, {DType::kFloat, {3}}};
  CHECK(shapes_of("StatelessIf", in, branch) == "[2] [?,3]");
  branch["output_shapes"] = std::vector<PartialShape>{};
  CHECK(shapes_of("StatelessIf", in, branch) == "<unknown> <unknown>");
  branch["output_shapes"] = std::vector<PartialShape>{{2}};
  CHECK(shapes_of("StatelessIf", in, branch) == "`output_shapes` must be the same length as num outputs (1 vs. 2");
  CHECK(shapes_of("StatelessWhile", {{DType::kFloat, {2, -1}}}, attrs({"cond", "body"}, {})) == "[2,?]");
  CHECK(shapes_of("StatelessWhile", {{DType::kFloat, {2, -1}}}, attrs({"cond", "body"}, {{-1, -1}})) == "[?,?]");
}

TEST_CASE("shapes of collectives") {
  weft_engine::op::AttrMap group{{"group_size", int64_t(2)}, {"group_key", int64_t(11)}, {"instance_key", int64_t(1)}};
  group["shape"] = PartialShape{6, 2};
  CHECK(shapes_of("CollectiveGather", {{DType::kFloat, {3, 2}}}, group) == "[6,2]");
}

TEST_CASE("the gradient goes through calls, also of functions in functions") {
  auto square = weft::function([](const Tensor& x) { return x * x; });
  auto twice = weft::function([&](const Tensor& x) { return square(square(x)); });
  CHECK(gradient([&](const Tensor& x) { return twice(x); }, Tensor{1.f, 2.f}, {1, 1}) == Floats{4, 32});  // of x^4
}
