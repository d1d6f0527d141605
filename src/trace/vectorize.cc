#include "trace/vectorize.h"

#include <algorithm>

#include "graph/function_body.h"
#include "graph/node_traits.h"
#include "op/emit.h"
#include "trace/concrete_function.h"
#include "trace/control_flow.h"
#include "trace/variable.h"

namespace weft_engine::trace {

namespace {

Value on(Emitter& e, const Value& v) { return Value(e, RefPtr<ValueRep>::share(v.rep())); }

const FunctionAttr* function_attr(const AttrMap& attrs, const char* name) {
  auto it = attrs.find(name);
  return it == attrs.end() ? nullptr : it->second.get<FunctionAttr>();
}

Role role_in(const op::Registry& registry, std::string_view op) {
  const OpSpec* spec = registry.find(op);
  return spec ? spec->traits().role : Role::kNone;  // a function
}

PartialShape with_front(const PartialShape& s, int64_t rows) {
  if (!s.has_rank()) return s;
  std::vector<int64_t> dims{rows >= 0 ? rows : kUnknownDim};
  dims.insert(dims.end(), s.dims().begin(), s.dims().end());
  return PartialShape(dims);
}

std::vector<bool> rows_among(std::span<const Value> values) {
  std::vector<bool> out;
  for (const Value& v : values) out.push_back(BatchEmitter::is_batched(v));
  return out;
}

Value places_where(Emitter& e, const Value& condition) {
  Value found = e.one("Where", {condition});
  return op::reshape(op::cast(found, DType::kInt32), op::ints(e, {-1}));
}

}  // namespace

FuncGraph* RowEmitter::graph() const {
  auto* e = dynamic_cast<TraceEmitter*>(&base());
  return e ? &e->func_graph() : nullptr;
}

std::unique_ptr<RowEmitter> RowEmitter::beside(Emitter& base) const {
  if (num_rows() >= 0) return std::make_unique<RowEmitter>(base, context_, num_rows(), options_);
  return std::make_unique<RowEmitter>(base, context_, on(base, rows()), options_);
}
std::unique_ptr<RowEmitter> RowEmitter::some(Emitter& base, const Value& places) const {
  const PartialShape s = places.shape();
  if (s.fully_known()) return std::make_unique<RowEmitter>(base, context_, s.dim(0), options_);
  return std::make_unique<RowEmitter>(base, context_, op::size_of(places), options_);
}

Result<std::vector<Value>> RowEmitter::replay(const Graph& graph, std::span<const Endpoint> outputs, const Feeds& feeds,
                                              std::span<Node* const> effects) {
  WEFT_ASSIGN(std::vector<Node*> order, graph.topological_order());
  std::vector<char> needed(size_t(graph.num_ids()));
  for (const Endpoint& e : outputs) needed[size_t(e.node->id())] = 1;
  for (Node* n : effects) needed[size_t(n->id())] = 1;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (!needed[size_t((*it)->id())] || feeds.contains(*it)) continue;
    for (const Endpoint& e : (*it)->inputs()) needed[size_t(e.node->id())] = 1;
    for (Node* n : (*it)->control_inputs()) needed[size_t(n->id())] = 1;
  }
  std::vector<std::vector<Value>> values(needed.size());
  for (Node* n : order) {
    if (!needed[size_t(n->id())]) continue;
    auto& out = values[size_t(n->id())];
    if (auto it = feeds.find(n); it != feeds.end()) {
      out = {it->second};
      continue;
    }
    if (is_no_op(*n)) continue;
    if (is_const(*n)) {
      out = {constant(n->attr<Tensor>("value"))};
    } else {
      std::vector<Value> in;
      for (const Endpoint& e : n->inputs()) in.push_back(values[size_t(e.node->id())][size_t(e.index)]);
      if (n->is_function_call()) {
        FunctionAttr f{std::string(n->op()), std::make_shared<const AttrMap>(attrs_of(*n))};
        WEFT_ASSIGN(out, call(f, in));
      } else {
        out = apply(n->op(), in, attrs_of(*n));
      }
    }
    WEFT_RETURN_IF_ERROR(take_status());
  }
  std::vector<Value> results;
  for (const Endpoint& e : outputs) results.push_back(values[size_t(e.node->id())][size_t(e.index)]);
  return results;
}

