// What an item does.
#include <algorithm>
#include <array>
#include <memory>
#include <shared_mutex>

#include "core/call_depth.h"
#include "core/error_notes.h"
#include "core/own_memory.h"
#include "core/threads.h"
#include "op/rendezvous.h"
#include "op/step_trace.h"
#include "op/variable.h"
#include "runtime/dataflow_state.h"

namespace weft_engine::runtime {

using Kind = Dataflow::Kind;

namespace {

// In nanoseconds. Waking another thread costs some ten microseconds, so less than this is not handed over.
constexpr uint64_t kWorthSharing = 60'000;
// What costs less is rarely measured again.
constexpr uint32_t kCheap = 2'000;
// Pool threads run kernels alone, the caller with the help of the pool: what is larger than this goes
// back to a caller who has nothing to do.
constexpr uint32_t kWorthReturning = 200'000;

// n values on the stack, or on the heap where there are many.
template <class T, size_t kInline>
class SmallArray {
 public:
  explicit SmallArray(size_t n) : size_(n) {
    if (n > kInline) heap_ = std::make_unique<T[]>(n);
    data_ = heap_ ? heap_.get() : reinterpret_cast<T*>(few_);
    if (!heap_) std::uninitialized_value_construct_n(data_, n);
  }
  ~SmallArray() {
    if (!heap_) std::destroy_n(data_, size_);
  }
  SmallArray(const SmallArray&) = delete;
  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  std::span<T> span() { return {data_, size_}; }

