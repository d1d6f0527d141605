#include "remote/coordination_service.h"

#include <algorithm>
#include <charconv>

namespace weft_engine::remote {
namespace {

constexpr auto kHeartbeatTimeout = std::chrono::seconds(10);
constexpr double kReportSeconds = 10;
constexpr int64_t kDevicesTimeoutMs = 3600 * 1000;
constexpr size_t kNamesInErrors = 3;

// "///a//b/c//" is "a/b/c".
std::string normal_key(std::string_view key) {
  std::string out;
  for (char c : key) {
    if (c != '/' || (!out.empty() && out.back() != '/')) out += c;
  }
  if (!out.empty() && out.back() == '/') out.pop_back();
  return out;
}

Status service_stopped(std::string_view what) { return coordination_error(internal_error("Coordination service has stopped. ", what, " failed.")); }

}  // namespace

CoordinationService::CoordinationService(CoordinationConfig config, std::shared_ptr<Connections> connections)
    : config_(std::move(config)),
      connections_(std::move(connections)),
      incarnation_(random_id()),
      devices_barrier_(cat("WaitForAllTasks::", incarnation_)),
      shutdown_barrier_(cat("Shutdown::", incarnation_)) {
  for (const auto& [job, count] : config_.jobs) {
    for (int i = 0; i < count; ++i) tasks_[task_name(job, i)].task = {job, i};
  }
  watcher_ = std::thread([this] { watch(); });
}

CoordinationService::~CoordinationService() { stop(); }

void CoordinationService::stop() {
  After after;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    changed_.notify_all();
    for (auto& [id, b] : barriers_) {
      if (!b.passed && b.counter >= 0)
        pass(b, barrier_error(aborted("Barrier failed because service is shutting down. Barrier_id: ", b.name()), b.id, b.counter), after);
    }
    for (auto& [task, done] : polls_)
      after.push_back([done = std::move(done)] { done(cancelled("Coordination service is shutting down. Cancelling PollForErrorAsync()")); });
    polls_.clear();
    for (auto& [key, waiting] : wanted_) {
      for (auto& [done, gone] : waiting)
        after.push_back([done = std::move(done)] { done(cancelled("Coordination service is shutting down. Cancelling GetKeyValue()"), ""); });
    }
    wanted_.clear();
    for (Aliveness& a : alive_) {
      for (auto& [done, gone] : a.waiting) after.push_back([done = std::move(done)] { done(service_stopped("GetAliveTasks()"), {}); });
    }
    alive_.clear();
    for (Watch& w : watches_) after.push_back([done = std::move(w.done)] { done(service_stopped("WatchJobState()"), {}, 0); });
    watches_.clear();
  }
  run(after);
  if (watcher_.joinable()) watcher_.join();
}

CoordinationService::Clock::duration CoordinationService::heartbeat_timeout() const {
  return config_.heartbeat_timeout_ms > 0 ? Clock::duration(std::chrono::milliseconds(config_.heartbeat_timeout_ms))
                                          : Clock::duration(kHeartbeatTimeout);
}

CoordinationService::Task* CoordinationService::find(const CoordinatedTask& task) {
  const auto it = tasks_.find(task.name());
  return it == tasks_.end() ? nullptr : &it->second;
}

// ---- tasks that come, live and go

void CoordinationService::connect(Task& t, uint64_t incarnation) {
  t.state = TaskState::kConnected;
  t.status = {};
  t.incarnation = incarnation;
  t.last_heartbeat = Clock::now();
}

void CoordinationService::register_task(const CoordinatedTask& task, uint64_t incarnation, Done done) {
  After after;
  {
    std::lock_guard lock(mutex_);
    Task* t = find(task);
    Status failed;
    if (stopped_) {
      failed = service_stopped(cat("RegisterTask() from task: ", task.name()));
    } else if (!t) {
      failed = coordination_error(invalid_argument("Unexpected task registered with task_name=", task.name()));
    } else {
      t->task.recoverable = task.recoverable;
      const bool may_come_back = (config_.allow_reconnect || task.recoverable) && t->status.code() == Code::kUnavailable;
      if (t->state == TaskState::kDisconnected || may_come_back) {
        if (config_.register_with_barrier) {
          t->incarnation = incarnation;
          constexpr int64_t kHourMs = 3600 * 1000;
          BarrierRequest all{
              .id = kRegisterBarrier, .timeout_ms = config_.register_timeout_ms > 0 ? config_.register_timeout_ms : kHourMs, .source = task};
          barrier_locked(all, [done = std::move(done)](Status s, int64_t) { done(std::move(s)); }, after);
          done = nullptr;
        } else {
          connect(*t, incarnation);
          state_changed(after);
        }
      } else if (t->state == TaskState::kConnected && (t->incarnation == incarnation || task.recoverable)) {
        connect(*t, incarnation);  // asked again, since the answer did not arrive
        state_changed(after);
      } else {
        failed = coordination_error(
            t->state == TaskState::kConnected
                ? aborted(task.name(), " unexpectedly tried to connect with a different incarnation. It has likely restarted.")
                : aborted(task.name(),
                          " unexpectedly tried to connect while it is already in error. ResetTask() should be called before a subsequent connect ",
                          "attempt. Existing error: ", status_text(t->status)));
        set_error(*t, failed, after);
        propagate(failed, {task}, false, after);
      }
    }
    if (done) after.push_back([done = std::move(done), failed] { done(failed); });
  }
  run(after);
}

