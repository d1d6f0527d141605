// Post-training quantisation: matrix products and convolutions with constant weights in a frozen graph become products of 8-bit numbers, in TensorFlow's
// own ops, so that it can run the result, too:
//
//   UniformQuantize(x) -> UniformQuantizedDot or UniformQuantizedConvolution -> UniformDequantize
//
// Weights have a scale for each output channel; what goes into a layer has one scale and zero point, from the values that it had in sample runs. A
// batch normalisation behind a layer is folded into its weights. The engine fuses each layer again (ops/quantized/quantized_product_fuse.cc).
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/layer_rules.h"
#include "runtime/session.h"

namespace weft_engine::saved_model {

using namespace weft_engine::core;

struct QuantizedLayer {
  std::string name, op;
  Shape weights;
  float low = 0, high = 0;  // of what goes in
  std::string kept;  // why it stays as it is; empty: it is quantised
};

class Quantizer {
 public:
  // `frozen` has placeholders of these names, and results. Layers named in `keep` stay floats, and so do those whose sums have fewer than `least_depth`
  // terms, which gain nothing. InvalidArgument where `keep` names no layer.
  static Result<std::unique_ptr<Quantizer>> make(const graph::Graph& frozen, const std::vector<std::string>& inputs,
                                                 const std::vector<std::string>& outputs, const std::vector<std::string>& keep, int64_t least_depth);
  // One sample run, inputs in their order.
  Status observe(std::span<const Tensor> inputs);
  const std::vector<QuantizedLayer>& layers() const { return layers_; }
  // The quantised graph, under the same names. FailedPrecondition without a sample run; OutOfRange where a layer's input was not finite.
  Result<std::unique_ptr<graph::Graph>> finish();

 private:
  Quantizer() = default;
  Status find_layers(const std::vector<std::string>& keep, int64_t least_depth);

  const graph::LayerRules* rules_ = nullptr;
  std::unique_ptr<graph::Graph> graph_;
  std::mutex mutex_;
  std::unique_ptr<runtime::Session> session_;
  std::vector<graph::Endpoint> feeds_, observed_;
  std::vector<std::string> outputs_;
  std::vector<QuantizedLayer> layers_;
  std::vector<graph::Node*> nodes_;  // of the layers
  std::vector<int> input_of_;  // layer -> observed value; -1: kept
  int64_t runs_ = 0;
};

// DIR as a SavedModel that has one signature, "serving_default": the nodes `inputs` are fed, `outputs` fetched, and named so. It has no variables.
Status write_graph_model(const graph::Graph& graph, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                         const std::string& dir);

}  // namespace weft_engine::saved_model