 private:
  alignas(T) std::byte few_[kInline * sizeof(T)];
  std::unique_ptr<T[]> heap_;
  T* data_;
  size_t size_;
};

// Near the low end of what was seen: a thread that was not on the processor for a while seems slow.
void learn_cost(Dataflow::Item& item, int64_t ns) {
  const uint32_t known = item.cost.load(std::memory_order_relaxed);
  const auto took = uint32_t(std::clamp<int64_t>(ns, 1, 1'000'000'000));
  uint32_t now = took;
  if (known != Dataflow::kUnknownCost) now = took < known ? known - (known - took) / 2 : std::min<uint32_t>(took, known + known / 8 + 1);
  item.cost.store(now, std::memory_order_relaxed);
}

void clear_inputs(const Dataflow::Item& item, Slot* slots) {
  for (uint32_t i = 0; i < item.num_inputs; ++i) slots[i].clear();
}

}  // namespace

// ---- the loop ------------------------------------------------------------------------------------------

void DataflowWorker::start() noexcept {
  const Status s = core::without_exceptions([&]() -> Status {
    queue.reserve(plan_.roots_.size());
    for (size_t i = plan_.roots_.size(); i-- > 0;) push(plan_.roots_[i], run_.memory->root.get(), false);
    return {};
  });
  if (!s.ok()) run_.fail(s);
}

void DataflowWorker::start_with(const Ready& r) noexcept {
  try {
    queue.push_back(r);
  } catch (const std::bad_alloc&) {
    run_.fail(core::out_of_memory());
  }
}

void DataflowWorker::loop() noexcept {
  const core::AdoptCallDepth depth(run_.call_depth);
  for (bool more = true; more;) {
    const Status s = core::without_exceptions([&]() -> Status {
      run_queue();
      more = run_.take_work(queue, true);
      return {};
    });
    if (!s.ok()) run_.fail(s);  // the next round finds the run aborted, and leaves
  }
  run_.end_of();
}

void DataflowWorker::run_queue() {
  queued_cost_ = 0;
  for (const Ready& r : queue) queued_cost_ += r.cost;
  for (;;) {
    if (where_ == Where::kCaller) run_.poll_interrupt();
    if (run_.aborted()) [[unlikely]] {
      queue.clear();
      deferred_.clear();
      return;
    }
    if (queue.empty()) {
      if (deferred_.empty()) return;
      const Ready r = deferred_.back();
      deferred_.pop_back();
      for (const Ready& other : deferred_) run_.run_blocking(other);
      deferred_.clear();
      run_.before_blocking();
      process(r);
      run_.after_blocking();
      continue;
    }
    const Ready r = queue.back();
    queue.pop_back();
    queued_cost_ -= r.cost;
    if (r.item->blocking && !r.dead) {
      if (where_ == Where::kPool) run_.run_blocking(r);
      else deferred_.push_back(r);
      continue;
    }
    process(r);
    maybe_share();
  }
}

void DataflowWorker::maybe_share() {
  if (where_ == Where::kPool && queue.size() == 1 && queue[0].cost >= kWorthReturning && run_.caller_idle.load(std::memory_order_relaxed)) {
    run_.share(queue);
    queue.clear();
    queued_cost_ = 0;
    return;
  }
  if (queued_cost_ < kWorthSharing || !run_.wants_help()) return;
  if (!deferred_.empty()) {
    run_.run_blocking(deferred_.back());
    deferred_.pop_back();
    return;
  }
  if (queue.size() < 2) return;
  const auto half = queue.begin() + int64_t(queue.size() / 2);
  run_.share({queue.begin(), half});
  for (auto it = queue.begin(); it != half; ++it) queued_cost_ -= it->cost;
  queue.erase(queue.begin(), half);
}

void DataflowWorker::push(uint32_t number, Iteration* it, bool dead) {
  const Item& item = plan_.items_[number];
  const uint32_t cost = dead ? 0 : item.cost.load(std::memory_order_relaxed);
  queue.push_back({&item, it, dead && !item.trigger, cost});
  queued_cost_ += cost;
}

void DataflowWorker::fail(const Item& item, Status s) { run_.fail(with_node(std::move(s), item.node)); }

// ---- items ---------------------------------------------------------------------------------------------

// The input as the item's own; a reference that is not asked for as one is read now.
Slot DataflowWorker::take_input(const Item& item, Iteration* it, uint32_t i) {
  Slot s;
  if (!item.constants.empty() && item.constants[i]) {
    s.tensor = *item.constants[i];
    return s;
  }
  Slot& from = it->slots[item.slot + i];
  std::swap(s.tensor, from.tensor);
  std::swap(s.ref, from.ref);
  return s;
}

Status DataflowWorker::resolve_refs(const Item& item, Slot* slots) {
  for (uint32_t i = 0; i < item.num_inputs; ++i) {
    RefVariable* ref = slots[i].ref;
    if (!ref) continue;
    std::shared_lock lock(ref->mutex());
    if (!ref->initialized() && !item.uninitialized_ok)
      return failed_precondition("Attempting to use uninitialized value ", item.ref_names[i]).with_payload(core::kNoteUninitialized, "");
    const DType wanted = item.node.input_types()[i];
    // Who asks for the reference finds the variable. Holding its value here would make every change of it
    // copy; only old handles (Ref(string)) are read as tensors.
    if (is_ref_type(wanted) && wanted != ref_type(DType::kString)) continue;
    slots[i].tensor = ref->tensor();
    if (!is_ref_type(wanted)) slots[i].ref = nullptr;
  }
  return {};
}

void DataflowWorker::process(const Ready& r) {
  const Item& item = *r.item;
  Iteration* it = r.iteration;
  if (r.dead) [[unlikely]]
    return process_dead(r);
  if (item.reads_refs) {
    if (Status s = resolve_refs(item, &it->slots[item.slot]); !s.ok()) return fail(item, std::move(s));
  }
  switch (item.kind) {
    case Kind::kKernel: return item.async ? run_async_item(item, it) : run_kernel_item(item, it);
    case Kind::kRecv: return run_async_item(item, it);
    case Kind::kConst: {
      Slot s;
      s.tensor = item.constant;
      return propagate(item, it, Outputs(s), false);
    }
    case Kind::kArg: {
      Slot s;
      s.tensor = std::move(run_.args[size_t(item.index)]);
      if (!s.tensor.valid()) return fail(item, invalid_argument("argument ", item.index, " of function ", plan_.name_, " has no value"));
      return propagate(item, it, Outputs(s), false);
    }
    case Kind::kNothing: return propagate(item, it, Outputs(nullptr), false);
    case Kind::kForward:
    case Kind::kEnter:
    case Kind::kExit:
    case Kind::kNextIteration: {
      Slot s = take_input(item, it, 0);
      return propagate(item, it, Outputs(s), false);
    }
    case Kind::kMerge: return run_merge(item, it);
    case Kind::kSwitch:
    case Kind::kSwitchN: return run_switch(item, it);
    case Kind::kRetval: {
      Slot s = take_input(item, it, 0);
      run_.rets[size_t(item.index)] = std::move(s.tensor);
      return propagate(item, it, Outputs(nullptr), false);
    }
    case Kind::kSend:
      if (Status s = run_send(item, it, false); !s.ok()) return fail(item, std::move(s));
      return propagate(item, it, Outputs(nullptr), false);
  }
}

void DataflowWorker::process_dead(const Ready& r) {
  const Item& item = *r.item;
  if (item.kind == Kind::kRecv) return run_async_item(item, r.iteration);
  if (item.kind == Kind::kSend) {
    if (Status s = run_send(item, r.iteration, true); !s.ok()) return fail(item, std::move(s));
  }
  clear_inputs(item, &r.iteration->slots[item.slot]);
  Slot none;
  propagate(item, r.iteration, Outputs(none), true);
}

void DataflowWorker::run_switch(const Item& item, Iteration* it) {
  Slot data = take_input(item, it, 0);
  const Slot which = take_input(item, it, 1);
  const Tensor& t = which.tensor;
  if (t.rank() != 0) return fail(item, invalid_argument("The second input must be a scalar, but it has shape ", t.shape()));
  uint32_t taken;
  if (item.kind == Kind::kSwitch) {
    taken = t.data<uint8_t>()[0] ? 1 : 0;
  } else {
    const int32_t i = t.data<int32_t>()[0];
    taken = i < 0 || uint32_t(i) >= item.num_outputs ? item.num_outputs - 1 : uint32_t(i);
  }
  SmallArray<Tensor, 8> tensors(item.num_outputs);
  SmallArray<RefVariable*, 16> refs(item.gives_refs ? item.num_outputs : 0);
  tensors[taken] = std::move(data.tensor);
  if (item.gives_refs) refs[taken] = data.ref;
  propagate(item, it, Outputs(tensors.data(), item.gives_refs ? refs.data() : nullptr), false);
}

void DataflowWorker::run_merge(const Item& item, Iteration* it) {
  Slot* slots = &it->slots[item.slot];
  uint32_t i = 0;
  while (i < item.num_inputs && !slots[i].has()) ++i;
  if (i == item.num_inputs) return fail(item, internal_error("no input of a Merge is alive"));
  std::array<Tensor, 2> out;
  std::array<RefVariable*, 2> refs{slots[i].ref, nullptr};
  out[0] = std::move(slots[i].tensor);
  slots[i].clear();
  if (item.edges_end > item.edges && plan_.edges_[item.edges_end - 1].output == 1) out[1] = Tensor::scalar<int32_t>(int32_t(i));
  propagate(item, it, Outputs(out.data(), refs.data()), false);
}

template <class Use>
auto DataflowWorker::with_key(const Item& item, const Iteration* it, Use use) const {
  if (it->frame == &run_.root_frame) return use(std::string_view(item.key));
  const std::string_view base = std::string_view(item.key).substr(0, item.key.rfind(';') + 1);
  return use(std::string_view(cat(base, it->frame->id, ":", it->index)));
}

Status DataflowWorker::run_send(const Item& item, Iteration* it, bool dead) {
  if (!run_.env.rendezvous) return failed_precondition("there is no rendezvous to send ", item.key, " to");
  Slot s = take_input(item, it, 0);
  return with_key(item, it, [&](std::string_view key) { return run_.env.rendezvous->send(key, dead ? Tensor() : std::move(s.tensor), dead); });
}

void DataflowWorker::prepare_inputs(const Item& item, Slot* slots, const Tensor** inputs, RefVariable** refs) const {
  for (uint32_t i = 0; i < item.num_inputs; ++i) inputs[i] = &slots[i].tensor;
  if (!item.constants.empty()) {
    for (uint32_t i = 0; i < item.num_inputs; ++i) {
      if (item.constants[i]) inputs[i] = item.constants[i];
    }
  }
  if (refs) {
    for (uint32_t i = 0; i < item.num_inputs; ++i) refs[i] = slots[i].ref;
  }
}

void DataflowWorker::run_kernel_item(const Item& item, Iteration* it) {
  Slot* slots = &it->slots[item.slot];
  const bool has_refs = item.reads_refs || item.gives_refs;
  SmallArray<const Tensor*, 16> inputs(item.num_inputs);
  SmallArray<Tensor, 8> outputs(item.num_outputs);
  SmallArray<RefVariable*, 16> input_refs(has_refs ? item.num_inputs : 0), output_refs(has_refs ? item.num_outputs : 0);
  prepare_inputs(item, slots, inputs.data(), has_refs ? input_refs.data() : nullptr);
  KernelContext c(item.node, run_.env, inputs.span(), outputs.span());
  if (has_refs) c.set_refs(input_refs.span(), output_refs.span());
  c.donate_inputs(item.donated);
  c.constant_inputs(item.constant_inputs);

  const bool timed = run_.env.trace || should_time(item);
  const int64_t start = timed ? StepTrace::now() : 0;
  Status s = run_kernel(*item.kernel, c);
  if (timed) learn_cost(const_cast<Item&>(item), StepTrace::now() - start);
  clear_inputs(item, slots);
  if (run_.env.trace) trace(item, start, outputs.data());
  if (!s.ok()) [[unlikely]]
    return fail(item, std::move(s));
  propagate(item, it, Outputs(outputs.data(), has_refs ? output_refs.data() : nullptr), false);
}

// Costs matter where there is a choice of what to run where.
bool DataflowWorker::should_time(const Item& item) {
  const uint32_t known = item.cost.load(std::memory_order_relaxed);
  if (known == Dataflow::kUnknownCost) return true;
  return !queue.empty() && (known >= kCheap || (++ticks_ & 15) == 0);
}

void DataflowWorker::trace(const Item& item, int64_t start, const Tensor* outputs) const {
  StepTrace::Event e{item.node.name(), std::string(item.node.op()), plan_.device_->name(), start, StepTrace::now(), StepTrace::thread_number(), {}};
  for (uint32_t i = 0; i < item.num_outputs; ++i) e.outputs.emplace_back(outputs[i].dtype(), outputs[i].shape());
  run_.env.trace->add(std::move(e));
}

// ---- what waits ----------------------------------------------------------------------------------------

void DataflowWorker::run_async_item(const Item& item, Iteration* it) {
  auto a = std::make_shared<AsyncItem>();
  a->run = run_.shared_from_this();
  a->item = &item;
  a->iteration = it;
  a->outputs.resize(item.num_outputs);
  if (run_.env.trace) a->start = StepTrace::now();
  run_.live.fetch_add(1, std::memory_order_relaxed);
  auto back = [a](Status s) {
    a->status = std::move(s);
    if (a->passed.exchange(true, std::memory_order_acq_rel)) DataflowWorker(*a->run, Where::kPool).finish_on_worker(*a);
  };
  try {
    begin_async(a, back);
  } catch (...) {
    back(core::status_of_exception());
  }
  if (!a->passed.exchange(true, std::memory_order_acq_rel)) return;
  finish_async(*a);
  run_.end_of();  // the worker itself still counts
}

template <class Back>
void DataflowWorker::begin_async(const std::shared_ptr<AsyncItem>& a, const Back& back) {
  const Item& item = *a->item;
  if (item.kind == Kind::kRecv) {
    Device* here = run_.env.device;
    auto came = [a, back, here](Status s, Tensor t, bool dead) {
      a->dead = dead;
      if (s.ok() && here->host_memory() && core::memory_of(t)) {
        core::memory_of(t)->copy_to_host(t, [a, back](Result<Tensor> copy) {
          if (copy.ok()) a->outputs[0] = *copy;
          back(copy.status());
        });
        return;
      }
      a->outputs[0] = std::move(t);
      back(std::move(s));
    };
    with_key(item, a->iteration, [&](std::string_view key) { run_.env.rendezvous->recv_async(key, std::move(came)); });
  } else {
    a->inputs.resize(item.num_inputs);
    a->input_refs.resize(item.num_inputs);
    a->output_refs.resize(item.num_outputs);
    prepare_inputs(item, &a->iteration->slots[item.slot], a->inputs.data(), a->input_refs.data());
    a->context = std::make_unique<KernelContext>(item.node, run_.env, a->inputs, a->outputs);
    a->context->set_refs(a->input_refs, a->output_refs);
    a->context->donate_inputs(item.donated);
    a->context->constant_inputs(item.constant_inputs);
    item.kernel->run_async(*a->context, back);
  }
}

void DataflowWorker::finish_async(AsyncItem& a) {
  clear_inputs(*a.item, &a.iteration->slots[a.item->slot]);
  if (run_.env.trace) trace(*a.item, a.start, a.outputs.data());
  if (!a.status.ok()) return fail(*a.item, std::move(a.status));
  propagate(*a.item, a.iteration, Outputs(a.outputs.data(), a.output_refs.empty() ? nullptr : a.output_refs.data()), a.dead);
}

void DataflowWorker::finish_on_worker(AsyncItem& a) noexcept {
  const Status s = core::without_exceptions([&]() -> Status {
    finish_async(a);
    if (!run_.aborted()) run_.share(queue);
    return {};
  });
  if (!s.ok()) run_.fail(s);
  run_.end_of();
}

}  // namespace weft_engine::runtime
