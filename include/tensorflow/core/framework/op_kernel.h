// SPDX-License-Identifier: Apache-2.0
//
// OpKernel: the code of an op. A class derived from it is made once for each node (OpKernelConstruction: its attributes) and runs many times
// (OpKernelContext: inputs, outputs, surroundings), from several threads at once. An exception that it throws is an error of the op.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_KERNEL_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_KERNEL_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/kernel_def_builder.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/op_kernel_context.h"
#include "tensorflow/core/framework/op_requires.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/types.h"
#include "tensorflow/core/graph/c_handles.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

class AsyncOpKernel;

class OpKernelConstruction {
 public:
  explicit OpKernelConstruction(weft_construction* c)
      : c_(c), node_(weft_construction_node(c)), device_type_(internal::View(weft_construction_device_type(c))) {}

  // T is what the attribute holds: int32, int64, float, bool, std::string, DataType, TensorShape, PartialTensorShape, Tensor, or a vector of these.
  template <class T>
  Status GetAttr(std::string_view name, T* value) const {
    return internal::GetAttr(node_, name, value);
  }
  bool HasAttr(std::string_view name) const { return weft_node_attr(node_, internal::Text(name)) != nullptr; }
  const DeviceType& device_type() const { return device_type_; }
  int num_inputs() const { return weft_node_num_inputs(node_); }
  int num_outputs() const { return weft_node_num_outputs(node_); }
  DataType input_type(int i) const { return static_cast<DataType>(weft_node_input_type(node_, i)); }
  DataType output_type(int i) const { return static_cast<DataType>(weft_node_output_type(node_, i)); }
  DataTypeVector input_types() const { return internal::Types(node_, false); }
  DataTypeVector output_types() const { return internal::Types(node_, true); }
  Status MatchSignature(DataTypeSlice inputs, DataTypeSlice outputs) const { return internal::MatchSignature(node_, inputs, outputs); }
  int graph_def_version() const { return weft_construction_graph_version(c_); }
  Status allocate_temp(DataType type, const TensorShape& shape, Tensor* out) {
    TF_Tensor* t = nullptr;
    TF_RETURN_IF_ERROR(internal::FromC(weft_tensor_allocate(type, shape.c_dims(), &t)));
    out->Take(t);
    return OkStatus();
  }

  void SetStatus(const Status& s) {
    status_.Update(s);
    weft_construction_fail(c_, status_.raw_code(), internal::Text(status_.error_message()));
  }
  const Status& status() const { return status_; }
  void CtxFailure(const Status& s) { SetStatus(s); }
  void CtxFailure(const char*, int, const Status& s) { SetStatus(s); }
  void CtxFailureWithWarning(const Status& s) { SetStatus(s); }
  void CtxFailureWithWarning(const char*, int, const Status& s) { SetStatus(s); }

  NodeDef def() const { return internal::MessageOf(node_); }
  // Functions that the kernel names while it is made are looked for when they are first run: what is not there is an error of that run.
  FunctionLibraryRuntime* function_library() const;  // function.h
  Env* env() const { return Env::Default(); }
  // The host, with threads for kernels that keep them; those of a run are the context's.
  DeviceBase* device() const {
    static auto* const host = new DeviceBase(weft_pool_new(std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
                                             "/job:localhost/replica:0/task:0/device:CPU:0");
    return host;
  }
  Status allocate_temp(DataType type, const TensorShape& shape, Tensor* out, AllocatorAttributes) { return allocate_temp(type, shape, out); }

  // For these headers.
  const weft_node* node() const { return node_; }
  void GiveLibrary(OpKernel* kernel);

 private:
  weft_construction* c_;
  const weft_node* node_;
  DeviceType device_type_;
  Status status_;
  mutable std::shared_ptr<FunctionLibraryRuntime> functions_;
  mutable void (*belong_)(FunctionLibraryRuntime*, OpKernel*) = nullptr;
};

namespace internal {
// The runs of a kernel whose functions were named while it was made: they need one to run in.
class RunsInFlight {
 public:
  class Entry {
   public:
    Entry(RunsInFlight& all, weft_run* run) : all_(all), run_(run) {
      const mutex_lock lock(all_.mu_);
      all_.runs_.push_back(run);
    }
    ~Entry() {
      const mutex_lock lock(all_.mu_);
      all_.runs_.erase(std::find(all_.runs_.begin(), all_.runs_.end(), run_));
    }
    Entry(const Entry&) = delete;
    void operator=(const Entry&) = delete;

