#include "saved_model/functions.h"

#include <algorithm>

#include "core/cat.h"
#include "graph/function_library.h"
#include "op/step_resources.h"
#include "saved_model/loader.h"

namespace weft_engine::saved_model {
namespace {

using Kind = SavedObject::Kind;

constexpr int kMaxDepth = 16;  // resources that need resources

const StructuredValue* item(const StructuredValue& v, std::string_view key) {
  for (const auto& [k, x] : v.items) {
    if (k == key) return &x;
  }
  return nullptr;
}

// The names of a function's parameters and what they are when not given.
struct Parameters {
  std::vector<std::string> names;
  std::map<std::string, StructuredValue> defaults;
};
Parameters parameters_of(const SavedObject& o) {
  Parameters p;
  const StructuredValue& spec = o.spec.arg_spec;
  if (o.kind == Kind::kBareFunction || spec.kind == StructuredValue::Kind::kNone) {
    p.names = o.keywords;
    return p;
  }
  if (const auto* args = item(spec, "args")) {
    for (const auto& [key, name] : args->items) p.names.push_back(name.text);
  }
  if (const auto* defaults = item(spec, "defaults")) {
    const size_t n = defaults->items.size();
    for (size_t i = 0; i < n && n <= p.names.size(); ++i) p.defaults[p.names[p.names.size() - n + i]] = defaults->items[i].second;
  }
  if (const auto* defaults = item(spec, "kwonlydefaults")) {
    for (const auto& [key, value] : defaults->items) p.defaults[key] = value;
  }
  if (o.spec.is_method && !p.names.empty() && p.names[0] == "self") p.names.erase(p.names.begin());
  return p;
}

FunctionForm form_of(const std::string& name, const SavedConcreteFunction& f, const Parameters& p) {
  FunctionForm form;
  form.name = name;
  form.bound = f.bound_inputs;
  const auto add = [&](const std::string& parameter, const StructuredValue& v) {
    const size_t before = form.inputs.size();
    if (Status s = flatten(v, parameter, form.inputs); !s.ok() && form.unsupported.ok()) form.unsupported = s;
    if (form.inputs.size() == before && form.unsupported.ok()) form.plain.emplace_back(parameter, v);
  };
  if (f.inputs.items.size() == 2) {
    const auto& args = f.inputs.items[0].second.items;
    for (size_t i = 0; i < args.size(); ++i) add(i < p.names.size() ? p.names[i] : cat(i), args[i].second);
    for (const auto& [key, v] : f.inputs.items[1].second.items) add(key, v);
  }
  if (Status s = flatten(f.outputs, "", form.outputs); !s.ok() && form.unsupported.ok()) form.unsupported = s;
  return form;
}

bool fits(const FunctionForm& form, std::span<const Argument> args) {
  if (form.inputs.size() != args.size()) return false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (form.inputs[i].dtype != DType::kInvalid && form.inputs[i].dtype != args[i].dtype) return false;
    if (!form.inputs[i].shape.compatible_with(args[i].shape)) return false;
  }
  return true;
}

bool fits(const FunctionForm& form, const std::map<std::string, StructuredValue>& plain) {
  for (const auto& [parameter, value] : plain) {
    const auto it = std::find_if(form.plain.begin(), form.plain.end(), [&](const auto& p) { return p.first == parameter; });
    if (it == form.plain.end() || !(it->second == value)) return false;
  }
  return true;
}

// How many plain arguments, among those not given, are not what they would be by default.
int surprises(const FunctionForm& form, const ModelFunction& f, const std::map<std::string, StructuredValue>& plain) {
  int n = 0;
  for (const auto& [parameter, value] : form.plain) {
    if (plain.count(parameter)) continue;
    const auto it = f.defaults.find(parameter);
    n += it == f.defaults.end() ? value.kind != StructuredValue::Kind::kNone : !(it->second == value);
  }
  return n;
}

}  // namespace

std::string describe(const FunctionForm& form) {
  std::string out = "(";
  for (const auto& leaf : form.inputs)
    out += cat(out.size() > 1 ? ", " : "", leaf.path, ": ",
               leaf.dtype == DType::kInvalid ? leaf.name : cat(dtype_name(leaf.dtype), " ", leaf.shape.to_string()));
  for (const auto& [parameter, value] : form.plain) out += cat(out.size() > 1 ? ", " : "", parameter, "=", value.to_string());
  return out + ")";
}

