// The parts of the remap pass: each replaces one kind of pattern by a fused op. A pattern is replaced only
// when nobody else reads its inner values.
#pragma once

#include "graph/passes/util.h"

namespace weft_engine::graph {

// MatMul and Conv2D with a scale, a bias and an activation behind them.
Status remap_dense(FunctionBody& body, const Region& region);
// Normalisation over the last dimension (_WeftLayerNorm).
Status remap_layer_norm(FunctionBody& body, const Region& region);
// softmax(scale q k^T + mask) v (_WeftAttention).
Status remap_attention(FunctionBody& body, const Region& region);
// The same backwards (_WeftAttentionGradient), both without transposing the heads.
Status remap_attention_gradient(FunctionBody& body, const Region& region);
// The cells of LSTM and GRU, in the bodies of loops or step by step (_WeftLstmCell, _WeftLstmStep, _WeftGruCell).
Status remap_recurrent(FunctionBody& body, const Region& region);
// The LSTM's cell backwards (_WeftLstmGradient).
Status remap_recurrent_gradient(FunctionBody& body, const Region& region);
// The update of one variable by Adam, as Keras writes it (_WeftAdam).
Status remap_adam(FunctionBody& body, const Region& region);
// Sums of products as one product (no fused op).
Status remap_sums(FunctionBody& body, const Region& region);
// Weights that many small products read transposed are transposed once (no fused op).
Status remap_transposed(FunctionBody& body, const Region& region);
// What is left of elementwise nodes, several in one (_WeftFusedElementwise).
Status remap_elementwise(FunctionBody& body, const Region& region);

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
// Who depends on whom, asked often of a graph that changes little: a search that knows where nodes stand
// in a valid order.
class Ancestry {
 public:
  Ancestry() = default;
  static Result<Ancestry> make(const Graph& g);
  // Is there a way from `from` to `n`?
  bool depends(const Node* n, const Node* from) const;
  bool any_depends(std::initializer_list<Endpoint> inputs, const std::vector<Node*>& from) const;
  int place(const Node* n) const { return size_t(n->id()) < place_.size() ? place_[size_t(n->id())] : -1; }  // -1: a new node
  void set_place(const Node* n, int place);

 private:
  std::vector<int> place_;
};
// A tensor of one long dimension as a vector.
Result<Endpoint> as_vector(Graph& g, Node* near, const Endpoint& v);
// Is `v` a vector of n elements, perhaps with dimensions of one in front?
bool is_row(const Endpoint& v, int64_t n);
// The readers of `from` read `to` instead, and whoever waits for its node waits for that of `to`; then the
// node goes, and with it what only it needed.
void replace_root(FunctionBody& body, Endpoint from, Endpoint to);
// Removes a pure node that nobody reads or waits for, and then its inputs likewise.
void drop_unused(FunctionBody& body, Node* n);

}  // namespace weft_engine::graph
