// OpCall, through which user code calls ops: eager calls, nodes, tapes, and where an error says it came from.
#include "trace/op_call.h"

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "trace/concrete_function.h"

namespace weft_engine::trace {
namespace {

struct Fixture {
  eager::Context context{engine::Engine::get().registry(), {}};
  RefPtr<eager::TensorHandle> scalar(float v) { return eager::TensorHandle::make(Tensor::scalar<float>(v), nullptr); }
};

float value(const eager::TensorHandle& h) { return h.tensor().data<float>()[0]; }

}  // namespace

TEST_CASE("the fast form runs an op of the registry and one by name") {
  Fixture d;
  for (int i = 0; i < 3; ++i) {
    OpCall call(d.context);
    REQUIRE(call.reset(*d.context.registry().find("Mul")).ok());
    call.add_input(d.scalar(3));
    call.add_input(d.scalar(4));
    RefPtr<eager::TensorHandle> out;
    REQUIRE(call.run_one(out).ok());
    CHECK(value(*out) == 12);
    OpCall inner(d.context);  // while the first is in use
    REQUIRE(inner.reset("Neg").ok());
    inner.add_input(out);
    REQUIRE(inner.run_one(out).ok());
    CHECK(value(*out) == -12);
  }
}

TEST_CASE("tapes hear of calls whose inputs they watch") {
  Fixture d;
  EagerEmitter& emitter = eager_emitter(d.context);
  auto x = d.scalar(5), other = d.scalar(7);
  Tape tape(false);
  tape.watch(emitter.wrap(x));
  TapeStack::current().push(&tape);
  auto square = [&](const RefPtr<eager::TensorHandle>& of) {
    OpCall call(d.context);
    REQUIRE(call.reset("Square").ok());
    call.add_input(of);
    RefPtr<eager::TensorHandle> out;
    REQUIRE(call.run_one(out).ok());
    return out;
  };
  auto y = square(x);
  square(other);
  TapeStack::current().pop(&tape);
  CHECK(tape.num_records() == 1);
  const Value target = emitter.wrap(y), source = emitter.wrap(x);
  auto grads = tape.gradient(emitter, {&target, 1}, {&source, 1}, {});
  REQUIRE(grads.ok());
  CHECK(value(*eager_handle((*grads)[0])) == 10);
}

TEST_CASE("in a trace the call is a node, and nothing runs") {
  Fixture d;
  auto g = FuncGraph::make(d.context, "f", nullptr);
  auto x = g->add_argument("x", DType::kFloat, PartialShape::scalar());
  REQUIRE(x.ok());
  OpCall call(d.context, g.get());
  REQUIRE(call.reset("Cast").ok());
  REQUIRE(call.add_input(*x).ok());
  REQUIRE(call.set_attr("DstT", AttrValue(DType::kInt32)).ok());
  auto made = call.run();
  REQUIRE(made.ok());
  CHECK((*made)[0].dtype() == DType::kInt32);
  CHECK(g->emitter().added().back()->op() == "Cast");
  CHECK_FALSE(call.set_attr("no_such", AttrValue(int64_t(1))).ok());
}

TEST_CASE("a value of a graph is refused by an eager call") {
  Fixture d;
  auto g = FuncGraph::make(d.context, "f", nullptr);
  auto x = g->add_argument("x", DType::kFloat, PartialShape::scalar());
  REQUIRE(x.ok());
  OpCall call(d.context);
  REQUIRE(call.reset("Neg").ok());
  CHECK(call.add_input(*x).code() == Code::kInvalidArgument);
}

TEST_CASE("an error names the op in its origin, not in its message") {
  Fixture d;
  OpCall call(d.context);
  REQUIRE(call.reset("Reshape").ok());
  call.add_input(d.scalar(1));
  call.add_input(eager::TensorHandle::make(Tensor::scalar<int32_t>(3), nullptr));
  RefPtr<eager::TensorHandle> out;
  const Status s = call.run_one(out);
  REQUIRE_FALSE(s.ok());
  CHECK(s.origin().op == "Reshape");
  CHECK(s.message().find("Reshape]") == std::string::npos);
}

TEST_CASE("an error in a function names the node, the function and what was called") {
  Fixture d;
  auto g = FuncGraph::make(d.context, "f", nullptr);
  auto x = g->add_argument("x", DType::kFloat, PartialShape::unknown());
  auto shape = g->add_argument("shape", DType::kInt32, PartialShape::unknown());
  REQUIRE(x.ok());
  REQUIRE(shape.ok());
  const std::vector<Value> inputs{*x, *shape};
  auto made = g->emitter().apply("Reshape", inputs, {});
  REQUIRE(g->emitter().take_status().ok());
  auto f = ConcreteFunction::make(g, made);
  REQUIRE(f.ok());
  EagerEmitter& emitter = eager_emitter(d.context);
  const std::vector<Value> args{emitter.wrap(d.scalar(1)), emitter.wrap(eager::TensorHandle::make(Tensor::scalar<int32_t>(3), nullptr))};
  const auto out = (*f)->call(args);
  REQUIRE_FALSE(out.ok());
  CHECK(out.status().origin().function == (*f)->name());
  CHECK(out.status().origin().op == (*f)->name());
  CHECK(out.status().origin().node == graph::GraphEmitter::unwrap(made[0]).node->name());
}

}  // namespace weft_engine::trace
