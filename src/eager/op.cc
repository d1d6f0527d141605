#include "eager/op.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>

#include "core/error_notes.h"
#include "core/log.h"
#include "core/own_memory.h"
#include "core/remote_tensor.h"
#include "core/resource.h"
#include "core/threads.h"
#include "eager/cancellable.h"
#include "eager/function_call.h"
#include "eager/layout.h"
#include "eager/result_handle.h"
#include "graph/import.h"
#include "op/placed_kernel.h"
#include "op/step_trace.h"
#include "runtime/blocking_threads.h"
#include "runtime/interruptible.h"
#include "runtime/partition.h"

namespace weft_engine::eager {
namespace {

constexpr int kStackInputs = 16;
// In bytes: work on less is not long.
constexpr double kLargeInputs = 256 << 10;
// The kernel of the call that runs on this thread, where a caller may interrupt it.
thread_local const std::shared_ptr<CachedKernel>* t_running = nullptr;
// What ends it besides (eager/cancellable.h).
thread_local op::CancellationManager* t_cancellation = nullptr;
std::atomic<int> cancellable_calls{0};
// Whether some thread's caller may end its call.
bool some_may_end() { return core::interruptible_calls.load(std::memory_order_relaxed) || cancellable_calls.load(std::memory_order_relaxed); }

// In loops over inputs, of which there may be millions: whether the caller wants this thread back.
bool interrupted_at(size_t i) {
  constexpr size_t kLook = 4096;
  return i % kLook == kLook - 1 && core::interrupt_wanted();
}

template <class T>
void append_raw(std::string& key, const T& v) {
  key.append(reinterpret_cast<const char*>(&v), sizeof v);
}

// Runs a kernel to its end, whatever its kind. Eager calls wait on the caller's thread, never on the pool.
Status run_to_end(op::Kernel& kernel, op::KernelContext& c) {
  if (!kernel.is_async()) [[likely]]
    return kernel.run(c);
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;
  Status result;
  kernel.run_async(c, [&](Status s) {
    std::lock_guard lock(mutex);
    result = std::move(s);
    finished = true;
    changed.notify_one();
  });
  std::unique_lock lock(mutex);
  op::CancellationManager::wait(lock, changed, c.env().cancellation, [&] { return finished; });
  return result;
}

Status guarded_run(op::Kernel& kernel, op::KernelContext& c) {
  try {
    return run_to_end(kernel, c);
  } catch (const std::bad_alloc&) {
    return resource_exhausted("out of memory in ", c.node().op());
  } catch (const core::Interrupted&) {
    return core::interrupted_call();
  } catch (const std::exception& e) {
    return internal_error("unexpected exception in ", c.node().op(), ": ", e.what());
  }
}

// For a caller who may interrupt or cancel it. What is abandoned then keeps the kernel, and the context waits for it.
Status run_interruptible(Context& context, const std::shared_ptr<CachedKernel>& k, bool function, op::CancellationManager* outer,
                         std::span<const Tensor* const> inputs, std::span<Tensor> outputs) {
  constexpr double kBytesPerInput = 64;  // as much work is one that is empty
  double bytes = kBytesPerInput * double(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (interrupted_at(i)) [[unlikely]]
      return core::interrupted_call();
    const Tensor& t = *inputs[i];
    bytes += is_simple(t.dtype()) ? double(t.byte_size()) : 64.0 * double(t.num_elements());
  }
  // Small inputs: what takes long then waits or loops, and looks for itself.
  auto run_inline = [&] {
    op::CancellationManager cancellation(outer);
    op::KernelEnv env = k->env;
    env.cancellation = &cancellation;
    op::KernelContext c(k->node, env, inputs, outputs);
    return guarded_run(*k->kernel, c);
  };
  // What was cancelled before finds that out itself, if it asks at all.
  if ((!function && bytes < kLargeInputs) || (outer && outer->cancelled())) return run_inline();
  const runtime::Expected expected(k->kernel.get(), function ? 1 : bytes, true);
  if (!expected.long_call()) return run_inline();
  auto work = [k, counted = runtime::DetachedCalls::Run(context.detached_calls)](op::CancellationManager& cancellation, std::span<Tensor> in,
                                                                                 std::span<Tensor> out) {
    op::KernelEnv env = k->env;
    env.cancellation = &cancellation;
    std::vector<const Tensor*> pointers;
    for (const Tensor& t : in) pointers.push_back(&t);
    op::KernelContext c(k->node, env, pointers, out);
    return guarded_run(*k->kernel, c);
  };
  return runtime::run_detached(inputs, outputs, std::move(work), {.cancellation = outer});
}

}  // namespace

Result<const op::OpSpec*> find_op(Context& context, std::string_view name) {
  if (const op::OpSpec* spec = context.registry().find(name)) return spec;
  if (const op::OpSpec* function = context.functions().find_spec(name)) return function;
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  return not_found("'", name, "' is neither a type of a primitive operation nor a name of a function registered in binary running on ", host,
                   ". Make sure the operation or function is registered in the binary running in this process.")
      .with_payload(core::kNoteUnknownOp, std::string(name));
}

Cancellable::Cancellable(op::CancellationManager* manager) : outer_(std::exchange(t_cancellation, manager)) {
  cancellable_calls.fetch_add(1, std::memory_order_relaxed);
}
Cancellable::~Cancellable() {
  cancellable_calls.fetch_sub(1, std::memory_order_relaxed);
  t_cancellation = outer_;
}

void Op::clear() {
  inputs_.clear();
  attrs_.clear();
  attr_key_.clear();
  cacheable_ = true;
  names_functions_ = false;
  device_ = nullptr;
  if (keep_kernel_) [[unlikely]] {
    keep_kernel_ = false;
    kernel_ = nullptr;
  }
}

Status Op::reset(std::string_view name, std::string_view device) {
  if (!is(name)) {
    const op::OpSpec* found = context_->registry().find(name);
    const bool function = !found;
    if (function) {
      functions_version_ = context_->functions().version();
      WEFT_ASSIGN(found, find_op(*context_, name));
    }
    is_function_ = function;
    spec_ = found;
    signature_ = &found->signature();
  } else if (is_function_ && functions_version_ != context_->functions().version()) {  // it may have been replaced meanwhile
    spec_ = nullptr;
    return reset(name, device);
  }
  clear();
  return device.empty() ? Status() : set_device(device);
}

Status Op::reset(const op::OpSpec& spec, std::string_view device) {
  if (spec_ != &spec) {
    spec_ = &spec;
    signature_ = &spec.signature();
    is_function_ = false;
  }
  clear();
  return device.empty() ? Status() : set_device(device);
}

Status Op::set_device(std::string_view device) {
  device_ = nullptr;
  if (device.empty()) return {};
  const bool soft = context_->soft_placement.load(std::memory_order_relaxed);
  auto found = DeviceName::parse(device).ok()
                   ? context_->devices().resolve(device, soft)
                   : Result<Device*>(invalid_argument("Malformed device specification '", device, "' in eager op: Name: ", spec_->name));
  WEFT_ASSIGN(device_, std::move(found));
  return {};
}

Status Op::set_input(int i, RefPtr<TensorHandle> input) {
  if (i < 0 || size_t(i) >= inputs_.size()) return invalid_argument("input ", i, " of ", spec_->name, " does not exist");
  inputs_[size_t(i)] = std::move(input);
  return {};
}

static bool makes_handle(const op::Signature& s) { return s.inputs.empty() && s.outputs.size() == 1 && s.outputs[0].type == DType::kResource; }

Status Op::set_attr(std::string_view name, op::AttrValue value) {
  const int index = signature_->attr_index(name);
  // Options of a call, not of the function.
  if (index < 0 && is_function_) {
    if (name == "config_proto") return set_attr("_config_proto", std::move(value));
    if (name == "executor_type" || name == "config") return {};
  }
  if (index < 0 && !name.starts_with("_")) return invalid_argument("Unable to find attribute with name: ", name, " of op ", spec_->name);
  if (const auto* t = value.get<DType>(); t && index >= 0) [[likely]] {  // what most clients set, in one piece
    const int word[] = {index, int(value.storage().index()) | int(*t) << 8};
    append_raw(attr_key_, word);
    attrs_.emplace_back(name, std::move(value));
    return {};
  }
  append_raw(attr_key_, index);
  if (index < 0) attr_key_.append(name).push_back('\0');
  attr_key_.push_back(char(value.storage().index()));  // the kind, so that no two values share their bytes
  if (const auto* i = value.get<int64_t>()) {
    append_raw(attr_key_, *i);
  } else if (value.get<Tensor>() || value.get<std::vector<Tensor>>()) {
    cacheable_ = false;
  } else {
    const std::string text = value.to_string();
    append_raw(attr_key_, text.size());
    attr_key_ += text;
    // Every variable or table has a name of its own: its handle is made once, and a program may make any number of them.
    if (name == "shared_name" && makes_handle(*signature_) && value.get<std::string>() && !value.get<std::string>()->empty()) cacheable_ = false;
    if (value.get<op::FunctionAttr>() || value.get<std::vector<op::FunctionAttr>>()) names_functions_ = true;
  }
  attrs_.emplace_back(std::string(name), std::move(value));
  return {};
}

Result<op::NodeInfo> Op::node() const {
  std::vector<DType> types;
  for (const auto& i : inputs_) types.push_back(i->dtype());
  op::AttrMap attrs;
  for (const auto& [k, v] : attrs_) attrs[k] = v;
  return op::NodeInfo::make(*spec_, std::string(), std::move(attrs), types);
}

Result<int> Op::input_length(std::string_view name) const {
  const auto& args = spec_->signature().inputs;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name != name) continue;
    auto n = node();
    if (n.ok()) return n->input_range(int(i)).size();
    if (args[i].number_attr < 0 && args[i].type_list_attr < 0) return 1;
    return n.status();
  }
  return invalid_argument("Input '", name, "' not found");
}

