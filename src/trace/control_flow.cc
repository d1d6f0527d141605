#include "trace/control_flow.h"

#include <algorithm>

#include "op/emit.h"
#include "op/op_traits.h"
#include "trace/library_function.h"
#include "trace/variable.h"

namespace weft_engine::trace {
namespace {

using graph::GraphEmitter;

std::string describe(const Value& v) {
  const Endpoint at = v.rep() && v.rep()->owner() ? GraphEmitter::unwrap(v) : Endpoint{};
  return cat("Tensor(", at.node ? cat("\"", at.node->name(), ":", at.index, "\", ") : "", "shape=", v.shape(), ", dtype=", dtype_name(v.dtype()),
             ")");
}
std::string describe_all(const std::vector<Value>& list) {
  if (list.size() == 1) return describe(list[0]);
  std::string out = "(";
  for (const Value& v : list) out += (out.size() > 1 ? ", " : "") + describe(v);
  return out + ")";
}
std::string name_of(const Value& v, size_t i) {
  if (!v.rep() || !v.rep()->owner()) return cat("loop_var_", i);
  const Endpoint at = GraphEmitter::unwrap(v);
  return cat(at.node->name(), ":", at.index);
}

std::optional<HandleData> handle_data(const Value& v) {
  if (!v.rep() || !v.rep()->owner()) return {};
  const Endpoint at = GraphEmitter::unwrap(v);
  return size_t(at.index) < at.node->handles.size() ? at.node->handles[size_t(at.index)] : std::nullopt;
}

// Names of nodes start with that of the node that they are for, while this lives.
class InScope {
 public:
  explicit InScope(const std::string& node) : before_(name_scope()) {
    if (!node.empty()) name_scope() = node + "/";
  }
  ~InScope() { name_scope() = before_; }
  InScope(const InScope&) = delete;

 private:
  const std::string before_;
};

// A graph that is one of several with the same inputs.
struct Part {
  std::shared_ptr<FuncGraph> graph;
  std::vector<Value> results;

  // Names the next node as the op's own wrapper would.
  std::string name_next(const std::string& name) {
    std::string full = graph->unique_name(cat(name_scope(), name));
    graph->emitter().set_next_name(full);
    return full;
  }

  // Results as values of this graph, each a node of its own.
  Status own_results() {
    for (Value& v : results) {
      const bool outside = v.rep() && v.rep()->owner() != &graph->emitter();
      if (outside && !v.rep()->owner()) name_next(std::string(op_of(Role::kConst)));
      const std::string name = graph->unique_name(cat(name_scope(), op_of(Role::kIdentity)));
      if (outside) {
        InScope scope(name);  // names what is captured
        WEFT_ASSIGN(v, graph->import(v));
      }
      graph->emitter().set_next_name(name);
      v = graph->emitter().one(op_of(Role::kIdentity), {v});
    }
    return graph->emitter().take_status();
  }
};

// What the parts use of the graphs around them, each once, with what is known of handles.
struct Captures {
  std::vector<Value> values;
  std::vector<std::optional<HandleData>> handles;

  void add(const Part& p) {
    for (const auto& c : p.graph->captures()) {
      const auto id = autodiff::id_of(c.outer);
      if (std::any_of(values.begin(), values.end(), [&](const Value& v) { return autodiff::id_of(v) == id; })) continue;
      values.push_back(c.outer);
      handles.push_back(c.node->handles.empty() ? std::nullopt : c.node->handles[0]);
    }
  }

  // As inputs of a node of that graph, behind `first` others of its list. Handles become the graph's own: tapes know variables by these.
  Status enter(FuncGraph& outer, const std::string& node, size_t first) {
    InScope scope(node);
    for (size_t i = 0; i < values.size(); ++i) {
      Value& v = values[i];
      if (!v.rep()->owner()) outer.capture_name = cat(name_scope(), "input_", first + i);
      WEFT_ASSIGN(Value own, v.dtype() == DType::kResource && handles[i] ? outer.import_handle(v, *handles[i]) : outer.import(v));
      outer.capture_name.clear();
      if (v.dtype() == DType::kResource) v = own;
    }
    return {};
  }

