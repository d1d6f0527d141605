#include "trace/control_flow.h"

#include <algorithm>

#include "op/emit.h"
#include "trace/library_function.h"
#include "trace/variable.h"

namespace weft::trace {
namespace {

std::string describe(const Value& v) {
  const Endpoint at = v.rep() && v.rep()->owner() ? graph::GraphEmitter::unwrap(v) : Endpoint{};
  return cat("Tensor(", at.node ? cat("\"", at.node->name(), ":", at.index, "\", ") : "", "shape=", v.shape(), ", dtype=", dtype_name(v.dtype()), ")");
}
std::string describe_all(const std::vector<Value>& list) {
  if (list.size() == 1) return describe(list[0]);
  std::string out = "(";
  for (const Value& v : list) out += (out.size() > 1 ? ", " : "") + describe(v);
  return out + ")";
}
std::string name_of(const Value& v, size_t i) {
  if (!v.rep() || !v.rep()->owner()) return cat("loop_var_", i);
  const Endpoint at = graph::GraphEmitter::unwrap(v);
  return cat(at.node->name(), ":", at.index);
}

std::optional<HandleData> handle_data(const Value& v) {
  if (!v.rep() || !v.rep()->owner()) return {};
  const Endpoint at = graph::GraphEmitter::unwrap(v);
  return size_t(at.index) < at.node->handles.size() ? at.node->handles[size_t(at.index)] : std::nullopt;
}

// A graph that is one of several with the same inputs.
struct Part {
  std::shared_ptr<FuncGraph> graph;
  std::vector<Value> results;

  // Results as values of this graph, each a node of its own.
  Status own_results() {
    for (Value& v : results) {
      WEFT_ASSIGN(v, graph->import(v));
      v = graph->emitter().one("Identity", {v});
    }
    return graph->emitter().take_status();
  }
};

// What the parts use of the graphs around them, each once.
std::vector<Value> united_captures(std::span<const Part> parts) {
  std::vector<Value> all;
  for (const Part& p : parts) {
    for (const auto& c : p.graph->captures()) {
      const auto id = autodiff::id_of(c.outer);
      if (std::none_of(all.begin(), all.end(), [&](const Value& v) { return autodiff::id_of(v) == id; })) all.push_back(c.outer);
    }
  }
  return all;
}

// The arguments, then the captures in the order of `all`; those that this part did not use become unused inputs.
Result<std::vector<Endpoint>> inputs_of(Part& p, const std::vector<Value>& all) {
  std::vector<Endpoint> inputs;
  for (Node* n : p.graph->arguments()) inputs.push_back({n, 0});
  for (const Value& v : all) {
    WEFT_ASSIGN(Value own, p.graph->capture(v, handle_data(v)));
    inputs.push_back(graph::GraphEmitter::unwrap(own));
  }
  return inputs;
}

// Variables that the parts use are used here, too: tapes of this trace watch them.
Status use_variables(FuncGraph& outer, std::span<const Part> parts) {
  for (const Part& p : parts) {
    for (const auto& w : p.graph->variables()) {
      auto v = w.lock();
      if (!v) continue;
      outer.use_variable(v);
      WEFT_RETURN_IF_ERROR(v->accessed());
    }
  }
  return {};
}

bool at_most(const PartialShape& a, const PartialShape& b) { return graph::common_shape(a, b) == b; }

}  // namespace

Result<std::vector<Value>> add_branches(FuncGraph& outer, const Value& choice, bool as_if, std::span<const TracedCode> branches, const std::string& name,
                                        const std::string& node_name) {
  std::vector<Part> parts;
  for (size_t k = 0; k < branches.size(); ++k) {
    Part p{FuncGraph::make(outer.context(), cat(name, "_", as_if ? (k == 0 ? "true" : "false") : cat("branch", k)), &outer), {}};
    {
      Entered inside(p.graph.get());
      p.results = branches[k]({});
    }
    WEFT_RETURN_IF_ERROR(p.own_results());
    parts.push_back(std::move(p));
  }
  for (size_t k = 1; k < parts.size(); ++k) {
    const auto &a = parts[0].results, &b = parts[k].results;
    std::string details;
    if (a.size() != b.size()) details = cat("one gives ", a.size(), " values, the other ", b.size());
    for (size_t i = 0; i < a.size() && details.empty(); ++i) {
      if (a[i].dtype() != b[i].dtype()) details = cat(describe(a[i]), " and ", describe(b[i]), " have different types");
    }
    if (!details.empty()) {
      const std::string first = as_if ? "true_fn" : "branches[0]", other = as_if ? "false_fn" : cat("branches[", k, "]");
      return invalid_argument(first, " and ", other, " arguments to tf.", as_if ? "cond" : "switch_case",
                              " must have the same number, type, and overall structure of return values.\n\n", first, " output: ", describe_all(a), "\n", other,
                              " output: ", describe_all(b), "\n\nError details:\n", details);
    }
  }
  const std::vector<Value> captures = united_captures(parts);
  std::vector<FunctionAttr> functions;
  std::vector<std::shared_ptr<LibraryFunction>> held;
  bool stateful = false;
  for (Part& p : parts) {
    WEFT_ASSIGN(std::vector<Endpoint> inputs, inputs_of(p, captures));
    WEFT_ASSIGN(auto f, LibraryFunction::make(*p.graph, p.graph->name(), std::move(inputs), p.results));
    functions.push_back({f->name(), nullptr});
    stateful |= f->stateful();
    held.push_back(std::move(f));
  }
  AttrMap attrs;
  std::vector<DType> types, in_types;
  std::vector<PartialShape> shapes;
  for (size_t i = 0; i < parts[0].results.size(); ++i) {
    types.push_back(parts[0].results[i].dtype());
    PartialShape shape = parts[0].results[i].shape();
    for (size_t k = 1; k < parts.size(); ++k) shape = graph::common_shape(shape, parts[k].results[i].shape());
    shapes.push_back(std::move(shape));
  }
  std::vector<Value> inputs{choice};
  for (const Value& v : captures) {
    inputs.push_back(v);
    in_types.push_back(v.dtype());
  }
  attrs["Tin"] = in_types;
  attrs["Tout"] = types;
  attrs["output_shapes"] = shapes;
  std::string_view op;
  if (as_if) {
    attrs["then_branch"] = functions[0];
    attrs["else_branch"] = functions[1];
    op = stateful ? "If" : "StatelessIf";
  } else {
    attrs["branches"] = functions;
    op = stateful ? "Case" : "StatelessCase";
  }
  WEFT_RETURN_IF_ERROR(use_variables(outer, parts));
  if (!node_name.empty()) outer.emitter().set_next_name(node_name);
  auto out = outer.emitter().apply(op, inputs, std::move(attrs));
  WEFT_RETURN_IF_ERROR(outer.emitter().take_status());
  return out;
}

namespace {

class Loop {
 public:
  Loop(FuncGraph& outer, std::span<const Value> vars, const LoopOptions& options) : outer_(outer), options_(options), user_(vars.size()) {
    if (options.maximum_iterations) vars_ = {outer.emitter().constant(Tensor::scalar<int32_t>(0)), *options.maximum_iterations};
    first_ = vars_.size();
    vars_.insert(vars_.end(), vars.begin(), vars.end());
  }

