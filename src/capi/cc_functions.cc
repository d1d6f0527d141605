// Functions that kernels of C++ sources call (OpKernelContext::function_library).
#include "capi/cc_internal.h"
#include "engine/function_overlay.h"
#include "io/attr_codec.h"
#include "io/graph_def.h"
#include "op/cancellation.h"
#include "op/function_caller.h"
#include "op/held.h"
#include "op/rendezvous.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::engine::runtime_of;
using weft_engine::op::AttrValue;
using weft_engine::op::FunctionAttr;
using weft_engine::op::FunctionCaller;
using weft_engine::op::FunctionHandle;
using weft_engine::op::InstantiateOptions;
using weft_engine::op::KernelContext;
using weft_engine::op::KernelEnv;
using weft_engine::runtime::FunctionLibraryRuntime;

struct weft_library {
  std::shared_ptr<weft_engine::graph::FunctionLibrary> functions;
};
struct weft_function {
  weft_function() = default;
  weft_function(const weft_function&) = delete;
  ~weft_function() {
    if (own && weft_engine::op::held(*own)) weft_engine::engine::keep_while_held(std::move(own));
  }
  std::unique_ptr<FunctionLibraryRuntime> own;  // of functions that are not the program's
  std::shared_ptr<FunctionHandle> handle;       // goes first
};

namespace {

KernelContext& context_of(weft_run* run) { return *reinterpret_cast<KernelContext*>(run); }
FunctionLibraryRuntime* runtime_at(weft_run* run) {
  FunctionCaller* caller = context_of(run).env().functions;
  auto runtime = caller ? runtime_of(*caller) : nullptr;
  return caller && runtime.ok() ? *runtime : nullptr;
}

// The function as the node names it, with its own attributes.
FunctionAttr function_of(const weft_engine::op::NodeInfo& node, std::string name) {
  for (const AttrValue& value : node.attrs()) {
    if (const auto* one = value.get<FunctionAttr>(); one && one->name == name) return *one;
    if (const auto* list = value.get<std::vector<FunctionAttr>>()) {
      for (const FunctionAttr& one : *list) {
        if (one.name == name) return one;
      }
    }
  }
  return {std::move(name), nullptr};
}

// What the caller's done() throws goes no further.
void answer(void* data, void (*done)(void*, int, weft_text, TF_Tensor**, int), const Status& s, std::vector<Tensor> results) {
  std::vector<TF_Tensor*> out;
  if (s.ok()) {
    for (Tensor& t : results) out.push_back(new TF_Tensor{std::move(t)});
  }
  (void)caught([&] { return done(data, int(s.code()), text_of(s.message()), out.data(), int(out.size())), Status(); });
}

}  // namespace

int weft_run_has_functions(weft_run* run) { return context_of(run).env().functions != nullptr; }

TF_Status* weft_function_instantiate(weft_run* run, weft_text name, const weft_function_options* options, weft_function** out) {
  return returned(caught([&]() -> Status {
    FunctionCaller* caller = context_of(run).env().functions;
    if (!caller) return not_found("Function ", view_of(name), " is not defined.");
    FunctionAttr function = function_of(context_of(run).node(), string_of(name));
    InstantiateOptions o;
    auto made = std::make_unique<weft_function>();
    if (options) {
      o.target = string_of(options->target);
      o.config_proto = string_of(options->config_proto);
      o.executor_type = string_of(options->executor_type);
      o.state_handle = string_of(options->state_handle);
      o.multi_device = options->multi_device != 0;
      for (size_t i = 0; i < options->num_input_devices; ++i) o.input_devices.push_back(string_of(options->input_devices[i]));
      for (size_t i = 0; i < options->num_output_devices; ++i) o.output_devices.push_back(string_of(options->output_devices[i]));
      if (options->attr.size) {
        WEFT_ASSIGN(AttrValue value, weft_engine::io::decode_attr(view_of(options->attr)));
        const auto* given = value.get<FunctionAttr>();
        if (!given) return invalid_argument("the attributes of function ", view_of(name), " cannot be read");
        function = *given;
      }
      FunctionLibraryRuntime* const runtime = runtime_at(run);
      if (options->library && !(runtime && runtime->library() == options->library->functions)) {
        if (!runtime) return unimplemented("InstantiateOptions::lib_def where functions are not run by the engine's runtime");
        made->own = std::make_unique<FunctionLibraryRuntime>(runtime->options(), options->library->functions);
        caller = made->own.get();
      }
    }
    WEFT_ASSIGN(made->handle, caller->instantiate(function, o));
    *out = made.release();
    return {};
  }));
}
int weft_run_is_on(weft_run* run, weft_text device) {
  int same = 0;
  (void)caught([&]() -> Status {
    FunctionLibraryRuntime* const runtime = runtime_at(run);
    auto name = weft_engine::core::DeviceName::parse(view_of(device));
    same = runtime && name.ok() && runtime->options().devices->find(*name) == &context_of(run).device();
    return {};
  });
  return same;
}
void weft_function_delete(weft_function* f) { delete f; }
int weft_function_num_args(weft_function* f) { return int(f->handle->arg_types().size()); }
int weft_function_num_rets(weft_function* f) { return int(f->handle->ret_types().size()); }
int weft_function_arg_type(weft_function* f, int i) { return int(f->handle->arg_types()[size_t(i)]); }
int weft_function_ret_type(weft_function* f, int i) { return int(f->handle->ret_types()[size_t(i)]); }

