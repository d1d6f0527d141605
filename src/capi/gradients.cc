// TF_AddGradients: gradients of outputs of a graph, added to it as nodes.
#include <algorithm>
#include <ranges>

#include "autodiff/gradients.h"
#include "capi/graph_internal.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::Endpoint;

namespace {

Status endpoints(TF_Graph& g, const TF_Output* outputs, int n, std::vector<Endpoint>& out) {
  if (n < 0) return invalid_argument("a negative number of outputs");
  for (int i = 0; i < n; ++i) {
    WEFT_RETURN_IF_ERROR(check_output(g, outputs[i]));
    out.push_back(unwrap(outputs[i]));
  }
  return {};
}

}  // namespace

void TF_AddGradients(TF_Graph* g, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx, TF_Status* status, TF_Output* dy) {
  TF_AddGradientsWithPrefix(g, nullptr, y, ny, x, nx, dx, status, dy);
}

void TF_AddGradientsWithPrefix(TF_Graph* g, const char* prefix, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx, TF_Status* status,
                               TF_Output* dy) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(g);
    if (ny) WEFT_NOT_NULL(y);
    if (nx) {
      WEFT_NOT_NULL(x);
      WEFT_NOT_NULL(dy);
    }
    std::lock_guard lock(g->mutex);
    know_shapes(*g);
    std::vector<Endpoint> ys, xs, dys;
    WEFT_RETURN_IF_ERROR(endpoints(*g, y, ny, ys));
    WEFT_RETURN_IF_ERROR(endpoints(*g, x, nx, xs));
    if (dx) WEFT_RETURN_IF_ERROR(endpoints(*g, dx, ny, dys));
    weft_engine::autodiff::GradientOptions options;
    if (prefix) {
      // A prefix of the caller's own must be new.
      options.scope = prefix;
      const std::string inside = options.scope + "/";
      for (const auto* n : g->graph.nodes()) {
        if (n->name() == options.scope || n->name().starts_with(inside))
          return invalid_argument("prefix [", prefix, "] conflicts with existing node in the graph named [", n->name(), "]");
      }
    } else {
      options.scope = g->graph.unique_name("gradients");
      for (int k = 1; std::ranges::any_of(g->graph.nodes(), [&](const auto* n) { return n->name().starts_with(options.scope + "/"); }); ++k)
        options.scope = cat("gradients_", k);
    }
    const int before = g->graph.num_ids();
    auto grads = weft_engine::autodiff::add_gradients(g->graph, g->shapes, ys, xs, dys, options);
    if (!grads.ok()) {
      // Nothing half done stays behind.
      for (int id = g->graph.num_ids() - 1; id >= before; --id) {
        if (auto* n = g->graph.node(id)) g->graph.remove(n);
      }
      return grads.status();
    }
    g->inferred = g->graph.num_ids();
    for (int i = 0; i < nx; ++i) dy[i] = wrap((*grads)[size_t(i)]);
    return {};
  });
}
