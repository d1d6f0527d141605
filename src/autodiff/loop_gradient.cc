// The gradient of While: the loop keeps what its backward pass needs in lists, one element an iteration, and counts; the gradient
// is a loop that runs as many times and takes the elements from behind.
//
// Variables that the body passes on unchanged are read from in front of the loop, not kept; their gradients are sums over the
// iterations. Of the others those are carried back that the gradient reaches.
#include <algorithm>

#include "autodiff/pack.h"
#include "autodiff/split.h"
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

class LoopGradient {
 public:
  LoopGradient(Backward& b, const Flow& flow) : b_(b), flow_(flow), node_(flow.node), graph_(b.graph()), n_(size_t(node_->num_inputs())) {}

  Result<Grads> run() {
    grads_.resize(n_);
    WEFT_RETURN_IF_ERROR(open());
    WEFT_RETURN_IF_ERROR(differentiate_body());
    if (carried_.empty()) {  // only variables that never change are asked for: their gradients pass by
      for (size_t i = 0; i < n_; ++i) {
        if (invariant_[i]) grads_[i] = flow_.dys[i];
      }
      return std::move(grads_);
    }
    WEFT_RETURN_IF_ERROR(sum_invariants());
    WEFT_ASSIGN(parts_, split(*g_, results_, [&](const Endpoint& e) { return is_invariant_arg(e); }));
    WEFT_RETURN_IF_ERROR(keep());
    WEFT_RETURN_IF_ERROR(count());
    WEFT_RETURN_IF_ERROR(extend_forward());
    WEFT_RETURN_IF_ERROR(add_backward());
    return std::move(grads_);
  }

 private:
  bool is_invariant_arg(const Endpoint& e) const {
    return is_arg(*e.node) && e.node->attr<int64_t>("index") < int64_t(n_) && invariant_[size_t(e.node->attr<int64_t>("index"))];
  }

