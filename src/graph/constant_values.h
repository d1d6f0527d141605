// ConstantValues: what can be said of the values in a graph before it runs: tensors that follow from constants
// and known shapes, and shapes computed in the graph that are known in part. Shape inference asks this for
// the inputs whose values decide about shapes.
#pragma once

#include <optional>
#include <unordered_map>

#include "graph/graph.h"

namespace weft_engine::graph {

class ConstantValues {
 public:
  // Results of more elements than this are not computed.
  explicit ConstantValues(const Graph& graph, int64_t most_elements = 1024) : graph_(graph), most_(most_elements) {}

  // The value, if it depends on constants and known shapes alone. Best effort: a kernel that fails, or is not
  // there, leaves the value unknown.
  std::optional<Tensor> value(Endpoint e) { return value(e, 0); }

  // An integer vector read as a shape, as far as its elements are known; -1 stands for an unknown dimension.
  // A shape of unknown rank if nothing is known.
  PartialShape as_shape(Endpoint e) { return as_shape(e, 0); }

  // As TensorFlow does while a graph is built: single elements are known of shapes alone, and Identity hides a partly known vector.
  // Programs see static shapes, so that a graph's builder must not know more; passes may.
  bool as_builder = false;

  // What is known of an argument of a function from the call.
  void bind(Endpoint e, Tensor value) { known_.insert_or_assign(e, std::move(value)); }
  void bind_shape(Endpoint e, PartialShape value) { bound_shapes_.insert_or_assign(e, std::move(value)); }

  // After nodes that were there, or their shapes, have changed; bindings go too.
  void forget() {
    known_.clear();
    shapes_.clear();
    bound_shapes_.clear();
  }

 private:
  struct Hash {
    size_t operator()(const Endpoint& e) const { return std::hash<const void*>()(e.node) * 31 + size_t(e.index); }
  };
  std::optional<Tensor> value(Endpoint e, int depth);
  std::optional<Tensor> compute(Endpoint e, int depth);
  std::optional<Tensor> from_shapes(Endpoint e, int depth);
  PartialShape as_shape(Endpoint e, int depth);
  PartialShape find_shape(Endpoint e, int depth);
  PartialShape sliced(const Node& node, int depth);
  std::optional<int64_t> integer(Endpoint e, int depth);

  const Graph& graph_;
  int64_t most_;
  std::unordered_map<Endpoint, std::optional<Tensor>, Hash> known_;
  std::unordered_map<Endpoint, PartialShape, Hash> shapes_, bound_shapes_;
};

}  // namespace weft_engine::graph
