// SPDX-License-Identifier: Apache-2.0
//
// FunctionLibraryRuntime: functions that a kernel calls (OpKernelContext::function_library). A handle belongs to the kernel that made it. What an option
// asks for that the engine does not have is an error that names the option. FunctionLibraryDefinition is in function_library.h, FunctionDefHelper and
// REGISTER_OP_GRADIENT are in function_def_helper.h.
#ifndef TENSORFLOW_CORE_FRAMEWORK_FUNCTION_H_
#define TENSORFLOW_CORE_FRAMEWORK_FUNCTION_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/function_def_helper.h"
#include "tensorflow/core/framework/function_library.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/lib/core/notification.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/protobuf/config.pb.h"

namespace tensorflow {

namespace thread {
class ThreadPoolInterface;
}

// Arguments and results of a call that are kept by somebody else.
class CallFrameInterface {
 public:
  virtual ~CallFrameInterface() = default;
  virtual size_t num_args() const = 0;
  virtual size_t num_retvals() const = 0;
  virtual Status GetArg(int i, const Tensor** value) = 0;
  virtual void ConsumeArg(int, Tensor*) { LOG(ERROR) << "This `CallFrameInterface` implementation does not support consuming arguments."; }
  virtual bool CanConsumeArg(int) const { return false; }
  virtual Status SetRetval(int i, const Tensor& value) = 0;
};

class FunctionLibraryRuntime {
 public:
  using Handle = uint64;
  using LocalHandle = uint64;
  using DoneCallback = std::function<void(const Status&)>;
  struct InstantiateOptions {
    std::string target;  // a device; empty: that of the kernel
    bool is_multi_device_function = false, is_component_function = false;
    std::vector<std::string> input_devices, output_devices;
    std::optional<std::vector<int>> ret_indices;
    std::unordered_map<std::string, const std::vector<std::string>*> composite_devices;
    std::unordered_map<int, DtypeAndPartialTensorShape> input_resource_dtypes_and_shapes;
    const FunctionLibraryDefinition* lib_def = nullptr;  // where this function, and what it calls, are looked for; null: in the program
    std::string state_handle;  // functions of other handles do not share the state of their kernels
    std::string executor_type, xla_compile_device_type;
    ConfigProto config_proto;
    // Hints: nothing that a program computes depends on them.
    bool create_kernels_eagerly = false, default_device_to_target = true, include_optimized_graph_in_debug_string = false, use_function_cache = false;
    bool allow_small_function_optimizations = false, allow_control_flow_sync_execution = false, shape_inference_on_tfe_dialect_import = true;
    bool int_args_and_retvals_on_device = false, function_runs_at_most_once = false, allow_soft_placement = false;
  };
  // The step is that of the run whatever step_id says: that tells which run a call is part of where a kernel has several.
  struct Options {
    Options() = default;
    explicit Options(int64 id) : step_id(id) {}
    int64 step_id = 0;
    std::optional<int64> op_id;
    CancellationManager* cancellation_manager = nullptr;  // null: that of the run
    std::function<void(std::function<void()>)>* runner = nullptr;  // where the call starts; null: here
    RendezvousInterface* rendezvous = nullptr;
    ScopedStepContainer* step_container = nullptr;
    StepStatsCollectorInterface* stats_collector = nullptr;
    CollectiveExecutor* collective_executor = nullptr;
    std::optional<ManagedStackTrace> stack_trace;
    bool run_function_as_component = false, should_allow_small_function_optimizations = false;
    std::optional<absl_forms::Time> deadline;
    bool create_rendezvous = false;  // what the function sends and receives is its own
    bool remote_execution = false, allow_dead_tensors = false;
    bool run_all_kernels_inline = false;  // a hint
    std::string source_device;
    std::vector<AllocatorAttributes> args_alloc_attrs, rets_alloc_attrs;  // all memory is the host's
    thread::ThreadPoolInterface* user_intra_op_threadpool = nullptr;
  };

  explicit FunctionLibraryRuntime(OpKernelContext* c) : c_(c), definition_(internal::OwnedLibrary(weft_run_library(c->run()))) {}
  // Of a kernel that is being made, and of its runs from then on.
  FunctionLibraryRuntime() : definition_(internal::OwnedLibrary()) {}
  ~FunctionLibraryRuntime() {
    for (const Named& n : named_) {
      if (n.function) weft_function_delete(n.function);
    }
  }
  FunctionLibraryRuntime(const FunctionLibraryRuntime&) = delete;
  void operator=(const FunctionLibraryRuntime&) = delete;

