// Gradients through calls, branches and loops, against what TensorFlow made of the same graphs (tests/gradients/functions).
#include "autodiff/function_gradient.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

#include "autodiff/gradients.h"
#include "autodiff/tape.h"
#include "graph/graph_emitter.h"
#include "graph/import.h"
#include "graph/passes/passes.h"
#include "io/graph_def.h"
#include "op/emit.h"
#include "runtime/session.h"
#include "runtime/testing.h"
#include "tests/support/cases.h"

using namespace weft_engine;                    // NOLINT
using namespace weft_engine::runtime;           // NOLINT
using namespace weft_engine::runtime::testing;  // NOLINT

namespace {

using weft_engine::testing::difference;

struct Loaded {
  explicit Loaded(const std::filesystem::path& path) : graph(engine::Engine::get().registry()), shapes(graph) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    auto def = io::decode_graph_def(std::make_shared<const std::string>(text.str()));
    REQUIRE_MESSAGE(def.ok(), def.status().to_string());
    auto imported = graph::import_graph_def(graph, std::move(def).value());
    REQUIRE_MESSAGE(imported.ok(), imported.status().to_string());
    for (Node* n : graph.nodes()) (void)shapes.node(n);
    while (Node* n = graph.find(cat("x_", xs.size()))) xs.push_back({n, 0});
    while (Node* n = graph.find(cat("y_", ys.size()))) ys.push_back({n, 0});
  }
  // Null where TensorFlow has none.
  const Tensor* expected(std::string_view prefix, size_t i) const {
    Node* n = graph.find(cat(prefix, "_", i));
    return n ? &n->attr<Tensor>("value") : nullptr;
  }
  std::vector<Endpoint> gradients(const std::vector<Endpoint>& of, const std::string& scope) {
    autodiff::GradientOptions o;
    o.scope = scope;
    o.unreachable_is_error = false;
    auto got = autodiff::add_gradients(graph, shapes, of, xs, {}, o);
    REQUIRE_MESSAGE(got.ok(), got.status().to_string());
    return *got;
  }
  // The sum of the squares of all, as the generator takes it.
  std::vector<Endpoint> squares(const std::vector<Endpoint>& grads, const std::string& scope) {
    std::vector<Endpoint> out;
    for (const Endpoint& g : grads) {
      if (!g.node) continue;
      auto n = graph.add(graph.unique_name(scope), "Square", {}, {g});
      REQUIRE(n.ok());
      (void)shapes.node(*n);
      out.push_back({*n, 0});
    }
    return out;
  }
  graph::Graph graph;
  graph::ShapeInference shapes;
  std::mutex mutex;
  std::vector<Endpoint> xs, ys;
};

std::vector<std::filesystem::path> paths() {
  std::vector<std::filesystem::path> paths;
  for (const auto& e : std::filesystem::directory_iterator("tests/gradients/functions")) {
    if (e.path().extension() == ".pb") paths.push_back(e.path());
  }
  std::sort(paths.begin(), paths.end());
  CHECK(paths.size() >= 30);
  return paths;
}

SessionOptions plain() {
  SessionOptions o;
  for (const auto& p : graph::all_passes()) {
    if (p.name != "calls") o.disabled_passes.push_back(std::string(p.name));  // what runs calls by name
  }
  return o;
}

void compare(Loaded& g, std::string_view prefix, const std::vector<Endpoint>& grads, const SessionOptions& options) {
  Session session(g.graph, g.mutex, options);
  if (Node* init = g.graph.find("init")) {
    Status s = session.run({}, {}, {}, {}, {&init, 1}, {});
    REQUIRE_MESSAGE(s.ok(), s.to_string());
  }
  std::vector<Endpoint> fetches;
  std::vector<size_t> at;
  for (size_t i = 0; i < grads.size(); ++i) {
    const Tensor* want = g.expected(prefix, i);
    // Where nothing flows TensorFlow's functions give zeros, or nothing.
    CHECK_MESSAGE((want || !grads[i].node), prefix, "_", i);
    if (want && !grads[i].node) CHECK_MESSAGE(difference(Tensor::zeros(want->dtype(), want->shape()).value(), *want).empty(), prefix, "_", i);
    if (!want || !grads[i].node) continue;
    fetches.push_back(grads[i]);
    at.push_back(i);
  }
  if (fetches.empty()) return;
  std::vector<Tensor> got(fetches.size());
  Status s = session.run({}, {}, fetches, got, {}, {});
  REQUIRE_MESSAGE(s.ok(), s.to_string());
  for (size_t k = 0; k < got.size(); ++k) {
    const std::string why = difference(got[k], *g.expected(prefix, at[k]));
    CHECK_MESSAGE(why.empty(), prefix, "_", at[k], ": ", why);
  }
}

