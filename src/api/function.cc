#include "core/log.h"
#include "graph/shape_inference.h"
#include "saved_model/export_graph.h"
#include "trace/function_state.h"
#include "trace/replica.h"
#include "trace/variable.h"

#include "api/function_internal.h"
#include "api/graph_internal.h"

#include <algorithm>
#include <atomic>

namespace weft {

using api::check;

namespace {

// The graph that is being traced around a call; 0: none.
uint64_t current_graph() { return trace::FuncGraph::current() ? trace::FuncGraph::current()->id() : 0; }

// One trace at a time in the whole process, so that functions that call each other, first called by two threads, cannot wait for
// each other; code that is being traced may trace.
std::recursive_mutex& tracing() {
  static auto* m = new std::recursive_mutex;
  return *m;
}

// "float[?,2]"
std::string shown(const TensorSpec& s) { return core::cat(weft::to_string(s.dtype), api::inner_shape(s.shape)); }

// For pretty_printed_signatures(), which prints what TensorFlow prints.
std::string python_type(DType t) {
  switch (t) {
    case DType::float32: return "tf.float32";
    case DType::float64: return "tf.float64";
    case DType::float16: return "tf.float16";
    case DType::boolean: return "tf.bool";
    default: return "tf." + weft::to_string(t);
  }
}
std::string python_spec(const TensorSpec& s, bool named) {
  std::string out = "TensorSpec(shape=";
  if (!s.shape.known_rank) {
    out += "<unknown>";
  } else {
    out += "(";
    for (size_t i = 0; i < s.shape.dims.size(); ++i)
      out += (i ? ", " : "") + (s.shape.dims[i] < 0 ? std::string("None") : std::to_string(s.shape.dims[i]));
    out += s.shape.dims.size() == 1 ? ",)" : ")";
  }
  return out + ", dtype=" + python_type(s.dtype) + ", name=" + (named ? "'" + s.name + "'" : "None") + ")";
}

void append(std::string& key, int64_t v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); }

// Types and shapes of the tensors, as bytes.
std::string signature_key(const std::string& plain, const std::vector<TensorSpec>& specs) {
  std::string key = plain;
  key.push_back('\0');
  for (const TensorSpec& s : specs) {
    key.push_back(char(s.dtype));
    append(key, s.shape.known_rank ? int64_t(s.shape.dims.size()) : -1);
    for (int64_t d : s.shape.dims) append(key, d);
  }
  return key;
}

std::string key_of(const std::string& plain, const std::vector<Tensor>& tensors) {
  std::string key;
  key.reserve(plain.size() + 1 + tensors.size() * 25);
  key = plain;
  key.push_back('\0');
  for (const Tensor& t : tensors) {
    op::ValueRep* rep = api::rep_of(t);
    key.push_back(char(rep->dtype()));
    if (!rep->owner()) {
      const core::Shape& s = api::value_of(t).shape();
      append(key, s.rank());
      for (int i = 0; i < s.rank(); ++i) append(key, s.dim(i));
      // A function is placed by where its resources are.
      if (rep->dtype() == core::DType::kResource) append(key, reinterpret_cast<intptr_t>(static_cast<eager::TensorHandle*>(rep)->device()));
    } else {
      const core::PartialShape s = rep->shape();
      append(key, s.has_rank() ? s.rank() : -1);
      for (int i = 0; s.has_rank() && i < s.rank(); ++i) append(key, s.dim(i));
    }
  }
  return key;
}

bool fits(const TensorSpec& spec, DType dtype, const PartialShape& shape) {
  return spec.dtype == dtype && api::inner_shape(spec.shape).compatible_with(api::inner_shape(shape)) && (!spec.shape.known_rank || shape.known_rank);
}

}  // namespace

struct FunctionCore::Impl {
  using Ptr = std::shared_ptr<const ConcreteFunction::Impl>;
  TraceOptions options;
  trace::PolymorphicFunction cache;
  std::atomic<int> traces{0};
  std::atomic<int64_t> calls{0};
  bool variables_made = false;  // once they are, no trace may make more
  bool warned = false;
  std::mutex saving;
  std::shared_ptr<trace::TrackableState> saved;

  static Ptr cast(trace::PolymorphicFunction::Ptr binding) { return std::static_pointer_cast<const ConcreteFunction::Impl>(std::move(binding)); }
  Ptr find(const std::string& key) {
    return cast(cache.find(key, [](const auto& f) { return !f.graph || f.graph == current_graph(); }));
  }
  std::vector<Ptr> all() const {
    std::vector<Ptr> out;
    for (auto& f : cache.traces()) out.push_back(cast(std::move(f)));
    return out;
  }

