// Configuration and messages of TensorFlow's CoordinationService. Names and numbers are TensorFlow's.
#pragma once

#include <optional>
#include <set>

#include "remote/messages.h"

namespace weft_engine::remote {

struct CoordinatedTask {
  std::string job;
  int id = 0;
  bool recoverable = false;  // it may come back after a failure
  std::string name() const;  // "/job:worker/replica:0/task:0"
};
std::string encode_coordinated_task(const CoordinatedTask& task);
Result<CoordinatedTask> decode_coordinated_task(std::string_view bytes);

struct CoordinationConfig {
  std::string service_type;  // empty: there is no service
  std::string leader;        // "/job:worker/replica:0/task:0"
  int64_t register_timeout_ms = 0, heartbeat_timeout_ms = 0, shutdown_timeout_ms = 0;  // 0: an hour, 10 s, no barrier
  bool without_shutdown = false, allow_reconnect = false, force_disable = false, poll_for_errors = false, register_with_barrier = false;
  std::set<std::string> recoverable_jobs;
  std::map<std::string, int> jobs;  // tasks of each
  bool enabled() const { return !service_type.empty() && !force_disable; }
};
// ConfigProto.experimental.coordination_config, with what it leaves open: the leader is that of collectives, the jobs are those of the cluster.
Result<CoordinationConfig> coordination_config(const ServerDef& def, const std::string& collective_leader);

enum class TaskState : int { kUnspecified = 0, kUninitialized = 1, kDisconnected = 2, kConnected = 3, kError = 4 };
struct TaskStateInfo {
  CoordinatedTask task;
  TaskState state = TaskState::kUnspecified;
  Status error;
  uint64_t incarnation = 0;
};
std::string encode_task_states(const std::vector<TaskStateInfo>& states);
Result<std::vector<TaskStateInfo>> decode_task_states(std::string_view bytes);

// RegisterTask and Heartbeat: the task in `task_field`, the incarnation in field 3.
struct TaskIncarnation {
  CoordinatedTask task;
  uint64_t incarnation = 0;
};
std::string encode_task_incarnation(const TaskIncarnation& q, int task_field);
Result<TaskIncarnation> decode_task_incarnation(std::string_view bytes, int task_field);

// The method's name alone is that of an op.
inline constexpr std::string_view kBarrierPath = "/tensorflow.CoordinationService/Barrier";
inline constexpr std::string_view kBarrierMethod = kBarrierPath.substr(kBarrierPath.rfind('/') + 1);

struct BarrierRequest {
  std::string id;
  int64_t timeout_ms = 0, counter = 0;
  std::vector<CoordinatedTask> tasks;  // empty: all
  CoordinatedTask source;
};
std::string encode_barrier(const BarrierRequest& q);
Result<BarrierRequest> decode_barrier(std::string_view bytes);

// ReportErrorToService (the task in field 5) and ReportErrorToTask (in field 4 of a CoordinationServiceError in field 5).
struct ReportedError {
  int code = 0;
  std::string message;
  CoordinatedTask source;
  bool by_task = false;
};
std::string encode_reported_error(const ReportedError& e, bool to_service);
Result<ReportedError> decode_reported_error(std::string_view bytes, bool to_service);

// An error of the service, as opposed to one of the transport; of a barrier, with its counter.
Status coordination_error(Status s);
// As TensorFlow prints a status in a text.
std::string status_text(const Status& s);
Status barrier_error(Status s, const std::string& id, int64_t counter);
bool is_coordination_error(const Status& s);
std::optional<int64_t> barrier_counter(const Status& s);

}  // namespace weft_engine::remote
