// Servers of a cluster (runtime/server.h). ServerDefs are read and checked as TensorFlow does it.
#include <algorithm>

#include "capi/internal.h"
#include "engine/clusters.h"
#include "engine/engine.h"
#include "io/op_def.h"
#include "runtime/server.h"
#include "tensorflow/c/c_api_experimental.h"
#include "wire/text_format.h"

using namespace weft_engine::capi;  // NOLINT

struct TF_Server {
  std::shared_ptr<weft_engine::runtime::Server> server;
};

namespace {

constexpr char kServerDef[] = "tensorflow.ServerDef";

Result<weft_engine::runtime::ServerSpec> read_server_def(std::string_view bytes) {
  WEFT_ASSIGN(const auto* clusters, weft_engine::engine::clusters());
  auto def = clusters->decode_server_def(bytes);
  if (!def.ok()) return invalid_argument("Could not parse provided bytes into a ServerDef protocol buffer");
  if (def->protocol != "grpc") {
    auto text = weft_engine::wire::binary_to_text(kServerDef, bytes);
    if (!text.ok()) return invalid_argument("Could not parse provided bytes into a ServerDef protocol buffer");
    return not_found("No server factory registered for the given ServerDef: ", *text, "\nThe available server factories are: [ GRPC_SERVER ]");
  }
  weft_engine::runtime::ServerSpec spec;
  spec.job = def->job;
  spec.task = def->task;
  spec.port = def->port;
  spec.cluster = def->cluster;
  WEFT_ASSIGN(weft_engine::io::SessionConfig config, weft_engine::io::decode_config(def->config));
  spec.cpu_devices = std::max(1, config.cpu_devices);
  spec.config = def->config;
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
    weft_engine::engine::Engine::get();  // it knows who makes servers, and this may be the program's first call
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
