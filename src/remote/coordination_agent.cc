#include "remote/coordination_agent.h"

#include <algorithm>
#include <future>

#include "core/interrupt.h"
#include "core/threads.h"
#include "remote/collective_group.h"
#include "remote/error_text.h"
#include "runtime/blocking_threads.h"
#include "wire/proto.h"

namespace weft_engine::remote {
namespace {

using wire::ProtoReader;
using wire::ProtoWriter;
using Clock = std::chrono::steady_clock;

constexpr double kRegisterSeconds = 3600, kShutdownSeconds = 10, kSlackSeconds = 5;
constexpr int64_t kHeartbeatMs = 10000;

uint64_t fixed64_of(Message& m, int field) {
  uint64_t out = 0;
  ProtoReader r(m.flatten());
  while (r.next()) {
    if (r.field() == field) out = r.fixed64();
  }
  return out;
}

std::string one_task(const CoordinatedTask& task) {
  ProtoWriter w;
  w.bytes(1, encode_coordinated_task(task));
  return w.take();
}

}  // namespace

CoordinationAgent::CoordinationAgent(CoordinationConfig config, CoordinatedTask task, std::shared_ptr<Connections> connections,
                                     std::function<void(const Status&)> on_error)
    : config_(std::move(config)),
      task_(std::move(task)),
      connections_(std::move(connections)),
      on_error_(std::move(on_error)),
      incarnation_(random_id()) {}

CoordinationAgent::~CoordinationAgent() { stop_heartbeats(); }

Result<Message> CoordinationAgent::call(std::string_view method, std::string request, double seconds, bool wait) {
  WEFT_ASSIGN(std::shared_ptr<Channel> channel, connections_->to(config_.leader));
  auto answer = std::make_shared<std::promise<std::pair<Status, Message>>>();
  auto future = answer->get_future();
  const std::string name = cat("/tensorflow.CoordinationService/", method);
  auto running = channel->call(name, Message(std::move(request)), seconds, wait,
                               [answer](Status s, Message m) { answer->set_value({std::move(s), std::move(m)}); });
  core::Interrupt* const caller = core::Interrupt::current();
  bool interrupted = false;
  while (future.wait_for(core::kInterruptPollInterval) == std::future_status::timeout) {
    if (!caller || interrupted || !caller->look()) continue;
    interrupted = true;
    running->cancel();
  }
  auto [s, m] = future.get();
  if (interrupted) return core::interrupted_call();
  if (s.ok() || is_coordination_error(s)) return s.ok() ? Result<Message>(std::move(m)) : Result<Message>(std::move(s));
  return error_of_task(config_.leader, name, s);
}

Status CoordinationAgent::connect() {
  const double seconds = (config_.register_timeout_ms > 0 ? double(config_.register_timeout_ms) / 1000 : kRegisterSeconds) + kSlackSeconds;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const std::string request = encode_task_incarnation({task_, incarnation_}, 5);
  for (int attempt = 1;; ++attempt) {
    const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    auto response = call("RegisterTask", request, std::max(left, 0.001), /*wait=*/true);
    if (response.ok()) {
      leader_incarnation_ = fixed64_of(*response, 1);
      break;
    }
    // A service that is not ready, or does not know yet that this task was restarted, is asked again.
    const Status& s = response.status();
    const bool again = !is_coordination_error(s) || s.code() == Code::kAborted || s.code() == Code::kInternal;
    if (!again || Clock::now() >= deadline || s.code() == Code::kCancelled) {
      set_error(s);
      return s;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1 << std::min(attempt, 10)));
  }
  std::lock_guard lock(mutex_);
  state_ = TaskState::kConnected;
  heartbeats_ = std::thread([this] { beat(); });
  if (config_.poll_for_errors) poll();
  return {};
}

