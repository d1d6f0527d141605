// SPDX-License-Identifier: Apache-2.0
//
// OpKernelContext: inputs, outputs and surroundings of one run of a kernel. Included by op_kernel.h.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_KERNEL_CONTEXT_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_KERNEL_CONTEXT_H_

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tensorflow/core/framework/allocator.h"
#include "tensorflow/core/framework/cancellation.h"
#include "tensorflow/core/framework/device_base.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/platform/absl_mutex.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/statusor.h"

namespace tensorflow {

class CallFrameInterface;
class CollectiveExecutor;
class DeviceContext;
class FunctionLibraryRuntime;
class OpKernel;
class OpKernelContext;
class RendezvousInterface;
class ResourceMgr;
class ScopedStepContainer;
class SessionState;
class StepStatsCollectorInterface;
class TensorStore;
namespace checkpoint {
class TensorSliceReaderCacheWrapper;
}

namespace internal {

inline DataTypeVector Types(const weft_node* node, bool outputs) {
  DataTypeVector types;
  const int n = outputs ? weft_node_num_outputs(node) : weft_node_num_inputs(node);
  for (int i = 0; i < n; ++i) types.push_back(static_cast<DataType>(outputs ? weft_node_output_type(node, i) : weft_node_input_type(node, i)));
  return types;
}
inline Status MatchSignature(const weft_node* node, DataTypeSlice inputs, DataTypeSlice outputs) {
  const DataTypeVector has_inputs = Types(node, false), has_outputs = Types(node, true);
  const auto same = [](const DataTypeVector& a, DataTypeSlice b) { return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin()); };
  if (same(has_inputs, inputs) && same(has_outputs, outputs)) return OkStatus();
  return errors::InvalidArgument("Signature mismatch, have: ", DataTypeSliceString(has_inputs), "->", DataTypeSliceString(has_outputs),
                                 " expected: ", DataTypeSliceString(inputs), "->", DataTypeSliceString(outputs));
}

// What is made by the first of the threads that ask for it: the others wait. One that fails leaves it to the next.
template <class T>
class MadeOnce {
 public:
  MadeOnce() {}
  MadeOnce(const MadeOnce&) = delete;
  void operator=(const MadeOnce&) = delete;
  ~MadeOnce() {
    if (made()) value_.~T();
  }
  bool made() const { return state_.load(std::memory_order_acquire) == kMade; }
  // `make` returns a T.
  template <class Make>
  T& Get(Make make) {
    if (!made()) MakeOrWait(make);
    return value_;
  }
  // The same where no other thread asks at that time.
  template <class Make>
  T& GetAlone(Make make) {
    if (!made()) {
      new (&value_) T(make());
      state_.store(kMade, std::memory_order_release);
    }
    return value_;
  }

 private:
  enum State : unsigned char { kNone, kBusy, kMade };
  template <class Make>
  void MakeOrWait(Make& make) {
    State was = kNone;
    while (!state_.compare_exchange_weak(was, kBusy, std::memory_order_acquire)) {
      if (was == kMade) return;
      if (was == kBusy) std::this_thread::yield();
      was = kNone;
    }
    struct End {
      std::atomic<State>& state;
      State to = kNone;
      ~End() { state.store(to, std::memory_order_release); }
    } end{state_};
    new (&value_) T(make());
    end.to = kMade;
  }
  union {
    T value_;
  };
  std::atomic<State> state_{kNone};
};

}  // namespace internal

// The inputs (or outputs) of an argument that is a list.
template <class List, class Element>
class OpArgIterator {
 public:
  OpArgIterator(const List* list, int i) : list_(list), i_(i) {}
  Element& operator*() const { return (*list_)[i_]; }
  OpArgIterator& operator++() { return ++i_, *this; }
  bool operator==(const OpArgIterator& o) const { return i_ == o.i_; }
  bool operator!=(const OpArgIterator& o) const { return i_ != o.i_; }