std::vector<ModelFunction> list_functions(const ObjectGraph& objects) {
  std::vector<ModelFunction> functions;
  const std::vector<std::string> paths = objects.paths();
  for (size_t i = 0; i < objects.nodes.size(); ++i) {
    const SavedObject& o = objects.nodes[i];
    if ((o.kind != Kind::kFunction && o.kind != Kind::kBareFunction) || paths[i].empty()) continue;
    ModelFunction f;
    f.path = paths[i];
    f.internal = o.kind == Kind::kBareFunction || f.path[f.path.rfind('.') + 1] == '_';
    const Parameters parameters = parameters_of(o);
    f.defaults = parameters.defaults;
    for (const std::string& name : o.concrete_functions) {
      auto it = objects.concrete_functions.find(name);
      if (it != objects.concrete_functions.end()) f.forms.push_back(form_of(name, it->second, parameters));
    }
    functions.push_back(std::move(f));
  }
  std::sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return functions;
}

FunctionTable::FunctionTable(const ObjectGraph& objects, const MetaGraph& meta, std::string dir, const graph::Graph& graph, runtime::Session& session)
    : objects_(objects),
      meta_(meta),
      dir_(std::move(dir)),
      graph_(graph),
      session_(session),
      functions_(list_functions(objects)),
      tensors_(objects.nodes.size()) {
  find_tensors();
}

// The exported graph calls some of the functions itself (signatures, initialisers), passing behind the arguments
// what they captured, in the order of the bound inputs.
void FunctionTable::find_tensors() {
  for (const Node* n : graph_.nodes()) {
    const AttrValue* f = n->find_attr("f");
    const FunctionAttr* function = f ? f->get<FunctionAttr>() : nullptr;
    if (!function) continue;
    auto it = objects_.concrete_functions.find(function->name);
    if (it == objects_.concrete_functions.end()) continue;
    const auto& bound = it->second.bound_inputs;
    const int first = n->num_inputs() - int(bound.size());
    for (size_t i = 0; first >= 0 && i < bound.size(); ++i) {
      Endpoint& e = tensors_[size_t(bound[i])];
      if (!e.node) e = n->input(first + int(i));
    }
  }
  for (size_t i = 0; i < objects_.nodes.size(); ++i) {
    if (objects_.nodes[i].kind != Kind::kConstant || tensors_[i].node) continue;
    if (Node* n = graph_.find(objects_.nodes[i].name); n && n->num_outputs() > 0) tensors_[i] = {n, 0};
  }
}

Result<const ModelFunction*> FunctionTable::find(std::string_view path) const {
  std::string there;
  for (const auto& f : functions_) {
    if (f.path == path) return &f;
    if (!f.internal) there += cat(there.empty() ? "" : ", ", f.path);
  }
  // Another way to an object that is listed under its shortest path.
  if (const int node = objects_.find(path); node > 0) {
    const auto& forms = objects_.nodes[size_t(node)].concrete_functions;
    for (const auto& f : functions_) {
      if (!forms.empty() && !f.forms.empty() && f.forms[0].name == forms[0]) return &f;
    }
  }
  return not_found("the model has no function '", path, "'; it has: ", there.empty() ? "none" : there);
}

Result<const FunctionForm*> FunctionTable::choose(const ModelFunction& f, std::span<const Tensor> args,
                                                  const std::map<std::string, StructuredValue>& plain) const {
  std::vector<Argument> list;
  for (const Tensor& t : args) list.push_back({t.dtype(), t.shape()});
  return choose_form(f, list, plain);
}

Result<const FunctionForm*> choose_form(const ModelFunction& f, std::span<const Argument> args, const std::map<std::string, StructuredValue>& plain) {
  const FunctionForm* best = nullptr;
  int least = 0;
  for (const auto& form : f.forms) {
    if (!fits(form, args) || !fits(form, plain)) continue;
    const int s = surprises(form, f, plain);
    if (best && s >= least) continue;
    best = &form;
    least = s;
  }
  if (best) return best;
  std::string given, forms;
  for (const Argument& a : args) given += cat(given.empty() ? "" : ", ", dtype_name(a.dtype), " ", a.shape.to_string());
  for (const auto& [parameter, value] : plain) given += cat(given.empty() ? "" : ", ", parameter, "=", value.to_string());
  for (const auto& form : f.forms) forms += cat("\n  ", f.path, describe(form));
  return invalid_argument("function '", f.path, "' has no form for the arguments (", given, "); it was saved with:", forms.empty() ? " none" : forms);
}

