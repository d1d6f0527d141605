// Traced functions, branches and loops.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bridge.h"
#include "custom_gradient.h"
#include "graph/function_body.h"
#include "graph/function_library.h"
#include "graph/shape_inference.h"
#include "io/graph_def.h"
#include "saved_model/export_graph.h"
#include "scoped_nodes.h"
#include "trace/control_flow.h"
#include "trace/variable.h"
#include "trace/vectorize.h"
#include "variable.h"

namespace weft_engine::python {
namespace {

using trace::ConcreteFunction;
using trace::FuncGraph;

nb::bytes bytes_of(const std::string& s) { return nb::bytes(s.data(), s.size()); }

nb::list call(ConcreteFunction& f, nb::handle arguments) {
  const std::vector<Value> args = values_of(arguments);
  Result<std::vector<Value>> out = std::vector<Value>();
  // Other threads run meanwhile, unless this only adds a node.
  (void)run_released(!FuncGraph::current(), [&] {
    out = f.call(args);
    return Status();
  });
  if (FuncGraph::current() && is_refused_by_graph(out.status())) {
    PyErr_SetString(PyExc_ValueError, out.status().message().c_str());
    raise_current();
  }
  check(out.status());
  return wrap_all(*out);
}

// The functions that a function calls, and itself, as a FunctionDefLibrary.
std::string library_of(ConcreteFunction& f) {
  const auto& from = *f.context().runtime().library();
  auto def = unwrap(from.find(f.name()));
  auto needed = unwrap(saved_model::needed_functions(def->nodes, from));
  if (!needed->contains(f.name())) check(needed->add(graph::FunctionDef(*def)));
  return unwrap(io::encode_function_library(*needed));
}

// Python code that the engine calls while it traces.
trace::TracedCode traced(nb::object code) {
  return [code = std::move(code)](std::span<const Value> arguments) {
    nb::list args = wrap_all(arguments);
    nb::object made = nb::steal(must(call_python(PyObject_CallOneArg, code.ptr(), args.ptr())));
    return values_of(made);
  };
}

FuncGraph& here() {
  FuncGraph* g = FuncGraph::current();
  if (!g) raise(failed_precondition("branches and loops are added to graphs: there is none around this code"));
  return *g;
}

// What the engine refuses while it traces is a mistake in the user's code.
std::vector<Value> unwrap_traced(Result<std::vector<Value>> r) {
  if (is_refused_by_graph(r.status())) {
    PyErr_SetString(PyExc_ValueError, r.status().message().c_str());
    raise_current();
  }
  return unwrap(std::move(r));
}

// Functions are named after nodes, without their scopes' slashes.
std::string function_name(std::string node) {
  std::replace(node.begin(), node.end(), '/', '_');
  return node;
}

nb::list add_branches(nb::handle choice, bool as_if, nb::list branches, const std::string& name) {
  const std::string node = here().unique_name(cat(trace::name_scope(), name));
  note_node(here(), node);
  std::vector<trace::TracedCode> code;
  for (nb::handle b : branches) code.push_back(traced(nb::borrow(b)));
  const ScopedNodes nodes;
  return wrap_all(unwrap_traced(trace::add_branches(here(), value_of(choice), as_if, code, function_name(node), node)));
}

nb::list add_loop(nb::object condition, nb::object body, nb::handle vars, nb::handle invariants, nb::handle maximum, int64_t parallel,
                  const std::string& name) {
  trace::LoopOptions o;
  o.node_name = here().unique_name(cat(trace::name_scope(), name));
  o.name = function_name(o.node_name);
  note_node(here(), o.node_name);
  o.parallel_iterations = parallel;
  if (!maximum.is_none()) o.maximum_iterations = value_of(maximum);
  if (!invariants.is_none()) {
    for (nb::handle h : invariants) o.shape_invariants.push_back(shape_of(h.ptr()));
  }
  const std::vector<Value> start = values_of(vars);
  const ScopedNodes nodes;
  return wrap_all(unwrap_traced(trace::add_loop(here(), traced(condition), traced(body), start, o)));
}

// A function that was traced for one element, for all rows of `elements` at once: see trace/vectorize.h. `warn` is called with the names of ops that
// ran row by row, or is None; without `loops` these are errors.
nb::list vectorized(nb::handle graph, nb::handle results, nb::handle elements, int64_t rows, bool loops, nb::object warn) {
  FuncGraph& traced = func_graph_of(graph);
  std::vector<Value> values;
  for (nb::handle h : results) values.emplace_back(traced.emitter(), RefPtr<ValueRep>::share(rep_of(h.ptr())));
  trace::RowOptions options;
  options.loops = loops;
  if (!warn.is_none()) options.warn = [&](std::string_view op) { warn(std::string(op)); };
  auto out = trace::vectorized(traced, values, values_of(elements), rows, options);
  if (!out.ok() && out.status().code() == Code::kUnimplemented) {
    PyErr_SetString(PyExc_ValueError, out.status().message().c_str());
    raise_current();
  }
  return wrap_all(unwrap(std::move(out)));
}

}  // namespace

void bind_function(nb::module_& m) {
  nb::class_<ConcreteFunction>(m, "ConcreteFunction", "A trace that has ended, as a function of the engine.")
      .def_static(
          "make",
          [](nb::handle graph, nb::handle outputs) {
            FuncGraph& g = func_graph_of(graph);
            std::vector<Value> values;
            for (nb::handle h : outputs) values.emplace_back(g.emitter(), RefPtr<ValueRep>::share(rep_of(h.ptr())));
            return unwrap(ConcreteFunction::make(g.shared_from_this(), values));
          },
          nb::arg("graph"), nb::arg("outputs"))
      .def_static(
          "of_library",
          [](const std::string& name, nb::handle captures) {
            return unwrap(ConcreteFunction::of_library(api::context(), name, values_of(captures)));
          },
          nb::arg("name"), nb::arg("captures"), "A function of the library, with values for its last arguments.")
      .def_prop_ro("name", [](ConcreteFunction& f) { return f.name(); })
      .def_prop_ro("stateful", [](ConcreteFunction& f) { return f.stateful(); })
      .def_prop_ro("num_arguments", [](ConcreteFunction& f) { return f.num_arguments(); })
      .def_prop_ro("arg_types",
                   [](ConcreteFunction& f) {
                     nb::list out;
                     for (DType t : f.arg_types()) out.append(nb::borrow(dtype_object(t)));
                     return out;
                   })
      .def_prop_ro("ret_types",
                   [](ConcreteFunction& f) {
                     nb::list out;
                     for (DType t : f.ret_types()) out.append(nb::borrow(dtype_object(t)));
                     return out;
                   })
      .def_prop_ro("ret_shapes",
                   [](ConcreteFunction& f) {
                     nb::list out;
                     for (const auto& s : f.ret_shapes()) out.append(nb::steal(shape_tuple(s)));
                     return out;
                   })
      .def("captures", [](ConcreteFunction& f) { return wrap_all(f.captures()); })
      .def(
          "set_captures", [](ConcreteFunction& f, nb::handle values) { check(f.set_captures(values_of(values))); }, nb::arg("values"))
      .def("variables",
           [](ConcreteFunction& f) {
             nb::list out;
             for (const auto& w : f.variables()) {
               auto v = w.lock();
               nb::object o = v ? variable_object(v.get()) : nb::none();
               if (!o.is_none()) out.append(o);
             }
             return out;
           })
      .def("use_variable", [](ConcreteFunction& f, nb::handle v) { f.use_variable(variable_state(v.ptr())); })
      .def("__call__", call, nb::arg("arguments"), "Tensors in, tensors out; captures are added.")
      .def("function_def",
           [](ConcreteFunction& f) { return bytes_of(unwrap(io::encode_function_def(*unwrap(f.context().functions().find(f.name()))))); })
      .def(
          "library_def", [](ConcreteFunction& f) { return bytes_of(library_of(f)); },
          "A FunctionDefLibrary with this function and all that it calls.");

  m.def("add_branches", add_branches, nb::arg("choice"), nb::arg("as_if"), nb::arg("branches"), nb::arg("name"),
        "An If (first branch: true) or Case; each branch takes [] and gives a list of tensors.");
  m.def("add_loop", add_loop, nb::arg("condition"), nb::arg("body"), nb::arg("vars"), nb::arg("shape_invariants").none(),
        nb::arg("maximum_iterations").none(), nb::arg("parallel_iterations"), nb::arg("name"), "A While; condition and body take a list of tensors.");
  m.def("vectorized", vectorized, nb::arg("graph"), nb::arg("results"), nb::arg("elements"), nb::arg("rows"), nb::arg("loops"),
        nb::arg("warn").none(), "The results of a trace of one element for all rows of the elements.");
  m.def("library_functions", [] { return api::context().functions().names(); });
  m.def("has_function", [](const std::string& name) { return api::context().functions().contains(name); });
  m.def("function_def",
        [](const std::string& name) { return bytes_of(unwrap(io::encode_function_def(*unwrap(api::context().functions().find(name))))); });
  m.def(
      "function_shapes",
      [](const std::string& name) {
        auto def = unwrap(api::context().functions().find(name));
        // The context lives as long as the process.
        const std::shared_ptr<graph::FunctionLibrary> library(std::shared_ptr<void>(), &api::context().functions());
        graph::FunctionBody body = unwrap(graph::instantiate_function(*def, {}, api::context().registry(), library));
        graph::ArgShapes args;
        nb::list inputs;
        for (size_t i = 0; i < body.args.size(); ++i) {
          const AttrValue* v = body.args[i]->find_attr("_output_shapes");
          const auto* list = v ? v->get<std::vector<PartialShape>>() : nullptr;
          args.shapes.push_back(list && list->size() == 1               ? (*list)[0]
                                : body.arg_types[i] == DType::kResource ? PartialShape::scalar()
                                                                        : PartialShape());
          inputs.append(nb::steal(shape_tuple(args.shapes.back())));
        }
        check(graph::infer_all(*body.graph, args));
        nb::dict nodes;
        for (graph::Node* n : body.graph->nodes()) {
          nb::list shapes;
          for (const PartialShape& s : n->shapes) shapes.append(nb::steal(shape_tuple(s)));
          nodes[n->name().c_str()] = shapes;
        }
        return nb::make_tuple(inputs, nodes);
      },
      nb::arg("name"), "Shapes of the arguments of a function, and of the outputs of its nodes by their names.");
  m.def("remove_function", [](const std::string& name) { check(api::context().remove_function(name)); });
}

}  // namespace weft_engine::python
