// For the tests of this folder: bodies built by hand, with every op of the engine at hand.
#pragma once

#include <doctest/doctest.h>

#include "engine/engine.h"
#include "graph/function_body.h"
#include "op/cancellation.h"
#include "op/rendezvous.h"
#include "op/step_trace.h"
#include "runtime/executable.h"
#include "op/rendezvous.h"

namespace weft_engine::runtime::testing {

using graph::Endpoint;
using graph::Node;

// A body in the making. A mistake fails the test.
class BodyBuilder {
 public:
  BodyBuilder() { body_.graph = std::make_unique<graph::Graph>(engine::Engine::get().registry()); }
  graph::Graph& graph() { return *body_.graph; }

  Node* add(std::string name, std::string_view op, std::vector<Endpoint> inputs = {}, AttrMap attrs = {}, std::vector<Node*> controls = {}) {
    auto n = body_.graph->add(std::move(name), op, std::move(attrs), std::move(inputs), controls);
    REQUIRE_MESSAGE(n.ok(), n.status().to_string());
    return *n;
  }
  Endpoint arg(DType t = DType::kFloat) {
    const int i = int(body_.args.size());
    Node* n = add(cat("arg", i), "_Arg", {}, {{"T", t}, {"index", i}});
    body_.args.push_back(n);
    body_.arg_types.push_back(t);
    return {n, 0};
  }
  void ret(Endpoint e) {
    const int i = int(body_.rets.size());
    const DType t = base_type(e.node->output_type(e.index));
    body_.rets.push_back(add(cat("ret", i), "_Retval", {e}, {{"T", t}, {"index", i}}));
    body_.ret_types.push_back(t);
  }
  template <class T>
  Endpoint constant(std::string name, T value, std::vector<Node*> controls = {}) {
    return {add(std::move(name), "Const", {}, {{"value", Tensor::scalar<T>(value)}, {"dtype", dtype_of<T>}}, std::move(controls)), 0};
  }
  graph::FunctionBody& body() { return body_; }

 private:
  graph::FunctionBody body_;
};

// Pools and resources for runs.
struct World {
  explicit World(int threads = 2, int cpus = 3) : pool(threads), inter(threads), devices(DeviceSet::cpus(cpus)) {
    env.device = devices->host();
    env.pool = &pool;
    env.resources = &resources;
    env.step_resources = &step;
  }
  PlanContext context(int device = 0) { return {&engine::Engine::get().registry(), devices->all()[size_t(device)].get(), &pool, &inter}; }
  std::unique_ptr<Executable> dataflow(BodyBuilder& b) {
    auto p = plan_dataflow(b.body(), context());
    REQUIRE_MESSAGE(p.ok(), p.status().to_string());
    return std::move(p).value();
  }

  ThreadPool pool, inter;
  std::unique_ptr<DeviceSet> devices;
  ResourceManager resources, step;
  KernelEnv env;
};

inline Status call(Executable& e, const KernelEnv& env, std::vector<Tensor> args, std::vector<Tensor>& rets) { return e.run(env, args, rets); }

template <class T>
T scalar_of(const Tensor& t) {
  REQUIRE(t.num_elements() == 1);
  return t.data<T>()[0];
}

// while (i < n) { i += 1; x = step(x) } the way version 1 writes it; gives the last x.
template <class Step>
Endpoint v1_loop(BodyBuilder& b, const std::string& name, Endpoint limit, Endpoint x, Step step, int parallel = 10) {
  auto at = [&](const char* s) { return name + "/" + s; };
  const AttrMap frame{{"frame_name", name}, {"parallel_iterations", parallel}};
  AttrMap constant = frame;
  constant["is_constant"] = true;
  Endpoint zero = b.constant<int32_t>(at("zero"), 0, {x.node});  // in the same frame as x
  Node* enter_i = b.add(at("enter_i"), "Enter", {zero}, frame);
  Node* enter_x = b.add(at("enter_x"), "Enter", {x}, frame);
  Node* enter_n = b.add(at("enter_n"), "Enter", {limit}, constant);
  auto merge = [&](const char* s, Node* enter) {
    const DType t = enter->output_type(0);
    const DType types[] = {t, t};
    auto n = b.graph().add(at(s), "Merge", {{"N", 2}, {"T", t}}, {{enter, 0}, {nullptr, 0}}, {}, types);
    REQUIRE_MESSAGE(n.ok(), n.status().to_string());
    return *n;
  };
  Node* merge_i = merge("merge_i", enter_i);
  Node* merge_x = merge("merge_x", enter_x);
  Node* less = b.add(at("less"), "Less", {{merge_i, 0}, {enter_n, 0}});
  Node* cond = b.add(at("cond"), "LoopCond", {{less, 0}});
  Node* switch_i = b.add(at("switch_i"), "Switch", {{merge_i, 0}, {cond, 0}});
  Node* switch_x = b.add(at("switch_x"), "Switch", {{merge_x, 0}, {cond, 0}});
  Node* i = b.add(at("i"), "Identity", {{switch_i, 1}});
  Endpoint one = b.constant<int32_t>(at("one"), 1, {i});
  Node* more = b.add(at("more"), "AddV2", {{i, 0}, one});
  Endpoint next_x = step(Endpoint{b.add(at("x"), "Identity", {{switch_x, 1}}), 0}, Endpoint{i, 0});
  Node* ni = b.add(at("next_i"), "NextIteration", {{more, 0}});
  Node* nx = b.add(at("next_x"), "NextIteration", {next_x});
  b.graph().set_input(merge_i, 1, {ni, 0});
  b.graph().set_input(merge_x, 1, {nx, 0});
  b.add(at("exit_i"), "Exit", {{switch_i, 0}});
  return {b.add(at("exit_x"), "Exit", {{switch_x, 0}}), 0};
}

}  // namespace weft_engine::runtime::testing