  Status open() {
    body_f_ = node_->attr<FunctionAttr>("body");
    WEFT_ASSIGN(cond_, open_function(graph_.registry(), graph_.library(), node_->attr<FunctionAttr>("cond")));
    WEFT_ASSIGN(FunctionBody body, open_function(graph_.registry(), graph_.library(), body_f_));
    if (cond_.args.size() != n_ || cond_.rets.size() != 1 || body.args.size() != n_ || body.rets.size() != n_)
      return invalid_argument("the functions of a loop with ", n_, " variables take ", cond_.args.size(), " and ", body.args.size(),
                              " arguments and give ", cond_.rets.size(), " and ", body.rets.size(), " results");
    for (size_t i = 0; i < n_; ++i) invariant_.push_back(same_value(body.rets[i]->input(0)) == Endpoint{body.args[i], 0});
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
        if (useful_[i] || invariant_[i] || !seen[size_t(body.rets[i]->id())] || !differentiable(body.arg_types[i])) continue;
        useful_[i] = true;
        again = true;
      }
    }
  }

  // The variables that carry gradients backwards: those that come with one, and those that get one from them.
  Status differentiate_body() {
    std::vector<DType> dys(n_, DType::kInvalid);
    for (size_t i = 0; i < n_; ++i) {
      if (flow_.dys[i].valid() && !invariant_[i]) dys[i] = flow_.dys[i].dtype();
    }
    ArgShapes known{node_->shapes, node_->handles};
    for (size_t i = 0; i < n_ && i < known.handles.size(); ++i) {
      const Endpoint x = node_->input(int(i));
      if (invariant_[i] && !known.handles[i] && size_t(x.index) < x.node->handles.size()) known.handles[i] = x.node->handles[size_t(x.index)];
    }
    for (bool again = true; again;) {
      again = false;
      if (std::all_of(dys.begin(), dys.end(), [](DType t) { return t == DType::kInvalid; })) return {};
      WEFT_ASSIGN(BodyGradient g, differentiate(graph_.registry(), graph_.library(), body_f_, useful_, dys, known, b_.inside(), b_.scope()));
      g_ = std::make_unique<BodyGradient>(std::move(g));
      for (size_t i = 0; i < n_; ++i) {
        if (invariant_[i] || !g_->grads[i].valid() || dys[i] != DType::kInvalid) continue;
        dys[i] = g_->grads[i].dtype();
        again = true;
      }
    }
    for (size_t i = 0; i < n_; ++i) {
      if (dys[i] == DType::kInvalid) continue;
      carried_.push_back(int(i));
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
      if (!invariant_[i]) continue;
      const Value part = g_->grads[i];
      if (!part.valid() || !flow_.wanted[i]) {
        grads_[i] = flow_.dys[i];
        continue;
      }
      WEFT_ASSIGN(Node* arg, g_->add_arg(cat("gradients/sum_", i), part.dtype(), part.shape()));
      const Value so_far = g_->emitter->wrap({arg, 0});
      const Value both[] = {so_far, part};
      const Value sum = part.dtype() == DType::kVariant ? add_n(both) : so_far + part;
      WEFT_RETURN_IF_ERROR(g_->emitter->take_status());
      summed_.push_back({int(i), arg, part.dtype()});
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
        return unimplemented("the gradient of a loop whose body makes a resource, {{node ", value.node->name(), "}}, that the gradient reads");
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
    for (size_t i = 0; i < n_ && counter_ < 0; ++i) {
      const Endpoint r = same_value(g_->body.rets[i]->input(0));
      const DType t = g_->body.arg_types[i];
      if (t != DType::kInt32 && t != DType::kInt64) continue;
      const bool down = traits_of(*r.node).symbol == op::Symbol::kMinus;
      if (!down && traits_of(*r.node).symbol != op::Symbol::kPlus) continue;
      for (int a = 0; a < (down ? 1 : 2); ++a) {
        if (!(same_value(r.node->input(a)) == Endpoint{g_->body.args[i], 0}) || const_int(same_value(r.node->input(1 - a))) != 1) continue;
        if (!known_shape(node_->input(int(i))).has_rank() || known_shape(node_->input(int(i))).rank() != 0) continue;
        counter_ = int(i);
        counts_down_ = down;
      }
    }
    if (counter_ >= 0) return {};
    WEFT_ASSIGN(counter_arg_, g_->add_arg("gradients/iterations", DType::kInt32, PartialShape::scalar()));
    Value next = g_->emitter->wrap({counter_arg_, 0}) + 1;
    WEFT_RETURN_IF_ERROR(g_->emitter->take_status());
    counter_next_ = GraphEmitter::unwrap(next);
    return {};
  }

  // At most so many iterations, if the condition compares a counter with a variable that never changes.
  Value most_iterations() {
    Endpoint c = same_value(cond_.rets[0]->input(0));
    std::vector<Endpoint> todo{c};
    for (int steps = 0; !todo.empty() && steps < 16; ++steps) {
      c = todo.back();
      todo.pop_back();
      if (traits_of(*c.node).symbol == op::Symbol::kAnd) {
        todo.push_back(same_value(c.node->input(0)));
        todo.push_back(same_value(c.node->input(1)));
        continue;
      }
      if (traits_of(*c.node).symbol != op::Symbol::kLess) continue;
      const Endpoint a = same_value(c.node->input(0)), limit = same_value(c.node->input(1));
      if (!is_arg(*a.node) || base_type(type_of(limit)) != DType::kInt32 || counts_down_) continue;
      const auto var = a.node->attr<int64_t>("index");
      if (var != counter_ || const_int(same_value(node_->input(int(var)))) != 0) continue;
      if (is_const(*limit.node)) return b_.emitter().constant(limit.node->attr<Tensor>("value"));
      if (!is_arg(*limit.node)) continue;
      const auto at = limit.node->attr<int64_t>("index");
      if (!invariant_[size_t(at)] || !known_shape(node_->input(int(at))).has_rank() || known_shape(node_->input(int(at))).rank() != 0) continue;
      return b_.emitter().wrap(node_->input(int(at)));
    }
    return scalar(b_.emitter(), DType::kInt32, -1);
  }

  Status extend_forward() {
    GraphEmitter& e = b_.emitter();
    Graph& g = g_->graph();
    Interface body, cond;
    std::vector<Endpoint> inputs = node_->inputs();
    for (size_t i = 0; i < n_; ++i) {
      body.inputs.push_back({g_->body.args[i], 0});
      body.outputs.push_back(g_->body.rets[i]->input(0));
      cond.inputs.push_back({cond_.args[i], 0});
    }
    body.body = parts_.forward;
    body.body.insert(body.body.end(), packed_.nodes.begin(), packed_.nodes.end());
    std::vector<DType> types = node_->attr<std::vector<DType>>("T");
    auto add_variable = [&](Endpoint init, Node* arg, Endpoint next) -> Status {
      inputs.push_back(init);
      body.inputs.push_back({arg, 0});
      body.outputs.push_back(next);
      types.push_back(arg->output_type(0));
      Graph& cg = *cond_.graph;
      WEFT_ASSIGN(Node* unused,
                  cg.add(cg.unique_name(arg->name()), op_of(Role::kArg), {{"T", arg->output_type(0)}, {"index", int64_t(cond.inputs.size())}}, {}));
      cond.inputs.push_back({unused, 0});
      return {};
    };
    const size_t before = types.size();
    if (counter_ < 0) {
      counter_ = int(types.size());
      Value zero = scalar(e, DType::kInt32, 0);
      WEFT_RETURN_IF_ERROR(e.take_status());
      WEFT_RETURN_IF_ERROR(add_variable(GraphEmitter::unwrap(zero), counter_arg_, counter_next_));
      body.body.push_back(counter_next_.node);
      for (const Endpoint& in : counter_next_.node->inputs()) {
        if (!is_arg(*in.node)) body.body.push_back(in.node);
      }
    }
    Value most;
    for (Kept& k : kept_) {
      if (k.variable >= 0) continue;
      if (!most.valid()) most = most_iterations();
      Value list = empty_list(e, k.shape, most, k.type);
      WEFT_RETURN_IF_ERROR(e.take_status());
      k.variable = int(types.size());
      WEFT_RETURN_IF_ERROR(add_variable(GraphEmitter::unwrap(list), k.arg, {k.push, 0}));
      body.body.push_back(k.push);
    }
    // Inner calls may have got further outputs even if nothing new is kept here.
    if (types.size() == before) return {};
    body.control_outputs = g_->body.control_rets;
    cond.outputs.push_back(cond_.rets[0]->input(0));
    cond.control_outputs = cond_.control_rets;
    cond.body = nodes_of_body(*cond_.graph);
    WEFT_ASSIGN(FunctionAttr body_f, define_function(g, cat(plain_name(body_f_.name), "_weft_forward"), body, body_f_.name));
    WEFT_ASSIGN(FunctionAttr cond_f, define_function(*cond_.graph, cat(plain_name(cond_.name), "_weft_forward"), cond, cond_.name));
    AttrMap attrs = attrs_of(*node_);
    std::vector<PartialShape> promised = node_->attr<std::vector<PartialShape>>("output_shapes");
    if (!promised.empty()) {
      promised.resize(before);
      promised.resize(types.size(), PartialShape::scalar());
    }
    attrs["output_shapes"] = promised;
    attrs["T"] = types;
    attrs["body"] = body_f;
    attrs["cond"] = cond_f;
    attrs.erase("_num_original_outputs");
    return b_.extend(node_, node_->op(), std::move(attrs), std::move(inputs),
                     std::vector<PartialShape>(types.size() - before, PartialShape::scalar()));
  }

  static std::string plain_name(const std::string& name) { return name.substr(0, name.find("_weft_")); }

  Status add_backward() {
    GraphEmitter &outer = b_.emitter(), &inner = *g_->emitter;
    Graph& g = g_->graph();
    std::vector<Value> inputs;
    Interface io;
    std::vector<PartialShape> promised;
    // How often still.
    const Value first = outer.wrap(node_->input(counter_)), last = outer.wrap({node_, counter_});
    inputs.push_back(counts_down_ ? first - last : last - first);
    WEFT_RETURN_IF_ERROR(outer.take_status());
    const DType count_type = inputs[0].dtype();
    WEFT_ASSIGN(Node* remaining, g_->add_arg("gradients/remaining", count_type, PartialShape::scalar()));
    const size_t from = inner.added().size();  // nodes of the body besides those of the split
    const Value less = inner.wrap({remaining, 0}) - 1;
    WEFT_RETURN_IF_ERROR(inner.take_status());
    io.inputs.push_back({remaining, 0});
    io.outputs.push_back(GraphEmitter::unwrap(less));
    promised.push_back(PartialShape::scalar());

    for (const Kept& k : kept_) {
      WEFT_ASSIGN(Node* list, g_->add_arg(cat(k.value.node->name(), "/list"), DType::kVariant, PartialShape::scalar()));
      auto popped = inner.apply(op_of(Role::kListPop), {inner.wrap({list, 0}), inner.constant(shape_tensor(k.shape))}, {{"element_dtype", k.type}});
      WEFT_RETURN_IF_ERROR(inner.take_status());
      const Endpoint value = GraphEmitter::unwrap(popped[1]);
      value.node->shapes[1] = k.shape;
      read_instead(g, parts_, results_, k.value, value);
      for (const Packed& p : packed_.lists) {
        if (p.list == k.value) WEFT_RETURN_IF_ERROR(unpack(*g_, parts_, results_, p, value));
      }
      lists_.push_back({list, GraphEmitter::unwrap(popped[0])});
    }
    size_t r = 0;
    for (int i : carried_) {
      inputs.push_back(flow_.dys[size_t(i)].valid() ? flow_.dys[size_t(i)].dense() : zeros_like(outer.wrap({node_, i})));
      io.inputs.push_back({g_->dys[size_t(i)], 0});
      io.outputs.push_back(results_[r++]);
      promised.push_back(known_shape({node_, i}));
    }
    for (const Summed& s : summed_) {
      const Value x = outer.wrap(node_->input(s.variable));
      const Value& dy = flow_.dys[size_t(s.variable)];
      inputs.push_back(dy.valid() ? dy.dense() : zeros_for(x, s.type));
      io.inputs.push_back({s.arg, 0});
      io.outputs.push_back(results_[r++]);
      promised.push_back(x.dtype() == DType::kResource ? inputs.back().shape() : x.shape());
    }
    for (size_t k = 0; k < kept_.size(); ++k) {
      inputs.push_back(outer.wrap({node_, kept_[k].variable}));
      io.inputs.push_back({lists_[k].arg, 0});
      io.outputs.push_back(lists_[k].rest);
      promised.push_back(PartialShape::scalar());
    }
    for (const Endpoint& c : captured_) {
      const Value x = outer.wrap(node_->input(int(c.node->attr<int64_t>("index"))));
      inputs.push_back(x);
      io.inputs.push_back(c);
      io.outputs.push_back(c);
      promised.push_back(x.shape());
    }
    WEFT_RETURN_IF_ERROR(outer.take_status());
    io.body = parts_.backward;
    io.body.insert(io.body.end(), inner.added().begin() + long(from), inner.added().end());
    bool stateful = false;
    for (const Node* m : io.body) stateful |= m->spec().stateful;
    WEFT_ASSIGN(FunctionAttr body, define_function(g, cat(plain_name(body_f_.name), "_weft_backward"), io, body_f_.name));
    WEFT_ASSIGN(FunctionAttr cond, make_cond(inputs));
    AttrMap attrs{{"body", body}, {"cond", cond}, {"output_shapes", promised}, {"parallel_iterations", node_->attr<int64_t>("parallel_iterations")}};
    auto out = outer.apply(op_of(Role::kWhile, stateful), inputs, std::move(attrs));
    WEFT_RETURN_IF_ERROR(outer.take_status());
    r = 1;
    for (int i : carried_) {
      const Value& v = out[r++];
      if (flow_.wanted[size_t(i)]) grads_[size_t(i)] = v;
    }
    for (const Summed& s : summed_) grads_[size_t(s.variable)] = out[r++];
    return {};
  }

  // As long as some remain.
  Result<FunctionAttr> make_cond(const std::vector<Value>& inputs) {
    Graph g(graph_.registry(), graph_.library());
    ShapeInference shapes(g);
    GraphEmitter e(g, shapes);
    Interface io;
    for (size_t i = 0; i < inputs.size(); ++i) {
      WEFT_ASSIGN(Node* arg, g.add(cat("arg_", i), op_of(Role::kArg), {{"T", inputs[i].dtype()}, {"index", int64_t(i)}}, {}));
      arg->shapes.assign(1, inputs[i].shape());
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
    int variable;    // of the loop: the list
    Node *arg, *push;
    PartialShape shape;
    DType type;
  };
  struct Summed {
    int variable;
    Node* arg;
    DType type;
  };
  struct List {
    Node* arg;
    Endpoint rest;
  };
  Backward& b_;
  const Flow& flow_;
  Node* node_;
  Graph& graph_;
  const size_t n_;
  Grads grads_;
  FunctionAttr body_f_;
  FunctionBody cond_;
  std::vector<bool> invariant_, useful_;
  std::unique_ptr<BodyGradient> g_;
  Split parts_;
  std::vector<int> carried_;       // variables whose gradients go from iteration to iteration
  std::vector<Summed> summed_;     // ... and those that are summed
  std::vector<Endpoint> results_;  // in the body: the next of either
  Pack packed_;
  std::vector<Kept> kept_;
  std::vector<List> lists_;
  std::vector<Endpoint> captured_;
  int counter_ = -1;
  bool counts_down_ = false;
  Node* counter_arg_ = nullptr;
  Endpoint counter_next_;
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

Result<Grads> loop_gradient(Backward& b, const Flow& flow) { return LoopGradient(b, flow).run(); }

}  // namespace weft_engine::autodiff