Result<std::vector<Value>> RowEmitter::replay(FuncGraph& traced, std::span<const Value> results, std::span<const Value> arguments) {
  if (traced.arguments().size() != arguments.size())
    return invalid_argument("the trace takes ", traced.arguments().size(), " values, not ", arguments.size());
  Feeds feeds;
  for (size_t i = 0; i < arguments.size(); ++i) feeds[traced.arguments()[i]] = arguments[i];
  std::vector<Endpoint> outputs;
  for (const Value& v : results) {
    WEFT_ASSIGN(Value own, traced.import(v));
    outputs.push_back(graph::GraphEmitter::unwrap(own));
  }
  // Behind the results: one that was imported just now is a capture, too.
  for (const auto& c : traced.captures()) feeds[c.node] = on(*this, c.outer);
  return replay(traced.graph(), outputs, feeds, traced.effects());
}

RowEmitter::Outputs RowEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  if (std::none_of(inputs.begin(), inputs.end(), is_batched)) {
    // What writes, or calls what may, does so for each row, unless the op has a rule of its own.
    const OpSpec* spec = registry().find(op);
    if (spec && spec->has_side_effect() && !batch_rule(*spec)) return otherwise(op, inputs, std::move(attrs));
  }
  return BatchEmitter::do_apply(op, inputs, std::move(attrs));
}

RowEmitter::Outputs RowEmitter::otherwise(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  Outputs out = unimplemented(op);
  const Role role = role_in(registry(), op);
  if (role == Role::kCall) {
    const FunctionAttr* f = function_attr(attrs, "f");
    if (!f) return invalid_argument(op, " names no function");
    return call(*f, inputs);
  }
  if (role == Role::kIf || role == Role::kCase) out = branch(op, inputs, attrs);
  else if (role == Role::kWhile) out = loop(inputs, attrs);
  if (out.ok() || out.status().code() != core::Code::kUnimplemented) return out;
  (void)take_status();
  return row_by_row(op, inputs, std::move(attrs));
}

RowEmitter::Outputs RowEmitter::wrapped(RowEmitter& e, std::span<const Value> values, const std::vector<bool>& rowed) const {
  std::vector<Value> out;
  for (size_t i = 0; i < values.size(); ++i) out.push_back(rowed[i] ? e.batched(on(e.base(), inner(values[i]))) : on(e, values[i]));
  return out;
}

RowEmitter::Outputs RowEmitter::in_function(std::span<const Value> inputs, const Code& code) {
  auto graph = FuncGraph::make(context_, "vectorized", nullptr);
  const std::vector<bool> rowed = rows_among(inputs);
  std::vector<Value> given, args;
  for (const Value& v : inputs) {
    given.push_back(inner(v));
    WEFT_ASSIGN(Value a, graph->add_argument("x", v.dtype(), given.back().shape()));
    args.push_back(std::move(a));
  }
  std::vector<Value> results;
  std::vector<bool> out_rowed;
  {
    Entered inside(graph.get());
    auto e = beside(graph->emitter());
    WEFT_ASSIGN(std::vector<Value> wrapped_args, wrapped(*e, args, rowed));
    WEFT_ASSIGN(results, code(*e, wrapped_args));
    out_rowed = rows_among(results);
    for (Value& v : results) v = e->inner(v);
  }
  WEFT_ASSIGN(auto f, ConcreteFunction::make(graph, results));
  WEFT_ASSIGN(std::vector<Value> out, f->call(given));
  for (size_t i = 0; i < out.size(); ++i) out[i] = out_rowed[i] ? batched(on(base(), out[i])) : on(*this, out[i]);
  return out;
}

RowEmitter::Outputs RowEmitter::call(const FunctionAttr& f, std::span<const Value> inputs) {
  WEFT_ASSIGN(auto def, context_.functions().find(f.name));
  WEFT_ASSIGN(auto body, graph::instantiate_function(*def, f.attrs ? *f.attrs : AttrMap(), context_.registry(), context_.runtime().library()));
  if (body.args.size() != inputs.size()) return invalid_argument("function ", f.name, " takes ", body.args.size(), " arguments, not ", inputs.size());
  Feeds feeds;
  for (size_t i = 0; i < inputs.size(); ++i) feeds[body.args[i]] = inputs[i];
  std::vector<Endpoint> outputs;
  for (Node* n : body.rets) outputs.push_back(n->input(0));
  return replay(*body.graph, outputs, feeds, body.control_rets);
}

