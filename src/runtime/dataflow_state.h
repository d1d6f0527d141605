// What one run of a Dataflow holds: frames and iterations with their values and counts, the work that is
// ready, and the first error.
#pragma once

#include <condition_variable>
#include <deque>
#include <thread>

#include "op/cancellation.h"
#include "runtime/dataflow.h"

namespace weft_engine::runtime {

// A value on its way: a tensor, or the variable behind a reference.
struct Slot {
  Tensor tensor;
  RefVariable* ref = nullptr;
  bool has() const { return ref || tensor.valid(); }
  void clear() {
    if (tensor.valid()) tensor = Tensor();
    ref = nullptr;
  }
};

// The outputs of an item; refs is null where there is none.
struct Outputs {
  Tensor* tensors;
  RefVariable** refs = nullptr;
  explicit Outputs(Tensor* t, RefVariable** r = nullptr) : tensors(t), refs(r) {}
  explicit Outputs(Slot& s) : tensors(&s.tensor), refs(s.ref ? &s.ref : nullptr) {}
  RefVariable* ref(uint32_t i) const { return refs ? refs[i] : nullptr; }
  bool has(uint32_t i) const { return tensors[i].valid() || ref(i); }
};

// What a node still waits for, in one number, so that one atomic step tells who makes it ready: the low
// half counts inputs that have not come, the high half those that came dead. A Merge has in bit 0 of
// the low half "no live input yet" and counts its control inputs by two; the first live input claims it.
inline constexpr uint64_t kDeadInput = uint64_t(1) << 32;
inline constexpr uint64_t kClaimed = uint64_t(1) << 63;
inline uint32_t waiting(uint64_t count) { return uint32_t(count); }
inline uint64_t dead_inputs(uint64_t count) { return (count & ~kClaimed) >> 32; }

struct Frame;

struct Iteration {
  explicit Iteration(const Dataflow::FramePlan& plan);
  void reset(const Dataflow::FramePlan& plan);  // counts as at the start; slots are empty already
  void clear(const Dataflow::FramePlan& plan);  // drops what is left in slots

  Frame* frame = nullptr;
  int64_t index = 0;
  std::atomic<int64_t> outstanding{0};  // items that are ready or run, and frames inside; not counted in the root
  std::unique_ptr<Slot[]> slots;
  std::unique_ptr<std::atomic<uint64_t>[]> counts;
  std::vector<Frame*> children;  // guarded by the frame's mutex
};

struct Frame {
  const Dataflow::FramePlan* plan = nullptr;
  Frame* parent = nullptr;
  Iteration* parent_iteration = nullptr;
  uint64_t id = 0;  // as messages name it

  std::mutex mutex;  // guards what follows
  std::deque<std::unique_ptr<Iteration>> iterations;  // those in flight, oldest first
  std::vector<std::unique_ptr<Iteration>> spare;
  int64_t count = 0;  // index of the newest iteration
  int pending_inputs = 0;
  int64_t parallel_iterations = 1;
  struct Held {
    const Dataflow::Item* item;
    Slot value;
    bool dead;
  };
  std::vector<Held> invariants;  // there in all iterations
  std::vector<Held> next;        // wait until another iteration may start
  std::vector<const Dataflow::Item*> dead_exits;
};

// The places of one run, kept for the next.
struct DataflowMemory {
  explicit DataflowMemory(const std::vector<Dataflow::FramePlan>& plans);
  std::unique_ptr<Iteration> root;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<std::vector<Frame*>> spare;  // frames that are not in use, by plan
  bool all_free() const;
};

// An item that may run.
struct Ready {
  const Dataflow::Item* item;
  Iteration* iteration;
  bool dead;
  uint32_t cost;
};

struct DataflowRun : std::enable_shared_from_this<DataflowRun> {
  DataflowRun(Dataflow& p, const KernelEnv& e);
  // Ties the run to the caller's cancellation. False: that was cancelled already.
  bool watch(CancellationManager* parent);
  // For the caller's thread, now and again: an interrupt of the caller ends the run.
  void poll_interrupt() {
    if (core::time_to_look.load(std::memory_order_relaxed) && parent_cancellation_) parent_cancellation_->asked_to_stop();
  }
  void wait_or_poll(std::unique_lock<std::mutex>& lock);
  void fail(Status s);  // keeps the first error and stops everything else
  bool aborted() const { return aborted_.load(std::memory_order_relaxed); }

  // Gives work to whoever is free: the waiting caller, or a pool thread.
  void share(std::span<const Ready> work);
  void run_blocking(const Ready& r);  // on a thread of its own, or the waiting caller
  // A worker that has nothing more to do takes shared work (true), or leaves.
  bool take_work(std::vector<Ready>& queue, bool counted);
  bool wants_help() const { return active_.load(std::memory_order_relaxed) < max_active_; }
  void help_until_finished(class DataflowWorker& caller);
  void before_blocking();
  void after_blocking();
  void end_of(int64_t n = 1);  // n of the things counted in `live` have ended
  Status finish(std::span<Tensor> results);