   private:
    RunsInFlight& all_;
    weft_run* run_;
  };
  // The run that this thread is in; else (a thread of the kernel's own, a callback) the only one, or the only one of the step that the caller names. Null
  // where that leaves a choice: another run may end while the caller's function still runs.
  weft_run* Current(int64 step_id) {
    const mutex_lock lock(mu_);
    if (std::find(runs_.begin(), runs_.end(), of_thread) != runs_.end()) return of_thread;
    if (runs_.size() == 1) return runs_[0];
    if (step_id == 0) return nullptr;
    weft_run* found = nullptr;
    for (weft_run* run : runs_) {
      if (weft_run_step_id(run) != step_id) continue;
      if (found) return nullptr;
      found = run;
    }
    return found;
  }
  inline static thread_local weft_run* of_thread = nullptr;
  struct OfThread {
    explicit OfThread(weft_run* run) : before(std::exchange(of_thread, run)) {}
    ~OfThread() { of_thread = before; }
    OfThread(const OfThread&) = delete;
    void operator=(const OfThread&) = delete;
    weft_run* const before;
  };

 private:
  mutex mu_;
  std::vector<weft_run*> runs_;
};
// The functions that a kernel has instantiated, by number: they go with it.
class KernelFunctionTable {
 public:
  KernelFunctionTable() = default;
  KernelFunctionTable(const KernelFunctionTable&) = delete;
  void operator=(const KernelFunctionTable&) = delete;
  ~KernelFunctionTable() {
    for (weft_function* f : all_) {
      if (f) weft_function_delete(f);
    }
  }
  // It is given again to whoever asks with this key.
  uint64 Add(weft_function* f, const std::string& key) {
    const mutex_lock lock(mu_);
    all_.push_back(f);
    uses_.push_back(1);
    by_key_[key] = all_.size();
    return all_.size();
  }
  bool Again(const std::string& key, uint64* number) {
    const mutex_lock lock(mu_);
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return false;
    *number = known->second;
    ++uses_[*number - 1];
    return true;
  }
  weft_function* Find(uint64 number) {
    const mutex_lock lock(mu_);
    return number == 0 || number > all_.size() ? nullptr : all_[number - 1];
  }
  bool Remove(uint64 number) {
    const mutex_lock lock(mu_);
    if (number == 0 || number > all_.size() || !all_[number - 1]) return false;
    if (--uses_[number - 1] > 0) return true;
    for (auto known = by_key_.begin(); known != by_key_.end();) known = known->second == number ? by_key_.erase(known) : std::next(known);
    weft_function_delete(std::exchange(all_[number - 1], nullptr));
    return true;
  }

 private:
  mutex mu_;
  std::vector<weft_function*> all_;
  std::vector<int> uses_;
  std::map<std::string, uint64> by_key_;
};
}  // namespace internal

class OpKernel {
 public:
  explicit OpKernel(OpKernelConstruction* c)
      : def_(internal::MessageOf(c->node())), inputs_(c->input_types()), outputs_(c->output_types()), graph_def_version_(c->graph_def_version()) {}
  OpKernel(OpKernelConstruction* c, bool) : OpKernel(c) {}
  virtual ~OpKernel() = default;
  OpKernel(const OpKernel&) = delete;
  void operator=(const OpKernel&) = delete;

  virtual void Compute(OpKernelContext* context) = 0;
  virtual AsyncOpKernel* AsAsync() { return nullptr; }
  virtual bool IsExpensive() { return true; }
  // The value, where the kernel gives the same one in all runs.
  virtual const Tensor* const_tensor() const { return nullptr; }

