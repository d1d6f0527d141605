// Contexts as clients of a cluster (remote/client.h). Collectives over processes and the coordination service are not there yet: what asks for them gets the
// answer that TensorFlow gives where there are none.
#include "capi/internal.h"
#include "remote/client.h"
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

Status no_coordination(TFE_Context* c, std::string_view who = "Coordination service") {
  WEFT_NOT_NULL(c);
  return failed_precondition(who, " is not enabled.");
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
  guard(status, [&] { return not_there_yet(c, proto, length, "TFE_EnableCollectiveOps"); });
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
void TFE_CollectiveOpsCheckPeerHealth(TFE_Context* c, const char* task, int64_t, TF_Status* status) {
  guard(status, [&] { return no_worker(c, task); });
}
// The status is the reason that waiting collectives get; none can wait.
void TFE_AbortCollectiveOps(TFE_Context*, TF_Status*) {}

void TFE_InsertConfigKeyValue(TFE_Context* c, const char*, const char*, TF_Status* status) {
  guard(status, [&] { return no_coordination(c, "Coordination service agent"); });
}
void TFE_GetConfigKeyValue(TFE_Context* c, const char*, int64_t, TF_Buffer*, TF_Status* status) {
  guard(status, [&] { return no_coordination(c); });
}
void TFE_DeleteConfigKeyValue(TFE_Context* c, const char*, TF_Status* status) {
  guard(status, [&] { return no_coordination(c); });
}
void TFE_ReportErrorToCluster(TFE_Context* c, int, const char*, TF_Status* status) {
  guard(status, [&] { return no_coordination(c); });
}
void TFE_GetTaskStates(TFE_Context* c, const TF_Buffer&, void*, TF_Status* status) {
  guard(status, [&] { return no_coordination(c); });
}
void TFE_WaitAtBarrier(TFE_Context* c, const char*, int64_t, TF_Status* status) {
  guard(status, [&] { return no_coordination(c); });
}
