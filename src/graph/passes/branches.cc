// Branches and loops that are decided before the program runs: If and Case with a constant choice become a
// call of the branch, and a loop whose condition fails at once becomes its inputs.
#include "graph/evaluate.h"
#include "graph/function_library.h"
#include "graph/passes/loops.h"

namespace weft_engine::graph {
namespace {

// What If makes of its condition: a scalar by its value, anything else by whether it has elements.
std::optional<bool> bool_value(const Tensor& t) {
  if (t.rank() > 0) return std::nullopt;  // the kernel says whether that will do
  switch (t.dtype()) {
    case DType::kBool: return *t.data<bool>();
    case DType::kInt32: return *t.data<int32_t>() != 0;
    case DType::kInt64: return *t.data<int64_t>() != 0;
    case DType::kFloat: return *t.data<float>() != 0;
    case DType::kDouble: return *t.data<double>() != 0;
    default: return std::nullopt;
  }
}

std::optional<FunctionAttr> chosen_branch(const Node& n) {
  const Tensor* choice = const_value(n.input(0));
  if (!choice) return std::nullopt;
  if (role_of(n) == Role::kIf) {
    auto yes = bool_value(*choice);
    if (!yes) return std::nullopt;
    return n.attr<FunctionAttr>(*yes ? "then_branch" : "else_branch");
  }
  const auto& branches = n.attr<std::vector<FunctionAttr>>("branches");
  if (choice->dtype() != DType::kInt32 || choice->rank() != 0 || branches.empty()) return std::nullopt;
  const int32_t at = *choice->data<int32_t>();
  return at < 0 || size_t(at) >= branches.size() ? branches.back() : branches[size_t(at)];
}

Status call_branch(Graph& g, Node* n, FunctionAttr branch) {
  AttrMap attrs;
  keep_extra_attrs(*n, attrs);
  std::vector<DType> in(n->info().input_types().begin() + 1, n->info().input_types().end());
  for (DType& t : in) t = base_type(t);
  attrs["Tin"] = in;
  attrs["Tout"] = n->attr<std::vector<DType>>("Tout");
  attrs["f"] = std::move(branch);
  std::vector<Endpoint> inputs(n->inputs().begin() + 1, n->inputs().end());
  const std::vector<PartialShape> shapes = n->shapes;
  WEFT_RETURN_IF_ERROR(g.rewrite(n, op_of(Role::kCall, n->spec().stateful), std::move(attrs), std::move(inputs)));
  n->shapes = shapes;
  return {};
}

// The condition for the loop's first iteration, if it depends on constants alone and has no effects.
Result<bool> never_runs(const Graph& g, const Node& n) {
  bool any = false;
  for (const Endpoint& e : n.inputs()) any |= const_value(e) != nullptr;
  if (!any) return false;
  const auto& f = n.attr<FunctionAttr>("cond");
  auto def = g.library()->find(f.name);
  if (!def.ok()) return false;  // an error when it is called
  static const AttrMap& kNone = *new AttrMap;
  WEFT_ASSIGN(FunctionBody cond, instantiate_function(**def, f.attrs ? *f.attrs : kNone, g.registry(), g.library()));
  if (cond.args.size() != size_t(n.num_inputs()) || cond.rets.size() != 1) return false;
  std::vector<std::vector<Tensor>> values(size_t(cond.graph->num_ids()));
  WEFT_ASSIGN(std::vector<Node*> order, cond.graph->topological_order());
  for (Node* m : order) {
    auto& mine = values[size_t(m->id())];
    if (m->spec().has_side_effect() && !is_end(*m)) return false;
    if (is_arg(*m)) {
      const Tensor* t = const_value(n.input(int(m->attr<int64_t>("index"))));
      if (t) mine.push_back(*t);
      continue;
    }
    if (is_const(*m)) {
      mine.push_back(m->attr<Tensor>("value"));
      continue;
    }
    if (is_retval(*m) || !can_evaluate(*m)) continue;
    std::vector<const Tensor*> in;
    for (const Endpoint& e : m->inputs()) {
      const auto& from = values[size_t(e.node->id())];
      if (size_t(e.index) >= from.size()) break;
      in.push_back(&from[size_t(e.index)]);
    }
    if (in.size() != size_t(m->num_inputs())) continue;
    if (auto out = evaluate_node(g.registry(), m->info(), in); out.ok()) mine = std::move(*out);
  }
  const Endpoint result = cond.rets[0]->input(0);
  const auto& value = values[size_t(result.node->id())];
  if (size_t(result.index) >= value.size()) return false;
  auto go = bool_value(value[size_t(result.index)]);
  return go && !*go;
}

}  // namespace

Status pass_branches(FunctionBody& body, PassContext& c) {
  Graph& g = *body.graph;
  const Region region(g);
  for (Node* n : g.nodes()) {
    if (is_branch(*n)) {
      if (auto branch = chosen_branch(*n)) {
        WEFT_RETURN_IF_ERROR(call_branch(g, n, std::move(*branch)));
        c.again = true;  // the call can be inlined now
      }
    } else if (is_while(*n)) {
      WEFT_ASSIGN(bool never, never_runs(g, *n));
      if (never && bypass(body, region, n, n->inputs())) c.again = true;
    }
  }
  return {};
}

}  // namespace weft_engine::graph
