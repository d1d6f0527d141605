// Post-training quantisation: the products and convolutions of a model in 8-bit numbers.
//
//   auto model = weft::load("mnist");
//   weft::Tensor samples = weft::data::read_npy("train.npy");
//   weft::save_graph(weft::quantize(model, {{{"x", samples}}}), "mnist_int8");
//
// The result is made of TensorFlow's own ops, so that TensorFlow, too, can load and run it; the engine runs it fast where the processor has dot
// products of bytes (VNNI).
#pragma once

#include <string>
#include <vector>

#include "weft/graph.h"

namespace weft {

struct QuantizeOptions {
  std::string signature = "serving_default";
  std::vector<std::string> keep = {};  // layers that stay floats, by the names of their nodes
  int64_t least_depth = 16;            // layers whose sums have fewer terms stay floats: there is nothing to win
};

// A product or convolution of the model.
struct QuantizedLayer {
  std::string name, op;
  PartialShape weights;
  float low = 0, high = 0;  // the values that went in
  std::string kept;         // why it stays as it is; empty: it is quantised
};

// The signature as a frozen graph whose products and convolutions with constant weights are of 8-bit numbers: weights with a scale for each output
// channel, what goes into a layer with one scale and zero point, from the values that it has on `samples`, each the inputs of one run. Those inside
// of loops and branches stay as they are. An error without samples, and where a value is not finite.
WEFT_API Graph quantize(const Model& model, const std::vector<NamedTensors>& samples, const QuantizeOptions& options = {},
                        std::vector<QuantizedLayer>* layers = nullptr);

// A graph that was made for inputs and outputs (freeze, quantize) as a SavedModel with the signature "serving_default". A model that was at `dir` is
// replaced in one step.
WEFT_API void save_graph(const Graph& graph, const std::string& dir);

}  // namespace weft
