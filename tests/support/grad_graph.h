// A graph for one recorded gradient: placeholders, the op, what flows in; and numbers of its tensors for checks by differences.
#pragma once

#include <functional>

#include "autodiff/gradients.h"
#include "runtime/session.h"
#include "tests/support/cases.h"

namespace weft_engine::testing {

struct GradGraph {
  explicit GradGraph(const op::Registry& registry) : graph(registry), shapes(graph) { graph.versions.producer = 2000; }

  // What the graph is told of the shape of a value.
  using Tell = std::function<PartialShape(const Shape&)>;
  // Fed with `value`. Without `tell` its shape stands in the graph.
  Result<graph::Endpoint> placeholder(std::string name, const Tensor& value, const Tell& tell = nullptr);
  // The op of a case with placeholders for its inputs and for the gradients that flow in.
  Status build(const OpCase& c, const Tell& tell = nullptr);
  // `fetches` for the values that placeholders have now.
  Result<std::vector<Tensor>> run(std::span<const graph::Endpoint> fetches);

  graph::Graph graph;
  graph::ShapeInference shapes;
  std::vector<graph::Endpoint> feeds;
  std::vector<Tensor> values;  // of the feeds
  graph::Node* node = nullptr;  // the op of the case
  std::vector<graph::Endpoint> inputs, ys, dys;
  std::vector<graph::Endpoint> xs;  // inputs that have a gradient

 private:
  std::mutex mutex_;
  std::unique_ptr<runtime::Session> session_;
};

}  // namespace weft_engine::testing
