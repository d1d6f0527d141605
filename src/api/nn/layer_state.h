// What the copies of a layer share.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "weft/nn/layer.h"

namespace weft::nn {

struct LayerState {
  // Makes the weights before the first call.
  static void build(const Layer& l, const std::vector<PartialShape>& inputs) { l.ensure_built(inputs); }
  struct Weight {
    std::string name;
    Variable variable;
    bool trainable;  // as it was made; the layer may be frozen
    Regularizer regularizer;
  };
  std::string type, name;
  DType dtype = DType::float32;
  bool trainable = true;
  bool called = false;  // once called, all that it holds is built
  std::vector<Weight> weights;
  std::vector<Variable> seeds;
  std::vector<std::shared_ptr<LayerState>> layers;
  Regularizer activity_regularizer;
  std::vector<PartialShape> input_shapes;   // that it was built for
  std::vector<PartialShape> output_shapes;  // of the first call
  int symbolic_calls = 0;                   // in functional models
  std::mutex mutex;                         // guards `losses`: layers may be called on several threads
  std::vector<Tensor> losses;
};

}  // namespace weft::nn