void play(const std::filesystem::path& path) {
  Loaded g(path);
  REQUIRE(!g.ys.empty());
  compare(g, "value", g.ys, {});
  const auto grads = g.gradients(g.ys, "first");
  compare(g, "expect", grads, {});
  compare(g, "expect", grads, plain());
  compare(g, "value", g.ys, {});
  compare(g, "value", g.ys, plain());
  // Asked again, beside the first.
  const auto again = g.gradients(g.ys, "again");
  const auto third = g.gradients(g.ys, "third");
  compare(g, "expect", again, {});
  compare(g, "expect", third, plain());
  if (!g.expected("second", 0)) return;
  const auto second = g.gradients(g.squares(grads, "squares"), "second_order");
  compare(g, "second", second, {});
  compare(g, "second", second, plain());
  if (!g.expected("third", 0)) return;
  const auto third_order = g.gradients(g.squares(second, "squares"), "third_order");
  compare(g, "third", third_order, {});
  compare(g, "third", third_order, plain());
}

// Tells the tapes of what it adds, as the emitter of a trace does.
class Recording final : public graph::GraphEmitter {
 public:
  using GraphEmitter::GraphEmitter;

 protected:
  Result<std::vector<op::Value>> do_apply(std::string_view op, std::span<const op::Value> inputs, op::AttrMap attrs) override {
    WEFT_ASSIGN(std::vector<op::Value> out, GraphEmitter::do_apply(op, inputs, std::move(attrs)));
    if (!out.empty()) autodiff::TapeStack::current().record(unwrap(out[0]).node->info(), nullptr, inputs, out);
    return out;
  }
};

// A tape inside a tape, in the graph of a trace.
void play_tapes(const std::filesystem::path& path) {
  Loaded g(path);
  Recording e(g.graph, g.shapes, "tape");
  autodiff::Tape inner(false), outer(false);
  std::vector<op::Value> xs, ys;
  for (const Endpoint& x : g.xs) xs.push_back(e.wrap(x));
  for (const Endpoint& y : g.ys) ys.push_back(e.wrap(y));
  for (autodiff::Tape* t : {&outer, &inner}) {
    for (const auto& x : xs) t->watch(x);
    autodiff::TapeStack::current().push(t);
  }
  auto order = g.graph.topological_order();
  REQUIRE(order.ok());
  for (Node* n : *order) {
    std::vector<op::Value> in, out;
    for (const Endpoint& from : n->inputs()) in.push_back(e.wrap(from));
    for (int i = 0; i < n->num_outputs(); ++i) out.push_back(e.wrap({n, i}));
    if (!out.empty() && !n->name().starts_with("x_")) autodiff::TapeStack::current().record(n->info(), nullptr, in, out);
  }
  autodiff::TapeStack::current().pop(&inner);
  auto grads = inner.gradient(e, ys, xs, {});
  REQUIRE_MESSAGE(grads.ok(), grads.status().to_string());
  std::vector<op::Value> squares;
  for (op::Value& v : *grads) {
    v = v.dense();
    if (v.valid()) squares.push_back(op::unary("Square", v));
  }
  autodiff::TapeStack::current().pop(&outer);
  auto ends = [](const std::vector<op::Value>& values) {
    std::vector<Endpoint> out;
    for (const auto& v : values) out.push_back(graph::GraphEmitter::unwrap(v));
    return out;
  };
  compare(g, "expect", ends(*grads), {});
  if (!g.expected("second", 0)) return;
  auto second = outer.gradient(e, squares, xs, {});
  REQUIRE_MESSAGE(second.ok(), second.status().to_string());
  for (op::Value& v : *second) v = v.dense();
  compare(g, "second", ends(*second), {});
}

}  // namespace

TEST_CASE("gradients through functions are those that TensorFlow finds") {
  for (const auto& path : paths()) {
    INFO(path.stem().string());
    play(path);
  }
}

