#include "saved_model/model.h"

#include <sys/stat.h>

#include <algorithm>

#include "core/cat.h"
#include "core/own_memory.h"
#include "graph/function_library.h"
#include "graph/import.h"
#include "graph/node_traits.h"
#include "io/graph_def.h"
#include "io/message_file.h"
#include "op/variable.h"
#include "saved_model/checkpoint_map.h"
#include "saved_model/freeze.h"
#include "saved_model/loader.h"
#include "saved_model/model_folder.h"
#include "wire/tensor_bundle.h"

namespace weft_engine::saved_model {
namespace {

bool is_directory(const std::string& path) {
  struct stat s;
  return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

Result<BoundSignature::Port> bind(const graph::Graph& graph, std::string name, const TensorInfo& info) {
  BoundSignature::Port p{std::move(name), info.dtype, info.shape, {}, info.name};
  WEFT_ASSIGN(p.tensor, find_tensor(graph, info.name));
  if (p.dtype == DType::kInvalid) p.dtype = base_type(p.tensor.node->output_type(p.tensor.index));
  return p;
}

Status bind_all(const graph::Graph& graph, const std::map<std::string, TensorInfo>& infos, std::vector<BoundSignature::Port>& out) {
  for (const auto& [key, info] : infos) {
    std::vector<std::pair<std::string, TensorInfo>> parts;
    if (!info.coo_sparse.empty()) {
      static constexpr const char* kParts[] = {".values", ".indices", ".dense_shape"};
      for (size_t i = 0; i < info.coo_sparse.size() && i < 3; ++i) {
        TensorInfo part;
        part.name = info.coo_sparse[i];
        part.dtype = i == 0 ? info.dtype : DType::kInt64;
        parts.emplace_back(cat(key, kParts[i]), std::move(part));
      }
    } else if (!info.composite.empty()) {
      for (size_t i = 0; i < info.composite.size(); ++i) parts.emplace_back(cat(key, ".", i), info.composite[i]);
    } else {
      parts.emplace_back(key, info);
    }
    for (const auto& [name, part] : parts) {
      WEFT_ASSIGN(BoundSignature::Port p, bind(graph, name, part));
      out.push_back(std::move(p));
    }
  }
  return {};
}

void fill_endpoints(BoundSignature& s) {
  for (const auto& p : s.inputs) s.feeds.push_back(p.tensor);
  for (const auto& p : s.outputs) s.fetches.push_back(p.tensor);
}

}  // namespace

int BoundSignature::find_input(std::string_view input) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == input) return int(i);
  }
  return -1;
}

std::string BoundSignature::describe_inputs() const {
  std::string out;
  for (const auto& p : inputs) out += cat(out.empty() ? "" : ", ", p.name, ": ", dtype_name(p.dtype), " ", p.shape.to_string());
  return out.empty() ? "none" : out;
}

Result<graph::GraphDef> read_graph_file(const std::string& path) {
  if (is_directory(path)) return invalid_argument(path, " is a folder; a GraphDef is one file (.pb or .pbtxt)");
  WEFT_ASSIGN(std::string bytes, io::read_message("tensorflow.GraphDef", path));
  auto def = io::decode_graph_def(std::make_shared<const std::string>(std::move(bytes)));
  if (!def.ok()) return Status(def.status().code(), cat(path, " is not a GraphDef: ", def.status().message()));
  return def;
}

BoundSignature signature_of_graph(const graph::Graph& graph) {
  BoundSignature s;
  s.name = "serving_default";
  for (Node* n : graph.nodes()) {
    const bool placeholder = role_of(*n) == graph::Role::kPlaceholder;
    const bool read = !n->uses().empty() || !n->control_outputs().empty();
    if (n->num_outputs() == 0 || (!placeholder && (read || is_const(*n) || is_variable(*n)))) continue;
    for (int i = 0; i < n->num_outputs(); ++i) {
      BoundSignature::Port p;
      p.name = n->num_outputs() == 1 ? n->name() : cat(n->name(), ":", i);
      p.dtype = base_type(n->output_type(i));
      p.tensor = {n, i};
      p.tensor_name = cat(n->name(), ":", i);
      if (const AttrValue* shape = n->find_attr("shape"); shape && shape->get<PartialShape>()) p.shape = *shape->get<PartialShape>();
      // A scalar placeholder of old graphs means "any shape".
      if (placeholder && graph.versions.producer < 24 && p.shape.rank() == 0) p.shape = PartialShape::unknown();
      (placeholder ? s.inputs : s.outputs).push_back(std::move(p));
    }
  }
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::sort(s.inputs.begin(), s.inputs.end(), by_name);
  std::sort(s.outputs.begin(), s.outputs.end(), by_name);
  fill_endpoints(s);
  return s;
}

