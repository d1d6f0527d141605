// Graphs of version 1 with loops and branches, against what TensorFlow made of them (tests/graphs/control_flow).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "graph/import.h"
#include "io/graph_def.h"
#include "runtime/session.h"
#include "runtime/testing.h"
#include "tests/support/cases.h"

using namespace weft_engine;                    // NOLINT
using namespace weft_engine::runtime;           // NOLINT
using namespace weft_engine::runtime::testing;  // NOLINT

namespace {

struct Loaded {
  explicit Loaded(const std::filesystem::path& path) : graph(engine::Engine::get().registry()) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    auto def = io::decode_graph_def(std::make_shared<const std::string>(text.str()));
    REQUIRE_MESSAGE(def.ok(), def.status().to_string());
    auto imported = graph::import_graph_def(graph, std::move(def).value());
    REQUIRE_MESSAGE(imported.ok(), imported.status().to_string());
  }
  std::vector<Endpoint> named(const std::string& prefix) {
    std::vector<Endpoint> all;
    while (Node* n = graph.find(cat(prefix, "_", all.size()))) all.push_back({n, 0});
    return all;
  }
  graph::Graph graph;
  std::mutex mutex;
};

void play(const std::filesystem::path& path, const SessionOptions& options) {
  Loaded g(path);
  Session session(g.graph, g.mutex, options);
  if (Node* init = g.graph.find("init")) {
    Status s = session.run({}, {}, {}, {}, {&init, 1}, {});
    REQUIRE_MESSAGE(s.ok(), s.to_string());
  }
  const auto outs = g.named("out");
  std::vector<Tensor> got(outs.size());
  if (Node* error = g.graph.find("error_code")) {
    CHECK(int(session.run({}, {}, outs, got, {}, {}).code()) == error->attr<Tensor>("value").data<int32_t>()[0]);
    return;
  }
  for (const char* prefix : {"expect", "expect2"}) {
    Status s = session.run({}, {}, outs, got, {}, {});
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    const auto expected = g.named(prefix);
    REQUIRE(expected.size() == outs.size());
    for (size_t i = 0; i < outs.size(); ++i) {
      const std::string why = weft_engine::testing::difference(got[i], expected[i].node->attr<Tensor>("value"));
      CHECK_MESSAGE(why.empty(), "out_", i, ": ", why);
    }
  }
}

}  // namespace

TEST_CASE("loops and branches of version 1 give what TensorFlow gives") {
  std::vector<std::filesystem::path> paths;
  for (const auto& e : std::filesystem::directory_iterator("tests/graphs/control_flow")) {
    if (e.path().extension() == ".pb") paths.push_back(e.path());
  }
  std::sort(paths.begin(), paths.end());
  CHECK(paths.size() >= 20);
  for (const auto& path : paths) {
    INFO(path.stem().string());
    for (int threads : {1, 2}) {
      SessionOptions o;
      o.cpu_devices = 3;
      o.inter_threads = o.intra_threads = threads;
      play(path, o);
    }
  }
}