TEST_CASE("tapes go back through functions in a graph") {
  for (const auto& path : paths()) {
    INFO(path.stem().string());
    play_tapes(path);
  }
}

namespace {

graph::NodeDef node(std::string name, std::string op, std::vector<std::string> inputs, op::AttrMap attrs = {}) {
  graph::NodeDef n;
  n.name = std::move(name);
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.attrs = std::move(attrs);
  return n;
}

// y = f(x), of floats.
graph::FunctionDef unary_function(std::string name, std::vector<graph::NodeDef> nodes, std::string result) {
  graph::FunctionDef f;
  f.name = std::move(name);
  graph::ArgDef x, y;
  x.name = "x";
  y.name = "y";
  x.type = y.type = DType::kFloat;
  f.inputs = {x};
  f.outputs = {y};
  f.nodes = std::move(nodes);
  f.ret["y"] = std::move(result);
  return f;
}

const op::AttrMap kFloats{{"T", DType::kFloat}};

struct SmallGraph {
  SmallGraph() : graph(engine::Engine::get().registry()), shapes(graph) { x = add("x", "Placeholder", {}, {{"dtype", DType::kFloat}}); }
  Node* add(std::string name, std::string op, std::vector<Endpoint> inputs, op::AttrMap attrs = {}) {
    auto n = graph.add(std::move(name), op, std::move(attrs), std::move(inputs));
    REQUIRE_MESSAGE(n.ok(), n.status().to_string());
    (void)shapes.node(*n);
    return *n;
  }
  Node* call(std::string name, Node* in, std::string function) {
    return add(std::move(name), "PartitionedCall", {{in, 0}},
               {{"Tout", std::vector<DType>{DType::kFloat}}, {"f", op::FunctionAttr{std::move(function), nullptr}}});
  }
  Status gradients(Node* y) { return autodiff::add_gradients(graph, shapes, {{y, 0}}, {{x, 0}}, {}).status(); }
  graph::Graph graph;
  graph::ShapeInference shapes;
  Node* x;
};

graph::FunctionDef cube() {
  return unary_function("cube", {node("square", "Mul", {"x", "x"}, kFloats), node("cube", "Mul", {"square:z:0", "x"}, kFloats)}, "cube:z:0");
}

}  // namespace

TEST_CASE("a gradient that fails leaves the graph as it was") {
  SmallGraph g;
  REQUIRE(g.graph.library()->add(cube()).ok());
  REQUIRE(g.graph.library()->add(unary_function("hue", {node("adjust", "AdjustHue", {"x", "x"}, kFloats)}, "adjust:output:0")).ok());
  Node* first = g.call("first", g.x, "hue");
  Node* last = g.call("last", first, "cube");
  const Status s = g.gradients(last);
  CHECK(s.code() == Code::kNotFound);
  CHECK(s.message().find("AdjustHue") != std::string::npos);
  CHECK(s.message().find("{{node first}}") != std::string::npos);
  CHECK(last->num_outputs() == 1);
  CHECK(last->attr<op::FunctionAttr>("f").name == "cube");
  CHECK(last->input(0) == Endpoint{first, 0});
}

