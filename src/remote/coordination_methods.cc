// The service's methods as others call them.
#include "remote/coordination_service.h"
#include "remote/read_message.h"

namespace weft_engine::remote {
namespace {

using wire::ProtoReader;
using wire::ProtoWriter;

constexpr std::string_view kCoordination = "tensorflow.CoordinationService";

Message leader_incarnation(const CoordinationService& s) {
  ProtoWriter w;
  w.fixed64(1, s.incarnation());
  return Message(w.take());
}

std::string key_value(const std::string& key, const std::string& value) {
  ProtoWriter kv;
  kv.bytes(1, key);
  kv.bytes(2, value);
  return kv.take();
}

Message one_value(const std::string& key, const std::string& value) {
  ProtoWriter w;
  w.bytes(1, key_value(key, value));
  return Message(w.take());
}

// Messages of a key in field 1 and perhaps a number in field 2.
struct KeyRequest {
  std::string key;
  int64_t number = 0;
};
Result<KeyRequest> decode_key(std::string_view bytes) {
  KeyRequest out;
  WEFT_RETURN_IF_ERROR(read_message("key", bytes, [&](ProtoReader& r) {
    if (r.field() == 1) out.key = r.string();
    if (r.field() == 2) out.number = r.int64();
  }));
  return out;
}

// The tasks in a field that may come several times.
Result<std::vector<CoordinatedTask>> decode_tasks(std::string_view bytes, int field) {
  std::vector<CoordinatedTask> out;
  WEFT_RETURN_IF_ERROR(read_message("coordination", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() != field) return {};
    WEFT_ASSIGN(CoordinatedTask t, decode_coordinated_task(r.bytes()));
    out.push_back(std::move(t));
    return {};
  }));
  return out;
}

Result<CoordinatedTask> decode_source(std::string_view bytes) {
  WEFT_ASSIGN(std::vector<CoordinatedTask> tasks, decode_tasks(bytes, 1));
  return tasks.empty() ? CoordinatedTask() : tasks.back();
}

Result<Message> insert_value(CoordinationService& s, std::string_view bytes) {
  std::string key, value;
  bool overwrite = false;
  WEFT_RETURN_IF_ERROR(read_message("InsertKeyValueRequest", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 2) overwrite = r.boolean();
    if (r.field() != 1) return {};
    return read_message("KeyValueEntry", r.bytes(), [&](ProtoReader& kv) { (kv.field() == 1 ? key : value) = kv.string(); });
  }));
  WEFT_RETURN_IF_ERROR(s.insert(key, value, overwrite));
  return Message();
}

void wait_for_all_tasks(const std::shared_ptr<CoordinationService>& s, std::string_view bytes, Reply reply) {
  CoordinatedTask task;
  std::vector<std::string> devices;
  Status read = read_message("WaitForAllTasksRequest", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 5) {
      WEFT_ASSIGN(task, decode_coordinated_task(r.bytes()));
    } else if (r.field() == 6) {
      return read_message("DeviceInfo", r.bytes(), [&](ProtoReader& info) {
        if (info.field() == 1) devices.push_back(info.string());
      });
    }
    return {};
  });
  if (!read.ok()) return reply(std::move(read), {});
  s->wait_for_all(task, std::move(devices), [s, reply = std::move(reply)](Status done) {
    if (!done.ok()) return reply(std::move(done), {});
    ProtoWriter w, info;
    w.fixed64(1, s->incarnation());
    for (const std::string& d : s->devices()) info.bytes(1, d);
    w.message(4, info);
    reply({}, Message(w.take()));
  });
}

}  // namespace

