// Servers of a cluster (runtime/server.h). ServerDefs are read and checked as TensorFlow does it.
#include <algorithm>
#include <map>

#include "capi/internal.h"
#include "io/op_def.h"
#include "runtime/server.h"
#include "tensorflow/c/c_api_experimental.h"
#include "wire/message_view.h"
#include "wire/text_format.h"

using namespace weft_engine::capi;  // NOLINT

struct TF_Server {
  std::shared_ptr<weft_engine::runtime::Server> server;
};

namespace {

using weft_engine::wire::MessageView;
using weft_engine::wire::WireValue;

constexpr char kServerDef[] = "tensorflow.ServerDef";

// The value of a field, zero or empty if it is not set.
WireValue get(const MessageView& m, std::string_view field) {
  const auto def = m.def().find(field);
  const WireValue* v = def ? m.find(def.number()) : nullptr;
  return v ? *v : WireValue();
}

// Addresses by job and task.
Result<std::map<std::string, std::map<int, std::string>>> read_cluster(const MessageView& server) {
  std::map<std::string, std::map<int, std::string>> out;
  const auto& schema = weft_engine::wire::Schema::builtin();
  WEFT_ASSIGN(MessageView cluster, MessageView::read(schema.find("tensorflow.ClusterDef"), get(server, "cluster").bytes));
  for (const auto& f : cluster.fields()) {
    for (const WireValue& v : cluster.values(f)) {
      WEFT_ASSIGN(MessageView job, MessageView::read(schema.find("tensorflow.JobDef"), v.bytes));
      auto& tasks = out[std::string(get(job, "name").bytes)];
      for (const auto& t : job.fields()) {
        if (!t.def.is_map()) continue;
        WEFT_ASSIGN(std::vector<MessageView> entries, weft_engine::wire::read_map(t.def.message(), job.values(t)));
        for (const MessageView& e : entries) tasks[int(get(e, "key").number)] = std::string(get(e, "value").bytes);
      }
    }
  }
  return out;
}

Result<weft_engine::runtime::ServerSpec> read_server_def(std::string_view bytes) {
  auto def = MessageView::read(weft_engine::wire::Schema::builtin().find(kServerDef), bytes);
  if (!def.ok()) return invalid_argument("Could not parse provided bytes into a ServerDef protocol buffer");
  if (get(*def, "protocol").bytes != "grpc") {
    WEFT_ASSIGN(std::string text, weft_engine::wire::binary_to_text(kServerDef, bytes));
    return not_found("No server factory registered for the given ServerDef: ", text, "\nThe available server factories are: [ GRPC_SERVER ]");
  }
  weft_engine::runtime::ServerSpec spec;
  spec.job = std::string(get(*def, "job_name").bytes);
  spec.task = int(get(*def, "task_index").number);
  spec.port = int(get(*def, "port").number);
  WEFT_ASSIGN(spec.cluster, read_cluster(*def));
  WEFT_ASSIGN(weft_engine::io::SessionConfig config, weft_engine::io::decode_config(get(*def, "default_session_config").bytes));
  spec.cpu_devices = std::max(1, config.cpu_devices);
  spec.config = std::string(get(*def, "default_session_config").bytes);
  return spec;
}

}  // namespace

TF_Buffer* TFE_GetServerDef(const char* text_proto, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(text_proto);
    auto bytes = weft_engine::wire::text_to_binary(kServerDef, text_proto);
    if (!bytes.ok()) return internal_error("Invalid text proto for ServerDef: ", text_proto);
    out = new_buffer(*bytes);
    return {};
  });
  return out;
}

TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status) {
  TF_Server* out = nullptr;
  guard(status, [&]() -> Status {
    if (proto_len) WEFT_NOT_NULL(proto);
    WEFT_ASSIGN(weft_engine::runtime::ServerSpec spec, read_server_def({static_cast<const char*>(proto), proto_len}));
    WEFT_ASSIGN(auto server, weft_engine::runtime::Server::make(std::move(spec)));
    out = new TF_Server{std::move(server)};
    return {};
  });
  return out;
}
void TF_ServerStart(TF_Server* server, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(server);
    return server->server->start();
  });
}
void TF_ServerStop(TF_Server* server, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(server);
    return server->server->stop();
  });
}
void TF_ServerJoin(TF_Server* server, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(server);
    return server->server->join();
  });
}
const char* TF_ServerTarget(TF_Server* server) { return server ? server->server->target().c_str() : ""; }
void TF_DeleteServer(TF_Server* server) { delete server; }