Result<int> Op::output_length(std::string_view name) const {
  const auto& args = spec_->signature().outputs;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name != name) continue;
    auto n = node();
    if (n.ok()) return n->output_range(int(i)).size();
    if (args[i].number_attr < 0 && args[i].type_list_attr < 0) return 1;
    return n.status();
  }
  return invalid_argument("Output '", name, "' not found");
}

// Where the first resource input lives; null where there is none.
static Device* resource_device(const std::vector<RefPtr<TensorHandle>>& inputs) {
  for (const auto& i : inputs) {
    if (i->dtype() == DType::kResource && i->device()) return i->device();  // none: the tensor was made by the caller
  }
  return nullptr;
}

// A function for a device of another process that uses resources of a third, or of this one: it is planned here.
static bool needs_parts_elsewhere(const std::vector<RefPtr<TensorHandle>>& inputs, Device* device) {
  if (!dynamic_cast<RemoteDevice*>(device)) return false;
  const DeviceName& there = device->parsed_name();
  for (const auto& i : inputs) {
    if (i->dtype() != DType::kResource || !i->device()) continue;
    const DeviceName& home = i->device()->parsed_name();
    if (home.job != there.job || home.task != there.task) return true;
  }
  return false;
}

// By where a resource input lives, then by explicit device, then the first CPU. Null: by which devices have a kernel (choose_device).
// A function may use resources of other processes: its nodes go there one by one.
Result<Device*> Op::place() const {
  if (Device* d = resource_device(inputs_); d && !(is_function_ && dynamic_cast<RemoteDevice*>(d))) return d;
  if (device_) return device_;
  return context_->devices().all().size() > 1 && !is_function_ && is_mixed(context_->devices()) ? nullptr : context_->host();
}

