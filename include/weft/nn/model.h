// Models: layers one after the other (Sequential), or as a graph that is drawn by calling them (Model).
//
//   nn::Sequential mlp{nn::Dense(128, "relu"), nn::Dropout(0.2), nn::Dense(10)};
//   Tensor y = mlp(x, {.training = true});
//
//   nn::KerasTensor a = nn::Input({784}), h = nn::Dense(128, "relu")(a);
//   nn::Model model({a}, {nn::Dense(10)(h), nn::Dense(1)(h)});
//   std::vector<Tensor> both = model.apply({x});
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "weft/nn/layer.h"

namespace weft::nn {

struct Node;

// A value that a model will compute: a shape (the batch is open) and a type. Calling a layer on it gives the next.
class WEFT_API KerasTensor {
 public:
  KerasTensor() = default;
  // What is known of the tensor.
  const PartialShape& shape() const;
  DType dtype() const;
  const std::string& name() const;  // of the layer that gives it

  // For the library itself.
  KerasTensor(std::shared_ptr<const Node> node, int index) : node_(std::move(node)), index_(index) {}
  const std::shared_ptr<const Node>& node() const { return node_; }
  int index() const { return index_; }

 private:
  std::shared_ptr<const Node> node_;
  int index_ = 0;
};

struct InputOptions {
  DType dtype = DType::float32;
  int64_t batch_size = -1;  // -1: open
  std::string name = {};
};
// Where a model starts; the shape is without the batch.
WEFT_API KerasTensor Input(const std::vector<int64_t>& shape, const InputOptions& o = {});
// Calls a layer that is kept in a pointer on values of a model.
WEFT_API std::vector<KerasTensor> call_layer(const AnyLayer& layer, const std::vector<KerasTensor>& inputs);

// All layers between inputs and outputs. Called on tensors for the inputs, in their order: model(x) and model({a, b}) give
// the first output, apply() all.
class WEFT_API Model : public LayerOf<Model> {
 public:
  Model(const std::vector<KerasTensor>& inputs, const std::vector<KerasTensor>& outputs, const std::string& name = {});
  Model(const KerasTensor& input, const KerasTensor& output, const std::string& name = {});

  const std::vector<std::shared_ptr<Layer>>& layers() const;  // in Keras' order, inputs included
  // A layer by its name.
  std::shared_ptr<Layer> get_layer(const std::string& name) const;
  const std::vector<KerasTensor>& inputs() const;
  const std::vector<KerasTensor>& outputs() const;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  std::vector<Tensor> call_many(const std::vector<Tensor>& inputs, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor& x, const Tensor& mask) const override;
  Tensor compute_mask_many(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) const override;
  // A table of the layers.
  std::string summary() const;

 private:
  struct Plan;
  std::shared_ptr<const Plan> plan_;
};

struct SequentialOptions {
  std::vector<int64_t> input_shape = {};  // without the batch; given, the layers are built at once
  DType dtype = DType::float32;           // of the input
  std::string name = {};
};

class WEFT_API Sequential : public LayerOf<Sequential> {
 public:
  explicit Sequential(const SequentialOptions& o = {});
  Sequential(std::initializer_list<AnyLayer> layers, const SequentialOptions& o = {});
  explicit Sequential(const std::vector<AnyLayer>& layers, const SequentialOptions& o = {});

  // A layer more, or the last one less.
  void add(const AnyLayer& layer);
  void pop();
  const std::vector<std::shared_ptr<Layer>>& layers() const { return *layers_; }
  const std::shared_ptr<Layer>& operator[](size_t i) const { return layers_->at(i); }
  // Makes the weights for an input of this shape, batch included (-1: open). Calls do so by themselves.
  void build(const PartialShape& input) override;
  void build_many(const std::vector<PartialShape>& inputs) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  Tensor compute_mask(const Tensor& x, const Tensor& mask) const override;
  // The layers with shapes and numbers of weights, as Keras prints them.
  std::string summary() const;

 private:
  class Tracked;
  std::shared_ptr<std::vector<std::shared_ptr<Layer>>> layers_;
  std::shared_ptr<Tracked> tracked_;
  DType input_dtype_ = DType::float32;
};

}  // namespace weft::nn