// f(x) = x > 1 ? x * f(x - 1) : x, which is x (x - 1) (x - 2) for an x between 2 and 3.
TEST_CASE("a function that calls itself has a gradient") {
  SmallGraph g;
  const std::vector<DType> floats{DType::kFloat};
  const op::AttrMap one{{"dtype", DType::kFloat}, {"value", Tensor::scalar(1.0f)}};
  const op::AttrMap itself{{"Tin", floats}, {"Tout", floats}, {"f", op::FunctionAttr{"f", nullptr}}};
  const op::AttrMap branches{{"Tcond", DType::kBool},
                             {"Tin", floats},
                             {"Tout", floats},
                             {"then_branch", op::FunctionAttr{"deeper", nullptr}},
                             {"else_branch", op::FunctionAttr{"stay", nullptr}},
                             {"output_shapes", std::vector<PartialShape>{}}};
  REQUIRE(g.graph.library()->add(unary_function("stay", {node("same", "Identity", {"x"}, kFloats)}, "same:output:0")).ok());
  REQUIRE(g.graph.library()
              ->add(unary_function("deeper",
                                   {node("one", "Const", {}, one), node("less", "Sub", {"x", "one:output:0"}, kFloats),
                                    node("again", "PartitionedCall", {"less:z:0"}, itself), node("times", "Mul", {"x", "again:output:0"}, kFloats)},
                                   "times:z:0"))
              .ok());
  REQUIRE(g.graph.library()
              ->add(unary_function("f",
                                   {node("one", "Const", {}, one), node("more", "Greater", {"x", "one:output:0"}, kFloats),
                                    node("choice", "StatelessIf", {"more:z:0", "x"}, branches)},
                                   "choice:output:0"))
              .ok());
  Node* y = g.call("call", g.x, "f");
  auto first = autodiff::add_gradients(g.graph, g.shapes, {{y, 0}}, {{g.x, 0}}, {});
  REQUIRE_MESSAGE(first.ok(), first.status().to_string());
  std::mutex mutex;
  Session session(g.graph, mutex, plain());
  const std::vector<Endpoint> feeds{{g.x, 0}}, fetches{{y, 0}, first->front()};
  for (const auto& [x, value, slope] : {std::tuple(0.5f, 0.5f, 1.0f), std::tuple(1.5f, 0.75f, 2.0f), std::tuple(3.0f, 6.0f, 11.0f)}) {
    std::vector<Tensor> given{Tensor::scalar(x)};
    std::vector<Tensor> got(2);
    const Status s = session.run(feeds, given, fetches, got, {}, {});
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    CHECK(got[0].data<float>()[0] == doctest::Approx(value));
    CHECK(got[1].data<float>()[0] == doctest::Approx(slope));
  }
}

TEST_CASE("a function whose gradient depends on itself has none, and the error says so") {
  const std::vector<DType> one{DType::kFloat}, two{DType::kFloat, DType::kFloat};
  const auto gradient = [&](const char* of) { return op::AttrMap{{"Tin", two}, {"Tout", one}, {"f", op::FunctionAttr{of, nullptr}}}; };
  const op::AttrMap calls_f{{"Tin", one}, {"Tout", one}, {"f", op::FunctionAttr{"f", nullptr}}};
  SmallGraph g;
  auto& library = *g.graph.library();
  const auto add = [&](const char* name, const graph::NodeDef& body) { REQUIRE(library.add(unary_function(name, {body}, "n:output:0")).ok()); };
  add("f", node("n", "SymbolicGradient", {"x", "x"}, gradient("f")));
  add("caller", node("n", "PartitionedCall", {"x"}, calls_f));
  add("this", node("n", "SymbolicGradient", {"x", "x"}, gradient("that")));
  add("that", node("n", "SymbolicGradient", {"x", "x"}, gradient("this")));
  const auto& registry = engine::Engine::get().registry();
  for (const char* name : {"f", "this", "that"}) {
    for (const Status& s : {autodiff::symbolic_gradient(registry, g.graph.library(), {name, nullptr}).status(),
                            autodiff::function_gradient(registry, g.graph.library(), {name, nullptr}, {true}, {true}).status()}) {
      CHECK(s.code() == Code::kInvalidArgument);
      CHECK_MESSAGE(s.message().find("depends on itself") != std::string::npos, s.to_string());
    }
  }
  Node* y = g.call("call", g.x, "caller");
  CHECK(g.gradients(y).code() == Code::kInvalidArgument);
  std::mutex mutex;
  Session session(g.graph, mutex, plain());
  const std::vector<Endpoint> feeds{{g.x, 0}}, fetches{{y, 0}};
  std::vector<Tensor> given{Tensor::scalar(1.0f)}, got(1);
  const Status s = session.run(feeds, given, fetches, got, {}, {});
  CHECK(s.code() == Code::kInvalidArgument);
  CHECK_MESSAGE(s.message().find("depends on itself") != std::string::npos, s.to_string());
}

