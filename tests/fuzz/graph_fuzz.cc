// Hostile graphs. The first byte of an input says what the rest is:
//   0  a GraphDef: decoded, imported, shapes inferred, its nodes ordered, written and read again, planned for its last nodes
//   1  a FunctionDef: decoded, made a body, optimised and planned
//   2  a saved_model.pb: its meta graphs, signatures and object graph
// Nothing is run but what constant folding runs. The variable WEFT_FUZZ_KIND (0, 1 or 2) says so for all inputs, whatever they begin with.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>

#include "engine/engine.h"
#include "graph/import.h"
#include "graph/shape_inference.h"
#include "io/graph_def.h"
#include "runtime/session.h"
#include "saved_model/functions.h"
#include "saved_model/meta_graph.h"
#include "saved_model/trackable_graph.h"

using namespace weft_engine;  // NOLINT

namespace {

op::Registry& registry() { return engine::Engine::get().registry(); }

runtime::SessionOptions options() {
  runtime::SessionOptions o;
  o.intra_threads = o.inter_threads = 1;
  o.allow_soft_placement = true;
  return o;
}

void fuzz_graph(std::string bytes) {
  auto def = io::decode_graph_def(std::make_shared<const std::string>(std::move(bytes)));
  if (!def.ok()) return;
  graph::Graph g(registry());
  if (!graph::import_graph_def(g, std::move(def).value()).ok()) return;
  (void)graph::infer_all(g);
  if (!g.topological_order().ok()) return;
  auto text = io::encode_graph_def(g);
  if (text.ok()) {
    auto again = io::decode_graph_def(std::make_shared<const std::string>(*text));
    // What we write we must be able to read, with as many nodes.
    if (!again.ok() || int(again->nodes.size()) != g.num_nodes()) __builtin_trap();
  }
  std::mutex mutex;
  runtime::Session session(g, mutex, options());
  auto nodes = g.nodes();
  if (nodes.size() > 4) nodes.erase(nodes.begin(), nodes.end() - 4);
  (void)session.prepare({}, {}, nodes);
}

void fuzz_function(std::string_view bytes) {
  auto def = io::decode_function_def(bytes);
  if (!def.ok()) return;
  (void)io::encode_function_def(*def);
  const std::string name = def->name;
  graph::Graph g(registry());
  if (!g.library()->add(std::move(def).value()).ok()) return;
  std::mutex mutex;
  runtime::Session session(g, mutex, options());
  auto f = session.runtime().instantiate(op::FunctionAttr{name, nullptr});
  if (f.ok()) (void)static_cast<runtime::Instance*>(f->get())->plan();
}

void fuzz_saved_model(std::string bytes) {
  auto file = std::make_shared<const std::string>(std::move(bytes));
  auto meta = saved_model::decode_meta_graph(file, *file);
  if (!meta.ok()) return;
  auto def = io::decode_graph_def(meta->file, meta->graph_def);
  if (!def.ok()) return;
  for (const auto& [name, lazy] : def->functions) (void)lazy();
  auto objects = saved_model::decode_object_graph(meta->object_graph);
  if (!objects.ok()) return;
  for (const auto& f : saved_model::list_functions(*objects)) {
    for (const auto& form : f.forms) (void)saved_model::describe(form);
  }
  // A checkpoint's object graph has the same first fields.
  auto trackables = saved_model::decode_trackables(meta->object_graph);
  if (!trackables.ok()) return;
  (void)saved_model::trackable_paths(*trackables);
  (void)saved_model::readable_names(*trackables);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > (1 << 20)) return 0;
  std::string rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const char* const kind = std::getenv("WEFT_FUZZ_KIND");
  switch (kind ? std::atoi(kind) : data[0] % 3) {
    case 0: fuzz_graph(std::move(rest)); break;
    case 1: fuzz_function(rest); break;
    default: fuzz_saved_model(std::move(rest)); break;
  }
  return 0;
}