 private:
  const List* list_;
  int i_;
};
class OpInputList {
 public:
  using Iterator = OpArgIterator<OpInputList, const Tensor>;
  OpInputList() = default;
  OpInputList(OpKernelContext* c, int begin, int end) : c_(c), begin_(begin), end_(end) {}
  const Tensor& operator[](int i) const;
  int size() const { return end_ - begin_; }
  Iterator begin() const { return Iterator(this, 0); }
  Iterator end() const { return Iterator(this, size()); }

 private:
  OpKernelContext* c_ = nullptr;
  int begin_ = 0, end_ = 0;
};
// References to variables of version 1.
class OpMutableInputList {
 public:
  OpMutableInputList() = default;
  OpMutableInputList(OpKernelContext* c, int begin, int end) : c_(c), begin_(begin), end_(end) {}
  Tensor at(int i, bool lock_held) const;
  mutex* ref_mutex(int i) const;
  int size() const { return end_ - begin_; }

 private:
  OpKernelContext* c_ = nullptr;
  int begin_ = 0, end_ = 0;
};
class OpOutputList {
 public:
  OpOutputList() = default;
  OpOutputList(OpKernelContext* c, int begin, int end) : c_(c), begin_(begin), end_(end) {}
  Tensor* operator[](int i) const;
  int size() const { return end_ - begin_; }
  bool required(int) const { return true; }
  DataType expected_output_dtype(int i) const;
  Status allocate(int i, const TensorShape& shape, Tensor** out) const;
  void set(int i, const Tensor& tensor) const;

 private:
  OpKernelContext* c_ = nullptr;
  int begin_ = 0, end_ = 0;
};

class OpKernelContext {
 public:
  OpKernelContext(weft_run* run, OpKernel* kernel) : OpKernelContext(run, kernel, InfoOf(run)) {}
  OpKernelContext(const OpKernelContext&) = delete;
  void operator=(const OpKernelContext&) = delete;

  const OpKernel& op_kernel() const { return *kernel_; }
  int64 step_id() const { return weft_run_step_id(run_); }
  // The engine counts its memory by itself, and keeps no traces.
  std::optional<ManagedStackTrace> stack_trace() const { return std::nullopt; }
  bool track_allocations() const { return false; }
  void record_persistent_memory_allocation(int64, int64 = -1) {}

  // ---- Inputs: references that are valid until the run ends ----
  int num_inputs() const { return inputs_.size(); }
  DataType input_dtype(int i) const { return static_cast<DataType>(weft_node_input_type(node_, i)); }
  Status input_dtype(std::string_view name, DataType* type) const {
    int begin = 0;
    TF_RETURN_IF_ERROR(One(false, name, &begin));
    *type = input_dtype(begin);
    return OkStatus();
  }
  bool has_input(int i) const { return weft_run_input(run_, i) != nullptr; }
  const Tensor& input(int i) const {
    CHECK(i >= 0 && i < inputs_.size()) << " input " << i << " of " << inputs_.size();
    return inputs_[i].Get([&] {  // of those that the constructor left
      const TF_Tensor* t = weft_run_input(run_, i);
      CHECK(t != nullptr) << "input " << i << " has no value";
      return Tensor::Seen(t);
    });
  }
  StatusOr<const Tensor*> get_input(int i) const {
    if (i < 0 || i >= inputs_.size())
      return errors::InvalidArgument("Given index was ", i, ", but index of input must be greater than 0, less than the number of inputs (",
                                     inputs_.size(), "), and not a ref.");
    return &input(i);
  }
  Status input(std::string_view name, const Tensor** tensor) {
    int begin = 0;
    TF_RETURN_IF_ERROR(One(false, name, &begin));
    if (!tensor) return NoPlace("input");
    *tensor = &input(begin);
    return OkStatus();
  }
  Status input_list(std::string_view name, OpInputList* list) {
    int begin = 0, end = 0;
    TF_RETURN_IF_ERROR(Range(false, name, &begin, &end));
    if (!list) return NoPlace("input_list");
    *list = OpInputList(this, begin, end);
    return OkStatus();
  }
  bool ValidateInputsAreSameShape(OpKernel*) {
    for (int i = 1; i < num_inputs(); ++i) {
      if (input(0).IsSameSize(input(i))) continue;
      SetStatus(errors::InvalidArgument("Inputs to operation ", Name(), " of type ", internal::View(weft_node_op(node_)),
                                        " must have the same size and shape.  Input 0: ", input(0).shape().DebugString(), " != input ", i, ": ",
                                        input(i).shape().DebugString()));
      return false;
    }
    return true;
  }