void weft_function_run(weft_run* run, weft_function* f, const weft_call_options* options, const TF_Tensor* const* args, int num_args, void* data,
                       void (*done)(void*, int, weft_text, TF_Tensor**, int)) {
  // What lasts until the end of the call.
  struct Call {
    std::shared_ptr<FunctionHandle> handle;
    KernelEnv env;
    std::shared_ptr<weft_engine::op::Rendezvous> rendezvous;
  };
  std::shared_ptr<Call> call;
  std::vector<Tensor> values;
  const Status s = caught([&]() -> Status {
    const auto& types = f->handle->arg_types();
    if (size_t(num_args) != types.size()) return invalid_argument("the function takes ", types.size(), " arguments, not ", num_args);
    for (int i = 0; i < num_args; ++i) {
      if (!args[i] || !args[i]->tensor.valid()) return invalid_argument("argument ", i, " is a tensor without a value");
      if (args[i]->tensor.dtype() != base_type(types[size_t(i)]))
        return invalid_argument("argument ", i, " is ", args[i]->tensor.dtype(), ", the function takes ", types[size_t(i)]);
      values.push_back(args[i]->tensor);
    }
    call = std::make_shared<Call>(Call{f->handle, context_of(run).env(), nullptr});
    if (f->own) call->env.functions = f->own.get();
    if (options && options->cancellation) {
      call->env.cancellation = reinterpret_cast<weft_engine::op::CancellationManager*>(options->cancellation);
      if (call->env.cancellation->cancelled()) return cancelled("Function was cancelled before it was started");
    }
    if (options && options->own_rendezvous) {
      call->rendezvous = weft_engine::op::make_local_rendezvous();
      call->env.rendezvous = call->rendezvous.get();
    }
    return {};
  });
  if (!s.ok()) return answer(data, done, s, {});
  call->handle->run_async(call->env, std::move(values),
                          [call, data, done](Status status, std::vector<Tensor> results) { answer(data, done, status, std::move(results)); });
}

// ---- Functions by name ----

namespace {

// A FunctionDefLibrary, as the field of a graph.
Status add_library(weft_engine::graph::FunctionLibrary& to, std::string_view bytes) {
  weft_engine::wire::ProtoWriter graph;
  graph.bytes(2, bytes);
  WEFT_ASSIGN(auto def, weft_engine::io::decode_graph_def(std::make_shared<const std::string>(graph.take())));
  for (const auto& [name, function] : def.functions) WEFT_RETURN_IF_ERROR(to.add(name, function));
  for (const auto& gradient : def.gradients) WEFT_RETURN_IF_ERROR(to.add_gradient(gradient));
  return {};
}

}  // namespace

weft_library* weft_run_library(weft_run* run) {
  FunctionLibraryRuntime* const runtime = runtime_at(run);
  return runtime ? new weft_library{runtime->library()} : nullptr;
}
weft_library* weft_library_share(const weft_library* l) { return new weft_library{l->functions}; }
TF_Status* weft_library_with(const weft_library* base, const weft_text* removed, size_t num_removed, weft_text added, weft_library** out) {
  return returned(caught([&]() -> Status {
    auto made = std::make_shared<weft_engine::graph::FunctionLibrary>();
    WEFT_RETURN_IF_ERROR(add_library(*made, view_of(added)));
    std::set<std::string, std::less<>> without;
    for (size_t i = 0; i < num_removed; ++i) without.insert(string_of(removed[i]));
    if (base) WEFT_RETURN_IF_ERROR(weft_engine::engine::add_behind(*made, base->functions, without));
    *out = new weft_library{std::move(made)};
    return {};
  }));
}
void weft_library_delete(weft_library* l) { delete l; }
int weft_library_contains(const weft_library* l, weft_text name) { return l->functions->contains(view_of(name)); }
TF_Status* weft_library_find(const weft_library* l, weft_text name, TF_Buffer** function) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(auto def, l->functions->find(view_of(name)));
    WEFT_ASSIGN(std::string bytes, weft_engine::io::encode_function_def(*def));
    *function = new_buffer(bytes);
    return {};
  }));
}
void weft_library_names(const weft_library* l, void* sink, weft_add_function add) {
  (void)caught([&] {
    for (const std::string& name : l->functions->names()) add(sink, text_of(name), text_of(l->functions->gradient_of(name)));
    return Status();
  });
}
