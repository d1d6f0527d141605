#include "remote/data_service/task_runner.h"

#include <algorithm>
#include <deque>

#include "core/threads.h"

namespace weft_engine::remote::data_service {

namespace {

using Ms = std::chrono::milliseconds;

// Elements from a thread that walks the iterator, at most `limit` ahead.
class Prefetch {
 public:
  Prefetch(std::unique_ptr<op::ServedIterator> iterator, std::shared_ptr<op::CancellationManager> cancellation, std::shared_ptr<const void> keep,
           size_t limit)
      : shared_(std::make_shared<Shared>()) {
    shared_->iterator = std::move(iterator);
    shared_->cancellation = std::move(cancellation);
    shared_->keep = std::move(keep);
    shared_->limit = limit;
    const Status s = start_thread([shared = shared_] { walk(*shared); });
    if (!s.ok()) shared_->status = s;
  }
  ~Prefetch() { cancel(cancelled("the task is gone")); }

  // Waits for n elements, or the end, which is given again and again. `seconds` below zero: for ever. Empty: not in time.
  Result<std::vector<GetElementResult>> take(size_t n, double seconds) {
    std::unique_lock lock(shared_->mutex);
    const auto ready = [&] { return shared_->ready.size() >= n || shared_->ended || !shared_->status.ok(); };
    if (seconds < 0) wait_for_others(lock, shared_->changed, ready);
    else shared_->changed.wait_for(lock, Ms(int64_t(seconds * 1000)), ready);
    std::vector<GetElementResult> out;
    // What was made before an error is given before it.
    if (shared_->ready.size() < n && !shared_->status.ok()) return shared_->status;
    if (shared_->ready.size() < n && !shared_->ended) return out;
    while (out.size() < n) {
      GetElementResult one;
      if (shared_->ready.empty()) {
        one.end_of_sequence = true;
      } else {
        one = std::move(shared_->ready.front());
        shared_->ready.pop_front();
      }
      out.push_back(std::move(one));
    }
    shared_->changed.notify_all();
    return out;
  }
  void cancel(const Status& why) {
    shared_->cancellation->start_cancel();
    std::lock_guard lock(shared_->mutex);
    if (shared_->status.ok()) shared_->status = why;
    shared_->cancelled = true;
    shared_->changed.notify_all();
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::shared_ptr<const void> keep;
    std::shared_ptr<op::CancellationManager> cancellation;
    std::unique_ptr<op::ServedIterator> iterator;  // used by the thread alone; before `keep` when destroyed
    std::deque<GetElementResult> ready;
    size_t limit = 1;
    int64_t index = 0;
    bool ended = false, cancelled = false;
    Status status;
  };
  static void walk(Shared& shared) {
    while (true) {
      {
        std::unique_lock lock(shared.mutex);
        shared.changed.wait(lock, [&] { return shared.cancelled || shared.ready.size() < shared.limit; });
        if (shared.cancelled) break;
      }
      GetElementResult result;
      bool end = false;
      Status s = without_exceptions([&] { return shared.iterator->next(result.components, end); });
      std::lock_guard lock(shared.mutex);
      if (!s.ok() && shared.status.ok()) shared.status = std::move(s);
      shared.ended = end;
      if (!shared.status.ok() || end) {
        shared.changed.notify_all();
        break;
      }
      result.element_index = shared.index++;
      shared.ready.push_back(std::move(result));
      shared.changed.notify_all();
    }
    shared.iterator.reset();
  }
  const std::shared_ptr<Shared> shared_;
};

class FirstComeFirstServed final : public TaskRunner {
 public:
  explicit FirstComeFirstServed(std::shared_ptr<Prefetch> prefetch) : prefetch_(std::move(prefetch)) {}
  Result<GetElementResult> next(const GetElementRequest&) override {
    WEFT_ASSIGN(std::vector<GetElementResult> one, prefetch_->take(1, -1));
    if (one.empty()) return cancelled("the process ends");
    return std::move(one[0]);
  }
  void cancel() override { prefetch_->cancel(cancelled("tf.data service FCFS task is cancelled.")); }