  // ---- References to variables of version 1, which graphs alone have ----
  bool input_is_ref(int i) const { return weft_run_input_is_ref(run_, i) != 0; }
  mutex* input_ref_mutex(int i) {
    void* lock = nullptr;
    CHECK(weft_run_ref(run_, i, &lock) != nullptr) << "input " << i << " is no reference";
    return static_cast<mutex*>(lock);
  }
  // The value behind it, which assignments change. lock_held: the caller has input_ref_mutex(i).
  Tensor mutable_input(int i, bool lock_held) {
    void* lock = nullptr;
    TF_Tensor* slot = weft_run_ref(run_, i, &lock);
    CHECK(slot != nullptr) << "input " << i << " is no reference";
    std::optional<mutex_lock> held;
    if (!lock_held) held.emplace(*static_cast<mutex*>(lock));
    return Tensor::InSlot(slot);
  }
  void replace_ref_input(int i, const Tensor& tensor, bool lock_held) {
    void* lock = nullptr;
    TF_Tensor* slot = weft_run_ref(run_, i, &lock);
    CHECK(slot != nullptr) << "input " << i << " is no reference";
    std::optional<mutex_lock> held;
    if (!lock_held) held.emplace(*static_cast<mutex*>(lock));
    CHECK(weft_tensor_assign(slot, tensor.c_tensor())) << "a reference keeps its type";
  }
  // The same by name.
  Status input_ref_mutex(std::string_view name, mutex** out) {
    int at = 0;
    TF_RETURN_IF_ERROR(Reference(name, &at));
    *out = input_ref_mutex(at);
    return OkStatus();
  }
  Status mutable_input(std::string_view name, Tensor* out, bool lock_held) {
    int at = 0;
    TF_RETURN_IF_ERROR(Reference(name, &at));
    *out = mutable_input(at, lock_held);
    return OkStatus();
  }
  Status mutable_input_list(std::string_view name, OpMutableInputList* list) {
    int begin = 0, end = 0;
    TF_RETURN_IF_ERROR(Range(false, name, &begin, &end));
    *list = OpMutableInputList(this, begin, end);
    return OkStatus();
  }
  Status replace_ref_input(std::string_view name, const Tensor& tensor, bool lock_held) {
    int at = 0;
    TF_RETURN_IF_ERROR(Reference(name, &at));
    replace_ref_input(at, tensor, lock_held);
    return OkStatus();
  }
  void delete_ref_input(int i, bool lock_held) { replace_ref_input(i, Tensor(input_dtype(i)), lock_held); }
  void forward_ref_input_to_ref_output(int input, int output) {
    const Status s = internal::FromC(weft_run_forward_ref(run_, input, output));
    if (!s.ok()) SetStatus(s);
  }