Status CoordinationService::heartbeat(const CoordinatedTask& task, uint64_t incarnation) {
  After after;
  Status s;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) return service_stopped(cat("RecordHeartbeat() from task: ", task.name()));
    Task* t = find(task);
    if (!t)
      return coordination_error(
          invalid_argument("Unexpected heartbeat request from task: ", task.name(), ". This usually implies a configuration error."));
    if (!t->status.ok())
      return coordination_error(
          aborted("Unexpected heartbeat request from an already-in-error task: ", task.name(), " with existing error: ", status_text(t->status)));
    if (t->state == TaskState::kDisconnected && Clock::now() > t->grace_end)
      return coordination_error(
          invalid_argument("Task with task_name=", task.name(),
                           " must be registered before sending heartbeat messages. The service might have restarted, please restart / "
                           "reset and register again."));
    if (t->incarnation == incarnation) {
      t->last_heartbeat = Clock::now();
    } else if (!t->task.recoverable) {
      s = coordination_error(
          aborted(task.name(), " Heartbeat: Incarnation ID mismatch: expecting ", t->incarnation, " but got ", incarnation,
                  ". The task has restarted and likely crashed earlier - check for any earlier errors or any scheduler events (e.g. "
                  "preemption, eviction) to debug further."));
      set_error(*t, s, after);
      propagate(s, {task}, false, after);
    }
  }
  run(after);
  return s;
}

void CoordinationService::wait_for_all(const CoordinatedTask& task, std::vector<std::string> devices, Done done) {
  After after;
  {
    std::lock_guard lock(mutex_);
    if (Task* t = find(task); t && !t->told_devices) {
      t->told_devices = true;
      t->devices = std::move(devices);
    }
    BarrierRequest all{.id = devices_barrier_, .timeout_ms = kDevicesTimeoutMs, .source = task};
    barrier_locked(all, [done = std::move(done)](Status s, int64_t) { done(std::move(s)); }, after);
  }
  run(after);
}

std::vector<std::string> CoordinationService::devices() {
  std::lock_guard lock(mutex_);
  return devices_;
}

void CoordinationService::shutdown_task(const CoordinatedTask& task, Done done) {
  After after;
  {
    std::lock_guard lock(mutex_);
    if (config_.shutdown_timeout_ms > 0 && !task.recoverable && !stopped_) {
      BarrierRequest all{.id = shutdown_barrier_, .timeout_ms = config_.shutdown_timeout_ms, .source = task};
      for (const auto& [name, t] : tasks_) {
        if (!t.task.recoverable) all.tasks.push_back(t.task);
      }
      barrier_locked(
          all,
          [done = std::move(done)](const Status& s, int64_t) {
            done(s.ok() ? s : coordination_error(internal_error("Shutdown barrier has failed.\nBarrier result: '", status_text(s))));
          },
          after);
    } else {
      after.push_back([done = std::move(done), s = stopped_ ? service_stopped("ShutdownTaskAsync()") : disconnect(task, after)] { done(s); });
    }
  }
  run(after);
}

Status CoordinationService::reset_task(const CoordinatedTask& task) {
  After after;
  Status s;
  {
    std::lock_guard lock(mutex_);
    s = stopped_ ? service_stopped(cat("DisconnectTask() for task_name=", task.name())) : disconnect(task, after);
  }
  run(after);
  return s;
}

