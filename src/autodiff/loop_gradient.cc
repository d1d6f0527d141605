// The gradient of While: the loop keeps what its backward pass needs in lists, one element an iteration, and counts; the gradient
// is a loop that runs as many times and takes the elements from behind.
//
// Variables that the body passes on unchanged are read from in front of the loop, not kept; their gradients are sums over the
// iterations. Of the others those are carried back that the gradient reaches.
#include <algorithm>

#include "autodiff/pack.h"
#include "autodiff/split.h"
#include "core/error_notes.h"
#include "graph/node_traits.h"
#include "graph/passes/loops.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

namespace {

PartialShape known_shape(const Endpoint& e) {
  return e.node && size_t(e.index) < e.node->shapes.size() ? e.node->shapes[size_t(e.index)] : PartialShape();
}

Tensor shape_tensor(const PartialShape& s) {
  if (!s.has_rank()) return Tensor::scalar<int32_t>(-1);
  std::vector<int32_t> dims;
  for (int64_t d : s.dims()) dims.push_back(d > INT32_MAX ? -1 : int32_t(d));
  return Tensor::vector(dims);
}

}  // namespace

// How a loop is differentiated: functions of its library, and what its variables are for. It does for all loops that are asked alike.
struct LoopPlan {
  std::vector<bool> invariant;  // variables that the body passes on unchanged
  std::vector<int> carried;  // variables whose gradients go from iteration to iteration; none: the plan ends here
  struct Summed {
    int variable;
    DType type;
  };
  std::vector<Summed> summed;  // ... and those that are summed
  int counter = -1;  // the variable that counts
  bool own_counter = false, counts_down = false;
  std::optional<Tensor> most;  // iterations at most
  int most_input = -1;  // ... or the input that says it
  struct Kept {
    int variable;  // of the loop: the list
    bool added;  // it was not there
    PartialShape shape;
    DType type;
  };
  std::vector<Kept> kept;
  std::vector<int> captured;  // variables that the backward pass reads
  FunctionAttr body, cond;  // of the loop with its further variables, where there are some
  FunctionAttr backward_body, backward_cond;
  bool stateful_backward = false;
};

namespace {

// What a plan depends on, beside the library.
std::string request_of(Backward& b, const Flow& flow) {
  const Node& node = *flow.node;
  const auto& body = node.attr<FunctionAttr>("body");
  const auto& cond = node.attr<FunctionAttr>("cond");
  std::string key = b.scope();
  for (const FunctionAttr* f : {&body, &cond}) {
    key += cat("|", f->name);
    if (!f->attrs) continue;
    for (const auto& [name, value] : *f->attrs) key += cat(",", name, "=", value.to_string());
  }
  for (int i = 0; i < node.num_inputs(); ++i) {
    const auto at = size_t(i);
    const Endpoint x = node.input(i), source = same_value(x);
    key += cat("|", int(flow.wanted[at]), ",", flow.dys[at].valid() ? int(flow.dys[at].dtype()) : -1, ",", known_shape({flow.node, i}), ",",
               known_shape(x));
    if (role_of(*source.node) == Role::kEmptyList) key += ",list";
    if (const auto n = const_int(source)) key += cat(",=", *n);
    const auto add_handle = [&](const auto& handles, size_t k) {
      if (k < handles.size() && handles[k]) key += cat(",", int(handles[k]->dtype), handles[k]->shape);
    };
    add_handle(node.handles, at);
    add_handle(x.node->handles, size_t(x.index));
  }
  return key;
}

class LoopPlanner {
 public:
  LoopPlanner(Backward& b, const Flow& flow) : b_(b), flow_(flow), node_(flow.node), graph_(b.graph()), n_(size_t(node_->num_inputs())) {}