  // The part's arguments, then these in order; what it did not use gets inputs that nobody reads, named by `unused(k)`.
  template <class F>
  Result<std::vector<Endpoint>> inputs_of(Part& p, F unused) const {
    std::vector<Endpoint> inputs;
    for (Node* n : p.graph->arguments()) inputs.push_back({n, 0});
    int extra = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto id = autodiff::id_of(values[i]);
      const auto& own = p.graph->captures();
      auto used = std::find_if(own.begin(), own.end(), [&](const FuncGraph::Capture& c) { return autodiff::id_of(c.outer) == id; });
      if (used != own.end()) {
        inputs.push_back({used->node, 0});
        continue;
      }
      WEFT_ASSIGN(Value made, p.graph->unused_capture(values[i], handles[i], unused(extra++)));
      inputs.push_back(GraphEmitter::unwrap(made));
    }
    return inputs;
  }
};

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

// What TensorFlow's nodes say of themselves: that runtimes may take them apart, and which of the resources behind `first` other inputs they only read.
void describe(AttrMap& attrs, std::span<const std::shared_ptr<LibraryFunction>> functions, std::span<const Value> inputs, size_t first) {
  std::vector<int64_t> read_only;
  for (size_t i = first; i < inputs.size(); ++i) {
    if (inputs[i].dtype() == DType::kResource &&
        std::none_of(functions.begin(), functions.end(), [&](const auto& f) { return f->writes(i - first); }))
      read_only.push_back(int64_t(i));
  }
  attrs["_lower_using_switch_merge"] = true;
  attrs["_read_only_resource_inputs"] = std::move(read_only);
}

bool at_most(const PartialShape& a, const PartialShape& b) { return graph::common_shape(a, b) == b; }

}  // namespace

Result<std::vector<Value>> add_branches(FuncGraph& outer, const Value& choice, bool as_if, std::span<const TracedCode> branches,
                                        const std::string& name, const std::string& node_name) {
  std::vector<Part> parts;
  for (size_t k = 0; k < branches.size(); ++k) {
    const std::string base = cat(name, "_", as_if ? (k == 0 ? "true" : "false") : cat("branch", k));
    Part p{FuncGraph::make(outer.context(), LibraryFunction::unique_name(outer.context(), base), &outer), {}};
    InScope scope(node_name);
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
                              " must have the same number, type, and overall structure of return values.\n\n", first, " output: ", describe_all(a),
                              "\n", other, " output: ", describe_all(b), "\n\nError details:\n", details);
    }
  }
  Captures captures;
  for (const Part& p : parts) captures.add(p);
  std::vector<FunctionAttr> functions;
  std::vector<std::shared_ptr<LibraryFunction>> held;
  bool stateful = false;
  const std::string prefix = node_name.empty() ? node_name : node_name + "/";
  for (Part& p : parts) {
    WEFT_ASSIGN(std::vector<Endpoint> inputs, captures.inputs_of(p, [&](int) { return cat(prefix, op_of(Role::kPlaceholder)); }));
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
  WEFT_RETURN_IF_ERROR(captures.enter(outer, node_name, 0));
  std::vector<Value> inputs{choice};
  for (const Value& v : captures.values) {
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
    op = op_of(Role::kIf, stateful);
  } else {
    attrs["branches"] = functions;
    op = op_of(Role::kCase, stateful);
  }
  describe(attrs, held, inputs, 1);
  WEFT_RETURN_IF_ERROR(use_variables(outer, parts));
  if (!node_name.empty()) outer.emitter().set_next_name(node_name);
  std::vector<Value> out = outer.emitter().apply(op, inputs, std::move(attrs));
  InScope scope(node_name);
  for (Value& v : out) v = outer.emitter().one(op_of(Role::kIdentity), {v});  // so that who asks for one result alone can leave the node out
  WEFT_RETURN_IF_ERROR(outer.emitter().take_status());
  return out;
}

namespace {

class Loop {
 public:
  Loop(FuncGraph& outer, std::span<const Value> vars, const LoopOptions& options) : outer_(outer), options_(options), user_(vars.size()) {
    vars_.resize(kFirst);
    vars_.insert(vars_.end(), vars.begin(), vars.end());
  }

  Result<std::vector<Value>> run(const TracedCode& condition, const TracedCode& body) {
    WEFT_RETURN_IF_ERROR(add_counters());
    WEFT_RETURN_IF_ERROR(take_shapes());
    WEFT_RETURN_IF_ERROR(trace_condition(condition));
    WEFT_RETURN_IF_ERROR(trace_body(body));
    WEFT_RETURN_IF_ERROR(check_results());
    return add_node();
  }

