// Many threads on one session and on one function: every result right, every effect counted once.
#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "eager/op.h"
#include "engine/engine.h"
#include "graph/import.h"
#include "runtime/session.h"

using namespace weft_engine;  // NOLINT
using core::cat;
using core::DType;
using core::Shape;
using core::Status;
using core::Tensor;
using graph::Endpoint;
using graph::Node;

namespace {

constexpr int kThreads = 64, kRounds = 30;

op::Registry& registry() { return engine::Engine::get().registry(); }

graph::NodeDef node(std::string name, std::string op, std::vector<std::string> inputs, op::AttrMap attrs = {}) {
  graph::NodeDef n;
  n.name = std::move(name);
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.attrs = std::move(attrs);
  return n;
}

op::AttrMap constant(Tensor t) {
  op::AttrMap a;
  a["dtype"] = t.dtype();
  a["value"] = std::move(t);
  return a;
}

// f(x) = x * 2 + 1, ten times over in a loop.
graph::FunctionDef function(std::string name, std::vector<graph::ArgDef> in, std::vector<graph::ArgDef> out, std::vector<graph::NodeDef> nodes,
                            std::map<std::string, std::string> ret) {
  graph::FunctionDef f;
  f.name = std::move(name);
  f.inputs = std::move(in);
  f.outputs = std::move(out);
  f.nodes = std::move(nodes);
  f.ret = std::move(ret);
  return f;
}

graph::ArgDef arg(std::string name, DType type) {
  graph::ArgDef a;
  a.name = std::move(name);
  a.type = type;
  return a;
}

void add_functions(graph::FunctionLibrary& library) {
  REQUIRE(library
              .add(function("cond", {arg("i", DType::kInt32), arg("x", DType::kFloat)}, {arg("go", DType::kBool)},
                            {node("ten", "Const", {}, constant(Tensor::scalar<int32_t>(10))), node("less", "Less", {"i", "ten:output:0"})},
                            {{"go", "less:z:0"}}))
              .ok());
  REQUIRE(library
              .add(function("body", {arg("i", DType::kInt32), arg("x", DType::kFloat)}, {arg("i_out", DType::kInt32), arg("x_out", DType::kFloat)},
                            {node("one", "Const", {}, constant(Tensor::scalar<int32_t>(1))), node("next", "AddV2", {"i", "one:output:0"}),
                             node("step", "Const", {}, constant(Tensor::scalar(1.f))), node("more", "AddV2", {"x", "step:output:0"})},
                            {{"i_out", "next:z:0"}, {"x_out", "more:z:0"}}))
              .ok());
  op::AttrMap loop;
  loop["T"] = std::vector<DType>{DType::kInt32, DType::kFloat};
  loop["cond"] = op::FunctionAttr{"cond", nullptr};
  loop["body"] = op::FunctionAttr{"body", nullptr};
  REQUIRE(library
              .add(function(
                  "plus_ten", {arg("x", DType::kFloat)}, {arg("y", DType::kFloat)},
                  {node("zero", "Const", {}, constant(Tensor::scalar<int32_t>(0))), node("loop", "StatelessWhile", {"zero:output:0", "x"}, loop)},
                  {{"y", "loop:output:1"}}))
              .ok());
}

// Runs f(thread) on all threads at once; each returns how often it went wrong.
int on_threads(const std::function<int(int)>& f) {
  std::atomic<int> wrong = 0;
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      wrong += f(t);
    });
  }
  for (auto& t : threads) t.join();
  return wrong;
}

}  // namespace

TEST_CASE("64 threads run one session") {
  graph::Graph g(registry());
  add_functions(*g.library());
  std::mutex mutex;
  auto must = [](core::Result<Node*> n) {
    REQUIRE_MESSAGE(n.ok(), n.status().message());
    return *n;
  };
  op::AttrMap x_attrs, var_attrs, call_attrs;
  x_attrs["dtype"] = DType::kFloat;
  var_attrs["dtype"] = DType::kFloat;
  var_attrs["shape"] = core::PartialShape::scalar();
  var_attrs["shared_name"] = "count";
  call_attrs["f"] = op::FunctionAttr{"plus_ten", nullptr};
  call_attrs["Tout"] = std::vector<DType>{DType::kFloat};
  Node* x = must(g.add("x", "Placeholder", x_attrs, {}));
  Node* y = must(g.add("y", "StatefulPartitionedCall", call_attrs, {{x, 0}}));
  Node* var = must(g.add("var", "VarHandleOp", var_attrs, {}));
  Node* zero = must(g.add_const("zero", Tensor::scalar(0.f)));
  Node* one = must(g.add_const("one", Tensor::scalar(1.f)));
  Node* init = must(g.add("init", "AssignVariableOp", {}, {{var, 0}, {zero, 0}}));
  Node* count = must(g.add("count", "AssignAddVariableOp", {}, {{var, 0}, {one, 0}}));
  Node* read = must(g.add("read", "ReadVariableOp", {{"dtype", DType::kFloat}}, {{var, 0}}));
  runtime::SessionOptions options;
  options.intra_threads = 2;
  options.inter_threads = 2;
  runtime::Session session(g, mutex, options);
  REQUIRE(session.run({}, {}, {}, {}, std::span<Node* const>(&init, 1), {}).ok());
  const int wrong = on_threads([&](int t) {
    int bad = 0;
    for (int round = 0; round < kRounds; ++round) {
      // Shapes differ from thread to thread, so that plans are made and chosen meanwhile.
      Tensor in = Tensor::zeros(DType::kFloat, Shape({1 + t % 5})).value();
      in.data<float>()[0] = float(t);
      Tensor out;
      const Endpoint feed{x, 0}, fetch{y, 0};
      Status s = session.run({&feed, 1}, {&in, 1}, {&fetch, 1}, {&out, 1}, std::span<Node* const>(&count, 1), {});
      bad += !s.ok() || out.num_elements() != 1 + t % 5 || out.data<float>()[0] != float(t) + 10;
    }
    return bad;
  });
  CHECK(wrong == 0);
  Tensor total;
  const Endpoint fetch{read, 0};
  REQUIRE(session.run({}, {}, {&fetch, 1}, {&total, 1}, {}, {}).ok());
  CHECK(total.data<float>()[0] == float(kThreads * kRounds));
}

TEST_CASE("64 threads call one function") {
  eager::ContextOptions options;
  options.intra_threads = 2;
  options.inter_threads = 2;
  eager::Context context(registry(), options);
  add_functions(context.functions());
  const int wrong = on_threads([&](int t) {
    int bad = 0;
    for (int round = 0; round < kRounds; ++round) {
      eager::Op call(context);
      std::vector<core::RefPtr<eager::TensorHandle>> out;
      if (!call.reset("plus_ten").ok()) return 1;
      call.add_input(eager::TensorHandle::make(Tensor::scalar(float(t)), nullptr));
      Status s = call.execute(out);
      bad += !s.ok() || out[0]->tensor().data<float>()[0] != float(t) + 10;
    }
    return bad;
  });
  CHECK(wrong == 0);
}