  Result<std::shared_ptr<const LoopPlan>> run() {
    WEFT_RETURN_IF_ERROR(open());
    WEFT_RETURN_IF_ERROR(differentiate_body());
    if (!plan_->carried.empty()) {
      WEFT_RETURN_IF_ERROR(sum_invariants());
      WEFT_ASSIGN(parts_, split(*g_, results_, [&](const Endpoint& e) { return is_invariant_arg(e); }));
      WEFT_RETURN_IF_ERROR(keep());
      WEFT_RETURN_IF_ERROR(count());
      find_most_iterations();
      WEFT_RETURN_IF_ERROR(define_forward());
      WEFT_RETURN_IF_ERROR(define_backward());
    }
    return std::shared_ptr<const LoopPlan>(plan_);
  }

 private:
  bool is_invariant_arg(const Endpoint& e) const {
    return is_arg(*e.node) && e.node->attr<int64_t>("index") < int64_t(n_) && plan_->invariant[size_t(e.node->attr<int64_t>("index"))];
  }

  Status open() {
    body_f_ = node_->attr<FunctionAttr>("body");
    WEFT_ASSIGN(cond_, open_function(graph_.registry(), graph_.library(), node_->attr<FunctionAttr>("cond")));
    WEFT_ASSIGN(FunctionBody body, open_function(graph_.registry(), graph_.library(), body_f_));
    if (cond_.args.size() != n_ || cond_.rets.size() != 1 || body.args.size() != n_ || body.rets.size() != n_)
      return invalid_argument("the functions of a loop with ", n_, " variables take ", cond_.args.size(), " and ", body.args.size(),
                              " arguments and give ", cond_.rets.size(), " and ", body.rets.size(), " results");
    for (size_t i = 0; i < n_; ++i) plan_->invariant.push_back(same_value(body.rets[i]->input(0)) == Endpoint{body.args[i], 0});
    find_useful(body);
    return {};
  }

  // Variables from which a gradient may get to one that is asked for, in this iteration or an earlier one.
  void find_useful(const FunctionBody& body) {
    useful_ = flow_.wanted;
    for (bool again = true; again;) {
      again = false;
      std::vector<char> seen(size_t(body.graph->num_ids()), 0);
      std::vector<Node*> todo;
      for (size_t i = 0; i < n_; ++i) {
        if (useful_[i]) todo.push_back(body.args[i]);
      }
      while (!todo.empty()) {
        Node* m = todo.back();
        todo.pop_back();
        if (std::exchange(seen[size_t(m->id())], 1)) continue;
        for (const Use& u : m->uses()) todo.push_back(u.node);
      }
      for (size_t i = 0; i < n_; ++i) {
        if (useful_[i] || plan_->invariant[i] || !seen[size_t(body.rets[i]->id())] || !differentiable(body.arg_types[i])) continue;
        useful_[i] = true;
        again = true;
      }
    }
  }

  // The variables that carry gradients backwards: those that come with one, and those that get one from them.
  Status differentiate_body() {
    std::vector<DType> dys(n_, DType::kInvalid);
    for (size_t i = 0; i < n_; ++i) {
      if (flow_.dys[i].valid() && !plan_->invariant[i]) dys[i] = flow_.dys[i].dtype();
    }
    ArgShapes known{node_->shapes, node_->handles};
    for (size_t i = 0; i < n_ && i < known.handles.size(); ++i) {
      const Endpoint x = node_->input(int(i));
      if (plan_->invariant[i] && !known.handles[i] && size_t(x.index) < x.node->handles.size()) known.handles[i] = x.node->handles[size_t(x.index)];
    }
    for (bool again = true; again;) {
      again = false;
      if (std::all_of(dys.begin(), dys.end(), [](DType t) { return t == DType::kInvalid; })) return {};
      WEFT_ASSIGN(BodyGradient g, differentiate(graph_.registry(), graph_.library(), body_f_, useful_, dys, known, b_.inside(), b_.scope()));
      g_ = std::make_unique<BodyGradient>(std::move(g));
      for (size_t i = 0; i < n_; ++i) {
        if (plan_->invariant[i] || !g_->grads[i].valid() || dys[i] != DType::kInvalid) continue;
        dys[i] = g_->grads[i].dtype();
        again = true;
      }
    }
    for (size_t i = 0; i < n_; ++i) {
      if (dys[i] == DType::kInvalid) continue;
      plan_->carried.push_back(int(i));
      Value grad = g_->grads[i];
      // The next iteration's value does not depend on this one's.
      if (!grad.valid()) grad = zeros_like(g_->emitter->wrap({g_->dys[i], 0}));
      WEFT_RETURN_IF_ERROR(g_->emitter->take_status());
      results_.push_back(GraphEmitter::unwrap(grad));
    }
    return {};
  }

