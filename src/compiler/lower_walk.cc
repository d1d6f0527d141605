// The walk: arguments, nodes in order, calls, states, results.
#include "compiler/generator_state.h"
#include "compiler/lower_internal.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"

namespace weft_engine::compiler {

using core::Status;
using graph::FunctionBody;
using graph::Graph;
using graph::Node;
using ir::Dim;
using ir::Value;

namespace {

constexpr size_t kMostName = 80;          // of a node, in messages
constexpr int kMostDepth = 500;           // of calls; the compiler runs on a large stack (core/call_depth.h)
// Walked in one attempt: loops are walked several times, one inside the other. More is code for minutes of LLVM.
constexpr int64_t kMostNodes = 1 << 17;

core::Result<ir::Type> type_of(DType dtype, const core::PartialShape& shape, std::string_view what, std::string_view name) {
  ir::Type t{dtype, {}};
  if (!shape.has_rank()) return core::unimplemented("the rank of ", what, " '", name, "' must be known to compile");
  for (int64_t d : shape.dims()) {
    if (d < 0) return core::unimplemented("the shape of ", what, " '", name, "' must be known to compile; it is ", shape.to_string());
    t.dims.emplace_back(d);
  }
  return t;
}

}  // namespace

bool same_value(const Lowered& a, const Lowered& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Lowered::Kind::kNone: return true;
    case Lowered::Kind::kTensor: return a.tensor() == b.tensor();
    case Lowered::Kind::kState: return a.state() == b.state();
    case Lowered::Kind::kList: return a.list().buffer == b.list().buffer && a.list().length == b.list().length;
  }
  return false;
}

// ---- states ----------------------------------------------------------------------------------------------

int Lowerer::variable_state(int variable) {
  if (const auto it = variable_states_.find(variable); it != variable_states_.end()) return it->second;
  if (variable < 0 || size_t(variable) >= options_.variables.size()) {
    b_.fail(core::internal_error("there is no variable ", variable));
    return -1;
  }
  const VariableInfo& v = options_.variables[size_t(variable)];
  State s;
  s.name = v.name;
  s.variable = variable;
  if (v.constant) {
    s.initial = s.value = frozen_[variable];
  } else {
    auto type = type_of(v.dtype, v.shape, "variable", v.name);
    if (!type.ok()) {
      b_.fail(type.status());
      return -1;
    }
    s.parameter = int(b_.module().parameters.size());
    s.initial = s.value = b_.parameter({ir::Parameter::Kind::kState, v.name, *type});
  }
  states_.push_back(std::move(s));
  return variable_states_[variable] = int(states_.size()) - 1;
}

Lowered Lowerer::variable(const op::NodeInfo& node) {
  const auto number = options_.variable_of ? options_.variable_of(node) : std::nullopt;
  if (!number) {
    b_.fail(core::unimplemented("the variable of ", node.op(), " '", node.name(), "' is not known to the compiler"));
    return {};
  }
  const int s = variable_state(*number);
  return s < 0 ? Lowered() : Lowered::state(s);
}

Lowered Lowerer::named_state(const op::NodeInfo& node) {
  const std::string key = path_ + node.name();
  auto [it, is_new] = named_.try_emplace(key, int(states_.size()));
  if (!is_new) return Lowered::state(it->second);
  State s;
  s.name = key;
  if (const auto *seed = node.find_attr("seed"), *seed2 = node.find_attr("seed2"); seed && seed2) {
    // A generator continues from call to call: its counter is a state, zeros at first; without seeds it may begin anywhere.
    const bool seeded = *seed->get<int64_t>() || *seed2->get<int64_t>();
    s.name = core::cat(key, seeded ? kGeneratorState : kUnseededGeneratorState);
    s.parameter = int(b_.module().parameters.size());
    s.initial = s.value = b_.parameter({ir::Parameter::Kind::kState, s.name, {DType::kUint64, {Dim(2)}}});
  }
  states_.push_back(std::move(s));
  return Lowered::state(it->second);
}

