#include "graph/graph_emitter.h"

#include "core/own_memory.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"

namespace weft_engine::graph {
namespace {

class GraphValue final : public ValueRep {
 public:
  GraphValue(Endpoint at, ShapeInference& shapes, GraphEmitter& owner, std::shared_ptr<void> keep)
      : at_(at), shapes_(shapes), owner_(owner), keep_(std::move(keep)) {}
  Endpoint at() const { return at_; }
  DType dtype() const override { return base_type(at_.node->output_type(at_.index)); }
  PartialShape shape() const override {
    if (size_t(at_.index) < at_.node->shapes.size()) return at_.node->shapes[size_t(at_.index)];
    return {};
  }
  Emitter* owner() const override { return &owner_; }
  const Tensor* constant() const override {
    if (is_const(*at_.node)) return &at_.node->attr<Tensor>("value");
    if (!asked_) {
      asked_ = true;
      value_ = shapes_.value(at_);
    }
    return value_ ? &*value_ : nullptr;
  }

 private:
  Endpoint at_;
  ShapeInference& shapes_;
  GraphEmitter& owner_;
  std::shared_ptr<void> keep_;
  mutable bool asked_ = false;
  mutable std::optional<Tensor> value_;
};

}  // namespace

Value GraphEmitter::wrap(Endpoint e) {
  if (!e.node) return {};
  return Value(*this, RefPtr<ValueRep>::adopt(new GraphValue(e, shapes_, *this, keep_.lock())));
}

Endpoint GraphEmitter::unwrap(const Value& v) { return v.rep() ? static_cast<GraphValue*>(v.rep())->at() : Endpoint{}; }

Result<Node*> GraphEmitter::add(std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs) {
  std::string name = std::exchange(next_name_, {});
  if (name.empty()) name = scope_.empty() ? std::string(op) : cat(scope_, "/", op);
  std::vector<Node*> both;
  if (!user_controls_.empty()) {
    both = controls_;
    both.insert(both.end(), user_controls_.begin(), user_controls_.end());
  }
  WEFT_ASSIGN(Node* node, graph_.add(graph_.unique_name(name), op, std::move(attrs), std::move(inputs), both.empty() ? controls_ : both));
  node->device = device_;
  if (Status s = shapes_.node(node); !s.ok()) {
    if (refuse_bad_shapes_) {
      graph_.remove(node);
      return s;
    }
    // What does not fit fails when it runs; a rule's error here would hide the node from whoever looks for it.
    node->shapes.assign(size_t(node->num_outputs()), PartialShape());
  }
  added_.push_back(node);
  return node;
}

Result<std::vector<Value>> GraphEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  std::vector<Endpoint> ends;
  for (const Value& v : inputs) ends.push_back(unwrap(v));
  for_functions(attrs, [&](const std::string& name) {
    auto owner = graph_.library() ? graph_.library()->owner(name) : nullptr;
    if (owner && (held_.empty() || held_.back() != owner)) held_.push_back(std::move(owner));
  });
  WEFT_ASSIGN(Node* node, add(op, std::move(attrs), std::move(ends)));
  std::vector<Value> out;
  for (int i = 0; i < node->num_outputs(); ++i) out.push_back(wrap({node, i}));
  return out;
}

Result<Value> GraphEmitter::do_constant(Tensor value) {
  if (core::lies_elsewhere(value)) {  // passes and files read it
    WEFT_ASSIGN(value, core::to_host(value));
  }
  AttrMap attrs;
  attrs["dtype"] = value.dtype();
  attrs["value"] = std::move(value);
  WEFT_ASSIGN(Node* node, add(op_of(Role::kConst), std::move(attrs), {}));
  return wrap({node, 0});
}

}  // namespace weft_engine::graph