  // A function of these attributes; without any, with those that an attribute of the node gives it. The same ones have the same handle.
  Status Instantiate(const std::string& name, AttrSlice attrs, const InstantiateOptions& options, Handle* handle) {
    if (!handle) return errors::InvalidArgument("Instantiate: the place for the handle is null");
    Request r;
    TF_RETURN_IF_ERROR(Asked(name, attrs, options, &r));
    if (!c_) {
      const mutex_lock lock(mu_);
      named_.push_back({std::move(r), nullptr});
      *handle = kNamed + named_.size() - 1;
      return OkStatus();
    }
    const std::string key = r.Key();
    if (c_->op_kernel().functions().Again(key, handle)) return OkStatus();
    weft_function* f = nullptr;
    TF_RETURN_IF_ERROR(r.In(c_->run(), &f));
    *handle = c_->op_kernel().functions().Add(f, key);
    return OkStatus();
  }
  Status Instantiate(const std::string& name, AttrSlice attrs, Handle* handle) { return Instantiate(name, attrs, InstantiateOptions(), handle); }
  // The function is freed when its handle was released as often as it was given.
  Status ReleaseHandle(Handle handle) {
    if (handle >= kNamed) return OkStatus();  // they go with the kernel
    return c_ && c_->op_kernel().functions().Remove(handle) ? OkStatus() : errors::NotFound("Handle ", handle, " not found.");
  }
  // Whether the target is the device of the kernel. Without a run (a kernel that is being made) that is the host.
  bool IsLocalTarget(const InstantiateOptions& options) const {
    if (options.target.empty()) return true;
    if (options.is_multi_device_function) return false;
    return !c_ || weft_run_is_on(c_->run(), internal::Text(options.target));
  }
  bool IsCrossProcess(Handle) const { return false; }
  bool IsStateful(const std::string& name) const {
    const OpDef* op = nullptr;
    return definition_.LookUpOpDef(name, &op).ok() && op->is_stateful();
  }

  // Calls done once, when the results are there; the context that this comes from must last until then.
  void Run(const Options& options, Handle handle, gtl::ArraySlice<Tensor> args, std::vector<Tensor>* rets, DoneCallback done) {
    weft_function* f = nullptr;
    weft_run* run = nullptr;
    if (const Status s = Find(options.step_id, handle, &f, &run); !s.ok()) return done(s);
    if (!run) return done(NoRun());
    if (!rets) return done(errors::InvalidArgument("Run: the place for the results is null"));
    if (const Status s = Honoured(options, run); !s.ok()) return done(s);
    if (options.runner && !(c_ && options.runner == c_->runner())) {
      std::vector<Tensor> kept(args.begin(), args.end());
      (*options.runner)([run, f, call = CallOf(options), kept = std::move(kept), rets, done = std::move(done)]() mutable {
        Start(run, f, call, kept, rets, std::move(done));
      });
      return;
    }
    Start(run, f, CallOf(options), args, rets, std::move(done));
  }
  void Run(const Options& options, Handle handle, CallFrameInterface* frame, DoneCallback done) {
    std::vector<Tensor> args;
    for (size_t i = 0; i < frame->num_args(); ++i) {
      const Tensor* arg = nullptr;
      if (const Status s = frame->GetArg(static_cast<int>(i), &arg); !s.ok()) return done(s);
      args.push_back(*arg);
    }
    auto rets = std::make_shared<std::vector<Tensor>>();
    Run(options, handle, args, rets.get(), [frame, rets, done = std::move(done)](Status s) {
      for (size_t i = 0; s.ok() && i < rets->size(); ++i) s = frame->SetRetval(static_cast<int>(i), (*rets)[i]);
      done(s);
    });
  }
  Status RunSync(Options options, Handle handle, gtl::ArraySlice<Tensor> args, std::vector<Tensor>* rets) {
    return Wait([&](DoneCallback done) { Run(options, handle, args, rets, std::move(done)); });
  }
  Status RunSync(Options options, Handle handle, CallFrameInterface* frame) {
    return Wait([&](DoneCallback done) { Run(options, handle, frame, std::move(done)); });
  }
  // The types of what it takes and gives.
  Status Signature(Handle handle, DataTypeVector* args, DataTypeVector* rets) const {
    weft_function* f = nullptr;
    weft_run* run = nullptr;
    TF_RETURN_IF_ERROR(Find(0, handle, &f, &run));
    args->clear();
    rets->clear();
    for (int i = 0; i < weft_function_num_args(f); ++i) args->push_back(static_cast<DataType>(weft_function_arg_type(f, i)));
    for (int i = 0; i < weft_function_num_rets(f); ++i) rets->push_back(static_cast<DataType>(weft_function_ret_type(f, i)));
    return OkStatus();
  }
  Status GetRetTypes(Handle handle, DataTypeVector* types) const {
    DataTypeVector args;
    return Signature(handle, &args, types);
  }
  // Of the program that runs the kernel; of a kernel that is being made it has no functions yet.
  const FunctionLibraryDefinition* GetFunctionLibraryDefinition() const { return &definition_; }
  Env* env() { return Env::Default(); }
  DeviceBase* device() { return c_ ? c_->device() : nullptr; }
  const DeviceBase* device() const { return c_ ? c_->device() : nullptr; }
  std::function<void(std::function<void()>)>* runner() { return c_ ? c_->runner() : nullptr; }
  int graph_def_version() const { return c_ ? c_->op_kernel().graph_def_version() : version_; }
  std::string DebugString(Handle) { return "a function"; }