// One call may be lost; a leader that did not answer for as long as a task may be silent is gone.
void CoordinationAgent::beat() {
  const int64_t timeout_ms = config_.heartbeat_timeout_ms > 0 ? config_.heartbeat_timeout_ms : kHeartbeatMs;
  const auto every = std::chrono::milliseconds(std::max<int64_t>(timeout_ms / 2, 1));
  const auto retry = std::min<Clock::duration>(every / 4, std::chrono::milliseconds(250));
  const std::string request = encode_task_incarnation({task_, incarnation_}, 4);
  auto last = Clock::now();
  while (true) {
    Clock::duration pause = every;
    auto response = call("Heartbeat", request, std::chrono::duration<double>(every).count());
    Status failed;
    if (response.ok()) {
      last = Clock::now();
      if (fixed64_of(*response, 1) != leader_incarnation_)
        failed = coordination_error(
            aborted("Leader incarnation ID mismatch: the coordination  leader (usually slice 0 task 0) has restarted. Check for earlier ",
                    "errors or any scheduler events (e.g. preemption, eviction) to debug further."));
    } else if (is_coordination_error(response.status()) || Clock::now() - last > std::chrono::milliseconds(timeout_ms)) {
      failed = response.status();
    } else {
      pause = retry;
    }
    std::unique_lock lock(mutex_);
    if (over_) return;
    if (!failed.ok()) {
      lock.unlock();
      set_error(failed);
      lock.lock();
    }
    changed_.wait_for(lock, pause, [&] { return over_; });
    if (over_) return;
  }
}

void CoordinationAgent::poll() {
  auto channel = connections_->to(config_.leader);
  if (!channel.ok()) return;
  polling_ = (*channel)->call("/tensorflow.CoordinationService/PollForError", Message(one_task(task_)), 0, false,
                              [weak = weak_from_this()](Status s, Message) {
                                if (s.ok() || s.code() == Code::kCancelled) return;
                                runtime::run_on_blocking_thread([weak, s] {
                                  if (auto self = weak.lock()) self->set_error(s);
                                });
                              });
}

void CoordinationAgent::stop_heartbeats() {
  std::shared_ptr<ClientCall> polling;
  {
    std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
    polling = std::move(polling_);
  }
  if (polling) polling->cancel();
  if (!heartbeats_.joinable()) return;
  if (heartbeats_.get_id() == std::this_thread::get_id()) heartbeats_.detach();
  else heartbeats_.join();
}

void CoordinationAgent::set_error(const Status& error) {
  {
    std::lock_guard lock(mutex_);
    if (state_ == TaskState::kError || over_) return;
    state_ = TaskState::kError;
    status_ = error;
  }
  on_error_(error);
}

Status CoordinationAgent::running() {
  std::lock_guard lock(mutex_);
  if (state_ == TaskState::kError) return coordination_error(failed_precondition("Agent must be in CONNECTED state. It is currently in ERROR."));
  if (state_ != TaskState::kConnected)
    return coordination_error(failed_precondition("Agent must be in CONNECTED state. It is currently DISCONNECTED."));
  return {};
}

Status CoordinationAgent::wait_for_all(const std::vector<std::string>& devices) {
  WEFT_RETURN_IF_ERROR(running());
  ProtoWriter w, info;
  for (const std::string& d : devices) {
    ProtoWriter any;
    any.bytes(1, "type.googleapis.com/tensorflow.DeviceAttributes");
    any.bytes(2, d);
    info.message(1, any);
  }
  w.bytes(5, encode_coordinated_task(task_));
  w.message(6, info);
  auto response = call("WaitForAllTasks", w.take(), 0);
  if (response.ok()) return {};
  set_error(response.status());
  return response.status();
}

Status CoordinationAgent::report_error(const Status& error) {
  {
    std::lock_guard lock(mutex_);
    if (state_ == TaskState::kError) return coordination_error(failed_precondition("Coordination service agent is already in error state."));
  }
  set_error(coordination_error(error));
  (void)call("ReportErrorToService", encode_reported_error({int(error.code()), error.message(), task_, true}, true), kShutdownSeconds);
  return {};
}