  const NodeDef& def() const { return def_; }
  const std::string& name() const { return def_.name(); }
  std::string_view name_view() const { return def_.name(); }
  const std::string& type_string() const { return def_.op(); }
  std::string_view type_string_view() const { return def_.op(); }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  DataType input_type(int i) const { return inputs_[static_cast<size_t>(i)]; }
  DataType output_type(int i) const { return outputs_[static_cast<size_t>(i)]; }
  const DataTypeVector& input_types() const { return inputs_; }
  const DataTypeVector& output_types() const { return outputs_; }
  // Which inputs (or outputs) an argument of the op stands for.
  Status InputRange(std::string_view arg, int* start, int* stop) const { return Range(arg, true, start, stop); }
  Status OutputRange(std::string_view arg, int* start, int* stop) const { return Range(arg, false, start, stop); }

  // For these headers.
  int graph_def_version() const { return graph_def_version_; }
  internal::KernelFunctionTable& functions() const { return functions_; }
  struct Library {
    std::shared_ptr<FunctionLibraryRuntime> functions;
    internal::RunsInFlight runs;
  };
  Library* library() const { return library_.get(); }
  void set_library(std::shared_ptr<FunctionLibraryRuntime> functions) {
    library_ = std::make_shared<Library>();
    library_->functions = std::move(functions);
  }

 private:
  Status Range(std::string_view arg, bool inputs, int* start, int* stop) const {
    const OpDef* op = nullptr;
    TF_RETURN_IF_ERROR(OpRegistry::Global()->LookUpOpDef(def_.op(), &op));
    NameRangeMap ranges;
    TF_RETURN_IF_ERROR(NameRangesForNode(def_, *op, inputs ? &ranges : nullptr, inputs ? nullptr : &ranges));
    const auto found = ranges.find(arg);
    if (found == ranges.end()) return errors::InvalidArgument("Unknown ", inputs ? "input" : "output", " name: ", arg);
    *start = found->second.first;
    *stop = found->second.second;
    return OkStatus();
  }
  const NodeDef def_;
  const DataTypeVector inputs_, outputs_;
  const int graph_def_version_;
  mutable internal::KernelFunctionTable functions_;
  std::shared_ptr<Library> library_;
};

inline void OpKernelConstruction::GiveLibrary(OpKernel* kernel) {
  if (!functions_) return;
  belong_(functions_.get(), kernel);
  kernel->set_library(std::move(functions_));
}

// A kernel that waits: it returns at once and calls done later, once, from any thread.
class AsyncOpKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;
  using DoneCallback = std::function<void()>;
  virtual void ComputeAsync(OpKernelContext* context, DoneCallback done) = 0;
  AsyncOpKernel* AsAsync() override { return this; }
  // The engine calls ComputeAsync.
  void Compute(OpKernelContext* context) override { context->SetStatus(errors::Internal("an asynchronous kernel was called as another")); }
};

namespace internal {

struct KernelFunctions {
  using Make = OpKernel* (*)(OpKernelConstruction*);

