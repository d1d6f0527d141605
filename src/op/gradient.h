// What a gradient rule sees and gives. A rule is written once, against the Emitter, beside its op:
//
//   .grad([](const GradContext& g) -> Grads { return {g.dy() * (1 - square(g.y()))}; })
#pragma once

#include <functional>
#include <vector>

#include "op/emitter.h"
#include "op/node_info.h"

namespace weft_engine::op {

// One value for each input; an empty one where the input has no gradient.
using Grads = std::vector<Value>;

class GradContext {
 public:
  GradContext(Emitter& emitter, const NodeInfo& node, std::span<const Value> inputs, std::span<const Value> outputs,
              std::span<const Value> output_grads)
      : emitter_(emitter), node_(node), inputs_(inputs), outputs_(outputs), output_grads_(output_grads) {}

  Emitter& emitter() const { return emitter_; }
  const NodeInfo& node() const { return node_; }
  template <class T>
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }

  // Some of the op's attributes, to hand on to another op.
  AttrMap attrs(std::initializer_list<std::string_view> names) const;

  int num_inputs() const { return int(inputs_.size()); }
  int num_outputs() const { return int(outputs_.size()); }
  const Value& x(int i = 0) const { return inputs_[size_t(i)]; }
  const Value& y(int i = 0) const { return outputs_[size_t(i)]; }
  // The gradient of output i as a tensor; zeros where nothing flowed into it.
  Value dy(int i = 0) const;
  bool has_dy(int i = 0) const { return output_grads_[size_t(i)].valid(); }
  // As it came: perhaps slices, perhaps empty.
  const Value& raw_dy(int i = 0) const { return output_grads_[size_t(i)]; }

  // As many empty values as there are inputs.
  Grads none() const { return Grads(inputs_.size()); }
  Value constant(Tensor t) const { return emitter_.constant(std::move(t)); }
  Value one(std::string_view op, std::initializer_list<Value> inputs, AttrMap attrs = {}) const { return emitter_.one(op, inputs, std::move(attrs)); }
  std::vector<Value> apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs = {}) const {
    return emitter_.apply(op, inputs, std::move(attrs));
  }
  // Says why there is none here: "LookupError"-like news for the user.
  Grads fail(Status s) const {
    emitter_.fail(std::move(s));
    return none();
  }

 private:
  Emitter& emitter_;
  const NodeInfo& node_;
  std::span<const Value> inputs_, outputs_, output_grads_;
};

}  // namespace weft_engine::op