// For an op that named no device (null) the first kind of device that has a kernel; one that was named without a kernel is given up for the CPU
// where that is allowed.
static Result<Device*> choose_device(Context& context, const op::NodeInfo& node, Device* wanted, bool of_resource) {
  if (wanted && (wanted->host_memory() || of_resource || op::has_kernel(context.registry(), node, wanted->type()))) return wanted;
  std::vector<std::string> supported;
  for (Device* d : by_priority(context.devices())) {
    if (!op::has_kernel(context.registry(), node, d->type())) continue;
    if (!wanted) return d;
    supported.push_back(d->type());
  }
  if (wanted && !context.soft_placement.load(std::memory_order_relaxed))
    return unsatisfied(context.devices(), cat("/device:", wanted->type(), ":", wanted->parsed_name().id.value_or(0)), supported);
  return context.host();
}

// TensorFlow works out the types of the outputs before it checks the attributes, and says so.
Status Op::check_output_types() const {
  const op::Signature& sig = spec_->signature();
  for (const auto& out : sig.outputs) {
    const int attr = out.type_attr >= 0 ? out.type_attr : out.type_list_attr;
    if (attr < 0 || sig.attrs[size_t(attr)].default_value) continue;
    const std::string& name = sig.attrs[size_t(attr)].name;
    const bool given = std::any_of(attrs_.begin(), attrs_.end(), [&](const auto& a) { return a.first == name; });
    const bool inferred =
        std::any_of(sig.inputs.begin(), sig.inputs.end(), [&](const auto& in) { return in.type_attr == attr || in.type_list_attr == attr; });
    if (!given && !inferred) return not_found("No attr named '", name, "' in NodeDef:\n\t [[{{node ", spec_->name, "}}]]");
  }
  return {};
}

