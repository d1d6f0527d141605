#include "runtime/step_body.h"

#include <algorithm>

#include "core/device_name.h"
#include "core/error_notes.h"
#include "graph/holds.h"
#include "graph/node_traits.h"
#include "runtime/remote_session.h"

namespace weft_engine::runtime {

using namespace weft_engine::core;
using graph::Endpoint;
using graph::FunctionBody;
using graph::Node;

// Nodes of another graph are refused here, where a plan is made: a plan is found again by its nodes, so that later runs need no look.
static Status check_output(const graph::Graph& graph, const Endpoint& e, const char* what, size_t i) {
  if (!e.node) return invalid_argument(what, " ", i, " names no node");
  if (!graph::holds(graph, e.node) || e.index < 0)
    return invalid_argument("Tensor ", e.node->name(), ":", e.index,
                            ", specified in either feed_devices or fetch_devices was not found in the Graph");
  if (e.index < e.node->num_outputs()) return {};
  return out_of_range("Node '", e.node->name(), "' (type: '", e.node->op(), "', num of outputs: ", e.node->num_outputs(), ") does not have output ",
                      e.index);
}

Result<RemoteSession::Names> names_of(const graph::Graph& graph, std::mutex& mutex, std::span<const Endpoint> feeds,
                                      std::span<const Endpoint> fetches, std::span<Node* const> targets) {
  std::lock_guard lock(mutex);
  RemoteSession::Names names;
  auto add = [&](std::span<const Endpoint> from, std::vector<std::string>& to, const char* what) -> Status {
    for (size_t i = 0; i < from.size(); ++i) {
      WEFT_RETURN_IF_ERROR(check_output(graph, from[i], what, i));
      to.push_back(cat(from[i].node->name(), ":", from[i].index));
    }
    return {};
  };
  WEFT_RETURN_IF_ERROR(add(feeds, names.feeds, "Feed"));
  WEFT_RETURN_IF_ERROR(add(fetches, names.fetches, "Fetch"));
  for (Node* t : targets) {
    if (!graph::holds(graph, t)) return invalid_argument("Target ", t ? t->name() : "", " was not found in the Graph");
    names.targets.push_back(t->name());
  }
  return names;
}

// In TensorFlow's words. A cycle is found where nodes are put in order.
template <class FeedOf>
static Status check_connections(const graph::Graph& graph, std::span<const Connection> connections, std::span<const Endpoint> fetches,
                                const FeedOf& feed_of) {
  for (size_t i = 0; i < connections.size(); ++i) {
    const auto& [from, to] = connections[i];
    WEFT_RETURN_IF_ERROR(check_output(graph, to, "Connection", i));
    const std::string name = cat(to.node->name(), ":", to.index);
    if (!from.node || !graph::holds(graph, from.node)) return invalid_argument("Requested tensor connection from unknown node: \"", name, "\".");
    if (from.index < 0 || from.index >= from.node->num_outputs())
      return invalid_argument("Requested tensor connection from unknown edge: \"", name, "\" (actual number of outputs = ", from.node->num_outputs(),
                              ").");
    bool before = feed_of(to) >= 0;
    for (size_t k = 0; k < i; ++k) before |= connections[k].to == to;
    if (before) return invalid_argument("Endpoint \"", name, "\" fed more than once.");
    if (std::find(fetches.begin(), fetches.end(), to) != fetches.end()) return invalid_argument(name, " is both fed and fetched.");
    const DType has = base_type(from.node->output_type(from.index)), needs = base_type(to.node->output_type(to.index));
    if (has != needs)
      return invalid_argument("Tensor ", name, " of type ", dtype_name(needs), " cannot be connected with one of type ", dtype_name(has));
  }
  return {};
}

// The part of the graph that the fetches and targets need, cut off at the feeds.
Result<FunctionBody> step_body(const graph::Graph& graph, std::span<const Endpoint> feeds, std::span<const Endpoint> fetches,
                               std::span<Node* const> targets, std::span<Node* const> done, std::span<const Connection> connections) {
  FunctionBody body;
  body.name = "session";
  body.graph = std::make_unique<graph::Graph>(graph.registry(), graph.library());
  body.graph->versions = graph.versions;
  std::vector<std::vector<std::pair<int, int>>> fed(size_t(graph.num_ids()));  // by node: output, argument
  for (size_t i = 0; i < feeds.size(); ++i) {
    const Endpoint& f = feeds[i];
    WEFT_RETURN_IF_ERROR(check_output(graph, f, "Feed", i));
    for (auto [output, arg] : fed[size_t(f.node->id())]) {
      if (output == f.index) return invalid_argument("Endpoint \"", f.node->name(), ":", f.index, "\" fed more than once.");
    }
    fed[size_t(f.node->id())].emplace_back(f.index, int(i));
    WEFT_ASSIGN(Node* arg,
                add_arg(*body.graph, cat("_arg_", f.node->name(), "_", f.index, "_", i), base_type(f.node->output_type(f.index)), int64_t(i)));
    body.args.push_back(arg);
    body.arg_types.push_back(base_type(f.node->output_type(f.index)));
  }
  auto feed_of = [&](const Endpoint& e) {
    for (auto [output, arg] : fed[size_t(e.node->id())]) {
      if (output == e.index) return arg;
    }
    return -1;
  };
  WEFT_RETURN_IF_ERROR(check_connections(graph, connections, fetches, feed_of));
  auto source = [&](const Endpoint& e) {
    for (const Connection& c : connections) {
      if (c.to == e) return c.from;
    }
    return e;
  };
  // Which nodes are needed.
  std::vector<char> need(size_t(graph.num_ids()), 0);
  std::vector<Node*> todo;
  auto want = [&](Node* n) {
    if (!need[size_t(n->id())]) {
      need[size_t(n->id())] = 1;
      todo.push_back(n);
    }
  };
  for (size_t i = 0; i < fetches.size(); ++i) {
    const Endpoint& f = fetches[i];
    WEFT_RETURN_IF_ERROR(check_output(graph, f, "Fetch", i));
    if (const Endpoint from = source(f); feed_of(from) < 0) want(from.node);
  }
  for (Node* t : targets) {
    if (!graph::holds(graph, t)) return invalid_argument("Target ", t ? t->name() : "", " was not found in the Graph");
    want(t);
  }
  while (!todo.empty()) {
    Node* n = todo.back();
    todo.pop_back();
    for (const Endpoint& e : n->inputs()) {
      if (!e.node) return core::names_node(invalid_argument("{{node ", n->name(), "}} has an input that leads nowhere"), n->name());
      if (const Endpoint from = source(e); feed_of(from) < 0) want(from.node);
    }
    for (Node* c : n->control_inputs()) {
      // A node all of whose outputs are fed does not run.
      if (std::find(done.begin(), done.end(), c) != done.end()) continue;
      if (c->num_outputs() == 0 || int(fed[size_t(c->id())].size()) < c->num_outputs()) want(c);
    }
  }
  // Copied in an order in which inputs come first; the ways back of loops afterwards.
  std::vector<Node*> map(size_t(graph.num_ids()), nullptr);
  std::vector<Node*> order;
  std::vector<int> waiting(size_t(graph.num_ids()), 0);
  std::vector<int> ready;
  auto is_back = [](const Node* n) { return is_next_iteration(*n); };
  const auto later = std::greater<int>();
  for (int id = 0; id < graph.num_ids(); ++id) {
    if (!need[size_t(id)]) continue;
    Node* n = graph.node(id);
    for (const Endpoint& e : n->inputs()) {
      const Endpoint from = source(e);
      waiting[size_t(id)] += feed_of(from) < 0 && !is_back(from.node);
    }
    for (Node* c : n->control_inputs()) waiting[size_t(id)] += need[size_t(c->id())];
    if (!waiting[size_t(id)]) ready.push_back(id);
  }
  std::make_heap(ready.begin(), ready.end(), later);
  auto done_for = [&](Node* reader) {
    if (!need[size_t(reader->id())] || --waiting[size_t(reader->id())]) return;
    ready.push_back(reader->id());
    std::push_heap(ready.begin(), ready.end(), later);
  };
  size_t needed = size_t(std::count(need.begin(), need.end(), 1));
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    Node* n = graph.node(ready.back());
    ready.pop_back();
    --needed;
    std::vector<Endpoint> inputs;
    std::vector<Node*> controls;
    bool back = false;
    for (const Endpoint& input : n->inputs()) {
      const Endpoint e = source(input);
      const int arg = feed_of(e);
      if (arg >= 0) inputs.push_back({body.args[size_t(arg)], 0});
      else inputs.push_back({map[size_t(e.node->id())], e.index});
      back |= !inputs.back().node;
    }
    for (Node* c : n->control_inputs()) {
      if (map[size_t(c->id())]) controls.push_back(map[size_t(c->id())]);
    }
    WEFT_ASSIGN(Node* copy, body.graph->add(n->name(), n->op(), graph::attrs_of(*n), std::move(inputs), controls,
                                            back ? std::span<const DType>(n->info().input_types()) : std::span<const DType>()));
    if (!n->device.empty() && (n->device[0] != '/' || !DeviceName::parse(n->device).ok()))
      return core::names_node(
          invalid_argument("Malformed device specification '", n->device, "' in node: {{node ", n->name(), "}}\n\t [[", n->name(), "]]"), n->name());
    copy->device = n->device;
    copy->assigned_device = n->assigned_device;
    map[size_t(n->id())] = copy;
    order.push_back(n);
    if (!is_back(n)) {
      for (const graph::Use& u : n->uses()) {
        if (feed_of({n, u.output}) < 0 && source({n, u.output}).node == n) done_for(u.node);
      }
      for (const Connection& c : connections) {
        if (c.from.node != n || feed_of(c.from) >= 0) continue;
        for (const graph::Use& u : c.to.node->uses()) {
          if (u.output == c.to.index) done_for(u.node);
        }
      }
    }
    for (Node* c : n->control_outputs()) done_for(c);
  }
  if (needed) {
    std::vector<std::string> some;
    for (size_t id = 0; id < need.size() && some.size() < 3; ++id) {
      if (need[id] && waiting[id]) some.push_back(graph.node(int(id))->name());
    }
    return invalid_argument("Graph is invalid, contains a cycle with ", needed, " nodes, including: ", join(some, ", "));
  }
  for (Node* n : order) {
    Node* copy = map[size_t(n->id())];
    for (int i = 0; i < copy->num_inputs(); ++i) {
      if (copy->input(i).node) continue;
      const Endpoint from = source(n->input(i));
      body.graph->set_input(copy, i, {map[size_t(from.node->id())], from.index});
    }
  }
  for (size_t i = 0; i < fetches.size(); ++i) {
    const Endpoint fetched = source(fetches[i]);
    const int arg = feed_of(fetched);
    Endpoint from = arg >= 0 ? Endpoint{body.args[size_t(arg)], 0} : Endpoint{map[size_t(fetched.node->id())], fetched.index};
    const DType t = base_type(from.node->output_type(from.index));
    WEFT_ASSIGN(Node* ret, add_retval(*body.graph, cat("_retval_", fetches[i].node->name(), "_", fetches[i].index, "_", i), from, t, int64_t(i)));
    body.rets.push_back(ret);
    body.ret_types.push_back(t);
  }
  for (Node* t : targets) body.control_rets.push_back(map[size_t(t->id())]);
  return body;
}

}  // namespace weft_engine::runtime
