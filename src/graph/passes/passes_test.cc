#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "graph/passes/testing.h"

using namespace weft::graph;           // NOLINT
using namespace weft::graph::testing;  // NOLINT

TEST_CASE("fold: what depends on constants alone is computed once") {
  auto m = optimized([](Maker& m) {
    Endpoint x = m.arg(DType::kFloat);
    m.ret(m.op("Mul", {x, m.op("AddV2", {m.f(2), m.op("Exp", {m.f(0)})})}));
  }, {floats({2}, {1, 2})});
  CHECK(work(m) == 1);
}

TEST_CASE("fold: a node that fails stays and fails when it runs") {
  auto m = optimized([](Maker& m) { m.ret(m.op("Reshape", {m.constant(floats({3}, {1, 2, 3})), m.ints({2, 2})})); }, {});
  CHECK(count(m, "Reshape") == 1);
}

TEST_CASE("fold: nothing large is stored in the program") {
  auto m = optimized([](Maker& m) {
    Endpoint big = m.op("Fill", {m.ints({3000, 1000}), m.f(1)});
    m.ret(m.op("Sum", {big, m.ints({0, 1})}));
  }, {});
  CHECK(count(m, "Fill") == 1);
}

TEST_CASE("fold: a node of several outputs") {
  auto m = optimized([](Maker& m) {
    Node* s = m.node("Split", {m.i(0), m.constant(floats({4}, {1, 2, 3, 4}))}, {{"num_split", 2}});
    m.ret(m.op("Mul", {Endpoint{s, 0}, Endpoint{s, 1}}));
  }, {});
  CHECK(work(m) == 0);
}

TEST_CASE("fold: what waited for a folded node waits for what it waited for") {
  auto m = optimized([](Maker& m) {
    Node* check = m.node("Assert", {m.op("Less", {m.arg(DType::kFloat), m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}});
    Endpoint sum = m.op("AddV2", {m.f(1), m.f(2)}, {}, {check});
    m.node("Assert", {m.op("Less", {m.arg(DType::kFloat), m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}}, {sum.node});
    m.ret(sum);
  }, {Tensor::scalar(1.f), Tensor::scalar(1.f)});
  CHECK(count(m, "AddV2") == 0);
  Node* second = m.g().find("Assert_1");
  REQUIRE(second);
  REQUIRE(second->control_inputs().size() == 1);
  CHECK(second->control_inputs()[0]->name() == "Assert");
}

TEST_CASE("fold: arguments that never change are constants") {
  auto m = optimized([](Maker& m) { m.ret(m.op("Mul", {m.arg(DType::kFloat), m.arg(DType::kFloat)})); }, {Tensor::scalar(2.f), Tensor::scalar(3.f)},
                     {.arg_constants = {Tensor::scalar(2.f), Tensor::scalar(3.f)}});
  CHECK(work(m) == 0);
  CHECK(m.body.args.size() == 2);
}

TEST_CASE("shapes: the batch of a specialised body is a constant") {
  Build build = [](Maker& m) {
    Endpoint x = m.arg(DType::kFloat);
    Endpoint batch = m.op("StridedSlice", {m.op("Shape", {x}), m.ints({0}), m.ints({1}), m.ints({1})}, {{"shrink_axis_mask", 1}});
    Endpoint flat = m.op("Pack", {batch, m.i(6)}, {{"N", 2}});
    m.ret(m.op("Reshape", {x, flat}));
    m.ret(m.op("Rank", {x}));
    m.ret(m.op("Size", {x}));
  };
  CHECK(work(specialized(build, {noise({4, 2, 3})})) == 1);
  CHECK(work(optimized(build, {noise({4, 2, 3})})) == 6);
  // The rank alone, and one known dimension.
  auto m = optimized(build, {noise({4, 2, 3})}, {.arg_shapes = {PartialShape({4, -1, -1})}});
  CHECK(count(m, "Rank") == 0);
  CHECK(count(m, "StridedSlice") == 0);
  CHECK(count(m, "Size") == 1);
}

TEST_CASE("shapes: gradients of broadcasts that are none vanish") {
  Build build = [](Maker& m) {
    Endpoint x = m.arg(DType::kFloat), y = m.arg(DType::kFloat), dz = m.arg(DType::kFloat);
    Node* args = m.node("BroadcastGradientArgs", {m.op("Shape", {x}), m.op("Shape", {y})});
    m.ret(m.op("Reshape", {m.op("Sum", {dz, Endpoint{args, 0}}), m.op("Shape", {x})}));
    m.ret(m.op("Reshape", {m.op("Sum", {dz, Endpoint{args, 1}}), m.op("Shape", {y})}));
  };
  CHECK(work(specialized(build, {noise({4, 3}), noise({4, 3}), noise({4, 3})})) == 0);
  CHECK(work(specialized(build, {noise({4, 3}), noise({3}), noise({4, 3})})) <= 2);
}

TEST_CASE("shapes: ShapeN answers for the inputs that are known") {
  auto m = optimized([](Maker& m) {
    Node* n = m.node("ShapeN", {m.arg(DType::kFloat), m.arg(DType::kFloat)}, {{"N", 2}});
    m.ret({n, 0});
    m.ret({n, 1});
  }, {noise({2, 2}), noise({3})}, {.arg_shapes = {PartialShape({2, 2}), PartialShape()}});
  CHECK(count(m, "ShapeN") == 1);
  CHECK(count(m, "Const") == 1);
}

TEST_CASE("shapes: reductions over one element") {
  auto m = specialized([](Maker& m) { m.ret(m.op("Mean", {m.arg(DType::kFloat), m.ints({1})})); }, {noise({4, 1, 3})});
  CHECK(count(m, "Mean") == 0);
  CHECK(count(m, "Reshape") == 1);
}