  // ---- Outputs ----
  int num_outputs() const { return outputs_.size(); }
  DataType expected_output_dtype(int i) const { return static_cast<DataType>(weft_node_output_type(node_, i)); }
  bool output_required(int) const { return true; }
  Status allocate_output(int i, const TensorShape& shape, Tensor** out) {
    if (TF_PREDICT_FALSE(!out)) return NoPlace("allocate_output");
    TF_Tensor* made = nullptr;
    weft_tensor_info info;
    TF_RETURN_IF_ERROR(internal::FromC(weft_run_make_output(run_, i, shape.c_dims(), &made, &info)));
    *out = &OutputSlot(i);
    (*out)->Bind(made, info);
    return OkStatus();
  }
  Status allocate_output(int i, const TensorShape& shape, Tensor** out, AllocatorAttributes) { return allocate_output(i, shape, out); }
  Status allocate_output(std::string_view name, const TensorShape& shape, Tensor** out) {
    int begin = 0;
    TF_RETURN_IF_ERROR(One(true, name, &begin));
    return allocate_output(begin, shape, out);
  }
  Status allocate_output(std::string_view name, const TensorShape& shape, Tensor** out, AllocatorAttributes) {
    return allocate_output(name, shape, out);
  }
  Status get_input_index(std::string_view name, int* i) const { return One(false, name, i); }
  Status get_output_index(std::string_view name, int* i) const { return One(true, name, i); }
  Status allocate_temp(DataType type, const TensorShape& shape, Tensor* out) {
    if (TF_PREDICT_FALSE(!out)) return NoPlace("allocate_temp");
    TF_Tensor* t = nullptr;
    TF_RETURN_IF_ERROR(internal::FromC(weft_tensor_allocate(type, shape.c_dims(), &t)));
    out->Take(t);
    return OkStatus();
  }
  Status allocate_temp(DataType type, const TensorShape& shape, Tensor* out, AllocatorAttributes) { return allocate_temp(type, shape, out); }
  // The memory of an input that nobody else needs, or new memory. A forwarded input and the output are then the same elements.
  bool forward_input_to_output_with_shape(int input_index, int output_index, const TensorShape& shape, Tensor** out) {
    CHECK(out != nullptr) << "forward_input_to_output_with_shape: the place for the result is null";
    if (!IsInputAligned(input_index)) return false;
    if (!weft_run_forward(run_, input_index, output_index, shape.c_dims())) return false;
    *out = Output(output_index);
    GaveAway(input_index, **out);
    return true;
  }
  Status forward_input_to_output_with_shape(std::string_view input, std::string_view output, const TensorShape& shape, Tensor** out) {
    int from = 0, to = 0;
    TF_RETURN_IF_ERROR(One(false, input, &from));
    TF_RETURN_IF_ERROR(One(true, output, &to));
    if (forward_input_to_output_with_shape(from, to, shape, out)) return OkStatus();
    return errors::FailedPrecondition("OpKernel could not forward input '", input, "' to output '", output);
  }
  Status forward_input_or_allocate_output(gtl::ArraySlice<int> candidates, int output_index, const TensorShape& shape, Tensor** out,
                                          int* forwarded = nullptr) {
    for (int i : candidates) {
      if (!forward_input_to_output_with_shape(i, output_index, shape, out)) continue;
      if (forwarded) *forwarded = i;
      return OkStatus();
    }
    if (forwarded) *forwarded = -1;
    return allocate_output(output_index, shape, out);
  }
  Status forward_input_or_allocate_output(gtl::ArraySlice<std::string_view> candidates, std::string_view output, const TensorShape& shape,
                                          Tensor** out) {
    std::vector<int> inputs;
    int at = 0;
    for (std::string_view name : candidates) {
      TF_RETURN_IF_ERROR(One(false, name, &at));
      inputs.push_back(at);
    }
    TF_RETURN_IF_ERROR(One(true, output, &at));
    return forward_input_or_allocate_output(inputs, at, shape, out);
  }
  struct Params {
    static const int kNeverForward = -2, kNoReservation = -1;
  };
  // The memory of an input that nobody else needs, of the same type and number of elements, as a tensor of the kernel's; null where it is needed.
  std::unique_ptr<Tensor> forward_input(int input_index, int, DataType type, const TensorShape& shape, MemoryType, const AllocatorAttributes&) {
    if (!IsInputAligned(input_index)) return nullptr;
    TF_Tensor* taken = weft_run_take_input(run_, input_index, type, shape.c_dims());
    if (!taken) return nullptr;
    auto out = std::make_unique<Tensor>(Tensor::Owning(taken));
    GaveAway(input_index, *out);
    return out;
  }
  Status forward_input_or_allocate_temp(gtl::ArraySlice<int> candidates, DataType type, const TensorShape& shape,
                                        const AllocatorAttributes& attributes, Tensor* out) {
    if (!out) return NoPlace("forward_input_or_allocate_temp");
    for (int i : candidates) {
      if (auto forwarded = forward_input(i, Params::kNoReservation, type, shape, HOST_MEMORY, attributes)) {
        *out = std::move(*forwarded);
        return OkStatus();
      }
    }
    return allocate_temp(type, shape, out);
  }
  Status forward_input_or_allocate_temp(gtl::ArraySlice<int> candidates, DataType type, const TensorShape& shape, Tensor* out) {
    return forward_input_or_allocate_temp(candidates, type, shape, AllocatorAttributes(), out);
  }
  Status output_list(std::string_view name, OpOutputList* list) {
    int begin = 0, end = 0;
    TF_RETURN_IF_ERROR(Range(true, name, &begin, &end));
    if (!list) return NoPlace("output_list");
    *list = OpOutputList(this, begin, end);
    return OkStatus();
  }
  // A tensor of another type than the signature says is an error of the op.
  void set_output(int i, const Tensor& tensor) {
    const Status s = internal::FromC(weft_run_set_output(run_, i, tensor.c_tensor()));
    if (s.ok()) {
      Output(i);
    } else {
      SetStatus(s);
    }
  }
  // Tables of version 1 have such outputs; here a table's op gives the handle of a resource.
  void set_output_ref(int i, mutex*, Tensor*) {
    SetStatus(errors::Unimplemented("output ", i, " of ", Name(), " as a reference to a tensor of the kernel"));
  }
  Status set_output(std::string_view name, const Tensor& tensor) {
    int begin = 0;
    TF_RETURN_IF_ERROR(One(true, name, &begin));
    set_output(begin, tensor);
    return OkStatus();
  }
  Status mutable_output(std::string_view name, Tensor** tensor) {
    int begin = 0;
    TF_RETURN_IF_ERROR(One(true, name, &begin));
    *tensor = mutable_output(begin);
    return OkStatus();
  }
  Tensor* mutable_output(int i) {
    TF_Tensor* t = i >= 0 && i < outputs_.size() ? weft_run_output(run_, i) : nullptr;
    if (!t) return nullptr;
    Tensor& known = OutputSlot(i);
    return known.c_tensor() == t ? &known : Output(i);  // without a change where several threads ask for it
  }