Status CoordinationService::disconnect(const CoordinatedTask& task, After& after) {
  Task* t = find(task);
  if (!t) return coordination_error(invalid_argument("Unexpected disconnect request with task_name=", task.name()));
  if (t->state == TaskState::kDisconnected) return coordination_error(failed_precondition("The task is already disconnected: ", task.name()));
  t->state = TaskState::kDisconnected;
  t->status = {};
  t->grace_end = Clock::now() + heartbeat_timeout();
  leave_barriers(*t, "task disconnected", after);
  state_changed(after);
  if (auto it = polls_.find(task.name()); it != polls_.end()) {
    after.push_back(
        [done = std::move(it->second)] { done(coordination_error(cancelled("Cancelled error polling because: task has disconnected."))); });
    polls_.erase(it);
  }
  return {};
}

// ---- errors

Status CoordinationService::report_error(const CoordinatedTask& task, const Status& error) {
  After after;
  {
    std::lock_guard lock(mutex_);
    Task* t = find(task);
    if (stopped_) return service_stopped("ReportTaskError()");
    if (!t) return coordination_error(invalid_argument("Unexpected request from task ", task.name()));
    if (t->state != TaskState::kConnected) return coordination_error(failed_precondition("The task is not connected or already has an error."));
    set_error(*t, error, after);
    propagate(error, {task}, true, after);
  }
  run(after);
  return {};
}

void CoordinationService::set_error(Task& t, const Status& error, After& after) { set_errors({{&t, error}}, after); }

void CoordinationService::set_errors(const std::vector<std::pair<Task*, Status>>& errors, After& after) {
  std::vector<const Task*> changed;
  for (const auto& [t, error] : errors) {
    if (t->state == TaskState::kError) continue;
    t->state = TaskState::kError;
    t->status = error;
    changed.push_back(t);
  }
  for (const Task* t : changed) leave_barriers(*t, cat("task is set to ERROR: ", status_text(t->status)), after);
  if (!changed.empty()) state_changed(after);
}

void CoordinationService::leave_barriers(const Task& t, const std::string& reason, After& after) {
  const std::string name = t.task.name();
  for (auto& [id, b] : barriers_) {
    const auto at = b.there.find(name);
    if (b.passed || b.counter < 0 || at == b.there.end()) continue;
    if (!t.task.recoverable) {
      pass(b, barrier_error(internal_error("Barrier failed because: ", reason, ". Barrier Id: ", b.name(), ", Task: ", name), b.id, b.counter),
           after);
      continue;
    }
    at->second = false;
    if (auto it = b.waiting.find(name); it != b.waiting.end()) {
      Status s = barrier_error(cancelled("Stale barrier invocation is cancelled because:  ", reason, ". Barrier: ", b.name(), " Task ", name), b.id,
                               b.counter);
      after.push_back([done = std::move(it->second), s, counter = b.counter] { done(s, counter); });
      b.waiting.erase(it);
    }
  }
}

// Tells all tasks that are connected, and those that poll.
void CoordinationService::propagate(const Status& error, const std::vector<CoordinatedTask>& sources, bool by_task, After& after) {
  if (std::all_of(sources.begin(), sources.end(), [&](const CoordinatedTask& s) {
        const Task* t = find(s);
        return (t && t->task.recoverable) || config_.recoverable_jobs.contains(s.job);
      }))
    return;
  if (polled_.ok()) polled_ = error;
  for (auto& [name, done] : polls_) after.push_back([done = std::move(done), error] { done(error); });
  polls_.clear();
  const std::string request = encode_reported_error({int(error.code()), error.message(), sources[0], by_task}, /*to_service=*/false);
  for (const auto& [name, t] : tasks_) {
    if (t.state != TaskState::kConnected) continue;
    after.push_back([connections = connections_, name, request] {
      if (auto channel = connections->to(name); channel.ok())
        (*channel)->call("/tensorflow.CoordinationService/ReportErrorToTask", Message(request), kReportSeconds, false, [](Status, Message) {});
    });
  }
}

void CoordinationService::poll_for_error(const CoordinatedTask& task, Done done) {
  Status s;
  Done replaced;
  {
    std::lock_guard lock(mutex_);
    Task* t = find(task);
    if (stopped_) {
      s = coordination_error(internal_error("PollForError requested after coordination service has shut down."));
    } else if (!t) {
      s = coordination_error(invalid_argument("Unexpected task (", task.name(), ") that is not in the cluster polling for errors."));
    } else if (t->state == TaskState::kDisconnected && Clock::now() > t->grace_end) {
      s = coordination_error(failed_precondition("Task (", task.name(), ") that has not been registered or has disconnected polling for errors."));
    } else if (t->state == TaskState::kError) {
      s = coordination_error(
          failed_precondition("Task (", task.name(), ") that is already in error state polling for errors. Current error: ", status_text(t->status)));
    } else if (!polled_.ok()) {
      s = polled_;
    } else {
      replaced = std::exchange(polls_[task.name()], std::move(done));
    }
  }
  if (replaced) replaced(coordination_error(cancelled("Cancelled error polling because: new request from the same task")));
  if (!s.ok()) done(std::move(s));
}