// Each is several times as large as the one before.
TEST_CASE("gradients of gradients end") {
  const std::vector<DType> one{DType::kFloat}, two{DType::kFloat, DType::kFloat};
  SmallGraph g;
  REQUIRE(g.graph.library()->add(cube()).ok());
  std::string last = "cube";
  for (int i = 0; i < 30; ++i) {
    const op::AttrMap of{{"Tin", two}, {"Tout", one}, {"f", op::FunctionAttr{last, nullptr}}};
    last = cat("order_", i);
    REQUIRE(g.graph.library()->add(unary_function(last, {node("n", "SymbolicGradient", {"x", "x"}, of)}, "n:output:0")).ok());
  }
  const auto& registry = engine::Engine::get().registry();
  const auto third = autodiff::symbolic_gradient(registry, g.graph.library(), {"order_1", nullptr});
  CHECK_MESSAGE(third.ok(), third.status().to_string());
  const Status s = autodiff::symbolic_gradient(registry, g.graph.library(), {last, nullptr}).status();
  CHECK(s.code() == Code::kUnimplemented);
}

TEST_CASE("the same request gives the same functions") {
  auto library = std::make_shared<graph::FunctionLibrary>();
  REQUIRE(library->add(cube()).ok());
  const auto& registry = engine::Engine::get().registry();
  const op::FunctionAttr f{"cube", nullptr};
  auto a = autodiff::function_gradient(registry, library, f, {true}, {true});
  REQUIRE_MESSAGE(a.ok(), a.status().to_string());
  CHECK(a->forward == "__forward_cube_0");
  CHECK(a->backward == "__backward_cube_0");
  CHECK(a->num_outputs == 1);
  CHECK(a->num_saved == 1);  // the square
  CHECK(a->passed_inputs == std::vector<int>{0});
  CHECK(a->input_grads == std::vector<int>{0});
  const int size = library->size();
  auto b = autodiff::function_gradient(registry, library, f, {true}, {true});
  REQUIRE(b.ok());
  CHECK(b->backward == a->backward);
  CHECK(b->saved_types == a->saved_types);
  CHECK(library->size() == size);
  // What FORWARD gives is all that its own gradient needs.
  auto again = autodiff::function_gradient(registry, library, {a->forward, nullptr}, {true}, {true, false});
  REQUIRE(again.ok());
  CHECK(again->forward == a->forward);
  CHECK(again->num_saved == 0);
  CHECK(again->passed_outputs == std::vector<int>{1});
  // Nothing asked, nothing made.
  auto none = autodiff::function_gradient(registry, library, f, {false}, {true});
  REQUIRE(none.ok());
  CHECK(none->backward.empty());
  CHECK(none->forward == "cube");
  // Another function under the old name: what was made of the old one went with it.
  REQUIRE(library->remove("cube").ok());
  REQUIRE(library->add(unary_function("cube", {node("sin", "Sin", {"x"}, kFloats)}, "sin:y:0")).ok());
  auto other = autodiff::function_gradient(registry, library, f, {true}, {true});
  REQUIRE(other.ok());
  CHECK(other->backward == "__backward_cube_0");
  CHECK(other->num_saved == 0);
  CHECK(autodiff::function_gradient(registry, library, f, {true, true}, {true}).status().code() == Code::kInvalidArgument);
  CHECK(autodiff::function_gradient(registry, library, {"nobody", nullptr}, {}, {}).status().code() == Code::kNotFound);
}

TEST_CASE("loops of version 1 become While ops") {
  Loaded g("tests/graphs/control_flow/one_iteration_at_a_time.pb");
  for (Node* n : g.graph.nodes()) {
    if (n->op() == "PlaceholderWithDefault") g.xs = {{n, 0}};
  }
  auto got = autodiff::add_gradients(g.graph, g.shapes, {{g.graph.find("out_1"), 0}}, g.xs, {});
  CHECK(got.ok());
  CHECK(std::ranges::any_of(g.graph.nodes(), [](const Node* n) { return n->op() == "While" || n->op() == "StatelessWhile"; }));
}

TEST_CASE("a loop whose functions do not fit has no gradient") {
  SmallGraph g;
  REQUIRE(g.graph.library()->add(cube()).ok());
  Node* loop = g.add("loop", "StatelessWhile", {{g.x, 0}, {g.x, 0}},
                     {{"cond", op::FunctionAttr{"cube", nullptr}}, {"body", op::FunctionAttr{"cube", nullptr}}});
  CHECK(g.gradients(loop).code() == Code::kInvalidArgument);
  Node* missing =
      g.add("missing", "StatelessWhile", {{g.x, 0}}, {{"cond", op::FunctionAttr{"none", nullptr}}, {"body", op::FunctionAttr{"none", nullptr}}});
  CHECK(g.gradients(missing).code() == Code::kNotFound);
}