  // ---- Surroundings ----
  DeviceBase* device() const {
    return &device_.Get([&] { return DeviceBase(weft_run_pool(run_), internal::View(weft_run_device_name(run_))); });
  }
  template <class Device>
  const Device& eigen_device() const {
#ifdef WEFT_WITH_EIGEN
    if constexpr (std::is_same_v<Device, Eigen::ThreadPoolDevice>) return *device()->eigen_cpu_device();
#endif
    // Without Eigen nobody can look inside. Other devices are not there: such a kernel compiles, and is an error when it runs.
    CHECK((std::is_same_v<Device, Eigen::ThreadPoolDevice>)) << "CPU kernels have Eigen::ThreadPoolDevice";
    return *reinterpret_cast<const Device*>(device());
  }
  const Eigen::ThreadPoolDevice& eigen_cpu_device() const { return eigen_device<Eigen::ThreadPoolDevice>(); }
  const Eigen::GpuDevice& eigen_gpu_device() const { return eigen_device<Eigen::GpuDevice>(); }
  // What runs a function on the device's threads.
  std::function<void(std::function<void()>)>* runner() const {
    return &runner_.Get([&] {
      return std::function<void(std::function<void()>)>(
          [pool = weft_run_pool(run_)](std::function<void()> f) { thread::ThreadPool(pool).Schedule(std::move(f)); });
    });
  }
  // The engine has these in other forms, of which kernels see nothing.
  RendezvousInterface* rendezvous() const { return nullptr; }
  StepStatsCollectorInterface* stats_collector() const { return nullptr; }
  CollectiveExecutor* collective_executor() const { return nullptr; }
  SessionState* session_state() const { return nullptr; }
  std::string session_handle() const { return ""; }
  TensorStore* tensor_store() const { return nullptr; }
  CallFrameInterface* call_frame() const { return nullptr; }
  checkpoint::TensorSliceReaderCacheWrapper* slice_reader_cache() const { return nullptr; }
  DeviceContext* op_device_context() const { return nullptr; }
  template <class T = DeviceContext>
  T* op_device_context() const {
    return nullptr;
  }
  DeviceContext* input_device_context(int) const { return nullptr; }
  ScopedStepContainer* step_container() const;  // resource_mgr.h
  bool is_input_dead() const { return false; }
  bool* is_output_dead() { return &output_dead_; }
  std::optional<absl_forms::Time> deadline() const { return std::nullopt; }
  uint64 start_time_usecs() const { return 0; }
  MemoryType input_memory_type(int i) const { return MTypeFromDType(BaseType(input_dtype(i))); }
  MemoryType output_memory_type(int i) const { return MTypeFromDType(BaseType(expected_output_dtype(i))); }
  AllocatorAttributes input_alloc_attr(int) const { return AllocatorAttributes(); }
  AllocatorAttributes output_alloc_attr(int) const { return AllocatorAttributes(); }
  void set_record_memory_consumption(bool) {}
  void record_temp_memory_allocation(int64, const Tensor&) {}
  int64 temp_memory_allocated() const { return 0; }
  int64 persistent_memory_allocated() const { return 0; }
  void clear_recorded_memory() {}
  void inc_num_deferred_ops_function() {}
  void dec_num_deferred_ops_function() {}
  void NotifyUseOfPersistentTensor(const Tensor&) {}
  Allocator* get_allocator(AllocatorAttributes) { return cpu_allocator(); }
  Env* env() const { return Env::Default(); }
  ResourceMgr* resource_manager() const;  // resource_mgr.h
  FunctionLibraryRuntime* function_library() const;  // function.h
  // Null where nobody can cancel the run.
  CancellationManager* cancellation_manager() const { return CancellationManager::Of(weft_run_cancellation(run_)); }
  Status MatchSignature(DataTypeSlice inputs, DataTypeSlice outputs) const { return internal::MatchSignature(node_, inputs, outputs); }