Result<std::vector<std::string>> read_checkpoint_keys(const ObjectGraph& objects, const std::string& prefix) {
  WEFT_ASSIGN(auto bundle, wire::BundleReader::open(prefix));
  WEFT_ASSIGN(const std::vector<SavedTrackable> nodes, read_trackables(*bundle));
  const std::vector<int> matched = match_objects(objects, nodes);
  std::vector<std::string> keys(objects.nodes.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (matched[i] >= 0) keys[i] = variable_key(nodes[size_t(matched[i])]);
  }
  return keys;
}

Result<std::shared_ptr<Model>> Model::load(const Registry& registry, const std::string& path, const LoadOptions& options) {
  return read_whole(path, [&] { return load_once(registry, path, options); });
}

Result<std::shared_ptr<Model>> Model::load_once(const Registry& registry, const std::string& path, const LoadOptions& options) {
  std::shared_ptr<Model> m(new Model);
  m->path_ = path;
  constexpr std::string_view kFile = "/saved_model.pb";
  if (path.ends_with(kFile)) m->path_ = path.substr(0, path.size() - kFile.size());
  while (m->path_.size() > 1 && m->path_.back() == '/') m->path_.pop_back();
  struct stat s;
  if (stat(m->path_.c_str(), &s) != 0) return not_found(m->path_, " does not exist; give a SavedModel's folder or a GraphDef (.pb, .pbtxt)");
  m->saved_model_ = S_ISDIR(s.st_mode);
  WEFT_RETURN_IF_ERROR(m->saved_model_ ? m->open_saved_model(registry, options) : m->open_graph(registry, options));
  return m;
}

Model::~Model() = default;

Status Model::open_saved_model(const Registry& registry, const LoadOptions& options) {
  if (options.verify) WEFT_RETURN_IF_ERROR(verify_saved_model(path_));
  WEFT_ASSIGN(fingerprint_, read_fingerprint(path_));
  if (options.verify_fingerprint) {
    if (!fingerprint_) return not_found(path_, " has no fingerprint.pb to verify");
    WEFT_RETURN_IF_ERROR(saved_model::verify_fingerprint(path_, *fingerprint_));
  }
  WEFT_ASSIGN(meta_, read_meta_graph(path_, options.tags));
  WEFT_ASSIGN(objects_, decode_object_graph(meta_.object_graph));
  graph_ = std::make_unique<graph::Graph>(registry, std::make_shared<graph::FunctionLibrary>());
  WEFT_ASSIGN(session_, saved_model::load(*graph_, graph_mutex_, meta_, path_, options.session));
  functions_ = std::make_unique<FunctionTable>(objects_, meta_, path_, *graph_, *session_);
  WEFT_RETURN_IF_ERROR(bind_signatures());
  return list_variables();
}

Status Model::open_graph(const Registry& registry, const LoadOptions& options) {
  WEFT_ASSIGN(graph::GraphDef def, read_graph_file(path_));
  graph_ = std::make_unique<graph::Graph>(registry, std::make_shared<graph::FunctionLibrary>());
  WEFT_RETURN_IF_ERROR(graph::import_graph_def(*graph_, std::move(def)).status());
  session_ = std::make_unique<runtime::Session>(*graph_, graph_mutex_, options.session);
  functions_ = std::make_unique<FunctionTable>(objects_, meta_, path_, *graph_, *session_);
  signatures_.push_back(signature_of_graph(*graph_));
  if (Node* init = graph_->find(kInitTables); init && is_no_op(*init)) WEFT_RETURN_IF_ERROR(session_->run({}, {}, {}, {}, {&init, 1}, {}));
  return list_variables();
}

Status Model::bind_signatures() {
  for (const auto& [name, signature] : meta_.signatures) {
    if (name.starts_with("__saved_model_")) continue;  // the initialiser's place in new files
    BoundSignature s;
    s.name = name;
    s.method_name = signature.method_name;
    const auto in = [&](Status status) { return status.ok() ? status : Status(status.code(), cat("signature '", name, "': ", status.message())); };
    WEFT_RETURN_IF_ERROR(in(bind_all(*graph_, signature.inputs, s.inputs)));
    WEFT_RETURN_IF_ERROR(in(bind_all(*graph_, signature.outputs, s.outputs)));
    fill_endpoints(s);
    signatures_.push_back(std::move(s));
  }
  return {};
}

Result<const BoundSignature*> Model::signature(std::string_view name) const {
  std::string there;
  for (const auto& s : signatures_) {
    if (s.name == name) return &s;
    there += cat(there.empty() ? "" : ", ", s.name);
  }
  return not_found("the model has no signature '", name, "'; it has: ", there.empty() ? "none" : there);
}

