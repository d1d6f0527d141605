// Rules of ops that C++ sources register: an op in terms of other ops, for its gradient (run or traced) or for the compiler.
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "autodiff/gradients.h"
#include "capi/cc_internal.h"
#include "capi/cc_kernels.h"
#include "engine/registration.h"
#include "graph/function_body.h"
#include "graph/function_library.h"
#include "io/graph_def.h"
#include "op/gradient.h"
#include "op/lower.h"

using namespace weft_engine::capi;  // NOLINT
using namespace weft_engine::op;    // NOLINT

struct weft_value {
  Value value;      // of a gradient
  Lowered lowered;  // of the compiler
  DType dtype = DType::kInvalid;
};

struct weft_rule {
  const GradContext* gradient = nullptr;
  LowerContext* lower = nullptr;
  const NodeInfo* node = nullptr;
  Status status;
  std::deque<weft_value> values;
  std::vector<weft_value*> results;

  weft_value* fail(Status s) {
    if (status.ok()) status = std::move(s);
    return nullptr;
  }
  weft_value* add(Value v) {
    if (!v.valid()) return nullptr;
    const DType dtype = v.dtype();
    return &values.emplace_back(weft_value{std::move(v), {}, dtype});
  }
  weft_value* add(Lowered v) {
    if (v.kind() != Lowered::Kind::kTensor) return fail(unimplemented("a rule for the compiler works on tensors alone"));
    const DType dtype = v.tensor()->type.dtype;
    return &values.emplace_back(weft_value{{}, std::move(v), dtype});
  }
};

namespace {

struct RuleFunction {
  weft_rule_function f = nullptr;
  void* data = nullptr;
};

Status run_rule(const RuleFunction& r, weft_rule& rule) {
  WEFT_RETURN_IF_ERROR(caught([&] { return taken(r.f(r.data, &rule)); }));
  return rule.status;
}

Grads run_gradient(const RuleFunction& r, const GradContext& g) {
  weft_rule rule;
  rule.gradient = &g;
  rule.node = &g.node();
  rule.results.resize(size_t(g.num_inputs()));
  if (Status s = run_rule(r, rule); !s.ok()) return g.fail(std::move(s));
  Grads out(rule.results.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (rule.results[i]) out[i] = rule.results[i]->value;
  }
  return out;
}

// By op: GradRule and LowerRule are functions without state.
struct OpRules {
  RuleFunction gradient, lowering;
};
std::shared_mutex rules_mutex;
auto& rules_by_op() {
  static auto* all = new std::map<std::string, OpRules, std::less<>>;
  return *all;
}
OpRules rules_of(std::string_view op) {
  const std::shared_lock lock(rules_mutex);
  const auto it = rules_by_op().find(op);
  return it == rules_by_op().end() ? OpRules() : it->second;
}

Grads gradient_rule(const GradContext& g) { return run_gradient(rules_of(g.node().op()).gradient, g); }

LoweredList lowering_rule(LowerContext& l) {
  weft_rule rule;
  rule.lower = &l;
  rule.node = &l.node;
  rule.results.resize(size_t(l.node.num_outputs()));
  Status s = run_rule(rules_of(l.node.op()).lowering, rule);
  LoweredList out;
  for (size_t i = 0; s.ok() && l.ok() && i < rule.results.size(); ++i) {
    if (rule.results[i]) {
      out.push_back(rule.results[i]->lowered);
    } else {
      s = internal_error("the lowering of ", l.node.op(), " gave no value for output ", i);
    }
  }
  return s.ok() ? out : l.fail(std::move(s));
}

Result<AttrMap> attrs_of(const weft_rule_attr* attrs, size_t n) {
  AttrMap out;
  for (size_t i = 0; i < n; ++i) {
    const weft_rule_attr& a = attrs[i];
    AttrValue value;
    switch (a.kind) {
      case WEFT_ATTR_INT: value = a.number; break;
      case WEFT_ATTR_BOOL: value = a.number != 0; break;
      case WEFT_ATTR_TYPE: value = static_cast<DType>(a.number); break;
      case WEFT_ATTR_FLOAT: value = a.real; break;
      case WEFT_ATTR_STRING: value = string_of(a.text); break;
      case int(WEFT_ATTR_LIST) + int(WEFT_ATTR_INT): value = std::vector<int64_t>(a.list, a.list + a.size); break;
      default: return invalid_argument("attribute ", view_of(a.name), " is of a kind that rules do not set");
    }
    out[string_of(a.name)] = std::move(value);
  }
  return out;
}

Result<Lowered> lower_op(LowerContext& l, std::string_view op, std::vector<Lowered> inputs, AttrMap attrs, int output) {
  WEFT_ASSIGN(const OpSpec* spec, weft_engine::engine::Engine::get().registry().get(op));
  if (!spec->lower) return unimplemented("the compiler has no rule for ", op, ", of which the lowering of ", l.node.op(), " is made");
  std::vector<DType> types;
  for (const Lowered& v : inputs) types.push_back(v.tensor()->type.dtype);
  WEFT_ASSIGN(NodeInfo node, NodeInfo::make(*spec, l.node.name(), std::move(attrs), types));
  LowerContext context(l.b, l.host, node, inputs);
  LoweredList out = spec->lower(context);
  WEFT_RETURN_IF_ERROR(l.b.status());
  if (output < 0 || size_t(output) >= out.size()) return invalid_argument(op, " has no output ", output);
  return out[size_t(output)];
}

}  // namespace