 private:
  const std::shared_ptr<Prefetch> prefetch_;
};

// In each round every consumer gets one element; a round begins when all have asked.
class RoundRobin final : public TaskRunner {
 public:
  RoundRobin(std::shared_ptr<Prefetch> prefetch, int64_t consumers) : prefetch_(std::move(prefetch)), consumers_(consumers) {}

  Result<GetElementResult> next(const GetElementRequest& q) override {
    const int64_t consumer = q.consumer_index.value_or(-1), round = q.round_index.value_or(-1);
    if (consumer < 0 || round < 0)
      return failed_precondition("RoundRobinTaskRunner needs to know the consumer index and element index of each request.");
    if (consumer >= consumers_)
      return failed_precondition("Requesting data for consumer index ", consumer, ", but the task is configured for only ", consumers_, " consumers");
    std::unique_lock lock(mutex_);
    first_round_ = std::min(first_round_, round);
    waiting_[round][consumer] = q.skipped_previous_round;
    WEFT_RETURN_IF_ERROR(begin_round(lock, q, round));
    wait_for_others(lock, changed_, [&] { return cancelled_ || !status_.ok() || round_ >= round; });
    if (const auto it = waiting_.find(round); it != waiting_.end()) {
      it->second.erase(consumer);
      if (it->second.empty()) waiting_.erase(it);
    }
    WEFT_RETURN_IF_ERROR(status_);
    if (round_ < round) return cancelled("Worker is shutting down.");
    if (round_ != round)
      return failed_precondition("Consumer ", consumer, " requested data for round ", round, ", but the current round has already reached ", round_,
                                 ". This may indicate that the consumer was restarted with the same iteration name.`");
    GetElementResult out;
    if (skipped_) {
      out.skip = true;
      return out;
    }
    return elements_[size_t(consumer)];
  }
  void cancel() override {
    prefetch_->cancel(cancelled("Worker is shutting down."));
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    changed_.notify_all();
  }

 private:
  Status begin_round(std::unique_lock<std::mutex>& lock, const GetElementRequest& q, int64_t round) {
    constexpr double kWaitBeforeSkip = 0.1;  // seconds; then consumers read from other workers meanwhile
    const auto size = [&](int64_t r) {
      const auto it = waiting_.find(r);
      return it == waiting_.end() ? size_t(0) : it->second.size();
    };
    double wait = -1;
    int64_t target = round;
    bool skip = false;
    if (round_ < round && int64_t(size(round)) == consumers_) {
      if (q.allow_skip) wait = kWaitBeforeSkip;
    } else if (round_ < 0 && int64_t(size(first_round_) + size(first_round_ + 1)) == consumers_ && size(first_round_ + 1) > 0) {
      // After a restart of the worker consumers may be a round apart: those behind are served alone.
      target = first_round_;
      skip = waiting_[first_round_ + 1].begin()->second;
    } else {
      return {};
    }
    if (filling_) return {};
    filling_ = true;
    lock.unlock();
    Result<std::vector<GetElementResult>> got = skip ? std::vector<GetElementResult>() : prefetch_->take(size_t(consumers_), wait);
    lock.lock();
    filling_ = false;
    changed_.notify_all();
    if (got.ok() && !got->empty() && got->back().end_of_sequence)
      status_ = failed_precondition(
          "Encountered end of sequence on a round-robin read iterator. Please ensure that the dataset used for round-robin reading has infinite "
          "cardinality, e.g. by adding a .repeat() transformation at the end.");
    else if (!got.ok()) status_ = got.status();
    WEFT_RETURN_IF_ERROR(status_);
    round_ = target;
    skipped_ = got->empty();
    elements_ = std::move(got).value();
    return {};
  }

