// Branches and loops in a trace: each branch, condition and body is traced as a graph of its own, and becomes a function that an
// If, Case or While node names. What they use of the trace around them becomes inputs of the node, the same for all of them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/func_graph.h"

namespace weft_engine::trace {

// The user's code. It may throw: everything is as before then, but for nodes that nobody reads.
using TracedCode = std::function<std::vector<Value>(std::span<const Value> arguments)>;

// `choice` is a boolean for two branches (first: true) when `as_if`, else the index of one. InvalidArgument where they do not give the same
// number of values of the same types.
// Names are those that TensorFlow gives: the functions' after `name`, those of their nodes in the scope `node_name`.
Result<std::vector<Value>> add_branches(FuncGraph& graph, const Value& choice, bool as_if, std::span<const TracedCode> branches,
                                        const std::string& name, const std::string& node_name = {});

struct LoopOptions {
  std::optional<Value> maximum_iterations;  // int32
  int64_t parallel_iterations = 10;
  std::vector<PartialShape> shape_invariants;  // empty: the shapes in front of the loop
  std::string name = "while";
  std::string node_name;  // of the While node; empty: by the op
};
// While condition(vars) is true, vars = body(vars). InvalidArgument where the body changes the number, types or (beyond the invariants)
// shapes.
Result<std::vector<Value>> add_loop(FuncGraph& graph, const TracedCode& condition, const TracedCode& body, std::span<const Value> vars,
                                    const LoopOptions& options);

}  // namespace weft_engine::trace
