#include "saved_model/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/cat.h"
#include "graph/shape_inference.h"
#include "io/graph_def.h"
#include "saved_model/fingerprint.h"
#include "saved_model/model_folder.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::saved_model {
namespace {

using graph::Graph;
using graph::Node;

constexpr const char* kAskedFor = "asked for";

}  // namespace

Result<std::unique_ptr<Quantizer>> Quantizer::make(const graph::Graph& frozen, const std::vector<std::string>& inputs,
                                                   const std::vector<std::string>& outputs, const std::vector<std::string>& keep,
                                                   int64_t least_depth) {
  std::unique_ptr<Quantizer> q(new Quantizer);
  q->rules_ = graph::layer_rules.load();
  if (!q->rules_) return failed_precondition("there is no engine that knows which layers can be quantised");
  q->graph_ = frozen.clone();
  q->outputs_ = outputs;
  for (const std::string& name : inputs) {
    Node* n = q->graph_->find(name);
    if (!n) return not_found("the graph has no input '", name, "'");
    q->feeds_.push_back({n, 0});
  }
  (void)graph::infer_all(*q->graph_);  // what cannot be inferred stays unknown
  WEFT_RETURN_IF_ERROR(q->find_layers(keep, least_depth));
  q->session_ = std::make_unique<runtime::Session>(*q->graph_, q->mutex_, runtime::SessionOptions{});
  return q;
}

Status Quantizer::find_layers(const std::vector<std::string>& keep, int64_t least_depth) {
  std::set<std::string> named(keep.begin(), keep.end());
  std::string there;
  for (Node* n : graph_->nodes()) {
    if (!rules_->is_layer(*n)) continue;
    QuantizedLayer layer{n->name(), std::string(n->op()), {}, 0, 0, named.erase(n->name()) ? kAskedFor : rules_->reason_to_keep(*n, least_depth)};
    there += cat(there.empty() ? "" : ", ", n->name());
    if (const Tensor* w = rules_->weights(*n)) layer.weights = w->shape();
    int at = -1;
    if (layer.kept.empty()) {
      at = int(std::find(observed_.begin(), observed_.end(), n->input(0)) - observed_.begin());
      if (size_t(at) == observed_.size()) observed_.push_back(n->input(0));
      layer.low = std::numeric_limits<float>::infinity(), layer.high = -layer.low;
    }
    nodes_.push_back(n);
    input_of_.push_back(at);
    layers_.push_back(std::move(layer));
  }
  if (named.empty()) return {};
  return invalid_argument("there is no product or convolution '", *named.begin(), "'; there are: ", there.empty() ? "none" : there);
}

Status Quantizer::observe(std::span<const Tensor> inputs) {
  if (inputs.size() != feeds_.size()) return invalid_argument("expected ", feeds_.size(), " inputs, got ", inputs.size());
  ++runs_;
  if (observed_.empty()) return {};
  std::vector<Tensor> values(inputs.begin(), inputs.end()), results(observed_.size());
  WEFT_RETURN_IF_ERROR(session_->run(feeds_, values, observed_, results, {}, {}));
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (input_of_[i] < 0) continue;
    for (float v : results[size_t(input_of_[i])].span<float>()) {
      if (!std::isfinite(v))
        return out_of_range("the input of ", layers_[i].name, " is ", v, " in a sample: it cannot be quantised; keep this layer");
      layers_[i].low = std::min(layers_[i].low, v), layers_[i].high = std::max(layers_[i].high, v);
    }
  }
  return {};
}

Result<std::unique_ptr<graph::Graph>> Quantizer::finish() {
  if (runs_ == 0) return failed_precondition("no sample was given: the ranges of the layers' inputs are not known");
  std::vector<Node*> map;
  std::unique_ptr<Graph> out = graph_->clone(&map);
  const auto rewriter = rules_->rewriter(*out);
  const bool any = std::ranges::any_of(input_of_, [](int i) { return i >= 0; });
  for (size_t i = 0; i < layers_.size(); ++i) {
    if (input_of_[i] < 0) {
      if (any && layers_[i].kept != kAskedFor) WEFT_RETURN_IF_ERROR(rewriter->fold_normalization(map[size_t(nodes_[i]->id())]));
      continue;
    }
    WEFT_RETURN_IF_ERROR(rewriter->quantize(map[size_t(nodes_[i]->id())], layers_[i].low, layers_[i].high));
  }
  rewriter->drop_unused({outputs_.begin(), outputs_.end()});
  return out;
}

Status write_graph_model(const graph::Graph& g, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                         const std::string& dir) {
  using wire::ProtoWriter;
  ProtoWriter signature;
  const auto add = [&](int field, const std::vector<std::string>& names) -> Status {
    for (const std::string& name : names) {
      const Node* n = g.find(name);
      if (!n || n->num_outputs() < 1) return not_found("the graph has no tensor of node '", name, "'");
      ProtoWriter info, entry;
      info.bytes(1, name + ":0");
      info.varint(2, uint64_t(n->output_type(0)));
      info.bytes(3, wire::encode_shape(n->shapes.empty() ? PartialShape::unknown() : n->shapes[0]));
      entry.bytes(1, name);
      entry.message(2, info);
      signature.message(field, entry);
    }
    return {};
  };
  WEFT_RETURN_IF_ERROR(add(1, inputs));
  WEFT_RETURN_IF_ERROR(add(2, outputs));
  signature.bytes(3, "tensorflow/serving/predict");
  ProtoWriter about, named, meta, model;
  about.bytes(4, "serve");
  about.bytes(5, "2.21.0");
  meta.message(1, about);
  WEFT_ASSIGN(std::string graph_def, io::encode_graph_def(g));
  meta.bytes(2, graph_def);
  named.bytes(1, "serving_default");
  named.message(2, signature);
  meta.message(5, named);
  model.varint(1, 1);
  model.message(2, meta);
  WEFT_ASSIGN(ModelFolder folder, ModelFolder::create(dir));
  WEFT_RETURN_IF_ERROR(wire::create_folders(folder.path() + "/variables"));
  WEFT_RETURN_IF_ERROR(wire::write_file(folder.path() + "/saved_model.pb", model.str()));
  WEFT_RETURN_IF_ERROR(write_fingerprint(folder.path()));
  return folder.publish();
}

}  // namespace weft_engine::saved_model
