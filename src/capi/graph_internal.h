// What stands behind the C API's types for graphs and functions. A TF_Operation* is a graph::Node*; nodes of
// a TF_Graph keep their address until the graph goes, and are never removed while clients may hold them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capi/internal.h"
#include "graph/function_library.h"
#include "graph/graph.h"
#include "graph/holds.h"
#include "graph/import.h"
#include "graph/shape_inference.h"

// A node being built. What it holds goes when it is finished; the handle itself stays with the graph, so that
// a client that finishes it twice gets an error.
struct TF_OperationDescription {
  struct Building;
  TF_OperationDescription(TF_Graph* g, const char* op, const char* name);
  TF_OperationDescription(const TF_OperationDescription&) = delete;
  ~TF_OperationDescription();
  TF_Graph* graph;
  std::unique_ptr<Building> building;  // null once finished
};

struct TF_Graph {
  TF_Graph();

  std::mutex mutex;  // guards everything below
  weft_engine::graph::Graph graph;
  weft_engine::graph::ShapeInference shapes{graph};
  int inferred = 0;  // nodes with smaller ids have shapes; see know_shapes
  // Grows with every change to nodes that were already there (an edge, an attribute, a device), so that a
  // session knows that a plan made earlier is out of date. New nodes are seen by graph.num_ids().
  uint64_t edits = 0;
  bool require_shape_rules = true;
  std::deque<TF_OperationDescription> descriptions;

  // Sessions keep their graph alive: the last one to go frees a graph that was deleted before.
  std::set<TF_Session*> sessions;
  bool delete_requested = false;

  // Condition and body of a while loop being built: the graph that will hold the loop, and what enters it.
  TF_Graph* parent = nullptr;
  std::vector<weft_engine::graph::Endpoint> parent_inputs;

  // Inputs that TF_AddWhileInputHack added and the node's attributes do not know of yet.
  std::map<weft_engine::graph::Node*, std::vector<weft_engine::graph::Endpoint>> further_inputs;
};

// The definition alone: functions that its body calls must be in the library that it is copied to.
struct TF_Function {
  weft_engine::graph::FunctionDef def;
};

struct TF_ImportGraphDefOptions {
  weft_engine::graph::ImportOptions options;
  bool validate_colocation = true;
};

struct TF_ImportGraphDefResults {
  std::vector<TF_Output> outputs;
  std::vector<TF_Operation*> operations;
  std::vector<std::string> missing_names;
  std::vector<const char*> missing_name_pointers;
  std::vector<int> missing_indexes;
};

namespace weft_engine::capi {

inline graph::Node* unwrap(TF_Operation* o) { return reinterpret_cast<graph::Node*>(o); }
inline const graph::Node* unwrap(const TF_Operation* o) { return reinterpret_cast<const graph::Node*>(o); }
inline TF_Operation* wrap(graph::Node* n) { return reinterpret_cast<TF_Operation*>(n); }
inline graph::Endpoint unwrap(TF_Output o) { return {unwrap(o.oper), o.index}; }
inline TF_Output wrap(graph::Endpoint e) { return {wrap(e.node), e.index}; }

// Whether the node is one of this graph. Call with the graph's lock.
inline bool holds(const TF_Graph& g, const graph::Node* n) { return graph::holds(g.graph, n); }
// InvalidArgument unless the output exists and belongs to the graph. Call with the graph's lock.
Status check_output(const TF_Graph& g, TF_Output output);

// Sessions register with their graph; the last to leave frees a graph that was deleted meanwhile.
void attach_session(TF_Graph* graph, TF_Session* session);
void detach_session(TF_Graph* graph, TF_Session* session);

// Adds a GraphDef. With `infer` shapes are inferred, and shapes that do not fit are an error, after which
// nothing has been added; without it that waits until somebody asks for a shape. Call with the graph's lock.
Result<graph::ImportResults> import_locked(TF_Graph& g, graph::GraphDef def, const graph::ImportOptions& options, bool infer = true);
// Infers the shapes of nodes that were added without (by an import, a loader). Rules that fail leave them
// unknown. Call with the graph's lock before shapes are read.
void know_shapes(TF_Graph& g);

// Fills a buffer that must be empty, as TensorFlow's functions that write messages want it.
Status fill_empty_buffer(TF_Buffer* buffer, std::string_view bytes);

}  // namespace weft_engine::capi