// ---- branches ------------------------------------------------------------------------------------------------

RowEmitter::Outputs RowEmitter::branch(std::string_view op, std::span<const Value> inputs, const AttrMap& attrs) {
  const bool as_if = role_in(registry(), op) == Role::kIf;
  std::vector<FunctionAttr> functions;
  if (as_if) {
    const FunctionAttr *yes = function_attr(attrs, "then_branch"), *no = function_attr(attrs, "else_branch");
    if (!yes || !no) return invalid_argument(op, " names no branches");
    functions = {*yes, *no};
  } else if (auto it = attrs.find("branches"); it != attrs.end() && it->second.get<std::vector<FunctionAttr>>()) {
    functions = *it->second.get<std::vector<FunctionAttr>>();
  }
  if (functions.empty()) return invalid_argument(op, " names no branches");
  if (as_if && inputs[0].dtype() != DType::kBool) return unimplemented(op, " by a number, of several rows at once");
  if (is_batched(inputs[0])) return branch_by_row(functions, as_if, inputs);
  FuncGraph* g = graph();
  if (!g) return in_function(inputs, [&](RowEmitter& e, std::span<const Value> in) { return e.branch(op, in, attrs); });
  Status failed;
  std::vector<TracedCode> code;
  for (const FunctionAttr& f : functions) {
    code.push_back([&, f](std::span<const Value>) {
      auto e = beside(FuncGraph::current()->emitter());
      auto run = [&]() -> Outputs {
        WEFT_ASSIGN(std::vector<Value> args, wrapped(*e, inputs.subspan(1), rows_among(inputs.subspan(1))));
        WEFT_ASSIGN(std::vector<Value> out, e->call(f, args));
        for (Value& v : out) v = e->unbatched(v);
        WEFT_RETURN_IF_ERROR(e->take_status());
        return out;
      };
      auto out = run();
      if (!out.ok()) failed = out.status();
      return out.ok() ? *out : std::vector<Value>();
    });
  }
  auto out = add_branches(*g, inner(inputs[0]), as_if, code, "vectorized_branch");
  WEFT_RETURN_IF_ERROR(failed);
  if (!out.ok()) return out;
  for (Value& v : *out) v = batched(v);
  return out;
}

RowEmitter::Outputs RowEmitter::taken(RowEmitter& e, std::span<const Value> inputs, const Value& places) {
  std::vector<Value> out;
  for (const Value& v : inputs) {
    if (!is_batched(v)) {
      out.push_back(on(e, v));
      continue;
    }
    if (v.dtype() == DType::kVariant) return unimplemented("some rows of a list");
    out.push_back(e.batched(op::gather(on(e.base(), inner(v)), places)));
  }
  return out;
}

// Each branch runs for the rows that take it, perhaps for none.
RowEmitter::Outputs RowEmitter::branch_by_row(std::span<const FunctionAttr> functions, bool as_if, std::span<const Value> inputs) {
  const PartialShape s = inputs[0].shape();
  if (!s.has_rank() || s.rank() != 0) return unimplemented("a branch on a value that is not a scalar");
  Emitter& b = base();
  Value choice = inner(inputs[0]);
  if (!as_if) {  // an index that is none means the last branch
    const int last = int(functions.size()) - 1;
    Value bad = op::logical_or(op::less(choice, op::scalar(b, DType::kInt32, 0)), op::greater(choice, op::scalar(b, DType::kInt32, last)));
    choice = op::where(bad, op::scalar(b, DType::kInt32, last), choice);
  }
  std::vector<Value> places;
  std::vector<std::vector<Value>> parts;
  for (size_t k = 0; k < functions.size(); ++k) {
    Value takes = as_if ? (k == 0 ? choice : op::logical_not(choice)) : op::equal(choice, op::scalar(b, DType::kInt32, double(k)));
    places.push_back(places_where(b, takes));
    auto e = some(b, places.back());
    WEFT_ASSIGN(std::vector<Value> args, taken(*e, inputs.subspan(1), places.back()));
    WEFT_ASSIGN(std::vector<Value> out, e->call(functions[k], args));
    for (Value& v : out) v = e->unbatched(v);
    WEFT_RETURN_IF_ERROR(e->take_status());
    WEFT_RETURN_IF_ERROR(b.take_status());
    if (k && out.size() != parts[0].size()) return invalid_argument("branches that give ", parts[0].size(), " and ", out.size(), " values");
    parts.push_back(std::move(out));
  }
  const Value back = b.one("InvertPermutation", {op::concat(places, 0)});
  std::vector<Value> out;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    std::vector<Value> pieces;
    for (const auto& p : parts) pieces.push_back(p[i]);
    if (pieces[0].dtype() == DType::kVariant) return unimplemented("rows of a list, from branches");
    out.push_back(batched(op::gather(op::concat(pieces, 0), back)));
  }
  WEFT_RETURN_IF_ERROR(b.take_status());
  return out;
}

