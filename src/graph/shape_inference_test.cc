// Shapes over graphs: constants that decide about shapes, calls, loops of both kinds. What one node's rule
// answers is compared with TensorFlow in tests/graph_client.
#include <doctest/doctest.h>

#include "engine/engine.h"
#include "graph/function_body.h"
#include "graph/function_library.h"
#include "graph/shape_inference.h"

using namespace weft_engine;         // NOLINT
using namespace weft_engine::graph;  // NOLINT

namespace {

struct Builder {
  Graph graph{engine::Engine::get().registry()};
  ShapeInference shapes{graph};
  int count = 0;

  Endpoint add(std::string_view op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    auto n = graph.add(cat("n", count++), op, std::move(attrs), std::move(inputs));
    REQUIRE_MESSAGE(n.ok(), n.status().message());
    Status s = shapes.node(*n);
    CHECK_MESSAGE(s.ok(), s.message());
    return {*n, 0};
  }
  Endpoint placeholder(PartialShape shape, DType type = DType::kFloat) { return add("Placeholder", {}, {{"dtype", type}, {"shape", shape}}); }
  Endpoint ints(std::vector<int32_t> v) {
    auto n = graph.add_const(cat("n", count++), Tensor::vector(v));
    REQUIRE(n.ok());
    CHECK(shapes.node(*n).ok());
    return {*n, 0};
  }
  Endpoint scalar(int32_t v) {
    auto n = graph.add_const(cat("n", count++), Tensor::scalar(v));
    REQUIRE(n.ok());
    CHECK(shapes.node(*n).ok());
    return {*n, 0};
  }
};

std::string shape(Endpoint e) { return size_t(e.index) < e.node->shapes.size() ? e.node->shapes[size_t(e.index)].to_string() : "(none)"; }

NodeDef node(std::string name, std::string op, std::vector<std::string> inputs, AttrMap attrs = {}) {
  NodeDef n;
  n.name = std::move(name);
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.attrs = std::move(attrs);
  return n;
}

// A function of float tensors.
FunctionDef function(std::string name, std::vector<std::string> in, std::vector<std::pair<std::string, std::string>> out, std::vector<NodeDef> nodes,
                     DType type = DType::kFloat) {
  FunctionDef f;
  f.name = std::move(name);
  for (auto& i : in) {
    ArgDef a;
    a.name = i;
    a.type = type;
    f.inputs.push_back(a);
  }
  for (auto& [o, from] : out) {
    ArgDef a;
    a.name = o;
    a.type = type;
    f.outputs.push_back(a);
    f.ret[o] = from;
  }
  f.nodes = std::move(nodes);
  return f;
}

FunctionAttr named(std::string name) { return {std::move(name), nullptr}; }

}  // namespace

TEST_CASE("shapes computed in the graph are known as far as their parts are") {
  Builder b;
  Endpoint x = b.placeholder({-1, 3, 8});
  Endpoint s = b.add("Shape", {x});
  CHECK(shape(b.add("Fill", {s, b.scalar(0)})) == "[?,3,8]");
  Endpoint head = b.add("StridedSlice", {s, b.ints({0}), b.ints({1}), b.ints({1})}, {{"shrink_axis_mask", 1}});
  Endpoint last = b.add("StridedSlice", {s, b.ints({-1}), b.ints({0}), b.ints({1})}, {{"shrink_axis_mask", 1}});
  Endpoint packed = b.add("Pack", {head, b.add("Mul", {last, b.scalar(2)})});
  CHECK(shape(b.add("Fill", {packed, b.scalar(0)})) == "[?,16]");
  Endpoint tail = b.add("StridedSlice", {s, b.ints({1}), b.ints({0}), b.ints({1})}, {{"end_mask", 1}});
  CHECK(shape(b.add("Fill", {tail, b.scalar(0)})) == "[3,8]");
  CHECK(b.shapes.value(tail).has_value());
  CHECK_FALSE(b.shapes.value(head).has_value());
  Endpoint joined = b.add("ConcatV2", {tail, b.ints({5}), b.scalar(0)});
  CHECK(shape(b.add("Fill", {joined, b.scalar(0)})) == "[3,8,5]");
  CHECK(shape(b.add("Reshape", {b.placeholder({}), b.add("Cast", {s}, {{"DstT", DType::kInt64}})})) == "[?,3,8]");
}

