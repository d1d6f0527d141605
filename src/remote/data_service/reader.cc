// A reader of the tf.data service: one consumer of an iteration. A thread hears from the dispatcher which tasks there are; others ask the workers for elements, at most one at a
// time from each task. All of them share the reader's state and end after it.
#include <algorithm>
#include <deque>

#include "core/log.h"
#include "core/threads.h"
#include "remote/data_service/client.h"
#include "remote/data_service/worker.h"

namespace weft_engine::remote::data_service {

namespace {

using Clock = std::chrono::steady_clock;
using Ms = std::chrono::milliseconds;

struct Task {
  TaskInfo info;
  std::shared_ptr<Peer> peer;
  bool in_use = false, ended = false, removed = false, skipped_previous_round = false;
  int64_t round = 0;
  int failures = 0;
  Clock::time_point not_before{};  // a worker that did not answer is left alone for a while
};

struct Slot {
  bool ready = false, skip = false;
  std::vector<Tensor> element;
};

class Consumer : public std::enable_shared_from_this<Consumer> {
 public:
  explicit Consumer(op::DataServiceParams params) : params_(std::move(params)), coordinated_(params_.num_consumers >= 0) {}

  Status start(op::CancellationManager* cancellation) {
    WEFT_ASSIGN(dispatcher_, Peer::to(params_.address, kDispatcherService));
    const StopWhenCancelled guard(cancellation, opening_);
    ProtoWriter job;
    job.bytes(1, params_.dataset_id);
    job.bytes(2, encode_processing_mode(params_.processing_mode));
    if (!params_.job_name.empty()) job.bytes(3, params_.job_name);
    if (coordinated_) job.int64(4, params_.num_consumers);
    if (params_.cross_trainer_cache) job.boolean(5, true);
    job.int64(6, params_.target_workers == "LOCAL" ? 3 : params_.target_workers == "ANY" ? 2 : 1);
    WEFT_ASSIGN(Message m, dispatcher_->retry(cat("Failed to get or create job for dataset with id ", params_.dataset_id), "GetOrCreateJob",
                                              job.take(), *opening_, 0, cancellation));
    int64_t job_id = 0;
    WEFT_RETURN_IF_ERROR(read_message("GetOrCreateJobResponse", m.flatten(), [&](ProtoReader& r) {
      if (r.field() == 1) job_id = r.int64();
    }));
    ProtoWriter iteration;
    iteration.int64(1, job_id);
    iteration.int64(2, params_.repetition);
    WEFT_ASSIGN(m, dispatcher_->retry(cat("Failed to get or create iteration for job with id ", job_id), "GetOrCreateIteration", iteration.take(),
                                      *opening_, 0, cancellation));
    return read_message("GetOrCreateIterationResponse", m.flatten(), [&](ProtoReader& r) {
      if (r.field() == 1) client_id_ = r.int64();
    });
  }

  Status next(op::CancellationManager* cancellation, std::vector<Tensor>& out, bool& end) {
    std::unique_lock lock(mutex_);
    if (!std::exchange(managed_, true)) {
      const Status s = start_thread([self = shared_from_this()] { self->manage(); });
      if (!s.ok()) return s;
    }
    const auto ready = [&] { return !status_.ok() || stopped_ || (!slots_.empty() && slots_.front()->ready) || finished(); };
    while (true) {
      op::CancellationManager::Token token = 0;
      bool step_cancelled = false;
      if (cancellation) {
        token = cancellation->get_token();
        // The callback runs without our lock, and must not need this reader to be there.
        lock.unlock();
        auto self = shared_from_this();
        const bool live = cancellation->register_callback(token, [self] {
          std::lock_guard inner(self->mutex_);
          self->changed_.notify_all();
        });
        lock.lock();
        step_cancelled = !live;
        if (live) op::CancellationManager::wait(lock, changed_, cancellation, [&] { return ready() || cancellation->cancelled(); });
        lock.unlock();
        if (live) cancellation->deregister_callback(token);
        lock.lock();
        step_cancelled = step_cancelled || (cancellation->cancelled() && !ready());
      } else if (!wait_for_others(lock, changed_, ready)) {
        return cancelled("the process ends");
      }
      if (step_cancelled) return cancelled("Data service iterator was cancelled");
      WEFT_RETURN_IF_ERROR(status_);
      if (!slots_.empty() && slots_.front()->ready) {
        const auto slot = std::move(slots_.front());
        slots_.pop_front();
        changed_.notify_all();
        if (slot->skip) continue;
        out = std::move(slot->element);
        return {};
      }
      if (slots_.empty() && finished()) {
        end = true;
        return {};
      }
      if (stopped_) return cancelled("Data service iterator was cancelled");
    }
  }

  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
      slots_.clear();
      changed_.notify_all();
    }
    stop_->stop();
    if (managed_) return;  // the thread tells the dispatcher
    start_thread([self = shared_from_this()] { self->release(); }).ok();
  }

