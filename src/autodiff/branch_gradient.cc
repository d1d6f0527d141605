// The gradients of If and Case: each branch becomes FORWARD of its function, and all give the saved values of all, those of
// the others without a value (FakeParam). The gradient is an If or Case over the BACKWARDs, of which each reads only its own.
#include <algorithm>

#include "autodiff/backward.h"
#include "graph/node_traits.h"
#include "op/emit.h"

namespace weft_engine::autodiff {

namespace {

class BranchGradient {
 public:
  BranchGradient(Backward& b, const Flow& flow) : b_(b), flow_(flow), node_(flow.node), graph_(b.graph()), is_if_(role_of(*node_) == Role::kIf) {
    if (is_if_) branches_ = {node_->attr<FunctionAttr>("then_branch"), node_->attr<FunctionAttr>("else_branch")};
    else branches_ = node_->attr<std::vector<FunctionAttr>>("branches");
  }

  Result<Grads> run() {
    Grads grads{size_t(node_->num_inputs())};
    const std::vector<bool> want(flow_.wanted.begin() + 1, flow_.wanted.end());
    const std::vector<DType> dys = flowing_types(flow_);
    for (const FunctionAttr& f : branches_) {
      WEFT_ASSIGN(FunctionGradient g, gradient_of_function(graph_.registry(), graph_.library(), f, want, dys, b_.inside()));
      parts_.push_back(std::move(g));
    }
    WEFT_RETURN_IF_ERROR(plan());
    if (input_grads_.empty()) return grads;
    first_saved_ = node_->num_outputs();
    if (!saved_types_.empty()) WEFT_RETURN_IF_ERROR(extend_forward());
    WEFT_ASSIGN(std::vector<Value> out, call_backward());
    for (size_t k = 0; k < input_grads_.size(); ++k) grads[size_t(input_grads_[k]) + 1] = out[k];
    return grads;
  }

 private:
  // What the branches have together.
  Status plan() {
    auto add = [](std::vector<int>& into, const std::vector<int>& list) {
      into.insert(into.end(), list.begin(), list.end());
      std::sort(into.begin(), into.end());
      into.erase(std::unique(into.begin(), into.end()), into.end());
    };
    for (const FunctionGradient& p : parts_) {
      add(input_grads_, p.input_grads);
      offsets_.push_back(int(saved_types_.size()));
      if (p.input_grads.empty()) continue;
      add(passed_inputs_, p.passed_inputs);
      add(passed_outputs_, p.passed_outputs);
      saved_types_.insert(saved_types_.end(), p.saved_types.begin(), p.saved_types.end());
      saved_shapes_.insert(saved_shapes_.end(), p.saved_shapes.begin(), p.saved_shapes.end());
    }
    grad_types_.resize(input_grads_.size());
    for (const FunctionGradient& p : parts_) {
      if (p.input_grads.empty()) continue;
      WEFT_ASSIGN(auto def, graph_.library()->find(p.backward));
      std::vector<DType> args, rets;
      WEFT_RETURN_IF_ERROR(function_types(*def, {}, args, rets));
      for (size_t k = 0; k < p.input_grads.size(); ++k) grad_types_[place(input_grads_, p.input_grads[k])] = rets[k];
    }
    // A branch that does not use an input gives zeros of its shape.
    for (int i : input_grads_) {
      const bool by_all = std::all_of(parts_.begin(), parts_.end(),
                                      [&](const auto& p) { return std::find(p.input_grads.begin(), p.input_grads.end(), i) != p.input_grads.end(); });
      if (!by_all) add(passed_inputs_, {i});
    }
    return {};
  }

  static size_t place(const std::vector<int>& list, int v) { return size_t(std::find(list.begin(), list.end(), v) - list.begin()); }
  static bool has(const std::vector<int>& list, int v) { return std::find(list.begin(), list.end(), v) != list.end(); }

