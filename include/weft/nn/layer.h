// weft::nn::Layer: a module with weights that it makes when it first sees an input, and a call. Copies mean the same layer.
//
//   struct Scale : weft::nn::Layer {
//     weft::Variable factor;
//     Scale() : Layer("Scale") {}
//     void build(const weft::PartialShape& in) override { factor = add_weight("factor", {in.dims.back()}, "ones"); }
//     weft::Tensor call(const weft::Tensor& x, const weft::nn::CallOptions&) const override { return x * factor; }
//   };
//
// Layers run eagerly and inside weft::function alike; after their first call on several threads at once. Those that a layer holds are handed to track(), under the name of the
// member: this lists their weights, and names them in checkpoints as Keras does.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/module.h"
#include "weft/nn/activations.h"
#include "weft/nn/initializers.h"

namespace weft::nn {

class KerasTensor;
struct LayerState;

// Whether the layer that is called now, on this thread, runs to be trained.
WEFT_API bool in_training();

struct CallOptions {
  bool training = in_training();  // inside a layer's call: as that layer was called
  Tensor mask = {};  // which time steps count: bool [batch, time]
};

struct WeightOptions {
  bool trainable = true;
  Regularizer regularizer = {};
  Constraint constraint = {};
  DType dtype = DType::invalid;  // invalid: the layer's
  std::string attribute = {};  // its name in checkpoints; empty: that of the weight
};

class WEFT_API Layer : public Module {
 public:
  // `type` names the class, in summaries and, numbered ("my_block_1"), the layer where it gets no name.
  explicit Layer(const std::string& type = "Layer", const std::string& name = {});

  // Builds on first use, and calls.
  Tensor operator()(const Tensor& x, const CallOptions& o = {}) const;
  Tensor operator()(const std::vector<Tensor>& inputs, const CallOptions& o = {}) const;  // the first output
  std::vector<Tensor> apply(const std::vector<Tensor>& inputs, const CallOptions& o = {}) const;  // all outputs
  // A step of a functional Model (weft/nn/model.h).
  KerasTensor operator()(const KerasTensor& x) const;
  KerasTensor operator()(const std::vector<KerasTensor>& inputs) const;
  std::vector<KerasTensor> apply(const std::vector<KerasTensor>& inputs) const;

  // What a layer is: its weights, made for the shape of the first input (the batch may be open), and its call. Layers with
  // several inputs or outputs have the second form of each. `build` may be run again on a copy: add_weight then gives
  // the weight that is there.
  virtual void build(const PartialShape& input);
  virtual void build_many(const std::vector<PartialShape>& inputs);
  virtual Tensor call(const Tensor& x, const CallOptions& o) const;
  virtual std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const;
  // The mask of the output for the next layer; none: a tensor without a value. Inside a model that is itself a layer x has no
  // value, except for the model's first layers.
  virtual Tensor compute_mask(const Tensor& x, const Tensor& mask) const;
  virtual Tensor compute_mask_many(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) const;
  // Another handle of this layer, for functional models; LayerOf writes it.
  virtual std::shared_ptr<Layer> clone() const;

  // Whether the weights were made.
  bool built() const;
  const std::string& type() const;
  DType dtype() const;  // of the weights
  // The type of weights that are made from here on.
  void set_dtype(DType dtype);

  // In Keras' order: its own, trainable ones first, then those of its layers in the order they were tracked.
  std::vector<Variable> weights() const;
  std::vector<Variable> trainable_weights() const { return trainable_variables(); }
  std::vector<Variable> variables() const override;  // the weights, and the states of random numbers
  // The values of all weights.
  std::vector<Tensor> get_weights() const;
  void set_weights(const std::vector<Tensor>& values) const;
  int64_t count_params() const;
  bool trainable() const;
  void set_trainable(bool on) const;  // of all that it holds
  // What was added in the last call, and what regularisers ask for: scalars.
  std::vector<Tensor> losses() const;
  void add_loss(const Tensor& loss) const;

  // For the library itself.
  const std::shared_ptr<LayerState>& state() const { return state_; }

 protected:
  Variable add_weight(const std::string& name, const std::vector<int64_t>& shape, const Initializer& initializer = {}, const WeightOptions& o = {});
  // A state of random numbers, [seed, count]: listed, but not saved. Each draw gives another seed for stateless ops.
  Variable add_seed(int64_t seed);
  static Tensor next_seed(const Variable& state);
  // A call under another name, with arguments of its own: builds for these inputs, and runs `body` as the layer's call.
  std::vector<Tensor> as_call(const std::vector<Tensor>& inputs, const CallOptions& o, const std::function<std::vector<Tensor>()>& body) const;
  // Adds regularizer(output) / batch to the losses of each call.
  void set_activity_regularizer(const Regularizer& r);

  using Module::track;
  void track(const std::string& name, const Layer& l);
  template <std::derived_from<Layer> T>
  void track(const std::string& name, const std::shared_ptr<T>& l) {
    if (l) track(name, static_cast<const Layer&>(*l));
  }
  template <class T>
  void track(const std::string& name, const std::vector<T>& list) {
    Module::track(name, list);
    for (const T& x : list) hold_any(x);
  }
  // Lists the weights of `l` among its own, without a name of its own in checkpoints.
  void hold(const Layer& l);

 private:
  template <class T>
  void hold_any(const T& x) {
    if constexpr (std::derived_from<T, Layer>) hold(x);
    else if constexpr (requires { requires std::derived_from<typename T::element_type, Layer>; }) {
      if (x) hold(*x);
    }
  }
  friend struct LayerState;
  void ensure_built(const std::vector<PartialShape>& inputs) const;

  std::shared_ptr<LayerState> state_;
  bool built_ = false;  // this copy; the weights may be there already
};

// A layer that can be called on the nodes of a functional model: struct Scale : nn::LayerOf<Scale> { ... }.
template <class Self, class Base = Layer>
class LayerOf : public Base {
 public:
  using Base::Base;
  // Through Layer*, so that programs compile one kind of pointer and not one for each class.
  std::shared_ptr<Layer> clone() const override { return std::shared_ptr<Layer>(static_cast<Layer*>(new Self(static_cast<const Self&>(*this)))); }
};

// A layer of any class, kept.
class WEFT_API AnyLayer {
 public:
  template <class L>
    requires std::derived_from<std::decay_t<L>, Layer>
  AnyLayer(L&& layer) : layer_(static_cast<Layer*>(new std::decay_t<L>(std::forward<L>(layer)))) {}  // NOLINT: implicit on purpose
  template <std::derived_from<Layer> L>
  AnyLayer(std::shared_ptr<L> layer) : layer_(std::move(layer)) {}  // NOLINT
  const std::shared_ptr<Layer>& ptr() const { return layer_; }
  Layer* operator->() const { return layer_.get(); }
  Layer& operator*() const { return *layer_; }
  Tensor operator()(const Tensor& x, const CallOptions& o = {}) const { return (*layer_)(x, o); }

 private:
  std::shared_ptr<Layer> layer_;
};

// Starts the numbers of names ("dense_1") anew.
WEFT_API void clear_session();

}  // namespace weft::nn