  Status sum_invariants() {
    for (size_t i = 0; i < n_; ++i) {
      if (!plan_->invariant[i]) continue;
      const Value part = g_->grads[i];
      if (!part.valid() || !flow_.wanted[i]) continue;
      WEFT_ASSIGN(Node* arg, g_->add_arg(cat("gradients/sum_", i), part.dtype(), part.shape()));
      const Value so_far = g_->emitter->wrap({arg, 0});
      const Value both[] = {so_far, part};
      const Value sum = part.dtype() == DType::kVariant ? add_n(both) : so_far + part;
      WEFT_RETURN_IF_ERROR(g_->emitter->take_status());
      plan_->summed.push_back({int(i), part.dtype()});
      sums_.push_back(arg);
      results_.push_back(GraphEmitter::unwrap(sum));
    }
    return {};
  }

  // A list variable of the loop that gets this value in every iteration; -1 if there is none yet.
  int list_of(const Endpoint& value) const {
    for (const Use& u : value.node->uses()) {
      if (u.output != value.index || u.input != 1 || role_of(*u.node) != Role::kListPush) continue;
      const Endpoint list = same_value(u.node->input(0));
      if (!is_arg(*list.node)) continue;
      const auto k = list.node->attr<int64_t>("index");
      if (k < int64_t(n_) && same_value(g_->body.rets[size_t(k)]->input(0)) == Endpoint{u.node, 0} &&
          role_of(*same_value(node_->input(int(k))).node) == Role::kEmptyList)
        return int(k);
    }
    return -1;
  }

  // Puts what the backward pass needs into lists.
  Status keep() {
    GraphEmitter& e = *g_->emitter;
    std::vector<Endpoint> values;
    for (const Endpoint& value : parts_.needed) (is_invariant_arg(value) ? captured_ : values).push_back(value);
    WEFT_ASSIGN(packed_, pack(*g_, values));
    for (const Endpoint& value : values) {
      const DType type = base_type(type_of(value));
      if (type == DType::kResource)
        return core::names_node(
            unimplemented("the gradient of a loop whose body makes a resource, {{node ", value.node->name(), "}}, that the gradient reads"),
            value.node->name());
      Kept k{value, list_of(value), nullptr, nullptr, known_shape(value), type};
      if (type == DType::kVariant) k.shape = PartialShape::scalar();
      if (k.variable < 0) {
        WEFT_ASSIGN(k.arg, g_->add_arg(cat(value.node->name(), "/accumulator"), DType::kVariant, PartialShape::scalar()));
        Value pushed = pushed_back(e.wrap({k.arg, 0}), e.wrap(value), type);
        WEFT_RETURN_IF_ERROR(e.take_status());
        k.push = GraphEmitter::unwrap(pushed).node;
      }
      kept_.push_back(std::move(k));
    }
    return {};
  }