 private:
  // The iterations so far, and how many there may be (-1: any number), as TensorFlow's loops have them. Where nobody needs them, they go
  // before the loop runs.
  Status add_counters() {
    InScope scope(options_.node_name);
    const std::string prefix = options_.node_name.empty() ? cat(options_.name, "/") : name_scope();
    GraphEmitter& e = outer_.emitter();
    if (!options_.maximum_iterations || !options_.maximum_iterations->rep()->owner())
      outer_.capture_name = outer_.unique_name(cat(prefix, "maximum_iterations"));
    e.set_next_name(outer_.capture_name);
    if (options_.maximum_iterations) {
      WEFT_ASSIGN(vars_[1], outer_.import(*options_.maximum_iterations));
    } else {
      vars_[1] = e.constant(Tensor::scalar<int32_t>(-1));
    }
    outer_.capture_name.clear();
    e.set_next_name(outer_.unique_name(cat(prefix, "loop_counter")));
    vars_[0] = vars_[1].dtype() == DType::kInt64 ? e.constant(Tensor::scalar<int64_t>(0)) : e.constant(Tensor::scalar<int32_t>(0));
    return e.take_status();
  }

  Status take_shapes() {
    for (size_t i = 0; i < kFirst; ++i) shapes_.push_back(PartialShape::scalar());
    if (!options_.shape_invariants.empty() && options_.shape_invariants.size() != user_)
      return invalid_argument("the loop has ", user_, " variables, but ", options_.shape_invariants.size(), " shape invariants were given");
    for (size_t i = 0; i < user_; ++i) {
      const Value& v = vars_[kFirst + i];
      if (!v.rep()) return invalid_argument("loop variable ", i, " has no value");
      shapes_.push_back(options_.shape_invariants.empty() ? v.shape() : options_.shape_invariants[i]);
    }
    return {};
  }

  Result<std::vector<Value>> start(Part& p, const char* what) {
    p.graph = FuncGraph::make(outer_.context(), LibraryFunction::unique_name(outer_.context(), cat(options_.name, "_", what)), &outer_);
    std::vector<Value> args;
    for (size_t i = 0; i < vars_.size(); ++i) {
      const std::string name = i < kFirst ? GraphEmitter::unwrap(vars_[i]).node->name() : std::string(op_of(Role::kPlaceholder));
      WEFT_ASSIGN(Value a, p.graph->add_argument(cat(name_scope(), name), vars_[i].dtype(), shapes_[i], handle_data(vars_[i])));
      args.push_back(std::move(a));
    }
    return args;
  }

  Status trace_condition(const TracedCode& condition) {
    Part& p = parts_[0];
    InScope scope(options_.node_name);
    WEFT_ASSIGN(std::vector<Value> args, start(p, "cond"));
    {
      Entered inside(p.graph.get());
      p.results = condition(std::span(args).subspan(kFirst));
    }
    if (p.results.size() != 1) return invalid_argument("the condition of a loop must give one boolean, it gave ", p.results.size(), " values");
    WEFT_ASSIGN(Value go_on, p.graph->import(p.results[0]));
    if (go_on.dtype() != DType::kBool)
      return invalid_argument("Input 'input' passed ", dtype_name(go_on.dtype()), " expected bool: the condition of a loop must give a boolean");
    Emitter& e = p.graph->emitter();
    if (options_.maximum_iterations) {
      p.name_next(std::string(op_of(op::Symbol::kLess)));
      Value few = e.one(op_of(op::Symbol::kLess), {args[0], args[1]});
      p.name_next(std::string(op_of(op::Symbol::kAnd)));
      go_on = e.one(op_of(op::Symbol::kAnd), {few, go_on});
    }
    p.results = {go_on};
    WEFT_RETURN_IF_ERROR(e.take_status());
    return p.own_results();
  }

