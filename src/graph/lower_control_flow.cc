#include "graph/lower_control_flow.h"

#include <algorithm>

#include "core/error_notes.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"

namespace weft_engine::graph {

namespace {

class Lowering {
 public:
  Lowering(FunctionBody& body, Node* node) : body_(body), g_(*body.graph), node_(node) {
    for (int i = 0; i < node->num_outputs(); ++i) output_types_.push_back(base_type(node->output_type(i)));
  }

  Status run() { return is_while(*node_) ? loop() : branch(); }

 private:
  Result<Node*> add(std::string_view name, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs, const std::vector<Node*>& controls = {},
                    const std::vector<DType>& pending = {}) {
    auto made = g_.add(g_.unique_name(cat(node_->name(), "/", name)), op, std::move(attrs), std::move(inputs), controls, pending);
    if (made.ok()) (*made)->device = node_->device;
    return made;
  }
  Result<Node*> add(std::string_view name, Role role, AttrMap attrs, std::vector<Endpoint> inputs, const std::vector<Node*>& controls = {},
                    const std::vector<DType>& pending = {}) {
    return add(name, op_of(role), std::move(attrs), std::move(inputs), controls, pending);
  }
  // Named like its op.
  Result<Node*> add(Role role, AttrMap attrs, std::vector<Endpoint> inputs, const std::vector<Node*>& controls = {},
                    const std::vector<DType>& pending = {}) {
    return add(op_of(role), role, std::move(attrs), std::move(inputs), controls, pending);
  }
  static AttrMap of(DType type) { return {{"T", type}}; }
  static DType type_of(const Endpoint& e) { return base_type(e.node->output_type(e.index)); }

  Result<Node*> call(std::string_view name, FunctionAttr f, std::vector<Endpoint> inputs, std::vector<DType> results, Node* pivot) {
    std::vector<DType> types;
    for (const Endpoint& e : inputs) types.push_back(type_of(e));
    AttrMap attrs{{"Tin", std::move(types)}, {"Tout", std::move(results)}, {"f", std::move(f)}};
    return add(name, op_of(Role::kCall, node_->spec().stateful), std::move(attrs), std::move(inputs), {pivot});
  }

  Result<FunctionBody> open(const FunctionAttr& f) {
    WEFT_ASSIGN(auto def, g_.library()->find(f.name));
    static const AttrMap& kNone = *new AttrMap;
    return instantiate_function(*def, f.attrs ? *f.attrs : kNone, g_.registry(), g_.library());
  }

  // The arguments of a loop's body that are its results, unchanged.
  Result<std::vector<bool>> unchanged(const FunctionAttr& f) {
    std::vector<bool> out(size_t(node_->num_inputs()), false);
    WEFT_ASSIGN(FunctionBody b, open(f));
    if (b.args.size() != out.size() || b.rets.size() != out.size())
      return core::names_node(invalid_argument("{{node ", node_->name(), "}} has ", out.size(), " values, its body ", f.name, " ", b.args.size(),
                                               " arguments and ", b.rets.size(), " results"),
                              node_->name());
    for (size_t i = 0; i < out.size(); ++i) out[i] = b.rets[i]->input(0).node == b.args[i];
    return out;
  }

  Status loop() {
    const FunctionAttr cond = node_->attr<FunctionAttr>("cond"), inner = node_->attr<FunctionAttr>("body");
    WEFT_ASSIGN(const FunctionBody asked, open(cond));
    if (asked.ret_types != std::vector{DType::kBool})
      return core::names_node(unimplemented("a loop over several tasks whose condition is not a bool: {{node ", node_->name(), "}}"), node_->name());
    WEFT_ASSIGN(const std::vector<bool> constant, unchanged(inner));
    const std::string frame = g_.unique_name(node_->name());
    const size_t n = size_t(node_->num_inputs());
    const std::vector<Node*> before = node_->control_inputs();
    std::vector<Endpoint> in(n), now(n), then(n);
    std::vector<Node*> merges(n, nullptr), ends;
    auto enter = [&](const Endpoint& e, DType type, bool is_constant) {
      AttrMap attrs = of(type);
      attrs["frame_name"] = frame;
      attrs["is_constant"] = is_constant;
      if (const AttrValue* limit = node_->find_attr("parallel_iterations")) attrs["parallel_iterations"] = *limit;
      return add(Role::kEnter, std::move(attrs), {e}, before);
    };
    auto merge = [&](const Endpoint& e, DType type) {
      AttrMap attrs = of(type);
      attrs["N"] = int64_t(2);
      return add(Role::kMerge, std::move(attrs), {e, {}}, {}, {type, type});
    };
    for (size_t i = 0; i < n; ++i) {
      const DType type = base_type(node_->input_type(int(i)));
      WEFT_ASSIGN(Node* entered, enter(node_->input(int(i)), type, constant[i]));
      in[i] = now[i] = {entered, 0};
      if (constant[i]) continue;
      WEFT_ASSIGN(merges[i], merge(in[i], type));
      now[i] = {merges[i], 0};
    }
    // What runs once in each iteration, whatever the values are.
    WEFT_ASSIGN(Node* nothing, g_.add_const(g_.unique_name(cat(node_->name(), "/start")), *Tensor::zeros(DType::kFloat, {0})));
    nothing->device = node_->device;
    for (const Endpoint& e : node_->inputs()) g_.add_control(e.node, nothing);  // in the loop around this one, where there is one
    WEFT_ASSIGN(Node* control_enter, enter({nothing, 0}, DType::kFloat, false));
    WEFT_ASSIGN(Node* control_merge, merge({control_enter, 0}, DType::kFloat));
    WEFT_ASSIGN(Node* test, call("cond", cond, now, {DType::kBool}, control_merge));
    WEFT_ASSIGN(Node* goes_on, add(Role::kLoopCond, {}, {{test, 0}}));
    WEFT_ASSIGN(Node* control_switch, add(Role::kSwitch, of(DType::kFloat), {{control_merge, 0}, {goes_on, 0}}));
    WEFT_ASSIGN(Node* pivot, add("pivot", Role::kIdentity, of(DType::kFloat), {{control_switch, 1}}));
    std::vector<Node*> switches(n, nullptr);
    for (size_t i = 0; i < n; ++i) {
      then[i] = now[i];
      if (constant[i]) continue;
      WEFT_ASSIGN(switches[i], add(Role::kSwitch, of(type_of(now[i])), {now[i], {goes_on, 0}}));
      then[i] = {switches[i], 1};
    }
    WEFT_ASSIGN(Node* turn, call("body", inner, then, output_types_, pivot));
    // An iteration's effects come before the next one.
    WEFT_ASSIGN(Node* control_next, add(Role::kNextIteration, of(DType::kFloat), {{pivot, 0}}, {turn}));
    g_.set_input(control_merge, 1, {control_next, 0});
    WEFT_ASSIGN(Node* control_exit, add(Role::kExit, of(DType::kFloat), {{control_switch, 0}}));
    ends.push_back(control_exit);
    for (size_t i = 0; i < n; ++i) {
      if (constant[i]) {
        g_.replace_uses({node_, int(i)}, node_->input(int(i)));
        continue;
      }
      WEFT_ASSIGN(Node* next, add(Role::kNextIteration, of(output_types_[i]), {{turn, int(i)}}));
      g_.set_input(merges[i], 1, {next, 0});
      WEFT_ASSIGN(Node* exit, add(Role::kExit, of(output_types_[i]), {{switches[i], 0}}));
      g_.replace_uses({node_, int(i)}, {exit, 0});
    }
    return replace(std::move(ends));
  }

