// Bodies of functions with their gradients, and what their makers share.
#include "autodiff/backward.h"
#include "core/call_depth.h"
#include "graph/node_traits.h"
#include "graph/to_function.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

Result<FunctionBody> open_function(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f) {
  WEFT_ASSIGN(auto def, library->find(f.name));
  return instantiate_function(*def, attrs_of(f), registry, library);
}

const AttrMap& attrs_of(const FunctionAttr& f) {
  static const AttrMap& kNone = *new AttrMap;
  return f.attrs ? *f.attrs : kNone;
}

Result<Node*> BodyGradient::add_arg(std::string_view name, DType type, const PartialShape& shape) {
  Graph& g = graph();
  WEFT_ASSIGN(Node* arg, graph::add_arg(g, name, type, int64_t(body.args.size())));
  arg->shapes.assign(1, shape);
  arg->handles.resize(1);
  return arg;
}

namespace {

// What the function itself says of its arguments, and else what the caller knows.
ArgShapes known_args(const FunctionBody& body, const ArgShapes& caller) {
  ArgShapes out = caller;
  out.shapes.resize(body.args.size());
  out.handles.resize(body.args.size());
  for (size_t i = 0; i < body.args.size(); ++i) {
    const AttrValue* v = body.args[i]->find_attr("_output_shapes");
    const auto* list = v ? v->get<std::vector<PartialShape>>() : nullptr;
    if (list && list->size() == 1 && body.arg_types[i] != DType::kResource && (*list)[0].has_rank()) out.shapes[i] = (*list)[0];
  }
  return out;
}

}  // namespace

static Result<BodyGradient> differentiate_here(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f,
                                               const std::vector<bool>& want, const std::vector<DType>& dys, const ArgShapes& args,
                                               const Inside& here, const std::string& scope, bool slices) {
  BodyGradient out;
  WEFT_ASSIGN(out.body, open_function(registry, library, f));
  FunctionBody& body = out.body;
  if (want.size() != body.args.size() || dys.size() != body.rets.size())
    return invalid_argument("function ", f.name, " has ", body.args.size(), " arguments and ", body.rets.size(),
                            " results; the gradient was requested with ", want.size(), " and ", dys.size());
  Graph& g = *body.graph;
  out.first_new = g.num_ids();
  out.shapes = std::make_unique<ShapeInference>(g);
  out.emitter = std::make_unique<GraphEmitter>(g, *out.shapes, scope);
  WEFT_RETURN_IF_ERROR(out.shapes->all(known_args(body, args)));
  out.dys.resize(body.rets.size());
  std::vector<Endpoint> ys, dy, xs;
  for (size_t i = 0; i < body.rets.size(); ++i) {
    if (dys[i] == DType::kInvalid) continue;
    const Endpoint y = body.rets[i]->input(0);
    PartialShape shape;
    if (body.ret_types[i] != DType::kResource) shape = size_t(y.index) < y.node->shapes.size() ? y.node->shapes[size_t(y.index)] : PartialShape();
    WEFT_ASSIGN(out.dys[i], out.add_arg(cat("gradients/grad_ys_", i), dys[i], shape));
    ys.push_back(y);
    dy.push_back({out.dys[i], 0});
  }
  std::vector<size_t> at;
  for (size_t i = 0; i < want.size(); ++i) {
    if (!want[i] || !differentiable(body.arg_types[i])) continue;
    at.push_back(i);
    xs.push_back({body.args[i], 0});
  }
  WEFT_ASSIGN(std::vector<Value> grads, Backward(*out.emitter, {.scope = scope}, &here).run(ys, xs, dy));
  out.grads.resize(want.size());
  for (size_t k = 0; k < at.size(); ++k)
    out.grads[at[k]] = slices && grads[k].is_slices() && grads[k].slice_dense_shape().valid() ? grads[k] : grads[k].dense();
  WEFT_RETURN_IF_ERROR(out.emitter->take_status());
  return out;
}

Result<BodyGradient> differentiate(const Registry& registry, const std::shared_ptr<FunctionLibrary>& library, const FunctionAttr& f,
                                   const std::vector<bool>& want, const std::vector<DType>& dys, const ArgShapes& args, const Inside* inside,
                                   const std::string& scope, bool slices) {
  constexpr int kMostDepth = 2'000;
  for (const Inside* i = inside; i; i = i->outer) {
    if (i->function == f.name) return unimplemented("the gradient of function ", f.name, ", which is a branch or a loop of itself");
  }
  if (inside && inside->depth >= kMostDepth) return unimplemented("the gradient of functions that call others ", kMostDepth, " deep");
  const Inside here{f.name, inside, inside ? inside->depth + 1 : 1, inside ? inside->loops : std::make_shared<LoopPlans>(),
                    inside ? inside->gradients : 0};
  BodyGradient out;
  WEFT_RETURN_IF_ERROR(core::with_stack([&]() -> Status {
    WEFT_ASSIGN(out, differentiate_here(registry, library, f, want, dys, args, here, scope, slices));
    return {};
  }));
  return out;
}

std::vector<const Node*> nodes_of_body(const Graph& graph) {
  std::vector<const Node*> out;
  for (const Node* n : graph.nodes()) {
    if (!is_end(*n)) out.push_back(n);
  }
  return out;
}

Endpoint same_value(Endpoint e) {
  while ((role_of(*e.node) == Role::kIdentity || role_of(*e.node) == Role::kIdentityN) && !e.node->find_attr("_gradient_op_type") &&
         !is_ref_type(e.node->input_type(e.index)))
    e = e.node->input(e.index);
  return e;
}

Value zeros_for(const Value& x, DType type) {
  if (!x.valid()) return {};
  if (x.dtype() != DType::kResource) return zeros_like(x);
  return fill(x.emitter().one(op_of(Role::kVariableShape), {x}), scalar(x.emitter(), type, 0));
}

std::vector<DType> types_of(const std::vector<Value>& values) {
  std::vector<DType> out;
  for (const Value& v : values) out.push_back(v.dtype());
  return out;
}

std::vector<DType> flowing_types(const Flow& flow) {
  std::vector<DType> out;
  for (const Value& v : flow.dys) out.push_back(v.valid() ? v.dtype() : DType::kInvalid);
  return out;
}

}  // namespace weft_engine::autodiff