  Frame* new_frame(const Dataflow::FramePlan& plan);
  void free_frame(Frame* f);

  Dataflow& plan;
  KernelEnv env;
  const int call_depth;  // of whoever started it (core/call_depth.h)
  std::span<Tensor> args, rets;
  std::vector<Tensor> owned_args, owned_rets;
  FunctionHandle::Done done;  // of an asynchronous run

  Frame root_frame;
  std::unique_ptr<DataflowMemory> memory;

  // Workers, kernels that will call back, and shared work nobody has taken: the run ends when it is 0.
  std::atomic<int64_t> live{0};
  std::atomic<bool> caller_idle{false};

 private:
  void wake_worker(std::unique_lock<std::mutex>& lock);

  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  Status status_;
  std::vector<Ready> inbox_;         // for anyone
  std::vector<Ready> caller_inbox_;  // for the caller alone
  std::atomic<int> active_{1};       // workers that run or are on their way; changed under the mutex
  const int max_active_;
  bool finished_ = false, closed_ = false, failing_ = false;
  const bool receives_;
  std::thread::id failing_thread_;
  std::unique_ptr<CancellationManager> cancellation_;
  CancellationManager* parent_cancellation_ = nullptr;
  CancellationManager::Token cancel_token_ = 0;
};

// Runs items, on one thread, until it finds none.
class DataflowWorker {
 public:
  enum class Where { kCaller, kPool, kBlocking };
  DataflowWorker(DataflowRun& run, Where where) : run_(run), plan_(run.plan), where_(where) {}

  void start() noexcept;  // the items that wait for nothing
  void start_with(const Ready& r) noexcept;
  void loop() noexcept;   // an exception is the error of the run
  // Finishes an asynchronous item on a thread that is none of ours, and shares what follows.
  void finish_on_worker(struct AsyncItem& a) noexcept;

  std::vector<Ready> queue;

 private:
  using Item = Dataflow::Item;
  void run_queue();
  void process(const Ready& r);
  void process_dead(const Ready& r);
  void run_kernel_item(const Item& item, Iteration* it);
  void run_async_item(const Item& item, Iteration* it);
  template <class Back>
  void begin_async(const std::shared_ptr<struct AsyncItem>& a, const Back& back);
  void finish_async(struct AsyncItem& a);
  void run_switch(const Item& item, Iteration* it);
  void run_merge(const Item& item, Iteration* it);
  Status run_send(const Item& item, Iteration* it, bool dead);
  // Calls use(key) with the name of a message in this iteration.
  template <class Use>
  auto with_key(const Item& item, const Iteration* it, Use use) const;
  Status resolve_refs(const Item& item, Slot* slots);
  void prepare_inputs(const Item& item, Slot* slots, const Tensor** inputs, RefVariable** refs) const;
  Slot take_input(const Item& item, Iteration* it, uint32_t i);
  void fail(const Item& item, Status s);

  // Hands outputs on. `values` may be moved from.
  void propagate(const Item& item, Iteration* it, Outputs values, bool dead);
  int64_t activate(const Item& item, Iteration* to, Outputs values, bool dead, bool keep);
  bool arrive_at_merge(const Dataflow::Edge& e, Iteration* to, Outputs values, bool live, bool from_enter, bool keep, bool& dead);
  void push(uint32_t item, Iteration* it, bool dead);
  void enter(const Item& item, Iteration* it, Slot& value, bool dead);
  void next_iteration(const Item& item, Iteration* it, Slot& value);
  Iteration* start_iteration(Frame& f);
  void item_ended(Iteration* it, int64_t more);
  void clean_up(Frame* f);
  void maybe_share();
  bool should_time(const Item& item);
  void trace(const Item& item, int64_t start, const Tensor* outputs) const;

  DataflowRun& run_;
  Dataflow& plan_;
  const Where where_;
  uint64_t queued_cost_ = 0;
  uint32_t ticks_ = 0;
  std::vector<Ready> deferred_;  // may block: run when there is nothing else to do here
};

// An asynchronous item while it waits.
struct AsyncItem : std::enable_shared_from_this<AsyncItem> {
  std::shared_ptr<DataflowRun> run;
  const Dataflow::Item* item = nullptr;
  Iteration* iteration = nullptr;
  std::vector<const Tensor*> inputs;
  std::vector<Tensor> outputs;
  std::vector<RefVariable*> input_refs, output_refs;
  std::unique_ptr<KernelContext> context;
  int64_t start = 0;
  // Both the worker that started it and whoever calls back pass here; the second goes on.
  std::atomic<bool> passed{false};
  Status status;
  bool dead = false;
};

}  // namespace weft_engine::runtime
