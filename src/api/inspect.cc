#include "engine/engine.h"
#include "io/graph_def.h"
#include "op/op_traits.h"
#include "wire/file.h"
#include "wire/tensor_bundle.h"

#include "api/model_internal.h"
#include "weft/inspect.h"

namespace weft {
namespace {

std::string tensor_names(const saved_model::TensorInfo& t) {
  if (t.coo_sparse.empty()) return t.name;
  return core::cat(t.coo_sparse[0], ", ", t.coo_sparse[1], ", ", t.coo_sparse[2]);
}

void add_specs(const std::map<std::string, saved_model::TensorInfo>& infos, std::vector<TensorSpec>& out) {
  for (const auto& [key, info] : infos) {
    if (info.composite.empty()) {
      out.push_back({key, static_cast<DType>(info.dtype), api::outer_shape(info.shape), tensor_names(info)});
      continue;
    }
    for (size_t i = 0; i < info.composite.size(); ++i) {
      const auto& part = info.composite[i];
      out.push_back({core::cat(key, ".", i), static_cast<DType>(part.dtype), api::outer_shape(part.shape), tensor_names(part)});
    }
  }
}

void count_ops(const std::vector<graph::NodeDef>& nodes, MetaGraphInfo& info) {
  for (const auto& n : nodes) ++info.ops[n.op];
}

MetaGraphInfo info_of(const saved_model::MetaGraph& m, const std::string& dir) {
  MetaGraphInfo info;
  info.tags = m.tags;
  info.tensorflow_version = m.tensorflow_version;
  info.init_op = m.init_op;
  for (const auto& [tensor, file] : m.assets) info.assets.push_back(file);
  for (const auto& [name, s] : m.signatures) {
    SignatureInfo out{name, s.method_name, {}, {}};
    add_specs(s.inputs, out.inputs);
    add_specs(s.outputs, out.outputs);
    info.signatures.push_back(std::move(out));
  }
  graph::GraphDef def = api::unwrap(io::decode_graph_def(m.file, m.graph_def));
  info.nodes = int(def.nodes.size());
  info.library_functions = int(def.functions.size());
  count_ops(def.nodes, info);
  for (const auto& [name, lazy] : def.functions) count_ops(api::unwrap(lazy()).nodes, info);
  // Calls by name are no ops.
  for (const auto& [name, lazy] : def.functions) info.ops.erase(name);
  saved_model::ObjectGraph objects = api::unwrap(saved_model::decode_object_graph(m.object_graph));
  for (const auto& f : saved_model::list_functions(objects)) {
    if (!f.internal) info.functions.push_back(api::info_of(f));
  }
  const auto paths = objects.paths();
  std::vector<std::string> keys(objects.nodes.size());
  const std::string prefix = dir + "/variables/variables";
  if (wire::file_exists(prefix + ".index")) keys = api::unwrap(saved_model::read_checkpoint_keys(objects, prefix));
  for (size_t i = 0; i < objects.nodes.size(); ++i) {
    const auto& o = objects.nodes[i];
    if (o.kind == saved_model::SavedObject::Kind::kVariable)
      info.variables.push_back(
          {o.name.empty() ? paths[i] : o.name, paths[i], keys[i], static_cast<DType>(o.dtype), api::outer_shape(o.shape), o.trainable});
  }
  if (info.variables.empty()) {
    for (const auto& n : def.nodes) {
      const op::OpSpec* spec = engine::Engine::get().registry().find(n.op);
      if (!spec || (spec->traits().role != op::Role::kVarHandle && spec->traits().role != op::Role::kRefVariable)) continue;
      const auto attr = [&](const char* key) { return n.attrs.find(key) == n.attrs.end() ? nullptr : &n.attrs.find(key)->second; };
      const auto* dtype = attr("dtype") ? attr("dtype")->get<core::DType>() : nullptr;
      const auto* shape = attr("shape") ? attr("shape")->get<core::PartialShape>() : nullptr;
      info.variables.push_back(
          {n.name, {}, {}, dtype ? static_cast<DType>(*dtype) : DType::invalid, shape ? api::outer_shape(*shape) : PartialShape(), true});
    }
  }
  return info;
}

}  // namespace

SavedModelInfo describe_saved_model(const std::string& dir) {
  SavedModelInfo info;
  for (const auto& m : api::unwrap(saved_model::read_saved_model(dir))) info.graphs.push_back(info_of(m, dir));
  if (auto f = api::unwrap(saved_model::read_fingerprint(dir)))
    info.fingerprint = FingerprintInfo{f->saved_model_checksum,    f->graph_def_program_hash, f->signature_def_hash,
                                       f->saved_object_graph_hash, f->checkpoint_hash,        f->uuid};
  return info;
}

std::vector<CheckpointEntry> describe_checkpoint(const std::string& prefix) {
  auto bundle = api::unwrap(wire::BundleReader::open(prefix));
  std::vector<CheckpointEntry> out;
  for (size_t i = 0; i < bundle->size(); ++i) {
    const std::string key(bundle->key(i));
    if (key.empty() || key[0] == '\0') continue;  // parts of a partitioned tensor
    auto e = api::unwrap(bundle->entry(key));
    out.push_back({key, static_cast<DType>(e.dtype), e.shape.vec(), e.size, e.shard});
  }
  return out;
}

Tensor read_checkpoint(const std::string& prefix, const std::string& key) {
  return api::adopt(api::unwrap(api::unwrap(wire::BundleReader::open(prefix))->lookup(key)));
}

void verify_saved_model(const std::string& dir) { api::check(saved_model::verify_saved_model(dir)); }
void verify_checkpoint(const std::string& prefix) { api::check(wire::verify_bundle(prefix)); }

}  // namespace weft
