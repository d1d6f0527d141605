// Graphs as Python sees them: a function that is being traced, or a graph of version 1, with its nodes by number. weft.Graph and weft.Operation
// are Python classes over this.
#include "graph/graph.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>
#include <unordered_set>

#include "autodiff/gradients.h"
#include "bridge.h"
#include "engine/engine.h"
#include "graph/function_library.h"
#include "graph/import.h"
#include "io/graph_def.h"
#include "op/op_traits.h"
#include "saved_model/export_graph.h"
#include "scoped_nodes.h"
#include "stacks.h"
#include "trace/variable.h"
#include "variable.h"

namespace weft_engine::python {
namespace {

using trace::FuncGraph;

struct NativeGraph {
  std::shared_ptr<FuncGraph> graph;
  graph::Node* node(int id) const {
    graph::Node* n = id >= 0 && id < graph->graph().num_ids() ? graph->graph().node(id) : nullptr;
    if (!n) raise(not_found("the graph has no node ", id));
    return n;
  }
};

// Traces that this thread is in, as Python entered them.
thread_local std::vector<std::pair<std::shared_ptr<FuncGraph>, std::unique_ptr<trace::Entered>>> t_entered;

// Graphs that nothing may be added to, by number. Guarded by the interpreter lock.
std::unordered_set<int64_t>& finalized() {
  static auto* set = new std::unordered_set<int64_t>;
  return *set;
}

std::string lower(std::string s) {
  for (char& c : s) c = char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return s;
}

nb::list node_ids(std::span<graph::Node* const> nodes) {
  nb::list out;
  for (graph::Node* n : nodes) out.append(n->id());
  return out;
}

bool only_reads(const std::string& op) {
  const op::OpSpec* spec = engine::Engine::get().registry().find(op);
  return spec && spec->traits().only_reads;
}

nb::bytes bytes_of(const std::string& s) { return nb::bytes(s.data(), s.size()); }

// A function as TensorFlow's tracing leaves it: its results wait for all effects and reads. Those of the engine need not, since effects are
// results, too.
graph::FunctionDef shown(graph::FunctionDef f) {
  f.attrs.emplace("_construction_context", std::string("kEagerRuntime"));
  std::set<std::string> waits;
  for (const auto& [name, node] : f.control_ret) waits.insert(node);
  for (const graph::NodeDef& n : f.nodes) {
    if (only_reads(n.op)) waits.insert(n.name);
  }
  std::set<std::string> results;
  for (const auto& [name, value] : f.ret) results.insert(value.substr(0, value.find(':')));
  if (waits.empty() || results.empty()) return f;
  graph::NodeDef node;
  node.op = op_of(op::Role::kNoOp);
  for (const graph::NodeDef& n : f.nodes) {
    if (results.contains(n.name)) node.name = n.name.substr(0, n.name.rfind('/') + 1) + node.op;  // rfind gives npos where there is none: 0
  }
  if (node.name.empty()) return f;
  for (graph::NodeDef& n : f.nodes) {
    if (results.contains(n.name) && n.op == op_of(op::Role::kIdentity)) n.inputs.push_back("^" + node.name);
  }
  f.control_outputs.clear();
  f.control_ret.clear();
  for (const std::string& w : waits) {
    node.inputs.push_back("^" + w);
    f.control_outputs.push_back(w);
    f.control_ret[w] = w;
  }
  f.nodes.push_back(std::move(node));
  return f;
}

std::string graph_def(NativeGraph& g, bool all_functions) {
  // The library of a context holds every function of the process; a graph shows those it needs.
  std::vector<graph::NodeDef> nodes;
  for (graph::Node* n : g.graph->graph().nodes()) nodes.push_back(io::to_node_def(*n));
  auto needed = all_functions ? g.graph->graph().library() : unwrap(saved_model::needed_functions(nodes, *g.graph->graph().library()));
  constexpr int kKnowsFunctions = 12;  // the first version of graphs that readers of functions have
  auto& versions = g.graph->graph().versions;
  if (needed->size() > 0) versions.min_consumer = std::max(versions.min_consumer, kKnowsFunctions);
  std::string out = unwrap(io::encode_graph_def(g.graph->graph(), false));
  if (needed->size() > 0) {
    graph::FunctionLibrary named;
    for (const std::string& name : needed->names()) {
      check(named.add(shown(*unwrap(needed->find(name)))));
      if (std::string gradient = needed->gradient_of(name); !gradient.empty()) check(named.add_gradient({name, std::move(gradient)}));
    }
    const std::string library = unwrap(io::encode_function_library(named));
    out.push_back(char(2 << 3 | 2));  // GraphDef.library
    for (size_t n = library.size();; n >>= 7) {
      out.push_back(char(n >= 128 ? (n & 127) | 128 : n));
      if (n < 128) break;
    }
    out += library;
  }
  return out;
}

// name: (ids of the returned nodes, tensors)
nb::tuple import_graph(NativeGraph& g, nb::bytes def, const std::string& prefix, nb::dict input_map, std::vector<std::pair<std::string, int>> outputs,
                       std::vector<std::string> nodes) {
  graph::ImportOptions o;
  o.prefix = prefix;
  for (auto [key, value] : input_map) {
    nb::tuple k = nb::cast<nb::tuple>(key);
    Value v = unwrap(g.graph->import(value_of(value)));
    o.input_map[{nb::cast<std::string>(k[0]), nb::cast<int>(k[1])}] = graph::GraphEmitter::unwrap(v);
  }
  o.return_outputs = std::move(outputs);
  o.return_nodes = std::move(nodes);
  auto owned = std::make_shared<const std::string>(def.c_str(), def.size());
  auto decoded = unwrap(io::decode_graph_def(std::move(owned)));
  auto r = unwrap(graph::import_graph_def(g.graph->graph(), std::move(decoded), o));
  if (Status s = graph::infer_imported(g.graph->graph(), g.graph->emitter().shapes(), r.added); !s.ok()) {
    graph::remove_imported(g.graph->graph(), r.added);
    check(s);
  }
  for (const graph::Node* n : r.added) g.graph->hold_functions_of(*n);
  nb::list tensors;
  for (const auto& e : r.return_outputs) tensors.append(nb::steal(wrap(g.graph->emitter().wrap(e))));
  nb::list missing;
  for (const auto& [name, index] : r.missing_unused_input_map_keys) missing.append(nb::make_tuple(name, index));
  return nb::make_tuple(tensors, node_ids(r.return_nodes), node_ids(r.added), missing);
}

nb::list gradients(NativeGraph& g, nb::handle ys, nb::handle xs, nb::handle dys, const std::string& scope, nb::handle stops) {
  auto ends = [&](nb::handle list) {
    std::vector<graph::Endpoint> out;
    for (nb::handle h : list) out.push_back(h.is_none() ? graph::Endpoint{} : graph::GraphEmitter::unwrap(unwrap(g.graph->import(value_of(h)))));
    return out;
  };
  autodiff::GradientOptions options;
  options.scope = scope;
  options.unreachable_is_error = false;
  for (const auto& e : ends(stops)) options.stops.push_back(e.node);
  auto made = unwrap(autodiff::add_sparse_gradients(g.graph->graph(), g.graph->emitter().shapes(), ends(ys), ends(xs), ends(dys), options));
  auto tensor = [&](const graph::Endpoint& e) { return e.node ? nb::steal(wrap(g.graph->emitter().wrap(e))) : nb::object(nb::none()); };
  nb::list out;
  for (const auto& d : made)
    out.append(d.indices.node ? nb::object(nb::make_tuple(tensor(d.values), tensor(d.indices), tensor(d.dense_shape))) : tensor(d.values));
  return out;
}

}  // namespace

bool graph_entered() { return !t_entered.empty(); }

std::string node_name(FuncGraph& g, std::string_view op, PyObject* name, bool mark) {
  if (!finalized().empty() && finalized().contains(g.id())) {
    PyErr_SetString(PyExc_RuntimeError, "Graph is finalized and cannot be modified.");
    raise_current();
  }
  std::string full;
  std::string given;
  if (name && name != Py_None) {
    if (!PyUnicode_Check(name) && !PyBytes_Check(name)) {
      PyErr_Format(PyExc_TypeError, "the name of an op must be text, not %R", name);
      raise_current();
    }
    given = PyBytes_Check(name) ? PyBytes_AS_STRING(name) : PyUnicode_AsUTF8(name);
  }
  if (!given.empty() && given.back() == '/') {
    full = given.substr(0, given.size() - 1);
    if (g.graph().find(full)) full = g.unique_name(full, mark);
    else if (mark) g.names_in_use.emplace(lower(full), 1);
  } else {
    full = g.unique_name(cat(trace::name_scope(), given.empty() ? std::string(op) : given), mark);
  }
  return full;
}

std::string prepare_node(FuncGraph& g, std::string_view op, PyObject* name) {
  stop_if_ending();
  const std::string full = node_name(g, op, name);
  g.emitter().refuse_bad_shapes(true);
  note_node(g, full);
  g.emitter().set_next_name(full);
  g.emitter().set_device(api::scoped_device());
  return full;
}

void name_import(FuncGraph& g, const std::string& name) {
  g.capture_name = name.empty() ? name : g.unique_name(name, false);
  g.emitter().set_next_name(g.capture_name);
}

namespace {
struct BaseDevice {
  FuncGraph* graph = nullptr;
  std::string name;
};
BaseDevice& base_device() {
  static thread_local BaseDevice base;
  return base;
}
}  // namespace

ScopedNodes::ScopedNodes() : before_(base_device().graph), before_name_(base_device().name), graph_(FuncGraph::current()) {
  base_device() = {graph_, api::scoped_device()};
  if (graph_) graph_->emitter().set_device(api::scoped_device());
}
ScopedNodes::~ScopedNodes() {
  base_device() = {before_, before_name_};
  if (graph_) graph_->emitter().set_device(before_ == graph_ ? before_name_ : std::string());
}

namespace {
// What this thread's program has called for every node (device functions); null: nothing.
PyObject*& after_node() {
  static thread_local PyObject* hook = nullptr;
  return hook;
}
}  // namespace

void node_done(FuncGraph& g) {
  g.capture_name.clear();
  g.emitter().set_next_name({});
  g.emitter().set_device(base_device().graph == &g ? base_device().name : std::string());
  g.emitter().refuse_bad_shapes(false);
  if (PyObject* hook = after_node()) nb::steal(must(call_python(PyObject_CallOneArg, hook, graph_object(g).ptr())));
}

void note_node(FuncGraph& g, const std::string& name) {
  // Branches and loop bodies are graphs of their own, but errors name the function around them.
  note_stack(!t_entered.empty() && t_entered.back().first ? *t_entered.back().first : g, name);
}

nb::object graph_object(FuncGraph& g) {
  nb::object native = nb::cast(NativeGraph{g.shared_from_this()});
  return nb::steal(must(call_python(PyObject_CallOneArg, hooks().graph_of, native.ptr())));
}

nb::object operation_object(FuncGraph& g, const graph::Node* node) {
  nb::object owner = graph_object(g);
  nb::object id = nb::int_(node->id());
  return nb::steal(must(call_python(PyObject_CallFunctionObjArgs, hooks().operation, owner.ptr(), id.ptr(), nullptr)));
}

FuncGraph& func_graph_of(nb::handle h) {
  if (nb::isinstance<NativeGraph>(h)) return *nb::cast<NativeGraph&>(h).graph;
  nb::object native = h.attr("_native");
  return *nb::cast<NativeGraph&>(native).graph;
}

void bind_graph(nb::module_& m) {
  nb::class_<NativeGraph>(m, "NativeGraph", "A graph of the engine; nodes have numbers.")
      .def(
          "__init__",
          [](NativeGraph* self, const std::string& name, bool plain, bool nested) {
            if (!plain) use_devices();
            auto g = FuncGraph::make(api::context(), name, nested ? FuncGraph::current() : nullptr);
            g->plain = plain;
            g->graph().versions.producer = graph::kGraphDefVersion;
            g->captures_floats = !plain;
            new (self) NativeGraph{std::move(g)};
          },
          nb::arg("name"), nb::arg("plain") = false, nb::arg("nested") = true)
      .def_prop_ro("id", [](NativeGraph& g) { return g.graph->id(); })
      .def_prop_ro("name", [](NativeGraph& g) { return g.graph->name(); })
      .def_prop_ro("plain", [](NativeGraph& g) { return g.graph->plain; })
      .def_prop_ro("outer", [](NativeGraph& g) { return g.graph->outer() ? graph_object(*g.graph->outer()) : nb::none(); })
      .def_prop_rw(
          "may_create_variables", [](NativeGraph& g) { return g.graph->may_create_variables; },
          [](NativeGraph& g, bool on) { g.graph->may_create_variables = on; })
      .def_prop_ro("variables_created", [](NativeGraph& g) { return g.graph->variables_created; })
      .def_prop_rw(
          "must_compile", [](NativeGraph& g) { return g.graph->must_compile; }, [](NativeGraph& g, bool on) { g.graph->must_compile = on; })
      .def_prop_rw(
          "gradient_overrides",
          [](NativeGraph& g) {
            nb::dict out;
            for (const auto& [op, name] : g.graph->gradient_overrides) out[op.c_str()] = name;
            return out;
          },
          [](NativeGraph& g, nb::dict map) {
            g.graph->gradient_overrides.clear();
            for (auto [op, name] : map) g.graph->gradient_overrides[nb::cast<std::string>(op)] = nb::cast<std::string>(name);
          })
      .def(
          "finalize",
          [](NativeGraph& g, bool on) { on ? void(finalized().insert(int64_t(g.graph->id()))) : void(finalized().erase(int64_t(g.graph->id()))); },
          nb::arg("on") = true)
      .def(
          "enter", [](NativeGraph& g) { t_entered.emplace_back(g.graph, std::make_unique<trace::Entered>(g.graph.get())); },
          "Ops of this thread go here until exit_graph().")
      .def(
          "unique_name", [](NativeGraph& g, const std::string& name, bool mark) { return g.graph->unique_name(name, mark); }, nb::arg("name"),
          nb::arg("mark") = true)
      .def("mark_name", [](NativeGraph& g, const std::string& name) { g.graph->names_in_use.emplace(lower(name), 1); })
      .def(
          "add_argument",
          [](NativeGraph& g, const std::string& name, nb::handle dtype, nb::handle shape, nb::handle like) {
            std::optional<graph::HandleData> handle;
            if (!like.is_none() && is_variable(like.ptr())) {
              nb::object s = nb::steal(must(call_python(PyObject_CallMethod, like.ptr(), "_native_shape", nullptr)));
              handle = graph::HandleData{variable_dtype(like.ptr()), shape_of(s.ptr())};
            }
            g.graph->names_in_use.emplace(lower(name), 1);
            return nb::steal(wrap(unwrap(g.graph->add_argument(name, dtype_of(dtype.ptr()), shape_of(shape.ptr()), handle))));
          },
          nb::arg("name"), nb::arg("dtype"), nb::arg("shape"), nb::arg("like") = nb::none())
      .def(
          "bind_argument", [](NativeGraph& g, nb::handle outer, nb::handle argument) { g.graph->bind_argument(value_of(outer), value_of(argument)); },
          nb::arg("outer"), nb::arg("argument"), "Wherever the trace uses `outer`, a tensor of elsewhere, it uses its argument.")
      .def("arguments", [](NativeGraph& g) { return node_ids(g.graph->arguments()); })
      .def(
          "capture",
          [](NativeGraph& g, nb::handle t, const std::string& name) {
            const Value outer = value_of(t);
            if (!outer.rep()->owner()) name_import(*g.graph, name.empty() ? name : cat(trace::name_scope(), name));
            auto made = g.graph->import(outer);
            name_import(*g.graph, {});
            const Value inner = unwrap(std::move(made));
             // What is made of the one is made of the other.
            if (inner.rep() != outer.rep() && trace::TapeStack::current().wants(std::span(&outer, 1)))
              trace::TapeStack::current().record("captured_value", std::span(&outer, 1), std::span(&inner, 1),
                                                 [](Emitter&, std::span<const Value> dys) -> Result<Grads> { return Grads(dys.begin(), dys.end()); });
            return nb::steal(wrap(inner));
          },
          nb::arg("tensor"), nb::arg("name") = "")
      .def(
          "capture_placeholder",
          [](NativeGraph& g, nb::handle t, const std::string& name) {
            return nb::steal(wrap(unwrap(g.graph->unused_capture(value_of(t), std::nullopt, g.graph->unique_name(name)))));
          },
          nb::arg("tensor"), nb::arg("name"), "A capture of a value that callers replace: it stays one, however small.")
      .def("captures",
           [](NativeGraph& g) {
             nb::list out;
             for (const auto& c : g.graph->captures())
               out.append(nb::make_tuple(nb::steal(wrap(c.outer)), nb::steal(wrap(g.graph->emitter().wrap({c.node, 0})))));
             return out;
           })
      .def("variables",
           [](NativeGraph& g) {
             nb::list out;
             for (const auto& w : g.graph->variables()) {
               auto v = w.lock();
               nb::object o = v ? variable_object(v.get()) : nb::none();
               if (!o.is_none()) out.append(o);
             }
             return out;
           })
      .def("effects", [](NativeGraph& g) { return node_ids(g.graph->effects()); })
      .def("reads",
           [](NativeGraph& g) {
             std::vector<graph::Node*> reads;
             for (graph::Node* n : g.graph->graph().nodes()) {
               if (n->spec().traits().only_reads) reads.push_back(n);
             }
             return node_ids(reads);
           })
      .def("nodes", [](NativeGraph& g) { return node_ids(g.graph->graph().nodes()); })
      .def("num_nodes", [](NativeGraph& g) { return g.graph->graph().num_nodes(); })
      .def(
          "num_ids", [](NativeGraph& g) { return g.graph->graph().num_ids(); }, "Nodes have smaller numbers; they are given one after the other.")
      .def("has_node", [](NativeGraph& g, int id) { return id >= 0 && id < g.graph->graph().num_ids() && g.graph->graph().node(id); })
      .def("find",
           [](NativeGraph& g, const std::string& name) -> nb::object {
             graph::Node* n = g.graph->graph().find(name);
             return n ? nb::object(nb::int_(n->id())) : nb::none();
           })
      .def("node_name", [](NativeGraph& g, int id) { return g.node(id)->name(); })
      .def(
          "node_stack", [](NativeGraph& g, const std::string& name) { return stack_of(*g.graph, name); },
          "[(file, line, function)] of where that node was made.")
      .def("node_type", [](NativeGraph& g, int id) { return std::string(g.node(id)->op()); })
      .def("node_device", [](NativeGraph& g, int id) { return g.node(id)->device; })
      .def("set_node_device", [](NativeGraph& g, int id, const std::string& device) { g.node(id)->device = device; })
      .def("node_num_outputs", [](NativeGraph& g, int id) { return g.node(id)->num_outputs(); })
      .def("tensor",
           [](NativeGraph& g, int id, int index) {
             graph::Node* n = g.node(id);
             if (index < 0 || index >= n->num_outputs())
               raise(invalid_argument("the node '", n->name(), "' has ", n->num_outputs(), " outputs, not ", index + 1));
             return nb::steal(wrap(g.graph->emitter().wrap({n, index})));
           })
      .def(
          "node_inputs",
          [](NativeGraph& g, int id) {
            nb::list out;
            for (const auto& e : g.node(id)->inputs()) out.append(nb::make_tuple(e.node ? e.node->id() : -1, e.index));
            return out;
          },
          "(node, output) for each input.")
      .def("node_control_inputs", [](NativeGraph& g, int id) { return node_ids(g.node(id)->control_inputs()); })
      .def("node_control_outputs", [](NativeGraph& g, int id) { return node_ids(g.node(id)->control_outputs()); })
      .def("node_uses",
           [](NativeGraph& g, int id) {
             nb::list out;
             for (const auto& u : g.node(id)->uses()) out.append(nb::make_tuple(u.node->id(), u.input, u.output));
             return out;
           })
      .def("node_attr",
           [](NativeGraph& g, int id, const std::string& name) {
             graph::Node* n = g.node(id);
             const AttrValue* v = n->find_attr(name);
             if (!v) {
               PyErr_Format(PyExc_ValueError, "Operation '%s' has no attr named '%s'.", n->name().c_str(), name.c_str());
               raise_current();
             }
             return attr_to_python(*v);
           })
      .def("node_attrs",
           [](NativeGraph& g, int id) {
             nb::dict out;
             for (const auto& [name, value] : graph::attrs_of(*g.node(id))) out[name.c_str()] = attr_to_python(value);
             return out;
           })
      .def("set_node_attr",
           [](NativeGraph& g, int id, const std::string& name, nb::handle value) {
             graph::Node* n = g.node(id);
             const int at = n->spec().signature().attr_index(name);
             g.graph->graph().set_attr(n, name, attr_of(value.ptr(), at >= 0 ? n->spec().signature().attrs[size_t(at)].type : "any", name, n->op()));
             g.graph->hold_functions_of(*n);
           })
      .def("set_input",
           [](NativeGraph& g, int id, int input, nb::handle t) {
             g.graph->graph().set_input(g.node(id), input, graph::GraphEmitter::unwrap(unwrap(g.graph->import(value_of(t)))));
           })
      .def("node_def", [](NativeGraph& g, int id) { return bytes_of(unwrap(io::encode_node_def(io::to_node_def(*g.node(id))))); })
      .def("add_control", [](NativeGraph& g, int from, int to) { g.graph->graph().add_control(g.node(from), g.node(to)); })
      .def(
          "set_controls",
          [](NativeGraph& g, const std::vector<int>& ids) {
            std::vector<graph::Node*> nodes;
            for (int id : ids) nodes.push_back(g.node(id));
            g.graph->emitter().set_user_controls(std::move(nodes));
          },
          "What ops that follow wait for.")
      .def(
          "graph_def", [](NativeGraph& g, bool all) { return bytes_of(graph_def(g, all)); }, nb::arg("all_functions") = false)
      .def("import_graph_def", import_graph, nb::arg("graph_def"), nb::arg("prefix"), nb::arg("input_map"), nb::arg("outputs"), nb::arg("nodes"))
      .def("gradients", gradients, nb::arg("ys"), nb::arg("xs"), nb::arg("grad_ys"), nb::arg("scope"), nb::arg("stops") = nb::list())
      .def(
          "lift",
          [](NativeGraph& g, nb::handle t, nb::handle arguments) {
            const std::vector<Value> given = arguments.is_none() ? std::vector<Value>() : values_of(arguments);
            const Value v(g.graph->emitter(), RefPtr<ValueRep>::share(rep_of(t.ptr())));
            return nb::steal(wrap(unwrap(trace::lift(*g.graph, v, given))));
          },
          nb::arg("tensor"), nb::arg("arguments").none() = nb::none(),
          "Computes a value of the trace outside of it; an error where it depends on arguments that are not given.");

  m.def("exit_graph", [] {
    if (!t_entered.empty()) t_entered.pop_back();
  });
  m.def(
      "enter_eager", [] { t_entered.emplace_back(nullptr, std::make_unique<trace::Entered>(nullptr)); },
      "Ops of this thread run at once until exit_graph().");
  m.def("current_graph", []() -> nb::object { return FuncGraph::current() ? graph_object(*FuncGraph::current()) : nb::none(); });
  m.def(
      "innermost_graph", []() -> nb::object { return FuncGraph::innermost() ? graph_object(*FuncGraph::innermost()) : nb::none(); },
      "The graph that was entered last, also where code in it runs at once.");
  m.def(
      "set_after_node",
      [](nb::handle hook) {
        PyObject* before = std::exchange(after_node(), hook.is_none() ? nullptr : Py_NewRef(hook.ptr()));
        Py_XDECREF(before);
      },
      nb::arg("hook").none(), "hook(graph) is called whenever the program adds a node in this thread; None: no more.");
  m.def("in_graph", [] { return FuncGraph::current() != nullptr; });
  m.def("name_scope", [] { return trace::name_scope(); }, "The scope of this thread: empty, or ending in a slash.");
  m.def("set_name_scope", [](std::string scope) { trace::name_scope() = std::move(scope); });
}

}  // namespace weft_engine::python