  // A small function with arguments of these types.
  struct Wrapper {
    Wrapper(Graph& outer) : graph(outer.registry(), outer.library()), shapes(graph), emitter(graph, shapes) {}
    Status arg(DType type, const PartialShape& shape) {
      WEFT_ASSIGN(Node* n, graph::add_arg(graph, cat("arg_", args.size()), base_type(type), int64_t(args.size())));
      n->shapes.assign(1, shape);
      n->handles.resize(1);
      io.inputs.push_back({n, 0});
      args.push_back(emitter.wrap({n, 0}));
      return {};
    }
    void result(const Value& v) { io.outputs.push_back(GraphEmitter::unwrap(v)); }
    Graph graph;
    ShapeInference shapes;
    GraphEmitter emitter;
    std::vector<Value> args;
    Interface io;
  };

  PartialShape shape_at(const Endpoint& e) const {
    return size_t(e.index) < e.node->shapes.size() ? e.node->shapes[size_t(e.index)] : PartialShape();
  }
  std::string branch_name(size_t k) const { return branches_[k].name.substr(0, branches_[k].name.find("_weft_")); }

  Status extend_forward() {
    std::vector<FunctionAttr> made;
    std::vector<DType> types(node_->attr<std::vector<DType>>("Tout"));
    for (size_t k = 0; k < parts_.size(); ++k) {
      Wrapper w(graph_);
      for (int i = 1; i < node_->num_inputs(); ++i) WEFT_RETURN_IF_ERROR(w.arg(node_->input_type(i), shape_at(node_->input(i))));
      const FunctionGradient& p = parts_[k];
      std::vector<DType> out_types = types;
      out_types.insert(out_types.end(), p.saved_types.begin(), p.saved_types.end());
      const FunctionAttr callee = p.num_saved > 0 ? FunctionAttr{p.forward, nullptr} : branches_[k];
      auto out = w.emitter.apply(op_of(Role::kCall, p.stateful_forward), w.args, {{"Tout", out_types}, {"f", callee}});
      WEFT_RETURN_IF_ERROR(w.emitter.take_status());
      if (p.stateful_forward) w.io.control_outputs.push_back(w.emitter.added().back());
      for (size_t i = 0; i < types.size(); ++i) w.result(out[i]);
      for (size_t j = 0; j < parts_.size(); ++j) {
        for (int s = 0; s < parts_[j].num_saved; ++s) w.result(j == k ? out[types.size() + size_t(s)] : absent(w.emitter, parts_[j], s));
      }
      WEFT_RETURN_IF_ERROR(w.emitter.take_status());
      w.io.body = nodes_of_body(w.graph);
      WEFT_ASSIGN(FunctionAttr f, define_function(w.graph, cat(branch_name(k), "_weft_forward"), w.io, branches_[k].name));
      made.push_back(std::move(f));
    }
    AttrMap attrs = attrs_of(*node_);
    if (is_if_) {
      attrs["then_branch"] = made[0];
      attrs["else_branch"] = made[1];
    } else {
      attrs["branches"] = made;
    }
    std::vector<PartialShape> promised = node_->attr<std::vector<PartialShape>>("output_shapes");
    promised.resize(types.size());
    promised.insert(promised.end(), saved_shapes_.begin(), saved_shapes_.end());
    attrs["output_shapes"] = std::move(promised);
    types.insert(types.end(), saved_types_.begin(), saved_types_.end());
    attrs["Tout"] = types;
    return b_.extend(node_, node_->op(), std::move(attrs), node_->inputs(), saved_shapes_);
  }

  // What a branch gives for a saved value of another: nobody reads it. A list must be one, since gradients of the second order
  // ask for zeros like it.
  static Value absent(Emitter& e, const FunctionGradient& p, int s) {
    const DType type = p.saved_types[size_t(s)];
    if (type == DType::kVariant)
      return e.one(op_of(Role::kEmptyList), {scalar(e, DType::kInt32, -1), scalar(e, DType::kInt32, -1)}, {{"element_dtype", DType::kFloat}});
    return e.one(op_of(Role::kFakeParam), {}, {{"dtype", type}, {"shape", p.saved_shapes[size_t(s)]}});
  }

