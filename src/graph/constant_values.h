// ConstantValues: what can be said of the values in a graph before it runs: tensors that follow from constants
// and known shapes, and shapes computed in the graph that are known in part. Shape inference asks this for
// the inputs whose values decide about shapes.
#pragma once

#include <optional>
#include <unordered_map>

#include "graph/graph.h"

namespace weft_engine::graph {

class PartialValues;

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
  friend class PartialValues;
  struct Hash {
    size_t operator()(const Endpoint& e) const { return std::hash<const void*>()(e.node) * 31 + size_t(e.index); }
  };
  std::optional<Tensor> value(Endpoint e, int depth);
  std::optional<Tensor> compute(Endpoint e, int depth);
  std::optional<Tensor> from_shapes(Endpoint e, int depth);
  PartialShape as_shape(Endpoint e, int depth);
  PartialShape find_shape(Endpoint e, int depth);
  std::optional<int64_t> integer(Endpoint e, int depth);

  const Graph& graph_;
  int64_t most_;
  std::unordered_map<Endpoint, std::optional<Tensor>, Hash> known_;
  std::unordered_map<Endpoint, PartialShape, Hash> shapes_, bound_shapes_;
};

// What the rule of an op asks of a node's inputs to say what is known of its output as a shape (OpTraits::shape_value).
class PartialValues {
 public:
  PartialValues(ConstantValues& all, const Node& node, int depth) : node(node), all_(all), depth_(depth) {}
  PartialShape shape(int i) const;     // of input i
  PartialShape as_shape(int i) const;  // input i, a vector, read as a shape
  std::optional<int64_t> integer(int i) const;
  std::optional<std::vector<int64_t>> elements(int i) const;
  bool has_sizes(int i) const { return may_be_size(base_type(node.input_type(i))); }  // input i is of a type that sizes have
  int rank() const;                                                                  // of the output
  static bool may_be_size(DType t) { return t == DType::kInt32 || t == DType::kInt64; }

  const Node& node;

 private:
  ConstantValues& all_;
  const int depth_;
};

}  // namespace weft_engine::graph