  Result<std::vector<Value>> run(const TracedCode& condition, const TracedCode& body) {
    WEFT_RETURN_IF_ERROR(outer_.emitter().take_status());
    WEFT_RETURN_IF_ERROR(take_shapes());
    WEFT_RETURN_IF_ERROR(trace_condition(condition));
    WEFT_RETURN_IF_ERROR(trace_body(body));
    WEFT_RETURN_IF_ERROR(check_results());
    return add_node();
  }

 private:
  Status take_shapes() {
    for (size_t i = 0; i < first_; ++i) shapes_.push_back(PartialShape::scalar());
    if (!options_.shape_invariants.empty() && options_.shape_invariants.size() != user_)
      return invalid_argument("the loop has ", user_, " variables, but ", options_.shape_invariants.size(), " shape invariants were given");
    for (size_t i = 0; i < user_; ++i) {
      const Value& v = vars_[first_ + i];
      if (!v.rep()) return invalid_argument("loop variable ", i, " has no value");
      shapes_.push_back(options_.shape_invariants.empty() ? v.shape() : options_.shape_invariants[i]);
    }
    return {};
  }

  Result<std::vector<Value>> start(Part& p, const char* what) {
    p.graph = FuncGraph::make(outer_.context(), cat(options_.name, "_", what), &outer_);
    std::vector<Value> args;
    for (size_t i = 0; i < vars_.size(); ++i) {
      WEFT_ASSIGN(Value a, p.graph->add_argument(first_ && i < 2 ? (i ? "maximum_iterations" : "loop_counter") : "arg", vars_[i].dtype(), shapes_[i], handle_data(vars_[i])));
      args.push_back(std::move(a));
    }
    return args;
  }