Result<std::shared_ptr<CachedKernel>> Op::make_kernel(Device* device) const {
  WEFT_RETURN_IF_ERROR(check_output_types());
  if (spec_->deprecated_since > 0 && spec_->deprecated_since <= graph::kGraphDefVersion)
    return unimplemented("Op ", spec_->name, " is not available in GraphDef version ", graph::kGraphDefVersion, ". It has been removed in version ",
                         spec_->deprecated_since, ". ", spec_->deprecation, ".");
  WEFT_ASSIGN(op::NodeInfo n, node());
  for (DType t : n.output_types()) {
    if (is_ref_type(t)) return unimplemented(spec_->name, " op does not support eager execution: an output is a ref.");
  }
  for (DType t : n.input_types()) {
    if (is_ref_type(t)) return unimplemented(spec_->name, " op does not support eager execution: an input is a ref.");
  }
  if (auto* remote = dynamic_cast<RemoteDevice*>(device))
    return std::make_shared<CachedKernel>(CachedKernel{std::move(n), nullptr, device, context_->env_for(device), true, remote});
  if (!is_function_ && (!device || !device->host_memory())) {
    WEFT_ASSIGN(device, choose_device(*context_, n, device, resource_device(inputs_) != nullptr));
  }
  auto cached = std::make_shared<CachedKernel>(CachedKernel{std::move(n), nullptr, device, context_->env_for(device), false, nullptr});
  auto kernel =
      is_function_ ? make_function_kernel(*context_, cached->node, device) : op::make_kernel(context_->registry(), cached->node, device->type());
  // Where a resource says the device there is nothing to look for, and TensorFlow has another code.
  if (!kernel.ok() && kernel.status().code() == Code::kNotFound && !is_function_ && resource_device(inputs_))
    return invalid_argument("No OpKernel was registered to support Op '", spec_->name, "' on the device of its resource. ",
                            kernel.status().message());
  WEFT_ASSIGN(cached->kernel, std::move(kernel));
  cached->may_call_back = spec_->stateful;
  return cached;
}

Result<const std::shared_ptr<CachedKernel>*> Op::find_kernel(Device* device, std::shared_ptr<CachedKernel>& uncached) const {
  auto make = [&] { return make_kernel(device); };
  auto make_uncached = [&]() -> Result<const std::shared_ptr<CachedKernel>*> {
    WEFT_ASSIGN(uncached, make());
    return &uncached;
  };
  if (!cacheable_) [[unlikely]]
    return make_uncached();
  KernelKey key{spec_, device, 0, inputs_.size(), attr_key_};
  const size_t packed = std::min<size_t>(inputs_.size(), 8);
  for (size_t i = 0; i < packed; ++i) key.types = key.types << 8 | uint64_t(inputs_[i]->dtype());
  std::string rest;
  if (inputs_.size() > 8) [[unlikely]] {
    for (size_t i = 8; i < inputs_.size(); ++i) rest.push_back(char(inputs_[i]->dtype()));
    rest += attr_key_;
    key.rest = rest;
  }
  if (is_function_ || names_functions_) [[unlikely]] {
    WEFT_ASSIGN(uncached, context_->function_kernel(key, make));
    return &uncached;
  }
  auto cached = context_->kernel(key, make);
  return cached.ok() && !*cached ? make_uncached() : cached;
}

