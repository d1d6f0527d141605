// Graphs to IR: what the walk, calls, branches, loops, lists and variables become, followed on numbers (interpret.h).
#include "compiler/lower.h"
#include "graph/passes/testing.h"
#include "graph/while_loop.h"
#include "tests/compiler/interpret.h"

namespace weft_engine {
namespace {

using namespace graph;           // NOLINT
using namespace graph::testing;  // NOLINT
using compiler::LowerOptions;
using core::PartialShape;
using testing_array = weft_engine::testing::Array;

testing_array real(std::vector<int64_t> dims, std::vector<double> v) { return {DType::kFloat, std::move(dims), std::move(v), {}, {}}; }
testing_array whole(std::vector<int64_t> dims, std::vector<int64_t> v) { return {DType::kInt32, std::move(dims), {}, {}, std::move(v)}; }

LowerOptions with_shapes(std::vector<PartialShape> shapes) {
  LowerOptions o;
  for (auto& s : shapes) {
    compiler::ArgInfo a;
    a.shape = s;
    o.args.push_back(a);
  }
  return o;
}

struct LoweredModule {
  std::unique_ptr<ir::Module> module;
  std::string error;
  std::vector<testing_array> run(const std::vector<testing_array>& in) const {
    REQUIRE_MESSAGE(module, error);
    std::vector<int64_t> symbols;
    for (const ir::Symbol& s : module->symbols) symbols.push_back(in[size_t(s.parameter)].dims[size_t(s.dim)]);
    const auto got = weft_engine::testing::interpret(*module, in, symbols);
    CHECK(got.error == 0);
    return got.results;
  }
};

LoweredModule lowered(Maker& m, const LowerOptions& o) {
  LoweredModule out;
  std::vector<PartialShape> shapes;
  for (const auto& a : o.args) shapes.push_back(a.shape);
  const Status s = compiler::prepare(m.body, shapes, {});
  REQUIRE_MESSAGE(s.ok(), s.to_string());
  auto module = compiler::lower(m.body, o);
  if (module.ok()) out.module = std::move(module).value();
  else out.error = std::string(module.status().message());
  return out;
}

// vars -> (i < 3), and vars -> (i + 1, ...)
FunctionAttr less_than(Maker& m, const std::string& name, std::vector<DType> types, int32_t limit) {
  return define(m, name, [&](Maker& f) {
    std::vector<Endpoint> in;
    for (DType t : types) in.push_back(f.arg(t));
    f.ret(f.op("Less", {in[0], f.i(limit)}));
  });
}

}  // namespace

TEST_CASE("open sizes are symbols, and those that must be equal become one with a guard") {
  Maker m;
  const Endpoint x = m.arg(DType::kFloat), y = m.arg(DType::kFloat);
  m.ret(m.op("Mul", {m.op("AddV2", {x, y}), m.f(2)}));
  const LoweredModule l = lowered(m, with_shapes({PartialShape{-1, 2}, PartialShape{-1, 2}}));
  const auto out = l.run({real({1, 2}, {1, 2}), real({1, 2}, {3, 5})});
  CHECK(out.at(0).f == std::vector<double>{8, 14});
  REQUIRE(l.module->symbols.size() == 2);
  CHECK(l.module->symbols[0].name == "batch");
  REQUIRE(l.module->guards.size() == 1);
  CHECK(l.module->guards[0].text == "the size arg1_0 must be batch");
}

TEST_CASE("ops without a rule are named together") {
  Maker m;
  const Endpoint x = m.arg(DType::kFloat);
  m.ret(m.op("AddV2", {m.op("RandomShuffle", {x}), m.op("UniqueWithCounts", {x})}));
  const LoweredModule l = lowered(m, with_shapes({PartialShape{2}}));
  CHECK(l.error.find("RandomShuffle (RandomShuffle)") != std::string::npos);
  CHECK(l.error.find("UniqueWithCounts (UniqueWithCounts)") != std::string::npos);
}

TEST_CASE("a loop keeps what it pushes, and its length is known afterwards") {
  Maker m;
  const std::vector<DType> types{DType::kInt32, DType::kFloat, DType::kVariant};
  const Endpoint x = m.arg(DType::kFloat);
  const FunctionAttr cond = less_than(m, "cond", types, 3);
  const FunctionAttr body = define(m, "body", [&](Maker& f) {
    const Endpoint i = f.arg(DType::kInt32), v = f.arg(DType::kFloat), list = f.arg(DType::kVariant);
    f.ret(f.op("AddV2", {i, f.i(1)}));
    f.ret(f.op("Mul", {v, f.f(2)}));
    f.ret(f.op("TensorListPushBack", {list, v}, {{"element_dtype", DType::kFloat}}));
  });
  const Endpoint list = m.op("EmptyTensorList", {m.i(-1), m.i(-1)}, {{"element_dtype", DType::kFloat}, {"shape_type", DType::kInt32}});
  Node* loop = m.node("While", {m.i(0), x, list}, {{"T", types}, {"cond", cond}, {"body", body}});
  m.ret(m.op("TensorListStack", {{loop, 2}, m.i(-1)}, {{"element_dtype", DType::kFloat}}));
  m.ret({loop, 1});
  const LoweredModule l = lowered(m, with_shapes({PartialShape{2}}));
  const auto out = l.run({real({2}, {1, 3})});
  CHECK(out.at(0).dims == std::vector<int64_t>{3, 2});
  CHECK(out.at(0).f == std::vector<double>{1, 3, 2, 6, 4, 12});
  CHECK(out.at(1).f == std::vector<double>{8, 24});
}

TEST_CASE("a list without a bound is refused with what to do") {
  Maker m;
  const std::vector<DType> types{DType::kFloat, DType::kVariant};
  const Endpoint x = m.arg(DType::kFloat);
  const FunctionAttr cond = define(m, "cond", [&](Maker& f) {
    const Endpoint v = f.arg(DType::kFloat);
    f.arg(DType::kVariant);
    f.ret(f.op("Less", {v, f.f(100)}));
  });
  const FunctionAttr body = define(m, "body", [&](Maker& f) {
    const Endpoint v = f.arg(DType::kFloat), list = f.arg(DType::kVariant);
    f.ret(f.op("Mul", {v, f.f(2)}));
    f.ret(f.op("TensorListPushBack", {list, v}, {{"element_dtype", DType::kFloat}}));
  });
  const Endpoint list = m.op("EmptyTensorList", {m.i(-1), m.i(-1)}, {{"element_dtype", DType::kFloat}, {"shape_type", DType::kInt32}});
  Node* loop = m.node("While", {x, list}, {{"T", types}, {"cond", cond}, {"body", body}});
  m.ret(m.op("TensorListStack", {{loop, 1}, m.i(-1)}, {{"element_dtype", DType::kFloat}}));
  CHECK(lowered(m, with_shapes({PartialShape::scalar()})).error.find("maximum_iterations") != std::string::npos);
}

TEST_CASE("variables come in and go out; branches and loops carry those that they write") {
  Maker m;
  const Endpoint x = m.arg(DType::kFloat);
  const Endpoint v = m.op("VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape{2}}, {"shared_name", std::string("v")}});
  const FunctionAttr add = define(m, "add", [&](Maker& f) {
    const Endpoint h = f.arg(DType::kResource), a = f.arg(DType::kFloat);
    Node* n = f.node("AssignAddVariableOp", {h, a}, {{"dtype", DType::kFloat}});
    f.ret(f.op("ReadVariableOp", {h}, {{"dtype", DType::kFloat}}, {n}));
  });
  const FunctionAttr keep = define(m, "keep", [&](Maker& f) {
    f.arg(DType::kResource);
    f.ret(f.op("Neg", {f.arg(DType::kFloat)}));
  });
  const Endpoint positive = m.op("Greater", {m.op("Sum", {x, m.ints({0})}), m.f(0)});
  Node* branch = m.node("If", {positive, v, x},
                        {{"Tcond", DType::kBool},
                         {"Tin", std::vector<DType>{DType::kResource, DType::kFloat}},
                         {"Tout", std::vector<DType>{DType::kFloat}},
                         {"then_branch", add},
                         {"else_branch", keep}});
  const std::vector<DType> types{DType::kInt32, DType::kResource};
  const FunctionAttr cond = less_than(m, "cond", types, 2);
  const FunctionAttr body = define(m, "body", [&](Maker& f) {
    const Endpoint i = f.arg(DType::kInt32), h = f.arg(DType::kResource);
    Node* n = f.node("AssignAddVariableOp", {h, f.constant(Tensor::vector(std::vector<float>{1, 1}))}, {{"dtype", DType::kFloat}});
    f.ret(f.op("AddV2", {i, f.i(1)}, {}, {n}));
    f.ret(h);
  });
  Node* loop = m.node("While", {m.i(0), v}, {{"T", types}, {"cond", cond}, {"body", body}}, {branch});
  m.ret({branch, 0});
  m.ret(m.op("ReadVariableOp", {v}, {{"dtype", DType::kFloat}}, {loop}));
  LowerOptions o = with_shapes({PartialShape{2}});
  compiler::VariableInfo info;
  info.name = "v";
  info.dtype = DType::kFloat;
  info.shape = PartialShape{2};
  o.variables.push_back(info);
  o.variable_of = [](const op::NodeInfo&) { return std::optional<int>(0); };
  const LoweredModule l = lowered(m, o);
  auto out = l.run({real({2}, {1, 3}), real({2}, {10, 20})});
  REQUIRE(out.size() == 3);
  CHECK(out[0].f == std::vector<double>{11, 23});
  CHECK(out[1].f == std::vector<double>{13, 25});
  CHECK(out[2].f == std::vector<double>{13, 25});
  CHECK(l.module->results[2].state == 1);
  out = l.run({real({2}, {-1, -3}), real({2}, {10, 20})});
  CHECK(out[0].f == std::vector<double>{1, 3});
  CHECK(out[1].f == std::vector<double>{12, 22});

  o.variables[0].constant = Tensor::vector(std::vector<float>{1, 2});
  auto frozen = compiler::lower(m.body, o);
  CHECK(std::string(frozen.status().message()).find("variable 'v' is read-only here") != std::string::npos);
}

TEST_CASE("loops of version 1 become While") {
  Maker m;
  const Endpoint x = m.arg(DType::kFloat), n = m.arg(DType::kInt32);
  Maker cond, body;
  WhileLoop loop;
  loop.name = "loop";
  loop.inputs = {m.i(0), x, n};
  const auto part = [](Maker& f, LoopPart& p) {
    p.graph = &f.g();
    for (DType t : {DType::kInt32, DType::kFloat, DType::kInt32}) p.inputs.push_back(f.op("Placeholder", {}, {{"dtype", t}}));
  };
  part(cond, loop.cond);
  loop.cond.outputs = {cond.op("Less", {loop.cond.inputs[0], loop.cond.inputs[2]})};
  part(body, loop.body);
  loop.body.outputs = {body.op("AddV2", {loop.body.inputs[0], body.i(1)}), body.op("Mul", {loop.body.inputs[1], body.f(3)}), loop.body.inputs[2]};
  const auto made = must(build_while_loop(m.g(), loop));
  m.ret(made.outputs[1]);
  const LoweredModule l = lowered(m, with_shapes({PartialShape{2}, PartialShape::scalar()}));
  CHECK(l.run({real({2}, {1, 2}), whole({}, {3})}).at(0).f == std::vector<double>{27, 54});
  CHECK(l.run({real({2}, {1, 2}), whole({}, {0})}).at(0).f == std::vector<double>{1, 2});
}

// TensorFlow puts the false side first; a graph from elsewhere need not.
TEST_CASE("a branch of version 1 is an If whichever side its Merge reads first") {
  for (const bool true_first : {false, true}) {
    CAPTURE(true_first);
    Maker m;
    const Endpoint x = m.arg(DType::kFloat), n = m.arg(DType::kInt32);
    Node* split = m.node("Switch", {x, m.op("Greater", {n, m.i(0)})});
    const Endpoint yes = m.op("Neg", {{split, 1}}), no = m.op("Square", {{split, 0}});
    Node* merge = m.node("Merge", true_first ? std::vector<Endpoint>{yes, no} : std::vector<Endpoint>{no, yes});
    m.ret({merge, 0});
    m.ret({merge, 1});
    const LoweredModule l = lowered(m, with_shapes({PartialShape{2}, PartialShape::scalar()}));
    const auto taken = l.run({real({2}, {3, -2}), whole({}, {1})}), left = l.run({real({2}, {3, -2}), whole({}, {0})});
    CHECK(taken.at(0).f == std::vector<double>{-3, 2});
    CHECK(left.at(0).f == std::vector<double>{9, 4});
    CHECK(taken.at(1).n == std::vector<int64_t>{true_first ? 0 : 1});
    CHECK(left.at(1).n == std::vector<int64_t>{true_first ? 1 : 0});
  }
}

TEST_CASE("version 1 control flow that is not a plain loop or branch is refused by name") {
  Maker m;
  const Endpoint x = m.arg(DType::kFloat);
  m.ret(m.op("Merge", {m.op("Neg", {x}), m.op("Square", {x})}));
  const Status s = compiler::prepare(m.body, {PartialShape{2}}, {});
  CHECK(s.code() == core::Code::kUnimplemented);
  CHECK(s.message().find("Merge 'Merge' has no Switch behind it") != std::string_view::npos);
}

}  // namespace weft_engine