// ---- loops ---------------------------------------------------------------------------------------------------

RowEmitter::Outputs RowEmitter::loop(std::span<const Value> inputs, const AttrMap& attrs) {
  const FunctionAttr *condition = function_attr(attrs, "cond"), *body = function_attr(attrs, "body");
  if (!condition || !body) return invalid_argument("a loop without a condition or a body");
  FuncGraph* g = graph();
  if (!g) return in_function(inputs, [&](RowEmitter& e, std::span<const Value> in) { return e.loop(in, attrs); });
  const std::vector<PartialShape>* declared = nullptr;
  if (auto it = attrs.find("output_shapes"); it != attrs.end()) declared = it->second.get<std::vector<PartialShape>>();
  std::vector<bool> rowed = rows_among(inputs);
  // Which variables have rows comes out when the body is traced: what it gives may have rows where its argument had none.
  for (;;) {
    bool by_row = false, grew = false;
    LoopOptions options;
    options.name = "vectorized_loop";
    std::vector<Value> vars;
    for (size_t i = 0; i < inputs.size(); ++i) {
      vars.push_back(rowed[i] ? unbatched(inputs[i]) : inner(inputs[i]));
      const bool usable = declared && declared->size() == inputs.size() && inputs[i].dtype() != DType::kVariant;
      const PartialShape s = usable ? (*declared)[i] : inputs[i].shape();
      options.shape_invariants.push_back(rowed[i] && inputs[i].dtype() != DType::kVariant ? with_front(s, num_rows()) : s);
    }
    WEFT_RETURN_IF_ERROR(take_status());
    Status failed;
    auto part = [&](const FunctionAttr& f, std::span<const Value> args, const std::function<Outputs(RowEmitter&, std::vector<Value>)>& then) {
      auto e = beside(FuncGraph::current()->emitter());
      auto run = [&]() -> Outputs {
        WEFT_ASSIGN(std::vector<Value> in, wrapped(*e, args, rowed));
        WEFT_ASSIGN(std::vector<Value> out, e->call(f, in));
        return then(*e, std::move(out));
      };
      auto out = run();
      if (!out.ok()) failed = out.status();
      return out.ok() ? *out : std::vector<Value>();
    };
    auto out = add_loop(
        *g,
        [&](std::span<const Value> args) {
          return part(*condition, args, [&](RowEmitter& e, std::vector<Value> go_on) -> Outputs {
            by_row = !go_on.empty() && is_batched(go_on[0]);
            if (by_row) return unimplemented("a loop that ends differently by row");
            return std::vector<Value>{e.inner(go_on[0])};
          });
        },
        [&](std::span<const Value> args) {
          return part(*body, args, [&](RowEmitter& e, std::vector<Value> next) -> Outputs {
            for (size_t i = 0; i < next.size() && i < rowed.size(); ++i) {
              if (is_batched(next[i]) && !rowed[i]) rowed[i] = grew = true;
              next[i] = rowed[i] ? e.unbatched(next[i]) : e.inner(next[i]);
            }
            WEFT_RETURN_IF_ERROR(e.take_status());
            return next;
          });
        },
        vars, options);
    if (by_row) return loop_by_row(*condition, *body, inputs, attrs);
    if (grew) continue;
    WEFT_RETURN_IF_ERROR(failed);
    if (!out.ok()) return out;
    for (size_t i = 0; i < out->size(); ++i) (*out)[i] = rowed[i] ? batched((*out)[i]) : on(*this, (*out)[i]);
    return out;
  }
}

