// A run as a whole: who works on it, how it ends. What an item does is in dataflow_worker.cc.
#include "runtime/dataflow.h"

#include <algorithm>

#include "core/call_depth.h"
#include "core/own_memory.h"
#include "op/rendezvous.h"
#include "runtime/blocking_threads.h"
#include "runtime/dataflow_state.h"

namespace weft_engine::runtime {

// ---- memory --------------------------------------------------------------------------------------------

Iteration::Iteration(const Dataflow::FramePlan& plan)
    : slots(std::make_unique<Slot[]>(plan.num_slots)),
      counts(std::make_unique<std::atomic<uint64_t>[]>(plan.counts.size())),
      children(plan.num_children, nullptr) {}

void Iteration::reset(const Dataflow::FramePlan& plan) {
  for (size_t i = 0; i < plan.counts.size(); ++i) counts[i].store(plan.counts[i], std::memory_order_relaxed);
  std::fill(children.begin(), children.end(), nullptr);
  outstanding.store(0, std::memory_order_relaxed);
}

void Iteration::clear(const Dataflow::FramePlan& plan) {
  for (uint32_t i = 0; i < plan.num_slots; ++i) slots[i].clear();
}

DataflowMemory::DataflowMemory(const std::vector<Dataflow::FramePlan>& plans) : root(std::make_unique<Iteration>(plans[0])), spare(plans.size()) {}

bool DataflowMemory::all_free() const {
  size_t n = 0;
  for (const auto& s : spare) n += s.size();
  return n == frames.size();
}

std::unique_ptr<DataflowMemory> Dataflow::acquire_memory() {
  {
    std::lock_guard lock(memory_mutex_);
    if (!spare_memory_.empty()) {
      auto memory = std::move(spare_memory_.back());
      spare_memory_.pop_back();
      return memory;
    }
  }
  return std::make_unique<DataflowMemory>(frames_);
}

void Dataflow::release_memory(std::unique_ptr<DataflowMemory> memory) {
  constexpr size_t kKeep = 16;
  memory->root->clear(frames_[0]);
  std::lock_guard lock(memory_mutex_);
  if (spare_memory_.size() < kKeep) spare_memory_.push_back(std::move(memory));
}

Frame* DataflowRun::new_frame(const Dataflow::FramePlan& p) {
  std::lock_guard lock(mutex_);
  auto& spare = memory->spare[size_t(&p - plan.frames_.data())];
  if (!spare.empty()) {
    Frame* f = spare.back();
    spare.pop_back();
    return f;
  }
  memory->frames.push_back(std::make_unique<Frame>());
  memory->frames.back()->plan = &p;
  return memory->frames.back().get();
}

// Frames are kept until the run ends: a late worker may still look whether there is something to clean up.
void DataflowRun::free_frame(Frame* f) {
  std::lock_guard lock(mutex_);
  memory->spare[size_t(f->plan - plan.frames_.data())].push_back(f);
}

// ---- beginning and end ---------------------------------------------------------------------------------

DataflowRun::DataflowRun(Dataflow& p, const KernelEnv& e)
    : plan(p), env(e), call_depth(core::call_depth()), max_active_(p.inter_ ? p.inter_->threads() : 1), receives_(p.receives_) {
  env.device = p.device_;
  if (p.pool_) env.pool = p.pool_;
  memory = p.acquire_memory();
  memory->root->reset(p.frames_[0]);
  memory->root->frame = &root_frame;
  root_frame.plan = &p.frames_[0];
  if (p.waits_) {
    cancellation_ = std::make_unique<CancellationManager>();
    env.cancellation = cancellation_.get();
  }
}

bool DataflowRun::watch(CancellationManager* parent) {
  if (!parent) return true;
  cancel_token_ = parent->get_token();
  // A weak reference: the callback may come while the run ends on another thread.
  std::weak_ptr<DataflowRun> weak = weak_from_this();
  const bool watching = parent->register_callback(cancel_token_, [weak] {
    if (auto self = weak.lock()) self->fail(cancelled("Step was cancelled"));
  });
  if (watching) parent_cancellation_ = parent;
  return watching;
}

void DataflowRun::fail(Status s) {
  {
    std::lock_guard lock(mutex_);
    if (!status_.ok() || closed_) return;
    status_ = s;
    aborted_.store(true);
    failing_ = true;
    failing_thread_ = std::this_thread::get_id();
  }
  if (receives_ && env.rendezvous) env.rendezvous->abort(s);
  if (cancellation_) cancellation_->start_cancel();
  std::lock_guard lock(mutex_);
  failing_ = false;
  wake_.notify_all();
}

// Nothing runs any more.
Status DataflowRun::finish(std::span<Tensor> results) {
  // (Not the waiting form: this may be the cancelling thread itself.)
  if (parent_cancellation_) parent_cancellation_->try_deregister_callback(cancel_token_);
  Status s;
  {
    // Another thread may still be telling others of an error; what it uses must not go before it is through.
    std::unique_lock lock(mutex_);
    closed_ = true;
    if (failing_thread_ != std::this_thread::get_id()) wake_.wait(lock, [this] { return !failing_; });
    s = status_;
  }
  if (s.ok()) {
    for (size_t i = 0; i < results.size() && s.ok(); ++i) {
      if (!results[i].valid()) s = invalid_argument("Retval[", i, "] does not have value");
    }
  }
  // After an error loops may be half done.
  if (!aborted() && memory->all_free()) plan.release_memory(std::move(memory));
  memory.reset();
  return s;
}

void DataflowRun::end_of(int64_t n) {
  if (live.fetch_sub(n, std::memory_order_acq_rel) != n) return;
  if (!done) {
    std::lock_guard lock(mutex_);
    finished_ = true;
    wake_.notify_all();
    return;
  }
  Status s = finish(owned_rets);
  auto call = std::move(done);
  call(std::move(s), std::move(owned_rets));
}

// ---- who works -----------------------------------------------------------------------------------------

// Makes sure that somebody comes for what is in the inbox.
void DataflowRun::wake_worker(std::unique_lock<std::mutex>& lock) {
  if (inbox_.empty()) return;
  if (caller_idle.load(std::memory_order_relaxed)) {
    caller_idle.store(false, std::memory_order_relaxed);
    ++active_;
    wake_.notify_all();
    return;
  }
  if (active_ >= max_active_) return;  // whoever is busy looks into the inbox before it leaves
  ++active_;
  lock.unlock();
  const bool pooled = plan.inter_ && plan.inter_->threads() > 1;
  auto help = [self = shared_from_this(), pooled] {
    DataflowWorker w(*self, pooled ? DataflowWorker::Where::kPool : DataflowWorker::Where::kBlocking);
    if (self->take_work(w.queue, false)) w.loop();
  };
  try {
    if (pooled) plan.inter_->schedule(help);
    else run_on_blocking_thread(help);
  } catch (const std::bad_alloc&) {
    help();  // no memory to ask another with
  }
}

void DataflowRun::share(std::span<const Ready> work) {
  if (work.empty()) return;
  live.fetch_add(int64_t(work.size()), std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  inbox_.insert(inbox_.end(), work.begin(), work.end());
  wake_worker(lock);
}

// `counted`: the worker is one of those in `live`.
bool DataflowRun::take_work(std::vector<Ready>& queue, bool counted) {
  std::lock_guard lock(mutex_);
  if (counted && aborted()) {
    live.fetch_sub(int64_t(inbox_.size()), std::memory_order_relaxed);
    inbox_.clear();
  }
  if (inbox_.empty()) {
    --active_;
    return false;
  }
  // The other helpers get their share, too.
  const size_t n = std::max<size_t>(1, std::min<size_t>(64, inbox_.size() / 2));
  queue.insert(queue.end(), inbox_.end() - int64_t(n), inbox_.end());
  inbox_.resize(inbox_.size() - n);
  live.fetch_add((counted ? 0 : 1) - int64_t(n), std::memory_order_relaxed);
  return true;
}

void DataflowRun::run_blocking(const Ready& r) {
  live.fetch_add(1, std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    if (caller_idle.load(std::memory_order_relaxed)) {
      caller_idle.store(false, std::memory_order_relaxed);
      ++active_;
      caller_inbox_.push_back(r);
      wake_.notify_all();
      return;
    }
    ++active_;
  }
  auto work = [self = shared_from_this(), r] {
    DataflowWorker w(*self, DataflowWorker::Where::kBlocking);
    w.start_with(r);
    w.loop();
  };
  try {
    run_on_blocking_thread(work);
  } catch (const std::bad_alloc&) {
    work();
  }
}

void DataflowRun::before_blocking() {
  std::unique_lock lock(mutex_);
  --active_;
  wake_worker(lock);
}

void DataflowRun::after_blocking() {
  std::lock_guard lock(mutex_);
  ++active_;
}

// Until somebody calls, or a while where this thread's caller may interrupt it.
void DataflowRun::wait_or_poll(std::unique_lock<std::mutex>& lock) {
  core::Interrupt* const call = parent_cancellation_ && !aborted() ? core::Interrupt::current() : nullptr;
  if (!call) return wake_.wait(lock);
  if (wake_.wait_for(lock, core::kInterruptPollInterval) == std::cv_status::no_timeout) return;
  lock.unlock();
  if (call->look()) parent_cancellation_->start_cancel();
  lock.lock();
}

// The caller's thread, out of work. It helps when there is some, until all is done.
void DataflowRun::help_until_finished(DataflowWorker& caller) {
  std::unique_lock lock(mutex_);
  for (;;) {
    // (active_ does not count the caller here, nor does live.)
    caller_idle.store(true, std::memory_order_relaxed);
    while (!finished_ && inbox_.empty() && caller_inbox_.empty()) {
      wait_or_poll(lock);
      // Woken for work that another was quicker to take: idle again.
      if (inbox_.empty() && caller_inbox_.empty() && !caller_idle.exchange(true, std::memory_order_relaxed)) --active_;
    }
    if (finished_) return;
    if (caller_idle.exchange(false, std::memory_order_relaxed)) ++active_;  // else counted by whoever woke us
    int64_t taken = int64_t(caller_inbox_.size());
    caller.queue.insert(caller.queue.end(), caller_inbox_.begin(), caller_inbox_.end());
    caller_inbox_.clear();
    if (!inbox_.empty()) {
      const size_t n = std::max<size_t>(1, inbox_.size() / 2);
      caller.queue.insert(caller.queue.end(), inbox_.end() - int64_t(n), inbox_.end());
      inbox_.resize(inbox_.size() - n);
      taken += int64_t(n);
    }
    live.fetch_add(1 - taken, std::memory_order_relaxed);
    lock.unlock();
    caller.loop();
    lock.lock();
  }
}

// ---- Dataflow ------------------------------------------------------------------------------------------

Dataflow::~Dataflow() = default;

Status Dataflow::check_call(const KernelEnv& env, size_t args, size_t rets) const {
  if (args != num_args_ || rets != num_rets_)
    return invalid_argument("function ", name_, " of ", num_args_, " arguments and ", num_rets_, " results was called with ", args, " and ", rets);
  if (receives_ && !env.rendezvous) return failed_precondition("function ", name_, " receives messages, but there is no rendezvous");
  return {};
}

namespace {
Status cancelled_before() { return cancelled("Function was cancelled before it was started"); }
}  // namespace

Status Dataflow::run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) {
  WEFT_RETURN_IF_ERROR(check_call(env, args.size(), rets.size()));
  if (device_->host_memory()) WEFT_RETURN_IF_ERROR(core::all_to_host(args));
  auto run = std::make_shared<DataflowRun>(*this, env);
  run->args = args;
  run->rets = rets;
  for (Tensor& r : rets) r = Tensor();
  if (!run->watch(env.cancellation)) return cancelled_before();
  run->live.store(1, std::memory_order_relaxed);
  DataflowWorker caller(*run, DataflowWorker::Where::kCaller);
  caller.start();
  caller.loop();
  run->help_until_finished(caller);
  return run->finish(rets);
}

void Dataflow::run_async(const KernelEnv& env, std::vector<Tensor> args, FunctionHandle::Done done) {
  Status ready = check_call(env, args.size(), num_rets_);
  if (ready.ok() && device_->host_memory()) ready = core::all_to_host(args);
  if (!ready.ok()) return done(std::move(ready), {});
  auto run = std::make_shared<DataflowRun>(*this, env);
  run->owned_args = std::move(args);
  run->owned_rets.resize(num_rets_);
  run->args = run->owned_args;
  run->rets = run->owned_rets;
  if (!run->watch(env.cancellation)) return done(cancelled_before(), {});
  run->done = std::move(done);
  run->live.store(1, std::memory_order_relaxed);
  const bool pooled = inter_ && inter_->threads() > 1;
  auto begin = [run, pooled] {
    DataflowWorker w(*run, pooled ? DataflowWorker::Where::kPool : DataflowWorker::Where::kBlocking);
    w.start();
    w.loop();
  };
  try {
    if (pooled) inter_->schedule(begin);
    else run_on_blocking_thread(begin);
  } catch (const std::bad_alloc&) {
    begin();
  }
}

}  // namespace weft_engine::runtime
