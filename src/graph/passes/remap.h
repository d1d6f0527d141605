// The parts of the remap pass: each replaces one kind of pattern by a fused op. A pattern is replaced only
// when nobody else reads its inner values.
#pragma once

#include "graph/passes/util.h"

namespace weft::graph {

// MatMul and Conv2D with a scale, a bias and an activation behind them.
Status remap_dense(FunctionBody& body, const Region& region);

// ---- for the matchers ---------------------------------------------------------------------------------
// An op that this build has, with a kernel.
bool has_kernel(const Graph& g, std::string_view op);
// The other operand, if the node is `op` and one operand is a constant of about this value everywhere.
Endpoint operand_beside(const Endpoint& e, std::string_view op, double value);
// Is this an elementwise activation that fused ops know? Its name there, or empty.
std::string_view activation_name(const Node& n);
// x, if `root` is the last node of gelu(x) and nobody else reads what lies between; `name` is the fused
// ops' word for the form. `readers` counts how often the pattern reads x.
Endpoint match_gelu(const FunctionBody& body, Node* root, std::string_view& name, int& readers);
// Removes a pure node that nobody reads or waits for, and then its inputs likewise.
void drop_unused(FunctionBody& body, Node* n);

}  // namespace weft::graph