// Every variable has rows; the body runs for those rows whose condition still holds, until there are none.
RowEmitter::Outputs RowEmitter::loop_by_row(const FunctionAttr& condition, const FunctionAttr& body, std::span<const Value> inputs,
                                            const AttrMap& attrs) {
  const std::vector<PartialShape>* declared = nullptr;
  if (auto it = attrs.find("output_shapes"); it != attrs.end()) declared = it->second.get<std::vector<PartialShape>>();
  LoopOptions options;
  options.name = "vectorized_loop";
  std::vector<Value> vars;  // resources are the same for all rows
  std::vector<bool> rowed;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() == DType::kVariant) return unimplemented("lists in a loop that ends differently by row");
    rowed.push_back(inputs[i].dtype() != DType::kResource);
    vars.push_back(rowed[i] ? unbatched(inputs[i]) : inner(inputs[i]));
    const PartialShape s = declared && declared->size() == inputs.size() ? (*declared)[i] : inputs[i].shape();
    options.shape_invariants.push_back(rowed[i] ? with_front(s, num_rows()) : inputs[i].shape());
  }
  WEFT_RETURN_IF_ERROR(take_status());
  Status failed;
  auto active = [&](std::span<const Value> args) -> Result<Value> {
    auto e = beside(FuncGraph::current()->emitter());
    WEFT_ASSIGN(std::vector<Value> in, wrapped(*e, args, rowed));
    WEFT_ASSIGN(std::vector<Value> out, e->call(condition, in));
    if (out.size() != 1) return invalid_argument("a condition that gives ", out.size(), " values");
    Value v = e->unbatched(out[0]);
    WEFT_RETURN_IF_ERROR(e->take_status());
    return op::reshape(v, op::ints(e->base(), {-1}));
  };
  auto step = [&](std::span<const Value> args) -> Outputs {
    Emitter& b = FuncGraph::current()->emitter();
    WEFT_ASSIGN(Value going, active(args));
    const Value places = places_where(b, going);
    auto all = beside(b), e = some(b, places);
    WEFT_ASSIGN(std::vector<Value> in, wrapped(*all, args, rowed));
    WEFT_ASSIGN(in, taken(*e, in, places));
    WEFT_ASSIGN(std::vector<Value> next, e->call(body, in));
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = rowed[i] ? b.one("TensorScatterUpdate", {on(b, args[i]), op::expand_dims(places, 1), e->unbatched(next[i])}) : e->inner(next[i]);
    WEFT_RETURN_IF_ERROR(e->take_status());
    WEFT_RETURN_IF_ERROR(b.take_status());
    return next;
  };
  auto out = add_loop(
      *graph(),
      [&](std::span<const Value> args) {
        auto going = active(args);
        if (!going.ok()) failed = going.status();
        return going.ok() ? std::vector<Value>{op::reduce("Any", *going, op::ints(going->emitter(), {0}))} : std::vector<Value>();
      },
      [&](std::span<const Value> args) {
        auto next = step(args);
        if (!next.ok()) failed = next.status();
        return next.ok() ? *next : std::vector<Value>();
      },
      vars, options);
  WEFT_RETURN_IF_ERROR(failed);
  if (!out.ok()) return out;
  for (size_t i = 0; i < out->size(); ++i) (*out)[i] = rowed[i] ? batched((*out)[i]) : on(*this, (*out)[i]);
  return out;
}

// ---- one row after another -------------------------------------------------------------------------------------