  Status trace_body(const TracedCode& body) {
    Part& p = parts_[1];
    InScope scope(options_.node_name);
    WEFT_ASSIGN(std::vector<Value> args, start(p, "body"));
    // In the order of the condition.
    captures_.add(parts_[0]);
    for (size_t i = 0; i < captures_.values.size(); ++i) WEFT_RETURN_IF_ERROR(p.graph->capture(captures_.values[i], captures_.handles[i]).status());
    std::vector<Value> given;
    {
      Entered inside(p.graph.get());
      given = body(std::span(args).subspan(kFirst));
    }
    if (given.size() != user_)
      return invalid_argument("The two structures don't have the same nested structure.\n\nThe loop has ", user_, " variables, its body gives ",
                              given.size());
    GraphEmitter& e = p.graph->emitter();
    const std::string next = p.name_next("add");
    e.set_next_name(next + "/y");
    Value one = args[0].dtype() == DType::kInt64 ? e.constant(Tensor::scalar<int64_t>(1)) : e.constant(Tensor::scalar<int32_t>(1));
    e.set_next_name(next);
    p.results = {e.one(op_of(op::Symbol::kPlus), {args[0], one}), args[1]};
    p.results.insert(p.results.end(), given.begin(), given.end());
    WEFT_RETURN_IF_ERROR(e.take_status());
    return p.own_results();
  }

  Status check_results() {
    for (size_t i = kFirst; i < vars_.size(); ++i) {
      const Value &before = vars_[i], &after = parts_[1].results[i];
      const std::string name = name_of(before, i - kFirst);
      if (before.dtype() != after.dtype())
        return invalid_argument("Loop var ", name, " enters the loop with type ", dtype_name(before.dtype()), " but has type ",
                                dtype_name(after.dtype()), " after 1 iteration. ", name, " type should remain constant.");
      if (!at_most(after.shape(), shapes_[i]))
        return invalid_argument("Input tensor `", name, "` enters the loop with shape ", before.shape(), ", but has shape ", after.shape(),
                                " after one iteration. To allow the shape to vary across iterations, give less specific `shape_invariants`.");
    }
    return {};
  }

  Result<std::vector<Value>> add_node() {
    captures_.add(parts_[1]);
    AttrMap attrs;
    bool stateful = false;
    std::vector<std::shared_ptr<LibraryFunction>> held;
    for (Part& p : parts_) {
      const bool is_body = &p == &parts_[1];
      const std::string prefix = options_.node_name.empty() ? "" : options_.node_name + "/";
      WEFT_ASSIGN(std::vector<Endpoint> ends,
                  captures_.inputs_of(p, [&](int k) { return cat(prefix, p.graph->name(), "___redundant_placeholder", k); }));
      if (is_body) {
        for (size_t i = vars_.size(); i < ends.size(); ++i) p.results.push_back(p.graph->emitter().wrap(ends[i]));
      }
      WEFT_ASSIGN(auto f, LibraryFunction::make(*p.graph, p.graph->name(), std::move(ends), p.results));
      attrs[is_body ? "body" : "cond"] = FunctionAttr{f->name(), nullptr};
      stateful |= f->stateful();
      held.push_back(std::move(f));
    }
    WEFT_RETURN_IF_ERROR(captures_.enter(outer_, options_.node_name, vars_.size()));
    std::vector<Value> inputs = vars_;
    std::vector<PartialShape> shapes = shapes_;
    for (const Value& v : captures_.values) {
      inputs.push_back(v);
      shapes.push_back(v.shape());
    }
    attrs["output_shapes"] = shapes;
    attrs["parallel_iterations"] = options_.parallel_iterations;
    std::vector<DType> types;
    for (const Value& v : inputs) types.push_back(v.dtype());
    attrs["T"] = types;
    attrs["_num_original_outputs"] = int64_t(inputs.size());
    describe(attrs, held, inputs, 0);
    WEFT_RETURN_IF_ERROR(use_variables(outer_, parts_));
    if (!options_.node_name.empty()) outer_.emitter().set_next_name(options_.node_name);
    auto out = outer_.emitter().apply(op_of(Role::kWhile, stateful), inputs, std::move(attrs));
    WEFT_RETURN_IF_ERROR(outer_.emitter().take_status());
    return std::vector<Value>(out.begin() + int64_t(kFirst), out.begin() + int64_t(kFirst + user_));
  }

  FuncGraph& outer_;
  const LoopOptions& options_;
  const size_t user_;
  static constexpr size_t kFirst = 2;  // variables of our own in front of the user's
  Captures captures_;
  std::vector<Value> vars_;
  std::vector<PartialShape> shapes_;
  Part parts_[2];  // condition, body
};

}  // namespace

Result<std::vector<Value>> add_loop(FuncGraph& graph, const TracedCode& condition, const TracedCode& body, std::span<const Value> vars,
                                    const LoopOptions& options) {
  return Loop(graph, vars, options).run(condition, body);
}

}  // namespace weft_engine::trace
