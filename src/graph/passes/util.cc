#include "graph/passes/util.h"

#include <algorithm>

namespace weft_engine::graph {
bool has_refs(const Node& n) {
  for (DType t : n.info().input_types()) {
    if (is_ref_type(t)) return true;
  }
  for (DType t : n.info().output_types()) {
    if (is_ref_type(t)) return true;
  }
  return false;
}

bool has_type(const Node& n, DType t) {
  const auto& in = n.info().input_types();
  const auto& out = n.info().output_types();
  return std::find(in.begin(), in.end(), t) != in.end() || std::find(out.begin(), out.end(), t) != out.end();
}

bool has_function(const Node& n) {
  if (n.is_function_call()) return true;
  for (const AttrValue& v : n.info().attrs()) {
    if (v.get<FunctionAttr>() || v.get<std::vector<FunctionAttr>>()) return true;
  }
  return false;
}

bool is_pure(const Node& n) {
  if (n.spec().stateful || has_refs(n)) return false;
  if (traits_of(n).impure || is_v1_control_flow(n)) return false;
  return forwards_inputs(n) || !has_type(n, DType::kResource);
}

const Tensor* const_value(const Endpoint& e) {
  if (!e.node || !is_const(*e.node)) return nullptr;
  const Tensor& t = e.node->attr<Tensor>("value");
  return t.dtype() == e.node->output_type(0) ? &t : nullptr;
}

namespace {

template <class T>
std::optional<double> splat(const Tensor& t) {
  const T* v = t.data<T>();
  for (int64_t i = 1; i < t.num_elements(); ++i) {
    if (!(v[i] == v[0])) return std::nullopt;
  }
  return double(v[0]);
}

}  // namespace

std::optional<double> const_splat(const Endpoint& e) {
  const Tensor* t = const_value(e);
  if (!t || t->num_elements() < 1) return std::nullopt;
  switch (t->dtype()) {
    case DType::kFloat: return splat<float>(*t);
    case DType::kDouble: return splat<double>(*t);
    case DType::kHalf: return splat<half>(*t);
    case DType::kBfloat16: return splat<bfloat16>(*t);
    case DType::kInt32: return splat<int32_t>(*t);
    case DType::kInt16: return splat<int16_t>(*t);
    case DType::kInt8: return splat<int8_t>(*t);
    case DType::kUint8: return splat<uint8_t>(*t);
    case DType::kInt64: {
      // Beyond 2^53 a double would be another number.
      auto v = splat<int64_t>(*t);
      if (v && std::abs(*v) > 9e15) return std::nullopt;
      return v;
    }
    default: return std::nullopt;
  }
}

std::optional<std::vector<int64_t>> const_ints(const Endpoint& e) {
  const Tensor* t = const_value(e);
  if (!t) return std::nullopt;
  std::vector<int64_t> out;
  if (t->dtype() == DType::kInt32) {
    for (int32_t v : t->span<int32_t>()) out.push_back(v);
  } else if (t->dtype() == DType::kInt64) {
    for (int64_t v : t->span<int64_t>()) out.push_back(v);
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<int64_t> const_int(const Endpoint& e) {
  auto v = const_ints(e);
  if (!v || v->size() != 1) return std::nullopt;
  return (*v)[0];
}

const PartialShape& shape_of(const Endpoint& e) {
  static const auto& unknown = *new PartialShape;
  return e.node && size_t(e.index) < e.node->shapes.size() ? e.node->shapes[size_t(e.index)] : unknown;
}

DType type_of(const Endpoint& e) { return e.node->output_type(e.index); }

int num_uses(const Endpoint& e) {
  int count = 0;
  for (const Use& u : e.node->uses()) count += u.output == e.index;
  return count;
}

bool is_control_ret(const FunctionBody& body, const Node* n) {
  return std::find(body.control_rets.begin(), body.control_rets.end(), n) != body.control_rets.end();
}

void add_control_ret(FunctionBody& body, Node* n) {
  if (!is_const(*n) && !is_arg(*n) && !is_control_ret(body, n)) body.control_rets.push_back(n);
}

Node* only_reader(const FunctionBody& body, const Endpoint& e) {
  if (e.node->uses().size() != 1 || !e.node->control_outputs().empty() || is_control_ret(body, e.node)) return nullptr;
  const Use& u = e.node->uses()[0];
  return u.output == e.index ? u.node : nullptr;
}

bool same_device(const Node& a, const Node& b) { return a.device == b.device && a.assigned_device == b.assigned_device; }

Region::Region(const Graph& g) {
  std::vector<Node*> todo;
  for (Node* n : g.nodes()) {
    if (is_v1_control_flow(*n)) todo.push_back(n);
  }
  if (todo.empty()) return;
  inside_.assign(size_t(g.num_ids()), 0);
  auto reach = [&](Node* n) {
    if (!inside_[size_t(n->id())]) {
      inside_[size_t(n->id())] = 1;
      todo.push_back(n);
    }
  };
  for (Node* n : todo) inside_[size_t(n->id())] = 1;
  while (!todo.empty()) {
    Node* n = todo.back();
    todo.pop_back();
    for (const Use& u : n->uses()) reach(u.node);
    for (Node* o : n->control_outputs()) reach(o);
  }
}

void keep_extra_attrs(const Node& from, AttrMap& to) {
  if (const AttrValue* v = from.find_attr("_class")) to.insert_or_assign("_class", *v);
}

Result<Endpoint> add_const_near(Graph& g, Node* near, std::string_view suffix, Tensor value) {
  WEFT_ASSIGN(Node* n, g.add_const(g.unique_name(cat(near->name(), suffix)), std::move(value)));
  n->device = near->device;
  n->assigned_device = near->assigned_device;
  n->shapes = {n->attr<Tensor>("value").shape()};
  return Endpoint{n, 0};
}

Result<Node*> add_near(Graph& g, Node* near, std::string_view suffix, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs) {
  WEFT_ASSIGN(Node* n, g.add(g.unique_name(cat(near->name(), suffix)), op, std::move(attrs), std::move(inputs)));
  n->device = near->device;
  n->assigned_device = near->assigned_device;
  refresh_shapes(n);
  return n;
}

static constexpr std::string_view kReshape = "Reshape";

Result<Node*> add_reshape_near(Graph& g, Node* near, std::string_view suffix, Endpoint x, const std::vector<int64_t>& dims) {
  WEFT_ASSIGN(Endpoint shape, add_const_near(g, near, cat(suffix, "_shape"), Tensor::vector(dims)));
  return add_near(g, near, suffix, kReshape, {}, {x, shape});
}

Status become_reshape(Graph& g, Node* n, Endpoint x) {
  const PartialShape to = shape_of({n, 0});
  WEFT_ASSIGN(Endpoint target, add_const_near(g, n, "/shape", Tensor::vector(to.dims())));
  AttrMap attrs;
  keep_extra_attrs(*n, attrs);
  WEFT_RETURN_IF_ERROR(g.rewrite(n, kReshape, std::move(attrs), {x, target}));
  n->shapes = {to};
  return {};
}

bool bypass(FunctionBody& body, const Region& region, Node* n, const std::vector<Endpoint>& values) {
  Graph& g = *body.graph;
  auto value_of = [&](int output) { return size_t(output) < values.size() ? values[size_t(output)] : Endpoint{}; };
  for (const Endpoint& v : values) {
    if (v.node == n) return false;
  }
  const std::vector<Node*> controls = n->control_inputs();
  // Inside a region a control edge also says "this is dead", and to whom it says so must not change.
  const bool fixed = region.contains(n);
  if (fixed && !controls.empty()) return false;
  size_t readers = n->control_outputs().size();
  for (const Use& u : n->uses()) readers += value_of(u.output).node != nullptr && !is_retval(*u.node);
  if (controls.size() > 1 && controls.size() * readers > controls.size() + readers) return false;

  auto wait = [&](Node* reader) {
    for (Node* c : controls) g.add_control(c, reader);
  };
  const std::vector<Use> uses = n->uses();
  for (const Use& u : uses) {
    Endpoint v = value_of(u.output);
    if (!v.node) continue;
    g.set_input(u.node, u.input, v);
    // Results are handed out when all effects are done, so a result need not wait for them itself.
    if (!is_retval(*u.node)) wait(u.node);
    else
      for (Node* c : controls) add_control_ret(body, c);
  }
  if (!n->uses().empty()) return true;
  if (fixed && !n->control_outputs().empty()) return true;
  const std::vector<Node*> waiting = n->control_outputs();
  for (Node* o : waiting) {
    wait(o);
    for (const Endpoint& v : values) {
      if (v.node && !is_const(*v.node) && !is_arg(*v.node)) g.add_control(v.node, o);
    }
  }
  if (is_control_ret(body, n)) {
    std::erase(body.control_rets, n);
    for (Node* c : controls) add_control_ret(body, c);
    for (const Endpoint& v : values) {
      if (v.node) add_control_ret(body, v.node);
    }
  }
  g.remove(n);
  return true;
}

void free_constants(FunctionBody& body, const Region& region) {
  Graph& g = *body.graph;
  for (Node* n : g.nodes()) {
    if (!is_const(*n) || region.contains(n)) continue;
    const std::vector<Node*> controls = n->control_inputs();
    const std::vector<Use> uses = n->uses();
    const std::vector<Node*> waiting = n->control_outputs();
    const size_t readers = uses.size() + waiting.size();
    if (controls.size() > 1 && controls.size() * readers > controls.size() + readers) continue;
    for (Node* c : controls) {
      g.remove_control(c, n);
      for (const Use& u : uses) {
        if (!is_retval(*u.node)) g.add_control(c, u.node);
        else add_control_ret(body, c);
      }
      for (Node* o : waiting) g.add_control(c, o);
      if (is_control_ret(body, n)) add_control_ret(body, c);
    }
    for (Node* o : waiting) g.remove_control(n, o);
    std::erase(body.control_rets, n);
  }
}

}  // namespace weft_engine::graph