void add_coordination_methods(MethodTable& methods, std::shared_ptr<CoordinationService> service) {
  using S = CoordinationService;
  // Answers at once.
  const auto add = [&](std::string_view name, Result<Message> (*handler)(S&, std::string_view)) {
    methods.add(kCoordination, name, [service, handler](std::string_view q, Reply reply) {
      if (!service) return reply(internal_error("Coordination service is not enabled."), {});
      auto response = handler(*service, q);
      if (response.ok()) reply({}, std::move(response).value());
      else reply(response.status(), {});
    });
  };
  // Answers when what it waits for has come.
  const auto add_waiting = [&](std::string_view name, void (*handler)(const std::shared_ptr<S>&, std::string_view, Reply)) {
    methods.add(kCoordination, name, [service, handler](std::string_view q, Reply reply) {
      if (!service) return reply(internal_error("Coordination service is not enabled."), {});
      handler(service, q, std::move(reply));
    });
  };
  // The same for what may never come: the service forgets who waits no longer.
  const auto add_abandoned = [&](std::string_view name, void (*handler)(const std::shared_ptr<S>&, std::string_view, Reply, S::Gone)) {
    methods.add_waiting(kCoordination, name, [service, handler](std::string_view q, Reply reply, const OnAbandoned& on_abandoned) {
      if (!service) return reply(internal_error("Coordination service is not enabled."), {});
      auto gone = std::make_shared<std::atomic<bool>>(false);
      on_abandoned([gone] { gone->store(true); });
      handler(service, q, std::move(reply), std::move(gone));
    });
  };
  const auto then_empty = [](Reply reply) { return [reply = std::move(reply)](Status s) { reply(std::move(s), {}); }; };

  add_waiting("RegisterTask", [](const std::shared_ptr<S>& s, std::string_view q, Reply reply) {
    auto r = decode_task_incarnation(q, 5);
    if (!r.ok()) return reply(r.status(), {});
    s->register_task(r->task, r->incarnation,
                     [s, reply = std::move(reply)](Status done) { reply(done, done.ok() ? leader_incarnation(*s) : Message()); });
  });
  add("Heartbeat", [](S& s, std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(TaskIncarnation r, decode_task_incarnation(q, 4));
    WEFT_RETURN_IF_ERROR(s.heartbeat(r.task, r.incarnation));
    return leader_incarnation(s);
  });
  add_waiting("WaitForAllTasks", wait_for_all_tasks);
  methods.add(kCoordination, "ShutdownTask", [service, then_empty](std::string_view q, Reply reply) {
    auto task = decode_source(q);
    if (!service || !task.ok()) return reply(service ? task.status() : internal_error("Coordination service is not enabled."), {});
    service->shutdown_task(*task, then_empty(std::move(reply)));
  });
  add("ResetTask", [](S& s, std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(CoordinatedTask task, decode_source(q));
    WEFT_RETURN_IF_ERROR(s.reset_task(task));
    return Message();
  });
  add("ReportErrorToService", [](S& s, std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(ReportedError e, decode_reported_error(q, true));
    WEFT_RETURN_IF_ERROR(s.report_error(e.source, coordination_error(Status(Code(e.code), e.message))));
    return Message();
  });
  add("GetTaskState", [](S& s, std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(std::vector<CoordinatedTask> tasks, decode_tasks(q, 1));
    WEFT_ASSIGN(std::vector<TaskStateInfo> states, s.task_states(tasks));
    return Message(encode_task_states(states));
  });
  add_abandoned("GetAliveTasks", [](const std::shared_ptr<S>& s, std::string_view q, Reply reply, S::Gone gone) {
    auto asking = decode_source(q);
    auto tasks = decode_tasks(q, 2);
    if (!asking.ok() || !tasks.ok()) return reply(asking.ok() ? tasks.status() : asking.status(), {});
    s->alive_tasks(
        *asking, *tasks,
        [reply = std::move(reply)](const Status& done, const std::vector<TaskStateInfo>& alive) {
          ProtoWriter w;
          std::string incarnations;
          for (const TaskStateInfo& t : alive) {
            w.bytes(1, encode_coordinated_task(t.task));
            incarnations.append(reinterpret_cast<const char*>(&t.incarnation), sizeof t.incarnation);
          }
          if (!alive.empty()) w.bytes(2, incarnations);  // packed
          reply(done, done.ok() ? Message(w.take()) : Message());
        },
        std::move(gone));
  });
  add_abandoned("WatchJobState", [](const std::shared_ptr<S>& s, std::string_view q, Reply reply, S::Gone gone) {
    auto job = decode_key(q);
    if (!job.ok()) return reply(job.status(), {});
    s->watch_job(
        job->key, job->number,
        [reply = std::move(reply)](const Status& done, const std::vector<TaskStateInfo>& states, int64_t version) {
          ProtoWriter w;
          w.int64(2, version);
          reply(done, done.ok() ? Message(encode_task_states(states) + w.take()) : Message());
        },
        std::move(gone));
  });
  methods.add(kCoordination, "PollForError", [service, then_empty](std::string_view q, Reply reply) {
    auto task = decode_source(q);
    if (!service || !task.ok()) return reply(service ? task.status() : internal_error("Coordination service is not enabled."), {});
    service->poll_for_error(*task, then_empty(std::move(reply)));
  });
  add("InsertKeyValue", insert_value);
  add_abandoned("GetKeyValue", [](const std::shared_ptr<S>& s, std::string_view q, Reply reply, S::Gone gone) {
    auto key = decode_key(q);
    if (!key.ok()) return reply(key.status(), {});
    s->get(
        key->key,
        [key = key->key, reply = std::move(reply)](Status done, const std::string& value) {
          reply(done, done.ok() ? one_value(key, value) : Message());
        },
        std::move(gone));
  });
  add("TryGetKeyValue", [](S& s, std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(KeyRequest key, decode_key(q));
    WEFT_ASSIGN(std::string value, s.try_get(key.key));
    return one_value(key.key, value);
  });
  add("IncrementKeyValue", [](S& s, std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(KeyRequest key, decode_key(q));
    WEFT_ASSIGN(std::string value, s.increment(key.key, key.number));
    return one_value(key.key, value);
  });
  add("GetKeyValueDir", [](S& s, std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(KeyRequest key, decode_key(q));
    ProtoWriter w;
    w.bytes(1, key.key);
    for (const auto& [k, v] : s.directory(key.key)) w.bytes(2, key_value(k, v));
    return Message(w.take());
  });
  add("DeleteKeyValue", [](S& s, std::string_view q) -> Result<Message> {
    WEFT_ASSIGN(KeyRequest key, decode_key(q));
    s.remove(key.key);
    return Message();
  });
  add_waiting(kBarrierMethod, [](const std::shared_ptr<S>& s, std::string_view q, Reply reply) {
    auto request = decode_barrier(q);
    if (!request.ok()) return reply(request.status(), {});
    s->barrier(*request, [reply = std::move(reply)](Status done, int64_t counter) {
      ProtoWriter w;
      w.int64(1, counter);
      reply(done, done.ok() ? Message(w.take()) : Message());
    });
  });
  add("CancelBarrier", [](S& s, std::string_view q) -> Result<Message> {
    // id, task, counter in fields 1, 2, 3
    BarrierRequest request;
    WEFT_RETURN_IF_ERROR(read_message("CancelBarrierRequest", q, [&](ProtoReader& r) -> Status {
      if (r.field() == 1) request.id = r.string();
      if (r.field() == 2) {
        WEFT_ASSIGN(request.source, decode_coordinated_task(r.bytes()));
      }
      if (r.field() == 3) request.counter = r.int64();
      return {};
    }));
    WEFT_RETURN_IF_ERROR(s.cancel_barrier(request));
    return Message();
  });
}

}  // namespace weft_engine::remote