TEST_CASE("a rule that fails names the node, its inputs and the values used") {
  Builder b;
  Endpoint x = b.placeholder({2, 3});
  auto n = b.graph.add("bad", "Transpose", {}, {x, b.ints({1, 2})});
  REQUIRE(n.ok());
  Status s = b.shapes.node(*n);
  CHECK(s.message() ==
        "perm dim 2 is out of range of input rank 2 for '{{node bad}} = Transpose[T=DT_FLOAT, Tperm=DT_INT32](n0, n1)' "
        "with input shapes: [2,3], [2] and with computed input tensors: input[1] = <1 2>.");
  CHECK((*n)->shapes.empty());
}

TEST_CASE("calls go through the body; arguments bring their values") {
  Builder b;
  REQUIRE(b.graph.library()->add(function("sum", {"a", "b"}, {{"y", "add:z:0"}}, {node("add", "AddV2", {"a", "b"}, {{"T", DType::kFloat}})})).ok());
  FunctionDef fill = function("fill", {"dims"}, {{"y", "f:output:0"}},
                              {node("f", "Fill", {"dims", "dims"}, {{"T", DType::kInt32}, {"index_type", DType::kInt32}})}, DType::kInt32);
  fill.nodes[0].inputs[1] = "zero:output:0";
  fill.nodes.push_back(node("zero", "Const", {}, {{"dtype", DType::kInt32}, {"value", Tensor::scalar<int32_t>(0)}}));
  REQUIRE(b.graph.library()->add(fill).ok());
  Endpoint x = b.placeholder({2, 1}), y = b.placeholder({5}), z = b.placeholder({3, 3});
  CHECK(shape(b.add("sum", {x, y})) == "[2,5]");
  AttrMap call{{"Tin", std::vector<DType>{DType::kFloat, DType::kFloat}}, {"Tout", std::vector<DType>{DType::kFloat}}, {"f", named("sum")}};
  CHECK(shape(b.add("PartitionedCall", {x, y}, call)) == "[2,5]");
  CHECK(shape(b.add("fill", {b.ints({4, 7})})) == "[4,7]");
  auto bad = b.graph.add("bad", "sum", {}, {y, z});
  REQUIRE(bad.ok());
  CHECK(b.shapes.node(*bad).message() ==
        "Dimensions must be equal, but are 5 and 3 for '{{node add}} = AddV2[T=DT_FLOAT](a, b)' with input shapes: [5], [3,3].");
  // Over the whole graph the node is left unknown, and the others keep what they have.
  CHECK(infer_all(b.graph).ok());
  CHECK(shape({*bad, 0}) == "<unknown>");
}

TEST_CASE("a function that calls itself ends") {
  Builder b;
  REQUIRE(b.graph.library()->add(function("again", {"a"}, {{"y", "c:y:0"}}, {node("c", "again", {"a"})})).ok());
  CHECK(shape(b.add("again", {b.placeholder({2})})) == "<unknown>");
}

TEST_CASE("functional loops and branches keep what every round has") {
  Builder b;
  auto lib = b.graph.library();
  const AttrMap t{{"T", DType::kFloat}};
  REQUIRE(lib->add(function("body", {"x", "g"}, {{"a", "x"}, {"b", "cat:output:0"}},
                            {node("axis", "Const", {}, {{"dtype", DType::kInt32}, {"value", Tensor::scalar<int32_t>(0)}}),
                             node("cat", "ConcatV2", {"g", "x", "axis:output:0"}, {{"N", 2}, {"T", DType::kFloat}, {"Tidx", DType::kInt32}})}))
              .ok());
  REQUIRE(lib->add(function("cond", {"x", "g"}, {{"c", "x"}}, {})).ok());
  REQUIRE(lib->add(function("then", {"x"}, {{"y", "x"}}, {})).ok());
  REQUIRE(lib->add(function("else", {"x"}, {{"y", "n:y:0"}}, {node("n", "Neg", {"x"}, t)})).ok());
  REQUIRE(lib->add(function("other", {"x"}, {{"y", "s:output:0"}},
                            {node("z", "Const", {}, {{"dtype", DType::kInt32}, {"value", Tensor::scalar<int32_t>(0)}}),
                             node("s", "Sum", {"x", "z:output:0"}, {{"T", DType::kFloat}, {"Tidx", DType::kInt32}, {"keep_dims", true}})}))
              .ok());
  Endpoint x = b.placeholder({4, 3}), g = b.placeholder({1, 3});
  const std::vector<DType> two{DType::kFloat, DType::kFloat}, one{DType::kFloat};
  Endpoint w = b.add("While", {x, g}, {{"T", two}, {"cond", named("cond")}, {"body", named("body")}});
  Endpoint p = b.placeholder(PartialShape::scalar(), DType::kBool);
  auto branch = [&](const char* other) {
    return b.add("StatelessIf", {p, x},
                 {{"Tcond", DType::kBool}, {"Tin", one}, {"Tout", one}, {"then_branch", named("then")}, {"else_branch", named(other)}});
  };
  Endpoint same = branch("else"), less = branch("other");
  REQUIRE(infer_all(b.graph).ok());
  CHECK(shape(w) == "[4,3]");
  CHECK(shape({w.node, 1}) == "[?,3]");
  CHECK(shape(same) == "[4,3]");
  CHECK(shape(less) == "[?,3]");
}