Status Model::check_inputs(const BoundSignature& s, std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < s.inputs.size(); ++i) {
    const auto& p = s.inputs[i];
    if (i >= inputs.size() || !inputs[i].valid())
      return invalid_argument("input '", p.name, "' of signature '", s.name, "' was not given; it is ", dtype_name(p.dtype), " ",
                              p.shape.to_string());
    if (inputs[i].dtype() != p.dtype)
      return invalid_argument("input '", p.name, "' of signature '", s.name, "' must be ", dtype_name(p.dtype), ", got ",
                              dtype_name(inputs[i].dtype()));
    if (!p.shape.compatible_with(inputs[i].shape()))
      return invalid_argument("input '", p.name, "' of signature '", s.name, "' must have the shape ", p.shape.to_string(), ", got ",
                              inputs[i].shape().to_string());
  }
  return {};
}

Status Model::run(const BoundSignature& s, std::span<Tensor> inputs, std::span<Tensor> outputs, const runtime::Session::RunOptions& options) {
  WEFT_RETURN_IF_ERROR(check_inputs(s, inputs));
  if (s.fetches.empty()) return invalid_argument("signature '", s.name, "' has no outputs");
  return session_->run(s.feeds, inputs, s.fetches, outputs, {}, options);
}

Status Model::run(std::span<const std::pair<std::string, Tensor>> feeds, std::span<const std::string> fetches, std::span<const std::string> targets,
                  std::vector<Tensor>& results, const runtime::Session::RunOptions& options) {
  std::vector<Endpoint> in, out;
  std::vector<Tensor> values;
  std::vector<Node*> nodes;
  {
    std::lock_guard lock(graph_mutex_);
    for (const auto& [name, value] : feeds) {
      WEFT_ASSIGN(Endpoint e, find_tensor(*graph_, name));
      in.push_back(e);
      values.push_back(value);
    }
    for (const auto& name : fetches) {
      WEFT_ASSIGN(Endpoint e, find_tensor(*graph_, name));
      out.push_back(e);
    }
    for (const auto& name : targets) {
      Node* n = graph_->find(name);
      if (!n) return not_found("node ", name, ": the graph has no such node");
      nodes.push_back(n);
    }
  }
  results.assign(out.size(), {});
  return session_->run(in, values, out, results, nodes, options);
}

Status Model::list_variables() {
  std::map<std::string, Endpoint> restored;  // by checkpoint key
  std::vector<std::string> keys(objects_.nodes.size());
  const std::string prefix = path_ + "/variables/variables";
  struct stat s;
  if (saved_model_ && stat((prefix + ".index").c_str(), &s) == 0) {
    WEFT_ASSIGN(restored, restored_variables(*graph_, meta_));
    WEFT_ASSIGN(keys, read_checkpoint_keys(objects_, prefix));
  }
  const std::vector<std::string> paths = objects_.paths();
  for (size_t i = 0; i < objects_.nodes.size(); ++i) {
    const SavedObject& o = objects_.nodes[i];
    if (o.kind != SavedObject::Kind::kVariable) continue;
    VariableInfo v;
    v.name = o.name.empty() ? paths[i] : o.name;
    v.path = paths[i];
    v.checkpoint_key = keys[i];
    v.dtype = o.dtype;
    v.shape = o.shape;
    v.trainable = o.trainable;
    if (auto it = restored.find(keys[i]); it != restored.end() && !functions_->tensor_of(int(i)).node) functions_->set_tensor(int(i), it->second);
    v.handle = functions_->tensor_of(int(i));
    variables_.push_back(std::move(v));
  }
  if (!variables_.empty()) return {};
  for (Node* n : graph_->nodes()) {
    if (!is_variable(*n)) continue;
    VariableInfo v;
    const AttrValue* shared = n->find_attr("shared_name");
    const std::string* name = shared ? shared->get<std::string>() : nullptr;
    v.name = name && !name->empty() ? *name : n->name();
    v.dtype = n->attr<DType>("dtype");
    v.shape = n->attr<PartialShape>("shape");
    v.trainable = !saved_model_ || meta_.trainable_variables.count(n->name()) > 0;
    v.handle = {n, 0};
    for (const auto& [key, endpoint] : restored) {
      if (endpoint.node == n) v.checkpoint_key = key;
    }
    variables_.push_back(std::move(v));
  }
  return {};
}

Result<Tensor> Model::value(const VariableInfo& v) {
  if (!v.handle.node) return failed_precondition("variable ", v.name, " has no place in the model's graph");
  Tensor t;
  WEFT_RETURN_IF_ERROR(session_->run({}, {}, {&v.handle, 1}, {&t, 1}, {}, {}));
  if (t.dtype() != DType::kResource) return t;
  WEFT_ASSIGN(auto variable, session_->resources().get<op::Variable>(t.data<ResourceHandle>()[0]));
  std::shared_lock lock(variable->mutex());
  if (!variable->initialized()) return failed_precondition("variable ", v.name, " has no value yet");
  return core::to_host(variable->tensor());
}

}  // namespace weft_engine::saved_model
