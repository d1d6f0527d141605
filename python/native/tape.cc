// Gradient tapes, gradients that users write, and the backward pass.
#include "autodiff/tape.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "autodiff/gradients.h"
#include "bridge.h"
#include "custom_gradient.h"
#include "graph/graph_emitter.h"
#include "op/emit.h"
#include "op/op_traits.h"
#include "release.h"
#include "scoped_nodes.h"
#include "trace/concrete_function.h"
#include "trace/variable.h"
#include "trace/vectorize.h"
#include "variable.h"

namespace weft_engine::python {

Value gradient_value(nb::handle h) {
  if (h.is_none()) return {};
  if (PyTuple_Check(h.ptr())) {
    nb::tuple t = nb::borrow<nb::tuple>(h);
    return Value::slices(value_of(t[0]), value_of(t[1]), t[2].is_none() ? Value() : value_of(t[2]));
  }
  return value_of(h);
}

namespace {

using autodiff::Tape;
using autodiff::TapeStack;

Emitter& emitter() { return trace::emitter_here(api::context()); }

// A Python object that the engine holds, and may release on any thread.
std::shared_ptr<PyObject> held(nb::handle o) {
  return std::shared_ptr<PyObject>(Py_NewRef(o.ptr()), [](PyObject* p) { release(p); });
}

struct NativeTape {
  NativeTape(bool persistent, bool accessed) : tape(persistent, accessed) {}
  NativeTape(const NativeTape&) = delete;
  Tape tape;
  bool recording = false;
  void start() {
    if (!recording) TapeStack::current().push(&tape);
    recording = true;
  }
  void stop() {
    if (recording) TapeStack::current().pop(&tape);
    recording = false;
  }
  // The only one that listens, until stop_alone().
  void start_alone() {
    others = std::make_unique<TapeStack>();
    std::swap(*others, TapeStack::current());
    TapeStack::current().push(&tape);
  }
  void stop_alone() {
    if (others) std::swap(*others, TapeStack::current());
    others.reset();
  }
  std::unique_ptr<TapeStack> others;
  ~NativeTape();
};

// What a gradient is asked of: a variable stands for its handle.
Value source_value(nb::handle h) {
  if (is_variable(h.ptr())) return variable_handle(h.ptr());
  return value_of(h);
}

// Python objects that tapes know graph variables by, and how many owners each has. Guarded by the interpreter lock.
std::unordered_map<const void*, int>& graph_variables() {
  static auto* map = new std::unordered_map<const void*, int>;
  return *map;
}

std::shared_ptr<void> graph_owner(nb::handle variable) {
  ++graph_variables()[variable.ptr()];
  return std::shared_ptr<void>(Py_NewRef(variable.ptr()), [](void* p) {
    const Locked lock;
    if (!lock) return;
    if (--graph_variables()[p] == 0) graph_variables().erase(p);
    Py_DECREF(static_cast<PyObject*>(p));
  });
}

// A variable of a version 1 graph is read: tapes watch its handle.
void access_variable(nb::handle variable, nb::handle handle) {
  trace::FuncGraph* g = trace::FuncGraph::current();
  if (!TapeStack::current().recording() && (!g || g->plain)) return;
  const std::shared_ptr<void> owner = graph_owner(variable);
  const Value h = value_of(handle);
  if (TapeStack::current().recording()) {
    for (Tape* t : TapeStack::current().tapes()) t->access(h, owner);
  }
  for (; g && !g->plain; g = g->outer()) g->use_variable(h, owner);
}

nb::object watched_object(const std::shared_ptr<void>& owner) {
  if (graph_variables().contains(owner.get())) return nb::borrow(static_cast<PyObject*>(owner.get()));
  return variable_object(static_cast<const trace::VariableState*>(owner.get()));
}

nb::list gradient(NativeTape& t, nb::handle targets, nb::handle sources, nb::handle seeds, bool zero) {
  std::vector<Value> ys = values_of(targets), xs, dys;
  for (nb::handle s : sources) xs.push_back(source_value(s));
  if (!seeds.is_none()) {
    for (nb::handle s : seeds) dys.push_back(gradient_value(s));
  }
  Emitter& e = emitter();
  Result<std::vector<Value>> got = std::vector<Value>();
  const ScopedNodes nodes;
  (void)run_released(!trace::FuncGraph::current(), [&] {
    got = t.tape.gradient(e, ys, xs, dys, zero ? autodiff::Unconnected::kZero : autodiff::Unconnected::kNone);
    return Status();
  });
  return wrap_all(unwrap(std::move(got)));
}

// All seeds in one walk: seeds is [rows, target...], a result [rows, source...] or None. `rows` -1: known when it runs. NotImplemented where something on
// the way (a gradient of Python's) takes no rows.
nb::object batched_gradient(NativeTape& t, nb::handle target, nb::handle sources, nb::handle seeds, int64_t rows) {
  Emitter& base = emitter();
  const trace::RowOptions options;
  const Value y = value_of(target), all = value_of(seeds);
  std::unique_ptr<trace::RowEmitter> many;
  if (rows >= 0) many = std::make_unique<trace::RowEmitter>(base, api::context(), rows, options);
  else many = std::make_unique<trace::RowEmitter>(base, api::context(), op::element(op::shape_of(all), 0), options);
  std::vector<Value> xs;
  for (nb::handle h : sources) xs.push_back(source_value(h));
  const Value seed = many->batched(all);
  auto got = t.tape.gradient(*many, std::span(&y, 1), xs, std::span(&seed, 1));
  if (!got.ok() && PyErr_Occurred()) forget_error();
  nb::list out;
  for (size_t i = 0; got.ok() && i < xs.size(); ++i) {
    Value v = (*got)[i].valid() ? many->unbatched((*got)[i].dense()) : Value();
    if (many->failed() || base.failed()) break;
    out.append(wrap_or_none(v));
  }
  const bool done = many->take_status().ok() & base.take_status().ok();
  return got.ok() && done ? nb::object(out) : nb::borrow(Py_NotImplemented);
}

// A gradient of Python's for several seeds: traced for one.
Result<Grads> gradient_of_rows(trace::RowEmitter& rows, PyObject* code, std::span<const Value> dys) {
  auto graph = trace::FuncGraph::make(api::context(), "gradient", trace::FuncGraph::current());
  graph->captures_floats = true;
  std::vector<Value> given, arguments, results;
  for (const Value& v : dys) {
    if (!v.valid()) {
      arguments.emplace_back();
      continue;
    }
    given.push_back(v.dense());
    arguments.push_back(unwrap(graph->add_argument("dy", given.back().dtype(), given.back().shape())));
  }
  Grads out;
  {
    trace::Entered inside(graph.get());
    nb::object made = nb::steal(must(call_python(PyObject_CallOneArg, code, wrap_all(arguments).ptr())));
    for (nb::handle h : made) out.push_back(gradient_value(h).dense());
  }
  for (const Value& v : out) {
    if (v.valid()) results.push_back(v);
  }
  WEFT_ASSIGN(std::vector<Value> got, rows.replay(*graph, results, given));
  size_t next = 0;
  for (Value& v : out) {
    if (v.valid()) v = got[next++];
  }
  return out;
}

// Tapes that derivatives are taken of forwards. Guarded by the interpreter lock.
std::unordered_set<const Tape*>& forward_tapes() {
  static auto* set = new std::unordered_set<const Tape*>;
  return *set;
}

NativeTape::~NativeTape() {
  stop();
  stop_alone();
  forward_tapes().erase(&tape);
}

// Tells the tapes that `outputs` came of `inputs`, with a gradient of Python: it gets a list (None where nothing flowed) and gives one. The way forward is
// that of the ops that made `results`, which the outputs are copies of.
void record(const std::string& name, nb::handle inputs, nb::handle outputs, nb::object backward, nb::handle results) {
  if (!TapeStack::current().recording()) return;
  std::vector<Value> xs, ys = values_of(outputs);
  const std::vector<Value> made = results.is_none() ? std::vector<Value>() : values_of(results);
  for (nb::handle h : inputs) xs.push_back(source_value(h));
  auto code = held(backward);
  const autodiff::Backprop backprop = [code](Emitter& e, std::span<const Value> dys) -> Result<Grads> {
    const Locked lock;
    if (!lock) return interpreter_finalized();
    try {
      if (auto* rows = dynamic_cast<trace::RowEmitter*>(&e)) return gradient_of_rows(*rows, code.get(), dys);
      nb::list given = wrap_all(dys);
      nb::object made = nb::steal(must(call_python(PyObject_CallOneArg, code.get(), given.ptr())));
      Grads out;
      for (nb::handle h : made) out.push_back(gradient_value(h));
      return out;
    } catch (nb::python_error& e) {
      e.restore();
      return status_of_python_error();
    }
  };
  for (Tape* t : TapeStack::current().tapes()) {
    if (forward_tapes().contains(t) && t->watches_any(made))
      t->record(op_of(op::Role::kIdentity), made, ys,
                [](Emitter&, std::span<const Value> dys) -> Result<Grads> { return Grads(dys.begin(), dys.end()); });
    else t->record(name, xs, ys, backprop);
  }
}

// The rule of a program's for one node: code(op name, attrs, inputs, outputs, grads) -> list.
Grads python_rule(PyObject* code, const GradContext& g, std::span<const Value> xs, std::span<const Value> ys, std::span<const Value> dys) {
  nb::dict attrs;
  const auto& declared = g.node().spec().signature().attrs;
  for (size_t i = 0; i < declared.size(); ++i) attrs[declared[i].name.c_str()] = attr_to_python(g.node().attrs()[i]);
  for (const auto& [name, value] : g.node().extra_attrs()) attrs[name.c_str()] = attr_to_python(value);
  nb::object name = nb::str(std::string(g.node().op()).c_str());
  nb::list x = wrap_all(xs), y = wrap_all(ys), dy = wrap_all(dys);
  nb::object made = nb::steal(must(call_python(PyObject_CallFunctionObjArgs, code, name.ptr(), attrs.ptr(), x.ptr(), y.ptr(), dy.ptr(), nullptr)));
  Grads out;
  for (nb::handle h : made) out.push_back(gradient_value(h));
  return out;
}

// The rule, traced as a function of inputs, outputs and gradients.
struct TracedRule {
  std::shared_ptr<trace::FuncGraph> graph;
  std::vector<Value> given;  // for its arguments
  Grads made;
  std::vector<Value> results;  // those of `made` that are there
};

TracedRule trace_rule(PyObject* code, const GradContext& g, std::span<const Value> xs, std::span<const Value> ys, std::span<const Value> dys,
                      trace::FuncGraph* outer) {
  TracedRule r;
  r.graph = trace::FuncGraph::make(api::context(), cat(g.node().op(), "_gradient"), outer);
  const bool nodes = dynamic_cast<graph::GraphEmitter*>(&g.emitter());
  std::vector<Value> arguments;
  for (const auto& list : {xs, ys, dys}) {
    for (const Value& v : list) {
      const Value dense = v.valid() ? v.dense() : Value();
      if (!dense.valid()) {
        arguments.emplace_back();
        continue;
      }
      std::optional<graph::HandleData> handle;
      if (const graph::Endpoint e = nodes ? graph::GraphEmitter::unwrap(dense) : graph::Endpoint{};
          e.node && size_t(e.index) < e.node->handles.size())
        handle = e.node->handles[size_t(e.index)];
      arguments.push_back(unwrap(r.graph->add_argument(cat("a", r.given.size()), dense.dtype(), dense.shape(), handle)));
      r.given.push_back(dense);
    }
  }
  const std::span<const Value> all(arguments);
  trace::Entered inside(r.graph.get());
  r.made = python_rule(code, g, all.first(xs.size()), all.subspan(xs.size(), ys.size()), all.subspan(xs.size() + ys.size()));
  for (Value& v : r.made) {
    if (v.valid()) r.results.push_back(v.dense());
  }
  check(r.graph->emitter().take_status());
  return r;
}

// The rule for several gradients at once (a Jacobian): traced for one.
Grads rule_of_rows(trace::RowEmitter& rows, PyObject* code, const GradContext& g, std::span<const Value> xs, std::span<const Value> ys,
                   std::span<const Value> dys) {
  TracedRule r = trace_rule(code, g, xs, ys, dys, trace::FuncGraph::current());
  const std::vector<Value> got = unwrap(rows.replay(*r.graph, r.results, r.given));
  size_t next = 0;
  for (Value& v : r.made) {
    if (v.valid()) v = got[next++];
  }
  return std::move(r.made);
}

// The same for a graph that Python does not see, the body of a function: traced as a function of its own, which is called there.
Grads traced_rule(PyObject* code, const GradContext& g, std::span<const Value> xs, std::span<const Value> ys, std::span<const Value> dys) {
  auto [graph, given, made, results] = trace_rule(code, g, xs, ys, dys, nullptr);
  auto function = unwrap(trace::ConcreteFunction::make(graph, results));
  Emitter& e = g.emitter();
  for (const Value& c : function->captures()) {
    const eager::TensorHandle* h = c.rep() && !c.rep()->owner() ? static_cast<const eager::TensorHandle*>(c.rep()) : nullptr;
    if (!h) raise(unimplemented("the gradient function of ", g.node().op(), " uses a tensor of another graph"));
    given.push_back(e.constant(h->tensor()));
  }
  std::vector<DType> types = function->ret_types();
  auto out = e.apply(op_of(op::Role::kCall, function->stateful()), given, {{"Tout", types}, {"f", FunctionAttr{function->name(), nullptr}}});
  size_t at = 0;
  for (Value& v : made) {
    if (v.valid() && at < out.size()) v = out[at++];
  }
  return made;
}

void register_gradient(const std::string& op, nb::object code) {
  if (auto known = eager::find_op(api::context(), op); known.ok() && ((*known)->grad || (*known)->no_gradient))
    raise(already_exists("Registering two gradient with name '", op, "'!"));
  auto kept = held(code);
  check(autodiff::register_gradient(op, [kept](const GradContext& g) -> Grads {
    const Locked lock;
    if (!lock) return g.fail(interpreter_finalized());
    try {
      std::vector<Value> xs, ys, dys;
      for (int i = 0; i < g.num_inputs(); ++i) xs.push_back(g.x(i));
      for (int i = 0; i < g.num_outputs(); ++i) ys.push_back(g.y(i));
      for (int i = 0; i < g.num_outputs(); ++i) dys.push_back(g.has_dy(i) ? g.raw_dy(i) : g.dy(i));
      if (auto* rows = dynamic_cast<trace::RowEmitter*>(&g.emitter())) return rule_of_rows(*rows, kept.get(), g, xs, ys, dys);
      auto* emitter = dynamic_cast<graph::GraphEmitter*>(&g.emitter());
      trace::FuncGraph* here = trace::FuncGraph::current();
      if (!emitter || (here && &here->emitter() == emitter)) return python_rule(kept.get(), g, xs, ys, dys);
      if (!here || &here->graph() != &emitter->graph()) return traced_rule(kept.get(), g, xs, ys, dys);
      // The same graph, by another emitter.
      auto mine = [&](std::vector<Value>& list, auto& to) {
        for (Value& v : list) {
          if (!v.valid()) continue;
          auto own = [&](const Value& x) { return x.valid() ? to.wrap(graph::GraphEmitter::unwrap(x)) : Value(); };
          v = v.is_slices() ? Value::slices(own(v.slice_values()), own(v.slice_indices()), own(v.slice_dense_shape())) : own(v);
        }
      };
      mine(xs, here->emitter());
      mine(ys, here->emitter());
      mine(dys, here->emitter());
      Grads made = python_rule(kept.get(), g, xs, ys, dys);
      mine(made, *emitter);
      return made;
    } catch (nb::python_error& e) {
      e.restore();
      return g.fail(status_of_python_error());
    }
  }));
}

// The rule of one op of the engine, for code that replaces it in part.
nb::list op_gradient(const std::string& op, nb::dict attrs, nb::handle inputs, nb::handle outputs, nb::handle grads) {
  const OpSpec* spec = unwrap(eager::find_op(api::context(), op));
  std::vector<Value> xs = values_of(inputs), ys = values_of(outputs), dys;
  for (nb::handle h : grads) dys.push_back(gradient_value(h));
  AttrMap map;
  for (auto [key, value] : attrs) {
    const std::string k = nb::cast<std::string>(nb::str(key));
    const int at = spec->signature().attr_index(k);
    map.emplace(k, attr_of(value.ptr(), at >= 0 ? spec->signature().attrs[size_t(at)].type : "any", k, op));
  }
  std::vector<DType> types;
  for (const Value& v : xs) types.push_back(v.dtype());
  auto node = unwrap(NodeInfo::make(*spec, std::string(), std::move(map), types));
  return wrap_all(unwrap(autodiff::op_gradient(emitter(), node, xs, ys, dys)));
}

}  // namespace

void bind_tape(nb::module_& m) {
  nb::class_<NativeTape>(m, "Tape", "Records what runs on this thread while it is started.")
      .def(
          "__init__", [](NativeTape* self, bool persistent, bool accessed) { new (self) NativeTape(persistent, accessed); },
          nb::arg("persistent") = false, nb::arg("watch_accessed_variables") = true)
      .def("start", &NativeTape::start)
      .def("stop", &NativeTape::stop)
      .def("start_alone", &NativeTape::start_alone)
      .def("stop_alone", &NativeTape::stop_alone)
      .def("reset", [](NativeTape& t) { t.tape.reset(); })
      .def("watch",
           [](NativeTape& t, nb::handle h) {
             if (is_variable(h.ptr()))
               t.tape.watch_variable(variable_handle(h.ptr()), variable_state(h.ptr()) ? variable_state(h.ptr()) : graph_owner(h));
             else t.tape.watch(source_value(h));
           })
      .def("watches", [](NativeTape& t, nb::handle h) { return t.tape.watches(source_value(h)); })
      .def("watched_variables",
           [](NativeTape& t) {
             std::vector<nb::object> found;
             for (const auto& v : t.tape.variables()) {
               nb::object o = watched_object(v);
               if (!o.is_none()) found.push_back(std::move(o));
             }
             std::stable_sort(found.begin(), found.end(),
                              [](const nb::object& a, const nb::object& b) { return variable_number(a.ptr()) < variable_number(b.ptr()); });
             nb::list out;
             for (const nb::object& o : found) out.append(o);
             return out;
           })
      .def_prop_ro("recording", [](NativeTape& t) { return t.recording; })
      .def_prop_ro("used", [](NativeTape& t) { return t.tape.used(); })
      .def_prop_rw(
          "persistent", [](NativeTape& t) { return t.tape.persistent(); }, [](NativeTape& t, bool on) { t.tape.set_persistent(on); })
      .def("forget", [](NativeTape& t) { t.tape.forget(); })
      .def(
          "go_forward", [](NativeTape& t) { forward_tapes().insert(&t.tape); }, "Derivatives are taken of it forwards.")
      .def("gradient", gradient, nb::arg("targets"), nb::arg("sources"), nb::arg("output_gradients").none(), nb::arg("zero"))
      .def("batched_gradient", batched_gradient, nb::arg("target"), nb::arg("sources"), nb::arg("seeds"), nb::arg("rows"));
  m.def("tapes_listen", [] { return TapeStack::current().recording(); });
  m.def("pause_tapes", [] { TapeStack::current().pause(); });
  m.def("resume_tapes", [] { TapeStack::current().resume(); });
  m.def("record_gradient", record, nb::arg("name"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("backward"),
        nb::arg("results").none() = nb::none());
  m.def("access_variable", access_variable, nb::arg("variable"), nb::arg("handle"), "Tells the tapes of a variable that is a node of a graph.");
  m.def("register_gradient", register_gradient, nb::arg("op"), nb::arg("code"));
  m.def("op_gradient", op_gradient, nb::arg("op"), nb::arg("attrs"), nb::arg("inputs"), nb::arg("outputs"), nb::arg("grads"));
}

}  // namespace weft_engine::python