  static void* Create(void* make, weft_construction* c, int* asynchronous) {
    OpKernelConstruction construction(c);
    OpKernel* kernel = reinterpret_cast<Make>(make)(&construction);
    construction.GiveLibrary(kernel);
    *asynchronous = kernel->AsAsync() != nullptr;
    return kernel;
  }
  static TF_Status* Compute(void* kernel, weft_run* run) {
    OpKernelContext context(run, static_cast<OpKernel*>(kernel));
    if (TF_PREDICT_FALSE(static_cast<OpKernel*>(kernel)->library() != nullptr)) return ComputeInFlight(kernel, run, &context);
    static_cast<OpKernel*>(kernel)->Compute(&context);
    return ToC(context.status());
  }
  TF_ATTRIBUTE_NOINLINE static TF_Status* ComputeInFlight(void* kernel, weft_run* run, OpKernelContext* context) {
    const RunsInFlight::Entry entry(static_cast<OpKernel*>(kernel)->library()->runs, run);
    const RunsInFlight::OfThread here(run);
    static_cast<OpKernel*>(kernel)->Compute(context);
    return ToC(context->status());
  }
  // Whoever comes first, done, an exception of ComputeAsync or the end of the last copy of done, ends the run.
  struct Pending {
    Pending(weft_run* run, OpKernel* kernel, weft_done* d) : context(run, kernel), done(d) {
      if (kernel->library()) in_flight.emplace(kernel->library()->runs, run);
    }
    ~Pending() { End(errors::Internal("the kernel dropped its callback without a call")); }
    void End(const Status& s) {
      if (ended.exchange(true)) return;
      in_flight.reset();
      weft_done_call(done, s.raw_code(), Text(s.error_message()));
    }
    OpKernelContext context;
    weft_done* done;
    std::optional<RunsInFlight::Entry> in_flight;
    std::atomic<bool> ended{false};
  };
  static TF_Status* ComputeAsync(void* kernel, weft_run* run, weft_done* done) {
    auto pending = std::make_shared<Pending>(run, static_cast<OpKernel*>(kernel), done);
    const RunsInFlight::OfThread here(run);
    try {
      static_cast<OpKernel*>(kernel)->AsAsync()->ComputeAsync(&pending->context, [pending] { pending->End(pending->context.status()); });
    } catch (const std::exception& e) {
      pending->End(errors::Internal(e.what()));
    } catch (...) {
      pending->End(errors::Internal("an exception of unknown type"));
    }
    return nullptr;
  }
  static void Destroy(void* kernel) { delete static_cast<OpKernel*>(kernel); }
};

struct RegisteredKernel {
  RegisteredKernel(const KernelDefBuilder& builder, KernelFunctions::Make make) {
    weft_kernel_def def{};
    def.data = reinterpret_cast<void*>(make);
    def.create = KernelFunctions::Create;
    def.compute = KernelFunctions::Compute;
    def.compute_async = KernelFunctions::ComputeAsync;
    def.destroy = KernelFunctions::Destroy;
    builder.Register(def);
  }
};

}  // namespace internal

// The kernels of an op, of the engine and of libraries; those for which a function says yes; all.
inline KernelList GetRegisteredKernelsForOp(std::string_view op) {
  KernelList list;
  const internal::CStatus s;
  if (TF_Buffer* bytes = TF_GetRegisteredKernelsForOp(std::string(op).c_str(), s)) {
    list.ParseFromArray(bytes->data, static_cast<int>(bytes->length));
    TF_DeleteBuffer(bytes);
  }
  return list;
}
inline KernelList GetAllRegisteredKernels() {
  KernelList list;
  const internal::CStatus s;
  if (TF_Buffer* bytes = TF_GetAllRegisteredKernels(s)) {
    list.ParseFromArray(bytes->data, static_cast<int>(bytes->length));
    TF_DeleteBuffer(bytes);
  }
  return list;
}
inline KernelList GetFilteredRegisteredKernels(const std::function<bool(const KernelDef&)>& wanted) {
  KernelList list;
  for (const KernelDef& kernel : GetAllRegisteredKernels().kernel()) {
    if (wanted(kernel)) *list.add_kernel() = kernel;
  }
  return list;
}

namespace register_kernel {
using Name = KernelDefBuilder;
}
using register_kernel::Name;

}  // namespace tensorflow

#define WEFT_REGISTER_KERNEL(counter, builder, ...) WEFT_REGISTER_KERNEL_(counter, builder, __VA_ARGS__)
#define WEFT_REGISTER_KERNEL_(counter, builder, ...)                                                        \
  static const ::tensorflow::internal::RegisteredKernel weft_registered_kernel_##counter [[maybe_unused]] ( \
      ::tensorflow::register_kernel::builder, [](::tensorflow::OpKernelConstruction* c) -> ::tensorflow::OpKernel* { return new __VA_ARGS__(c); });
// The class comes last, and may have commas in it. A declaration with its semicolon: TF_CALL_* put several in a row.
#define REGISTER_KERNEL_BUILDER(builder, ...) WEFT_REGISTER_KERNEL(__COUNTER__, builder, __VA_ARGS__)
#define REGISTER_SYSTEM_KERNEL_BUILDER(builder, ...) REGISTER_KERNEL_BUILDER(builder, __VA_ARGS__)

#endif  // TENSORFLOW_CORE_FRAMEWORK_OP_KERNEL_H_