// Puts the tensors of the inputs, waited for and brought to the device, into `tensors`.
Status Op::bring_inputs(Device* device, const Tensor** tensors) {
  const bool on_host = !is_function_ && device->host_memory();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (interrupted_at(i)) [[unlikely]]
      return core::interrupted_call();
    TensorHandle* in = inputs_[i].get();
    if (is_function_ && !in->ready()) [[unlikely]] {
      if (auto there = std::dynamic_pointer_cast<core::RemoteTensor>(in->remote_value())) {  // the function's parts there need not have it here
        WEFT_RETURN_IF_ERROR(in->wait_for_op());
        inputs_[i] = TensorHandle::make(reference_to(std::move(there)), device);
        in = inputs_[i].get();
      }
    }
    WEFT_RETURN_IF_ERROR(in->wait());
    if (in->device() != device && in->device() && !(in->device()->host_memory() && device->host_memory())) [[unlikely]] {
      const auto policy = context_->policy.load();
      if (policy == PlacementPolicy::kExplicit || (policy == PlacementPolicy::kSilentForInt32 && in->dtype() != DType::kInt32))
        return invalid_argument("Tensors on conflicting devices: cannot compute ", spec_->name, " as input #", i, " was expected to be on ",
                                device->name(), " but is actually on ", in->device()->name(), " (operation running on ", device->name(),
                                "). Tensors can be copied explicitly using: TFE_TensorHandleCopyToDevice.");
      if (policy == PlacementPolicy::kWarn)
        log(LogLevel::kWarning, cat("before computing ", spec_->name, " input #", i, " is copied to ", device->name()));
    }
    // On a device with memory of its own the kernel has its inputs brought (op/placed_kernel.h). Functions have theirs where their nodes are.
    // The handle stays the caller's: tapes know it.
    if (on_host && lies_elsewhere(in->tensor())) [[unlikely]] {
      WEFT_ASSIGN(tensors[i], in->host_tensor());
      continue;
    }
    tensors[i] = &in->tensor();
  }
  return {};
}

// A result as a handle; what a function computed in another process stays there.
static RefPtr<TensorHandle> kernel_output(Tensor t, const CachedKernel& k) {
  if (auto there = core::referred(t)) {
    if (auto value = std::dynamic_pointer_cast<RemoteValue>(there)) return TensorHandle::remote(there->value_type(), there->home(), std::move(value));
  }
  return result_handle(std::move(t), k.device);
}

static Status run_here(Context& context, CachedKernel& k, bool function, op::KernelContext& c, std::span<const Tensor* const> inputs,
                       std::span<Tensor> outputs) {
  if (some_may_end() && t_running && (t_cancellation || core::Interrupt::current())) [[unlikely]]
    return run_interruptible(context, *std::exchange(t_running, nullptr), function, t_cancellation, inputs, outputs);
  return guarded_run(*k.kernel, c);
}

// After an interrupt: to free millions of results takes seconds, for which nobody waits.
static void free_elsewhere(std::vector<Tensor> results, std::span<TensorHandle* const> made) {
  auto dead = std::make_shared<std::pair<std::vector<Tensor>, std::vector<TensorHandle*>>>(std::move(results),
                                                                                           std::vector<TensorHandle*>(made.begin(), made.end()));
  runtime::run_on_blocking_thread([dead] {
    for (TensorHandle* h : dead->second) RefPtr<TensorHandle>::adopt(h);
    dead->first.clear();
  });
}