Result<std::vector<TaskStateInfo>> CoordinationService::task_states(const std::vector<CoordinatedTask>& tasks) {
  std::vector<TaskStateInfo> out;
  std::lock_guard lock(mutex_);
  for (const CoordinatedTask& task : tasks) {
    const Task* t = find(task);
    if (!t) return coordination_error(invalid_argument("Unexpected task (", task.name(), ") that is not in the cluster"));
    out.push_back({task, t->state, t->status, t->incarnation});
  }
  return out;
}

// ---- who is there

std::vector<TaskStateInfo> CoordinationService::states_of(const std::string& job) const {
  std::vector<TaskStateInfo> out;
  for (const auto& [name, t] : tasks_) {
    if (t.task.job == job) out.push_back({t.task, t.state, t.status, t.incarnation});
  }
  return out;
}

// With the lock held.
void CoordinationService::state_changed(After& after) {
  ++version_;
  for (Watch& w : watches_) after.push_back([done = std::move(w.done), states = states_of(w.job), version = version_] { done({}, states, version); });
  watches_.clear();
  std::erase_if(alive_, [&](Aliveness& a) { return answer_alive(a, after); });
}

// Whether all that are connected have asked; then they are told.
bool CoordinationService::answer_alive(Aliveness& a, After& after) {
  std::vector<TaskStateInfo> alive;
  for (const std::string& name : a.tasks) {
    const auto it = tasks_.find(name);
    if (it == tasks_.end() || it->second.state != TaskState::kConnected) continue;
    if (!a.asked.contains(name)) return false;
    alive.push_back({it->second.task, it->second.state, {}, it->second.incarnation});
  }
  for (auto& [done, gone] : a.waiting) after.push_back([done = std::move(done), alive] { done({}, alive); });
  return true;
}

void CoordinationService::alive_tasks(const CoordinatedTask& asking, const std::vector<CoordinatedTask>& tasks, AliveDone done, Gone gone) {
  std::set<std::string> names;
  for (const CoordinatedTask& t : tasks) names.insert(t.name());
  if (!names.contains(asking.name()))
    return done(invalid_argument("Requesting task ", asking.name(), " is not one of the tasks specified in a GetAliveTasks request."), {});
  After after;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) {
      after.push_back([done = std::move(done)] { done(service_stopped("GetAliveTasks()"), {}); });
    } else {
      auto a = std::find_if(alive_.begin(), alive_.end(), [&](const Aliveness& other) { return other.tasks == names; });
      if (a == alive_.end()) a = alive_.insert(a, Aliveness{std::move(names), {}, {}});
      a->asked.insert(asking.name());
      a->waiting.emplace_back(std::move(done), std::move(gone));
      if (answer_alive(*a, after)) alive_.erase(a);
    }
  }
  run(after);
}

void CoordinationService::watch_job(const std::string& job, int64_t version, WatchDone done, Gone gone) {
  std::vector<TaskStateInfo> states;
  Status s;
  {
    std::lock_guard lock(mutex_);
    if (stopped_) {
      s = service_stopped("WatchJobState()");
    } else if (version >= version_) {
      watches_.push_back({job, std::move(done), std::move(gone)});
      return;
    }
    states = states_of(job);
    version = version_;
  }
  done(std::move(s), std::move(states), version);
}

void CoordinationService::watch() {
  const auto every =
      std::clamp(Clock::duration(heartbeat_timeout() / 8), Clock::duration(std::chrono::milliseconds(20)), Clock::duration(std::chrono::seconds(1)));
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    changed_.wait_for(lock, every);
    if (stopped_) return;
    After after;
    const auto now = Clock::now();
    check_heartbeats(now, after);
    check_barriers(now, after);
    drop_abandoned(after);
    lock.unlock();
    run(after);
    lock.lock();
  }
}