  Status trace_condition(const TracedCode& condition) {
    Part& p = parts_[0];
    WEFT_ASSIGN(std::vector<Value> args, start(p, "cond"));
    {
      Entered inside(p.graph.get());
      p.results = condition(std::span(args).subspan(first_));
    }
    if (p.results.size() != 1) return invalid_argument("the condition of a loop must give one boolean, it gave ", p.results.size(), " values");
    WEFT_ASSIGN(Value go_on, p.graph->import(p.results[0]));
    if (go_on.dtype() != DType::kBool)
      return invalid_argument("Input 'input' passed ", dtype_name(go_on.dtype()), " expected bool: the condition of a loop must give a boolean");
    if (go_on.shape().has_rank() && go_on.shape().rank() > 0 && !(go_on.shape().fully_known() && go_on.shape().concrete()->num_elements() == 1))
      return invalid_argument("the condition of a loop must give a scalar, not the shape ", go_on.shape());
    Emitter& e = p.graph->emitter();
    if (first_) go_on = e.one("LogicalAnd", {e.one("Less", {args[0], args[1]}), go_on});
    p.results = {go_on};
    WEFT_RETURN_IF_ERROR(e.take_status());
    return p.own_results();
  }

  Status trace_body(const TracedCode& body) {
    Part& p = parts_[1];
    WEFT_ASSIGN(std::vector<Value> args, start(p, "body"));
    std::vector<Value> given;
    {
      Entered inside(p.graph.get());
      given = body(std::span(args).subspan(first_));
    }
    if (given.size() != user_)
      return invalid_argument("The two structures don't have the same nested structure.\n\nThe loop has ", user_, " variables, its body gives ", given.size());
    Emitter& e = p.graph->emitter();
    if (first_) p.results = {e.one("AddV2", {args[0], e.constant(Tensor::scalar<int32_t>(1))}), args[1]};
    p.results.insert(p.results.end(), given.begin(), given.end());
    WEFT_RETURN_IF_ERROR(e.take_status());
    return p.own_results();
  }

  Status check_results() {
    for (size_t i = first_; i < vars_.size(); ++i) {
      const Value &before = vars_[i], &after = parts_[1].results[i];
      const std::string name = name_of(before, i - first_);
      if (before.dtype() != after.dtype())
        return invalid_argument("Loop var ", name, " enters the loop with type ", dtype_name(before.dtype()), " but has type ", dtype_name(after.dtype()),
                                " after 1 iteration. ", name, " type should remain constant.");
      if (!at_most(after.shape(), shapes_[i]))
        return invalid_argument("Input tensor `", name, "` enters the loop with shape ", before.shape(), ", but has shape ", after.shape(),
                                " after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of tf.while_loop to "
                                "specify a less-specific shape.");
    }
    return {};
  }

  Result<std::vector<Value>> add_node() {
    const std::vector<Value> captures = united_captures(parts_);
    std::vector<Value> inputs = vars_;
    std::vector<PartialShape> shapes = shapes_;
    for (const Value& v : captures) {
      inputs.push_back(v);
      shapes.push_back(v.shape());
    }
    AttrMap attrs;
    bool stateful = false;
    std::vector<std::shared_ptr<LibraryFunction>> held;
    for (Part& p : parts_) {
      WEFT_ASSIGN(std::vector<Endpoint> ends, inputs_of(p, captures));
      const bool is_body = &p == &parts_[1];
      if (is_body) {
        for (size_t i = vars_.size(); i < ends.size(); ++i) p.results.push_back(p.graph->emitter().one("Identity", {p.graph->emitter().wrap(ends[i])}));
        WEFT_RETURN_IF_ERROR(p.graph->emitter().take_status());
      }
      WEFT_ASSIGN(auto f, LibraryFunction::make(*p.graph, p.graph->name(), std::move(ends), p.results));
      attrs[is_body ? "body" : "cond"] = FunctionAttr{f->name(), nullptr};
      stateful |= f->stateful();
      held.push_back(std::move(f));
    }
    attrs["output_shapes"] = shapes;
    attrs["parallel_iterations"] = options_.parallel_iterations;
    std::vector<DType> types;
    for (const Value& v : inputs) types.push_back(v.dtype());
    attrs["T"] = types;
    WEFT_RETURN_IF_ERROR(use_variables(outer_, parts_));
    if (!options_.node_name.empty()) outer_.emitter().set_next_name(options_.node_name);
    auto out = outer_.emitter().apply(stateful ? "While" : "StatelessWhile", inputs, std::move(attrs));
    WEFT_RETURN_IF_ERROR(outer_.emitter().take_status());
    return std::vector<Value>(out.begin() + int64_t(first_), out.begin() + int64_t(first_ + user_));
  }

  FuncGraph& outer_;
  const LoopOptions& options_;
  const size_t user_;
  size_t first_ = 0;  // variables of our own in front of the user's
  std::vector<Value> vars_;
  std::vector<PartialShape> shapes_;
  Part parts_[2];  // condition, body
};

}  // namespace

Result<std::vector<Value>> add_loop(FuncGraph& graph, const TracedCode& condition, const TracedCode& body, std::span<const Value> vars,
                                    const LoopOptions& options) {
  return Loop(graph, vars, options).run(condition, body);
}

}  // namespace weft::trace
