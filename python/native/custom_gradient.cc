// Custom gradients of code in graphs: results are marked with a name, and the program's gradient runs when code that differentiates the graph asks for
// that name. It may use values of the graph that the code was traced in: those are found again in the body of the function that became of it.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>

#include "autodiff/gradients.h"
#include "autodiff/tape.h"
#include "bridge.h"
#include "custom_gradient.h"
#include "graph/function_body.h"
#include "graph/function_library.h"
#include "graph/graph_emitter.h"
#include "graph/node_traits.h"
#include "graph/to_function.h"
#include "op/emit.h"
#include "release.h"
#include "saved_model/export_graph.h"
#include "trace/concrete_function.h"

namespace weft_engine::python {
namespace {

using graph::Endpoint;
using graph::GraphEmitter;
using graph::Node;
using trace::FuncGraph;

// The gradient of marked results: `call` is a _Call of weft/_src/gradients/custom.py, which is freed with the Python object of the graph.
struct Marked {
  PyObject* call = nullptr;  // a weak reference
  std::weak_ptr<FuncGraph> graph;  // that the code was traced in; tensors of the call hold it
  size_t num_results = 0, num_sources = 0;

  Marked() = default;
  Marked(const Marked&) = delete;
  ~Marked() {
    if (call) release(call);
  }
};

// A mark that is being used.
struct Used {
  explicit Used(const Marked& m) : graph(m.graph.lock()), mark(m) {
    call = nb::borrow(PyWeakref_GetObject(m.call));
    if (call.is_none() || !graph) raise(not_found("a custom gradient whose graph was freed"));
  }
  nb::object call;
  std::shared_ptr<FuncGraph> graph;
  const Marked& mark;
};

std::unordered_map<std::string, std::shared_ptr<Marked>>& marks() {  // guarded by the interpreter lock
  static auto* map = new std::unordered_map<std::string, std::shared_ptr<Marked>>;
  return *map;
}

// Values of the traced graph, and of those around it, in the body of the function that it became.
class InBody {
 public:
  InBody(FuncGraph& from, GraphEmitter& to) : from_(from), to_(to) {
    for (Node* n : to.graph().nodes()) {
      if (!is_arg(*n)) continue;
      const auto i = size_t(n->attr<int64_t>("index"));
      if (i < from.function_inputs.size()) arguments_.emplace(from.function_inputs[i], n);
    }
  }

  Value find(const Value& v) {
    for (const auto& c : from_.captures()) {
      if (v.rep() == c.outer.rep() || autodiff::id_of(v) == autodiff::id_of(c.outer)) return find({c.node, 0});
    }
    const auto* made_in = dynamic_cast<const trace::TraceEmitter*>(v.rep()->owner());
    if (made_in == &from_.emitter()) return find(GraphEmitter::unwrap(v));
    if (v.rep()->owner())
      raise(unimplemented("the gradient function uses the tensor '", GraphEmitter::unwrap(v).node->name(),
                          "' of a graph around the one that it belongs to"));
    return to_.constant(static_cast<const eager::TensorHandle*>(v.rep())->tensor());
  }

 private:
  Value find(const Endpoint& e) {
    if (auto it = arguments_.find(e.node); it != arguments_.end()) return to_.wrap({it->second, 0});
    if (Node* same = to_.graph().find(e.node->name()); same && same->op() == e.node->op() && e.index < same->num_outputs())
      return to_.wrap({same, e.index});
    return to_.wrap({copy(e.node), e.index});
  }

  // Nothing of the function's results needed the node, so the body does not have it.
  Node* copy(Node* node) {
    if (auto it = copies_.find(node); it != copies_.end()) return it->second;
    if (node->spec().stateful || role_of(*node) == op::Role::kPlaceholder)
      raise(unimplemented("the gradient function uses '", node->name(), "' (", node->op(), "), which is not in the function's body"));
    std::vector<Value> inputs;
    for (const Endpoint& e : node->inputs()) inputs.push_back(find(e));
    (void)to_.apply(node->op(), inputs, graph::attrs_of(*node));
    check(to_.take_status());
    return copies_[node] = to_.added().back();
  }

