// DTensors for Python: eager tensors with a layout, a number that weft/_src/dtensor gives a meaning. Ops on them come to a function of the
// package, which runs their kernels on plain tensors and says how the results are laid out.
#include "eager/layout.h"

#include <nanobind/stl/string.h>

#include "bridge.h"
#include "call.h"
#include "engine/engine.h"
#include "graph/function_body.h"
#include "graph/node_traits.h"
#include "op/layout_rule.h"

namespace weft_engine::python {
namespace {

PyObject* g_runner = nullptr;  // runner(call) gives the list of the results

using Handles = std::vector<RefPtr<eager::TensorHandle>>;

RefPtr<eager::TensorHandle> handle_with(PyObject* tensor, int layout) {
  if (!is_tensor(tensor) || rep_of(tensor)->owner()) raise(invalid_argument("only an eager tensor has a layout"));
  auto h = eager::TensorHandle::make(data_of(tensor), handle_of(tensor)->device());
  h->set_layout(layout);
  return h;
}

Handles handles_of(nb::handle list) {
  Handles out;
  for (nb::handle t : list) {
    if (!is_tensor(t.ptr()) || rep_of(t.ptr())->owner()) raise(invalid_argument("an eager tensor was expected"));
    out.push_back(RefPtr<eager::TensorHandle>::share(handle_of(t.ptr())));
  }
  return out;
}

nb::list list_of(Handles handles) {
  nb::list out;
  for (auto& h : handles) out.append(nb::steal(wrap(std::move(h))));
  return out;
}

// An op on its way to its kernel; lives as long as the runner's call.
struct LayoutCall {
  eager::Op& op;
  const NodeInfo& node;
  const bool in_scope = std::exchange(eager::layout_scope(), false);
  const bool by_program = std::exchange(eager::called_by_program(), false);
  ~LayoutCall() { eager::layout_scope() = in_scope; }
};

// The op itself, on tensors without layouts.
nb::list run_kernel(LayoutCall& c, nb::handle inputs) {
  Handles plain;
  for (nb::handle t : inputs) plain.push_back(handle_with(t.ptr(), 0));
  trace::OpCall call(used_context());
  check(call.reset(c.node.op(), c.op.requested_device() ? c.op.requested_device()->name() : std::string()));
  for (auto& h : plain) call.add_input(std::move(h));
  for (const auto& [name, value] : c.op.attrs()) check(call.set_attr(name, value));
  return list_of(run_all(call, true));
}

Status run_laid_out(eager::Op& op, const NodeInfo& node, eager::TensorHandle** outputs) {
  const Locked lock;
  if (!lock) return interpreter_finalized();
  autodiff::PausedTapes paused;
  LayoutCall call{op, node};
  try {
    nb::object argument = nb::cast(&call, nb::rv_policy::reference);
    Handles made = handles_of(nb::steal(must(call_python(PyObject_CallOneArg, g_runner, argument.ptr()))));
    if (int(made.size()) != node.num_outputs()) return internal_error(node.op(), " has ", node.num_outputs(), " outputs, ", made.size(), " came");
    for (size_t i = 0; i < made.size(); ++i) outputs[i] = made[i].release();
    return {};
  } catch (nb::python_error& e) {
    e.restore();
    return status_of_python_error();
  } catch (const std::exception& e) {  // where the interpreter ends, and variables with it, there is no class left to show the op with
    return internal_error(node.op(), " with layouts: ", e.what());
  }
}

std::vector<bool> needed_nodes(const graph::FunctionBody& body) {
  std::vector<bool> needed(size_t(body.graph->num_ids()));
  std::vector<const graph::Node*> open(body.rets.begin(), body.rets.end());
  open.insert(open.end(), body.control_rets.begin(), body.control_rets.end());
  while (!open.empty()) {
    const graph::Node* n = open.back();
    open.pop_back();
    if (needed[size_t(n->id())]) continue;
    needed[size_t(n->id())] = true;
    for (const auto& in : n->inputs()) open.push_back(in.node);
    open.insert(open.end(), n->control_inputs().begin(), n->control_inputs().end());
  }
  return needed;
}

Result<Handles> run_node(const graph::Node& n, const std::vector<Handles>& made) {
  if (is_const(n)) return Handles{eager::TensorHandle::make(n.attr<Tensor>("value"), nullptr)};
  eager::Op op(api::context());
  WEFT_RETURN_IF_ERROR(op.reset(n.op()));
  for (const auto& in : n.inputs()) op.add_input(made[size_t(in.node->id())][size_t(in.index)]);
  for (auto& [name, value] : graph::attrs_of(n)) {
    if (!name.starts_with("_")) WEFT_RETURN_IF_ERROR(op.set_attr(name, value));
  }
  Handles out;
  WEFT_RETURN_IF_ERROR(op.execute(out));
  return out;
}

// The body of a function node by node, each as an eager op.
Result<Handles> replay(const std::string& name, const Handles& args) {
  eager::Context& context = api::context();
  WEFT_ASSIGN(auto def, context.functions().find(name));
  WEFT_ASSIGN(auto body, graph::instantiate_function(*def, {}, context.registry(), context.runtime().library()));
  if (args.size() != body.args.size()) return invalid_argument(name, " takes ", body.args.size(), " tensors, ", args.size(), " were given");
  std::vector<Handles> made(size_t(body.graph->num_ids()));
  for (size_t i = 0; i < args.size(); ++i) made[size_t(body.args[i]->id())] = {args[i]};
  const std::vector<bool> needed = needed_nodes(body);
  WEFT_ASSIGN(auto order, body.graph->topological_order());
  for (const graph::Node* n : order) {
    if (!needed[size_t(n->id())] || is_end(*n)) continue;
    WEFT_ASSIGN(made[size_t(n->id())], run_node(*n, made));
  }
  Handles out;
  for (const graph::Node* r : body.rets) out.push_back(made[size_t(r->input(0).node->id())][size_t(r->input(0).index)]);
  return out;
}

nb::list replay_function(const std::string& name, nb::handle inputs) {
  const Handles args = handles_of(inputs);
  Result<Handles> out = Handles();
  {
    Released released(true);
    out = replay(name, args);
  }
  return list_of(unwrap(std::move(out)));
}

// (name, input, axis or None, (attribute, attribute)); of a name that is no op's: that it runs on one device.
nb::tuple layout_rule(const std::string& name) {
  const OpSpec* spec = engine::Engine::get().registry().find(name);
  const op::LayoutRule rule = spec ? op::layout_of(*spec) : op::layouts::kOneDevice;
  const auto text = [](std::string_view s) { return nb::str(s.data(), s.size()); };
  return nb::make_tuple(text(rule.name), rule.input, rule.axis ? nb::object(nb::int_(*rule.axis)) : nb::none(),
                        nb::make_tuple(text(rule.transposed[0]), text(rule.transposed[1])));
}

}  // namespace

void bind_layout(nb::module_& m) {
  nb::class_<LayoutCall>(m, "LayoutCall", "An op on tensors with layouts, before it runs.")
      .def_prop_ro("op", [](LayoutCall& c) { return std::string(c.node.op()); })
      .def_prop_ro("inputs", [](LayoutCall& c) { return list_of(c.op.inputs()); })
      .def_ro("in_scope", &LayoutCall::in_scope, "Whether every op of the thread is run so.")
      .def_ro("by_program", &LayoutCall::by_program, "Whether the program called it; else it is part of a gradient or of a function.")
      .def_prop_ro("num_outputs", [](LayoutCall& c) { return c.node.num_outputs(); })
      .def("attr",
           [](LayoutCall& c, const std::string& name) {
             const AttrValue* v = c.node.find_attr(name);
             return v ? attr_to_python(*v) : nb::none();
           })
      .def("run", run_kernel, nb::arg("inputs"), "The op itself on these tensors, whatever their layouts.");
  m.def(
      "set_layout_runner",
      [](nb::object runner, nb::object type) {
        Py_XSETREF(g_runner, runner.release().ptr());
        hooks().laid_out_tensor = reinterpret_cast<PyTypeObject*>(type.release().ptr());
        eager::layout_runner.store(run_laid_out);
      },
      nb::arg("runner"), nb::arg("type"), "runner(call) gives the results of ops on tensors with layouts, which are of that type.");
  m.def(
      "layout_of", [](nb::handle t) { return is_tensor(t.ptr()) && !rep_of(t.ptr())->owner() ? handle_of(t.ptr())->layout() : 0; },
      nb::arg("tensor"));
  m.def(
      "with_layout", [](nb::handle t, int layout) { return nb::steal(wrap(handle_with(t.ptr(), layout))); }, nb::arg("tensor"), nb::arg("layout"),
      "The same value; 0: without a layout.");
  m.def(
      "set_layout", [](nb::handle t, int layout) { handle_of(t.ptr())->set_layout(layout); }, nb::arg("handle"), nb::arg("layout"),
      "Of a variable, for code that holds its handle.");
  m.def(
      "layout_scope", [](bool on) { return std::exchange(eager::layout_scope(), on); }, nb::arg("on"),
      "Whether this thread's ops go to the runner whatever their inputs; gives what it was.");
  m.def("layout_rule", layout_rule, nb::arg("op"), "How the op's results are laid out, as its spec says: (name, input, axis, transposed).");
  m.def("replay", replay_function, nb::arg("function"), nb::arg("inputs"), "The function's ops one by one.");
}

}  // namespace weft_engine::python
