#include "saved_model/objects.h"

#include <algorithm>

#include "core/cat.h"
#include "io/graph_def.h"
#include "saved_model/fingerprint.h"
#include "saved_model/model_folder.h"
#include "wire/file.h"

namespace weft_engine::saved_model {
namespace {

using Kind = SavedObject::Kind;
constexpr int kMaxDepth = 64;

}  // namespace

Objects::~Objects() = default;

Result<std::shared_ptr<Objects>> Objects::open(eager::Context& context, const std::string& dir, MetaGraph meta) {
  std::shared_ptr<Objects> m(new Objects(context));
  m->dir_ = dir;
  while (m->dir_.size() > 1 && m->dir_.back() == '/') m->dir_.pop_back();
  m->meta_ = std::move(meta);
  WEFT_ASSIGN(m->objects_, decode_object_graph(m->meta_.object_graph));
  if (m->objects_.nodes.empty())
    return failed_precondition(m->dir_, " holds no objects: it was saved by version 1's builder. weft::load runs its signatures.");
  for (const auto& [tensor, file] : m->meta_.assets) WEFT_RETURN_IF_ERROR(check_asset_name(file));
  m->paths_ = m->objects_.paths();
  m->variables_.resize(m->objects_.nodes.size());
  WEFT_ASSIGN(m->graph_, io::decode_graph_def(m->meta_.file, m->meta_.graph_def));
  WEFT_ASSIGN(const RegisteredGradients gradients, decode_registered_gradients(m->meta_.graph_def));
  trace::Entered outside(nullptr);
  WEFT_ASSIGN(m->library_, load_functions(context, m->graph_, m->objects_, gradients));
  m->fill_resources_ = false;
  return m;
}

Result<std::shared_ptr<Objects>> Objects::load(eager::Context& context, const std::string& dir, const std::vector<std::string>& tags, bool verify) {
  return read_whole(dir, [&]() -> Result<std::shared_ptr<Objects>> {
    if (verify) WEFT_RETURN_IF_ERROR(verify_saved_model(dir));
    WEFT_ASSIGN(MetaGraph meta, read_meta_graph(dir, tags));
    WEFT_ASSIGN(std::shared_ptr<Objects> m, open(context, dir, std::move(meta)));
    m->functions_ = list_functions(m->objects_);
    m->fill_resources_ = true;
    trace::Entered outside(nullptr);
    WEFT_RETURN_IF_ERROR(m->make_objects());
    WEFT_RETURN_IF_ERROR(m->restore_saveables());
    m->bundle_.reset();
    return m;
  });
}

// The states that a C++ program sees: variables with their values, and who holds whom.
Status Objects::make_objects() {
  states_.resize(objects_.nodes.size());
  for (size_t i = 0; i < objects_.nodes.size(); ++i) {
    const SavedObject& o = objects_.nodes[i];
    if (o.kind == Kind::kVariable) {
      trace::VariableSpec spec;
      spec.name = o.name.empty() ? paths_[i] : o.name;
      spec.dtype = o.dtype;
      spec.shape = o.shape;
      spec.trainable = o.trainable;
      spec.synchronization = trace::Synchronization(o.synchronization);
      spec.aggregation = trace::Aggregation(o.aggregation);
      WEFT_ASSIGN(auto v, trace::VariableState::make(context_, std::move(spec)));
      set_variable(int(i), {v});
      states_[i] = std::move(v);
    } else if (o.kind == Kind::kUser || i == 0) {
      states_[i] = std::make_shared<trace::TrackableState>(o.name.empty() ? "_UserObject" : o.name);
    }
  }
  WEFT_ASSIGN(auto values, read_values());
  for (auto& [node, value] : values)
    WEFT_RETURN_IF_ERROR(
        variables_[size_t(node)][0]->initialize(trace::eager_emitter(context_).wrap(eager::TensorHandle::make(std::move(value), nullptr))));
  for (size_t i = 0; i < objects_.nodes.size(); ++i) {
    if (!states_[i] || states_[i]->as_variable()) continue;
    for (const auto& [name, node] : objects_.nodes[i].children) {
      if (states_[size_t(node)] && size_t(node) != i && !(i == 0 && name == "signatures"))
        WEFT_RETURN_IF_ERROR(states_[i]->track(name, states_[size_t(node)]));
    }
  }
  return {};
}

// ---- values

Status Objects::open_checkpoint() {
  if (!matched_.empty()) return {};
  matched_.assign(objects_.nodes.size(), -1);
  const std::string prefix = dir_ + "/variables/variables";
  if (!wire::file_exists(prefix + ".index")) {
    const auto is_variable = [](const SavedObject& o) { return o.kind == Kind::kVariable; };
    if (std::none_of(objects_.nodes.begin(), objects_.nodes.end(), is_variable)) return {};
    return not_found("Could not find SavedModel variables at ", prefix, ".index");
  }
  WEFT_ASSIGN(bundle_, wire::BundleReader::open(prefix));
  WEFT_ASSIGN(checkpoint_, read_trackables(*bundle_));
  matched_ = match_objects(objects_, checkpoint_);
  return {};
}

Result<std::map<int, Tensor>> Objects::read_values() {
  WEFT_RETURN_IF_ERROR(open_checkpoint());
  std::vector<int> nodes;
  std::vector<std::string> keys;
  for (size_t i = 0; i < objects_.nodes.size(); ++i) {
    if (objects_.nodes[i].kind != Kind::kVariable || matched_[i] < 0) continue;
    std::string key = variable_key(checkpoint_[size_t(matched_[i])]);
    if (key.empty() || !bundle_->contains(key)) continue;
    nodes.push_back(int(i));
    keys.push_back(std::move(key));
  }
  std::vector<Tensor> tensors(keys.size());
  if (!keys.empty()) {
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    WEFT_RETURN_IF_ERROR(bundle_->lookup_all(views, tensors, &context_.pool()));
  }
  std::map<int, Tensor> out;
  for (size_t i = 0; i < nodes.size(); ++i) out[nodes[i]] = std::move(tensors[i]);
  return out;
}

// The function that saves tells the names of its tensors in the bundle, the one that restores takes these.
Status Objects::restore_saveables() {
  WEFT_RETURN_IF_ERROR(open_checkpoint());
  trace::Entered outside(nullptr);
  const auto wrap = [&](Tensor t) { return trace::eager_emitter(context_).wrap(eager::TensorHandle::make(std::move(t), nullptr)); };
  for (size_t i = 0; i < objects_.nodes.size(); ++i) {
    for (const auto& [name, functions] : objects_.nodes[i].saveables) {
      if (name == SavedObject::kTensorsByName) {  // in the order of the names
        std::map<std::string, std::string> keys;
        if (matched_[i] < 0) continue;
        for (const auto& value : checkpoint_[size_t(matched_[i])].values) keys[value.name] = value.key;
        std::vector<op::Value> contents;
        for (const auto& [part, key] : keys) {
          WEFT_ASSIGN(Tensor t, bundle_->lookup(key, &context_.pool()));
          contents.push_back(wrap(std::move(t)));
        }
        WEFT_ASSIGN(const std::string restore, only_trace(functions.second));
        WEFT_ASSIGN(auto restorer, concrete(restore, 0, 0));
        WEFT_RETURN_IF_ERROR(restorer->call(contents).status());
        continue;
      }
      std::string key;
      if (matched_[i] >= 0) {
        for (const auto& value : checkpoint_[size_t(matched_[i])].values) {
          if (value.name == name) key = value.key;
        }
      }
      if (key.empty()) continue;
      WEFT_ASSIGN(const std::string save, only_trace(functions.first));
      WEFT_ASSIGN(const std::string restore, only_trace(functions.second));
      WEFT_ASSIGN(auto saver, concrete(save, 0, 0));
      WEFT_ASSIGN(auto restorer, concrete(restore, 0, 0));
      const op::Value key_value = wrap(Tensor::scalar(tstring(key)));
      WEFT_ASSIGN(std::vector<op::Value> parts, saver->call({&key_value, 1}));
      std::vector<op::Value> contents;
      for (size_t k = 0; k + 2 < parts.size(); k += 3) {  // {"name", "slice_spec", "tensor"} of each
        const eager::TensorHandle* part = trace::eager_handle(parts[k]);
        WEFT_RETURN_IF_ERROR(part->wait());
        if (part->dtype() != DType::kString || part->tensor().num_elements() != 1)
          return invalid_argument("the function that saves ", paths_[i], " does not say under which names");
        WEFT_ASSIGN(Tensor t, bundle_->lookup(part->tensor().data<tstring>()[0].view(), &context_.pool()));
        contents.push_back(wrap(std::move(t)));
      }
      WEFT_RETURN_IF_ERROR(restorer->call(contents).status());
    }
  }
  return {};
}

// ---- functions

Result<const ModelFunction*> Objects::function(std::string_view path) const {
  std::string there;
  for (const ModelFunction& f : functions_) {
    if (f.path == path) return &f;
    if (!f.internal) there += cat(there.empty() ? "" : ", ", f.path);
  }
  return not_found("the model has no function '", path, "'; it has: ", there.empty() ? "none" : there);
}

std::vector<std::string> Objects::signatures() const {
  std::vector<std::string> out;
  for (const ModelFunction& f : functions_) {
    if (f.path.starts_with("signatures.")) out.push_back(f.path.substr(11));
  }
  return out;
}

Result<const FunctionForm*> Objects::signature(std::string_view name) const {
  std::string there;
  for (const ModelFunction& f : functions_) {
    if (!f.path.starts_with("signatures.")) continue;
    if (f.path.substr(11) == name && !f.forms.empty()) return &f.forms[0];
    there += cat(there.empty() ? "" : ", ", f.path.substr(11));
  }
  return not_found("the model has no signature '", name, "'; it has: ", there.empty() ? "none" : there);
}

Result<std::shared_ptr<trace::ConcreteFunction>> Objects::concrete(const FunctionForm& form) {
  WEFT_RETURN_IF_ERROR(form.unsupported);
  return concrete(form.name, 0);
}

Result<std::shared_ptr<trace::ConcreteFunction>> Objects::concrete(const std::string& name, int replica) {
  trace::Entered outside(nullptr);
  return concrete(name, replica, 0);
}

int Objects::replicas(const std::string& name) const {
  size_t most = 1;
  if (auto it = objects_.concrete_functions.find(name); it != objects_.concrete_functions.end()) {
    for (int object : it->second.bound_inputs) most = std::max(most, variables_[size_t(object)].size());
  }
  return int(most);
}

Result<std::shared_ptr<trace::ConcreteFunction>> Objects::concrete(const std::string& name, int replica, int depth) {
  std::lock_guard lock(mutex_);
  if (auto it = concrete_.find({name, replica}); it != concrete_.end()) return it->second;
  auto there = library_.names.find(name);
  if (there == library_.names.end()) return data_loss("the SavedModel is damaged: it has no function ", name);
  std::vector<int> bound;  // one that is only called by others captured nothing
  if (auto it = objects_.concrete_functions.find(name); it != objects_.concrete_functions.end()) bound = it->second.bound_inputs;
  std::vector<op::Value> captures;
  for (int object : bound) {
    WEFT_ASSIGN(op::Value v, captured(object, replica, depth));
    captures.push_back(std::move(v));
  }
  WEFT_ASSIGN(auto f, trace::ConcreteFunction::of_library(context_, there->second, std::move(captures)));
  for (int object : bound) {
    if (const auto& copies = variables_[size_t(object)]; !copies.empty()) f->use_variable(copies[std::min(size_t(replica), copies.size() - 1)]);
  }
  concrete_[{name, replica}] = f;
  return f;
}

Result<std::string> Objects::only_trace(int function) const {
  const auto& traces = objects_.nodes[size_t(function)].concrete_functions;
  if (traces.empty()) return data_loss("the SavedModel is damaged: the function ", paths_[size_t(function)], " has no trace");
  return traces[0];
}

// ---- what functions captured

Result<op::Value> Objects::captured(int node) {
  trace::Entered outside(nullptr);
  return captured(node, 0, 0);
}

Result<op::Value> Objects::captured(int object, int replica, int depth) {
  std::lock_guard lock(mutex_);
  if (variables_[size_t(object)].size() <= size_t(replica)) replica = 0;  // one for all
  if (auto it = captured_.find({object, replica}); it != captured_.end()) return it->second;
  if (auto it = building_.find(object); it != building_.end()) return it->second;
  if (depth > kMaxDepth) return invalid_argument("the objects of the SavedModel need each other in a circle");
  WEFT_ASSIGN(op::Value made, make_captured(object, replica, depth));
  captured_[{object, replica}] = made;
  return made;
}

Result<op::Value> Objects::make_captured(int object, int replica, int depth) {
  const SavedObject& o = objects_.nodes[size_t(object)];
  const auto wrap = [&](Tensor t) { return trace::eager_emitter(context_).wrap(eager::TensorHandle::make(std::move(t), nullptr)); };
  if (const auto& copies = variables_[size_t(object)]; !copies.empty())
    return trace::eager_emitter(context_).wrap(copies[size_t(replica)]->eager_handle());
  if (o.kind == Kind::kConstant) {
    auto n = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), [&](const graph::NodeDef& d) { return d.name == o.name; });
    const AttrValue* value = nullptr;
    if (n != graph_.nodes.end()) {
      if (auto it = n->attrs.find("value"); it != n->attrs.end()) value = &it->second;
    }
    if (!value || !value->get<Tensor>()) return data_loss("the SavedModel is damaged: it has no constant ", o.name);
    return wrap(*value->get<Tensor>());
  }
  if (o.kind == Kind::kAsset) {
    if (o.asset < 0 || size_t(o.asset) >= meta_.assets.size()) return data_loss("the SavedModel is damaged: it has no asset ", o.asset);
    return wrap(Tensor::scalar(file_of(o).c_str()));
  }
  if (o.kind == Kind::kResource) {
    auto made = create_resource(object, depth);
    building_.erase(object);
    return made;
  }
  return unimplemented("object ", object, " of the SavedModel (", paths_[size_t(object)],
                       "), which a function captured, is of a kind that cannot be captured");
}

std::string Objects::file_of(const SavedObject& asset) const {
  return size_t(asset.asset) < meta_.assets.size() ? cat(dir_, "/assets/", meta_.assets[size_t(asset.asset)].second) : std::string();
}

// A table: made and filled by its own functions.
Result<op::Value> Objects::create_resource(int object, int depth) {
  const auto call = [&](const std::string& name) -> Result<std::vector<op::Value>> {
    WEFT_ASSIGN(auto f, concrete(name, 0, depth + 1));
    return f->call({});
  };
  const std::string create = objects_.own_trace(object, "_create_resource"), initialize = objects_.own_trace(object, "_initialize");
  if (create.empty()) return unimplemented("resource ", paths_[size_t(object)], " of the SavedModel says not how to make it");
  WEFT_ASSIGN(std::vector<op::Value> made, call(create));
  if (made.empty() || made[0].dtype() != DType::kResource)
    return invalid_argument("the function that makes resource ", paths_[size_t(object)], " gives no handle");
  building_[object] = made[0];
  if (fill_resources_ && !initialize.empty()) WEFT_RETURN_IF_ERROR(call(initialize).status());
  return made[0];
}

}  // namespace weft_engine::saved_model
