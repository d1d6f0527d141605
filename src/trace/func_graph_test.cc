// A function while it is traced: names, captures, and side effects in program order, as TensorFlow's FuncGraph has them.
#include <doctest/doctest.h>

#include "engine/engine.h"
#include "trace/func_graph.h"

namespace weft_engine::trace {
namespace {

using core::Tensor;

struct Trace {
  eager::Context context{engine::Engine::get().registry(), {}};
  std::shared_ptr<FuncGraph> graph = FuncGraph::make(context, "f", nullptr);
  Value argument(const char* name, DType dtype, const PartialShape& shape) {
    auto v = graph->add_argument(name, dtype, shape);
    REQUIRE(v.ok());
    return *v;
  }
  std::vector<Value> apply(std::string_view op, std::vector<Value> inputs, AttrMap attrs = {}) {
    auto out = graph->emitter().apply(op, inputs, std::move(attrs));
    REQUIRE(graph->emitter().take_status().ok());
    return out;
  }
};

TEST_CASE("names are made as TensorFlow's graphs make them, without regard to case") {
  Trace t;
  std::vector<std::string> got;
  for (const char* name : {"a", "a", "A", "b/c", "a_1", "a"}) got.push_back(t.graph->unique_name(name));
  CHECK(got == std::vector<std::string>{"a", "a_1", "A_2", "b/c", "a_1_1", "a_3"});
}

TEST_CASE("shapes are known while it is traced") {
  Trace t;
  const Value x = t.argument("x", DType::kFloat, PartialShape({-1, 3}));
  const Value y = t.argument("y", DType::kFloat, PartialShape({3, 4}));
  const Value product = t.apply("MatMul", {x, y})[0];
  CHECK(cat(product.shape()) == "[?,4]");
  CHECK(t.graph->arguments().size() == 2);
}

TEST_CASE("a value of elsewhere is captured once") {
  Trace t;
  EagerEmitter eager(t.context);
  auto big = Tensor::allocate(DType::kFloat, Shape({1000}));
  REQUIRE(big.ok());
  for (int i = 0; i < 1000; ++i) big->data<float>()[i] = float(i);
  const Value outside = eager.constant(*big);
  auto first = t.graph->capture(outside, {}), second = t.graph->capture(outside, {});
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(t.graph->captures().size() == 1);
  CHECK(first->rep() != nullptr);
}

TEST_CASE("writes of one variable keep their order") {
  Trace t;
  const Value handle = t.argument("v", DType::kResource, PartialShape::scalar());
  const Value one = t.graph->emitter().constant(Tensor::scalar(1.0f));
  t.apply("AssignAddVariableOp", {handle, one});
  t.apply("AssignAddVariableOp", {handle, one});
  t.apply("ReadVariableOp", {handle}, {{"dtype", DType::kFloat}});
  std::vector<graph::Node*> writes, reads;
  for (graph::Node* n : t.graph->graph().nodes()) {
    if (n->op() == "AssignAddVariableOp") writes.push_back(n);
    if (n->op() == "ReadVariableOp") reads.push_back(n);
  }
  REQUIRE(writes.size() == 2);
  REQUIRE(reads.size() == 1);
  CHECK(writes[0]->control_inputs().empty());
  CHECK(writes[1]->control_inputs() == std::vector<graph::Node*>{writes[0]});
  CHECK(reads[0]->control_inputs() == std::vector<graph::Node*>{writes[1]});
  CHECK(t.graph->writes(graph::Endpoint{t.graph->arguments()[0], 0}));
}

}  // namespace
}  // namespace weft_engine::trace
