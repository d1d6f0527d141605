#include "graph/passes/util.h"

#include <algorithm>
#include <unordered_map>

namespace weft::graph {
namespace {

enum Property : unsigned {
  kImpure = 1,         // stateless by its signature, and yet more than a function of its inputs
  kReads = 2,          // stateful, but only looks
  kForwards = 4,       // output i is input i
  kV1 = 8,             // version 1 control flow
  kElementwise = 16,
  kShrinks = 32,
  kBroadcasts = 64 | kElementwise,  // and its inputs may have different shapes
};

// What signatures do not say. One place for all passes.
constexpr std::pair<std::string_view, unsigned> kProperties[] = {
    // files, clocks, strangers' code, randomness without a seed, memory that is changed in place
    {"Abort", kImpure}, {"Batch", kImpure}, {"BatchFunction", kImpure}, {"Copy", kImpure}, {"CopyHost", kImpure},
    {"DatasetToGraph", kImpure}, {"DatasetToGraphV2", kImpure}, {"DebugGradientIdentity", kImpure}, {"DebugIdentity", kImpure}, {"DebugNanCount", kImpure},
    {"DebugNumericSummary", kImpure}, {"DebugNumericSummaryV2", kImpure}, {"FakeParam", kImpure},
    {"FractionalAvgPool", kImpure}, {"FractionalMaxPool", kImpure}, {"GenerateVocabRemapping", kImpure},
    {"GetDeadline", kImpure}, {"ImmutableConst", kImpure}, {"InplaceAdd", kImpure}, {"InplaceSub", kImpure},
    {"InplaceUpdate", kImpure}, {"MatchingFiles", kImpure}, {"Placeholder", kImpure}, {"PlaceholderV2", kImpure},
    {"PyFuncStateless", kImpure}, {"ReadFile", kImpure}, {"RegisterDataset", kImpure},
    {"RegisterDatasetV2", kImpure}, {"TensorArrayCloseV2", kImpure}, {"TensorArrayConcatV2", kImpure},
    {"TensorArrayGatherV2", kImpure}, {"TensorArrayReadV2", kImpure}, {"TensorArrayScatterV2", kImpure},
    {"TensorArraySizeV2", kImpure}, {"TensorArraySplitV2", kImpure}, {"TensorArrayWriteV2", kImpure},
    {"Unbatch", kImpure}, {"UnbatchGrad", kImpure}, {"XlaReplicaId", kImpure}, {"_ParallelConcatUpdate", kImpure},

    {"ReadVariableOp", kReads}, {"ResourceGather", kReads}, {"ResourceGatherNd", kReads}, {"VarIsInitializedOp", kReads},
    {"VariableShape", kReads}, {"LookupTableFindV2", kReads}, {"LookupTableSizeV2", kReads},

    {"Identity", kForwards | kElementwise}, {"IdentityN", kForwards}, {"PreventGradient", kForwards | kElementwise},
    {"Snapshot", kForwards | kElementwise}, {"StopGradient", kForwards | kElementwise}, {"_EagerConst", kForwards}, {"PlaceholderWithDefault", kForwards},
    {"_ArrayToList", kForwards}, {"_ListToArray", kForwards},

    {"ControlTrigger", kV1}, {"Enter", kV1}, {"Exit", kV1}, {"LoopCond", kV1}, {"Merge", kV1}, {"NextIteration", kV1},
    {"RefEnter", kV1}, {"RefExit", kV1}, {"RefMerge", kV1}, {"RefNextIteration", kV1}, {"RefSwitch", kV1}, {"RefSelect", kV1},
    {"Switch", kV1}, {"_SwitchN", kV1}, {"_XlaMerge", kV1},

    {"Abs", kElementwise}, {"Add", kBroadcasts}, {"AddV2", kBroadcasts}, {"Cast", kElementwise}, {"Ceil", kElementwise},
    {"Conj", kElementwise}, {"Cos", kElementwise}, {"Div", kBroadcasts}, {"DivNoNan", kBroadcasts}, {"Elu", kElementwise},
    {"Equal", kBroadcasts}, {"Erf", kElementwise}, {"Erfc", kElementwise}, {"Exp", kElementwise}, {"Expm1", kElementwise},
    {"Floor", kElementwise}, {"FloorDiv", kBroadcasts}, {"FloorMod", kBroadcasts}, {"Greater", kBroadcasts},
    {"GreaterEqual", kBroadcasts}, {"Inv", kElementwise}, {"IsFinite", kElementwise}, {"IsInf", kElementwise}, {"IsNan", kElementwise},
    {"LeakyRelu", kElementwise}, {"Less", kBroadcasts}, {"LessEqual", kBroadcasts}, {"Log", kElementwise},
    {"Log1p", kElementwise}, {"LogicalAnd", kBroadcasts}, {"LogicalNot", kElementwise}, {"LogicalOr", kBroadcasts},
    {"Maximum", kBroadcasts}, {"Minimum", kBroadcasts}, {"Mul", kBroadcasts}, {"MulNoNan", kBroadcasts}, {"Neg", kElementwise},
    {"NotEqual", kBroadcasts}, {"Pow", kBroadcasts}, {"RealDiv", kBroadcasts}, {"Reciprocal", kElementwise}, {"Relu", kElementwise},
    {"Relu6", kElementwise}, {"ReluGrad", kElementwise}, {"Rint", kElementwise}, {"Round", kElementwise}, {"Rsqrt", kElementwise},
    {"RsqrtGrad", kElementwise}, {"SelectV2", kBroadcasts}, {"Selu", kElementwise}, {"Sigmoid", kElementwise}, {"SigmoidGrad", kElementwise},
    {"Sign", kElementwise}, {"Sin", kElementwise}, {"Softplus", kElementwise}, {"Softsign", kElementwise}, {"Sqrt", kElementwise},
    {"SqrtGrad", kElementwise}, {"Square", kElementwise}, {"SquaredDifference", kBroadcasts}, {"Sub", kBroadcasts}, {"Tanh", kElementwise},
    {"TanhGrad", kElementwise}, {"Xdivy", kBroadcasts}, {"Xlogy", kBroadcasts},

    {"BroadcastGradientArgs", kShrinks}, {"ListDiff", kShrinks}, {"SetDiff1d", kShrinks}, {"Unique", kShrinks}, {"UniqueV2", kShrinks},
    {"Where", kShrinks},
};

unsigned properties(const Node& n) {
  static const auto* table = [] {
    auto* t = new std::unordered_map<std::string_view, unsigned>();
    for (const auto& [op, p] : kProperties) (*t)[op] |= p;
    return t;
  }();
  auto it = table->find(n.op());
  return it == table->end() ? 0 : it->second;
}

}  // namespace

bool is_const(const Node& n) { return n.op() == "Const"; }
bool is_read(const Node& n) { return properties(n) & kReads; }
bool forwards_inputs(const Node& n) { return properties(n) & kForwards && !n.is_function_call(); }
bool is_v1_control_flow(const Node& n) { return properties(n) & kV1; }
bool is_elementwise(const Node& n) { return properties(n) & kElementwise; }
bool broadcasts(const Node& n) { return (properties(n) & kBroadcasts) == kBroadcasts; }
bool shrinks(const Node& n) { return properties(n) & kShrinks; }

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
  const unsigned p = properties(n);
  if (p & (kImpure | kV1)) return false;
  return (p & kForwards) || !has_type(n, DType::kResource);
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
  static const PartialShape unknown;
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
  if (!is_const(*n) && n->op() != "_Arg" && !is_control_ret(body, n)) body.control_rets.push_back(n);
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
  WEFT_ASSIGN(Node * n, g.add_const(g.unique_name(cat(near->name(), suffix)), std::move(value)));
  n->device = near->device;
  n->assigned_device = near->assigned_device;
  n->shapes = {n->attr<Tensor>("value").shape()};
  return Endpoint{n, 0};
}

