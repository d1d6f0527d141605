// Contexts as clients of a cluster (remote/client.h) and as tasks of one (remote/collective_task.h), by the library that is loaded for them, with the coordination service
// where the ServerDef configures it: what asks for one that is not there gets TensorFlow's answer.
#include "capi/internal.h"
#include "engine/clusters.h"
#include "op/collective.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"

using namespace weft_engine::capi;  // NOLINT

namespace {

// Ten minutes, as TensorFlow, where the caller gives no time.
constexpr int64_t kTimeoutMs = 600000;

using weft_engine::engine::clusters;
using weft_engine::remote::Library;
using Join = decltype(&Library::connect);  // connect or update

Result<weft_engine::remote::ServerDef> read_server_def(const Library& library, const void* proto, size_t length) {
  if (length) WEFT_NOT_NULL(proto);
  auto def = library.decode_server_def({static_cast<const char*>(proto), length});
  if (!def.ok()) return invalid_argument("Invalid tensorflow.ServerDef protocol buffer");
  return def;
}

// `keep_alive`: seconds after which tasks forget this client; 0: the default.
Status join_cluster(TFE_Context* c, int keep_alive, const void* proto, size_t length, Join join, int64_t timeout_ms = kTimeoutMs) {
  WEFT_NOT_NULL(c);
  WEFT_ASSIGN(const Library* library, clusters());
  WEFT_ASSIGN(const auto server, read_server_def(*library, proto, length));
  weft_engine::remote::ConnectOptions options{.timeout_seconds = double(timeout_ms) / 1000};
  if (keep_alive > 0) options.keep_alive_seconds = keep_alive;
  return (library->*join)(c->context, server, options);
}

Status not_there_yet(TFE_Context* c, const void* proto, size_t length, std::string_view function) {
  WEFT_NOT_NULL(c);
  WEFT_ASSIGN(const Library* library, clusters());
  WEFT_RETURN_IF_ERROR(read_server_def(*library, proto, length).status());
  return unimplemented(function, " is not there yet; TFE_ContextSetServerDef connects a context to a cluster");
}

// Runs f with the agent of the coordination service.
template <class F>
Status with_agent(TFE_Context* c, F&& f) {
  WEFT_NOT_NULL(c);
  WEFT_ASSIGN(const Library* library, clusters());
  WEFT_ASSIGN(auto agent, library->coordination_agent(c->context));
  return f(*agent);
}

}  // namespace

void TFE_ContextSetServerDef(TFE_Context* c, int keep_alive, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, &Library::connect); });
}
void TFE_ContextSetServerDefWithTimeout(TFE_Context* c, int keep_alive, const void* proto, size_t length, int64_t timeout_ms, TF_Status* status,
                                        bool) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, &Library::connect, timeout_ms); });
}
void TFE_ContextSetServerDefWithTimeoutAndRetries(TFE_Context* c, int keep_alive, const void* proto, size_t length, int64_t timeout_ms, int,
                                                  TF_Status* status, bool) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, &Library::connect, timeout_ms); });
}
void TFE_ContextUpdateServerDef(TFE_Context* c, int keep_alive, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, &Library::update); });
}
void TFE_ContextUpdateServerDefWithTimeout(TFE_Context* c, int keep_alive, const void* proto, size_t length, int64_t timeout_ms, TF_Status* status) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, &Library::update, timeout_ms); });
}
void TFE_InitializeLocalOnlyContext(TFE_Context* c, int, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&] { return not_there_yet(c, proto, length, "TFE_InitializeLocalOnlyContext"); });
}
void TFE_EnableCollectiveOps(TFE_Context* c, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_ASSIGN(const Library* library, clusters());
    WEFT_ASSIGN(const auto def, read_server_def(*library, proto, length));
    return library->enable_collective_ops(c->context, def);
  });
}
bool TFE_ContextCheckAlive(TFE_Context* c, const char* worker, TF_Status* status) {
  bool alive = false;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(worker);
    WEFT_ASSIGN(const Library* library, clusters());
    WEFT_ASSIGN(alive, library->check_alive(c->context, worker));
    return {};
  });
  return alive;
}
void TFE_CollectiveOpsCheckPeerHealth(TFE_Context* c, const char* task, int64_t timeout_ms, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(task);
    WEFT_ASSIGN(const Library* library, clusters());
    return library->check_peer_health(c->context, task, double(timeout_ms) / 1000);
  });
}
// The status is the reason that waiting collectives get.
void TFE_AbortCollectiveOps(TFE_Context* c, TF_Status* status) {
  if (c && status && !status->status.ok()) weft_engine::op::collective_executor(c->context.resources())->start_abort(status->status);
}

using Agent = weft_engine::remote::CoordinationAgent;

void TFE_InsertConfigKeyValue(TFE_Context* c, const char* key, const char* value, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_ASSIGN(const Library* library, clusters());
    if (!library->coordination_agent(c->context).ok()) return failed_precondition("Coordination service agent is not enabled.");
    WEFT_NOT_NULL(key);
    WEFT_NOT_NULL(value);
    return with_agent(c, [&](Agent& a) { return a.insert(key, value); });
  });
}
void TFE_GetConfigKeyValue(TFE_Context* c, const char* key, int64_t timeout_ms, TF_Buffer* value, TF_Status* status) {
  guard(status, [&]() -> Status {
    return with_agent(c, [&](Agent& a) -> Status {
      WEFT_NOT_NULL(key);
      WEFT_NOT_NULL(value);
      WEFT_ASSIGN(std::string got, a.get(key, double(timeout_ms) / 1000));
      fill_buffer(value, got);
      return {};
    });
  });
}
void TFE_DeleteConfigKeyValue(TFE_Context* c, const char* key, TF_Status* status) {
  guard(status, [&]() -> Status {
    return with_agent(c, [&](Agent& a) -> Status {
      WEFT_NOT_NULL(key);
      return a.remove(key);
    });
  });
}
void TFE_ReportErrorToCluster(TFE_Context* c, int code, const char* message, TF_Status* status) {
  guard(status, [&]() -> Status {
    return with_agent(c, [&](Agent& a) -> Status {
      WEFT_NOT_NULL(message);
      return a.report_error(Status(static_cast<weft_engine::core::Code>(code), message));
    });
  });
}
// TensorFlow's takes arrays of protobuf's C++ objects and of its own statuses, whose layout only its libraries know.
void TFE_GetTaskStates(TFE_Context* c, const TF_Buffer& tasks, void* states, TF_Status* status) {
  guard(status, [&]() -> Status {
    return with_agent(c, [&](Agent& a) -> Status {
      if (tasks.length) WEFT_NOT_NULL(tasks.data);
      WEFT_ASSIGN(const auto infos, a.task_states(std::string_view(static_cast<const char*>(tasks.data), tasks.length)));
      auto* const out = static_cast<TF_Status**>(states);
      if (!infos.empty()) WEFT_NOT_NULL(out);
      for (size_t i = 0; i < infos.size(); ++i) WEFT_NOT_NULL(out[i]);
      for (size_t i = 0; i < infos.size(); ++i) out[i]->status = infos[i].error;
      return {};
    });
  });
}
void TFE_WaitAtBarrier(TFE_Context* c, const char* id, int64_t timeout_ms, TF_Status* status) {
  guard(status, [&]() -> Status {
    return with_agent(c, [&](Agent& a) -> Status {
      WEFT_NOT_NULL(id);
      return a.barrier(id, timeout_ms);
    });
  });
}
