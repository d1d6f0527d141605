#include "remote/coordination_messages.h"

#include <optional>

#include "remote/connections.h"
#include "remote/read_message.h"

namespace weft_engine::remote {

using wire::ProtoReader;
using wire::ProtoWriter;

namespace {

constexpr const char* kErrorPayload = "type.googleapis.com/tensorflow.CoordinationServiceError";
constexpr const char* kBarrierPayload = "type.googleapis.com/tensorflow.BarrierError";

Result<CoordinationConfig> decode_coordination_config(std::string_view bytes) {
  CoordinationConfig out;
  WEFT_RETURN_IF_ERROR(read_message("CoordinationServiceConfig", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.service_type = r.string(); break;
      case 2: out.leader = r.string(); break;
      case 4: out.register_timeout_ms = r.int64(); break;
      case 5: out.heartbeat_timeout_ms = r.int64(); break;
      case 7: out.shutdown_timeout_ms = r.int64(); break;
      case 8: out.without_shutdown = r.boolean(); break;
      case 9: out.recoverable_jobs.insert(r.string()); break;
      case 10: {
        std::string name;
        int tasks = 0;
        WEFT_RETURN_IF_ERROR(read_message("CoordinatedJob", r.bytes(), [&](ProtoReader& job) {
          if (job.field() == 1) name = job.string();
          if (job.field() == 2) tasks = job.int32();
        }));
        out.jobs[name] = tasks;
        break;
      }
      case 11: out.allow_reconnect = r.boolean(); break;
      case 12: out.force_disable = r.boolean(); break;
      case 13: out.poll_for_errors = r.boolean(); break;
      case 14: out.register_with_barrier = r.boolean(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

}  // namespace

std::string CoordinatedTask::name() const { return task_name(job, id); }

std::string encode_coordinated_task(const CoordinatedTask& t) {
  ProtoWriter w;
  w.bytes(1, t.job);
  if (t.id) w.int64(2, t.id);
  if (t.recoverable) w.boolean(3, true);
  return w.take();
}

Result<CoordinatedTask> decode_coordinated_task(std::string_view bytes) {
  CoordinatedTask out;
  WEFT_RETURN_IF_ERROR(read_message("CoordinatedTask", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: out.job = r.string(); break;
      case 2: out.id = r.int32(); break;
      case 3: out.recoverable = r.boolean(); break;
      default: break;
    }
  }));
  return out;
}

Result<CoordinationConfig> coordination_config(const ServerDef& def, const std::string& collective_leader) {
  CoordinationConfig out;
  WEFT_RETURN_IF_ERROR(read_message("ConfigProto", def.config, [&](ProtoReader& r) -> Status {
    if (r.field() != 16) return {};
    return read_message("ConfigProto", r.bytes(), [&](ProtoReader& experimental) -> Status {
      if (experimental.field() == 23) {
        WEFT_ASSIGN(out, decode_coordination_config(experimental.bytes()));
      }
      return {};
    });
  }));
  if (out.leader.empty()) out.leader = collective_leader;
  if (out.jobs.empty()) {
    for (const auto& [job, tasks] : def.cluster) out.jobs[job] = tasks.empty() ? 0 : tasks.rbegin()->first + 1;
  }
  constexpr int kMostTasks = 1 << 20;
  for (const auto& [job, tasks] : out.jobs) {
    if (tasks < 0 || tasks > kMostTasks) return invalid_argument("job '", job, "' of the coordination service has ", tasks, " tasks");
  }
  return out;
}

std::string encode_task_states(const std::vector<TaskStateInfo>& states) {
  ProtoWriter w;
  for (const TaskStateInfo& s : states) {
    ProtoWriter info;
    info.bytes(1, encode_coordinated_task(s.task));
    info.int64(2, int64_t(s.state));
    if (!s.error.ok()) {
      info.int64(3, int64_t(s.error.code()));
      info.bytes(4, s.error.message());
      ProtoWriter payload;
      payload.bytes(4, encode_coordinated_task(s.task));
      info.message(5, payload);
    }
    info.fixed64(6, s.incarnation);
    w.message(1, info);
  }
  return w.take();
}

Result<std::vector<TaskStateInfo>> decode_task_states(std::string_view bytes) {
  std::vector<TaskStateInfo> out;
  WEFT_RETURN_IF_ERROR(read_message("GetTaskStateResponse", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() != 1) return {};
    TaskStateInfo info;
    int code = 0;
    std::string text;
    WEFT_RETURN_IF_ERROR(read_message("CoordinatedTaskStateInfo", r.bytes(), [&](ProtoReader& m) -> Status {
      switch (m.field()) {
        case 1: {
          WEFT_ASSIGN(info.task, decode_coordinated_task(m.bytes()));
          break;
        }
        case 2: info.state = TaskState(m.int32()); break;
        case 3: code = m.int32(); break;
        case 4: text = m.string(); break;
        case 6: info.incarnation = m.fixed64(); break;
        default: break;
      }
      return {};
    }));
    if (code) info.error = Status(Code(code), std::move(text));
    out.push_back(std::move(info));
    return {};
  }));
  return out;
}

std::string encode_task_incarnation(const TaskIncarnation& q, int task_field) {
  ProtoWriter w;
  w.fixed64(3, q.incarnation);
  w.bytes(task_field, encode_coordinated_task(q.task));
  return w.take();
}

Result<TaskIncarnation> decode_task_incarnation(std::string_view bytes, int task_field) {
  TaskIncarnation out;
  WEFT_RETURN_IF_ERROR(read_message("coordination", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 3) out.incarnation = r.fixed64();
    if (r.field() == task_field) {
      WEFT_ASSIGN(out.task, decode_coordinated_task(r.bytes()));
    }
    return {};
  }));
  return out;
}