Result<Node*> add_near(Graph& g, Node* near, std::string_view suffix, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs) {
  WEFT_ASSIGN(Node * n, g.add(g.unique_name(cat(near->name(), suffix)), op, std::move(attrs), std::move(inputs)));
  n->device = near->device;
  n->assigned_device = near->assigned_device;
  refresh_shapes(n);
  return n;
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
  for (const Use& u : n->uses()) readers += value_of(u.output).node != nullptr && u.node->op() != "_Retval";
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
    if (u.node->op() != "_Retval") wait(u.node);
    else for (Node* c : controls) add_control_ret(body, c);
  }
  if (!n->uses().empty()) return true;
  if (fixed && !n->control_outputs().empty()) return true;
  const std::vector<Node*> waiting = n->control_outputs();
  for (Node* o : waiting) {
    wait(o);
    for (const Endpoint& v : values) {
      if (v.node && !is_const(*v.node) && v.node->op() != "_Arg") g.add_control(v.node, o);
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
        if (u.node->op() != "_Retval") g.add_control(c, u.node);
        else add_control_ret(body, c);
      }
      for (Node* o : waiting) g.add_control(c, o);
      if (is_control_ret(body, n)) add_control_ret(body, c);
    }
    for (Node* o : waiting) g.remove_control(n, o);
    std::erase(body.control_rets, n);
  }
}

}  // namespace weft::graph