 private:
  // With the lock held.
  bool wait_for_more() const {
    if (finish_iteration_) return !iteration_finished_;
    return tasks_.empty() || std::any_of(tasks_.begin(), tasks_.end(), [](const auto& t) { return !t->ended; });
  }
  bool finished() const { return readers_ == 0 && slots_.empty() && !wait_for_more(); }
  int64_t limit() const {
    if (params_.max_outstanding_requests > 0) return params_.max_outstanding_requests;
    return 2 * int64_t(tasks_.size());
  }

  // ---- the dispatcher

  void manage() {
    const double refresh = params_.refresh_ms > 0 ? double(params_.refresh_ms) / 1000 : 1;
    constexpr double kFirst = 0.002, kSoon = 0.05, kNoTask = 0.2;
    double again = kFirst;  // until the dispatcher knows what we know
    while (true) {
      heartbeat();
      std::unique_lock lock(mutex_);
      if (!stopped_) start_readers();
      // Where tasks have just ended, or a task waits for all consumers, the dispatcher's next word comes soon.
      const auto soon = [&] { return !tasks_.empty() && std::all_of(tasks_.begin(), tasks_.end(), [](const auto& t) { return t->ended; }); };
      double pause = tasks_.empty() ? std::min(refresh, kNoTask) : refresh;
      const bool hurry = soon() || round_limit_;
      if (hurry) {
        pause = std::min(refresh, again);
        again = std::min(2 * again, kSoon);
      } else {
        again = kFirst;
      }
      const auto until = Clock::now() + std::chrono::microseconds(int64_t(pause * 1e6));
      changed_.wait_until(lock, until, [&] { return stopped_ || !status_.ok() || iteration_finished_ || (!hurry && soon()); });
      if (stopped_ || process_ending.load(std::memory_order_relaxed)) break;
      if (!status_.ok() || iteration_finished_) {
        lock.unlock();
        // Only the reader's end is left to wait for; the dispatcher must not take it for gone before.
        if (!stop_->sleep(std::max(refresh, 1.0))) break;
      }
    }
    release();
  }

  void release() {
    ProtoWriter w;
    w.int64(1, client_id_);
    constexpr double kLimit = 5;
    Stop own;
    dispatcher_->call("ReleaseIterationClient", Message(w.take()), own, kLimit).status().ok();  // one that is gone collects garbage
  }

  void heartbeat() {
    ProtoWriter w;
    w.int64(1, client_id_);
    {
      std::lock_guard lock(mutex_);
      if (stopped_) return;
      if (coordinated_) {
        w.int64(2, round_);
        if (round_limit_) w.int64(4, *round_limit_);
      }
    }
    constexpr double kLimit = 30;
    auto answer = dispatcher_->call("ClientHeartbeat", Message(w.take()), *stop_, kLimit);
    std::lock_guard lock(mutex_);
    if (!answer.ok()) {
      // A dispatcher that is being restarted: workers go on without it.
      if (!is_preempted(answer.status()) && answer.status().code() != Code::kDeadlineExceeded && !stopped_) fail(answer.status());
      return;
    }
    std::vector<TaskInfo> tasks;
    std::optional<int64_t> block;
    bool done = false;
    Status s = read_message("ClientHeartbeatResponse", answer->flatten(), [&](ProtoReader& r) {
      if (r.field() == 1) {
        auto info = decode_task_info(r.bytes());
        if (info.ok()) tasks.push_back(std::move(info).value());
      }
      if (r.field() == 2) done = r.boolean();
      if (r.field() == 3) block = r.int64();
    });
    if (!s.ok()) return fail(s);
    if (done) iteration_finished_ = true;
    if (!block) round_limit_.reset();
    else if (round_ < *block) round_limit_ = block;  // else the dispatcher sees that it is too late, and asks for another round
    if (!done) update_tasks(tasks);
    changed_.notify_all();
  }