  // The first error stays.
  void SetStatus(const Status& s) {
    const mutex_lock lock(status_mutex_);
    status_.Update(s);
  }
  const Status& status() const { return status_; }
  void CtxFailure(const Status& s) { SetStatus(s); }
  void CtxFailure(const char*, int, const Status& s) { SetStatus(s); }
  void CtxFailureWithWarning(const Status& s) { SetStatus(s); }
  void CtxFailureWithWarning(const char*, int, const Status& s) { SetStatus(s); }

  // For these headers.
  weft_run* run() const { return run_; }
  const weft_node* node() const { return node_; }

 private:
  // Most ops have few inputs and outputs: no memory for their list, and tensors are made when they are asked for.
  class Slots {
   public:
    explicit Slots(int n) : size_(n), large_(n > kSmall ? new internal::MadeOnce<Tensor>[static_cast<size_t>(n)] : nullptr) {}
    int size() const { return size_; }
    internal::MadeOnce<Tensor>& operator[](int i) { return large_ ? large_[static_cast<size_t>(i)] : small_[i]; }

   private:
    static constexpr int kSmall = 3;
    const int size_;
    internal::MadeOnce<Tensor> small_[kSmall];
    const std::unique_ptr<internal::MadeOnce<Tensor>[]> large_;
  };
  Tensor& OutputSlot(int i) {
    return outputs_[i].GetAlone([] { return Tensor(); });
  }
  static weft_run_info InfoOf(weft_run* run) {
    weft_run_info info;
    weft_run_describe(run, &info);
    return info;
  }
  OpKernelContext(weft_run* run, OpKernel* kernel, const weft_run_info& info)
      : run_(run), node_(info.node), kernel_(kernel), inputs_(info.num_inputs), outputs_(info.num_outputs) {
    // Several threads of a kernel may ask for an input: what is ready at once is, the rest (to be copied, or not there) when it is asked for.
    for (int i = 0; i < info.num_inputs; ++i) {
      weft_tensor_info of;
      const TF_Tensor* t = weft_run_describe_input(run, i, &of);
      if (!t || (reinterpret_cast<uintptr_t>(of.data) % internal::kViewAlignment != 0 && of.elements > 0)) continue;
      inputs_[i].GetAlone([&] { return Tensor::Borrowed(const_cast<TF_Tensor*>(t), of); });
    }
  }
  TF_ATTRIBUTE_NOINLINE static Status NoPlace(const char* function) {
    return errors::InvalidArgument(function, ": the place for the result is null");
  }
  std::string Name() const { return std::string(internal::View(weft_node_name(node_))); }
  bool IsInputAligned(int i) {
    weft_tensor_info info;
    return internal::kViewAlignment == 1 || !weft_run_describe_input(run_, i, &info) ||
           reinterpret_cast<uintptr_t>(info.data) % internal::kViewAlignment == 0;
  }
  // The memory of the run's input is `to` now: who looks at the input again sees that.
  void GaveAway(int i, const Tensor& to) {
    const bool seen = inputs_[i].made();
    Tensor& input = inputs_[i].GetAlone([] { return Tensor(); });
    const TensorShape had = seen ? input.shape() : to.shape();
    input.UnsafeCopyFromInternal(to, to.dtype(), had);
  }
  // What the run now has as output i.
  Tensor* Output(int i) {
    Tensor& output = OutputSlot(i);
    output.Bind(weft_run_output(run_, i), expected_output_dtype(i));
    return &output;
  }
  Status Range(bool outputs, std::string_view name, int* begin, int* end) const {
    if (weft_node_range(node_, outputs, internal::Text(name), begin, end)) return OkStatus();
    return errors::InvalidArgument("Unknown ", outputs ? "output" : "input", " name: ", name);
  }
  Status Reference(std::string_view name, int* at) const {
    TF_RETURN_IF_ERROR(One(false, name, at));
    void* lock = nullptr;
    if (weft_run_ref(run_, *at, &lock)) return OkStatus();
    return errors::InvalidArgument("OpKernel used non-ref input name '", name, "' when ref input was expected");
  }
  Status One(bool outputs, std::string_view name, int* at) const {
    int end = 0;
    TF_RETURN_IF_ERROR(Range(outputs, name, at, &end));
    if (end == *at + 1) return OkStatus();
    return errors::InvalidArgument("OpKernel used list-valued ", outputs ? "output" : "input", " name '", name, "' when single-valued ",
                                   outputs ? "output" : "input", " was expected");
  }

