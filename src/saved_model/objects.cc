#include "saved_model/objects.h"

#include <algorithm>
#include <atomic>

#include "core/cat.h"
#include "io/graph_def.h"
#include "saved_model/fingerprint.h"
#include "saved_model/model.h"
#include "saved_model/model_folder.h"
#include "trace/library_function.h"
#include "trace/variable.h"
#include "wire/tensor_bundle.h"

namespace weft::saved_model {
namespace {

using Kind = SavedObject::Kind;
constexpr int kMaxDepth = 64;

// Functions of different models may have the same names; here each gets one of its own.
void rename(AttrMap& attrs, const std::map<std::string, std::string>& names) {
  auto renamed = [&](const FunctionAttr& f) {
    auto it = names.find(f.name);
    return it == names.end() ? f : FunctionAttr{it->second, f.attrs};
  };
  for (auto& [key, value] : attrs) {
    if (const auto* f = value.get<FunctionAttr>()) {
      value = renamed(*f);
    } else if (const auto* list = value.get<std::vector<FunctionAttr>>()) {
      std::vector<FunctionAttr> out;
      for (const FunctionAttr& f : *list) out.push_back(renamed(f));
      value = std::move(out);
    }
  }
}

}  // namespace

Objects::~Objects() = default;

Status Objects::add_library() {
  static std::atomic<int64_t> next{0};
  const std::string suffix = cat("_loaded_", next.fetch_add(1, std::memory_order_relaxed));
  for (const auto& [name, lazy] : graph_.functions) names_[name] = name + suffix;
  std::vector<graph::FunctionDef> defs;
  for (const auto& [name, lazy] : graph_.functions) {
    WEFT_ASSIGN(graph::FunctionDef def, lazy());
    def.name = names_[name];
    for (graph::NodeDef& n : def.nodes) {
      if (auto it = names_.find(n.op); it != names_.end()) n.op = it->second;
      rename(n.attrs, names_);
    }
    defs.push_back(std::move(def));
  }
  std::vector<graph::GradientDef> gradients;
  for (const auto& g : graph_.gradients) {
    auto f = names_.find(g.function), d = names_.find(g.gradient);
    if (f != names_.end() && d != names_.end()) gradients.push_back({f->second, d->second});
  }
  WEFT_ASSIGN(loaded_, trace::LoadedFunctions::make(context_, std::move(defs), gradients));
  return {};
}

Status Objects::make_variables() {
  const std::string prefix = dir_ + "/variables/variables";
  std::vector<std::string> keys(objects_.nodes.size());
  std::unique_ptr<wire::BundleReader> bundle;
  const bool any = std::any_of(objects_.nodes.begin(), objects_.nodes.end(), [](const SavedObject& o) { return o.kind == Kind::kVariable; });
  if (any) {
    WEFT_ASSIGN(keys, read_checkpoint_keys(objects_, prefix));
    WEFT_ASSIGN(bundle, wire::BundleReader::open(prefix));
  }
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
      if (!keys[i].empty() && bundle->contains(keys[i])) {
        WEFT_ASSIGN(Tensor value, bundle->lookup(keys[i], &context_.pool()));
        WEFT_RETURN_IF_ERROR(v->initialize(trace::eager_emitter(context_).wrap(eager::TensorHandle::make(std::move(value), nullptr))));
      }
      states_[i] = std::move(v);
    } else if (o.kind == Kind::kUser || i == 0) {
      states_[i] = std::make_shared<trace::TrackableState>(o.name.empty() ? "_UserObject" : o.name);
    }
  }
  for (size_t i = 0; i < objects_.nodes.size(); ++i) {
    if (!states_[i] || states_[i]->as_variable()) continue;
    for (const auto& [name, node] : objects_.nodes[i].children) {
      if (states_[size_t(node)] && size_t(node) != i && !(i == 0 && name == "signatures"))
        WEFT_RETURN_IF_ERROR(states_[i]->track(name, states_[size_t(node)]));
    }
  }
  return {};
}

Result<std::shared_ptr<Objects>> Objects::load(eager::Context& context, const std::string& dir, const std::vector<std::string>& tags, bool verify) {
  return read_whole(dir, [&]() -> Result<std::shared_ptr<Objects>> {
    if (verify) WEFT_RETURN_IF_ERROR(verify_saved_model(dir));
    return load_once(context, dir, tags);
  });
}

Result<std::shared_ptr<Objects>> Objects::load_once(eager::Context& context, const std::string& dir, const std::vector<std::string>& tags) {
  std::shared_ptr<Objects> m(new Objects(context));
  m->dir_ = dir;
  while (m->dir_.size() > 1 && m->dir_.back() == '/') m->dir_.pop_back();
  WEFT_ASSIGN(m->meta_, read_meta_graph(m->dir_, tags));
  WEFT_ASSIGN(m->objects_, decode_object_graph(m->meta_.object_graph));
  if (m->objects_.nodes.empty())
    return failed_precondition(m->dir_, " holds no objects: it was saved by version 1's builder. weft::load runs its signatures.");
  m->paths_ = m->objects_.paths();
  m->functions_ = list_functions(m->objects_);
  WEFT_ASSIGN(m->graph_, io::decode_graph_def(m->meta_.file, m->meta_.graph_def));
  trace::Entered outside(nullptr);
  WEFT_RETURN_IF_ERROR(m->add_library());
  WEFT_RETURN_IF_ERROR(m->make_variables());
  return m;
}

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
  trace::Entered outside(nullptr);
  return concrete(form.name, form.bound, 0);
}