  void update_tasks(const std::vector<TaskInfo>& listed) {
    for (size_t i = 0; i < tasks_.size();) {
      const bool there = std::any_of(listed.begin(), listed.end(), [&](const TaskInfo& t) { return t.task_id == tasks_[i]->info.task_id; });
      if (there) {
        ++i;
        continue;
      }
      tasks_.erase(tasks_.begin() + ptrdiff_t(i));
      if (i < next_task_) --next_task_;
      if (!tasks_.empty() && next_task_ >= tasks_.size()) advance_task();
    }
    for (const TaskInfo& info : listed) {
      if (std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& t) { return t->info.task_id == info.task_id; })) continue;
      if (!wanted(info)) {
        finish_iteration_ = false;
        continue;
      }
      auto task = std::make_shared<Task>();
      task->info = info;
      std::string address = info.worker_address;
      bool found = params_.transfer_protocol.empty() || params_.transfer_protocol == "grpc";
      for (const std::string& bytes : info.transfer_servers) {
        const TransferServer server = decode_transfer_server(bytes);
        if (server.protocol == "grpc") address = server.address;
      }
      if (!found) return fail(not_found("Protocol '", params_.transfer_protocol, "' is not available for worker '", info.worker_address, "'."));
      auto peer = Peer::to(address, kWorkerService);
      if (!peer.ok()) return fail(peer.status());
      task->peer = std::move(peer).value();
      tasks_.push_back(std::move(task));
    }
  }

  bool wanted(const TaskInfo& info) const {
    if (coordinated_ || params_.target_workers == "ANY") return true;
    const bool local = DataWorker::find_local(info.worker_address) != nullptr;
    if (params_.target_workers == "LOCAL") return local;
    const bool colocated = std::any_of(info.worker_tags.begin(), info.worker_tags.end(), [](std::string tag) {
      for (char& c : tag) c = char(std::toupper(static_cast<unsigned char>(c)));
      return tag == "COLOCATED";
    });
    return local || !colocated;
  }

  void fail(const Status& s) {
    if (status_.ok()) status_ = s;
    changed_.notify_all();
  }

  // ---- the workers

  void start_readers() {
    const auto wanted_readers = std::min<int64_t>(int64_t(tasks_.size()), limit());
    while (readers_ < wanted_readers && status_.ok() && !stopped_) {
      ++readers_;
      const Status s = start_thread([self = shared_from_this()] { self->read(); });
      if (s.ok()) continue;
      --readers_;
      if (readers_ == 0) fail(s);
      return;
    }
  }

  void read() {
    std::unique_lock lock(mutex_);
    while (!stopped_ && status_.ok() && wait_for_more() && !process_ending.load(std::memory_order_relaxed)) {
      const auto task = choose();
      if (!task) {
        changed_.wait_for(lock, Ms(100));
        continue;
      }
      task->in_use = true;
      ++outstanding_;
      auto slot = std::make_shared<Slot>();
      if (coordinated_) slots_.push_back(slot);  // its place in the order of all consumers
      lock.unlock();
      Status s = without_exceptions([&] { return get(*task, *slot); });
      lock.lock();
      task->in_use = false;
      --outstanding_;
      if (!s.ok() && !stopped_)
        fail(with_prefix(cat("Failed to get element from worker ", task->info.worker_address),
                         is_preempted(s) ? s : with_prefix("Failed to get an element, with a nonretryable error", s)));
      changed_.notify_all();
    }
    --readers_;
    changed_.notify_all();
  }

  std::shared_ptr<Task> choose() {
    if (int64_t(slots_.size()) + (coordinated_ ? 0 : outstanding_) >= limit()) return nullptr;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const auto task = tasks_[next_task_];
      if (coordinated_ && (task->in_use || (round_limit_ && round_ >= *round_limit_))) return nullptr;
      const bool pass =
          round_ < task->info.starting_round || task->in_use || task->ended || task->removed || (!coordinated_ && Clock::now() < task->not_before);
      if (!pass) task->round = round_;
      advance_task();
      if (!pass) return task;
    }
    return nullptr;
  }
  void advance_task() {
    if (++next_task_ < tasks_.size()) return;
    next_task_ = 0;
    ++round_;
  }

  // One element; the slot is ready afterwards, or the error is everyone's.
  Status get(Task& task, Slot& slot) {
    GetElementRequest q;
    q.task_id = task.info.task_id;
    q.skipped_previous_round = task.skipped_previous_round;
    if (coordinated_) {
      q.consumer_index = params_.consumer_index;
      q.round_index = task.round;
      q.allow_skip = true;
    }
    q.trainer_id = params_.trainer_id;
    for (int tries = 0;; ++tries) {
      auto result = ask(task, q);
      if (result.ok()) return take(task, slot, std::move(result).value());
      if (!is_preempted(result.status())) return with_prefix("Failed to get element", result.status());
      if (stop_->stopped()) return {};
      if (!coordinated_) {
        std::lock_guard lock(mutex_);
        task.not_before = Clock::now() + Ms(std::min(50 << std::min(task.failures++, 4), 1000));
        return {};
      }
      if (tries > 0) {
        WEFT_ASSIGN(bool removed, maybe_remove(task));
        if (removed) {
          std::lock_guard lock(mutex_);
          task.removed = slot.ready = slot.skip = true;
          return {};
        }
      }
      if (!stop_->sleep(std::min(0.05 * (1 << std::min(tries, 5)), 1.0))) return {};
    }
  }

  Result<GetElementResult> ask(const Task& task, const GetElementRequest& q) {
    if (const auto local = DataWorker::find_local(task.info.worker_address)) return local->get_element(q);
    WEFT_ASSIGN(Message m, task.peer->call("GetElement", Message(encode_get_element(q)), *stop_));
    return decode_element(m.flatten());
  }

  Status take(Task& task, Slot& slot, GetElementResult result) {
    std::lock_guard lock(mutex_);
    task.failures = 0;
    task.skipped_previous_round = result.skip;
    slot.ready = true;
    slot.skip = result.skip || result.end_of_sequence;
    if (result.end_of_sequence) task.ended = true;
    slot.element = std::move(result.components);
    if (!coordinated_ && !slot.skip && !stopped_) slots_.push_back(std::make_shared<Slot>(std::move(slot)));
    return {};
  }

  Result<bool> maybe_remove(const Task& task) {
    ProtoWriter w;
    w.int64(1, task.info.task_id);
    w.int64(2, params_.consumer_index);
    w.int64(3, task.round);
    WEFT_ASSIGN(Message m, dispatcher_->retry("Failed to request task removal", "MaybeRemoveTask", w.take(), *stop_, 0));
    bool removed = false;
    WEFT_RETURN_IF_ERROR(read_message("MaybeRemoveTaskResponse", m.flatten(), [&](ProtoReader& r) {
      if (r.field() == 1) removed = r.boolean();
    }));
    return removed;
  }

  const op::DataServiceParams params_;
  const bool coordinated_;
  const std::shared_ptr<Stop> stop_ = std::make_shared<Stop>(), opening_ = std::make_shared<Stop>();
  std::shared_ptr<Peer> dispatcher_;
  int64_t client_id_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Task>> tasks_;
  std::deque<std::shared_ptr<Slot>> slots_;  // elements that wait, in order
  size_t next_task_ = 0;
  int64_t round_ = 0, outstanding_ = 0, readers_ = 0;
  std::optional<int64_t> round_limit_;  // no round from this one on, until the dispatcher says so
  bool managed_ = false, stopped_ = false, iteration_finished_ = false, finish_iteration_ = true;
  Status status_;
};

class Reader final : public op::DataServiceReader {
 public:
  explicit Reader(std::shared_ptr<Consumer> consumer) : consumer_(std::move(consumer)) {}
  ~Reader() override { consumer_->stop(); }
  Status next(op::CancellationManager* cancellation, std::vector<Tensor>& out, bool& end) override { return consumer_->next(cancellation, out, end); }

 private:
  const std::shared_ptr<Consumer> consumer_;
};

}  // namespace

Result<std::unique_ptr<op::DataServiceReader>> open_reader(const op::DataServiceParams& params, op::CancellationManager* cancellation) {
  if (params.target_workers == "LOCAL" && params.num_consumers >= 0)
    return invalid_argument("Coordinated reads require non-local workers, but `target_workers` is \"LOCAL\".");
  auto consumer = std::make_shared<Consumer>(params);
  WEFT_RETURN_IF_ERROR(consumer->start(cancellation));
  return std::unique_ptr<op::DataServiceReader>(std::make_unique<Reader>(std::move(consumer)));
}

}  // namespace weft_engine::remote::data_service