void CoordinationService::check_heartbeats(Clock::time_point now, After& after) {
  std::vector<CoordinatedTask> stale;
  std::vector<std::string> names;
  std::vector<std::pair<Task*, Status>> errors;
  for (auto& [name, t] : tasks_) {
    if (t.state != TaskState::kConnected || now - t.last_heartbeat <= heartbeat_timeout()) continue;
    stale.push_back(t.task);
    if (names.size() < kNamesInErrors) names.push_back(name);
    errors.emplace_back(&t, coordination_error(unavailable(
                                "Task ", name,
                                " heartbeat timeout. This indicates that the remote task has failed, got preempted, or crashed unexpectedly. "
                                "Check the task logs for an earlier error or scheduler events (e.g. preemption, eviction) to debug further.")));
  }
  if (stale.empty()) return;
  set_errors(errors, after);
  propagate(
      coordination_error(unavailable("The following tasks are unhealthy (stopped sending heartbeats):\n", join(names, "\n"),
                                     "\nThe tasks have crashed. Check the task logs for an earlier error, or scheduler events (e.g. preemption, "
                                     "eviction) to debug further.")),
      stale, false, after);
}

// With the lock held. Calls that were given up, at their deadline say, would be kept until what they wait for comes.
void CoordinationService::drop_abandoned(After& after) {
  const auto dropped = [&after]<class Done, class... Nothing>(Done& done, const Gone& gone, Nothing... nothing) {
    if (!gone || !gone->load()) return false;
    after.push_back([done = std::move(done), nothing...] { done(cancelled("the caller has gone"), nothing...); });
    return true;
  };
  std::erase_if(watches_, [&](Watch& w) { return dropped(w.done, w.gone, std::vector<TaskStateInfo>(), int64_t{0}); });
  std::erase_if(alive_, [&](Aliveness& a) {
    std::erase_if(a.waiting, [&](auto& w) { return dropped(w.first, w.second, std::vector<TaskStateInfo>()); });
    return a.waiting.empty();
  });
  for (auto it = wanted_.begin(); it != wanted_.end();) {
    std::erase_if(it->second, [&](auto& w) { return dropped(w.first, w.second, std::string()); });
    it = it->second.empty() ? wanted_.erase(it) : std::next(it);
  }
}

// ---- keys and values

Status CoordinationService::insert(const std::string& given, const std::string& value, bool overwrite) {
  const std::string key = normal_key(given);
  std::vector<std::pair<ValueDone, Gone>> waiting;
  {
    std::lock_guard lock(mutex_);
    if (!overwrite && values_.contains(key)) return already_exists("key ", key, " already exists.");
    values_[key] = value;
    if (auto it = wanted_.find(key); it != wanted_.end()) {
      waiting = std::move(it->second);
      wanted_.erase(it);
    }
  }
  for (auto& [done, gone] : waiting) done({}, value);
  return {};
}

void CoordinationService::get(const std::string& given, ValueDone done, Gone gone) {
  const std::string key = normal_key(given);
  std::string value;
  Status s;
  {
    std::lock_guard lock(mutex_);
    if (const auto it = values_.find(key); it != values_.end()) {
      value = it->second;
    } else if (stopped_) {
      s = service_stopped("GetKeyValue()");
    } else {
      wanted_[key].emplace_back(std::move(done), std::move(gone));
      return;
    }
  }
  done(std::move(s), std::move(value));
}

Result<std::string> CoordinationService::try_get(const std::string& key) {
  std::lock_guard lock(mutex_);
  const auto it = values_.find(normal_key(key));
  if (it == values_.end()) return not_found("Config key ", key, " not found.");
  return it->second;
}

Result<std::string> CoordinationService::increment(const std::string& given, int64_t by) {
  const std::string key = normal_key(given);
  std::string value;
  {
    std::lock_guard lock(mutex_);
    int64_t number = 0;
    if (const auto it = values_.find(key); it != values_.end()) {
      const char* end = it->second.data() + it->second.size();
      if (std::from_chars(it->second.data(), end, number).ptr != end)
        return failed_precondition("Failed to parse value \"", it->second, "\" as an integer.");
    }
    value = cat(int64_t(uint64_t(number) + uint64_t(by)));
    values_[key] = value;
  }
  WEFT_RETURN_IF_ERROR(insert(key, value, true));  // for those who wait
  return value;
}

std::vector<std::pair<std::string, std::string>> CoordinationService::directory(const std::string& key) {
  const std::string prefix = normal_key(key) + "/";
  std::vector<std::pair<std::string, std::string>> out;
  std::lock_guard lock(mutex_);
  for (auto it = values_.lower_bound(prefix); it != values_.end() && it->first.starts_with(prefix); ++it) out.emplace_back(*it);
  return out;
}

void CoordinationService::remove(const std::string& given) {
  const std::string key = normal_key(given), prefix = key + "/";
  std::lock_guard lock(mutex_);
  values_.erase(key);
  for (auto it = values_.lower_bound(prefix); it != values_.end() && it->first.starts_with(prefix);) it = values_.erase(it);
}

}  // namespace weft_engine::remote