TEST_CASE("loops of Enter, Merge and NextIteration find their fixed point") {
  Builder b;
  Endpoint x = b.placeholder({4, 3}), p = b.placeholder(PartialShape::scalar(), DType::kBool);
  auto loop = [&](bool grows) {
    Endpoint enter = b.add("Enter", {x}, {{"frame_name", "f"}});
    const DType types[] = {DType::kFloat, DType::kFloat};
    Node* merge = *b.graph.add(cat("merge", grows), "Merge", {{"N", 2}, {"T", DType::kFloat}}, {enter, {}}, {}, types);
    CHECK(b.shapes.node(merge).ok());
    Endpoint sw = b.add("Switch", {{merge, 0}, p});
    Endpoint in{sw.node, 1};
    Endpoint next = b.add("NextIteration", {grows ? b.add("ConcatV2", {in, in, b.scalar(0)}) : b.add("Neg", {in})});
    b.graph.set_input(merge, 1, next);
    return b.add("Exit", {{sw.node, 0}});
  };
  Endpoint keeps = loop(false), grows = loop(true);
  REQUIRE(infer_all(b.graph).ok());
  CHECK(shape(keeps) == "[4,3]");
  CHECK(shape(grows) == "[?,3]");
}

TEST_CASE("arguments of a body get the shapes of the call") {
  auto f = function("f", {"a", "b"}, {{"y", "m:product:0"}}, {node("m", "MatMul", {"a", "b"}, {{"T", DType::kFloat}})});
  auto body = instantiate_function(f, {}, engine::Engine::get().registry(), nullptr);
  REQUIRE(body.ok());
  REQUIRE(infer_all(*body->graph, {{{-1, 4}, {4, 7}}, {}}).ok());
  CHECK(shape(body->rets[0]->input(0)) == "[?,7]");
  REQUIRE(infer_all(*body->graph).ok());
  CHECK(shape(body->rets[0]->input(0)) == "[?,?]");
}

