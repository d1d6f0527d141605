#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "graph/passes/testing.h"
#include "io/rewriter_config.h"

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

namespace {

Build assert_then(std::function<void(Maker&, Node*)> rest) {
  return [rest](Maker& m) {
    Node* check = m.node("Assert", {m.op("Less", {m.arg(DType::kFloat), m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}});
    rest(m, check);
  };
}
const Tensor kOne = Tensor::scalar(1.f), kFive = Tensor::scalar(5.f);

}  // namespace

TEST_CASE("cse: equal nodes become one, in any order of commuting inputs") {
  auto m = optimized([](Maker& m) {
    Endpoint x = m.arg(DType::kFloat), y = m.arg(DType::kFloat);
    m.ret(m.op("Sub", {m.op("Mul", {x, y}), m.op("Mul", {y, x})}));
    m.ret(m.op("Sub", {m.op("Sub", {x, y}), m.op("Sub", {y, x})}));
  }, {noise({3}, 1), noise({3}, 2)});
  CHECK(count(m, "Mul") == 1);
  CHECK(count(m, "Sub") == 4);
}

TEST_CASE("cse: attributes and control inputs count") {
  auto m = optimized(assert_then([](Maker& m, Node* check) {
    Endpoint x = m.arg(DType::kFloat);
    m.ret(m.op("LeakyRelu", {x}, {{"alpha", 0.1f}}));
    m.ret(m.op("LeakyRelu", {x}, {{"alpha", 0.2f}}));
    m.ret(m.op("LeakyRelu", {x}, {{"alpha", 0.2f}}));
    m.ret(m.op("LeakyRelu", {x}, {{"alpha", 0.2f}}, {check}));
  }), {kOne, noise({3})});
  CHECK(count(m, "LeakyRelu") == 3);
}

TEST_CASE("cse: reads between writes stay apart") {
  Maker m;
  Endpoint v = m.arg(DType::kResource), x = m.arg(DType::kFloat);
  AttrMap type{{"dtype", DType::kFloat}};
  Node* r1 = m.node("ReadVariableOp", {v}, type);
  Node* r2 = m.node("ReadVariableOp", {v}, type);
  Node* w = m.node("AssignAddVariableOp", {v, x}, type, {r1, r2});
  Node* r3 = m.node("ReadVariableOp", {v}, type, {w});
  m.ret(m.op("AddV2", {{r1, 0}, {r2, 0}}));
  m.ret({r3, 0});
  PassContext c;
  c.env = env();
  must(optimize(m.body, c));
  CHECK(count(m, "ReadVariableOp") == 2);
  REQUIRE(m.g().find("AssignAddVariableOp"));
  CHECK(m.g().find("AssignAddVariableOp")->control_inputs().size() == 1);
}

TEST_CASE("arithmetic: neutral elements") {
  auto m = optimized([](Maker& m) {
    Endpoint x = m.arg(DType::kFloat);
    Endpoint y = m.op("Mul", {m.op("AddV2", {x, m.f(0)}), m.f(1)});
    m.ret(m.op("RealDiv", {m.op("Sub", {y, m.f(0)}), m.f(1)}));
    m.ret(m.op("Mul", {m.constant(floats({2, 1}, {1, 1})), x}));  // makes it larger
    m.ret(m.op("Sub", {m.f(0), x}));
  }, {floats({1, 3}, {1, INFINITY, NAN})});
  CHECK(work(m) == 2);
  m = specialized([](Maker& m) { m.ret(m.op("Mul", {m.constant(floats({2, 1}, {1, 1})), m.arg(DType::kFloat)})); }, {noise({2, 3})});
  CHECK(work(m) == 0);
}

TEST_CASE("arithmetic: what hands its input on is left out, and its control edges stay") {
  auto m = optimized(assert_then([](Maker& m, Node* check) {
    Endpoint x = m.op("Identity", {m.op("StopGradient", {m.arg(DType::kFloat)})}, {}, {check});
    m.ret(m.op("Sqrt", {x}));
  }), {kOne, kFive});
  CHECK(count(m, "Identity") + count(m, "StopGradient") == 0);
  Node* sqrt = m.g().find("Sqrt");
  REQUIRE(sqrt->control_inputs().size() == 1);
  CHECK(sqrt->control_inputs()[0]->op() == "Assert");
  // The check fails: so does the call, before and after.
  optimized(assert_then([](Maker& m, Node* check) { m.ret(m.op("Identity", {m.arg(DType::kFloat)}, {}, {check})); }), {kFive, kFive});
}

TEST_CASE("arithmetic: pairs that undo each other") {
  auto m = specialized([](Maker& m) {
    Endpoint x = m.arg(DType::kFloat);
    m.ret(m.op("Neg", {m.op("Neg", {x})}));
    m.ret(m.op("Cast", {m.op("Cast", {x}, {{"DstT", DType::kDouble}})}, {{"DstT", DType::kFloat}}));
    m.ret(m.op("Transpose", {m.op("Transpose", {x, m.ints({2, 0, 1})}), m.ints({1, 2, 0})}));
    m.ret(m.op("Reshape", {m.op("Reshape", {x, m.ints({-1})}), m.ints({2, 3, 4})}));
    m.ret(m.op("ExpandDims", {m.op("Squeeze", {m.op("ExpandDims", {x, m.i(0)})}), m.i(0)}));
  }, {noise({2, 3, 4})});
  CHECK(work(m) == 1);
  m = optimized([](Maker& m) { m.ret(m.op("Cast", {m.op("Cast", {m.arg(DType::kFloat)}, {{"DstT", DType::kInt32}})}, {{"DstT", DType::kFloat}})); }, {noise({4})});
  CHECK(count(m, "Cast") == 2);
}

TEST_CASE("arithmetic: transposes become views or flags") {
  auto m = specialized([](Maker& m) {
    Endpoint x = m.arg(DType::kFloat), y = m.arg(DType::kFloat);
    m.ret(m.op("Transpose", {x, m.ints({1, 0, 2})}));
    m.ret(m.op("MatMul", {m.op("Transpose", {y, m.ints({1, 0})}), y}));
    Endpoint t = m.op("Transpose", {x, m.ints({0, 2, 1})});
    m.ret(m.op("BatchMatMulV2", {x, t}, {}));
    m.ret(m.op("BatchMatMulV2", {t, t}, {{"adj_x", true}}));
  }, {noise({1, 3, 4}), noise({3, 5})});
  CHECK(count(m, "Transpose") == 0);
}

TEST_CASE("arithmetic: a broadcast that the operation does itself") {
  auto m = specialized([](Maker& m) {
    Endpoint x = m.arg(DType::kFloat), y = m.arg(DType::kFloat);
    m.ret(m.op("Mul", {m.op("BroadcastTo", {x, m.op("Shape", {y})}), y}));
    m.ret(m.op("Mul", {m.op("BroadcastTo", {x, m.ints({2, 3})}), x}));
  }, {noise({3}), noise({2, 3})});
  CHECK(count(m, "BroadcastTo") == 1);
}

TEST_CASE("arithmetic: powers keep infinities") {
  auto m = optimized([](Maker& m) {
    Endpoint x = m.arg(DType::kFloat);
    for (float p : {1.f, 2.f, -1.f, 0.5f}) m.ret(m.op("Pow", {x, m.f(p)}));
  }, {floats({5}, {0.f, -3.f, INFINITY, -INFINITY, NAN})});
  CHECK(count(m, "Pow") == 1);
}

TEST_CASE("dependency: edges through pure nodes and knots") {
  auto m = optimized(assert_then([](Maker& m, Node* check) {
    Endpoint x = m.arg(DType::kFloat);
    Endpoint pure = m.op("Exp", {x}, {}, {check});
    Node* knot = m.node("NoOp", {}, {}, {pure.node, check});
    m.node("Assert", {m.op("Less", {x, m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}}, {knot, check});
    m.ret(x);
  }), {kOne, kOne});
  CHECK(count(m, "NoOp") == 0);
  CHECK(count(m, "Exp") == 0);
  CHECK(m.g().find("Assert_1")->control_inputs().size() == 1);
}

TEST_CASE("dependency: edges that others imply go") {
  auto m = optimized(assert_then([](Maker& m, Node* a) {
    Endpoint x = m.arg(DType::kFloat);
    auto check = [&](std::vector<Node*> after) { return m.node("Assert", {m.op("Less", {x, m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}}, after); };
    Node* b = check({a});
    Node* c = check({a, b});
    check({a, b, c});
    m.ret(x);
  }), {kOne, kOne});
  for (Node* n : m.g().nodes()) CHECK(n->control_inputs().size() <= 1);
}

TEST_CASE("ConfigProto switches passes off") {
  auto off = [](std::string bytes) { return must(weft::io::disabled_passes(bytes)); };
  CHECK(off("").empty());
  // graph_options { rewrite_options { constant_folding: OFF  remapping: ON } }
  CHECK(off(std::string("\x52\x06\x52\x04\x18\x02\x70\x01")) == std::vector<std::string>{"fold"});
  // graph_options { optimizer_options { opt_level: L0 } }
  CHECK(off(std::string("\x52\x0d\x1a\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")).size() > 5);
  // graph_options { rewrite_options { optimizers: "constfold" } }
  auto rest = off(std::string("\x52\x0e\x52\x0c\xa2\x06\x09" "constfold"));
  CHECK(std::find(rest.begin(), rest.end(), "fold") == rest.end());
  CHECK(std::find(rest.begin(), rest.end(), "cse") != rest.end());
  CHECK(!weft::io::disabled_passes(std::string("\x52\x7f")).ok());
}
