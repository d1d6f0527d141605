#include "engine/engine.h"
#include "saved_model/describe.h"
#include "saved_model/model.h"
#include "saved_model/objects.h"
#include "trace/variable.h"

#include "api/function_internal.h"
#include "api/model_internal.h"
#include "weft/save.h"

namespace weft {

using api::check;

void save(const Module& module, const std::string& dir, const std::vector<SaveSignature>& signatures) {
  std::vector<saved_model::SaveSignature> described;
  for (const SaveSignature& s : signatures) {
    if (!s.function.impl()) check(core::invalid_argument("the signature '", s.name, "' has no function"));
    const ConcreteFunction::Impl& f = *s.function.impl();
    saved_model::SaveSignature out{s.name, f.function, {}, s.output_names, {}};
    for (const TensorSpec& i : f.inputs) {
      out.inputs.push_back(i.name);
      out.input_shapes.push_back(api::inner_shape(i.shape));
    }
    if (out.outputs.empty()) {
      std::vector<saved_model::StructuredValue> results;
      for (size_t k = 0; k < f.outputs.size(); ++k)
        results.push_back(
            saved_model::tensor_value(core::cat("output_", k), api::inner_type(f.outputs[k].dtype), api::inner_shape(f.outputs[k].shape)));
      const auto structure = api::unwrap(saved_model::parse_structure(f.results, results, true));
      const bool named = structure.kind == saved_model::StructuredValue::Kind::kDict && structure.items.size() == results.size();
      for (size_t k = 0; k < results.size(); ++k) out.outputs.push_back(named ? structure.items[k].first : results[k].text);
    }
    described.push_back(std::move(out));
  }
  auto model = api::unwrap(saved_model::describe(module.tracking(), described));
  check(api::unwrap(saved_model::SavedModelFiles::make(engine::Engine::get().registry(), std::move(model))).write(dir));
}

struct LoadedModule::Impl {
  std::shared_ptr<saved_model::Objects> objects;
};

LoadedModule::LoadedModule(std::shared_ptr<const Impl> impl) : Module("loaded", impl->objects->root()), impl_(std::move(impl)) {}

LoadedModule load_module(const std::string& dir, const std::vector<std::string>& tags, bool verify) {
  auto impl = std::make_shared<LoadedModule::Impl>();
  impl->objects = api::unwrap(saved_model::Objects::load(api::context(), dir, tags, verify));
  return LoadedModule(impl);
}

std::vector<FunctionInfo> LoadedModule::functions() const {
  std::vector<FunctionInfo> out;
  for (const auto& f : impl_->objects->functions()) {
    if (!f.internal) out.push_back(api::info_of(f));
  }
  return out;
}

bool LoadedModule::has_function(const std::string& path) const { return impl_->objects->function(path).ok(); }

std::vector<Tensor> LoadedModule::call(const std::string& path, const std::vector<Tensor>& inputs,
                                       const std::map<std::string, PlainValue>& values) const {
  const auto* f = api::unwrap(impl_->objects->function(path));
  std::vector<saved_model::Argument> args;
  for (const Tensor& t : inputs) args.push_back({api::inner_type(t.dtype()), api::rep_of(t)->shape()});
  std::map<std::string, saved_model::StructuredValue> plain;
  for (const auto& [name, v] : values) plain[name] = api::structured(v);
  const auto* form = api::unwrap(saved_model::choose_form(*f, args, plain));
  return api::from_values(api::unwrap(api::unwrap(impl_->objects->concrete(*form))->call(api::to_values(inputs))));
}

std::vector<std::string> LoadedModule::signatures() const { return impl_->objects->signatures(); }

std::map<std::string, Tensor> LoadedModule::signature(const std::string& name, const std::map<std::string, Tensor>& inputs) const {
  const auto* form = api::unwrap(impl_->objects->signature(name));
  std::vector<Tensor> args;
  for (const auto& leaf : form->inputs) {
    auto it = inputs.find(leaf.path);
    if (it == inputs.end()) check(core::invalid_argument("the signature '", name, "' needs the input '", leaf.path, "'"));
    args.push_back(it->second);
  }
  if (inputs.size() != args.size())
    check(core::invalid_argument("the signature '", name, "' takes ", args.size(), " inputs, ", inputs.size(), " were given"));
  auto results = api::from_values(api::unwrap(api::unwrap(impl_->objects->concrete(*form))->call(api::to_values(args))));
  std::map<std::string, Tensor> out;
  for (size_t i = 0; i < results.size(); ++i) out[i < form->outputs.size() ? form->outputs[i].path : core::cat("output_", i)] = results[i];
  return out;
}

std::map<std::string, Variable> LoadedModule::variables_by_path() const {
  std::map<std::string, Variable> out;
  for (size_t i = 0; i < impl_->objects->states().size(); ++i) {
    const auto& s = impl_->objects->states()[i];
    if (s && s->as_variable()) out.emplace(impl_->objects->paths()[i], Variable::adopt(std::static_pointer_cast<trace::VariableState>(s)));
  }
  return out;
}

Variable LoadedModule::variable(const std::string& path) const {
  auto all = variables_by_path();
  auto it = all.find(path);
  if (it != all.end()) return it->second;
  std::string there;
  for (const auto& [name, v] : all) there += (there.empty() ? "" : ", ") + name;
  throw Error(Code::kNotFound, "the model has no variable '" + path + "'; it has: " + (there.empty() ? "none" : there));
}

}  // namespace weft
