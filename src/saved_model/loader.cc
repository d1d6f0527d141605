#include "saved_model/loader.h"

#include <sys/stat.h>

#include <algorithm>

#include "graph/import.h"
#include "io/graph_def.h"

namespace weft_engine::saved_model {

using graph::Endpoint;
using graph::Node;

Result<Endpoint> find_tensor(const graph::Graph& graph, std::string_view name) {
  graph::InputName n;
  if (!graph::parse_input_name(name, n) || n.control) return invalid_argument("Tensor name '", name, "' is not of the form node:index");
  Node* node = graph.find(n.node);
  if (!node) return not_found("tensor ", name, ": the graph has no such node");
  if (n.index >= node->num_outputs()) return invalid_argument("tensor ", name, ": the node has ", node->num_outputs(), " outputs");
  return Endpoint{node, n.index};
}

namespace {

class Loader {
 public:
  Loader(graph::Graph& graph, const MetaGraph& meta, const std::string& dir, runtime::Session& session)
      : graph_(graph), meta_(meta), dir_(dir), session_(session) {}

  Status restore() {
    if (meta_.restore_op.empty()) return {};
    const std::string prefix = dir_ + "/variables/variables";
    struct stat s;
    if (stat((prefix + ".index").c_str(), &s) != 0) return {};  // a model without variables
    WEFT_ASSIGN(Endpoint filename, find_tensor(graph_, meta_.filename_tensor));
    feeds_.push_back(filename);
    values_.push_back(Tensor::scalar(prefix.c_str()));
    Status r = run_with_assets(meta_.restore_op);
    feeds_.clear();
    values_.clear();
    return r;
  }

  Status init() {
    if (meta_.init_op.empty()) return {};
    return run_with_assets(meta_.init_op);
  }

 private:
  // Assets are fed wherever the step may need them.
  Status run_with_assets(const std::string& op) {
    Node* target = graph_.find(op.substr(0, op.rfind(':')));
    if (!target) return not_found("the SavedModel's op ", op, " is not in its graph");
    for (const auto& [tensor, file] : meta_.assets) {
      auto end = find_tensor(graph_, tensor);
      if (!end.ok()) return end.status();
      if (std::find(feeds_.begin(), feeds_.end(), *end) != feeds_.end()) continue;
      feeds_.push_back(*end);
      values_.push_back(Tensor::scalar((dir_ + "/assets/" + file).c_str()));
    }
    std::vector<Tensor> values = values_;
    return session_.run(feeds_, values, {}, {}, std::span<Node* const>(&target, 1), {});
  }

  graph::Graph& graph_;
  const MetaGraph& meta_;
  const std::string& dir_;
  runtime::Session& session_;
  std::vector<Endpoint> feeds_;
  std::vector<Tensor> values_;
};

}  // namespace

Result<std::unique_ptr<runtime::Session>> load(graph::Graph& graph, std::mutex& mutex, const MetaGraph& meta, const std::string& dir,
                                               const runtime::SessionOptions& options) {
  {
    std::lock_guard lock(mutex);
    WEFT_ASSIGN(graph::GraphDef def, io::decode_graph_def(meta.file, meta.graph_def));
    WEFT_RETURN_IF_ERROR(graph::import_graph_def(graph, std::move(def)).status());
  }
  auto session = std::make_unique<runtime::Session>(graph, mutex, options);
  Loader loader(graph, meta, dir, *session);
  WEFT_RETURN_IF_ERROR(loader.restore());
  WEFT_RETURN_IF_ERROR(loader.init());
  return session;
}

}  // namespace weft_engine::saved_model
