// Checkpoints that are: object graphs that are cut, changed or wrong give an error or restore something, and never more.
#include "saved_model/tracked_objects.h"
#include "wire/proto.h"
#include "wire/tensor_bundle.h"

#include "tests/files/checkpoint/support.h"

#include <random>

namespace wire = weft_engine::wire;
namespace saved_model = weft_engine::saved_model;
namespace core = weft_engine::core;

namespace {

using wire::ProtoWriter;

struct Child {
  int node;
  const char* name;
};
struct Node {
  std::vector<Child> children;
  std::vector<const char*> keys;                // of values
  std::vector<std::tuple<int, const char*, int>> slots = {};
};

std::string graph_of(const std::vector<Node>& nodes) {
  ProtoWriter graph;
  for (const auto& n : nodes) {
    ProtoWriter node;
    for (const auto& c : n.children) {
      ProtoWriter w;
      w.int64(1, c.node);
      w.bytes(2, c.name);
      node.message(1, w);
    }
    for (const char* key : n.keys) {
      ProtoWriter w;
      w.bytes(1, "VARIABLE_VALUE");
      w.bytes(3, key);
      node.message(2, w);
    }
    for (const auto& [original, name, variable] : n.slots) {
      ProtoWriter w;
      w.int64(1, original);
      w.bytes(2, name);
      w.int64(3, variable);
      node.message(3, w);
    }
    graph.message(1, node);
  }
  return graph.take();
}

void write_bundle(const std::string& prefix, const core::Tensor& graph) {
  wire::BundleWriter writer(prefix);
  REQUIRE(writer.add("v", core::Tensor::scalar(2.f)).ok());
  REQUIRE(writer.add(saved_model::kObjectGraphKey, graph).ok());
  REQUIRE(writer.finish().ok());
}
void write_bundle(const std::string& prefix, const std::string& graph) { write_bundle(prefix, core::Tensor::scalar(core::tstring(graph))); }

struct Holder : Module {
  Variable v{Tensor(1.f), {.name = "v"}};
  Holder() {
    track("v", v);
    track("self", *this);
  }
  ~Holder() override { track("self", Module()); }  // what holds itself would never go
};

// "no error", or the message.
std::string read(const std::string& prefix, float& value) {
  Holder holder;
  Checkpoint checkpoint(holder);
  const std::string error = error_of([&] { checkpoint.read(prefix).expect_partial(); });
  value = holder.v.value().item<float>();
  return error;
}

}  // namespace

TEST_CASE("graphs that are wrong") {
  Folder dir;
  float value = 0;
  const auto attempt = [&](const std::vector<Node>& nodes) {
    write_bundle(dir / "w", graph_of(nodes));
    return read(dir / "w", value);
  };
  CHECK(attempt({{{{1, "v"}}, {}}, {{}, {"v"}}}) == "no error");
  CHECK(value == 2.f);
  CHECK(attempt({{{{2, "v"}}, {}}, {{}, {"v"}}}) == "the checkpoint is damaged: its object 'v' does not exist");
  CHECK(attempt({{{{-1, "v"}}, {}}}) == "the checkpoint is damaged: its object 'v' does not exist");
  CHECK(attempt({{{}, {}, {{0, "m", 7}}}}) == "the checkpoint is damaged: its slot 'm' does not exist");
  CHECK(attempt({{{{1, "v"}}, {}}, {{}, {"w"}}}) == "Key w not found in checkpoint");
  CHECK(attempt({{{{1, "v"}}, {}}, {{}, {""}}}) != "no error");
  CHECK(value == 1.f);
  CHECK(attempt({{{{1, "v"}}, {}}, {{}, {"_CHECKPOINTABLE_OBJECT_GRAPH"}}}).find("does not equal original dtype string") != std::string::npos);
  // Loops, two names for one node, two nodes under one name, a node that is its own slot.
  CHECK(attempt({{{{0, "self"}, {1, "v"}, {1, "v"}, {2, "v"}}, {}}, {{{0, "x"}, {1, "y"}}, {"v", "v"}}, {{}, {"v"}}}) == "no error");
  CHECK(attempt({{{{0, "self"}, {1, "v"}}, {}, {{0, "m", 0}, {1, "m", 1}}}, {{}, {"v"}}}) == "no error");
  CHECK(value == 2.f);
  write_bundle(dir / "w", std::string());
  CHECK(read(dir / "w", value) == "the checkpoint is damaged: its object graph has no objects");
  write_bundle(dir / "w", core::Tensor::scalar(1.f));
  CHECK(read(dir / "w", value).starts_with("the checkpoint is damaged: its object graph is a tensor of type float"));
}

TEST_CASE("a long chain of objects") {
  Folder dir;
  std::vector<Node> nodes;
  for (int i = 1; i < 30000; ++i) nodes.push_back({{{i, "self"}}, {}});
  nodes.push_back({{}, {"v"}});
  write_bundle(dir / "w", graph_of(nodes));
  Holder holder;
  Checkpoint checkpoint(holder);
  auto status = checkpoint.read(dir / "w");
  status.expect_partial();
  CHECK(error_of([&] { status.assert_consumed(); }) != "no error");
}

TEST_CASE("changed bytes") {
  Folder dir;
  Net net(1.f);
  Checkpoint({{"model", net}}).write(dir / "good");
  const std::string good = load_variable(dir / "good", "_CHECKPOINTABLE_OBJECT_GRAPH").strings()[0];
  std::mt19937 random(7);
  int errors = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string bad = good;
    for (unsigned i = 0; i < 1 + random() % 4; ++i) bad[random() % bad.size()] = char(random() % 4 ? bad[random() % bad.size()] : random());
    if (random() % 5 == 0) bad.resize(random() % bad.size());
    {
      wire::BundleWriter writer(dir / "bad");
      for (int i = 0; i < 3; ++i) {
        const std::string key =
            i == 0 ? "model/w/.ATTRIBUTES/VARIABLE_VALUE" : "model/layers/" + std::to_string(i - 1) + "/w/.ATTRIBUTES/VARIABLE_VALUE";
        core::Tensor t = core::Tensor::of<float>({2, 3}, std::vector<float>(6, 2.f));
        REQUIRE(writer.add(key, t).ok());
      }
      REQUIRE(writer.add(saved_model::kObjectGraphKey, core::Tensor::scalar(core::tstring(bad))).ok());
      REQUIRE(writer.finish().ok());
    }
    Net other(1.f);
    Checkpoint checkpoint({{"model", other}});
    const std::string error = error_of([&] {
      auto status = checkpoint.read(dir / "bad");
      status.expect_partial();
      (void)error_of([&] { status.assert_consumed(); });
      (void)error_of([&] { status.assert_nontrivial_match(); });
    });
    errors += error != "no error";
  }
  CHECK(errors > 50);
  CHECK(errors < 1500);
}
