// For tests of passes: builds small bodies, runs them with the plainest interpreter there is, and compares
// results and effects before and after.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "eager/context.h"
#include "engine/engine.h"
#include "graph/function_library.h"
#include "graph/passes/passes.h"
#include "graph/passes/util.h"
#include "graph/shape_inference.h"
#include "graph/to_function.h"
#include "runtime/function_runtime.h"

namespace weft_engine::graph::testing {

inline eager::Context& context() {
  static auto* c = new eager::Context(engine::Engine::get().registry(), {});
  return *c;
}
inline KernelEnv env() { return context().env_for(context().host()); }

template <class T>
T must(Result<T> r) {
  REQUIRE_MESSAGE(r.ok(), r.status().to_string());
  return std::move(r).value();
}
inline void must(const Status& s) { REQUIRE_MESSAGE(s.ok(), s.to_string()); }

// A body under construction.
struct Maker {
  FunctionBody body;
  Maker() {
    body.name = "test";
    body.graph = std::make_unique<Graph>(engine::Engine::get().registry());
  }
  Graph& g() { return *body.graph; }
  Endpoint arg(DType t) {
    Node* n = must(g().add(cat("arg", body.args.size()), "_Arg", {{"T", t}, {"index", int64_t(body.args.size())}}, {}));
    body.args.push_back(n);
    body.arg_types.push_back(t);
    return {n, 0};
  }
  void ret(Endpoint e) {
    Node* n = must(g().add(cat("ret", body.rets.size()), "_Retval", {{"T", type_of(e)}, {"index", int64_t(body.rets.size())}}, {e}));
    body.rets.push_back(n);
    body.ret_types.push_back(type_of(e));
  }
  Node* node(std::string_view op, std::vector<Endpoint> in = {}, AttrMap attrs = {}, std::vector<Node*> controls = {}) {
    return must(g().add(g().unique_name(op), op, std::move(attrs), std::move(in), controls));
  }
  Endpoint op(std::string_view op, std::vector<Endpoint> in = {}, AttrMap attrs = {}, std::vector<Node*> controls = {}) {
    return {node(op, std::move(in), std::move(attrs), std::move(controls)), 0};
  }
  Endpoint constant(Tensor t) { return {must(g().add_const(g().unique_name("c"), std::move(t))), 0}; }
  Endpoint f(float v) { return constant(Tensor::scalar(v)); }
  Endpoint i(int32_t v) { return constant(Tensor::scalar(v)); }
  Endpoint ints(std::vector<int32_t> v) { return constant(Tensor::vector(v)); }
};

using Build = std::function<void(Maker&)>;

// A function of the library: its body is built as any other.
inline FunctionAttr define(Maker& outer, std::string name, const Build& build) {
  Maker m;
  build(m);
  FunctionOptions o;
  o.name = name;
  for (Node* n : m.body.args) o.inputs.push_back({n, 0});
  for (Node* n : m.body.rets) o.outputs.push_back(n->input(0));
  o.body.emplace();
  for (Node* n : m.g().nodes()) {
    if (n->op() != "_Arg" && n->op() != "_Retval") o.body->push_back(n);
  }
  must(outer.g().library()->add(must(to_function(m.g(), o))));
  return {name, nullptr};
}

inline Tensor floats(Shape shape, std::vector<float> v) { return Tensor::of<float>(shape, std::span<const float>(v)); }
// Numbers of no pattern between -1 and 1.
inline Tensor noise(Shape shape, uint32_t seed = 1) {
  std::vector<float> v(static_cast<size_t>(shape.num_elements()));
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = float(seed >> 8) / float(1 << 23) - 1;
  }
  return floats(shape, v);
}