namespace weft_engine::capi {
void set_rules(OpSpec& spec, const weft_op_def& def) {
  if (!def.gradient && !def.lowering) return;
  const std::unique_lock lock(rules_mutex);
  rules_by_op()[std::string(spec.name)] = {{def.gradient, def.gradient_data}, {def.lowering, def.lowering_data}};
  if (def.gradient) spec.grad = &gradient_rule;
  if (def.lowering) spec.lower = &lowering_rule;
}
}  // namespace weft_engine::capi

const weft_node* weft_rule_node(weft_rule* r) { return as_c(*r->node); }

weft_value* weft_rule_value(weft_rule* r, int which, int i) {
  const int n = which == WEFT_RULE_INPUT ? r->node->num_inputs() : r->node->num_outputs();
  if (i < 0 || i >= n) return r->fail(invalid_argument("the rule of ", r->node->op(), " asks for value ", i, " of ", n));
  if (r->lower) {
    if (which != WEFT_RULE_INPUT) return r->fail(invalid_argument("the lowering of ", r->node->op(), " has inputs alone"));
    return r->add(r->lower->input(i));
  }
  const GradContext& g = *r->gradient;
  weft_value* v = r->add(which == WEFT_RULE_INPUT ? g.x(i) : which == WEFT_RULE_OUTPUT ? g.y(i) : g.dy(i));
  return v || g.emitter().failed() ? v : r->fail(invalid_argument("value ", i, " of ", r->node->op(), " is not there"));
}
weft_value* weft_rule_constant(weft_rule* r, const TF_Tensor* t) {
  if (!t || !t->tensor.valid()) return r->fail(invalid_argument("a constant without a value"));
  return r->lower ? r->add(Lowered(r->lower->b.constant(t->tensor))) : r->add(r->gradient->constant(t->tensor));
}
weft_value* weft_rule_apply(weft_rule* r, weft_text op, weft_value* const* inputs, size_t n, const weft_rule_attr* attrs, size_t num_attrs,
                            int output) {
  weft_value* out = nullptr;
  Status s = caught([&]() -> Status {
    WEFT_RETURN_IF_ERROR(r->status);
    for (size_t i = 0; i < n; ++i) {
      if (!inputs[i]) return invalid_argument("the rule of ", r->node->op(), " gives ", view_of(op), " an input without a value");
    }
    WEFT_ASSIGN(AttrMap given, attrs_of(attrs, num_attrs));
    if (r->lower) {
      std::vector<Lowered> values;
      for (size_t i = 0; i < n; ++i) values.push_back(inputs[i]->lowered);
      WEFT_ASSIGN(Lowered v, lower_op(*r->lower, view_of(op), std::move(values), std::move(given), output));
      out = r->add(std::move(v));
      return {};
    }
    std::vector<Value> values;
    for (size_t i = 0; i < n; ++i) values.push_back(inputs[i]->value);
    auto results = r->gradient->apply(view_of(op), values, std::move(given));
    if (r->gradient->emitter().failed()) return {};  // its error is the rule's
    if (output < 0 || size_t(output) >= results.size()) return invalid_argument(view_of(op), " has no output ", output);
    out = r->add(results[size_t(output)]);
    return {};
  });
  return s.ok() ? out : r->fail(std::move(s));
}
int weft_value_dtype(weft_value* v) { return int(v->dtype); }
void weft_rule_result(weft_rule* r, int i, weft_value* v) {
  if (i < 0 || size_t(i) >= r->results.size()) {
    r->fail(invalid_argument("the rule of ", r->node->op(), " gives a result ", i, " of ", r->results.size()));
  } else {
    r->results[size_t(i)] = v;
  }
}

namespace {
// The function that `f` gives for a node, with the attributes of the node.
Result<weft_engine::graph::FunctionBody> gradient_body(weft_function_gradient f, void* data, const NodeInfo& node) {
  if (!f) return weft_engine::graph::FunctionBody();
  const std::unique_ptr<TF_Buffer, void (*)(TF_Buffer*)> bytes(TF_NewBuffer(), TF_DeleteBuffer);
  WEFT_RETURN_IF_ERROR(caught([&] { return taken(f(data, as_c(node), bytes.get())); }));
  WEFT_ASSIGN(const auto def, weft_engine::io::decode_function_def({static_cast<const char*>(bytes->data), bytes->length}));
  AttrMap attrs;
  for (const auto& attr : node.spec().signature().attrs) {
    if (const AttrValue* value = node.find_attr(attr.name)) attrs[attr.name] = *value;
  }
  const auto& registry = weft_engine::engine::Engine::get().registry();
  return weft_engine::graph::instantiate_function(def, attrs, registry, std::make_shared<weft_engine::graph::FunctionLibrary>());
}
}  // namespace

void weft_register_function_gradient(weft_text op, weft_function_gradient f, void* data) {
  weft_engine::engine::note_registration_error(caught([&] {
    return weft_engine::autodiff::register_gradient_function(string_of(op), [f, data](const NodeInfo& node) { return gradient_body(f, data, node); });
  }));
}

void weft_register_gradient(weft_text op, weft_rule_function f, void* data) {
  weft_engine::engine::note_registration_error(caught([&] {
    const RuleFunction r{f, data};
    return weft_engine::autodiff::register_gradient(string_of(op), [r](const GradContext& g) { return r.f ? run_gradient(r, g) : g.none(); });
  }));
}