  // One run of the user's code.
  std::shared_ptr<ConcreteFunction::Impl> trace_once(const std::vector<TensorSpec>& specs, const std::string& plain, const Body& body,
                                                     bool may_create, int* created) {
    auto g = trace::FuncGraph::make(api::context(), options.name, trace::FuncGraph::current());
    g->may_create_variables = may_create;
    g->must_compile = options.jit_compile;
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < specs.size(); ++i) {
      const std::string name = specs[i].name.empty() ? core::cat("args_", i) : specs[i].name;
      arguments.push_back(api::from_value(api::unwrap(g->add_argument(name, api::inner_type(specs[i].dtype), api::inner_shape(specs[i].shape)))));
    }
    nest::Flat flat;
    {
      trace::Entered inside(g.get());
      flat = body(arguments);
    }
    const std::vector<Tensor>& results = flat.tensors;
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].has_value()) check(core::invalid_argument("result ", i, " of the function '", options.name, "' has no value"));
    }
    ++traces;
    *created = g->variables_created;
    auto made = std::make_shared<ConcreteFunction::Impl>();
    made->function = api::unwrap(trace::ConcreteFunction::make(g, api::to_values(results)));
    made->inputs = specs;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (made->inputs[i].name.empty()) made->inputs[i].name = core::cat("args_", i);
    }
    for (size_t i = 0; i < results.size(); ++i)
      made->outputs.push_back({core::cat("output_", i), results[i].dtype(), api::outer_shape(made->function->ret_shapes()[i]), ""});
    made->key = plain;
    made->results = std::move(flat.key);
    made->layout = std::make_shared<const std::vector<std::string>>(std::move(flat.layout));
    for (const auto& c : made->function->captures()) {
      if (c.rep()->owner()) made->graph = current_graph();
    }
    return made;
  }

  Ptr trace(const std::string& key, const std::vector<TensorSpec>& specs, const std::string& plain, const Body& body) {
    std::lock_guard one(tracing());
    if (auto f = find(key)) return f;  // another thread was faster
    thread_local std::vector<const Impl*> held;
    struct Held {
      const Impl* self;
      Held(const Impl* s) : self(s) { held.push_back(s); }
      ~Held() { held.pop_back(); }
    } mark(this);
    if (held.size() > 200) check(core::failed_precondition("functions call each other without end while they are traced"));
    int created = 0;
    auto made = trace_once(specs, plain, body, !variables_made, &created);
    if (created > 0) {
      // Variables are there now, initialised outside of the graph. What is kept is traced without making any.
      variables_made = true;
      made = trace_once(specs, plain, body, false, &created);
    }
    variables_made = true;
    cache.add(key, made);
    if (!warned && traces > 5 && traces * 2 > calls) {
      warned = true;
      core::log(
          core::LogLevel::kWarning,
          core::cat(
              "5 out of the last ", calls.load(), " calls to the function '", options.name,
              "' triggered retracing. Tracing is expensive: pass tensors instead of plain values that change, make the function outside of the loop, "
              "or use reduce_retracing or an input_signature where shapes change."));
    }
    return made;
  }

  // With reduce_retracing: what the last graph of the same types and ranks was made for, with the dimensions that differ left open.
  std::vector<TensorSpec> relax(const std::vector<TensorSpec>& specs, const std::string& plain) const {
    const auto traced = all();
    for (auto it = traced.rbegin(); it != traced.rend(); ++it) {
      const auto& f = **it;
      if (f.key != plain || f.inputs.size() != specs.size()) continue;
      std::vector<TensorSpec> out = specs;
      bool same = true;
      for (size_t i = 0; i < specs.size() && same; ++i) {
        const PartialShape& before = f.inputs[i].shape;
        same = f.inputs[i].dtype == specs[i].dtype;
        if (!before.known_rank || !specs[i].shape.known_rank || before.dims.size() != specs[i].shape.dims.size()) {
          out[i].shape = PartialShape();
          continue;
        }
        for (size_t d = 0; d < before.dims.size(); ++d) {
          if (before.dims[d] != specs[i].shape.dims[d]) out[i].shape.dims[d] = -1;
        }
      }
      if (same) return out;
    }
    return specs;
  }

  // A graph with unknown dimensions that these tensors fit.
  Ptr find_fitting(const std::vector<TensorSpec>& specs, const std::string& plain) const {
    const auto traced = all();
    for (auto it = traced.rbegin(); it != traced.rend(); ++it) {
      const auto& f = **it;
      if (f.key != plain || f.inputs.size() != specs.size() || (f.graph && f.graph != current_graph())) continue;
      bool ok = true;
      for (size_t i = 0; i < specs.size() && ok; ++i) {
        const auto want = api::inner_shape(f.inputs[i].shape), have = api::inner_shape(specs[i].shape);
        ok = f.inputs[i].dtype == specs[i].dtype && graph::common_shape(want, have) == want;
      }
      if (ok) return *it;
    }
    return nullptr;
  }

  Ptr get(const std::vector<Tensor>& tensors, const std::string& plain, const Body& body) {
    if (!options.input_signature.empty()) {
      const auto& want = options.input_signature;
      if (tensors.size() != want.size())
        check(core::invalid_argument("the function '", options.name, "' takes ", want.size(), " tensors by its input_signature, ", tensors.size(),
                                     " were given"));
      for (size_t i = 0; i < want.size(); ++i) {
        if (!fits(want[i], tensors[i].dtype(), tensors[i].partial_shape()))
          check(core::invalid_argument("argument ", i, " of the function '", options.name, "' is ",
                                       shown({"", tensors[i].dtype(), tensors[i].partial_shape(), ""}), ", its input_signature has ",
                                       shown(want[i])));
      }
      const std::string key = signature_key(plain, want);
      if (auto f = find(key)) return f;
      return trace(key, want, plain, body);
    }
    const std::string key = key_of(plain, tensors);
    if (auto f = find(key)) return f;
    std::vector<TensorSpec> specs;
    for (const Tensor& t : tensors) specs.push_back({"", t.dtype(), t.partial_shape(), ""});
    if (options.reduce_retracing) {
      if (auto f = find_fitting(specs, plain)) {
        cache.bind(key, f);  // the next call finds it at once
        return f;
      }
      return trace(key, relax(specs, plain), plain, body);
    }
    return trace(key, specs, plain, body);
  }
};