  Status branch() {
    const std::vector<FunctionAttr> functions = branches_of(*node_);
    const Endpoint choice = node_->input(0);
    const bool two = !is_case();
    const size_t count = functions.size(), n = size_t(node_->num_inputs()) - 1;
    // By branch: then_branch is the output for true.
    auto output = [&](size_t b) { return two ? int(1 - b) : int(b); };
    auto split = [&](const Endpoint& e, const std::vector<Node*>& controls) {
      AttrMap attrs = of(type_of(e));
      if (!two) attrs["num_outs"] = int64_t(count);
      return add(two ? Role::kSwitch : Role::kSwitchN, std::move(attrs), {e, choice}, controls);
    };
    WEFT_ASSIGN(Node* pivots, split(choice, node_->control_inputs()));
    std::vector<Node*> switches;
    for (size_t i = 0; i < n; ++i) {
      WEFT_ASSIGN(Node* s, split(node_->input(int(i) + 1), {}));
      switches.push_back(s);
    }
    std::vector<Node*> calls;
    std::vector<Endpoint> ended;
    for (size_t b = 0; b < count; ++b) {
      WEFT_ASSIGN(Node* pivot, add("pivot", Role::kIdentity, of(type_of(choice)), {{pivots, output(b)}}));
      std::vector<Endpoint> inputs;
      for (Node* s : switches) inputs.push_back({s, output(b)});
      WEFT_ASSIGN(Node* made, call(cat("branch_", b), functions[b], std::move(inputs), output_types_, pivot));
      WEFT_ASSIGN(Node* end, add("end", Role::kIdentity, of(type_of(choice)), {{pivot, 0}}, {made}));
      calls.push_back(made);
      ended.push_back({end, 0});
    }
    auto merge = [&](std::vector<Endpoint> inputs, DType type) {
      AttrMap attrs = of(type);
      attrs["N"] = int64_t(inputs.size());
      return add(Role::kMerge, std::move(attrs), std::move(inputs));
    };
    WEFT_ASSIGN(Node* end, merge(ended, type_of(choice)));
    for (size_t i = 0; i < output_types_.size(); ++i) {
      std::vector<Endpoint> results;
      for (Node* c : calls) results.push_back({c, int(i)});
      WEFT_ASSIGN(Node* merged, merge(std::move(results), output_types_[i]));
      g_.replace_uses({node_, int(i)}, {merged, 0});
    }
    return replace({end});
  }

  bool is_case() const { return role_of(*node_) == Role::kCase; }

  // Who waited for the node waits for these.
  Status replace(std::vector<Node*> ends) {
    WEFT_ASSIGN(Node* after, add("done", Role::kNoOp, {}, {}, ends));
    g_.replace_controls(node_, after);
    std::replace(body_.control_rets.begin(), body_.control_rets.end(), node_, after);
    g_.remove(node_);
    return {};
  }

  FunctionBody& body_;
  Graph& g_;
  Node* const node_;
  std::vector<DType> output_types_;
};

}  // namespace

bool can_lower(const Node& node) {
  if (is_branch(node)) return base_type(node.input_type(0)) == (role_of(node) == Role::kCase ? DType::kInt32 : DType::kBool);
  return is_while(node);
}

Status lower_control_flow(FunctionBody& body, Node* node) { return Lowering(body, node).run(); }

}  // namespace weft_engine::graph
