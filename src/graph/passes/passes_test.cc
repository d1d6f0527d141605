#include "graph/passes/testing.h"
#include "io/rewriter_config.h"

using namespace weft_engine::graph;           // NOLINT
using namespace weft_engine::graph::testing;  // NOLINT

TEST_CASE("fold: what depends on constants alone is computed once") {
  auto m = optimized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat);
        m.ret(m.op("Mul", {x, m.op("AddV2", {m.f(2), m.op("Exp", {m.f(0)})})}));
      },
      {floats({2}, {1, 2})});
  CHECK(work(m) == 1);
}

TEST_CASE("fold: a node that fails stays and fails when it runs") {
  auto m = optimized([](Maker& m) { m.ret(m.op("Reshape", {m.constant(floats({3}, {1, 2, 3})), m.ints({2, 2})})); }, {});
  CHECK(count(m, "Reshape") == 1);
}

TEST_CASE("fold: nothing large is stored in the program") {
  auto m = optimized(
      [](Maker& m) {
        Endpoint big = m.op("Fill", {m.ints({3000, 1000}), m.f(1)});
        m.ret(m.op("Sum", {big, m.ints({0, 1})}));
      },
      {});
  CHECK(count(m, "Fill") == 1);
}

TEST_CASE("fold: a node of several outputs") {
  auto m = optimized(
      [](Maker& m) {
        Node* s = m.node("Split", {m.i(0), m.constant(floats({4}, {1, 2, 3, 4}))}, {{"num_split", 2}});
        m.ret(m.op("Mul", {Endpoint{s, 0}, Endpoint{s, 1}}));
      },
      {});
  CHECK(work(m) == 0);
}

TEST_CASE("fold: what waited for a folded node waits for what it waited for") {
  auto m = optimized(
      [](Maker& m) {
        Node* check = m.node("Assert", {m.op("Less", {m.arg(DType::kFloat), m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}});
        Endpoint sum = m.op("AddV2", {m.f(1), m.f(2)}, {}, {check});
        m.node("Assert", {m.op("Less", {m.arg(DType::kFloat), m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}}, {sum.node});
        m.ret(sum);
      },
      {Tensor::scalar(1.f), Tensor::scalar(1.f)});
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
  auto m = optimized(
      [](Maker& m) {
        Node* n = m.node("ShapeN", {m.arg(DType::kFloat), m.arg(DType::kFloat)}, {{"N", 2}});
        m.ret({n, 0});
        m.ret({n, 1});
      },
      {noise({2, 2}), noise({3})}, {.arg_shapes = {PartialShape({2, 2}), PartialShape()}});
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
  auto m = optimized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat), y = m.arg(DType::kFloat);
        m.ret(m.op("Sub", {m.op("Mul", {x, y}), m.op("Mul", {y, x})}));
        m.ret(m.op("Sub", {m.op("Sub", {x, y}), m.op("Sub", {y, x})}));
      },
      {noise({3}, 1), noise({3}, 2)});
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
                     }),
                     {kOne, noise({3})});
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
  auto m = optimized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat);
        Endpoint y = m.op("Mul", {m.op("AddV2", {x, m.f(0)}), m.f(1)});
        m.ret(m.op("RealDiv", {m.op("Sub", {y, m.f(0)}), m.f(1)}));
        m.ret(m.op("Mul", {m.constant(floats({2, 1}, {1, 1})), x}));  // makes it larger
        m.ret(m.op("Sub", {m.f(0), x}));
      },
      {floats({1, 3}, {1, INFINITY, NAN})});
  CHECK(work(m) == 2);
  m = specialized([](Maker& m) { m.ret(m.op("Mul", {m.constant(floats({2, 1}, {1, 1})), m.arg(DType::kFloat)})); }, {noise({2, 3})});
  CHECK(work(m) == 0);
}

TEST_CASE("arithmetic: what hands its input on is left out, and its control edges stay") {
  auto m = optimized(assert_then([](Maker& m, Node* check) {
                       Endpoint x = m.op("Identity", {m.op("StopGradient", {m.arg(DType::kFloat)})}, {}, {check});
                       m.ret(m.op("Sqrt", {x}));
                     }),
                     {kOne, kFive});
  CHECK(count(m, "Identity") + count(m, "StopGradient") == 0);
  Node* sqrt = m.g().find("Sqrt");
  REQUIRE(sqrt->control_inputs().size() == 1);
  CHECK(sqrt->control_inputs()[0]->op() == "Assert");
  // The check fails: so does the call, before and after.
  optimized(assert_then([](Maker& m, Node* check) { m.ret(m.op("Identity", {m.arg(DType::kFloat)}, {}, {check})); }), {kFive, kFive});
}

