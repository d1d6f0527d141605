#include "engine/engine.h"

#include "api/model_internal.h"

namespace weft {

struct Signature::Impl {
  std::shared_ptr<saved_model::Model> model;
  const saved_model::BoundSignature* bound = nullptr;
  SignatureInfo info;
};

struct Function::Impl {
  std::shared_ptr<saved_model::Model> model;
  const saved_model::ModelFunction* function = nullptr;
  FunctionInfo info;
  std::map<std::string, saved_model::StructuredValue> plain;
};

namespace api {

Tensor adopt(core::Tensor t) { return adopt(eager::TensorHandle::make(std::move(t), nullptr)); }

saved_model::Model& model_of(const Model& m) {
  if (!m.impl()) throw Error(Code::kFailedPrecondition, "a Model that nothing was loaded into was used");
  return *m.impl()->model;
}

void append(TraceEvents& to, std::vector<op::StepTrace::Event> events) {
  for (auto& e : events) {
    TraceEvent t{std::move(e.node), std::move(e.op), std::move(e.device), e.start_ns, e.end_ns, e.thread, {}};
    for (const auto& [dtype, shape] : e.outputs) t.outputs.emplace_back(static_cast<DType>(dtype), shape.vec());
    to.events.push_back(std::move(t));
  }
}

saved_model::StructuredValue structured(const PlainValue& v) {
  using Kind = saved_model::StructuredValue::Kind;
  saved_model::StructuredValue s;
  if (const bool* b = std::get_if<bool>(&v)) s.kind = Kind::kBool, s.integer = *b;
  if (const int64_t* i = std::get_if<int64_t>(&v)) s.kind = Kind::kInt, s.integer = *i;
  if (const double* d = std::get_if<double>(&v)) s.kind = Kind::kFloat, s.number = *d;
  if (const std::string* t = std::get_if<std::string>(&v)) s.kind = Kind::kString, s.text = *t;
  return s;
}

namespace {

TensorSpec spec_of(const saved_model::BoundSignature::Port& p) {
  return {p.name, static_cast<DType>(p.dtype), api::outer_shape(p.shape), p.tensor_name};
}
TensorSpec spec_of(const saved_model::Leaf& l) { return {l.path, static_cast<DType>(l.dtype), api::outer_shape(l.shape), {}}; }

SignatureInfo signature_info(const saved_model::BoundSignature& s) {
  SignatureInfo info{s.name, s.method_name, {}, {}};
  for (const auto& p : s.inputs) info.inputs.push_back(spec_of(p));
  for (const auto& p : s.outputs) info.outputs.push_back(spec_of(p));
  return info;
}

// Inputs given by name, in the signature's order.
std::vector<core::Tensor> arrange(const saved_model::BoundSignature& s, const NamedTensors& inputs) {
  std::vector<core::Tensor> out(s.inputs.size());
  for (const auto& [name, tensor] : inputs) {
    const int i = s.find_input(name);
    if (i < 0) check(core::invalid_argument("signature '", s.name, "' has no input '", name, "'; its inputs are ", s.describe_inputs()));
    if (out[size_t(i)].valid()) check(core::invalid_argument("input '", name, "' of signature '", s.name, "' was given twice"));
    out[size_t(i)] = value_of(tensor);
  }
  return out;
}

}  // namespace

FunctionInfo info_of(const saved_model::ModelFunction& f) {
  FunctionInfo info{f.path, {}};
  for (const auto& form : f.forms) {
    FunctionForm out;
    out.name = form.name;
    for (const auto& l : form.inputs) out.inputs.push_back(spec_of(l));
    for (const auto& l : form.outputs) out.outputs.push_back(spec_of(l));
    for (const auto& [parameter, value] : form.plain) out.values.emplace_back(parameter, value.to_string());
    info.forms.push_back(std::move(out));
  }
  return info;
}

}  // namespace api

// ---- texts ------------------------------------------------------------------------------------------------

std::string to_string(const PartialShape& shape) {
  return (shape.known_rank ? core::PartialShape(shape.dims) : core::PartialShape::unknown()).to_string();
}

std::string to_string(const TensorSpec& spec) {
  return core::cat(spec.name, spec.name.empty() ? "" : ": ", spec.dtype == DType::invalid ? "?" : to_string(spec.dtype), " ", to_string(spec.shape));
}

namespace {

std::string list_text(const std::vector<TensorSpec>& specs) {
  std::string out;
  for (const auto& s : specs) out += core::cat(out.empty() ? "" : ", ", to_string(s));
  return out;
}

}  // namespace

std::string to_string(const SignatureInfo& info) { return core::cat(info.name, "(", list_text(info.inputs), ") -> (", list_text(info.outputs), ")"); }

std::string to_string(const FunctionInfo& info) {
  std::string out;
  for (const auto& f : info.forms) {
    std::string args = list_text(f.inputs);
    for (const auto& [parameter, value] : f.values) args += core::cat(args.empty() ? "" : ", ", parameter, "=", value);
    out += core::cat(out.empty() ? "" : "\n", info.name, "(", args, ") -> (", list_text(f.outputs), ")");
  }
  return out;
}

// ---- Outputs ----------------------------------------------------------------------------------------------

const Tensor& Outputs::operator[](std::string_view name) const {
  std::string there;
  for (const auto& [n, t] : tensors_) {
    if (n == name) return t;
    there += core::cat(there.empty() ? "" : ", ", n);
  }
  throw Error(Code::kNotFound, core::cat("there is no output '", name, "'; there are: ", there.empty() ? "none" : there));
}

const Tensor& Outputs::operator[](int index) const {
  if (index < 0 || index >= size()) throw Error(Code::kOutOfRange, core::cat("output ", index, " of ", size()));
  return tensors_[size_t(index)].second;
}

const Tensor& Outputs::only() const {
  if (size() != 1) throw Error(Code::kInvalidArgument, core::cat("only() needs one output, there are ", size()));
  return tensors_[0].second;
}

// ---- Signature --------------------------------------------------------------------------------------------

const SignatureInfo& Signature::info() const { return impl_->info; }

namespace {

Outputs run_signature(saved_model::Model& model, const saved_model::BoundSignature& s, const NamedTensors& inputs, TraceEvents* trace) {
  std::vector<core::Tensor> values = api::arrange(s, inputs), results(s.outputs.size());
  op::StepTrace steps;
  runtime::Session::RunOptions options;
  if (trace) options.trace = &steps;
  api::check(model.run(s, values, results, options));
  if (trace) api::append(*trace, steps.take());
  NamedTensors out;
  for (size_t i = 0; i < results.size(); ++i) out.emplace_back(s.outputs[i].name, api::adopt(std::move(results[i])));
  return Outputs(std::move(out));
}

}  // namespace

Outputs Signature::operator()(const NamedTensors& inputs) const { return run_signature(*impl_->model, *impl_->bound, inputs, nullptr); }
Outputs Signature::operator()(const NamedTensors& inputs, TraceEvents& trace) const {
  return run_signature(*impl_->model, *impl_->bound, inputs, &trace);
}

// ---- Function ---------------------------------------------------------------------------------------------

const FunctionInfo& Function::info() const { return impl_->info; }

Function Function::with_value(std::string_view parameter, PlainValue value) const {
  auto impl = std::make_shared<Impl>(*impl_);
  impl->plain[std::string(parameter)] = api::structured(value);
  Function f;
  f.impl_ = std::move(impl);
  return f;
}

Outputs Function::call(const std::vector<Tensor>& tensors) const {
  std::vector<core::Tensor> args;
  for (const Tensor& t : tensors) args.push_back(api::value_of(t));
  auto& table = impl_->model->functions();
  const auto* form = api::unwrap(table.choose(*impl_->function, args, impl_->plain));
  std::vector<core::Tensor> results = api::unwrap(table.call(*form, std::move(args)));
  NamedTensors out;
  for (size_t i = 0; i < results.size(); ++i)
    out.emplace_back(i < form->outputs.size() ? form->outputs[i].path : std::to_string(i), api::adopt(std::move(results[i])));
  return Outputs(std::move(out));
}

// ---- Model ------------------------------------------------------------------------------------------------

const std::vector<SignatureInfo>& Model::signatures() const { return api::model_of(*this), impl_->signatures; }
const std::vector<FunctionInfo>& Model::functions() const { return api::model_of(*this), impl_->functions; }
const std::vector<VariableInfo>& Model::variables() const { return api::model_of(*this), impl_->variables; }
const std::string& Model::path() const { return api::model_of(*this).path(); }
const std::vector<std::string>& Model::tags() const { return api::model_of(*this).meta().tags; }
std::string Model::tensorflow_version() const { return api::model_of(*this).meta().tensorflow_version; }

Signature Model::operator[](std::string_view name) const {
  const auto* s = api::unwrap(api::model_of(*this).signature(name));
  Signature out;
  for (const auto& b : impl_->bound) {
    if (b->bound == s) out.impl_ = b;
  }
  return out;
}

Function Model::function(std::string_view name) const {
  const auto* f = api::unwrap(api::model_of(*this).functions().find(name));
  Function out;
  out.impl_ = std::make_shared<const Function::Impl>(Function::Impl{impl_->model, f, api::info_of(*f), {}});
  return out;
}

Tensor Model::variable(std::string_view name) const {
  auto& model = api::model_of(*this);
  for (const auto& v : model.variables()) {
    if ((v.name == name || v.path == name) && v.handle.node) return api::adopt(api::unwrap(model.value(v)));
  }
  std::string there;
  for (const auto& v : model.variables()) there += core::cat(there.empty() ? "" : ", ", v.name);
  throw Error(Code::kNotFound, core::cat("the model has no variable '", name, "'; it has: ", there.empty() ? "none" : there));
}

namespace {

Outputs run_graph(saved_model::Model& model, const NamedTensors& feeds, const std::vector<std::string>& fetches,
                  const std::vector<std::string>& targets, TraceEvents* trace) {
  std::vector<std::pair<std::string, core::Tensor>> values;
  for (const auto& [name, tensor] : feeds) values.emplace_back(name, api::value_of(tensor));
  std::vector<core::Tensor> results;
  op::StepTrace steps;
  runtime::Session::RunOptions options;
  if (trace) options.trace = &steps;
  api::check(model.run(values, fetches, targets, results, options));
  if (trace) api::append(*trace, steps.take());
  NamedTensors out;
  for (size_t i = 0; i < results.size(); ++i) out.emplace_back(fetches[i], api::adopt(std::move(results[i])));
  return Outputs(std::move(out));
}

}  // namespace

Outputs Model::run(const NamedTensors& feeds, const std::vector<std::string>& fetches, const std::vector<std::string>& targets) const {
  return run_graph(api::model_of(*this), feeds, fetches, targets, nullptr);
}
Outputs Model::run(const NamedTensors& feeds, const std::vector<std::string>& fetches, const std::vector<std::string>& targets,
                   TraceEvents& trace) const {
  return run_graph(api::model_of(*this), feeds, fetches, targets, &trace);
}

void Model::Impl::describe() {
  for (const auto& s : model->signatures()) {
    signatures.push_back(api::signature_info(s));
    bound.push_back(std::make_shared<const Signature::Impl>(Signature::Impl{model, &s, signatures.back()}));
  }
  for (const auto& f : model->functions().functions()) {
    if (!f.internal) functions.push_back(api::info_of(f));
  }
  for (const auto& v : model->variables())
    variables.push_back({v.name, v.path, v.checkpoint_key, static_cast<DType>(v.dtype), api::outer_shape(v.shape), v.trainable});
}

Model load(const std::string& path, const LoadOptions& o) {
  saved_model::LoadOptions options;
  options.tags = o.tags;
  options.verify = o.verify;
  options.verify_fingerprint = o.verify_fingerprint;
  if (o.cpu_devices < 1 || o.cpu_devices > 1024) throw Error(Code::kInvalidArgument, "cpu_devices must be from 1 to 1024");
  options.session.cpu_devices = o.cpu_devices;
  options.session.intra_threads = o.intra_threads;
  options.session.inter_threads = o.inter_threads;
  options.session.allow_soft_placement = o.soft_placement;
  options.session.log_device_placement = o.log_device_placement;
  options.session.timeout_ms = o.timeout_ms;
  options.session.disabled_passes = o.disabled_passes;
  options.session.auto_compile = o.jit_compile;
  Model m;
  m.impl_ = std::make_shared<Model::Impl>();
  Model::Impl& impl = *m.impl_;
  impl.model = api::unwrap(saved_model::Model::load(engine::Engine::get().registry(), path, options));
  impl.describe();
  return m;
}

}  // namespace weft