FunctionCore::FunctionCore(TraceOptions options) : impl_(std::make_shared<Impl>()) { impl_->options = std::move(options); }

FunctionCore::Results FunctionCore::call(const std::vector<Tensor>& inputs, const std::string& key, const Body& body) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_value()) check(core::invalid_argument("argument ", i, " of the function '", impl_->options.name, "' has no value"));
  }
  if (trace::functions_run_eagerly.load(std::memory_order_relaxed)) {
    nest::Flat flat = body(inputs);
    return {std::move(flat.tensors), std::make_shared<const std::vector<std::string>>(std::move(flat.layout))};
  }
  impl_->calls.fetch_add(1, std::memory_order_relaxed);
  // Replicas have variables of their own, and so graphs of their own.
  const trace::Replica* replica = trace::current_replica();
  std::string own;
  if (replica) own = core::cat(key, "replica", replica->id);
  // On a cluster a trace holds the device scope that it was made in, as TensorFlow's do: nodes name the task.
  if (!api::scoped_device().empty() && api::context().remote_tasks) own = core::cat(own.empty() ? key : own, "device", api::scoped_device());
  auto f = impl_->get(inputs, own.empty() ? key : own, body);
  return {api::from_values(api::unwrap(f->function->call(api::to_values(inputs)))), f->layout};
}

ConcreteFunction FunctionCore::concrete(const std::vector<TensorSpec>& inputs, const std::string& key, const Body& body) const {
  const auto& specs = inputs.empty() && !impl_->options.input_signature.empty() ? impl_->options.input_signature : inputs;
  const size_t tensors = size_t(std::count(key.begin(), key.end(), 't'));
  if (key.find_first_not_of('t') == std::string::npos && specs.size() != tensors)
    check(core::invalid_argument("the function '", impl_->options.name, "' takes ", tensors, " tensors, ", specs.size(), " were described"));
  const std::string whole = signature_key(key, specs);
  auto f = impl_->find(whole);
  if (!f) f = impl_->trace(whole, specs, key, body);
  return ConcreteFunction::adopt(f);
}

std::vector<ConcreteFunction> FunctionCore::concrete_functions() const {
  std::vector<ConcreteFunction> out;
  for (const auto& f : impl_->all()) out.push_back(ConcreteFunction::adopt(f));
  return out;
}

namespace {

class SavedFunction final : public trace::FunctionState {
 public:
  explicit SavedFunction(std::weak_ptr<FunctionCore::Impl> core) : core_(std::move(core)) {}
  std::vector<Form> forms() const override {
    std::vector<Form> out;
    auto core = core_.lock();
    if (!core) return out;
    for (const auto& f : core->all()) {
      if (f->graph) continue;
      Form form{f->function, f->key, f->results, {}, {}};
      for (const TensorSpec& s : f->inputs) {
        form.input_names.push_back(s.name);
        form.input_shapes.push_back(api::inner_shape(s.shape));
      }
      out.push_back(std::move(form));
    }
    return out;
  }

 private:
  std::weak_ptr<FunctionCore::Impl> core_;
};

}  // namespace