Status Op::run_now(CachedKernel& k, TensorHandle** outputs) {
  const Tensor* on_stack[kStackInputs];
  std::vector<const Tensor*> on_heap;
  const Tensor** tensors = on_stack;
  if (inputs_.size() > kStackInputs) {
    on_heap.resize(inputs_.size());
    tensors = on_heap.data();
  }
  WEFT_RETURN_IF_ERROR(bring_inputs(k.device, tensors));
  const std::span<const Tensor* const> inputs(tensors, inputs_.size());
  const size_t n = k.node.output_types().size();
  if (n == 1) [[likely]] {  // the kernel writes straight into the handle
    auto handle = TensorHandle::make(Tensor(), k.device);
    op::KernelContext c(k.node, k.env, inputs, std::span<Tensor>(&handle->slot(), 1));
    WEFT_RETURN_IF_ERROR(run_here(*context_, k, is_function_, c, inputs, std::span<Tensor>(&handle->slot(), 1)));
    handle->filled();
    if (!handle->tensor().valid()) return internal_error(spec_->name, " did not set its output");
    if (result_device(handle->tensor(), k.device) != k.device || (is_function_ && core::referred(handle->tensor()))) [[unlikely]]
      handle = kernel_output(handle->tensor(), k);
    outputs[0] = handle.release();
    return {};
  }
  std::vector<Tensor> results;
  constexpr size_t kChunk = 1 << 14;
  for (results.reserve(n); results.size() < n; results.resize(std::min(n, results.size() + kChunk))) {
    if (!core::interrupt_wanted()) [[likely]]
      continue;
    free_elsewhere(std::move(results), {});
    return core::interrupted_call();
  }
  op::KernelContext c(k.node, k.env, inputs, results);
  WEFT_RETURN_IF_ERROR(run_here(*context_, k, is_function_, c, inputs, results));
  for (size_t i = 0; i < n; ++i) {
    if (core::interrupt_wanted()) [[unlikely]] {
      free_elsewhere(std::move(results), {outputs, i});
      return core::interrupted_call();
    }
    if (!results[i].valid()) {
      while (i-- > 0) RefPtr<TensorHandle>::adopt(outputs[i]);
      return internal_error(spec_->name, " did not set all of its outputs");
    }
    outputs[i] = kernel_output(std::move(results[i]), k).release();
  }
  return {};
}

Status Op::run_later(std::shared_ptr<CachedKernel> k, const std::shared_ptr<Executor>& executor, TensorHandle** outputs) {
  auto call = std::make_shared<Op>(*this);  // keeps the inputs
  auto handles = std::make_shared<std::vector<RefPtr<TensorHandle>>>();
  for (size_t i = 0; i < k->node.output_types().size(); ++i) {
    handles->push_back(TensorHandle::pending(base_type(k->node.output_types()[i]), k->device));
    outputs[i] = RefPtr<TensorHandle>((*handles)[i]).release();
  }
  auto fail = [handles](const Status& s) {
    for (auto& h : *handles) h->fail(s);
  };
  // A call that waits in the executor keeps a manager that is shared.
  auto kept = t_cancellation ? t_cancellation->weak_from_this().lock() : nullptr;
  executor->add({[call, handles, k, cancellation = t_cancellation, kept = std::move(kept)]() -> Status {
                   std::vector<const Tensor*> tensors(call->inputs_.size());
                   std::vector<Tensor> results(handles->size());
                   Status s = call->bring_inputs(k->device, tensors.data());
                   if (s.ok()) {
                     op::KernelEnv env = k->env;
                     if (cancellation) env.cancellation = cancellation;
                     op::KernelContext c(k->node, env, tensors, results);
                     s = guarded_run(*k->kernel, c);
                     if (s.ok()) s = runtime::fetch_all(results);
                   }
                   for (size_t i = 0; s.ok() && i < results.size(); ++i) {
                     if (!results[i].valid()) s = internal_error(call->spec_->name, " did not set all of its outputs");
                   }
                   if (!s.ok()) return s;
                   for (size_t i = 0; i < results.size(); ++i) (*handles)[i]->set(std::move(results[i]));
                   return {};
                 },
                 fail});
  return {};
}

