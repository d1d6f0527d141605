// Contexts as clients of a cluster (remote/client.h) and as tasks of one (remote/collective_task.h), with the coordination service
// where the ServerDef configures it: what asks for one that is not there gets TensorFlow's answer.
#include "capi/internal.h"
#include "remote/client.h"
#include "remote/collective_task.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tensorflow/c/eager/c_api_experimental.h"

using namespace weft_engine::capi;  // NOLINT

namespace {

// Ten minutes, as TensorFlow, where the caller gives no time.
constexpr int64_t kTimeoutMs = 600000;

using weft_engine::remote::ServerDef;
using Join = Status (*)(weft_engine::eager::Context& context, const ServerDef& def, const weft_engine::remote::ConnectOptions& options);

// `keep_alive`: seconds after which tasks forget this client; 0: the default.
Status join_cluster(TFE_Context* c, int keep_alive, const void* proto, size_t length, Join join, int64_t timeout_ms = kTimeoutMs) {
  WEFT_NOT_NULL(c);
  if (length) WEFT_NOT_NULL(proto);
  auto server = weft_engine::remote::decode_server_def({static_cast<const char*>(proto), length});
  if (!server.ok()) return invalid_argument("Invalid tensorflow.ServerDef protocol buffer");
  weft_engine::remote::ConnectOptions options{.timeout_seconds = double(timeout_ms) / 1000};
  if (keep_alive > 0) options.keep_alive_seconds = keep_alive;
  return join(c->context, *server, options);
}

Status not_there_yet(TFE_Context* c, const void* proto, size_t length, std::string_view function) {
  WEFT_NOT_NULL(c);
  if (length) WEFT_NOT_NULL(proto);
  if (!weft_engine::remote::decode_server_def({static_cast<const char*>(proto), length}).ok())
    return invalid_argument("Invalid tensorflow.ServerDef protocol buffer");
  return unimplemented(function, " is not there yet; TFE_ContextSetServerDef connects a context to a cluster");
}

// Runs f with the agent of the coordination service.
template <class F>
Status with_agent(TFE_Context* c, F&& f) {
  WEFT_NOT_NULL(c);
  WEFT_ASSIGN(auto agent, weft_engine::remote::coordination_agent(c->context));
  return f(*agent);
}

Status no_worker(TFE_Context* c, const char* task) {
  WEFT_NOT_NULL(c);
  WEFT_NOT_NULL(task);
  return invalid_argument("Unable to find worker interface corresponding to task ", task);
}

}  // namespace

void TFE_ContextSetServerDef(TFE_Context* c, int keep_alive, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, weft_engine::remote::connect); });
}
void TFE_ContextSetServerDefWithTimeout(TFE_Context* c, int keep_alive, const void* proto, size_t length, int64_t timeout_ms, TF_Status* status,
                                        bool) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, weft_engine::remote::connect, timeout_ms); });
}
void TFE_ContextSetServerDefWithTimeoutAndRetries(TFE_Context* c, int keep_alive, const void* proto, size_t length, int64_t timeout_ms, int,
                                                  TF_Status* status, bool) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, weft_engine::remote::connect, timeout_ms); });
}
void TFE_ContextUpdateServerDef(TFE_Context* c, int keep_alive, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, weft_engine::remote::update); });
}
void TFE_ContextUpdateServerDefWithTimeout(TFE_Context* c, int keep_alive, const void* proto, size_t length, int64_t timeout_ms, TF_Status* status) {
  guard(status, [&] { return join_cluster(c, keep_alive, proto, length, weft_engine::remote::update, timeout_ms); });
}
void TFE_InitializeLocalOnlyContext(TFE_Context* c, int, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&] { return not_there_yet(c, proto, length, "TFE_InitializeLocalOnlyContext"); });
}
void TFE_EnableCollectiveOps(TFE_Context* c, const void* proto, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    if (length) WEFT_NOT_NULL(proto);
    auto def = weft_engine::remote::decode_server_def({static_cast<const char*>(proto), length});
    if (!def.ok()) return invalid_argument("Invalid tensorflow.ServerDef protocol buffer");
    return weft_engine::remote::enable_collective_ops(c->context, *def);
  });
}
bool TFE_ContextCheckAlive(TFE_Context* c, const char* worker, TF_Status* status) {
  bool alive = false;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(worker);
    WEFT_ASSIGN(alive, weft_engine::remote::check_alive(c->context, worker));
    return {};
  });
  return alive;
}
void TFE_CollectiveOpsCheckPeerHealth(TFE_Context* c, const char* task, int64_t timeout_ms, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(task);
    return weft_engine::remote::check_peer_health(c->context, task, double(timeout_ms) / 1000);
  });
}
// The status is the reason that waiting collectives get.
void TFE_AbortCollectiveOps(TFE_Context* c, TF_Status* status) {
  if (c && status) weft_engine::remote::abort_collective_ops(c->context, status->status);
}

using Agent = weft_engine::remote::CoordinationAgent;

void TFE_InsertConfigKeyValue(TFE_Context* c, const char* key, const char* value, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    if (!weft_engine::remote::coordination_agent(c->context).ok()) return failed_precondition("Coordination service agent is not enabled.");
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
// The tasks and states are objects of TensorFlow's own C++ classes, which only its libraries have.
void TFE_GetTaskStates(TFE_Context* c, const TF_Buffer&, void*, TF_Status* status) {
  guard(status, [&]() -> Status {
    return with_agent(
        c, [](Agent&) -> Status { return unimplemented("TFE_GetTaskStates takes objects of protobuf's C++ classes, which weft does not have"); });
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