std::shared_ptr<trace::TrackableState> FunctionCore::tracking() const {
  std::lock_guard lock(impl_->saving);
  if (!impl_->saved) impl_->saved = std::make_shared<SavedFunction>(impl_);
  return impl_->saved;
}

int FunctionCore::num_traces() const { return int(impl_->cache.traces().size()); }
const std::string& FunctionCore::name() const { return impl_->options.name; }

std::string FunctionCore::pretty_printed_signatures() const {
  std::string out;
  for (const auto& f : concrete_functions()) {
    out += out.empty() ? "" : "\n\n";
    out += "Input Parameters:\n";
    const auto& inputs = f.impl()->inputs;
    for (size_t i = 0; i < inputs.size(); ++i)
      out += "  " + inputs[i].name + " (POSITIONAL_OR_KEYWORD): " + python_spec(inputs[i], inputs[i].name != core::cat("args_", i)) + "\n";
    if (inputs.empty()) out += "  None\n";
    out += "Output Type:\n  ";
    const auto& outputs = f.impl()->outputs;
    std::string results;
    for (const TensorSpec& s : outputs) results += (results.empty() ? "" : ", ") + python_spec(s, false);
    out += outputs.empty() ? "None" : outputs.size() == 1 ? results : "Tuple[" + results + "]";
    out += "\nCaptures:\n";
    const auto& captures = f.impl()->function->captures();
    for (const auto& c : captures)
      out += core::cat("  ", reinterpret_cast<uintptr_t>(c.rep()), ": ",
                       python_spec({"", static_cast<DType>(c.dtype()), api::outer_shape(c.shape()), ""}, false), "\n");
    if (captures.empty()) out += "  None\n";
    out.pop_back();
  }
  return out;
}

ConcreteFunction ConcreteFunction::adopt(std::shared_ptr<const Impl> impl) {
  ConcreteFunction f;
  f.impl_ = std::move(impl);
  return f;
}

namespace {

// A function and all that it calls.
void copy_with_callees(const graph::FunctionLibrary& from, const std::string& name, graph::FunctionLibrary& to) {
  std::vector<std::string> todo{name};
  while (!todo.empty()) {
    const std::string next = std::move(todo.back());
    todo.pop_back();
    if (to.contains(next)) continue;
    auto def = api::unwrap(from.find(next));
    for (const auto& n : def->nodes) {
      for (auto& f : saved_model::functions_of(n, from)) todo.push_back(std::move(f));
    }
    check(to.add(graph::FunctionDef(*def)));
  }
}

const ConcreteFunction::Impl& of(const ConcreteFunction& f) {
  if (!f.impl()) throw Error(Code::kInvalidArgument, "a function that was not made was used");
  return *f.impl();
}

}  // namespace

const std::string& ConcreteFunction::name() const { return of(*this).function->name(); }
std::vector<TensorSpec> ConcreteFunction::inputs() const { return of(*this).inputs; }
std::vector<TensorSpec> ConcreteFunction::outputs() const { return of(*this).outputs; }
int ConcreteFunction::num_captures() const { return int(of(*this).function->captures().size()); }

std::vector<Variable> ConcreteFunction::variables() const {
  std::vector<Variable> out;
  for (const auto& w : of(*this).function->variables()) {
    if (auto v = w.lock()) out.push_back(Variable::adopt(v));
  }
  return out;
}

std::vector<Tensor> ConcreteFunction::operator()(const std::vector<Tensor>& inputs) const {
  return api::from_values(api::unwrap(of(*this).function->call(api::to_values(inputs))));
}

Graph ConcreteFunction::graph() const {
  const auto& f = *of(*this).function;
  auto library = std::make_shared<graph::FunctionLibrary>();
  copy_with_callees(*f.context().runtime().library(), f.name(), *library);
  return Graph::adopt(
      std::make_shared<const Graph::Impl>(Graph::Impl{std::make_shared<graph::Graph>(f.context().registry(), std::move(library)), {}, {}}));
}

std::string ConcreteFunction::signature() const {
  const Impl& f = of(*this);
  std::string out = name() + "(";
  for (size_t i = 0; i < f.inputs.size(); ++i) out += (i ? ", " : "") + to_string(f.inputs[i]);
  out += ") ->";
  for (const TensorSpec& s : f.outputs) out += " " + to_string(s);
  return out;
}

void run_functions_eagerly(bool on) { trace::functions_run_eagerly.store(on); }
bool functions_run_eagerly() { return trace::functions_run_eagerly.load(); }
bool is_tracing() { return trace::FuncGraph::current() != nullptr; }
void init_scope(const std::function<void()>& f) {
  trace::Entered outside(nullptr);
  f();
}

}  // namespace weft