TEST_CASE("arithmetic: pairs that undo each other") {
  auto m = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat);
        m.ret(m.op("Neg", {m.op("Neg", {x})}));
        m.ret(m.op("Cast", {m.op("Cast", {x}, {{"DstT", DType::kDouble}})}, {{"DstT", DType::kFloat}}));
        m.ret(m.op("Transpose", {m.op("Transpose", {x, m.ints({2, 0, 1})}), m.ints({1, 2, 0})}));
        m.ret(m.op("Reshape", {m.op("Reshape", {x, m.ints({-1})}), m.ints({2, 3, 4})}));
        m.ret(m.op("ExpandDims", {m.op("Squeeze", {m.op("ExpandDims", {x, m.i(0)})}), m.i(0)}));
      },
      {noise({2, 3, 4})});
  CHECK(work(m) == 1);
  m = optimized([](Maker& m) { m.ret(m.op("Cast", {m.op("Cast", {m.arg(DType::kFloat)}, {{"DstT", DType::kInt32}})}, {{"DstT", DType::kFloat}})); },
                {noise({4})});
  CHECK(count(m, "Cast") == 2);
}

TEST_CASE("arithmetic: transposes become views or flags") {
  auto m = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat), y = m.arg(DType::kFloat);
        m.ret(m.op("Transpose", {x, m.ints({1, 0, 2})}));
        m.ret(m.op("MatMul", {m.op("Transpose", {y, m.ints({1, 0})}), y}));
        Endpoint t = m.op("Transpose", {x, m.ints({0, 2, 1})});
        m.ret(m.op("BatchMatMulV2", {x, t}, {}));
        m.ret(m.op("BatchMatMulV2", {t, t}, {{"adj_x", true}}));
      },
      {noise({1, 3, 4}), noise({3, 5})});
  CHECK(count(m, "Transpose") == 0);
}

TEST_CASE("arithmetic: a broadcast that the operation does itself") {
  auto m = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat), y = m.arg(DType::kFloat);
        m.ret(m.op("Mul", {m.op("BroadcastTo", {x, m.op("Shape", {y})}), y}));
        m.ret(m.op("Mul", {m.op("BroadcastTo", {x, m.ints({2, 3})}), x}));
      },
      {noise({3}), noise({2, 3})});
  CHECK(count(m, "BroadcastTo") == 1);
}

TEST_CASE("arithmetic: powers keep infinities") {
  auto m = optimized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat);
        for (float p : {1.f, 2.f, -1.f, 0.5f}) m.ret(m.op("Pow", {x, m.f(p)}));
      },
      {floats({5}, {0.f, -3.f, INFINITY, -INFINITY, NAN})});
  CHECK(count(m, "Pow") == 1);
}

