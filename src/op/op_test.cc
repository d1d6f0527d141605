// Signatures, attributes and shape rules of single nodes, against what TensorFlow makes of the same NodeDefs.
#include <doctest/doctest.h>

#include "engine/engine.h"
#include "op/cancellation.h"
#include "op/node_info.h"
#include "op/registry.h"
#include "op/shape_context.h"

namespace weft_engine::op {
namespace {

const Registry& registry() { return engine::Engine::get().registry(); }

Result<NodeInfo> node(std::string_view op, AttrMap attrs, std::vector<DType> types) {
  WEFT_ASSIGN(const OpSpec* spec, registry().get(op));
  return NodeInfo::make(*spec, "n", std::move(attrs), types);
}

// The shape of the first output; "error" where the rule refuses.
std::string shape_of(std::string_view op, AttrMap attrs, std::vector<DType> types, std::vector<PartialShape> shapes) {
  auto info = node(op, std::move(attrs), std::move(types));
  REQUIRE(info.ok());
  std::vector<const Tensor*> constants(shapes.size(), nullptr);
  ShapeContext context(*info, shapes, constants);
  const Status s = info->spec().infer_shapes(context);
  return s.ok() ? cat(context.outputs()[0]) : "error";
}

TEST_CASE("types and counts are found from the inputs, the rest by default") {
  auto product = node("MatMul", {}, {DType::kDouble, DType::kDouble});
  REQUIRE(product.ok());
  CHECK(product->attr<DType>("T") == DType::kDouble);
  CHECK_FALSE(product->attr<bool>("transpose_a"));
  CHECK(product->output_types() == std::vector<DType>{DType::kDouble});

  auto joined = node("ConcatV2", {}, {DType::kFloat, DType::kFloat, DType::kFloat, DType::kInt32});
  REQUIRE(joined.ok());
  CHECK(joined->attr<int64_t>("N") == 3);
  CHECK(joined->input_range("values").size() == 3);
  CHECK(joined->input_range("axis").begin == 3);

  auto parts = node("Split", {{"num_split", int64_t(4)}}, {DType::kInt32, DType::kFloat});
  REQUIRE(parts.ok());
  CHECK(parts->num_outputs() == 4);
}

TEST_CASE("what a signature forbids is refused") {
  CHECK(node("AddV2", {}, {DType::kFloat, DType::kInt32}).status().code() == Code::kInvalidArgument);         // two types for one T
  CHECK(node("MatMul", {}, {DType::kString, DType::kString}).status().code() == Code::kInvalidArgument);      // T is not a number
  CHECK(node("Split", {{"num_split", int64_t(0)}}, {DType::kInt32, DType::kFloat}).status().code() == Code::kInvalidArgument);  // num_split >= 1
  CHECK(node("Cast", {}, {DType::kFloat}).status().code() == Code::kInvalidArgument);                         // DstT has no default
  CHECK(node("MatMul", {{"transpose_a", int64_t(1)}}, {DType::kFloat, DType::kFloat}).status().code() == Code::kInvalidArgument);
  CHECK_FALSE(registry().get("NoSuchOp").ok());
}

TEST_CASE("shape rules: broadcasting and products") {
  const std::vector<DType> two = {DType::kFloat, DType::kFloat};
  CHECK(shape_of("AddV2", {}, two, {PartialShape({2, 1}), PartialShape({1, 3})}) == "[2,3]");
  CHECK(shape_of("AddV2", {}, two, {PartialShape({-1, 3}), PartialShape({3})}) == "[?,3]");
  CHECK(shape_of("AddV2", {}, two, {PartialShape({2}), PartialShape({3})}) == "error");
  CHECK(shape_of("AddV2", {}, two, {PartialShape::unknown(), PartialShape({3})}) == "<unknown>");
  CHECK(shape_of("MatMul", {}, two, {PartialShape({2, 3}), PartialShape({3, 5})}) == "[2,5]");
  CHECK(shape_of("MatMul", {{"transpose_b", true}}, two, {PartialShape({2, 3}), PartialShape({5, -1})}) == "[2,5]");
  CHECK(shape_of("MatMul", {}, two, {PartialShape({2, 3}), PartialShape({4, 5})}) == "error");
}

TEST_CASE("any number may be a token of a cancellation manager") {
  CancellationManager manager;
  for (CancellationManager::Token token : {-1, 0, 7}) {
    CHECK_FALSE(manager.deregister_callback(token));  // nobody registered it: no wait
    CHECK_FALSE(manager.try_deregister_callback(token));
  }
  int called = 0;
  CHECK(manager.register_callback(-1, [&] { ++called; }));
  CHECK(manager.register_callback(3, [&] { ++called; }));
  CHECK(manager.deregister_callback(3));
  manager.start_cancel();
  CHECK(called == 1);
  CHECK_FALSE(manager.deregister_callback(-1));
}

}  // namespace
}  // namespace weft_engine::op