Lowered Lowerer::derived_state(int of, std::string_view what) {
  const std::string key = core::cat(states_[size_t(of)].name, "/", of, "/", what);
  auto [it, is_new] = named_.try_emplace(key, int(states_.size()));
  if (is_new) states_.push_back({key, -1, -1, {}, {}});
  return Lowered::state(it->second);
}

const Lowered* Lowerer::read(int state) {
  if (state < 0 || size_t(state) >= states_.size()) {
    b_.fail(core::internal_error("there is no state ", state));
    return nullptr;
  }
  if (!b_.status().ok()) return nullptr;  // values may be those of a region that was given up
  State& s = states_[size_t(state)];
  if (s.value.kind() == Lowered::Kind::kNone) {
    b_.fail(core::failed_precondition("'", s.name, "' is read at '", b_.node(), "' before it has a value"));
    return nullptr;
  }
  return &s.value;
}

void Lowerer::write(int state, Lowered value) {
  if (state < 0 || size_t(state) >= states_.size()) {
    b_.fail(core::internal_error("there is no state ", state));
    return;
  }
  if (!b_.status().ok()) return;
  State& s = states_[size_t(state)];
  if (s.variable >= 0) {
    const VariableInfo& v = options_.variables[size_t(s.variable)];
    if (v.constant) {
      b_.fail(core::invalid_argument("variable '", s.name, "' is read-only here, and '", b_.node(), "' writes to it"));
      return;
    }
    if (value.kind() == Lowered::Kind::kTensor && s.initial.tensor()) {
      same_type(b_, s.initial.tensor()->type, value.tensor()->type, core::cat("the new value of variable '", s.name, "'"));
    }
  }
  s.value = std::move(value);
}

bool same_type(ir::Builder& b, const ir::Type& x, const ir::Type& y, std::string_view what) {
  if (x == y) return true;
  if (x.dtype != y.dtype || x.rank() != y.rank()) {
    b.fail(core::unimplemented(what, " is ", y.to_string(), " and was ", x.to_string(), " ('", b.node(), "'): shapes that change are not compiled"));
    return false;
  }
  for (int d = 0; d < x.rank(); ++d) {
    if (x.dims[size_t(d)].is_const() && y.dims[size_t(d)].is_const() && !(x.dims[size_t(d)] == y.dims[size_t(d)])) {
      b.fail(
          core::unimplemented(what, " is ", y.to_string(), " and was ", x.to_string(), " ('", b.node(), "'): shapes that change are not compiled"));
      return false;
    }
    b.same(x.dims[size_t(d)], y.dims[size_t(d)]);
  }
  return b.status().ok();
}

Lowerer::Snapshot Lowerer::snapshot() const {
  Snapshot s;
  for (const State& state : states_) s.push_back(state.value);
  return s;
}

void Lowerer::restore(const Snapshot& s) {
  for (size_t i = 0; i < states_.size(); ++i) states_[i].value = i < s.size() ? s[i] : states_[i].initial;
}

// ---- arguments and results -------------------------------------------------------------------------------

