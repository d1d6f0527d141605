// The agent of the coordination service on each task: registers, sends heartbeats, and hears of the errors of others. What front ends call is virtual (remote/library.h).
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "remote/connections.h"
#include "remote/coordination_messages.h"
#include "remote/method_table.h"

namespace weft_engine::remote {

class CoordinationAgent : public std::enable_shared_from_this<CoordinationAgent> {
 public:
  // `on_error` is called once, when this task has an error of its own, of the service, or of another task.
  CoordinationAgent(CoordinationConfig config, CoordinatedTask task, std::shared_ptr<Connections> connections,
                    std::function<void(const Status&)> on_error);
  virtual ~CoordinationAgent();

  // Registers with the leader, which may start later; heartbeats go from then on.
  Status connect();
  // Until all tasks have come this far. `devices`: serialized DeviceAttributes of this task.
  Status wait_for_all(const std::vector<std::string>& devices);
  virtual Status report_error(const Status& error);
  // Leaves the service in good order. Nothing but the destructor may be called after it.
  Status shutdown();

  virtual Status insert(const std::string& key, const std::string& value);
  // DeadlineExceeded where the key does not come in time; `seconds` 0: no limit.
  virtual Result<std::string> get(const std::string& key, double seconds);
  virtual Status remove(const std::string& key);
  virtual Status barrier(const std::string& id, int64_t timeout_ms);
  virtual Result<std::vector<TaskStateInfo>> task_states(const std::vector<CoordinatedTask>& tasks);
  // `request`: a serialized GetTaskStateRequest.
  virtual Result<std::vector<TaskStateInfo>> task_states(std::string_view request);
  const std::map<std::string, int>& jobs() const { return config_.jobs; }

  // An error that the service tells of.
  void set_error(const Status& error);

 private:
  // Calls the leader and waits for the answer.
  Result<Message> call(std::string_view method, std::string request, double seconds, bool wait = false);
  void beat();
  void poll();
  void stop_heartbeats();
  Status running();

  const CoordinationConfig config_;
  const CoordinatedTask task_;
  const std::shared_ptr<Connections> connections_;
  const std::function<void(const Status&)> on_error_;
  const uint64_t incarnation_;
  uint64_t leader_incarnation_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  TaskState state_ = TaskState::kDisconnected;
  Status status_;
  std::map<std::string, int64_t> barriers_;  // how often each was called
  std::set<std::string> waiting_at_;
  std::shared_ptr<ClientCall> polling_;
  std::thread heartbeats_;
};

// What the service calls on a task.
void add_agent_methods(MethodTable& methods, std::shared_ptr<CoordinationAgent> agent);

}  // namespace weft_engine::remote
