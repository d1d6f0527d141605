#include "graph/passes/passes.h"

#include <algorithm>

namespace weft_engine::graph {
namespace {

constexpr Pass kPasses[] = {
    {"inline", "function_optimization", "replace calls of functions by their bodies", pass_inline},
    {"calls", "", "turn calls by a function's name into calls of an op", pass_calls},
    {"fold", "constant_folding", "run nodes whose inputs are constants", pass_fold},
    {"shapes", "shape_optimization", "answer questions about known shapes", pass_shapes},
    {"arithmetic", "arithmetic_optimization", "drop nodes that change nothing, replace expensive ops by cheap ones", pass_arithmetic},
    {"branches", "loop_optimization", "replace branches and loops that are decided already", pass_branches},
    {"loop_lists", "loop_optimization", "infer the elements of lists that loops pass on", pass_loop_lists},
    {"loop_invariant", "loop_optimization", "compute what is the same in every iteration once", pass_loop_invariant},
    {"cse", "common_subgraph_elimination", "of equal nodes keep one", pass_cse},
    {"dependency", "dependency_optimization", "say the same with fewer control edges", pass_dependency},
    {"remap", "remapping", "replace patterns by fused kernels", pass_remap},
    {"prune", "", "drop what no result and no effect needs", pass_prune},
};

}  // namespace

bool PassContext::enabled(std::string_view pass) const { return std::find(disabled.begin(), disabled.end(), pass) == disabled.end(); }

std::span<const Pass> all_passes() { return kPasses; }

Status optimize(FunctionBody& body, PassContext& c) {
  constexpr int kMaxRounds = 4;
  for (int round = 0; round < kMaxRounds; ++round) {
    c.again = false;
    for (const Pass& p : kPasses) {
      if (!c.enabled(p.name)) continue;
      const int before = body.graph->num_nodes();
      WEFT_RETURN_IF_ERROR(p.run(body, c));
      if (c.report) c.report(p.name, before, body.graph->num_nodes());
    }
    if (!c.again) break;
  }
  return {};
}

}  // namespace weft_engine::graph
