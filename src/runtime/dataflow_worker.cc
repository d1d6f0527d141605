// What an item does and whom it makes ready.
#include <algorithm>
#include <array>
#include <memory>
#include <shared_mutex>

#include "op/rendezvous.h"
#include "op/step_trace.h"
#include "op/variable.h"
#include "runtime/dataflow_state.h"

namespace weft::runtime {

using Kind = Dataflow::Kind;

namespace {

// In nanoseconds. Waking another thread costs some ten microseconds, so less than this is not handed over.
constexpr uint64_t kWorthSharing = 30'000;
// Pool threads run kernels alone, the caller with the help of the pool: what is larger than this goes
// back to a caller who has nothing to do.
constexpr uint32_t kWorthReturning = 200'000;

// n values on the stack, or on the heap where there are many.
template <class T, size_t kInline>
class Few {
 public:
  explicit Few(size_t n) : size_(n) {
    if (n > kInline) heap_ = std::make_unique<T[]>(n);
    data_ = heap_ ? heap_.get() : reinterpret_cast<T*>(few_);
    if (!heap_) std::uninitialized_value_construct_n(data_, n);
  }
  ~Few() {
    if (!heap_) std::destroy_n(data_, size_);
  }
  Few(const Few&) = delete;
  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  std::span<T> span() { return {data_, size_}; }

