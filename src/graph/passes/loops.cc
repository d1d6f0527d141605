#include "graph/passes/loops.h"

#include "graph/function_library.h"
#include "graph/to_function.h"

namespace weft_engine::graph {
namespace {

Status instantiate(const Graph& g, const FunctionAttr& f, FunctionBody& out) {
  WEFT_ASSIGN(auto def, g.library()->find(f.name));
  static const AttrMap& kNone = *new AttrMap;
  WEFT_ASSIGN(out, instantiate_function(*def, f.attrs ? *f.attrs : kNone, g.registry(), g.library()));
  return {};
}

// The body as a function of the library, without what nobody needs any more.
Result<FunctionAttr> define(Graph& outer, const std::string& name, FunctionBody& b, FunctionOptions o) {
  WEFT_ASSIGN(auto original, outer.library()->find(name));
  std::vector<char> keep(size_t(b.graph->num_ids()), 0);
  std::vector<Node*> todo;
  auto want = [&](Node* m) {
    if (m && !keep[size_t(m->id())]) {
      keep[size_t(m->id())] = 1;
      todo.push_back(m);
    }
  };
  for (const Endpoint& e : o.outputs) want(e.node);
  for (Node* c : b.control_rets) want(c);
  for (Node* m : b.graph->nodes()) {
    if (!is_end(*m) && m->spec().has_side_effect()) want(m);
  }
  while (!todo.empty()) {
    Node* m = todo.back();
    todo.pop_back();
    for (const Endpoint& e : m->inputs()) want(e.node);
    for (Node* c : m->control_inputs()) want(c);
  }
  o.body.emplace();
  for (Node* m : b.graph->nodes()) {
    if (keep[size_t(m->id())] && !is_end(*m)) o.body->push_back(m);
  }
  for (Node* c : b.control_rets) o.control_outputs.push_back(c);
  // One more hash behind the name for each change would make names grow.
  constexpr std::string_view kMark = "__weft_";
  o.name = cat(name.substr(0, name.find(kMark)), kMark);
  o.append_hash = true;
  WEFT_ASSIGN(FunctionDef def, to_function(*b.graph, o));
  def.attrs = original->attrs;
  def.stateful = original->stateful;
  FunctionAttr f{def.name, nullptr};
  WEFT_RETURN_IF_ERROR(outer.library()->add_derived(std::move(def), name));
  return f;
}

}  // namespace

Endpoint source(Endpoint e) {
  while (forwards_inputs(*e.node) && !has_refs(*e.node)) e = e.node->input(e.index);
  return e;
}

bool Loop::open(const Graph& g, Node* node, Loop& loop) {
  loop.node = node;
  if (!instantiate(g, node->attr<FunctionAttr>("cond"), loop.cond).ok() || !instantiate(g, node->attr<FunctionAttr>("body"), loop.body).ok())
    return false;
  const size_t n = size_t(node->num_inputs());
  return loop.cond.args.size() == n && loop.cond.rets.size() == 1 && loop.body.args.size() == n && loop.body.rets.size() == n;
}

bool Loop::invariant(int i) const { return source(body.rets[size_t(i)]->input(0)) == Endpoint{body.args[size_t(i)], 0}; }

Result<LoopInput> add_loop_input(Loop& loop, Endpoint value, std::string_view name) {
  Graph& g = *loop.body.graph;
  // The number is only right in the new function, which counts its arguments itself.
  WEFT_ASSIGN(Node* arg, add_arg(g, name, base_type(type_of(value)), g.num_ids()));
  arg->shapes = {shape_of(value)};
  return LoopInput{value, arg};
}

Result<Node*> rebuild_loop(FunctionBody& outer, Loop& loop, const std::vector<int>& kept, const std::vector<LoopInput>& added) {
  Graph& g = *outer.graph;
  Node* old = loop.node;
  std::vector<Endpoint> inputs;
  FunctionOptions bo, co;
  for (int i : kept) {
    inputs.push_back(old->input(i));
    bo.inputs.push_back({loop.body.args[size_t(i)], 0});
    bo.outputs.push_back(loop.body.rets[size_t(i)]->input(0));
    co.inputs.push_back({loop.cond.args[size_t(i)], 0});
  }
  for (const LoopInput& a : added) {
    inputs.push_back(a.value);
    bo.inputs.push_back({a.arg, 0});
    bo.outputs.push_back({a.arg, 0});
    Graph& cg = *loop.cond.graph;
    WEFT_ASSIGN(Node* unused, add_arg(cg, a.arg->name(), a.arg->output_type(0), int64_t(co.inputs.size())));
    co.inputs.push_back({unused, 0});
  }
  co.outputs.push_back(loop.cond.rets[0]->input(0));
  WEFT_ASSIGN(FunctionAttr cond, define(g, old->attr<FunctionAttr>("cond").name, loop.cond, std::move(co)));
  WEFT_ASSIGN(FunctionAttr body, define(g, old->attr<FunctionAttr>("body").name, loop.body, std::move(bo)));

  AttrMap attrs = attrs_of(*old);
  std::vector<DType> types;
  std::vector<PartialShape> promised;
  const auto& old_promises = old->attr<std::vector<PartialShape>>("output_shapes");
  for (size_t i = 0; i < inputs.size(); ++i) {
    types.push_back(base_type(type_of(inputs[i])));
    promised.push_back(i < kept.size() && !old_promises.empty() ? old_promises[size_t(kept[i])] : PartialShape());
  }
  attrs["T"] = types;
  attrs["cond"] = std::move(cond);
  attrs["body"] = std::move(body);
  attrs["output_shapes"] = old_promises.empty() ? std::vector<PartialShape>() : promised;
  attrs.erase("_num_original_outputs");
  const std::vector<Endpoint> values = inputs;
  WEFT_ASSIGN(Node* node, g.add(g.unique_name(old->name()), old->op(), std::move(attrs), std::move(inputs), old->control_inputs()));
  node->device = old->device;
  node->debug_info = old->debug_info;
  node->shapes.resize(size_t(node->num_outputs()));
  node->handles.resize(size_t(node->num_outputs()));
  for (size_t k = 0; k < kept.size(); ++k) {
    const auto from = size_t(kept[k]);
    if (from < old->shapes.size()) node->shapes[k] = old->shapes[from];
    if (from < old->handles.size()) node->handles[k] = old->handles[from];
    g.replace_uses({old, kept[k]}, {node, int(k)});
  }
  for (size_t k = kept.size(); k < values.size(); ++k) node->shapes[k] = shape_of(values[k]);
  g.replace_controls(old, node);
  if (is_control_ret(outer, old)) {
    std::erase(outer.control_rets, old);
    outer.control_rets.push_back(node);
  }
  g.remove(old);
  return node;
}

}  // namespace weft_engine::graph