Status CoordinationAgent::shutdown() {
  bool connected;
  {
    std::lock_guard lock(mutex_);
    connected = state_ == TaskState::kConnected && !over_;
  }
  Status s;
  if (connected && !config_.without_shutdown) {
    const double seconds = (config_.shutdown_timeout_ms > 0 ? double(config_.shutdown_timeout_ms) / 1000 : kShutdownSeconds) + kSlackSeconds;
    s = call("ShutdownTask", one_task(task_), seconds).status();
  }
  stop_heartbeats();
  std::lock_guard lock(mutex_);
  state_ = TaskState::kDisconnected;
  return s;
}

Status CoordinationAgent::insert(const std::string& key, const std::string& value) {
  ProtoWriter w, kv;
  kv.bytes(1, key);
  kv.bytes(2, value);
  w.message(1, kv);
  return call("InsertKeyValue", w.take(), 0).status();
}

Result<std::string> CoordinationAgent::get(const std::string& key, double seconds) {
  ProtoWriter w;
  w.bytes(1, key);
  auto response = call("GetKeyValue", w.take(), seconds);
  if (!response.ok() && response.status().code() == Code::kDeadlineExceeded)
    return coordination_error(deadline_exceeded("GetKeyValue() timed out with key: ", key, " and duration: ", seconds, "s"));
  if (!response.ok()) return response.status();
  std::string value;
  ProtoReader r(response->flatten());
  while (r.next()) {
    if (r.field() != 1) continue;
    ProtoReader kv = r.message();
    while (kv.next()) {
      if (kv.field() == 2) value = kv.string();
    }
  }
  return value;
}

Status CoordinationAgent::remove(const std::string& key) {
  ProtoWriter w;
  w.bytes(1, key);
  w.boolean(2, true);
  return call("DeleteKeyValue", w.take(), 0).status();
}

Status CoordinationAgent::barrier(const std::string& id, int64_t timeout_ms) {
  BarrierRequest q{.id = id, .timeout_ms = timeout_ms, .source = task_};
  WEFT_RETURN_IF_ERROR(running());
  {
    std::lock_guard lock(mutex_);
    if (!waiting_at_.insert(id).second) return coordination_error(failed_precondition("Barrier ", id, " is already ongoing."));
    q.counter = barriers_.contains(id) ? barriers_[id] + 1 : 0;
  }
  auto response = call(kBarrierMethod, encode_barrier(q), 0);
  std::lock_guard lock(mutex_);
  waiting_at_.erase(id);
  if (!response.ok()) {
    if (const auto counter = barrier_counter(response.status())) barriers_[id] = *counter;
    return response.status();
  }
  ProtoReader r(response->flatten());
  int64_t counter = 0;
  while (r.next()) {
    if (r.field() == 1) counter = r.int64();
  }
  barriers_[id] = counter;
  return {};
}

Result<std::vector<TaskStateInfo>> CoordinationAgent::task_states(const std::vector<CoordinatedTask>& tasks) {
  ProtoWriter w;
  for (const CoordinatedTask& t : tasks) w.bytes(1, encode_coordinated_task(t));
  return task_states(w.take());
}

Result<std::vector<TaskStateInfo>> CoordinationAgent::task_states(std::string_view request) {
  WEFT_ASSIGN(Message response, call("GetTaskState", std::string(request), 0));
  WEFT_ASSIGN(std::vector<TaskStateInfo> states, decode_task_states(response.flatten()));
  for (TaskStateInfo& s : states) {
    if (!s.error.ok()) s.error = coordination_error(std::move(s.error));
  }
  return states;
}

void add_agent_methods(MethodTable& methods, std::shared_ptr<CoordinationAgent> agent) {
  methods.add_blocking("tensorflow.CoordinationService", "ReportErrorToTask", [agent](std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(ReportedError e, decode_reported_error(q, false));
    agent->set_error(
        coordination_error(Status(Code(e.code), cat("Error reported from /job:", e.source.job, "/task:", e.source.id, ": ", e.message))));
    return Message();
  });
}

}  // namespace weft_engine::remote