  // The number of iterations: from a variable that goes up or down by one, or a new one.
  Status count() {
    for (size_t i = 0; i < n_ && plan_->counter < 0; ++i) {
      const Endpoint r = same_value(g_->body.rets[i]->input(0));
      const DType t = g_->body.arg_types[i];
      if (t != DType::kInt32 && t != DType::kInt64) continue;
      const bool down = traits_of(*r.node).symbol == op::Symbol::kMinus;
      if (!down && traits_of(*r.node).symbol != op::Symbol::kPlus) continue;
      for (int a = 0; a < (down ? 1 : 2); ++a) {
        if (!(same_value(r.node->input(a)) == Endpoint{g_->body.args[i], 0}) || const_int(same_value(r.node->input(1 - a))) != 1) continue;
        if (!known_shape(node_->input(int(i))).has_rank() || known_shape(node_->input(int(i))).rank() != 0) continue;
        plan_->counter = int(i);
        plan_->counts_down = down;
      }
    }
    if (plan_->counter >= 0) return {};
    WEFT_ASSIGN(counter_arg_, g_->add_arg("gradients/iterations", DType::kInt32, PartialShape::scalar()));
    Value next = g_->emitter->wrap({counter_arg_, 0}) + 1;
    WEFT_RETURN_IF_ERROR(g_->emitter->take_status());
    counter_next_ = GraphEmitter::unwrap(next);
    return {};
  }

  // At most so many iterations, if the condition compares a counter with a variable that never changes.
  void find_most_iterations() {
    std::vector<Endpoint> todo{same_value(cond_.rets[0]->input(0))};
    for (int steps = 0; !todo.empty() && steps < 16; ++steps) {
      const Endpoint c = todo.back();
      todo.pop_back();
      if (traits_of(*c.node).symbol == op::Symbol::kAnd) {
        todo.push_back(same_value(c.node->input(0)));
        todo.push_back(same_value(c.node->input(1)));
        continue;
      }
      if (traits_of(*c.node).symbol != op::Symbol::kLess) continue;
      const Endpoint a = same_value(c.node->input(0)), limit = same_value(c.node->input(1));
      if (!is_arg(*a.node) || base_type(type_of(limit)) != DType::kInt32 || plan_->counts_down) continue;
      const auto var = a.node->attr<int64_t>("index");
      if (var != plan_->counter || const_int(same_value(node_->input(int(var)))) != 0) continue;
      if (is_const(*limit.node)) {
        plan_->most = limit.node->attr<Tensor>("value");
        return;
      }
      if (!is_arg(*limit.node)) continue;
      const auto at = limit.node->attr<int64_t>("index");
      if (!plan_->invariant[size_t(at)] || !known_shape(node_->input(int(at))).has_rank() || known_shape(node_->input(int(at))).rank() != 0) continue;
      plan_->most_input = int(at);
      return;
    }
  }

  Status define_forward() {
    Graph& g = g_->graph();
    Interface body, cond;
    for (size_t i = 0; i < n_; ++i) {
      body.inputs.push_back({g_->body.args[i], 0});
      body.outputs.push_back(g_->body.rets[i]->input(0));
      cond.inputs.push_back({cond_.args[i], 0});
    }
    body.body = parts_.forward;
    body.body.insert(body.body.end(), packed_.nodes.begin(), packed_.nodes.end());
    auto add_variable = [&](Node* arg, Endpoint next) -> Result<int> {
      body.inputs.push_back({arg, 0});
      body.outputs.push_back(next);
      Graph& cg = *cond_.graph;
      WEFT_ASSIGN(Node* unused,
                  cg.add(cg.unique_name(arg->name()), op_of(Role::kArg), {{"T", arg->output_type(0)}, {"index", int64_t(cond.inputs.size())}}, {}));
      cond.inputs.push_back({unused, 0});
      return int(cond.inputs.size()) - 1;
    };
    if (plan_->counter < 0) {
      plan_->own_counter = true;
      WEFT_ASSIGN(plan_->counter, add_variable(counter_arg_, counter_next_));
      body.body.push_back(counter_next_.node);
      for (const Endpoint& in : counter_next_.node->inputs()) {
        if (!is_arg(*in.node)) body.body.push_back(in.node);
      }
    }
    for (const Kept& k : kept_) {
      int variable = k.variable;
      if (variable < 0) {
        WEFT_ASSIGN(variable, add_variable(k.arg, {k.push, 0}));
        body.body.push_back(k.push);
      }
      plan_->kept.push_back({variable, k.variable < 0, k.shape, k.type});
    }
    // Inner calls may have got further outputs even if nothing new is kept here.
    if (cond.inputs.size() == n_) return {};
    body.control_outputs = g_->body.control_rets;
    cond.outputs.push_back(cond_.rets[0]->input(0));
    cond.control_outputs = cond_.control_rets;
    cond.body = nodes_of_body(*cond_.graph);
    WEFT_ASSIGN(plan_->body, define_function(g, cat(plain_name(body_f_.name), "_weft_forward"), body, body_f_.name));
    WEFT_ASSIGN(plan_->cond, define_function(*cond_.graph, cat(plain_name(cond_.name), "_weft_forward"), cond, cond_.name));
    return {};
  }