  Result<std::vector<Value>> call_backward() {
    GraphEmitter& e = b_.emitter();
    std::vector<Value> inputs{e.wrap(node_->input(0))};
    const auto& output_grads = std::find_if(parts_.begin(), parts_.end(), [](const auto& p) { return !p.input_grads.empty(); })->output_grads;
    for (int i : output_grads) inputs.push_back(flow_.dys[size_t(i)].dense());
    for (int i : passed_inputs_) inputs.push_back(e.wrap(node_->input(i + 1)));
    for (int i : passed_outputs_) inputs.push_back(e.wrap({node_, i}));
    for (size_t i = 0; i < saved_types_.size(); ++i) inputs.push_back(e.wrap({node_, first_saved_ + int(i)}));
    WEFT_RETURN_IF_ERROR(e.take_status());
    std::vector<FunctionAttr> made;
    bool stateful = false;
    for (size_t k = 0; k < parts_.size(); ++k) {
      WEFT_ASSIGN(FunctionAttr f, backward_branch(k, inputs, int(output_grads.size()), stateful));
      made.push_back(std::move(f));
    }
    AttrMap attrs;
    attrs["Tout"] = grad_types_;
    if (is_if_) {
      attrs["then_branch"] = made[0];
      attrs["else_branch"] = made[1];
    } else {
      attrs["branches"] = made;
    }
    std::vector<PartialShape> promised;
    for (int i : input_grads_) {
      const Endpoint x = node_->input(i + 1);
      promised.push_back(base_type(x.node->output_type(x.index)) == DType::kResource ? PartialShape() : shape_at(x));
    }
    attrs["output_shapes"] = std::move(promised);
    auto out = e.apply(op_of(is_if_ ? Role::kIf : Role::kCase, stateful), inputs, std::move(attrs));
    WEFT_RETURN_IF_ERROR(e.take_status());
    return out;
  }

  Result<FunctionAttr> backward_branch(size_t k, const std::vector<Value>& inputs, int num_dys, bool& stateful) {
    const FunctionGradient& p = parts_[k];
    Wrapper w(graph_);
    for (size_t i = 1; i < inputs.size(); ++i) WEFT_RETURN_IF_ERROR(w.arg(inputs[i].dtype(), inputs[i].shape()));
    const size_t at_inputs = size_t(num_dys), at_outputs = at_inputs + passed_inputs_.size(), at_saved = at_outputs + passed_outputs_.size();
    std::vector<Value> out;
    if (!p.input_grads.empty()) {
      std::vector<Value> args(w.args.begin(), w.args.begin() + num_dys);
      for (int i : p.passed_inputs) args.push_back(w.args[at_inputs + place(passed_inputs_, i)]);
      for (int i : p.passed_outputs) args.push_back(w.args[at_outputs + place(passed_outputs_, i)]);
      for (int s = 0; s < p.num_saved; ++s) args.push_back(w.args[at_saved + size_t(offsets_[k] + s)]);
      std::vector<DType> types;
      for (int i : p.input_grads) types.push_back(grad_types_[place(input_grads_, i)]);
      out = w.emitter.apply(op_of(Role::kCall, p.stateful_backward), args, {{"Tout", types}, {"f", FunctionAttr{p.backward, nullptr}}});
      WEFT_RETURN_IF_ERROR(w.emitter.take_status());
    }
    for (int i : input_grads_) {
      if (has(p.input_grads, i)) w.result(out[place(p.input_grads, i)]);
      else w.result(zeros_for(w.args[at_inputs + place(passed_inputs_, i)], grad_types_[place(input_grads_, i)]));
    }
    WEFT_RETURN_IF_ERROR(w.emitter.take_status());
    w.io.body = nodes_of_body(w.graph);
    for (const Node* n : w.io.body) stateful |= n->spec().stateful;
    return define_function(w.graph, cat(branch_name(k), "_weft_backward"), w.io, branches_[k].name);
  }

  Backward& b_;
  const Flow& flow_;
  Node* node_;
  Graph& graph_;
  const bool is_if_;
  std::vector<FunctionAttr> branches_;
  std::vector<FunctionGradient> parts_;  // by branch
  std::vector<int> input_grads_, passed_inputs_, passed_outputs_, offsets_;
  std::vector<DType> saved_types_, grad_types_;
  std::vector<PartialShape> saved_shapes_;
  int first_saved_ = 0;
};

}  // namespace

Result<Grads> branch_gradient(Backward& b, const Flow& flow) { return BranchGradient(b, flow).run(); }

}  // namespace weft_engine::autodiff
