// What the ops know of layers that can be quantised (ops/quantized/quantize_layers.cc), for who quantises a graph (saved_model/quantize.h).
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "graph/graph.h"

namespace weft_engine::graph {

// Changes layers of one graph.
class LayerRewriter {
 public:
  virtual ~LayerRewriter() = default;
  // A product of 8-bit numbers in the layer's place, for inputs between these two.
  virtual core::Status quantize(Node* layer, float low, float high) = 0;
  // A layer that stays a float takes the normalisation behind it, too: the engine joins a bias and an activation with it.
  virtual core::Status fold_normalization(Node* layer) = 0;
  // Removes constants and reads of them that nobody needs any more, but for nodes of these names.
  virtual void drop_unused(const std::set<std::string>& keep) = 0;
};

struct LayerRules {
  bool (*is_layer)(const Node& n);
  const core::Tensor* (*weights)(const Node& layer);  // null: they are no constant
  std::string (*reason_to_keep)(const Node& layer, int64_t least_depth);  // empty: it can be quantised
  std::unique_ptr<LayerRewriter> (*rewriter)(Graph& g);
};
inline std::atomic<const LayerRules*> layer_rules{nullptr};  // set when the engine is made

}  // namespace weft_engine::graph
