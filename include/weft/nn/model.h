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

  void add(const AnyLayer& layer);
  void pop();
  const std::vector<std::shared_ptr<Layer>>& layers() const { return *layers_; }
  const std::shared_ptr<Layer>& operator[](size_t i) const { return layers_->at(i); }
  // Makes the weights for an input of this shape, batch included (-1: open). Calls do so by themselves.
  void build(const PartialShape& input) override;
  void build_many(const std::vector<PartialShape>& inputs) override;
  Tensor call(const Tensor& x, const CallOptions& o) const override;
  // The layers with shapes and numbers of weights, as Keras prints them.
  std::string summary() const;

 private:
  class Tracked;
  std::shared_ptr<std::vector<std::shared_ptr<Layer>>> layers_;
  std::shared_ptr<Tracked> tracked_;
  DType input_dtype_ = DType::float32;
};

}  // namespace weft::nn
