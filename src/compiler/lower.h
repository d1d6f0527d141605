// A function body as a module of the compiler's IR: walks the graph in order and applies the rule of each op (OpSpec::lower).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/function_body.h"
#include "graph/passes/passes.h"
#include "ir/ir.h"

namespace weft_engine::compiler {

// What is known of one argument of the body.
struct ArgInfo {
  std::string name;                 // for accessors and messages; empty: the node's
  core::PartialShape shape;         // open dimensions become symbols
  std::optional<core::Tensor> constant;  // its value, where it is fixed (shapes, axes, read-only variables)
  int variable = -1;                // a resource argument: the variable's number
};
// A variable: comes in and, if it is written, goes out again, in place.
struct VariableInfo {
  std::string name;
  core::DType dtype = core::DType::kInvalid;
  core::PartialShape shape;
  std::optional<core::Tensor> constant;  // read-only: its value, frozen into the code
};

struct LowerOptions {
  std::vector<ArgInfo> args;            // one for each _Arg
  std::vector<std::string> result_names;  // one for each _Retval; shorter: "output_0" ...
  std::vector<VariableInfo> variables;  // by number
  // The variable of a node that makes its own handle (VarHandleOp, VariableV2), by its shared name or node name; empty: refused.
  // Which of `variables` it is.
  std::function<std::optional<int>(const op::NodeInfo&)> variable_of;
  int threads = 1;  // that the code will run on
  bool gpu = false;  // for a GPU: without what only processors are better off with
};

// Makes a body ready for lower: loops and branches of version 1 become While and If, calls their bodies, and the graph's passes run,
// without those that put in fused kernels. Shapes and handles of the arguments as far as they are known; may be empty. `whole`: the body is compiled or not as
// one, and with it what it calls; false: calls of functions that must be compiled stay, since those are compiled or an error by themselves.
core::Status prepare(graph::FunctionBody& body, std::vector<core::PartialShape> arg_shapes,
                     std::vector<std::optional<op::ShapeContext::HandleData>> arg_handles, bool whole = true);

// The module, verified. Open dimensions of the arguments are symbols, in order; one that had to be equal to another size is used nowhere,
// and a guard (a: the symbol, b: what it must be) says so. Parameters: the tensor arguments without constants in order, then the variables that are used, as states.
// Results: the body's, then new values of the states that were written.
// Unimplemented names op and node of what cannot be lowered.
core::Result<std::unique_ptr<ir::Module>> lower(const graph::FunctionBody& body, const LowerOptions& options);
// Every op of the body, and of functions it calls, that has no rule: "op (nodes ...)" lines; empty if all have one.
std::vector<std::string> without_lowering(const graph::FunctionBody& body);
// Does a list, here or in a function it calls, grow where it is written beyond its end? Compiled lists do not: that is an error of the call.
bool may_grow_lists(const graph::FunctionBody& body);
// Is the whole hindrance that the shapes of some results depend on data (op/lower.h)?
bool only_shapes_from_data(const graph::FunctionBody& body);

}  // namespace weft_engine::compiler
