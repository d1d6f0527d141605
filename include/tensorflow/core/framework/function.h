// SPDX-License-Identifier: Apache-2.0
//
// FunctionLibraryRuntime: functions that a kernel calls (OpKernelContext::function_library). A handle belongs to the kernel that made it.
// FunctionDefHelper and REGISTER_OP_GRADIENT are in function_def_helper.h.
#ifndef TENSORFLOW_CORE_FRAMEWORK_FUNCTION_H_
#define TENSORFLOW_CORE_FRAMEWORK_FUNCTION_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/function_def_helper.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/lib/core/notification.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

// The functions that a run may call, by name. Without a run (a kernel that is being made) it is not known yet what is there.
class FunctionLibraryDefinition {
 public:
  explicit FunctionLibraryDefinition(weft_run* run) : run_(run) {}
  bool Contains(const std::string& name) const {
    if (!run_) return true;
    weft_function* f = nullptr;
    const bool there = internal::FromC(weft_function_instantiate(run_, internal::Text(name), nullptr, &f)).ok();
    if (there) weft_function_delete(f);
    return there;
  }

 private:
  weft_run* run_;
};

class FunctionLibraryRuntime {
 public:
  using Handle = uint64;
  using LocalHandle = uint64;
  using DoneCallback = std::function<void(const Status&)>;
  struct InstantiateOptions {
    std::string target;  // a device; empty: that of the kernel
    bool is_multi_device_function = false;
    std::vector<std::string> input_devices, output_devices;
    std::string executor_type, state_handle;
    const FunctionLibraryDefinition* lib_def = nullptr;
    bool create_kernels_eagerly = false;
  };
  // What a call takes from its caller is taken from the run; these fields are for sources that set them.
  struct Options {
    Options() = default;
    explicit Options(int64 id) : step_id(id) {}
    int64 step_id = 0;
    CancellationManager* cancellation_manager = nullptr;
    std::function<void(std::function<void()>)>* runner = nullptr;
    RendezvousInterface* rendezvous = nullptr;
    ScopedStepContainer* step_container = nullptr;
    StepStatsCollectorInterface* stats_collector = nullptr;
    CollectiveExecutor* collective_executor = nullptr;
    bool run_function_as_component = false, should_allow_small_function_optimizations = false;
    std::optional<int64> deadline;
    bool create_rendezvous = false, remote_execution = false, allow_dead_tensors = false, run_all_kernels_inline = false;
    std::string source_device;
  };

  explicit FunctionLibraryRuntime(OpKernelContext* c) : c_(c), definition_(c->run()) {}
  // Of a kernel that is being made, and of its runs from then on.
  FunctionLibraryRuntime() : definition_(nullptr) {}
  ~FunctionLibraryRuntime() {
    for (const Named& n : named_) {
      if (n.function) weft_function_delete(n.function);
    }
  }
  FunctionLibraryRuntime(const FunctionLibraryRuntime&) = delete;
  void operator=(const FunctionLibraryRuntime&) = delete;

  // By name; with the function's own attributes where an attribute of the node names it.
  Status Instantiate(const std::string& name, AttrSlice, const InstantiateOptions& options, Handle* handle) {
    if (!c_) {
      const mutex_lock lock(mu_);
      named_.push_back({name, options, nullptr});
      *handle = kNamed + named_.size() - 1;
      return OkStatus();
    }
    weft_function* f = nullptr;
    TF_RETURN_IF_ERROR(InstantiateIn(c_->run(), name, options, &f));
    *handle = c_->op_kernel().functions().Add(f);
    return OkStatus();
  }
  Status Instantiate(const std::string& name, AttrSlice attrs, Handle* handle) { return Instantiate(name, attrs, InstantiateOptions(), handle); }
  Status ReleaseHandle(Handle handle) {
    if (handle >= kNamed) return OkStatus();  // they go with the kernel
    return c_ && c_->op_kernel().functions().Remove(handle) ? OkStatus() : errors::NotFound("Handle ", handle, " not found.");
  }
  // All devices that a kernel sees are of this process.
  bool IsLocalTarget(const InstantiateOptions&) const { return true; }
  bool IsCrossProcess(Handle) const { return false; }

  // Calls done once, when the results are there; the context that this comes from must last until then.
  void Run(const Options& options, Handle handle, gtl::ArraySlice<Tensor> args, std::vector<Tensor>* rets, DoneCallback done) {
    weft_function* f = nullptr;
    weft_run* run = nullptr;
    if (const Status s = Find(options.step_id, handle, &f, &run); !s.ok()) return done(s);
    if (!run) return done(NoRun());
    std::vector<const TF_Tensor*> given;
    for (const Tensor& t : args) given.push_back(t.c_tensor());
    struct Call {
      std::vector<Tensor>* rets;
      DoneCallback done;
    };
    weft_function_run(run, f, given.data(), static_cast<int>(given.size()), new Call{rets, std::move(done)},
                      [](void* data, int code, weft_text message, TF_Tensor** results, int n) {
                        const std::unique_ptr<Call> call(static_cast<Call*>(data));
                        call->rets->clear();
                        for (int i = 0; i < n; ++i) call->rets->push_back(Tensor::Received(results[i]));
                        call->done(code == 0 ? OkStatus() : Status(static_cast<error::Code>(code), std::string(internal::View(message))));
                      });
  }
  Status RunSync(Options options, Handle handle, gtl::ArraySlice<Tensor> args, std::vector<Tensor>* rets) {
    Notification finished;
    Status status;
    Run(options, handle, args, rets, [&](const Status& s) {
      status = s;
      finished.Notify();
    });
    finished.WaitForNotification();
    return status;
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
  const FunctionLibraryDefinition* GetFunctionLibraryDefinition() const { return &definition_; }
  Env* env() { return Env::Default(); }
  DeviceBase* device() { return c_ ? c_->device() : nullptr; }
  const DeviceBase* device() const { return c_ ? c_->device() : nullptr; }
  int graph_def_version() const { return 0; }
  std::string DebugString(Handle) { return "a function"; }

  // For these headers.
  static void Belong(FunctionLibraryRuntime* f, OpKernel* kernel) { f->kernel_ = kernel; }

 private:
  static constexpr Handle kNamed = Handle{1} << 62;
  struct Named {
    std::string name;
    InstantiateOptions options;
    weft_function* function;
  };
  static Status InstantiateIn(weft_run* run, const std::string& name, const InstantiateOptions& options, weft_function** f) {
    const weft_function_options o = {
        internal::Text(options.target), {nullptr, 0}, internal::Text(options.executor_type), options.is_multi_device_function};
    return internal::FromC(weft_function_instantiate(run, internal::Text(name), &o, f));
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
    *f = handle < kNamed ? kernel->functions().Find(handle) : nullptr;
    return *f ? OkStatus() : errors::NotFound("Handle ", handle, " not found.");
  }
  Status FindNamed(Handle i, weft_run* run, weft_function** f) {
    const mutex_lock lock(mu_);
    if (i >= named_.size()) return errors::NotFound("Handle ", i, " not found.");
    Named& n = named_[i];
    if (!n.function) TF_RETURN_IF_ERROR(run ? InstantiateIn(run, n.name, n.options, &n.function) : NoRun());
    *f = n.function;
    return OkStatus();
  }
  OpKernelContext* c_ = nullptr;
  OpKernel* kernel_ = nullptr;
  FunctionLibraryDefinition definition_;
  mutex mu_;
  std::vector<Named> named_;
};

inline FunctionLibraryRuntime* OpKernelConstruction::function_library() const {
  if (!functions_) {
    functions_ = std::make_shared<FunctionLibraryRuntime>();
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
