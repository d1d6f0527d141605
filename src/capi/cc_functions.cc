// Functions that kernels of C++ sources call (OpKernelContext::function_library).
#include "capi/cc_internal.h"
#include "op/function_caller.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::AttrValue;
using weft_engine::op::FunctionAttr;
using weft_engine::op::FunctionHandle;
using weft_engine::op::InstantiateOptions;
using weft_engine::op::KernelContext;

struct weft_function {
  std::shared_ptr<FunctionHandle> handle;
};

namespace {

KernelContext& context_of(weft_run* run) { return *reinterpret_cast<KernelContext*>(run); }

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
    auto* caller = context_of(run).env().functions;
    if (!caller) return not_found("Function ", view_of(name), " is not defined.");
    const FunctionAttr function = function_of(context_of(run).node(), string_of(name));
    InstantiateOptions o;
    if (options) {
      o.target = string_of(options->target);
      o.config_proto = string_of(options->config_proto);
      o.executor_type = string_of(options->executor_type);
      o.multi_device = options->multi_device != 0;
    }
    WEFT_ASSIGN(std::shared_ptr<FunctionHandle> handle, caller->instantiate(function, o));
    *out = new weft_function{std::move(handle)};
    return {};
  }));
}
void weft_function_delete(weft_function* f) { delete f; }
int weft_function_num_args(weft_function* f) { return int(f->handle->arg_types().size()); }
int weft_function_num_rets(weft_function* f) { return int(f->handle->ret_types().size()); }
int weft_function_arg_type(weft_function* f, int i) { return int(f->handle->arg_types()[size_t(i)]); }
int weft_function_ret_type(weft_function* f, int i) { return int(f->handle->ret_types()[size_t(i)]); }

void weft_function_run(weft_run* run, weft_function* f, const TF_Tensor* const* args, int num_args, void* data,
                       void (*done)(void*, int, weft_text, TF_Tensor**, int)) {
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
    return {};
  });
  if (!s.ok()) return answer(data, done, s, {});
  f->handle->run_async(context_of(run).env(), std::move(values), [keep = f->handle, data, done](Status status, std::vector<Tensor> results) {
    answer(data, done, status, std::move(results));
  });
}
