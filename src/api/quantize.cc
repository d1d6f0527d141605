#include "saved_model/quantize.h"

#include "graph/shape_inference.h"

#include "api/graph_internal.h"
#include "api/model_internal.h"
#include "weft/quantize.h"

namespace weft {

Graph quantize(const Model& model, const std::vector<NamedTensors>& samples, const QuantizeOptions& options, std::vector<QuantizedLayer>* layers) {
  FreezeOptions f;
  f.signature = options.signature;
  const Graph frozen = freeze(model, f);
  auto q = api::unwrap(saved_model::Quantizer::make(*frozen.impl().graph, frozen.inputs(), frozen.outputs(), options.keep, options.least_depth));
  // The frozen graph has its inputs in the order of the signature, by whose names samples are given.
  const SignatureInfo& info = model[options.signature].info();
  for (const NamedTensors& sample : samples) {
    std::vector<core::Tensor> inputs;
    for (const TensorSpec& spec : info.inputs) {
      const Tensor* given = nullptr;
      for (const auto& [name, t] : sample) {
        if (name == spec.name) given = &t;
      }
      if (!given) throw Error(Code::kInvalidArgument, "a sample lacks input '" + spec.name + "' of signature '" + info.name + "'");
      if (given->dtype() != spec.dtype)
        throw Error(Code::kInvalidArgument, "input '" + spec.name + "' of signature '" + info.name + "' must be " + to_string(spec.dtype) + ", got " +
                                                to_string(given->dtype()));
      inputs.push_back(api::value_of(*given));
    }
    api::check(q->observe(inputs));
  }
  auto made = api::unwrap(q->finish());
  (void)graph::infer_all(*made);  // what cannot be inferred stays unknown
  if (layers) {
    layers->clear();
    for (const auto& l : q->layers())
      layers->push_back({l.name, l.op, PartialShape(l.weights.vec()), l.kept.empty() ? l.low : 0, l.kept.empty() ? l.high : 0, l.kept});
  }
  return Graph::adopt(std::make_shared<const Graph::Impl>(Graph::Impl{std::move(made), frozen.inputs(), frozen.outputs()}));
}

void save_graph(const Graph& graph, const std::string& dir) {
  const Graph::Impl& g = graph.impl();
  if (g.outputs.empty()) throw Error(Code::kInvalidArgument, "the graph has no outputs that a signature could give");
  api::check(saved_model::write_graph_model(*g.graph, g.inputs, g.outputs, dir));
}

}  // namespace weft