Result<std::shared_ptr<trace::ConcreteFunction>> Objects::concrete(const std::string& name, const std::vector<int>& bound, int depth) {
  std::lock_guard lock(mutex_);
  if (auto it = concrete_.find(name); it != concrete_.end()) return it->second;
  auto there = names_.find(name);
  if (there == names_.end()) return data_loss("the SavedModel is damaged: it has no function ", name);
  std::vector<op::Value> captures;
  for (int object : bound) {
    WEFT_ASSIGN(op::Value v, captured(object, depth));
    captures.push_back(std::move(v));
  }
  WEFT_ASSIGN(auto f, trace::ConcreteFunction::of_library(context_, there->second, std::move(captures)));
  for (int object : bound) {
    if (auto* v = states_[size_t(object)] ? states_[size_t(object)]->as_variable() : nullptr)
      f->use_variable(std::static_pointer_cast<trace::VariableState>(v->shared_from_this()));
  }
  concrete_[name] = f;
  return f;
}

Result<op::Value> Objects::captured(int object, int depth) {
  if (auto it = captured_.find(object); it != captured_.end()) return it->second;
  if (auto it = building_.find(object); it != building_.end()) return it->second;
  if (depth > kMaxDepth) return invalid_argument("the objects of the SavedModel need each other in a circle");
  const SavedObject& o = objects_.nodes[size_t(object)];
  auto wrap = [&](Tensor t) { return trace::eager_emitter(context_).wrap(eager::TensorHandle::make(std::move(t), nullptr)); };
  op::Value made;
  if (states_[size_t(object)] && states_[size_t(object)]->as_variable()) {
    WEFT_ASSIGN(made, states_[size_t(object)]->as_variable()->handle());
  } else if (o.kind == Kind::kConstant) {
    auto n = std::find_if(graph_.nodes.begin(), graph_.nodes.end(), [&](const graph::NodeDef& d) { return d.name == o.name; });
    const AttrValue* value = nullptr;
    if (n != graph_.nodes.end()) {
      if (auto it = n->attrs.find("value"); it != n->attrs.end()) value = &it->second;
    }
    if (!value || !value->get<Tensor>()) return data_loss("the SavedModel is damaged: it has no constant ", o.name);
    made = wrap(*value->get<Tensor>());
  } else if (o.kind == Kind::kAsset) {
    if (o.asset < 0 || size_t(o.asset) >= meta_.assets.size()) return data_loss("the SavedModel is damaged: it has no asset ", o.asset);
    made = wrap(Tensor::scalar((dir_ + "/assets/" + meta_.assets[size_t(o.asset)].second).c_str()));
  } else if (o.kind == Kind::kResource) {
    WEFT_ASSIGN(made, create_resource(object, depth));
    building_.erase(object);
  } else {
    return unimplemented("object ", object, " of the SavedModel (", paths_[size_t(object)], "), which a function captured, is of a kind that cannot be captured");
  }
  captured_[object] = made;
  return made;
}

// A table: made and filled by its own functions.
Result<op::Value> Objects::create_resource(int object, int depth) {
  auto child = [&](std::string_view name) -> std::string {
    for (const auto& [child_name, node] : objects_.nodes[size_t(object)].children) {
      const auto& forms = objects_.nodes[size_t(node)].concrete_functions;
      if (child_name == name && !forms.empty()) return forms[0];
    }
    return {};
  };
  auto call = [&](const std::string& name) -> Result<std::vector<op::Value>> {
    auto it = objects_.concrete_functions.find(name);
    if (it == objects_.concrete_functions.end()) return data_loss("the SavedModel is damaged: it has no function ", name);
    WEFT_ASSIGN(auto f, concrete(name, it->second.bound_inputs, depth + 1));
    return f->call({});
  };
  const std::string create = child("_create_resource"), initialize = child("_initialize");
  if (create.empty()) return unimplemented("resource ", paths_[size_t(object)], " of the SavedModel says not how to make it");
  WEFT_ASSIGN(std::vector<op::Value> made, call(create));
  if (made.empty() || made[0].dtype() != DType::kResource) return invalid_argument("the function that makes resource ", paths_[size_t(object)], " gives no handle");
  building_[object] = made[0];
  if (!initialize.empty()) {
    Status s = call(initialize).status();
    if (!s.ok()) building_.erase(object);
    WEFT_RETURN_IF_ERROR(s);
  }
  return made[0];
}

}  // namespace weft::saved_model