TEST_CASE("dependency: edges through pure nodes and knots") {
  auto m = optimized(assert_then([](Maker& m, Node* check) {
                       Endpoint x = m.arg(DType::kFloat);
                       Endpoint pure = m.op("Exp", {x}, {}, {check});
                       Node* knot = m.node("NoOp", {}, {}, {pure.node, check});
                       m.node("Assert", {m.op("Less", {x, m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}}, {knot, check});
                       m.ret(x);
                     }),
                     {kOne, kOne});
  CHECK(count(m, "NoOp") == 0);
  CHECK(count(m, "Exp") == 0);
  CHECK(m.g().find("Assert_1")->control_inputs().size() == 1);
}

TEST_CASE("dependency: edges that others imply go") {
  auto m = optimized(assert_then([](Maker& m, Node* a) {
                       Endpoint x = m.arg(DType::kFloat);
                       auto check = [&](std::vector<Node*> after) {
                         return m.node("Assert", {m.op("Less", {x, m.f(3)}), m.f(1)}, {{"T", std::vector<DType>{DType::kFloat}}}, after);
                       };
                       Node* b = check({a});
                       Node* c = check({a, b});
                       check({a, b, c});
                       m.ret(x);
                     }),
                     {kOne, kOne});
  for (Node* n : m.g().nodes()) CHECK(n->control_inputs().size() <= 1);
}

TEST_CASE("ConfigProto switches passes off") {
  auto off = [](std::string bytes) { return must(weft_engine::io::disabled_passes(bytes)); };
  CHECK(off("").empty());
  // graph_options { rewrite_options { constant_folding: OFF  remapping: ON } }
  CHECK(off(std::string("\x52\x06\x52\x04\x18\x02\x70\x01")) == std::vector<std::string>{"fold"});
  // graph_options { optimizer_options { opt_level: L0 } }
  CHECK(off(std::string("\x52\x0d\x1a\x0b\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")).size() > 5);
  // graph_options { optimizer_options { global_jit_level: OFF } }
  CHECK(off(std::string("\x52\x0d\x1a\x0b\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")) == std::vector<std::string>{"auto_jit"});
  // graph_options { rewrite_options { optimizers: "constfold" } }
  auto rest =
      off(std::string("\x52\x0e\x52\x0c\xa2\x06\x09"
                      "constfold"));
  CHECK(std::find(rest.begin(), rest.end(), "fold") == rest.end());
  CHECK(std::find(rest.begin(), rest.end(), "cse") != rest.end());
  CHECK(!weft_engine::io::disabled_passes(std::string("\x52\x7f")).ok());
}

TEST_CASE("remap: a product with bias and activation") {
  for (const char* act : {"Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid", "Softplus", ""}) {
    CAPTURE(act);
    auto m = optimized(
        [act](Maker& m) {
          Endpoint y = m.op("BiasAdd", {m.op("MatMul", {m.arg(DType::kFloat), m.arg(DType::kFloat)}), m.arg(DType::kFloat)});
          m.ret(*act ? m.op(act, {y}) : y);
        },
        {noise({3, 4}), noise({4, 5}, 2), noise({5}, 3)});
    CHECK(count(m, "_FusedMatMul") == 1);
    CHECK(work(m) == (std::string_view(act) == "Softplus" ? 2 : 1));
  }
}

TEST_CASE("remap: values that others read stay") {
  auto m = optimized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat), w = m.arg(DType::kFloat), b = m.arg(DType::kFloat);
        Endpoint p = m.op("MatMul", {x, w});
        Endpoint y = m.op("BiasAdd", {p, b});
        m.ret(m.op("Relu", {y}));
        m.ret(p);
        Endpoint q = m.op("MatMul", {w, x}), z = m.op("BiasAdd", {q, b});
        m.ret(m.op("Relu", {z}));
        m.ret(z);
      },
      {noise({4, 4}), noise({4, 4}, 2), noise({4}, 3)});
  CHECK(count(m, "MatMul") == 1);
  CHECK(count(m, "_FusedMatMul") == 1);
  CHECK(count(m, "Relu") == 2);
}

TEST_CASE("remap: the forms of gelu") {
  Build build = [](Maker& m) {
    Endpoint x = m.arg(DType::kFloat), w = m.arg(DType::kFloat), b = m.arg(DType::kFloat);
    auto dense = [&](Endpoint in) { return m.op("BiasAdd", {m.op("MatMul", {in, w}), b}); };
    Endpoint y = dense(x);
    y = m.op("Mul", {m.op("Mul", {m.f(0.5f), y}), m.op("Erfc", {m.op("Mul", {m.op("Neg", {y}), m.f(0.70710678f)})})});
    y = dense(y);
    y = m.op("Mul", {m.op("Mul", {m.f(0.5f), y}), m.op("AddV2", {m.f(1), m.op("Erf", {m.op("RealDiv", {y, m.f(1.41421356f)})})})});
    y = dense(y);
    Endpoint c = m.op("AddV2", {y, m.op("Mul", {m.f(0.044715f), m.op("Pow", {y, m.f(3)})})});
    y = m.op("Mul", {m.op("Mul", {m.f(0.5f), y}), m.op("AddV2", {m.f(1), m.op("Tanh", {m.op("Mul", {m.f(0.7978845608f), c})})})});
    m.ret(y);
  };
  auto m = optimized(build, {noise({3, 4}), noise({4, 4}, 2), noise({4}, 3)});
  CHECK(work(m) == 3);
  CHECK(count(m, "_FusedMatMul") == 3);
}

TEST_CASE("remap: a bias behind a change of shape, as in layers over sequences") {
  auto m = specialized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat), w = m.arg(DType::kFloat), b = m.arg(DType::kFloat), heads = m.arg(DType::kFloat);
        Endpoint y = m.op("Reshape", {m.op("MatMul", {m.op("Reshape", {x, m.ints({6, 4})}), w}), m.ints({2, 3, 8})});
        m.ret(m.op("Relu", {m.op("BiasAdd", {y, b})}));
        Endpoint z = m.op("Reshape", {m.op("BatchMatMulV2", {x, m.arg(DType::kFloat)}), m.ints({2, 3, 2, 4})});
        m.ret(m.op("AddV2", {z, heads}));
      },
      {noise({2, 3, 4}), noise({4, 8}, 2), noise({8}, 3), noise({2, 4}, 4), noise({4, 8}, 5)});
  CHECK(count(m, "_FusedMatMul") == 2);
  CHECK(count(m, "BiasAdd") + count(m, "AddV2") + count(m, "Relu") + count(m, "BatchMatMulV2") == 0);
}

