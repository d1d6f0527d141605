// Model: a SavedModel, or a graph from a file, loaded and ready to run: signatures by name, tensors by name, the
// functions of the object graph, variables. The C++ API and the command line stand on it. Any number of threads may
// run one model at once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "graph/graph.h"
#include "runtime/session.h"
#include "saved_model/fingerprint.h"
#include "saved_model/functions.h"
#include "saved_model/meta_graph.h"

namespace weft_engine::saved_model {

struct LoadOptions {
  std::vector<std::string> tags = {"serve"};
  runtime::SessionOptions session;
  bool verify = false;              // verify_saved_model() first
  bool verify_fingerprint = false;  // DataLoss where the files are not those that the fingerprint was made of
};

// A signature with the tensors of the graph that it stands for. A sparse value is three ports (x.values, x.indices,
// x.dense_shape), another composite one a port for each part (x.0, x.1).
struct BoundSignature {
  struct Port {
    std::string name;
    DType dtype = DType::kInvalid;
    PartialShape shape;
    graph::Endpoint tensor;
    std::string tensor_name;  // "node:0"
  };
  std::string name, method_name;
  std::vector<Port> inputs, outputs;  // by name
  std::vector<graph::Endpoint> feeds, fetches;

  int find_input(std::string_view input) const;  // -1 if there is none
  // "x: float [?,784], y: int32 [?]"
  std::string describe_inputs() const;
};

struct VariableInfo {
  std::string name;            // as Python named it
  std::string path;            // in the object graph; empty for graphs of version 1
  std::string checkpoint_key;  // empty: not in the checkpoint
  DType dtype = DType::kInvalid;
  PartialShape shape;
  bool trainable = false;
  graph::Endpoint handle;  // the node of the graph that stands for it; null: none
};

class Model {
 public:
  // A SavedModel's folder (or its saved_model.pb), or a GraphDef in a .pb or .pbtxt file. A graph has one signature,
  // "serving_default": its placeholders, and what no other node reads.
  static Result<std::shared_ptr<Model>> load(const Registry& registry, const std::string& path, const LoadOptions& options);
  Model(const Model&) = delete;
  ~Model();

  const std::string& path() const { return path_; }
  bool is_saved_model() const { return saved_model_; }
  const MetaGraph& meta() const { return meta_; }
  const std::optional<Fingerprint>& fingerprint() const { return fingerprint_; }
  graph::Graph& graph() { return *graph_; }
  runtime::Session& session() { return *session_; }

  const std::vector<BoundSignature>& signatures() const { return signatures_; }
  Result<const BoundSignature*> signature(std::string_view name) const;
  // Inputs and outputs in the signature's order. Checks types and shapes, naming the input.
  Status run(const BoundSignature& s, std::span<Tensor> inputs, std::span<Tensor> outputs, const runtime::Session::RunOptions& options = {});
  Status check_inputs(const BoundSignature& s, std::span<const Tensor> inputs) const;

  // Version 1's way: any tensor ("node:0") may be fed and fetched; targets run for their effect.
  Status run(std::span<const std::pair<std::string, Tensor>> feeds, std::span<const std::string> fetches, std::span<const std::string> targets,
             std::vector<Tensor>& results, const runtime::Session::RunOptions& options = {});

  FunctionTable& functions() { return *functions_; }
  const std::vector<VariableInfo>& variables() const { return variables_; }
  Result<Tensor> value(const VariableInfo& variable);

 private:
  static Result<std::shared_ptr<Model>> load_once(const Registry& registry, const std::string& path, const LoadOptions& options);
  Model() = default;
  Status open_saved_model(const Registry& registry, const LoadOptions& options);
  Status open_graph(const Registry& registry, const LoadOptions& options);
  Status bind_signatures();
  Status list_variables();

  std::string path_;
  bool saved_model_ = false;
  MetaGraph meta_;
  ObjectGraph objects_;
  std::optional<Fingerprint> fingerprint_;
  std::unique_ptr<graph::Graph> graph_;
  std::mutex graph_mutex_;
  std::unique_ptr<runtime::Session> session_;
  std::vector<BoundSignature> signatures_;
  std::vector<VariableInfo> variables_;
  std::unique_ptr<FunctionTable> functions_;
};

// A GraphDef from a file; the text form where the name ends in .pbtxt or the content is not binary.
Result<graph::GraphDef> read_graph_file(const std::string& path);
// By object: the key of the checkpoint that holds its value; empty where there is none.
Result<std::vector<std::string>> read_checkpoint_keys(const ObjectGraph& objects, const std::string& prefix);
// The signature that a plain graph has: its placeholders and what no other node reads.
BoundSignature signature_of_graph(const graph::Graph& graph);

}  // namespace weft_engine::saved_model
