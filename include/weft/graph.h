// Graphs for people and tools: what a GraphDef or a SavedModel holds, node by node; freezing and optimising.
//
//   auto model = weft::load("mnist");
//   weft::freeze(model).write("mnist.pb");
//   for (const auto& node : weft::read_graph("mnist.pb").nodes()) std::cout << node.name << '\n';
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/saved_model.h"

namespace weft {

// What a node is to its graph, whichever op it is.
enum class NodeKind { operation, argument, result, placeholder, constant, variable };

struct NodeInfo {
  std::string name, op;
  std::string device;                                      // asked for, or where it was placed
  std::vector<std::string> inputs;                         // "node", "node:1"; control inputs as "^node"
  std::vector<DType> types;                                // of the outputs
  std::vector<PartialShape> shapes;                        // of the outputs, as far as known
  std::vector<std::pair<std::string, std::string>> attrs;  // as text
  std::vector<std::string> functions;                      // that it calls
  NodeKind kind = NodeKind::operation;
};

// A function, with its arguments and results as nodes of the ops _Arg and _Retval.
struct FunctionBody {
  std::string name;
  std::vector<TensorSpec> inputs, outputs;
  std::vector<NodeInfo> nodes;
};

// An immutable graph; copies share it.
class WEFT_API Graph {
 public:
  Graph() = default;

  // All nodes.
  std::vector<NodeInfo> nodes() const;
  std::vector<std::string> functions() const;  // of the library, sorted
  // One function of the library.
  FunctionBody function(std::string_view name) const;
  const std::vector<std::string>& inputs() const;   // the nodes to feed, where the graph was made for some
  const std::vector<std::string>& outputs() const;  // the nodes to fetch
  int producer() const;                             // GraphDef's version

  // Writes a GraphDef; as text where the name ends in .pbtxt.
  void write(const std::string& path) const;
  std::string to_bytes() const;

  // For the library itself.
  struct Impl;
  // For the library itself.
  const Impl& impl() const;
  static Graph adopt(std::shared_ptr<const Impl> impl);

 private:
  std::shared_ptr<const Impl> impl_;
};

// A GraphDef (.pb, .pbtxt), or the graph of a SavedModel as it was saved.
WEFT_API Graph read_graph(const std::string& path, const std::vector<std::string>& tags = {"serve"});

// The part of a model that a signature runs, as the engine sees it before or after its passes and placement.
struct PlanOptions {
  std::string signature = "serving_default";
  bool optimized = false;
};
// The graph of a model as it was saved, or as it runs.
WEFT_API Graph plan(const Model& model, const PlanOptions& options = {});

struct FreezeOptions {
  std::string signature = "serving_default";
  // Instead of a signature: tensors of the graph ("node:0"), kept under their nodes' names.
  std::vector<std::string> inputs = {}, outputs = {};
};
// Variables at their values of now become constants, also inside functions and loops. Inputs are placeholders, outputs
// identities, named as the signature names them. An error where the signature writes a variable. Where there are tables,
// the node init_all_tables fills them; load() runs it, others must.
WEFT_API Graph freeze(const Model& model, const FreezeOptions& options = {});

struct PassInfo {
  std::string name, does;
};
WEFT_API std::vector<PassInfo> passes();  // in order

struct PassReport {
  std::string pass;
  int nodes_before = 0, nodes_after = 0;
};
struct OptimizeOptions {
  std::vector<std::string> passes = {};  // empty: all
  std::vector<std::string> disabled = {};
};
// Runs the engine's passes over a graph. What can be fed and fetched stays: placeholders and what no other node reads.
WEFT_API Graph optimize(const Graph& graph, const OptimizeOptions& options = {}, std::vector<PassReport>* reports = nullptr);

}  // namespace weft