Result<std::vector<Tensor>> FunctionTable::call(const FunctionForm& form, std::vector<Tensor> args, StepTrace* trace) {
  WEFT_RETURN_IF_ERROR(form.unsupported);
  return call(form.name, std::move(args), form.bound, trace, 0);
}

Result<std::vector<Tensor>> FunctionTable::call(const std::string& name, std::vector<Tensor> args, const std::vector<int>& bound, StepTrace* trace,
                                                int depth) {
  for (int object : bound) {
    WEFT_ASSIGN(Tensor t, captured(object, depth));
    args.push_back(std::move(t));
  }
  WEFT_ASSIGN(auto handle, session_.runtime().instantiate(FunctionAttr{name, nullptr}));
  const auto& types = handle->arg_types();
  if (types.size() != args.size())
    return invalid_argument("function ", name, " takes ", types.size(), " tensors, the object graph passes ", args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (types[i] != args[i].dtype())
      return invalid_argument("argument ", i, " of function ", name, " must be ", dtype_name(types[i]), ", not ", dtype_name(args[i].dtype()));
  }
  std::vector<Tensor> rets(handle->ret_types().size());
  op::KernelEnv env = session_.runtime().step_env();
  env.trace = trace;
  Status s = handle->run(env, args, rets);
  if (!s.ok() || op::steps_have_resources()) session_.runtime().step_failed(env.step_id);
  WEFT_RETURN_IF_ERROR(s);
  return rets;
}

// A captured object as the tensor that functions take for it.
Result<Tensor> FunctionTable::captured(int object, int depth) {
  const auto known = [&]() -> Tensor {
    std::lock_guard lock(mutex_);
    auto it = captured_.find(object);
    return it == captured_.end() ? Tensor() : it->second;
  };
  if (Tensor t = known(); t.valid()) return t;
  std::lock_guard making(making_);
  if (Tensor t = known(); t.valid()) return t;
  if (auto it = building_.find(object); it != building_.end()) return it->second;
  WEFT_ASSIGN(Tensor made, make_captured(object, depth));
  building_.erase(object);
  std::lock_guard lock(mutex_);
  return captured_.emplace(object, std::move(made)).first->second;
}

Result<Tensor> FunctionTable::make_captured(int object, int depth) {
  if (depth > kMaxDepth) return invalid_argument("the objects of the SavedModel need each other in a circle");
  const SavedObject& o = objects_.nodes[size_t(object)];
  if (const Endpoint e = tensors_[size_t(object)]; e.node) {
    Tensor value;
    WEFT_RETURN_IF_ERROR(session_.run({}, {}, {&e, 1}, {&value, 1}, {}, {}));
    return value;
  }
  if (o.kind == Kind::kAsset) {
    if (o.asset < 0 || size_t(o.asset) >= meta_.assets.size()) return data_loss("the SavedModel is damaged: it has no asset ", o.asset);
    return Tensor::scalar((dir_ + "/assets/" + meta_.assets[size_t(o.asset)].second).c_str());
  }
  if (o.kind == Kind::kResource) return create_resource(object, depth);
  return unimplemented("object ", object, " of the SavedModel (", objects_.paths()[size_t(object)],
                       "), which a function captured, is not in its graph");
}

// A table that no signature uses: made and filled by its own functions.
Result<Tensor> FunctionTable::create_resource(int object, int depth) {
  const std::string create = objects_.own_trace(object, "_create_resource"), initialize = objects_.own_trace(object, "_initialize");
  if (create.empty()) return unimplemented("resource ", objects_.paths()[size_t(object)], " of the SavedModel says not how to make it");
  const auto run = [&](const std::string& name) { return call(name, {}, objects_.concrete_functions.at(name).bound_inputs, nullptr, depth + 1); };
  WEFT_ASSIGN(std::vector<Tensor> made, run(create));
  if (made.empty() || made[0].dtype() != DType::kResource)
    return invalid_argument("the function that makes resource ", objects_.paths()[size_t(object)], " gives no handle");
  building_[object] = made[0];  // the initialiser takes it
  if (!initialize.empty()) {
    Status s = run(initialize).status();
    if (!s.ok()) building_.erase(object);
    WEFT_RETURN_IF_ERROR(s);
  }
  return made[0];
}

}  // namespace weft_engine::saved_model
