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

// The functions that a run may call, by name.
class FunctionLibraryDefinition {
 public:
  explicit FunctionLibraryDefinition(weft_run* run) : run_(run) {}
  bool Contains(const std::string& name) const {
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
    void* rendezvous = nullptr;
    void* step_container = nullptr;
    void* stats_collector = nullptr;
    void* collective_executor = nullptr;
    bool create_rendezvous = false, remote_execution = false, allow_dead_tensors = false, run_all_kernels_inline = false;
    std::string source_device;
  };

  explicit FunctionLibraryRuntime(OpKernelContext* c) : c_(c), definition_(c->run()) {}

  // By name; with the function's own attributes where an attribute of the node names it.
  Status Instantiate(const std::string& name, AttrSlice, const InstantiateOptions& options, Handle* handle) {
    const weft_function_options o = {
        internal::Text(options.target), {nullptr, 0}, internal::Text(options.executor_type), options.is_multi_device_function};
    weft_function* f = nullptr;
    TF_RETURN_IF_ERROR(internal::FromC(weft_function_instantiate(c_->run(), internal::Text(name), &o, &f)));
    *handle = c_->op_kernel().functions().Add(f);
    return OkStatus();
  }
  Status Instantiate(const std::string& name, AttrSlice attrs, Handle* handle) { return Instantiate(name, attrs, InstantiateOptions(), handle); }
  Status ReleaseHandle(Handle handle) {
    return c_->op_kernel().functions().Remove(handle) ? OkStatus() : errors::NotFound("Handle ", handle, " not found.");
  }
  // All devices that a kernel sees are of this process.
  bool IsLocalTarget(const InstantiateOptions&) const { return true; }
  bool IsCrossProcess(Handle) const { return false; }

  // Calls done once, when the results are there; the context that this comes from must last until then.
  void Run(const Options&, Handle handle, gtl::ArraySlice<Tensor> args, std::vector<Tensor>* rets, DoneCallback done) {
    weft_function* f = c_->op_kernel().functions().Find(handle);
    if (!f) return done(errors::NotFound("Handle ", handle, " not found."));
    std::vector<const TF_Tensor*> given;
    for (const Tensor& t : args) given.push_back(t.c_tensor());
    struct Call {
      std::vector<Tensor>* rets;
      DoneCallback done;
    };
    weft_function_run(c_->run(), f, given.data(), static_cast<int>(given.size()), new Call{rets, std::move(done)},
                      [](void* data, int code, weft_text message, TF_Tensor** results, int n) {
                        const std::unique_ptr<Call> call(static_cast<Call*>(data));
                        call->rets->clear();
                        for (int i = 0; i < n; ++i) call->rets->push_back(Tensor::Owning(results[i]));
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
    weft_function* f = c_->op_kernel().functions().Find(handle);
    if (!f) return errors::NotFound("Handle ", handle, " not found.");
    args->clear();
    rets->clear();
    for (int i = 0; i < weft_function_num_args(f); ++i) args->push_back(static_cast<DataType>(weft_function_arg_type(f, i)));
    for (int i = 0; i < weft_function_num_rets(f); ++i) rets->push_back(static_cast<DataType>(weft_function_ret_type(f, i)));
    return OkStatus();
  }
  const FunctionLibraryDefinition* GetFunctionLibraryDefinition() const { return &definition_; }
  DeviceBase* device() { return c_->device(); }
  const DeviceBase* device() const { return c_->device(); }
  int graph_def_version() const { return 0; }

 private:
  OpKernelContext* c_;
  FunctionLibraryDefinition definition_;
};

// Null where the program has no functions.
inline FunctionLibraryRuntime* OpKernelContext::function_library() const {
  if (!functions_ && weft_run_has_functions(run_)) functions_ = std::make_shared<FunctionLibraryRuntime>(const_cast<OpKernelContext*>(this));
  return functions_.get();
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_FRAMEWORK_FUNCTION_H_