TEST_CASE("remap: an addition that is no bias") {
  auto m = specialized(
      [](Maker& m) {
        Endpoint p = m.op("MatMul", {m.arg(DType::kFloat), m.arg(DType::kFloat)});
        m.ret(m.op("AddV2", {p, m.arg(DType::kFloat)}));
      },
      {noise({3, 4}), noise({4, 1}, 2), noise({3}, 3)});
  CHECK(count(m, "_FusedMatMul") == 0);
  m = specialized(
      [](Maker& m) {
        Endpoint p = m.op("MatMul", {m.arg(DType::kFloat), m.arg(DType::kFloat)});
        m.ret(m.op("AddV2", {p, m.arg(DType::kFloat)}));
      },
      {noise({3, 4}), noise({4, 3}, 2), noise({3, 1}, 3)});
  CHECK(count(m, "_FusedMatMul") == 0);
}

TEST_CASE("remap: convolution with normalisation of known statistics, bias and activation") {
  AttrMap conv{{"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "SAME"}};
  auto m = specialized(
      [conv](Maker& m) {
        Endpoint x = m.arg(DType::kFloat), w = m.arg(DType::kFloat), scale = m.arg(DType::kFloat), shift = m.arg(DType::kFloat);
        Endpoint y = m.op("Mul", {m.op("Conv2D", {x, w}, conv), scale});
        m.ret(m.op("Relu", {m.op("AddV2", {y, shift})}));
        m.ret(m.op("BiasAdd", {m.op("Conv2D", {x, m.arg(DType::kFloat)}, conv), shift}));
      },
      {noise({1, 8, 8, 2}), noise({3, 3, 2, 4}, 2), noise({4}, 3), noise({4}, 4), noise({3, 3, 2, 4}, 5)});
  CHECK(count(m, "_FusedConv2D") == 2);
  CHECK(work(m) == 3);  // and the weights' scaling
}

namespace {

const std::vector<DType> kFloat1{DType::kFloat};

// i < limit ? (i + 1, x * (scale + 1), scale, limit, trash + x): an invariant sum, variables that never
// change, and one that nobody needs.
Endpoint make_loop(Maker& m, Endpoint x, Endpoint scale, Endpoint limit) {
  FunctionAttr cond = define(m, "cond", [](Maker& f) {
    Endpoint i = f.arg(DType::kInt32);
    f.arg(DType::kFloat), f.arg(DType::kFloat);
    Endpoint limit = f.arg(DType::kInt32);
    f.arg(DType::kFloat);
    f.ret(f.op("Less", {i, limit}));
  });
  FunctionAttr body = define(m, "body", [](Maker& f) {
    Endpoint i = f.arg(DType::kInt32), x = f.arg(DType::kFloat), scale = f.arg(DType::kFloat), limit = f.arg(DType::kInt32),
             trash = f.arg(DType::kFloat);
    f.ret(f.op("AddV2", {i, f.i(1)}));
    f.ret(f.op("Mul", {x, f.op("AddV2", {f.op("Exp", {scale}), f.f(1)})}));
    f.ret(f.op("Identity", {scale}));
    f.ret(limit);
    f.ret(f.op("AddV2", {trash, x}));
  });
  std::vector<DType> types{DType::kInt32, DType::kFloat, DType::kFloat, DType::kInt32, DType::kFloat};
  Node* loop = m.node("StatelessWhile", {m.i(0), x, scale, limit, x}, {{"T", types}, {"cond", cond}, {"body", body}});
  m.ret({loop, 2});
  return {loop, 1};
}

}  // namespace

TEST_CASE("branches: a constant choice becomes the branch") {
  for (bool yes : {true, false}) {
    auto m = optimized(
        [yes](Maker& m) {
          FunctionAttr then_branch = define(m, "then", [](Maker& f) { f.ret(f.op("Exp", {f.arg(DType::kFloat)})); });
          FunctionAttr else_branch = define(m, "else", [](Maker& f) { f.ret(f.op("Neg", {f.arg(DType::kFloat)})); });
          AttrMap attrs{{"Tcond", DType::kBool}, {"Tin", kFloat1}, {"Tout", kFloat1}, {"then_branch", then_branch}, {"else_branch", else_branch}};
          m.ret(m.op("StatelessIf", {m.op("LogicalNot", {m.constant(Tensor::scalar(!yes))}), m.arg(DType::kFloat)}, attrs));
          AttrMap cases{{"Tin", kFloat1}, {"Tout", kFloat1}, {"branches", std::vector<FunctionAttr>{then_branch, else_branch}}};
          m.ret(m.op("StatelessCase", {m.i(yes ? 0 : 7), m.arg(DType::kFloat)}, cases));
        },
        {noise({3}), noise({3}, 2)});
    CHECK(work(m) == 2);
    CHECK(count(m, yes ? "Exp" : "Neg") == 2);
  }
}

TEST_CASE("branches: a loop that never runs") {
  auto m = optimized(
      [](Maker& m) {
        Endpoint x = m.arg(DType::kFloat), scale = m.arg(DType::kFloat);
        m.ret(make_loop(m, x, scale, m.i(0)));
      },
      {noise({3}), kOne});
  CHECK(work(m) == 0);
}

TEST_CASE("loops: invariant values are computed in front, idle variables go") {
  Build build = [](Maker& m) {
    Endpoint x = m.arg(DType::kFloat), scale = m.arg(DType::kFloat), limit = m.arg(DType::kInt32);
    m.ret(make_loop(m, x, scale, limit));
  };
  for (int limit : {0, 3}) {
    auto m = specialized(build, {noise({3}), kOne, Tensor::scalar(int32_t(limit))});
    REQUIRE(count(m, "StatelessWhile") == 1);
    CHECK(work(m) == 2);  // and the factor, in one node
    for (Node* n : m.g().nodes()) {
      if (n->op() == "StatelessWhile") CHECK(n->num_inputs() == 4);  // i, x, limit and the factor
    }
  }
}

TEST_CASE("loops: reads of variables move out where nothing writes") {
  for (bool write : {false, true}) {
    Maker m;
    Endpoint v = m.arg(DType::kResource), n = m.arg(DType::kInt32);
    FunctionAttr cond = define(m, "cond", [](Maker& f) {
      Endpoint i = f.arg(DType::kInt32);
      f.arg(DType::kResource);
      f.ret(f.op("Less", {i, f.arg(DType::kInt32)}));
    });
    FunctionAttr body = define(m, "body", [write](Maker& f) {
      Endpoint i = f.arg(DType::kInt32), v = f.arg(DType::kResource), n = f.arg(DType::kInt32);
      Endpoint value = f.op("ReadVariableOp", {v}, {{"dtype", DType::kInt32}});
      if (write) f.node("AssignVariableOp", {v, i}, {{"dtype", DType::kInt32}}, {value.node});
      f.ret(f.op("AddV2", {i, value}));
      f.ret(v);
      f.ret(n);
    });
    std::vector<DType> types{DType::kInt32, DType::kResource, DType::kInt32};
    Node* before = m.node("AssignVariableOp", {v, m.i(1)}, {{"dtype", DType::kInt32}});
    Node* loop = m.node("While", {m.i(0), v, n}, {{"T", types}, {"cond", cond}, {"body", body}}, {before});
    m.ret({loop, 0});
    PassContext c;
    must(optimize(m.body, c));
    CHECK(count(m, "ReadVariableOp") == (write ? 0 : 1));
    for (Node* r : m.g().nodes()) {
      if (r->op() == "ReadVariableOp") CHECK(r->control_inputs() == std::vector<Node*>{before});
    }
  }
}

TEST_CASE("calls by name: inlined, or calls of an op") {
  for (bool inlined : {true, false}) {
    Build build = [](Maker& m) {
      define(m, "twice", [](Maker& f) {
        Endpoint x = f.arg(DType::kFloat);
        f.ret(f.op("AddV2", {x, x}));
      });
      m.ret(m.op("twice", {m.arg(DType::kFloat)}));
    };
    Maker m;
    build(m);
    PassContext c;
    if (!inlined) c.disabled = {"inline"};
    must(optimize(m.body, c));
    CHECK(count(m, "AddV2") == (inlined ? 1 : 0));
    CHECK(count(m, "PartitionedCall") == (inlined ? 0 : 1));
    std::vector<Tensor> rets;
    must(interpret(m.body, {Tensor::scalar(2.f)}, rets));
    CHECK(rets[0].data<float>()[0] == 4);
  }
}