  // For these headers.
  static void Belong(FunctionLibraryRuntime* f, OpKernel* kernel) { f->kernel_ = kernel; }
  void set_graph_def_version(int version) { version_ = version; }

 private:
  static constexpr Handle kNamed = Handle{1} << 62;
  // What was asked of Instantiate, in the engine's form.
  struct Request {
    std::string name, attr, config, changes;
    InstantiateOptions options;
    std::shared_ptr<weft_library> library;

    std::string Key() const {
      std::string key = strings::StrCat(name, "|", attr, "|", config, "|", options.target, "|", options.is_multi_device_function, "|",
                                        options.executor_type, "|", options.state_handle, "|", changes);
      for (const std::string& d : options.input_devices) key += "|i" + d;
      for (const std::string& d : options.output_devices) key += "|o" + d;
      return key;
    }
    Status In(weft_run* run, weft_function** f) const {
      std::vector<weft_text> in, out;
      for (const std::string& d : options.input_devices) in.push_back(internal::Text(d));
      for (const std::string& d : options.output_devices) out.push_back(internal::Text(d));
      weft_function_options o = {};
      o.target = internal::Text(options.target);
      o.config_proto = internal::Text(config);
      o.executor_type = internal::Text(options.executor_type);
      o.state_handle = internal::Text(options.state_handle);
      o.multi_device = options.is_multi_device_function;
      o.input_devices = in.data(), o.num_input_devices = in.size();
      o.output_devices = out.data(), o.num_output_devices = out.size();
      o.attr = internal::Text(attr);
      o.library = library.get();
      return internal::FromC(weft_function_instantiate(run, internal::Text(name), &o, f));
    }
  };
  struct Named {
    Request request;
    weft_function* function;
  };
  static Status Missing(const char* option) { return errors::Unimplemented("FunctionLibraryRuntime::", option, " is not supported"); }
  Status Asked(const std::string& name, const AttrSlice& attrs, const InstantiateOptions& options, Request* r) const {
    if (options.ret_indices) return Missing("InstantiateOptions::ret_indices");
    if (!options.composite_devices.empty()) return Missing("InstantiateOptions::composite_devices");
    if (!options.input_resource_dtypes_and_shapes.empty()) return Missing("InstantiateOptions::input_resource_dtypes_and_shapes");
    if (!options.xla_compile_device_type.empty()) return Missing("InstantiateOptions::xla_compile_device_type");
    r->name = name;
    r->options = options;
    r->options.lib_def = nullptr;
    r->config = options.config_proto.SerializeAsString();
    if (attrs.size() > 0) {
      AttrValue value;
      value.mutable_func()->set_name(name);
      attrs.CopyTo(value.mutable_func());
      r->attr = value.SerializeAsString();
    }
    if (options.lib_def && options.lib_def != &definition_) {
      internal::OwnedLibrary library;
      TF_RETURN_IF_ERROR(options.lib_def->ToC(&library, &r->changes));
      r->library = std::move(library);
    }
    return OkStatus();
  }
  Status Honoured(const Options& o, weft_run* run) const {
    if (o.rendezvous) return Missing(o.create_rendezvous ? "Options::rendezvous with create_rendezvous" : "Options::rendezvous");
    if (o.stats_collector) return Missing("Options::stats_collector");
    if (o.collective_executor) return Missing("Options::collective_executor");
    if (o.deadline) return Missing("Options::deadline");
    if (o.user_intra_op_threadpool) return Missing("Options::user_intra_op_threadpool");
    if (o.remote_execution) return Missing("Options::remote_execution");
    if (!o.source_device.empty() && !weft_run_is_on(run, internal::Text(o.source_device))) return Missing("Options::source_device of another device");
    if (o.step_container && o.step_container->StepId() != weft_run_step_id(run)) return Missing("Options::step_container of another step");
    return OkStatus();
  }
  static weft_call_options CallOf(const Options& o) { return {o.cancellation_manager ? o.cancellation_manager->c() : nullptr, o.create_rendezvous}; }
  static void Start(weft_run* run, weft_function* f, weft_call_options options, gtl::ArraySlice<Tensor> args, std::vector<Tensor>* rets,
                    DoneCallback done) {
    std::vector<const TF_Tensor*> given;
    for (const Tensor& t : args) given.push_back(t.c_tensor());
    struct Call {
      std::vector<Tensor>* rets;
      DoneCallback done;
    };
    weft_function_run(run, f, &options, given.data(), static_cast<int>(given.size()), new Call{rets, std::move(done)},
                      [](void* data, int code, weft_text message, TF_Tensor** results, int n) {
                        const std::unique_ptr<Call> call(static_cast<Call*>(data));
                        call->rets->clear();
                        for (int i = 0; i < n; ++i) call->rets->push_back(Tensor::Received(results[i]));
                        call->done(code == 0 ? OkStatus() : Status(static_cast<error::Code>(code), std::string(internal::View(message))));
                      });
  }
  template <class Call>
  static Status Wait(Call call) {
    Notification finished;
    Status status;
    call([&](const Status& s) {
      status = s;
      finished.Notify();
    });
    finished.WaitForNotification();
    return status;
  }
  static Status NoRun() {
    return errors::FailedPrecondition(
        "a function is run outside of the runs of the kernel that named it, or in one of several: set Options::step_id");
  }
  // The run is null where it is not known (RunsInFlight).
  Status Find(int64 step_id, Handle handle, weft_function** f, weft_run** run) const {
    const OpKernel* kernel = c_ ? &c_->op_kernel() : kernel_;
    OpKernel::Library* library = kernel ? kernel->library() : nullptr;
    *run = c_ ? c_->run() : library ? library->runs.Current(step_id) : nullptr;
    if (handle >= kNamed && library) return library->functions->FindNamed(handle - kNamed, *run, f);
    *f = handle < kNamed && kernel ? kernel->functions().Find(handle) : nullptr;
    return *f ? OkStatus() : errors::NotFound("Handle ", handle, " not found.");
  }
  Status FindNamed(Handle i, weft_run* run, weft_function** f) {
    const mutex_lock lock(mu_);
    if (i >= named_.size()) return errors::NotFound("Handle ", i, " not found.");
    Named& n = named_[i];
    if (!n.function) TF_RETURN_IF_ERROR(run ? n.request.In(run, &n.function) : NoRun());
    *f = n.function;
    return OkStatus();
  }
  OpKernelContext* c_ = nullptr;
  OpKernel* kernel_ = nullptr;
  FunctionLibraryDefinition definition_;
  int version_ = 0;
  mutex mu_;
  std::vector<Named> named_;
};

inline FunctionLibraryRuntime* OpKernelConstruction::function_library() const {
  if (!functions_) {
    functions_ = std::make_shared<FunctionLibraryRuntime>();
    functions_->set_graph_def_version(graph_def_version());
    belong_ = FunctionLibraryRuntime::Belong;
  }
  return functions_.get();
}
// Null where the program has no functions.
inline FunctionLibraryRuntime* OpKernelContext::function_library() const {
  return functions_
      .Get([&] { return weft_run_has_functions(run_) ? std::make_shared<FunctionLibraryRuntime>(const_cast<OpKernelContext*>(this)) : nullptr; })
      .get();
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_FUNCTION_H_
