#include "saved_model/saver.h"

#include <algorithm>
#include <set>

#include "core/cat.h"
#include "io/graph_def.h"
#include "io/op_def.h"
#include "saved_model/checkpoint.h"
#include "saved_model/fingerprint.h"
#include "saved_model/model_folder.h"
#include "saved_model/saved_functions.h"
#include "saved_model/saver_graph.h"
#include "wire/file.h"
#include "wire/proto.h"

namespace weft_engine::saved_model {
namespace {

using wire::ProtoWriter;

constexpr const char* kInitOp = "__saved_model_init_op";

// What the checkpoint tells of the objects, and its values by key.
std::vector<SavedTrackable> list_values(ModelDescription& model, ModelDescription::Values& values) {
  std::vector<SavedTrackable> nodes;
  for (const SavedObject& o : model.objects.nodes) {
    SavedTrackable node;
    node.children = o.children;
    node.slots = o.slots;
    nodes.push_back(std::move(node));
  }
  const std::vector<std::string> paths = trackable_paths(nodes);
  for (auto& [id, list] : model.values) {
    const SavedObject& o = model.objects.nodes[size_t(id)];
    const bool by_name = o.saveables.empty() || o.saveables.count(SavedObject::kTensorsByName);
    for (const auto& [name, functions] : o.saveables) {
      if (!by_name) nodes[size_t(id)].values.push_back({name, "", value_key(paths[size_t(id)], name)});
    }
    for (auto& v : list) {
      std::string key = value_key(paths[size_t(id)], v.name);
      const bool variable = o.kind == SavedObject::Kind::kVariable;
      if (by_name) nodes[size_t(id)].values.push_back({v.name, variable ? o.name : std::string(), key});
      values.emplace_back(std::move(key), std::move(v.tensor));
    }
  }
  values.emplace_back(kObjectGraphKey, Tensor::scalar(tstring(encode_trackables(nodes))));
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return nodes;
}

// The functions as the file has them.
Result<FunctionMap> functions_of_file(const op::Registry& registry, ModelDescription& model) {
  FunctionMap out;
  for (const std::string& name : model.library->names()) {
    WEFT_ASSIGN(auto def, model.library->find(name));
    graph::FunctionDef copy = *def;
    std::erase_if(copy.attrs, [](const auto& a) { return a.first.starts_with("_function_gradient"); });  // the engine's own, which TensorFlow refuses
    if (auto it = model.argument_names.find(name); it != model.argument_names.end()) {
      for (size_t i = 0; i < it->second.size() && i < copy.inputs.size(); ++i) copy.arg_attrs[int(i)]["_user_specified_name"] = it->second[i];
    }
    out.emplace(name, std::move(copy));
  }
  write_handle_data(out, model.objects, registry);
  return out;
}

void text_entry(ProtoWriter& w, int field, std::string_view key, std::string_view value) {
  ProtoWriter e;
  e.bytes(1, key);
  e.bytes(2, value);
  w.message(field, e);
}

ProtoWriter encode_meta_info(const op::Registry& registry, const ModelDescription& model, const std::vector<std::string>& ops) {
  ProtoWriter info;
  std::vector<const op::OpSpec*> specs;
  for (const std::string& name : ops) {
    if (const op::OpSpec* spec = registry.find(name)) specs.push_back(spec);
  }
  info.bytes(2, io::encode_op_list(specs));
  for (const auto& t : model.tags) info.bytes(4, t);
  info.bytes(5, model.tensorflow_version);
  if (!model.git_version.empty()) info.bytes(6, model.git_version);
  info.boolean(7, true);
  for (const auto& [function, alias] : model.aliases) text_entry(info, 8, function, alias);
  return info;
}

// The signature that names the op which starts the model.
ProtoWriter encode_init_signature(const std::string& op) {
  ProtoWriter tensor, out, signature, unknown;
  unknown.boolean(3, true);
  tensor.bytes(1, op);
  tensor.message(3, unknown);
  out.bytes(1, kInitOp);
  out.message(2, tensor);
  signature.message(2, out);
  return signature;
}

Result<std::string> encode_model(const op::Registry& registry, const ModelDescription& model, const SavedGraph& saved,
                                 const RegisteredGradients& gradients, const std::vector<std::string>& ops) {
  ProtoWriter meta;
  meta.message(1, encode_meta_info(registry, model, ops));
  WEFT_ASSIGN(std::string graph, io::encode_graph_def(*saved.graph, false));
  WEFT_ASSIGN(std::string library, io::encode_function_library(*saved.graph->library()));
  ProtoWriter functions;
  functions.bytes(2, library + encode_registered_gradients(gradients));
  meta.bytes(2, graph + functions.str());
  if (!saved.restore_op.empty()) {
    ProtoWriter saver;
    saver.bytes(1, saved.filename);
    saver.bytes(2, saved.save_tensor);
    saver.bytes(3, saved.restore_op);
    saver.varint(7, 2);
    meta.message(3, saver);
  }
  ProtoWriter list, collection;
  list.bytes(1, saved.init_op);
  collection.message(1, list);
  text_entry(meta, 4, "saved_model_main_op", collection.str());
  for (const auto& [name, bytes] : saved.signatures) text_entry(meta, 5, name, bytes);
  text_entry(meta, 5, kInitOp, encode_init_signature(saved.init_op).str());
  for (const auto& [tensor, file] : saved.assets) {
    ProtoWriter asset, info;
    info.bytes(1, tensor);
    asset.message(1, info);
    asset.bytes(2, file);
    meta.message(6, asset);
  }
  meta.bytes(7, encode_object_graph(model.objects));
  ProtoWriter out;
  out.varint(1, 1);
  out.message(2, meta);
  return out.take();
}

}  // namespace

Result<SavedModelFiles> SavedModelFiles::make(const op::Registry& registry, ModelDescription model) {
  SavedModelFiles out;
  const std::vector<SavedTrackable> trackables = list_values(model, out.values_);
  WEFT_ASSIGN(FunctionMap functions, functions_of_file(registry, model));
  RegisteredGradients gradients;
  if (model.custom_gradients) gradients = export_gradients(functions, model.objects);
  auto library = std::make_shared<graph::FunctionLibrary>();
  std::set<std::string> ops;
  for (auto& [name, def] : functions) {
    for (const auto& n : def.nodes) {
      if (!functions.count(n.op)) ops.insert(n.op);
    }
    WEFT_RETURN_IF_ERROR(library->add(std::move(def)));
  }
  for (auto& g : model.library->gradients()) WEFT_RETURN_IF_ERROR(library->add_gradient(g));
  WEFT_ASSIGN(SavedGraph saved, build_saved_graph(registry, std::move(library), model, trackables));
  for (const graph::Node* n : saved.graph->nodes()) ops.emplace(n->op());
  out.ops_.assign(ops.begin(), ops.end());
  WEFT_ASSIGN(out.bytes_, encode_model(registry, model, saved, gradients, out.ops_));
  for (const auto& [id, path] : model.assets) out.assets_.emplace_back(path, saved.assets[size_t(model.objects.nodes[size_t(id)].asset)].second);
  out.model_ = std::move(model);
  return out;
}

Status SavedModelFiles::write(const std::string& dir) {
  WEFT_ASSIGN(ModelFolder folder, ModelFolder::create(dir));
  const std::string& to = folder.path();
  WEFT_RETURN_IF_ERROR(wire::create_folders(to + "/variables"));
  WEFT_RETURN_IF_ERROR(wire::create_folders(to + "/assets"));
  for (const auto& [path, name] : assets_) {
    WEFT_RETURN_IF_ERROR(check_asset_name(name));
    const std::string target = cat(to, "/assets/", name);
    if (path == target) continue;  // on another file system it may be there
    std::string contents;
    WEFT_RETURN_IF_ERROR(wire::read_file(path, contents));
    WEFT_RETURN_IF_ERROR(wire::write_file(target, contents));
  }
  const std::string prefix = to + "/variables/variables";
  WEFT_RETURN_IF_ERROR(model_.write_values ? model_.write_values(prefix, values_) : write_values(prefix, values_));
  WEFT_RETURN_IF_ERROR(wire::write_file(to + "/saved_model.pb", bytes_));
  if (model_.debug_info) {
    WEFT_RETURN_IF_ERROR(wire::create_folders(to + "/debug"));
    WEFT_RETURN_IF_ERROR(wire::write_file(to + "/debug/saved_model_debug_info.pb", ""));
  }
  WEFT_RETURN_IF_ERROR(write_fingerprint(to));
  return folder.publish();
}

}  // namespace weft_engine::saved_model
