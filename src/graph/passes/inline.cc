// Calls of functions become the functions' bodies.
#include <algorithm>
#include <unordered_map>

#include "core/error_notes.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "graph/passes/passes.h"

namespace weft_engine::graph {
namespace {

constexpr int kMaxNodes = 1 << 20;    // beyond it calls stay calls
constexpr int kMaxCopied = 1 << 12;   // nodes of functions that are there already: calls of calls of calls would make exponentially many

struct Chain {
  std::string function;
  std::shared_ptr<const Chain> outer;
};
// A call and the functions it is in: a function is not inlined into itself.
struct Call {
  Node* node;
  std::shared_ptr<const Chain> inside;
};
bool contains(const Chain* c, const std::string& function) {
  for (; c; c = c->outer.get()) {
    if (c->function == function) return true;
  }
  return false;
}

bool flag(const AttrMap& attrs, std::string_view name) {
  auto it = attrs.find(name);
  const bool* b = it == attrs.end() ? nullptr : it->second.get<bool>();
  return b && *b;
}

// Puts the callee's nodes in place of the call. Its effects come after what the call waited for, and
// whoever waited for the call waits for its effects.
Status inline_call(FunctionBody& body, Node* call, const FunctionBody& callee, std::vector<Node*>& inner_calls) {
  Graph& g = *body.graph;
  const std::string prefix = call->name();
  Node* before = nullptr;
  if (!call->control_inputs().empty()) {
    WEFT_ASSIGN(before, g.add(g.unique_name(cat(prefix, "/input_control_node")), op_of(Role::kNoOp), {}, {}, call->control_inputs()));
    before->device = call->device;
  }
  WEFT_ASSIGN(std::vector<Node*> order, callee.graph->topological_order());
  std::vector<Node*> map(size_t(callee.graph->num_ids()), nullptr);
  std::vector<Endpoint> args(callee.args.size());
  for (size_t i = 0; i < callee.args.size(); ++i) args[i] = call->input(int(i));
  auto translate = [&](const Endpoint& e) -> Endpoint {
    if (is_arg(*e.node)) return args[size_t(e.node->attr<int64_t>("index"))];
    return {map[size_t(e.node->id())], e.index};
  };
  for (Node* n : order) {
    if (is_end(*n)) continue;
    std::vector<Endpoint> inputs;
    std::vector<Node*> controls;
    std::vector<DType> pending;
    bool back = false;
    for (const Endpoint& e : n->inputs()) {
      Endpoint t = translate(e);
      back |= t.node == nullptr;
      inputs.push_back(t);
    }
    if (back) pending = n->info().input_types();
    for (Node* c : n->control_inputs()) {
      if (is_arg(*c)) controls.push_back(args[size_t(c->attr<int64_t>("index"))].node);
      else controls.push_back(map[size_t(c->id())]);
    }
    if (before && (inputs.empty() || n->spec().stateful)) controls.push_back(before);
    WEFT_ASSIGN(Node* copy, g.add(g.unique_name(cat(prefix, "/", n->name())), n->op(), attrs_of(*n), std::move(inputs), controls, pending));
    copy->device = n->device.empty() ? call->device : n->device;
    copy->debug_info = n->debug_info;
    map[size_t(n->id())] = copy;
    if (is_call(*copy)) inner_calls.push_back(copy);
  }
  for (Node* n : order) {  // ways back of loops
    Node* copy = map[size_t(n->id())];
    if (!copy) continue;
    for (int i = 0; i < copy->num_inputs(); ++i) {
      if (!copy->input(i).node) g.set_input(copy, i, translate(n->input(i)));
    }
  }
  if (!call->control_outputs().empty() || std::find(body.control_rets.begin(), body.control_rets.end(), call) != body.control_rets.end()) {
    std::vector<Node*> last;
    for (Node* c : callee.control_rets) last.push_back(map[size_t(c->id())]);
    // Old functions name no control results: everything with an effect counts.
    if (callee.control_rets.empty()) {
      for (Node* n : order) {
        if (map[size_t(n->id())] && n->spec().has_side_effect()) last.push_back(map[size_t(n->id())]);
      }
      for (Node* r : callee.rets) {
        Endpoint e = translate(r->input(0));
        last.push_back(e.node);
      }
    }
    if (before) last.push_back(before);
    WEFT_ASSIGN(Node* after, g.add(g.unique_name(cat(prefix, "/output_control_node")), op_of(Role::kNoOp), {}, {}, last));
    after->device = call->device;
    g.replace_controls(call, after);
    for (Node*& c : body.control_rets) {
      if (c == call) c = after;
    }
  }
  for (size_t i = 0; i < callee.rets.size(); ++i) g.replace_uses({call, int(i)}, translate(callee.rets[i]->input(0)));
  g.remove(call);
  return {};
}

}  // namespace

Status pass_inline(FunctionBody& body, PassContext& c) {
  Graph& g = *body.graph;
  std::unordered_map<std::string, FunctionBody> callees;  // opened once; a second copy counts
  int copied = 0;
  std::vector<Call> todo;
  for (Node* n : g.nodes()) {
    if (is_call(*n)) todo.push_back({n, std::make_shared<const Chain>(Chain{body.name, nullptr})});
  }
  while (!todo.empty()) {
    auto [call, inside] = todo.back();
    todo.pop_back();
    if (g.num_nodes() > kMaxNodes) continue;
    const FunctionAttr f = callee_of(*call);
    if (contains(inside.get(), f.name)) continue;
    auto def = g.library()->find(f.name);
    if (!def.ok()) {
      // Missing functions are an error when they are called, as in TensorFlow; broken ones at once.
      if (def.status().code() == Code::kNotFound) continue;
      return def.status();
    }
    if (flag((*def)->attrs, "_noinline") || flag(call->info().extra_attrs(), "_noinline")) continue;
    // What must become machine code does so as a whole. A compiler that is at work on the caller turns this off.
    if (!c.inline_compiled && (flag((*def)->attrs, "_XlaMustCompile") || flag(call->info().extra_attrs(), "_XlaMustCompile"))) continue;
    if (flag(call->info().extra_attrs(), "_WeftMayCompile")) continue;  // jit/cluster.h
    std::string key = f.name;
    if (f.attrs) {
      for (const auto& [k, v] : *f.attrs) key += cat("|", k, "=", v.to_string());
    }
    auto known = callees.find(key);
    const bool copy = known != callees.end();
    if (!copy) {
      static const AttrMap& kNone = *new AttrMap;
      WEFT_ASSIGN(FunctionBody opened, instantiate_function(**def, f.attrs ? *f.attrs : kNone, g.registry(), g.library()));
      known = callees.emplace(std::move(key), std::move(opened)).first;
    }
    const FunctionBody& callee = known->second;
    if (callee.args.size() != size_t(call->num_inputs()) || callee.rets.size() != size_t(call->num_outputs()))
      return core::names_node(
          invalid_argument("{{node ", call->name(), "}} passes ", call->num_inputs(), " arguments and expects ", call->num_outputs(),
                           " results of function ", f.name, ", which has ", callee.args.size(), " and ", callee.rets.size()),
          call->name());
    for (size_t i = 0; i < callee.args.size(); ++i) {
      if (base_type(callee.arg_types[i]) != base_type(call->input_type(int(i))))
        return core::names_node(invalid_argument("{{node ", call->name(), "}}: argument ", i, " of function ", f.name, " is ",
                                                 dtype_name(callee.arg_types[i]), ", not ", dtype_name(call->input_type(int(i)))),
                                call->name());
    }
    for (size_t i = 0; i < callee.rets.size(); ++i) {
      if (base_type(callee.ret_types[i]) != base_type(call->output_type(int(i))))
        return core::names_node(invalid_argument("{{node ", call->name(), "}}: result ", i, " of function ", f.name, " is ",
                                                 dtype_name(callee.ret_types[i]), ", not ", dtype_name(call->output_type(int(i)))),
                                call->name());
    }
    if (copy) {
      if (copied + callee.graph->num_nodes() > kMaxCopied) continue;
      copied += callee.graph->num_nodes();
    }
    std::vector<Node*> inner;
    WEFT_RETURN_IF_ERROR(inline_call(body, call, callee, inner));
    auto chain = std::make_shared<const Chain>(Chain{f.name, inside});
    for (Node* n : inner) todo.push_back({n, chain});
  }
  return {};
}

// Kernels exist for ops, not for functions.
Status pass_calls(FunctionBody& body, PassContext&) {
  Graph& g = *body.graph;
  for (Node* n : g.nodes()) {
    if (!n->is_function_call()) continue;
    AttrMap attrs = n->info().extra_attrs();
    auto base = [](std::vector<DType> types) {
      for (DType& t : types) t = base_type(t);
      return types;
    };
    attrs["Tin"] = base(n->info().input_types());
    attrs["Tout"] = base(n->info().output_types());
    attrs["f"] = callee_of(*n);
    WEFT_RETURN_IF_ERROR(g.rewrite(n, op_of(Role::kCall, n->spec().stateful), std::move(attrs), n->inputs()));
  }
  return {};
}

}  // namespace weft_engine::graph