RowEmitter::Outputs RowEmitter::row_by_row(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  // Where a rule did not hold this time, and for random numbers by a seed, TensorFlow does not refer to the loop either.
  const OpSpec* spec = registry().find(op);
  const bool quiet = spec && (batch_rule(*spec) || spec->traits().silent_by_row);
  if (!options_.loops && !quiet) {
    std::string given;
    for (const Value& v : inputs)
      given += cat(given.empty() ? "" : ", ", "Tensor(shape=", v.shape(), ", dtype=", dtype_name(v.dtype()),
                   ", is_stacked=", is_batched(v) ? "True" : "False", ")");
    return unimplemented("No pfor vectorization defined for ", op, "\n inputs: [", given,
                         "]. Consider enabling the fallback_to_while_loop option to pfor, which may run slower.");
  }
  if (options_.warn && !quiet) options_.warn(op);
  for (const Value& v : inputs) {
    if (is_batched(v) && v.dtype() == DType::kVariant) return unimplemented(op, " of a list, row by row");
  }
  FuncGraph* g = graph();
  if (!g && num_rows() > 0) return row_by_row_now(op, inputs, attrs);
  if (!g) return in_function(inputs, [&](RowEmitter& e, std::span<const Value> in) { return e.row_by_row(op, in, attrs); });
  // The op for one row, in the graph that this thread is in.
  auto one_row = [&](const Value& i) {
    Emitter& e = FuncGraph::current()->emitter();
    std::vector<Value> in;
    for (const Value& v : inputs) in.push_back(is_batched(v) ? op::gather(on(e, inner(v)), i) : on(e, v));
    return e.apply(op, in, attrs);
  };
  // Once in a graph that is thrown away: which results there are.
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
  {
    auto scratch = FuncGraph::make(context_, "scratch", g);
    Entered inside(scratch.get());
    WEFT_ASSIGN(Value i, scratch->add_argument("i", DType::kInt32, PartialShape::scalar()));
    for (const Value& v : one_row(i)) {
      types.push_back(v.dtype());
      shapes.push_back(v.shape());
    }
    WEFT_RETURN_IF_ERROR(scratch->emitter().take_status());
  }
  Emitter& b = base();
  auto shape_value = [](Emitter& e, const PartialShape& s) {
    if (!s.has_rank()) return op::scalar(e, DType::kInt32, -1);
    return op::ints(e, std::vector<int32_t>(s.dims().begin(), s.dims().end()));
  };
  LoopOptions options;
  options.name = "row_by_row";
  options.maximum_iterations = rows();
  std::vector<Value> vars{op::scalar(b, DType::kInt32, 0)};
  for (size_t k = 0; k < types.size(); ++k) {
    AttrMap a;
    a["element_dtype"] = types[k];
    vars.push_back(b.one(op_of(Role::kListReserve), {shape_value(b, shapes[k]), rows()}, std::move(a)));
  }
  WEFT_RETURN_IF_ERROR(b.take_status());
  Status failed;
  auto out = add_loop(
      *g, [&](std::span<const Value> args) { return std::vector<Value>{op::less(args[0], on(args[0].emitter(), rows()))}; },
      [&](std::span<const Value> args) {
        Emitter& e = FuncGraph::current()->emitter();
        std::vector<Value> next{args[0] + op::scalar(e, DType::kInt32, 1)};
        const std::vector<Value> made = one_row(args[0]);
        for (size_t k = 0; k < made.size(); ++k) next.push_back(e.one(op_of(Role::kListSet), {args[k + 1], args[0], made[k]}));
        failed = e.take_status();
        return failed.ok() ? next : std::vector<Value>();
      },
      vars, options);
  WEFT_RETURN_IF_ERROR(failed);
  if (!out.ok()) return out;
  std::vector<Value> results;
  for (size_t k = 0; k < types.size(); ++k) {
    AttrMap a;
    a["element_dtype"] = types[k];
    a["num_elements"] = num_rows();
    results.push_back(batched(b.one(op_of(Role::kListStack), {(*out)[k + 1], shape_value(b, shapes[k])}, std::move(a))));
  }
  WEFT_RETURN_IF_ERROR(b.take_status());
  return results;
}

