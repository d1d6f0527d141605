// The optimisations, each a function over a function body in its own file, listed in order in passes.cc.
// The work that Grappler does in TensorFlow.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/function_body.h"
#include "op/kernel.h"

namespace weft_engine::graph {

struct PassContext {
  // For constant folding: kernels run with this.
  KernelEnv env;
  // Shapes of the arguments where they are known (a Program is specialised to them); empty: nothing known.
  std::vector<PartialShape> arg_shapes;
  // What resource arguments hold, where known (the shape of a variable).
  std::vector<std::optional<ShapeContext::HandleData>> arg_handles;
  // Values of arguments that are always the same.
  std::vector<Tensor> arg_constants;
  std::vector<std::string> disabled;  // passes switched off, by name
  bool inline_compiled = false;       // functions that must be compiled, too
  bool enabled(std::string_view pass) const;
  // Set by a pass that made work for those before it: all run once more.
  bool again = false;
  // Tells of each pass: name, nodes before, nodes after. May be null.
  std::function<void(std::string_view pass, int before, int after)> report;
};

struct Pass {
  std::string_view name;    // as on the command line: "fold"
  std::string_view option;  // RewriterConfig's field: "constant_folding"; empty if there is none
  std::string_view does;    // one line for --help
  Status (*run)(FunctionBody& body, PassContext& c);
};

// All of them in order.
std::span<const Pass> all_passes();
// Runs the enabled ones. The body stays what it was for its callers: same arguments, results, effects.
Status optimize(FunctionBody& body, PassContext& c);

// ---- the passes; each in the file of its name ---------------------------------------------------------
Status pass_inline(FunctionBody& body, PassContext& c);  // calls of functions become their bodies
Status pass_calls(FunctionBody& body, PassContext& c);   // calls by name become calls of an op
Status pass_prune(FunctionBody& body, PassContext& c);   // what no result and no effect needs goes
Status pass_fold(FunctionBody& body, PassContext& c);    // nodes over constants become constants
Status pass_shapes(FunctionBody& body, PassContext& c);  // questions about known shapes are answered
Status pass_arithmetic(FunctionBody& body, PassContext& c);  // algebra
Status pass_branches(FunctionBody& body, PassContext& c);    // If, Case and While that are decided already
Status pass_loop_lists(FunctionBody& body, PassContext& c);      // lists between loops: what their elements are
Status pass_loop_invariant(FunctionBody& body, PassContext& c);  // loops do once what is the same each time
Status pass_remap(FunctionBody& body, PassContext& c);       // patterns become fused ops
Status pass_cse(FunctionBody& body, PassContext& c);         // equal nodes become one
Status pass_dependency(FunctionBody& body, PassContext& c);  // fewer control edges that say the same

}  // namespace weft_engine::graph