  static std::string plain_name(const std::string& name) { return name.substr(0, name.find("_weft_")); }

  // A loop over how often still, the gradients that are carried, the sums, the lists, and what is captured.
  Status define_backward() {
    GraphEmitter& inner = *g_->emitter;
    Interface io;
    const DType count_type = plan_->own_counter ? DType::kInt32 : g_->body.arg_types[size_t(plan_->counter)];
    WEFT_ASSIGN(Node* remaining, g_->add_arg("gradients/remaining", count_type, PartialShape::scalar()));
    const size_t from = inner.added().size();  // nodes of the body besides those of the split
    const Value less = inner.wrap({remaining, 0}) - 1;
    WEFT_RETURN_IF_ERROR(inner.take_status());
    io.inputs.push_back({remaining, 0});
    io.outputs.push_back(GraphEmitter::unwrap(less));

    std::vector<std::pair<Endpoint, Endpoint>> lists;  // before and after an iteration
    for (const Kept& k : kept_) {
      WEFT_ASSIGN(Node* list, g_->add_arg(cat(k.value.node->name(), "/list"), DType::kVariant, PartialShape::scalar()));
      const auto popped = popped_back(inner.wrap({list, 0}), k.shape, k.type);
      WEFT_RETURN_IF_ERROR(inner.take_status());
      const Endpoint value = GraphEmitter::unwrap(popped[1]);
      read_instead(g_->graph(), parts_, results_, k.value, value);
      for (const Packed& p : packed_.lists) {
        if (p.list == k.value) WEFT_RETURN_IF_ERROR(unpack(*g_, parts_, results_, p, value));
      }
      lists.emplace_back(Endpoint{list, 0}, GraphEmitter::unwrap(popped[0]));
    }
    for (int i : plan_->carried) io.inputs.push_back({g_->dys[size_t(i)], 0});
    for (Node* sum : sums_) io.inputs.push_back({sum, 0});
    io.outputs.insert(io.outputs.end(), results_.begin(), results_.end());
    for (const auto& [before, after] : lists) {
      io.inputs.push_back(before);
      io.outputs.push_back(after);
    }
    for (const Endpoint& c : captured_) {
      plan_->captured.push_back(int(c.node->attr<int64_t>("index")));
      io.inputs.push_back(c);
      io.outputs.push_back(c);
    }
    io.body = parts_.backward;
    io.body.insert(io.body.end(), inner.added().begin() + long(from), inner.added().end());
    for (const Node* m : io.body) plan_->stateful_backward |= m->spec().stateful;
    WEFT_ASSIGN(plan_->backward_body, define_function(g_->graph(), cat(plain_name(body_f_.name), "_weft_backward"), io, body_f_.name));
    WEFT_ASSIGN(plan_->backward_cond, make_cond(io.inputs));
    return {};
  }

