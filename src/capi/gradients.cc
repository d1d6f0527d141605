// TF_AddGradients: gradients of outputs of a graph, added to it as nodes.
#include <algorithm>
#include <map>
#include <ranges>
#include <shared_mutex>

#include "autodiff/gradients.h"
#include "capi/cc_internal.h"
#include "capi/graph_internal.h"
#include "core/error_notes.h"
#include "engine/registration.h"

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

// Rules of programs for nodes of graphs (REGISTER_GRADIENT_OP).
struct GraphGradient {
  weft_graph_gradient f = nullptr;
  void* data = nullptr;
};
struct GraphGradients {
  std::shared_mutex mutex;
  std::map<std::string, GraphGradient, std::less<>> by_op;
};
GraphGradients& graph_gradients() {
  static auto* all = new GraphGradients;
  return *all;
}

// The graph's lock is open while the program adds nodes.
Result<std::vector<Endpoint>> call_graph_gradient(const GraphGradient& rule, TF_Graph& g, std::unique_lock<std::mutex>& lock,
                                                  const std::string& scope, weft_engine::graph::Node* node, const std::vector<Endpoint>& dys) {
  std::vector<TF_Output> dy, dx(size_t(node->num_inputs()));
  for (const Endpoint& e : dys) dy.push_back(wrap(e));
  if (rule.f) {
    lock.unlock();
    const Status s = caught([&] { return taken(rule.f(rule.data, &g, wrap(node), text_of(scope), dy.data(), dx.data())); });
    lock.lock();
    WEFT_RETURN_IF_ERROR(s);
    know_shapes(g);
  }
  std::vector<Endpoint> out;
  for (const TF_Output& o : dx) {
    if (o.oper) WEFT_RETURN_IF_ERROR(check_output(g, o));
    out.push_back(o.oper ? unwrap(o) : Endpoint());
  }
  return out;
}

}  // namespace

void weft_register_graph_gradient(weft_text op, weft_graph_gradient f, void* data) {
  weft_engine::engine::note_registration_error(caught([&]() -> Status {
    GraphGradients& all = graph_gradients();
    const std::unique_lock lock(all.mutex);
    if (!all.by_op.emplace(string_of(op), GraphGradient{f, data}).second) return already_exists("Existing gradient for ", view_of(op));
    return {};
  }));
}

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
    std::unique_lock lock(g->mutex);
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
    options.rule_of = [&](weft_engine::graph::Node* node) -> weft_engine::autodiff::GradientOptions::NodeRule {
      GraphGradients& all = graph_gradients();
      const std::shared_lock reading(all.mutex);
      const auto it = all.by_op.find(node->op());
      if (it == all.by_op.end()) return nullptr;
      return [&, rule = it->second, node](const std::vector<Endpoint>& dys) {
        return call_graph_gradient(rule, *g, lock, cat(options.scope, "/", node->name(), "_grad"), node, dys);
      };
    };
    const int before = g->graph.num_ids();
    auto grads = weft_engine::autodiff::add_gradients(g->graph, g->shapes, ys, xs, dys, options);
    if (!grads.ok()) {
      Status s = grads.status();
      for (const auto& [note, op] : grads.status().payloads()) {
        if (note == weft_engine::core::kNoteNoGradient)
          s = not_found(
              "No gradient defined for op: ", op,
              ". Please see https://www.tensorflow.org/code/tensorflow/cc/gradients/README.md for instructions on how to add C++ gradients.");
      }
      // Nothing half done stays behind; nodes outside of the scope are those of other threads, which came while a rule of the program ran.
      const std::string inside = options.scope + "/";
      for (int id = g->graph.num_ids() - 1; id >= before; --id) {
        auto* n = g->graph.node(id);
        if (n && n->name().starts_with(inside)) g->graph.remove(n);
      }
      return s;
    }
    g->inferred = g->graph.num_ids();
    for (int i = 0; i < nx; ++i) dy[i] = wrap((*grads)[size_t(i)]);
    return {};
  });
}