  weft_run* run_;
  const weft_node* node_;
  OpKernel* kernel_;
  mutable Slots inputs_;
  Slots outputs_;
  mutable internal::MadeOnce<DeviceBase> device_;
  mutable internal::MadeOnce<std::shared_ptr<ResourceMgr>> resources_;
  mutable internal::MadeOnce<std::shared_ptr<FunctionLibraryRuntime>> functions_;
  mutable internal::MadeOnce<std::shared_ptr<ScopedStepContainer>> step_container_;
  mutable internal::MadeOnce<std::function<void(std::function<void()>)>> runner_;
  bool output_dead_ = false;
  mutex status_mutex_;
  Status status_;
};

inline Tensor OpMutableInputList::at(int i, bool lock_held) const { return c_->mutable_input(begin_ + i, lock_held); }
inline mutex* OpMutableInputList::ref_mutex(int i) const { return c_->input_ref_mutex(begin_ + i); }
inline const Tensor& OpInputList::operator[](int i) const { return c_->input(begin_ + i); }
inline Tensor* OpOutputList::operator[](int i) const { return c_->mutable_output(begin_ + i); }
inline DataType OpOutputList::expected_output_dtype(int i) const { return c_->expected_output_dtype(begin_ + i); }
inline Status OpOutputList::allocate(int i, const TensorShape& shape, Tensor** out) const { return c_->allocate_output(begin_ + i, shape, out); }
inline void OpOutputList::set(int i, const Tensor& tensor) const { c_->set_output(begin_ + i, tensor); }

}  // namespace tensorflow

#include "tensorflow/core/framework/resource_mgr.h"

#endif  // TENSORFLOW_CORE_FRAMEWORK_OP_KERNEL_CONTEXT_H_
