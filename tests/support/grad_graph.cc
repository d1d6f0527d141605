#include "tests/support/grad_graph.h"

namespace weft_engine::testing {

using graph::Endpoint;
using graph::Node;

Result<Endpoint> GradGraph::placeholder(std::string name, const Tensor& value, const Tell& tell) {
  op::AttrMap attrs;
  attrs["dtype"] = value.dtype();
  attrs["shape"] = tell ? tell(value.shape()) : PartialShape(value.shape());
  WEFT_ASSIGN(Node* n, graph.add(std::move(name), "Placeholder", std::move(attrs), {}));
  WEFT_RETURN_IF_ERROR(shapes.node(n));
  feeds.push_back({n, 0});
  values.push_back(value);
  return Endpoint{n, 0};
}

Status GradGraph::build(const OpCase& c, const Tell& tell) {
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    WEFT_ASSIGN(Endpoint e, placeholder(cat("x", i), *c.inputs[i], tell));
    inputs.push_back(e);
  }
  WEFT_ASSIGN(node, graph.add("case", c.op, c.attrs, inputs));
  WEFT_RETURN_IF_ERROR(shapes.node(node));
  for (size_t i = 0; i < c.output_grads.size(); ++i) {
    if (!c.output_grads[i]) continue;
    WEFT_ASSIGN(Endpoint e, placeholder(cat("dy", i), *c.output_grads[i], tell));
    dys.push_back(e);
    ys.push_back({node, int(i)});
  }
  for (size_t i = 0; i < c.input_grads.size(); ++i) {
    if (c.input_grads[i]) xs.push_back(inputs[i]);
  }
  return {};
}

Result<std::vector<Tensor>> GradGraph::run(std::span<const Endpoint> fetches) {
  if (!session_) {
    runtime::SessionOptions options;
    options.intra_threads = options.inter_threads = 1;
    session_ = std::make_unique<runtime::Session>(graph, mutex_, options);
  }
  std::vector<Tensor> results(fetches.size()), fed = values;
  WEFT_RETURN_IF_ERROR(session_->run(feeds, fed, fetches, results, {}, {}));
  return results;
}

}  // namespace weft_engine::testing