Status Lowerer::arguments(const FunctionBody& body) {
  ir::Module& m = b_.module();
  bool named_batch = false;
  for (size_t i = 0; i < body.args.size(); ++i) {
    ArgInfo info;
    if (i < options_.args.size()) info = options_.args[i];
    if (info.name.empty()) info.name = body.args[i]->name();
    const DType dtype = core::base_type(body.arg_types[i]);
    if (info.variable >= 0) {
      const int s = variable_state(info.variable);
      if (s < 0) return b_.status();
      args_.push_back(Lowered::state(s));
      continue;
    }
    if (info.constant) {
      b_.set_node(info.name);
      args_.emplace_back(b_.constant(*info.constant));
      WEFT_RETURN_IF_ERROR(b_.status());
      continue;
    }
    if (dtype == DType::kResource || dtype == DType::kVariant || dtype == DType::kString)
      return core::unimplemented("argument '", info.name, "' of '", body.name, "' is a ", core::dtype_name(dtype),
                                 ", which compiled code cannot take");
    if (!info.shape.has_rank()) return core::unimplemented("the rank of input '", info.name, "' must be known to compile '", body.name, "'");
    ir::Type type{dtype, {}};
    for (int d = 0; d < info.shape.rank(); ++d) {
      if (info.shape.dim(d) >= 0) {
        type.dims.emplace_back(info.shape.dim(d));
        continue;
      }
      const int id = int(m.symbols.size());
      const auto it = replaced_.find(id);
      const bool batch = d == 0 && !named_batch && it == replaced_.end();
      named_batch |= batch;
      m.symbols.push_back({batch ? "batch" : core::cat(info.name, "_", d), int(m.parameters.size()), d});
      type.dims.push_back(it == replaced_.end() ? Dim::symbol(id) : it->second);
    }
    b_.set_node(info.name);
    args_.emplace_back(b_.parameter({ir::Parameter::Kind::kInput, info.name, std::move(type)}));
    WEFT_RETURN_IF_ERROR(b_.status());
  }
  return {};
}

Status Lowerer::finish(const FunctionBody& body, const LoweredList& out) {
  ir::Module& m = b_.module();
  for (size_t i = 0; i < out.size(); ++i) {
    const std::string name = i < options_.result_names.size() ? options_.result_names[i] : core::cat("output_", i);
    if (out[i].kind() != Lowered::Kind::kTensor)
      return core::unimplemented("result ", i, " ('", name, "') of '", body.name, "' is not a plain tensor, which compiled code cannot return");
    m.main->results.push_back(out[i].tensor());
    m.results.push_back({name, -1});
  }
  for (const State& s : states_) {
    if (s.parameter < 0 || same_value(s.value, s.initial)) continue;
    m.main->results.push_back(s.value.tensor());
    m.results.push_back({s.name, s.parameter});
  }
  return {};
}

Status Lowerer::run(const FunctionBody& body) {
  // In front, so that every region may read them.
  for (size_t i = 0; i < options_.variables.size(); ++i) {
    const VariableInfo& v = options_.variables[i];
    if (!v.constant) continue;
    b_.set_node(v.name);
    frozen_[int(i)] = b_.constant(*v.constant);
  }
  WEFT_RETURN_IF_ERROR(b_.status());
  WEFT_RETURN_IF_ERROR(arguments(body));
  const LoweredList out = walk(body, args_);
  WEFT_RETURN_IF_ERROR(b_.status());
  WEFT_RETURN_IF_ERROR(finish(body, out));
  ir::drop_dead(b_.module());
  return {};
}

// ---- nodes -----------------------------------------------------------------------------------------------

LoweredList Lowerer::lower_node(const Node& n, const LoweredList& inputs) {
  if (n.is_function_call()) return call({std::string(n.op()), std::make_shared<op::AttrMap>(graph::attrs_of(n))}, inputs);
  op::LowerContext context(b_, *this, n.info(), inputs);
  if (!n.spec().lower) return context.fail(core::unimplemented("the compiler has no rule for ", n.op(), " ('", n.name(), "')"));
  return n.spec().lower(context);
}