  // As long as some remain.
  Result<FunctionAttr> make_cond(const std::vector<Endpoint>& inputs) {
    Graph g(graph_.registry(), graph_.library());
    ShapeInference shapes(g);
    GraphEmitter e(g, shapes);
    Interface io;
    for (size_t i = 0; i < inputs.size(); ++i) {
      WEFT_ASSIGN(Node* arg, g.add(cat("arg_", i), op_of(Role::kArg), {{"T", base_type(type_of(inputs[i]))}, {"index", int64_t(i)}}, {}));
      arg->shapes.assign(1, known_shape(inputs[i]));
      arg->handles.resize(1);
      io.inputs.push_back({arg, 0});
    }
    const Value remaining = e.wrap(io.inputs[0]);
    const Value go = op::greater(remaining, scalar(e, remaining.dtype(), 0));
    WEFT_RETURN_IF_ERROR(e.take_status());
    io.outputs.push_back(GraphEmitter::unwrap(go));
    io.body = nodes_of_body(g);
    return define_function(g, cat(plain_name(cond_.name), "_weft_backward"), io, cond_.name);
  }

  struct Kept {
    Endpoint value;  // in the body
    int variable;    // of the loop: the list; -1: a further one
    Node *arg, *push;
    PartialShape shape;
    DType type;
  };
  Backward& b_;
  const Flow& flow_;
  Node* node_;
  Graph& graph_;
  const size_t n_;
  const std::shared_ptr<LoopPlan> plan_ = std::make_shared<LoopPlan>();
  FunctionAttr body_f_;
  FunctionBody cond_;
  std::vector<bool> useful_;
  std::unique_ptr<BodyGradient> g_;
  Split parts_;
  std::vector<Node*> sums_;        // in the body: the sums so far
  std::vector<Endpoint> results_;  // ... the next of what is carried, then of what is summed
  Pack packed_;
  std::vector<Kept> kept_;
  std::vector<Endpoint> captured_;
  Node* counter_arg_ = nullptr;
  Endpoint counter_next_;
};

// The loop in its graph by a plan: its further variables, and the loop beside it that goes back.
class LoopGradient {
 public:
  LoopGradient(Backward& b, const Flow& flow, const LoopPlan& plan) : b_(b), flow_(flow), node_(flow.node), plan_(plan) {}

  Result<Grads> run() {
    Grads grads{size_t(node_->num_inputs())};
    for (size_t i = 0; i < plan_.invariant.size(); ++i) {
      if (plan_.invariant[i]) grads[i] = flow_.dys[i];
    }
    if (plan_.carried.empty()) return grads;  // only variables that never change are asked for: their gradients pass by
    if (!plan_.body.name.empty()) WEFT_RETURN_IF_ERROR(extend());
    WEFT_RETURN_IF_ERROR(add_backward(grads));
    return grads;
  }

 private:
  Status extend() {
    GraphEmitter& e = b_.emitter();
    std::vector<Endpoint> inputs = node_->inputs();
    std::vector<DType> types = node_->attr<std::vector<DType>>("T");
    const size_t before = types.size();
    if (plan_.own_counter) {
      inputs.push_back(GraphEmitter::unwrap(scalar(e, DType::kInt32, 0)));
      types.push_back(DType::kInt32);
    }
    Value most;
    for (const LoopPlan::Kept& k : plan_.kept) {
      if (!k.added) continue;
      if (!most.valid()) {
        most = plan_.most ? e.constant(*plan_.most) : plan_.most_input >= 0 ? e.wrap(node_->input(plan_.most_input)) : scalar(e, DType::kInt32, -1);
      }
      inputs.push_back(GraphEmitter::unwrap(empty_list(e, k.shape, most, k.type)));
      types.push_back(DType::kVariant);
    }
    WEFT_RETURN_IF_ERROR(e.take_status());
    AttrMap attrs = attrs_of(*node_);
    std::vector<PartialShape> promised = node_->attr<std::vector<PartialShape>>("output_shapes");
    if (!promised.empty()) {
      promised.resize(before);
      promised.resize(types.size(), PartialShape::scalar());
    }
    attrs["output_shapes"] = promised;
    attrs["T"] = types;
    attrs["body"] = plan_.body;
    attrs["cond"] = plan_.cond;
    attrs.erase("_num_original_outputs");
    return b_.extend(node_, node_->op(), std::move(attrs), std::move(inputs),
                     std::vector<PartialShape>(types.size() - before, PartialShape::scalar()));
  }

