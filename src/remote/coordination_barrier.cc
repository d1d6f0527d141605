// Barriers of the coordination service. One id may be used again and again; its counter tells the calls apart.
#include <algorithm>

#include "remote/coordination_service.h"

namespace weft_engine::remote {

void CoordinationService::barrier(const BarrierRequest& request, BarrierDone done) {
  After after;
  {
    std::lock_guard lock(mutex_);
    barrier_locked(request, std::move(done), after);
  }
  run(after);
}

void CoordinationService::barrier_locked(const BarrierRequest& q, BarrierDone done, After& after) {
  const std::string task = q.source.name();
  if (stopped_) {
    Status s =
        barrier_error(internal_error("Barrier ", q.id, "::", q.counter, " requested after coordination service has shut down."), q.id, q.counter);
    after.push_back([done = std::move(done), s, counter = q.counter] { done(s, counter); });
    return;
  }
  Barrier& b = barriers_[q.id];
  int64_t counter = q.counter;
  bool begins = (b.counter < 0 && counter == 0) || (b.passed && counter == b.counter + 1);
  const bool once = q.id == devices_barrier_ || q.id == shutdown_barrier_;
  if (b.passed && q.source.recoverable && counter == 0 && !once) {  // it has restarted
    begins = true;
    counter = b.counter + 1;
  }
  if (begins) {
    b.id = q.id;
    b.counter = counter;
    if (!begin_barrier(b, q, done, after)) return;
  }
  if (auto it = b.waiting.find(task); it != b.waiting.end()) {
    Status s = cancelled("Cancelled because there's a more recent barrier call for ", b.name(), " from the same task.");
    after.push_back([old = std::move(it->second), s, c = b.counter] { old(s, c); });
  }
  b.waiting[task] = std::move(done);
  if (!begins && counter != b.counter && !(q.source.recoverable && counter == 0)) {
    const char* reason =
        counter == 0 || b.counter <= 0
            ? "The service or task probably restarted, check the earlier logs to debug further. Usually, a restart on the stale tasks will "
              "resolve the issue."
            : "One task is probably way too quick / slow in its execution. For example, one task started a barrier early, which timed out, "
              "and started a second barrier before the late task even joined once.";
    return pass(b,
                barrier_error(internal_error("Barrier (", q.id, "::", counter, ") is invoked by the task, but the service thinks it is the ",
                                             b.counter, "-th instance. ", reason),
                              q.id, b.counter),
                after);
  }
  if (!check_barrier_tasks(b, q, after)) return;
  if (b.passed) {  // asked again: the same answer
    Status result = b.result;
    if (q.id == shutdown_barrier_) {
      if (Status s = disconnect(q.source, after); !s.ok()) result = std::move(s);
    } else if (q.id == kRegisterBarrier && result.ok()) {  // it came back
      Task& t = tasks_.at(task);
      connect(t, t.incarnation);
      state_changed(after);
    }
    after.push_back([done = std::move(b.waiting[task]), result, c = b.counter] { done(result, c); });
    b.waiting.erase(task);
    return;
  }
  b.there[task] = true;
  if (std::all_of(b.there.begin(), b.there.end(), [](const auto& t) { return t.second; })) pass(b, {}, after);
}

bool CoordinationService::begin_barrier(Barrier& b, const BarrierRequest& q, const BarrierDone& done, After& after) {
  b.passed = false;
  b.result = {};
  b.first = q.source;
  b.waiting.clear();
  constexpr int64_t kLongestMs = int64_t(365) * 24 * 3600 * 1000;
  b.deadline = Clock::now() + std::chrono::milliseconds(std::clamp<int64_t>(q.timeout_ms, 0, kLongestMs));
  const auto fail = [&](Status s) {
    pass(b, s, after);
    after.push_back([done, s, c = b.counter] { done(s, c); });
    return false;
  };
  if (!b.there.empty()) {
    for (auto& [name, there] : b.there) there = false;
  } else if (q.tasks.empty()) {
    for (const auto& [name, t] : tasks_) b.there[name] = false;
  } else {
    for (const CoordinatedTask& t : q.tasks) {
      if (!find(t)) {
        return fail(
            barrier_error(invalid_argument("Unexpected task (", t.name(), ") that is not in the cluster called the barrier. Barrier Id: ", b.name()),
                          b.id, b.counter));
      }
      b.there[t.name()] = false;
    }
  }
  for (const auto& [name, there] : b.there) {
    const Task& t = tasks_.at(name);
    if (t.task.recoverable || t.state != TaskState::kError) continue;
    return fail(barrier_error(internal_error("Task (", name, ") is already in error before the barrier was called. Barrier Id: ", b.name(),
                                             " Task error: ", status_text(t.status)),
                              b.id, b.counter));
  }
  return true;
}

bool CoordinationService::check_barrier_tasks(Barrier& b, const BarrierRequest& q, After& after) {
  const auto fail = [&](Status s) {
    pass(b, barrier_error(std::move(s), b.id, b.counter), after);
    return false;
  };
  if (q.tasks.empty()) {
    if (b.there.size() != tasks_.size())
      return fail(
          invalid_argument(b.name(), ": No tasks were specified by the client, which implies that the entire cluster is participating in the ",
                           "barrier. However, the service disagrees. Check that the callers are invoking the barrier with the same arguments."));
    if (b.there.contains(q.source.name())) return true;
  } else if (b.there.size() != q.tasks.size() ||
             std::any_of(q.tasks.begin(), q.tasks.end(), [&](const CoordinatedTask& t) { return !b.there.contains(t.name()); })) {
    return fail(invalid_argument("Conflicting tasks specified by different processes for the same barrier: ", b.name(),
                                 ". Check that the callers are invoking the barrier with the same arguments."));
  }
  if (b.there.contains(q.source.name())) return true;
  return fail(invalid_argument("A non-participating task (", q.source.name(), ") called the barrier: ", b.name()));
}

void CoordinationService::pass(Barrier& b, const Status& result, After& after) {
  b.passed = true;
  b.result = result;
  if (b.id == devices_barrier_ && result.ok()) {
    devices_.clear();
    std::vector<const Task*> order;
    for (const auto& [name, t] : tasks_) order.push_back(&t);
    std::sort(order.begin(), order.end(),
              [](const Task* x, const Task* y) { return std::tie(x->task.job, x->task.id) < std::tie(y->task.job, y->task.id); });
    for (const Task* t : order) devices_.insert(devices_.end(), t->devices.begin(), t->devices.end());
  }
  if (b.id == kRegisterBarrier && result.ok()) {  // before the first of them is told
    for (const auto& [name, there] : b.there) connect(tasks_.at(name), tasks_.at(name).incarnation);
    state_changed(after);
  }
  auto waiting = std::move(b.waiting);
  b.waiting.clear();
  for (auto& [task, done] : waiting) after.push_back([done = std::move(done), result, c = b.counter] { done(result, c); });
  if (b.id != shutdown_barrier_) return;
  if (result.ok()) {
    for (auto& [name, t] : tasks_) {
      if (!t.task.recoverable) (void)disconnect(t.task, after);
    }
    return;
  }
  const Status error = coordination_error(internal_error("Shutdown barrier has failed.\nBarrier result: '", result.message()));
  std::vector<CoordinatedTask> late;
  for (const auto& [name, there] : b.there) {
    if (!there) late.push_back(tasks_.at(name).task);
  }
  if (!late.empty()) propagate(error, late, false, after);
  std::vector<std::pair<Task*, Status>> errors;
  for (auto& [name, t] : tasks_) errors.emplace_back(&t, error);
  set_errors(errors, after);
}

Status CoordinationService::cancel_barrier(const BarrierRequest& q) {
  After after;
  {
    std::lock_guard lock(mutex_);
    const std::string name = cat(q.id, "::", q.counter);
    if (stopped_) return barrier_error(internal_error("Coordination service has stopped. CancelBarrier() for ", name, " failed."), q.id, q.counter);
    Barrier& b = barriers_[q.id];
    if (b.counter < 0) {  // before the first call
      b.id = q.id;
      b.counter = 0;
    }
    if (b.counter != q.counter)
      return barrier_error(failed_precondition("Barrier (", name, ") is cancelled by task, but the service thinks it is the ", b.counter,
                                               "-th instance. This is likely due to a restart in the task or service."),
                           q.id, b.counter);
    if (b.passed)
      return barrier_error(failed_precondition("Barrier (", name, ") has already been passed with status code: ", int(b.result.code())), q.id,
                           b.counter);
    pass(b, barrier_error(cancelled("Barrier (", name, ") is cancelled by task: ", q.source.name()), q.id, b.counter), after);
  }
  run(after);
  return {};
}

void CoordinationService::check_barriers(Clock::time_point now, After& after) {
  for (auto& [id, b] : barriers_) {
    if (b.passed || b.counter < 0 || now <= b.deadline) continue;
    std::string late;
    size_t count = 0;
    for (const auto& [name, there] : b.there) {
      if (there) continue;
      constexpr size_t kNames = 3;
      if (++count < kNames) late += name + "\n";
    }
    pass(b,
         barrier_error(
             deadline_exceeded("Barrier timed out. Id: ", b.name(), ". This usually happens because a task triggered the barrier too early or too ",
                               "slowly. Please look at the task logs (both timed out and first task) to debug further.\n",
                               "# of tasks that reached the barrier: ", b.there.size() - count, "/", b.there.size(),
                               ".\nThe first task at the barrier: ", b.first.name(), ". Some timed out task names:\n", late),
             b.id, b.counter),
         after);
  }
}

}  // namespace weft_engine::remote