RowEmitter::Outputs RowEmitter::row_by_row_now(std::string_view op, std::span<const Value> inputs, const AttrMap& attrs) {
  std::vector<std::vector<Value>> by_input;
  for (const Value& v : inputs) {
    AttrMap a;
    a["num"] = num_rows();
    a["axis"] = 0;
    by_input.push_back(is_batched(v) ? base().apply("Unpack", {inner(v)}, std::move(a)) : std::vector<Value>{inner(v)});
  }
  WEFT_RETURN_IF_ERROR(base().take_status());
  std::vector<std::vector<Value>> results;  // by output, then row
  for (int64_t row = 0; row < num_rows(); ++row) {
    std::vector<Value> in;
    for (size_t i = 0; i < inputs.size(); ++i) in.push_back(by_input[i][is_batched(inputs[i]) ? size_t(row) : 0]);
    auto out = base().apply(op, in, attrs);
    WEFT_RETURN_IF_ERROR(base().take_status());
    results.resize(out.size());
    for (size_t k = 0; k < out.size(); ++k) {
      if (row && out[k].shape() != results[k][0].shape())
        return invalid_argument("PartialTensorShape: Incompatible shapes during merge: ", results[k][0].shape(), " vs. ", out[k].shape());
      results[k].push_back(std::move(out[k]));
    }
  }
  std::vector<Value> stacked;
  for (const auto& r : results) {
    Value made = op::pack(r, 0);
    WEFT_RETURN_IF_ERROR(base().take_status());
    stacked.push_back(batched(made));
  }
  return stacked;
}

// ---- the way in --------------------------------------------------------------------------------------------------

namespace {

// Branches and loops, here or in what is called.
bool has_control_flow(eager::Context& context, std::string_view op, const AttrMap& attrs, int depth) {
  const Role role = role_in(context.registry(), op);
  if (role == Role::kIf || role == Role::kCase || role == Role::kWhile) return true;
  const FunctionAttr* f = role == Role::kCall ? function_attr(attrs, "f") : nullptr;
  auto def = context.functions().find(f ? std::string_view(f->name) : op);
  if (!def.ok() || depth > 64) return false;
  return std::any_of((*def)->nodes.begin(), (*def)->nodes.end(),
                     [&](const graph::NodeDef& n) { return has_control_flow(context, n.op, n.attrs, depth + 1); });
}

Result<std::vector<Value>> emit_rows(FuncGraph& traced, std::span<const Value> results, std::span<const Value> elements, int64_t rows,
                                     const RowOptions& options) {
  eager::Context& context = traced.context();
  Emitter& base = emitter_here(context);
  FuncGraph* around = FuncGraph::current();
  for (const auto& w : traced.variables()) {
    auto v = w.lock();
    if (!v) continue;
    if (around) around->use_variable(v);
    WEFT_RETURN_IF_ERROR(v->accessed());
  }
  std::unique_ptr<RowEmitter> e;
  if (rows >= 0) e = std::make_unique<RowEmitter>(base, context, rows, options);
  else e = std::make_unique<RowEmitter>(base, context, op::element(op::shape_of(on(base, elements[0])), 0), options);
  std::vector<Value> arguments;
  for (const Value& v : elements) arguments.push_back(e->batched(on(base, v)));
  WEFT_ASSIGN(std::vector<Value> out, e->replay(traced, results, arguments));
  for (Value& v : out) v = e->unbatched(v);
  WEFT_RETURN_IF_ERROR(e->take_status());
  WEFT_RETURN_IF_ERROR(base.take_status());
  return out;
}

}  // namespace

Result<std::vector<Value>> vectorized(FuncGraph& traced, std::span<const Value> results, std::span<const Value> elements, int64_t rows,
                                      const RowOptions& options) {
  eager::Context& context = traced.context();
  if (elements.empty()) return invalid_argument("a vectorized map of no elements");
  const auto nodes = traced.graph().nodes();
  const bool whole =
      std::any_of(nodes.begin(), nodes.end(), [&](Node* n) { return has_control_flow(context, n->op(), is_call(*n) ? attrs_of(*n) : AttrMap(), 0); });
  if (FuncGraph::current() || !whole) return emit_rows(traced, results, elements, rows, options);
  // As one function: lists that pass from a loop to what is behind it have gradients inside of graphs alone.
  auto graph = FuncGraph::make(context, "vectorized_map", nullptr);
  graph->captures_floats = true;
  std::vector<Value> args, out;
  for (const Value& v : elements) {
    WEFT_ASSIGN(Value a, graph->add_argument("elements", v.dtype(), v.shape()));
    args.push_back(std::move(a));
  }
  {
    Entered inside(graph.get());
    WEFT_ASSIGN(out, emit_rows(traced, results, args, rows, options));
  }
  WEFT_ASSIGN(auto f, ConcreteFunction::make(graph, out));
  return f->call(elements);
}

}  // namespace weft_engine::trace