  Status add_backward(Grads& grads) {
    GraphEmitter& e = b_.emitter();
    std::vector<Value> inputs;
    std::vector<PartialShape> promised;
    const Value first = e.wrap(node_->input(plan_.counter)), last = e.wrap({node_, plan_.counter});
    inputs.push_back(plan_.counts_down ? first - last : last - first);
    promised.push_back(PartialShape::scalar());
    for (int i : plan_.carried) {
      inputs.push_back(flow_.dys[size_t(i)].valid() ? flow_.dys[size_t(i)].dense() : zeros_like(e.wrap({node_, i})));
      promised.push_back(known_shape({node_, i}));
    }
    for (const LoopPlan::Summed& s : plan_.summed) {
      const Value x = e.wrap(node_->input(s.variable));
      const Value& dy = flow_.dys[size_t(s.variable)];
      inputs.push_back(dy.valid() ? dy.dense() : zeros_for(x, s.type));
      promised.push_back(x.dtype() == DType::kResource ? inputs.back().shape() : x.shape());
    }
    for (const LoopPlan::Kept& k : plan_.kept) {
      inputs.push_back(e.wrap({node_, k.variable}));
      promised.push_back(PartialShape::scalar());
    }
    for (int i : plan_.captured) {
      inputs.push_back(e.wrap(node_->input(i)));
      promised.push_back(inputs.back().shape());
    }
    WEFT_RETURN_IF_ERROR(e.take_status());
    AttrMap attrs{{"body", plan_.backward_body},
                  {"cond", plan_.backward_cond},
                  {"output_shapes", promised},
                  {"parallel_iterations", node_->attr<int64_t>("parallel_iterations")}};
    const auto out = e.apply(op_of(Role::kWhile, plan_.stateful_backward), inputs, std::move(attrs));
    WEFT_RETURN_IF_ERROR(e.take_status());
    size_t r = 1;
    for (int i : plan_.carried) {
      const Value& v = out[r++];
      if (flow_.wanted[size_t(i)]) grads[size_t(i)] = v;
    }
    for (const LoopPlan::Summed& s : plan_.summed) grads[size_t(s.variable)] = out[r++];
    return {};
  }

  Backward& b_;
  const Flow& flow_;
  Node* node_;
  const LoopPlan& plan_;
};

}  // namespace

Value empty_list(Emitter& e, const PartialShape& element, const Value& most, DType type) {
  return e.one(op_of(Role::kEmptyList), {e.constant(shape_tensor(element)), most}, {{"element_dtype", type}});
}
Value pushed_back(const Value& list, const Value& item, DType type) {
  return list.emitter().one(op_of(Role::kListPush), {list, item}, {{"element_dtype", type}});
}
std::vector<Value> popped_back(const Value& list, const PartialShape& element, DType type) {
  Emitter& e = list.emitter();
  auto popped = e.apply(op_of(Role::kListPop), {list, e.constant(shape_tensor(element))}, {{"element_dtype", type}});
  const Endpoint value = GraphEmitter::unwrap(popped[1]);
  value.node->shapes[1] = element;
  return popped;
}

Result<Grads> loop_gradient(Backward& b, const Flow& flow) {
  std::shared_ptr<const LoopPlan> once;
  auto& plan = b.inside() ? b.inside()->loops->by_request[request_of(b, flow)] : once;
  if (!plan) {
    WEFT_ASSIGN(plan, LoopPlanner(b, flow).run());
  }
  return LoopGradient(b, flow, *plan).run();
}

}  // namespace weft_engine::autodiff