  FuncGraph& from_;
  GraphEmitter& to_;
  std::unordered_map<Node*, Node*> arguments_, copies_;
};

struct TracedGradient {
  std::shared_ptr<trace::ConcreteFunction> function;  // of the results' gradients, then `uses`
  std::vector<Value> uses;  // values of the traced graph and of those around it
  std::vector<int64_t> of;  // the sources that its results are the gradients of
};

// Runs the program's gradient in a graph inside the one that the code was traced in.
TracedGradient trace_gradient(const Used& m) {
  autodiff::FreshTapes apart;
  trace::Entered inside(m.graph.get());
  nb::tuple made = nb::cast<nb::tuple>(nb::steal(must(call_python(PyObject_CallMethod, m.call.ptr(), "_traced", nullptr))));
  FuncGraph& graph = func_graph_of(made[0]);
  TracedGradient out;
  std::vector<Value> results;
  for (nb::handle h : nb::borrow<nb::list>(made[1])) results.emplace_back(graph.emitter(), RefPtr<ValueRep>::share(rep_of(h.ptr())));
  for (nb::handle h : nb::borrow<nb::list>(made[2])) out.of.push_back(nb::cast<int64_t>(h));
  out.function = unwrap(trace::ConcreteFunction::make(graph.shared_from_this(), results));
  for (const auto& c : graph.captures()) out.uses.push_back(c.outer);
  return out;
}

// In the graph that is being built: the program's code adds its ops there.
Grads gradient_here(const Used& m, const GradContext& g, FuncGraph& here, GraphEmitter& emitter) {
  nb::list dys;
  for (size_t i = 0; i < m.mark.num_results; ++i) {
    const Value dy = g.dy(int(i)).dense();
    dys.append(nb::steal(wrap(&emitter == &here.emitter() ? dy : here.emitter().wrap(GraphEmitter::unwrap(dy)))));
  }
  nb::object made = nb::steal(must(call_python(PyObject_CallMethod, m.call.ptr(), "_backward", "O", dys.ptr())));
  Grads out = g.none();
  size_t at = m.mark.num_results;
  for (nb::handle h : made) {
    if (at >= out.size()) break;
    Value v = gradient_value(h);
    if (v.valid()) {
      v = v.dense();
      out[at] = emitter.wrap(GraphEmitter::unwrap(unwrap(here.import(v))));
    }
    ++at;
  }
  return out;
}

Grads gradient_in_body(const Used& m, const GradContext& g, GraphEmitter& emitter) {
  const TracedGradient traced = trace_gradient(m);
  std::vector<Value> inputs;
  for (size_t i = 0; i < m.mark.num_results; ++i) inputs.push_back(g.dy(int(i)).dense());
  InBody body(*m.graph, emitter);
  for (const Value& v : traced.uses) inputs.push_back(body.find(v));
  Grads out = g.none();
  if (traced.of.empty()) return out;
  const auto& f = *traced.function;
  auto made = emitter.apply(op_of(op::Role::kCall, f.stateful()), inputs, {{"Tout", f.ret_types()}, {"f", op::FunctionAttr{f.name(), nullptr}}});
  for (size_t k = 0; k < made.size() && k < traced.of.size(); ++k) out[m.mark.num_results + size_t(traced.of[k])] = made[k];
  return out;
}

// results..., sources... marked: code that differentiates the graph runs the gradient of `call`. Gives the results, and the name for forget_gradient().
nb::tuple with_gradient(nb::handle sources, nb::handle results, nb::object call) {
  static std::atomic<int64_t> next{0};
  FuncGraph* g = FuncGraph::current();
  if (!g) raise(failed_precondition("there is no graph around this code"));
  auto m = std::make_shared<Marked>();
  m->call = must(PyWeakref_NewRef(call.ptr(), nullptr));
  m->graph = g->shared_from_this();
  std::vector<Value> values = values_of(results);
  m->num_results = values.size();
  for (nb::handle h : sources) values.push_back(is_variable(h.ptr()) ? variable_handle(h.ptr()) : value_of(h));
  m->num_sources = values.size() - m->num_results;
  std::string name;
  do {
    name = cat("CustomGradient-", next.fetch_add(1));
  } while (!autodiff::register_gradient(name, [m](const GradContext& c) -> Grads {
              const Locked lock;
              if (!lock) return c.fail(interpreter_finalized());
              try {
                if (size_t(c.num_inputs()) != m->num_results + m->num_sources)
                  return c.fail(invalid_argument("a custom gradient was given another number of values than it belongs to"));
                auto* emitter = dynamic_cast<GraphEmitter*>(&c.emitter());
                if (!emitter) return c.fail(unimplemented("a custom gradient of a traced function outside of graphs"));
                FuncGraph* here = FuncGraph::current();
                const Used used(*m);
                if (here && &here->graph() == &emitter->graph()) return gradient_here(used, c, *here, *emitter);
                return gradient_in_body(used, c, *emitter);
              } catch (nb::python_error& e) {
                e.restore();
                return c.fail(status_of_python_error());
              }
            }).ok());
  marks()[name] = m;
  AttrMap attrs;
  std::vector<DType> types;
  for (const Value& v : values) types.push_back(v.dtype());
  attrs["T"] = std::move(types);
  attrs["_gradient_op_type"] = name;
  const std::string_view op = op_of(op::Role::kIdentityN);
  prepare_node(*g, op, nullptr);
  auto out = g->emitter().apply(op, values, std::move(attrs));
  node_done(*g);
  check(g->emitter().take_status());
  return nb::make_tuple(wrap_all(std::span(out).first(m->num_results)), name);
}

void forget_gradient(const std::string& name) {
  marks().erase(name);
  autodiff::unregister_gradient(name);
}

const Marked* mark_of(std::string_view op, const AttrMap& attrs) {
  auto it = attrs.find("_gradient_op_type");
  const auto* name = op == op_of(op::Role::kIdentityN) && it != attrs.end() ? it->second.get<std::string>() : nullptr;
  auto found = name ? marks().find(*name) : marks().end();
  return found == marks().end() ? nullptr : found->second.get();
}

// The body with the gradients traced, as functions that its nodes name; what they use of the body are further inputs of the nodes.
graph::FunctionDef with_traced_gradients(const graph::FunctionDef& def, std::vector<std::shared_ptr<trace::ConcreteFunction>>& made) {
  auto& context = api::context();
  graph::FunctionBody body = unwrap(graph::instantiate_function(def, {}, context.registry(), context.runtime().library()));
  graph::Graph& g = *body.graph;
  graph::ShapeInference shapes(g);
  GraphEmitter emitter(g, shapes, "gradients");
  check(shapes.all({}));
  const auto nodes = g.nodes();
  for (Node* n : nodes) {
    AttrMap attrs = graph::attrs_of(*n);
    const Marked* mark = mark_of(n->op(), attrs);
    if (!mark) continue;
    const Marked& m = *mark;
    const Used used(m);
    const TracedGradient traced = trace_gradient(used);
    InBody inside(*used.graph, emitter);
    std::vector<Endpoint> inputs = n->inputs();
    for (const Value& v : traced.uses) inputs.push_back(GraphEmitter::unwrap(inside.find(v)));
    std::vector<DType> types;
    for (const Endpoint& e : inputs) types.push_back(op::base_type(e.node->output_type(e.index)));
    attrs["T"] = std::move(types);
    attrs["_gradient_op_type"] = traced.function->name();
    std::vector<int64_t> layout{int64_t(m.num_results), int64_t(m.num_results + m.num_sources)};
    for (const int64_t i : traced.of) layout.push_back(int64_t(m.num_results) + i);
    attrs["_gradient_layout"] = std::move(layout);
    check(g.rewrite(n, op_of(op::Role::kIdentityN), std::move(attrs), std::move(inputs)));
    made.push_back(traced.function);
  }
  graph::FunctionOptions o;
  o.name = def.name;
  for (Node* a : body.args) o.inputs.push_back({a, 0});
  for (size_t i = 0; i < body.rets.size(); ++i) {
    o.outputs.push_back(body.rets[i]->input(0));
    o.output_names.push_back(def.outputs[i].name);
  }
  for (Node* c : body.control_rets) o.control_outputs.push_back(c);
  o.body.emplace();
  for (const Node* n : g.nodes()) {
    if (!is_end(*n)) o.body->push_back(n);
  }
  graph::FunctionDef out = unwrap(graph::to_function(g, o));
  out.attrs = def.attrs;
  out.arg_attrs = def.arg_attrs;
  for (size_t i = 0; i < def.inputs.size() && i < out.inputs.size(); ++i) out.inputs[i] = def.inputs[i];
  out.stateful = def.stateful;
  return out;
}

}  // namespace

void trace_custom_gradients(graph::FunctionLibrary& library) {
  const auto& all = *api::context().runtime().library();
  // Only those of the functions that are saved, as in TensorFlow: a gradient's own custom gradients are not.
  for (const std::string& name : library.names()) {
    const auto before = unwrap(library.find(name));
    if (std::none_of(before->nodes.begin(), before->nodes.end(), [](const graph::NodeDef& n) { return mark_of(n.op, n.attrs); })) continue;
    std::vector<std::shared_ptr<trace::ConcreteFunction>> made;
    graph::FunctionDef def = with_traced_gradients(*before, made);
    check(library.remove(name));
    check(library.add(std::move(def)));
    for (const auto& f : made) {
      auto traced = unwrap(all.find(f->name()));
      auto needed = unwrap(saved_model::needed_functions(traced->nodes, all));
      if (!needed->contains(f->name())) check(needed->add(graph::FunctionDef(*traced)));
      check(library.add_all(*needed));
    }
  }
}

void bind_custom_gradient(nb::module_& m) {
  m.def("with_gradient", with_gradient, nb::arg("sources"), nb::arg("results"), nb::arg("call"));
  m.def("forget_gradient", forget_gradient, nb::arg("name"), "The call of with_gradient was freed.");
}

}  // namespace weft_engine::python