// Runs the body node by node; stateful nodes leave their names in `effects`.
inline Status interpret(const FunctionBody& body, std::vector<Tensor> args, std::vector<Tensor>& rets, std::vector<std::string>* effects = nullptr) {
  std::vector<std::vector<Tensor>> values(static_cast<size_t>(body.graph->num_ids()));
  rets.assign(body.rets.size(), {});
  KernelEnv e = env();
  runtime::RuntimeOptions options;
  options.registry = &body.graph->registry();
  options.devices = &context().devices();
  options.pool = options.inter = &context().pool();
  options.resources = &context().resources();
  for (const Pass& p : all_passes()) options.disabled_passes.emplace_back(p.name);
  runtime::FunctionLibraryRuntime functions(options, body.graph->library());
  e.functions = &functions;
  WEFT_ASSIGN(std::vector<Node*> order, body.graph->topological_order());
  for (Node* n : order) {
    auto& out = values[static_cast<size_t>(n->id())];
    out.resize(static_cast<size_t>(n->num_outputs()));
    std::vector<const Tensor*> in;
    for (const Endpoint& x : n->inputs()) in.push_back(&values[static_cast<size_t>(x.node->id())][static_cast<size_t>(x.index)]);
    if (n->op() == "_Arg") {
      out[0] = args[static_cast<size_t>(n->attr<int64_t>("index"))];
    } else if (n->op() == "_Retval") {
      rets[static_cast<size_t>(n->attr<int64_t>("index"))] = *in[0];
    } else {
      WEFT_ASSIGN(auto kernel, make_kernel(body.graph->registry(), n->info(), "CPU"));
      KernelContext c(n->info(), e, in, out);
      WEFT_RETURN_IF_ERROR(kernel->run(c));
      if (effects && n->spec().has_side_effect()) effects->push_back(n->name());
    }
  }
  return {};
}

inline void check_close(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  REQUIRE(a.dtype() == b.dtype());
  REQUIRE(a.shape() == b.shape());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (a.dtype() == DType::kFloat) {
      const float x = a.data<float>()[i], y = b.data<float>()[i];
      if (std::isnan(x) || std::isinf(x)) CHECK((std::isnan(x) ? std::isnan(y) : x == y));
      else CHECK(std::abs(x - y) <= tolerance * std::max(1.0f, std::abs(x)));
    }
  }
  if (a.dtype() != DType::kFloat) CHECK(a.summary(1000) == b.summary(1000));
}

struct Options {
  std::vector<std::string> only;  // passes to run; empty: all
  std::vector<PartialShape> arg_shapes;
  std::vector<Tensor> arg_constants;
};

// Builds the body twice, optimises one, runs both on the arguments and compares; gives the optimised one.
inline Maker optimized(const Build& build, const std::vector<Tensor>& args, Options o = {}, double tolerance = 1e-5) {
  Maker plain, fast;
  build(plain);
  build(fast);
  PassContext c;
  c.env = env();
  c.arg_shapes = o.arg_shapes;
  c.arg_constants = o.arg_constants;
  if (!o.only.empty()) {
    for (const Pass& p : all_passes()) {
      if (std::find(o.only.begin(), o.only.end(), p.name) == o.only.end()) c.disabled.emplace_back(p.name);
    }
  }
  must(optimize(fast.body, c));
  std::vector<Tensor> before, after;
  std::vector<std::string> effects_before, effects_after;
  Status s = interpret(plain.body, args, before, &effects_before);
  Status t = interpret(fast.body, args, after, &effects_after);
  CHECK(s.code() == t.code());
  CHECK(effects_before == effects_after);
  if (s.ok() && t.ok()) {
    for (size_t i = 0; i < before.size(); ++i) check_close(before[i], after[i], tolerance);
  } else {
    CHECK(s.message() == t.message());
  }
  return fast;
}

// Optimises with the shapes of the arguments known.
inline Maker specialized(const Build& build, const std::vector<Tensor>& args, Options o = {}, double tolerance = 1e-5) {
  for (const Tensor& t : args) o.arg_shapes.emplace_back(t.shape());
  return optimized(build, args, std::move(o), tolerance);
}

inline int count(const Maker& m, std::string_view op) {
  int count = 0;
  for (Node* n : m.body.graph->nodes()) count += n->op() == op;
  return count;
}
// Nodes that compute something.
inline int work(const Maker& m) {
  int count = 0;
  for (Node* n : m.body.graph->nodes()) count += n->op() != "_Arg" && n->op() != "_Retval" && n->op() != "Const";
  return count;
}

}  // namespace weft_engine::graph::testing
