// Whom an item makes ready, and the frames of loops.
#include "core/error_notes.h"
#include "op/rendezvous.h"
#include "runtime/dataflow_state.h"

namespace weft_engine::runtime {

using Kind = Dataflow::Kind;

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
          if (!values.has(o))
            return fail(item, core::names_node(internal_error("Missing ", o, "-th output from {{node ", item.node.name(), "}}"), item.node.name()));
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
      if (plan_.messages_in_loops_) child->id = frame_id(it->frame->id, it->index, plan.name);
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
      for (Frame::Held& h : held) next->outstanding.fetch_add(activate(*h.item, next, Outputs(h.value), false, false), std::memory_order_relaxed);
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

}  // namespace weft_engine::runtime