[[gnu::always_inline]] inline Status Op::try_execute(TensorHandle** outputs, int capacity, int* count) {
  if (!spec_) return failed_precondition("the op has no name: reset it before executing");
  ran_on_ = nullptr;
  WEFT_ASSIGN(Device* device, place());
  std::shared_ptr<CachedKernel> uncached;
  const std::shared_ptr<CachedKernel>* kernel = &uncached;
  if (is_function_ && device && device != context_->host() && needs_parts_elsewhere(inputs_, device)) [[unlikely]] {
    WEFT_ASSIGN(op::NodeInfo n, node());
    uncached = std::make_shared<CachedKernel>(CachedKernel{std::move(n), nullptr, device, context_->env_for(device), true, nullptr});
    WEFT_ASSIGN(uncached->kernel, make_function_kernel(*context_, uncached->node, device));
  } else {
    WEFT_ASSIGN(kernel, find_kernel(device, uncached));
  }
  CachedKernel* k = kernel->get();
  if (k->may_call_back && !uncached) [[unlikely]] {  // what it runs may take its place in the cache
    uncached = *kernel;
    kernel = &uncached;
  }
  // Made when another device would do; that may have changed.
  if (device && k->device != device && !context_->soft_placement.load(std::memory_order_relaxed)) [[unlikely]]
    return choose_device(*context_, k->node, device, false).status();
  if (keep_kernel_) [[unlikely]]
    kernel_ = *kernel;
  const int n = k->node.num_outputs();
  if (n > capacity) return invalid_argument("Expecting ", n, " outputs, but *num_retvals is ", capacity);
  if (context_->log_device_placement.load(std::memory_order_relaxed)) [[unlikely]]
    std::fprintf(stderr, "Executing op %.*s in device %s\n", int(spec_->name.size()), spec_->name.data(), k->device->name().c_str());
  *count = n;
  if (LayoutRunner runner = runner_for(inputs_)) [[unlikely]] {
    ran_on_ = k->device;
    return runner(*this, k->node, outputs);
  }
  if (k->remote) [[unlikely]] {
    ran_on_ = k->device;
    return k->remote->execute(*this, k->node, outputs);
  }
  if (context_->maybe_async()) [[unlikely]] {
    auto executor = context_->executor();
    if (executor->async()) {
      WEFT_RETURN_IF_ERROR(executor->status());
      return run_later(*kernel, executor, outputs);
    }
  }
  ran_on_ = k->device;
  op::StepTrace* trace = context_->trace.load(std::memory_order_relaxed);
  if (some_may_end()) [[unlikely]]
    t_running = trace ? nullptr : kernel;
  if (!trace) [[likely]]
    return run_now(*k, outputs);
  const int64_t start = op::StepTrace::now();
  Status s = run_now(*k, outputs);
  op::StepTrace::Event e{
      std::string(spec_->name), std::string(spec_->name), k->device->name(), start, op::StepTrace::now(), op::StepTrace::thread_number(), {}};
  for (int i = 0; s.ok() && i < n; ++i) e.outputs.emplace_back(outputs[i]->dtype(), outputs[i]->tensor().shape());
  trace->add(std::move(e));
  return s;
}

Status Op::execute(TensorHandle** outputs, int capacity, int* count) {
  Status s = try_execute(outputs, capacity, count);
  if (s.ok() || !spec_) [[likely]]
    return s;
  Status::Origin origin = s.origin();
  origin.op = spec_->name;
  return s.with_origin(std::move(origin));
}

Status Op::execute(std::vector<RefPtr<TensorHandle>>& outputs) {
  // Lists may be long; ask the node how many there are only when the stack does not do.
  constexpr int kMost = 64;
  TensorHandle* on_stack[kMost];
  int n = 0;
  Status s = execute(on_stack, kMost, &n);
  if (s.ok()) {
    outputs.clear();
    for (int i = 0; i < n; ++i) outputs.push_back(RefPtr<TensorHandle>::adopt(on_stack[i]));
    return {};
  }
  auto info = node();
  if (!info.ok() || info->num_outputs() <= kMost) return s;
  std::vector<TensorHandle*> many(size_t(info->num_outputs()));
  WEFT_RETURN_IF_ERROR(execute(many.data(), int(many.size()), &n));
  outputs.clear();
  for (int i = 0; i < n; ++i) outputs.push_back(RefPtr<TensorHandle>::adopt(many[size_t(i)]));
  return {};
}

}  // namespace weft_engine::eager
