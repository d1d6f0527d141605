#include "trace/func_graph.h"

#include "api/unwrap.h"
#include "api/nn/train_ops.h"

namespace weft::nn {

Tensor before(const Tensor& t, std::string_view op) {
  trace::FuncGraph* g = trace::FuncGraph::current();
  if (!g || !t.has_value()) return {};
  const op::Value v = api::to_value(t);
  if (v.rep()->owner() != &g->emitter()) return {};
  const graph::Endpoint at = graph::GraphEmitter::unwrap(v);
  if (!at.node || at.node->op() != op || at.node->inputs().size() != 1) return {};
  return api::from_value(g->emitter().wrap(at.node->inputs()[0]));
}

}  // namespace weft::nn