TEST_CASE("variables tell what they hold") {
  Builder b;
  Endpoint v = b.add("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape{2, 3}}});
  CHECK(shape(b.add("ReadVariableOp", {b.add("Identity", {v})}, {{"dtype", DType::kFloat}})) == "[2,3]");
  Endpoint s = b.add("VariableShape", {v});
  CHECK(shape(b.add("Fill", {s, b.scalar(1)})) == "[2,3]");
}

TEST_CASE("a function is looked at once, however many ways lead to it") {
  // f60 calls f59 twice, and so on: 2^60 calls. A call adds one dimension of 2 at the bottom.
  Builder b;
  REQUIRE(b.graph.library()->add(function("f0", {"x"}, {{"y", "y:z:0"}}, {node("y", "AddV2", {"x", "x"}, {{"T", DType::kFloat}})})).ok());
  for (int i = 1; i <= 60; ++i) {
    const AttrMap call{{"Tin", std::vector<DType>{DType::kFloat}}, {"Tout", std::vector<DType>{DType::kFloat}}, {"f", named(cat("f", i - 1))}};
    REQUIRE(b.graph.library()
                ->add(function(cat("f", i), {"x"}, {{"y", "b:output:0"}},
                               {node("a", "PartitionedCall", {"x"}, call), node("b", "PartitionedCall", {"a:output:0"}, call)}))
                .ok());
  }
  const AttrMap call{{"Tin", std::vector<DType>{DType::kFloat}}, {"Tout", std::vector<DType>{DType::kFloat}}, {"f", named("f60")}};
  CHECK(shape(b.add("PartitionedCall", {b.placeholder({2, -1})}, call)) == "[2,?]");
  CHECK(shape(b.add("PartitionedCall", {b.placeholder({3})}, call)) == "[3]");
}

TEST_CASE("calls a thousand deep have shapes") {
  Builder b;
  REQUIRE(b.graph.library()->add(function("f0", {"x"}, {{"y", "y:output:0"}}, {node("y", "Identity", {"x"}, {{"T", DType::kFloat}})})).ok());
  for (int i = 1; i <= 1000; ++i) {
    const AttrMap call{{"Tin", std::vector<DType>{DType::kFloat}}, {"Tout", std::vector<DType>{DType::kFloat}}, {"f", named(cat("f", i - 1))}};
    REQUIRE(b.graph.library()->add(function(cat("f", i), {"x"}, {{"y", "a:output:0"}}, {node("a", "PartitionedCall", {"x"}, call)})).ok());
  }
  const AttrMap call{{"Tin", std::vector<DType>{DType::kFloat}}, {"Tout", std::vector<DType>{DType::kFloat}}, {"f", named("f1000")}};
  CHECK(shape(b.add("PartitionedCall", {b.placeholder({2, -1})}, call)) == "[2,?]");
}

TEST_CASE("vectors that are joined with themselves again and again") {
  Builder b;
  Endpoint v = b.add("Shape", {b.placeholder({-1, 2})});
  for (int i = 0; i < 150; ++i) v = b.add("ConcatV2", {v, v, b.scalar(0)});  // 2^150 parts
  CHECK(shape(b.add("Reshape", {b.placeholder({}), v})) == "<unknown>");
}

TEST_CASE("what was found of a function does not outlive what it calls") {
  const AttrMap types{{"Tin", std::vector<DType>{DType::kFloat}}, {"Tout", std::vector<DType>{DType::kFloat}}};
  const auto call = [&](std::string name) {
    AttrMap attrs = types;
    attrs["f"] = named(std::move(name));
    return attrs;
  };
  Builder b;
  auto& library = *b.graph.library();
  REQUIRE(library.add(function("outer", {"x"}, {{"y", "a:output:0"}}, {node("a", "PartitionedCall", {"x"}, call("inner"))})).ok());
  Endpoint x = b.placeholder({2, 3});
  CHECK(shape(b.add("PartitionedCall", {x}, call("outer"))) == "<unknown>");  // there is no such function yet
  REQUIRE(library.add(function("inner", {"x"}, {{"y", "i:output:0"}}, {node("i", "Identity", {"x"}, {{"T", DType::kFloat}})})).ok());
  CHECK(shape(b.add("PartitionedCall", {x}, call("outer"))) == "[2,3]");
  REQUIRE(library.remove("inner").ok());
  REQUIRE(library
              .add(function("inner", {"x"}, {{"y", "s:output:0"}},
                            {node("z", "Const", {}, {{"dtype", DType::kInt32}, {"value", Tensor::vector(std::vector<int32_t>{0})}}),
                             node("s", "Sum", {"x", "z:output:0"}, {{"T", DType::kFloat}, {"Tidx", DType::kInt32}})}))
              .ok());
  CHECK(shape(b.add("PartitionedCall", {x}, call("outer"))) == "[3]");
  // In another graph of the same library, too.
  Graph other(engine::Engine::get().registry(), b.graph.library());
  auto n = other.add("x", "Placeholder", {{"dtype", DType::kFloat}, {"shape", PartialShape({2, 3})}}, {});
  REQUIRE(n.ok());
  REQUIRE(infer_node(other, *n).ok());
  auto y = other.add("y", "PartitionedCall", call("outer"), {{*n, 0}});
  REQUIRE(y.ok());
  REQUIRE(infer_node(other, *y).ok());
  CHECK((*y)->shapes[0].to_string() == "[3]");
}