  const std::shared_ptr<Prefetch> prefetch_;
  const int64_t consumers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, std::map<int64_t, bool>> waiting_;  // round -> consumer -> skipped the round before
  std::vector<GetElementResult> elements_;
  int64_t first_round_ = INT64_MAX, round_ = -1;
  bool skipped_ = false, cancelled_ = false, filling_ = false;
  Status status_;
};

// A window of the last elements, which each trainer goes through at its own speed.
class CrossTrainerCache final : public TaskRunner {
 public:
  CrossTrainerCache(std::shared_ptr<Prefetch> prefetch, int64_t bytes) : prefetch_(std::move(prefetch)), limit_(bytes) {}
  Result<GetElementResult> next(const GetElementRequest& q) override {
    if (q.trainer_id.empty()) return internal_error("tf.data service cross-trainer cache requires a non-empty trainer ID.");
    std::unique_lock lock(mutex_);
    constexpr size_t kMostTrainers = 1 << 16;
    if (!at_.contains(q.trainer_id) && at_.size() >= kMostTrainers) return resource_exhausted("more than ", kMostTrainers, " trainers share a cache");
    while (true) {
      int64_t& at = at_[q.trainer_id];
      at = std::max(at, first_);
      if (at < first_ + int64_t(window_.size())) return window_[size_t(at++ - first_)];
      if (filling_) {
        changed_.wait(lock);
        continue;
      }
      filling_ = true;
      lock.unlock();
      auto got = prefetch_->take(1, -1);
      lock.lock();
      filling_ = false;
      changed_.notify_all();
      if (!got.ok()) return got.status();
      if (got->empty()) return cancelled("the process ends");
      if ((*got)[0].end_of_sequence)
        return invalid_argument("Cross-trainer caching requires the input dataset to be infinite. However, it reached the end of sequence.");
      add(std::move((*got)[0]));
    }
  }
  void cancel() override { prefetch_->cancel(cancelled("tf.data service cross-trainer cache task is cancelled.")); }

 private:
  static int64_t size_of(const GetElementResult& e) {
    int64_t n = 64;
    for (const Tensor& t : e.components) n += int64_t(t.byte_size());
    return n;
  }
  void add(GetElementResult e) {
    bytes_ += size_of(e);
    window_.push_back(std::move(e));
    while (bytes_ > limit_ && window_.size() > 1) {
      bytes_ -= size_of(window_.front());
      window_.pop_front();
      ++first_;
    }
  }
  const std::shared_ptr<Prefetch> prefetch_;
  const int64_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<GetElementResult> window_;
  int64_t first_ = 0, bytes_ = 0;
  bool filling_ = false;
  std::map<std::string, int64_t> at_;  // by trainer
};

}  // namespace

Result<std::shared_ptr<TaskRunner>> make_task_runner(const TaskDef& task, int64_t cardinality, int64_t cache_bytes,
                                                     std::unique_ptr<op::ServedIterator> iterator,
                                                     std::shared_ptr<op::CancellationManager> cancellation, std::shared_ptr<const void> keep) {
  constexpr int64_t kUnknown = -2, kMostConsumers = 1 << 20;
  const auto prefetch = [&](size_t limit) {
    return std::make_shared<Prefetch>(std::move(iterator), std::move(cancellation), std::move(keep), limit);
  };
  if (task.num_consumers) {
    if (*task.num_consumers < 1 || *task.num_consumers > kMostConsumers) return invalid_argument("a task with ", *task.num_consumers, " consumers");
    if (cardinality >= 0)
      return failed_precondition("Round robin reads require that the input dataset has infinite cardinality, but the dataset has cardinality ",
                                 cardinality, ". Consider adding a `.repeat()` transformation to the dataset.");
    return std::shared_ptr<TaskRunner>(std::make_shared<RoundRobin>(prefetch(size_t(*task.num_consumers)), *task.num_consumers));
  }
  if (task.use_cross_trainer_cache) {
    if (cardinality >= 0 && cardinality != kUnknown)
      return invalid_argument("Cross-trainer caching requires the input dataset to be infinite. Got input with cardinality ", cardinality);
    constexpr int64_t kDefaultBytes = int64_t(10) << 30;
    return std::shared_ptr<TaskRunner>(std::make_shared<CrossTrainerCache>(prefetch(1), cache_bytes > 0 ? cache_bytes : kDefaultBytes));
  }
  return std::shared_ptr<TaskRunner>(std::make_shared<FirstComeFirstServed>(prefetch(2)));
}

}  // namespace weft_engine::remote::data_service
