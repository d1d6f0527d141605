// Gradients through calls, branches and loops, against what TensorFlow made of the same graphs (tests/golden/function_gradients).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "autodiff/function_gradient.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "autodiff/gradients.h"
#include "graph/import.h"
#include "graph/passes/passes.h"
#include "io/graph_def.h"
#include "runtime/session.h"
#include "runtime/testing.h"
#include "tests/support/cases.h"

using namespace weft;                    // NOLINT
using namespace weft::runtime;           // NOLINT
using namespace weft::runtime::testing;  // NOLINT

namespace {

using weft::testing::difference;

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
  const auto grads = g.gradients(g.ys, "first");
  compare(g, "expect", grads, {});
  compare(g, "expect", grads, plain());
  // Asked again, beside the first.
  const auto again = g.gradients(g.ys, "again");
  const auto third = g.gradients(g.ys, "third");
  compare(g, "expect", again, {});
  compare(g, "expect", third, plain());
  if (!g.expected("second", 0)) return;
  const auto second = g.gradients(g.squares(grads, "squares"), "second_order");
  compare(g, "second", second, {});
  compare(g, "second", second, plain());
}

}  // namespace

TEST_CASE("gradients through functions are those that TensorFlow finds") {
  std::vector<std::filesystem::path> paths;
  for (const auto& e : std::filesystem::directory_iterator("tests/golden/function_gradients")) {
    if (e.path().extension() == ".pb") paths.push_back(e.path());
  }
  std::sort(paths.begin(), paths.end());
  CHECK(paths.size() >= 30);
  for (const auto& path : paths) {
    INFO(path.stem().string());
    play(path);
  }
}