LoweredList Lowerer::walk(const FunctionBody& f, const LoweredList& args) {
  auto order = f.graph->topological_order();
  if (!order.ok()) {
    b_.fail(order.status());
    return {};
  }
  const Graph* outer = std::exchange(graph_, f.graph.get());
  std::vector<LoweredList> values(size_t(f.graph->num_ids()));
  for (const Node* n : *order) {
    if (!b_.status().ok()) break;
    if (is_retval(*n)) continue;
    if (++walked_ > kMostNodes) {
      b_.fail(core::unimplemented("'", f.name, "' is too large to compile: calls, loops and branches inside each other unfold to more than ",
                                  kMostNodes, " nodes"));
      break;
    }
    if (is_arg(*n)) {
      const auto i = size_t(n->attr<int64_t>("index"));
      values[size_t(n->id())] = {i < args.size() ? args[i] : Lowered()};
      continue;
    }
    LoweredList inputs;
    inputs.reserve(size_t(n->num_inputs()));
    for (const graph::Endpoint& e : n->inputs()) {
      const LoweredList* from = e.node ? &values[size_t(e.node->id())] : nullptr;
      inputs.push_back(from && size_t(e.index) < from->size() ? (*from)[size_t(e.index)] : Lowered());
    }
    b_.set_node(path_ + n->name());
    // A reference that a node reads by value is read here and now.
    for (int i = 0; i < n->num_inputs(); ++i) {
      Lowered& v = inputs[size_t(i)];
      if (v.kind() != Lowered::Kind::kState || core::is_ref_type(n->input_type(i)) || n->input_type(i) == DType::kResource) continue;
      if (const Lowered* now = read(v.state())) v = *now;
    }
    LoweredList out = lower_node(*n, inputs);
    if (b_.status().ok() && int(out.size()) != n->num_outputs() && n->num_outputs() > 0)
      b_.fail(core::internal_error("the rule of ", n->op(), " gives ", out.size(), " values for ", n->num_outputs(), " ('", n->name(), "')"));
    values[size_t(n->id())] = std::move(out);
  }
  graph_ = outer;
  LoweredList out;
  if (!b_.status().ok()) return out;
  for (const Node* r : f.rets) {
    const graph::Endpoint e = r->input(0);
    const LoweredList& from = values[size_t(e.node->id())];
    Lowered v = size_t(e.index) < from.size() ? from[size_t(e.index)] : Lowered();
    // A result of reference type is what it refers to.
    if (v.kind() == Lowered::Kind::kState && core::base_type(r->input_type(0)) != DType::kResource) {
      if (const Lowered* now = read(v.state()); now && now->kind() == Lowered::Kind::kTensor) v = *now;
    }
    out.push_back(std::move(v));
  }
  return out;
}

// ---- calls -----------------------------------------------------------------------------------------------

std::shared_ptr<const FunctionBody> Lowerer::open(const op::FunctionAttr& function, size_t args) {
  if (!b_.status().ok()) return nullptr;
  std::string key = function.name;
  if (function.attrs) {
    for (const auto& [name, value] : *function.attrs) key += core::cat("|", name, "=", value.to_string());
  }
  auto& cached = cache_.bodies[key];
  if (!cached) {
    const auto make = [&]() -> core::Result<std::shared_ptr<const FunctionBody>> {
      if (!graph_ || !graph_->library()) return core::not_found("function '", function.name, "' is not defined");
      WEFT_ASSIGN(auto def, graph_->library()->find(function.name));
      WEFT_ASSIGN(FunctionBody body,
                  graph::instantiate_function(*def, function.attrs ? *function.attrs : op::AttrMap{}, graph_->registry(), graph_->library()));
      WEFT_RETURN_IF_ERROR(prepare(body, {}, {}));
      return std::make_shared<const FunctionBody>(std::move(body));
    };
    auto made = make();
    if (!made.ok()) {
      b_.fail(made.status());
      return nullptr;
    }
    cached = *made;
  }
  if (cached->args.size() != args) {
    b_.fail(core::invalid_argument("function '", function.name, "' takes ", cached->args.size(), " arguments, and '", b_.node(), "' gives ", args));
    return nullptr;
  }
  return cached;
}

LoweredList Lowerer::call(const op::FunctionAttr& function, LoweredList args) {
  const auto body = open(function, args.size());
  if (!body) return {};
  if (depth_ >= kMostDepth) {
    b_.fail(core::unimplemented("calls nest more than ", kMostDepth, " deep at function '", function.name, "' ('", b_.node().substr(0, kMostName),
                                "'...): functions that call themselves are not compiled"));
    return {};
  }
  ++depth_;
  const std::string node = b_.node();
  std::string path = std::exchange(path_, node + "/");
  LoweredList out = walk(*body, args);
  path_ = std::move(path);
  b_.set_node(node);
  --depth_;
  return out;
}

}  // namespace weft_engine::compiler