 private:
  alignas(T) std::byte few_[kInline * sizeof(T)];
  std::unique_ptr<T[]> heap_;
  T* data_;
  size_t size_;
};

void clear_inputs(const Dataflow::Item& item, Slot* slots) {
  for (uint32_t i = 0; i < item.num_inputs; ++i) slots[i].clear();
}

}  // namespace

// ---- the loop ------------------------------------------------------------------------------------------

void DataflowWorker::start() {
  queue.reserve(plan_.roots_.size());
  for (size_t i = plan_.roots_.size(); i-- > 0;) push(plan_.roots_[i], run_.root.get(), false);
}

void DataflowWorker::loop() {
  do {
    queued_cost_ = 0;
    for (const Ready& r : queue) queued_cost_ += r.cost;
    for (;;) {
      if (run_.aborted()) [[unlikely]] {
        queue.clear();
        deferred_.clear();
        break;
      }
      if (queue.empty()) {
        if (deferred_.empty()) break;
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
  } while (run_.take_or_leave(queue, true));
  run_.end_of();
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
    if (!ref->initialized() && !item.uninitialized_ok) return failed_precondition("Attempting to use uninitialized value ", item.ref_names[i]);
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
  if (r.dead) [[unlikely]] return process_dead(r);
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
  Few<Tensor, 8> tensors(item.num_outputs);
  Few<RefVariable*, 16> refs(item.gives_refs ? item.num_outputs : 0);
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

Status DataflowWorker::run_send(const Item& item, Iteration* it, bool dead) {
  if (!run_.env.rendezvous) return failed_precondition("there is no rendezvous to send ", item.key, " to");
  Slot s = take_input(item, it, 0);
  return run_.env.rendezvous->send(item.key, dead ? Tensor() : std::move(s.tensor), dead);
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
  Few<const Tensor*, 16> inputs(item.num_inputs);
  Few<Tensor, 8> outputs(item.num_outputs);
  Few<RefVariable*, 16> input_refs(has_refs ? item.num_inputs : 0), output_refs(has_refs ? item.num_outputs : 0);
  prepare_inputs(item, slots, inputs.data(), has_refs ? input_refs.data() : nullptr);
  KernelContext c(item.node, run_.env, inputs.span(), outputs.span());
  if (has_refs) c.set_refs(input_refs.span(), output_refs.span());
  c.donate_inputs(item.donated);
  c.constant_inputs(item.constant_inputs);

  // Costs matter where there is a choice of what to run where.
  const uint32_t known = item.cost.load(std::memory_order_relaxed);
  const bool timed = run_.env.trace || !queue.empty() || known == Dataflow::kUnknownCost;
  const int64_t start = timed ? StepTrace::now() : 0;
  Status s = run_kernel(*item.kernel, c);
  if (timed) {
    const auto took = uint32_t(std::clamp<int64_t>(StepTrace::now() - start, 1, 1'000'000'000));
    const_cast<Item&>(item).cost.store(known == Dataflow::kUnknownCost ? took : known - known / 8 + took / 8, std::memory_order_relaxed);
  }
  clear_inputs(item, slots);
  if (run_.env.trace) trace(item, start, outputs.data());
  if (!s.ok()) [[unlikely]] return fail(item, std::move(s));
  propagate(item, it, Outputs(outputs.data(), has_refs ? output_refs.data() : nullptr), false);
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
    if (a->passed.exchange(true, std::memory_order_acq_rel)) DataflowWorker(*a->run, Where::kPool).finish_elsewhere(*a);
  };
  if (item.kind == Kind::kRecv) {
    run_.env.rendezvous->recv_async(item.key, [a, back](Status s, Tensor t, bool dead) {
      a->outputs[0] = std::move(t);
      a->dead = dead;
      back(std::move(s));
    });
  } else {
    a->inputs.resize(item.num_inputs);
    a->input_refs.resize(item.num_inputs);
    a->output_refs.resize(item.num_outputs);
    prepare_inputs(item, &it->slots[item.slot], a->inputs.data(), a->input_refs.data());
    a->context = std::make_unique<KernelContext>(item.node, run_.env, a->inputs, a->outputs);
    a->context->set_refs(a->input_refs, a->output_refs);
    a->context->donate_inputs(item.donated);
    a->context->constant_inputs(item.constant_inputs);
    try {
      item.kernel->run_async(*a->context, back);
    } catch (const std::exception& e) {
      back(internal_error("unexpected exception in ", item.node.op(), ": ", e.what()));
    }
  }
  if (!a->passed.exchange(true, std::memory_order_acq_rel)) return;
  finish_async(*a);
  run_.end_of();  // the worker itself still counts
}

void DataflowWorker::finish_async(AsyncItem& a) {
  clear_inputs(*a.item, &a.iteration->slots[a.item->slot]);
  if (run_.env.trace) trace(*a.item, a.start, a.outputs.data());
  if (!a.status.ok()) return fail(*a.item, std::move(a.status));
  propagate(*a.item, a.iteration, Outputs(a.outputs.data(), a.output_refs.empty() ? nullptr : a.output_refs.data()), a.dead);
}

void DataflowWorker::finish_elsewhere(AsyncItem& a) {
  finish_async(a);
  if (!run_.aborted()) run_.share(queue);
  run_.end_of();
}

// ---- handing on ----------------------------------------------------------------------------------------

// The first live input claims the Merge, leaves its value and only then lets the count tell of it: two
// may arrive at once, and control inputs look at the count as well.
bool DataflowWorker::arrive_at_merge(const Dataflow::Edge& e, Iteration* to, Outputs values, bool live, bool from_enter, bool keep, bool& dead) {
  std::atomic<uint64_t>& count = to->counts[e.count];
  const uint64_t inputs = plan_.items_[e.item].num_inputs;
  if (live) {
    if (count.fetch_or(kClaimed, std::memory_order_acq_rel) & kClaimed) return false;
    Slot& slot = to->slots[e.slot];
    if (keep || !e.last) slot.tensor = values.tensors[e.output];
    else slot.tensor = std::move(values.tensors[e.output]);
    slot.ref = values.ref(e.output);
    dead = false;
    return waiting(count.fetch_and(~uint64_t(1), std::memory_order_acq_rel)) == 1;
  }
  // A loop that is not entered has no second input that could come.
  const uint64_t more = from_enter ? inputs : 1;
  const uint64_t before = count.fetch_add(more * kDeadInput, std::memory_order_acq_rel);
  dead = true;
  return !(before & kClaimed) && waiting(before) == 1 && dead_inputs(before) < inputs && dead_inputs(before) + more >= inputs;
}

int64_t DataflowWorker::activate(const Item& item, Iteration* to, Outputs values, bool dead, bool keep) {
  const size_t before = queue.size();
  for (uint32_t i = item.edges; i < item.edges_end; ++i) {
    const Dataflow::Edge& e = plan_.edges_[i];
    const bool live = !dead && values.has(e.output);
    if (e.merge) {
      bool dead_merge;
      if (arrive_at_merge(e, to, values, live, item.kind == Kind::kEnter, keep, dead_merge)) push(e.item, to, dead_merge);
      continue;
    }
    uint64_t step = -uint64_t(1);
    if (live) {
      Slot& slot = to->slots[e.slot];
      if (keep || !e.last) slot.tensor = values.tensors[e.output];
      else slot.tensor = std::move(values.tensors[e.output]);
      slot.ref = values.ref(e.output);
    } else {
      step += kDeadInput;
    }
    const uint64_t old = to->counts[e.count].fetch_add(step, std::memory_order_acq_rel);
    if (waiting(old) == 1) push(e.item, to, !live || dead_inputs(old));
  }
  for (uint32_t i = item.controls; i < item.controls_end; ++i) {
    const uint32_t number = plan_.controls_[i];
    const Item& reader = plan_.items_[number];
    std::atomic<uint64_t>& count = to->counts[reader.count];
    if (reader.kind == Kind::kMerge) {
      const uint64_t old = count.fetch_sub(2, std::memory_order_acq_rel);
      const bool dead_merge = !(old & kClaimed) && dead_inputs(old) >= reader.num_inputs;
      if (waiting(old) == 2 || (waiting(old) == 3 && dead_merge)) push(number, to, dead_merge);
    } else {
      const uint64_t old = count.fetch_add((dead ? kDeadInput : 0) - 1, std::memory_order_acq_rel);
      if (waiting(old) == 1) push(number, to, dead || dead_inputs(old));
    }
  }
  return int64_t(queue.size() - before);
}

void DataflowWorker::propagate(const Item& item, Iteration* it, Outputs values, bool dead) {
  switch (item.kind) {
    case Kind::kEnter: {
      Slot s;
      s.tensor = std::move(values.tensors[0]);
      s.ref = values.ref(0);
      enter(item, it, s, dead);
      return item_ended(it, 0);
    }
    case Kind::kExit:
      if (dead) {
        std::lock_guard lock(it->frame->mutex);
        // Only the last iteration leaves the loop; of the others every exit is dead.
        if (it->index == it->frame->count) it->frame->dead_exits.push_back(&item);
      } else {
        Iteration* parent = it->frame->parent_iteration;
        const int64_t n = activate(item, parent, values, false, false);
        if (parent->frame != &run_.root_frame) parent->outstanding.fetch_add(n, std::memory_order_relaxed);
      }
      return item_ended(it, 0);
    case Kind::kNextIteration:
      if (!dead) {
        Slot s;
        s.tensor = std::move(values.tensors[0]);
        s.ref = values.ref(0);
        next_iteration(item, it, s);
      }
      return item_ended(it, 0);
    case Kind::kKernel:
      if (!dead) {
        for (uint32_t i = item.edges; i < item.edges_end; ++i) {
          const uint32_t o = plan_.edges_[i].output;
          if (!values.has(o)) return fail(item, internal_error("Missing ", o, "-th output from {{node ", item.node.name(), "}}"));
        }
      }
      [[fallthrough]];
    default: item_ended(it, activate(item, it, values, dead, false));
  }
}

// ---- frames --------------------------------------------------------------------------------------------

void DataflowWorker::enter(const Item& item, Iteration* it, Slot& value, bool dead) {
  const Dataflow::FramePlan& plan = plan_.frames_[item.child];
  Frame* f;
  {
    std::lock_guard lock(it->frame->mutex);
    Frame*& child = it->children[plan.child];
    if (!child) {
      child = run_.new_frame(plan);
      std::lock_guard child_lock(child->mutex);
      child->parent = it->frame;
      child->parent_iteration = it;
      child->pending_inputs = plan.enters;
      child->parallel_iterations = item.parallel_iterations;
      child->count = -1;
      if (it->frame != &run_.root_frame) it->outstanding.fetch_add(1, std::memory_order_relaxed);
      start_iteration(*child);
    }
    f = child;
  }
  bool idle;
  {
    std::lock_guard lock(f->mutex);
    if (item.constant_enter) {
      for (auto& iteration : f->iterations)
        iteration->outstanding.fetch_add(activate(item, iteration.get(), Outputs(value), dead, true), std::memory_order_relaxed);
      f->invariants.push_back({&item, std::move(value), dead});
    } else {
      Iteration* first = f->iterations.front().get();  // not over before all inputs are in
      first->outstanding.fetch_add(activate(item, first, Outputs(value), dead, false), std::memory_order_relaxed);
    }
    idle = --f->pending_inputs == 0 && f->iterations.front()->outstanding.load(std::memory_order_acquire) == 0;
  }
  if (idle) clean_up(f);
}

// With the frame's lock held.
Iteration* DataflowWorker::start_iteration(Frame& f) {
  std::unique_ptr<Iteration> it;
  if (!f.spare.empty()) {
    it = std::move(f.spare.back());
    f.spare.pop_back();
  } else {
    it = std::make_unique<Iteration>(*f.plan);
  }
  it->reset(*f.plan);
  it->frame = &f;
  it->index = ++f.count;
  f.dead_exits.clear();
  Iteration* raw = it.get();
  f.iterations.push_back(std::move(it));
  int64_t n = 0;
  for (Frame::Held& h : f.invariants) n += activate(*h.item, raw, Outputs(h.value), h.dead, true);
  raw->outstanding.fetch_add(n, std::memory_order_relaxed);
  return raw;
}

void DataflowWorker::next_iteration(const Item& item, Iteration* it, Slot& value) {
  Frame& f = *it->frame;
  std::lock_guard lock(f.mutex);
  Iteration* next;
  if (it->index == f.count) {
    if (int64_t(f.iterations.size()) >= f.parallel_iterations) {
      f.next.push_back({&item, std::move(value), false});
      return;
    }
    next = start_iteration(f);
  } else {
    next = f.iterations[size_t(it->index + 1 - f.iterations.front()->index)].get();
  }
  next->outstanding.fetch_add(activate(item, next, Outputs(value), false, false), std::memory_order_relaxed);
}

// One item of the iteration has ended and made `more` others of it ready.
void DataflowWorker::item_ended(Iteration* it, int64_t more) {
  Frame* f = it->frame;
  if (f == &run_.root_frame || more == 1) return;
  if (it->outstanding.fetch_add(more - 1, std::memory_order_acq_rel) + more - 1 == 0) clean_up(f);
}

// Ends the iterations that are over, oldest first, and with the last one the frame. May be called when
// there is nothing to end, or after the frame has ended.
void DataflowWorker::clean_up(Frame* f) {
  std::vector<const Item*> dead_exits;
  Iteration* outer;
  Frame* parent;
  {
    std::lock_guard lock(f->mutex);
    if (f->iterations.empty()) return;
    while (!f->iterations.empty()) {
      Iteration* first = f->iterations.front().get();
      if (first->outstanding.load(std::memory_order_acquire) != 0 || (first->index == 0 && f->pending_inputs > 0)) return;
      first->clear(*f->plan);
      f->spare.push_back(std::move(f->iterations.front()));
      f->iterations.pop_front();
      if (f->next.empty()) continue;
      auto held = std::move(f->next);
      f->next.clear();
      Iteration* next = start_iteration(*f);
      for (Frame::Held& h : held)
        next->outstanding.fetch_add(activate(*h.item, next, Outputs(h.value), false, false), std::memory_order_relaxed);
    }
    dead_exits.swap(f->dead_exits);
    f->invariants.clear();
    outer = f->parent_iteration;
    parent = f->parent;
  }
  {
    std::lock_guard lock(parent->mutex);
    outer->children[f->plan->child] = nullptr;
  }
  run_.free_frame(f);
  Slot none;
  int64_t n = 0;
  for (const Item* exit : dead_exits) n += activate(*exit, outer, Outputs(none), true, false);
  item_ended(outer, n);
}

}  // namespace weft::runtime