std::string encode_barrier(const BarrierRequest& q) {
  ProtoWriter w;
  w.bytes(1, q.id);
  if (q.timeout_ms) w.int64(2, q.timeout_ms);
  for (const CoordinatedTask& t : q.tasks) w.bytes(3, encode_coordinated_task(t));
  w.bytes(4, encode_coordinated_task(q.source));
  if (q.counter) w.int64(5, q.counter);
  return w.take();
}

Result<BarrierRequest> decode_barrier(std::string_view bytes) {
  BarrierRequest out;
  WEFT_RETURN_IF_ERROR(read_message("BarrierRequest", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.id = r.string(); break;
      case 2: out.timeout_ms = r.int64(); break;
      case 3: {
        WEFT_ASSIGN(CoordinatedTask t, decode_coordinated_task(r.bytes()));
        out.tasks.push_back(std::move(t));
        break;
      }
      case 4: {
        WEFT_ASSIGN(out.source, decode_coordinated_task(r.bytes()));
        break;
      }
      case 5: out.counter = r.int64(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

std::string encode_reported_error(const ReportedError& e, bool to_service) {
  ProtoWriter w, payload;
  w.int64(1, e.code);
  w.bytes(2, e.message);
  if (to_service) {
    w.bytes(5, encode_coordinated_task(e.source));
    return w.take();
  }
  if (e.by_task) payload.boolean(3, true);
  payload.bytes(4, encode_coordinated_task(e.source));
  w.message(5, payload);
  return w.take();
}

Result<ReportedError> decode_reported_error(std::string_view bytes, bool to_service) {
  ReportedError out;
  WEFT_RETURN_IF_ERROR(read_message("ReportError", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.code = r.int32(); break;
      case 2: out.message = r.string(); break;
      case 5: {
        std::string_view source = r.bytes();
        if (!to_service) {
          source = {};
          WEFT_RETURN_IF_ERROR(read_message("CoordinationServiceError", r.bytes(), [&](ProtoReader& payload) {
            if (payload.field() == 3) out.by_task = payload.boolean();
            if (payload.field() == 4) source = payload.bytes();
          }));
        }
        WEFT_ASSIGN(out.source, decode_coordinated_task(source));
        break;
      }
      default: break;
    }
    return {};
  }));
  if (out.code <= 0 || out.code > int(Code::kUnauthenticated)) out.code = int(Code::kUnknown);
  return out;
}

std::string status_text(const Status& s) {
  std::string out;
  for (const char* c = code_name(s.code()); *c; ++c) {
    if (*c >= 'A' && *c <= 'Z' && !out.empty()) out += '_';
    out += char(std::toupper(*c));
  }
  out += cat(": ", s.message());
  for (const auto& [key, value] : s.payloads()) {
    if (!key.starts_with("weft/")) out += cat(" [", key, "='", value, "']");
  }
  return out;
}

Status coordination_error(Status s) { return s.with_payload(kErrorPayload, ""); }

Status barrier_error(Status s, const std::string& id, int64_t counter) {
  ProtoWriter w;
  w.bytes(1, id);
  if (counter) w.int64(2, counter);
  return coordination_error(s.with_payload(kBarrierPayload, w.take()));
}

bool is_coordination_error(const Status& s) {
  for (const auto& [key, value] : s.payloads()) {
    if (key == kErrorPayload) return true;
  }
  return false;
}

std::optional<int64_t> barrier_counter(const Status& s) {
  for (const auto& [key, value] : s.payloads()) {
    if (key != kBarrierPayload) continue;
    int64_t counter = 0;
    ProtoReader r(value);
    while (r.next()) {
      if (r.field() == 2) counter = r.int64();
    }
    return counter;
  }
  return std::nullopt;
}

}  // namespace weft_engine::remote
