// Library: clusters as the rest of the engine sees them. All of remote/ is in libweft_grpc.so, which engine/clusters.h loads when a cluster is first used: who works on one machine
// does not pay for it. Front ends use the types of remote/ and call these functions, and virtual functions of what they give.
#pragma once

#include "op/data_service.h"
#include "remote/client.h"
#include "remote/cluster_status.h"
#include "remote/collective_task.h"
#include "remote/data_service/server.h"
#include "remote/profile.h"
#include "remote/settings.h"
#include "runtime/remote_session.h"
#include "runtime/server.h"
#include "wire/variant_data.h"

namespace weft_engine::remote {

struct Library {
  const TransportApi* transport;
  // Once, before all else: what the engine gives.
  void (*start)(wire::VariantCodec variants);
  const Result<Settings>& (*settings)();
  Result<ServerDef> (*decode_server_def)(std::string_view bytes);

  // client.h
  Status (*connect)(eager::Context& context, const ServerDef& def, const ConnectOptions& options);
  Status (*update)(eager::Context& context, const ServerDef& def, const ConnectOptions& options);
  Result<bool> (*check_alive)(eager::Context& context, const std::string& task);
  Status (*sync_task)(eager::Context& context, std::string_view task);
  Status (*reconnect)(eager::Context& context, double timeout_seconds);

  // collective_task.h
  Status (*enable_collective_ops)(eager::Context& context, const ServerDef& def);
  Status (*check_peer_health)(eager::Context& context, const std::string& task, double seconds);
  Result<std::shared_ptr<CoordinationAgent>> (*coordination_agent)(eager::Context& context);

  // cluster_status.h, profile.h
  Result<std::vector<TaskAnswer>> (*ask_all)(const ClusterMap& cluster, double seconds);
  Result<std::vector<TaskProfile>> (*profile_all)(const ClusterMap& cluster, double seconds);
  Result<std::unique_ptr<runtime::ServerNetwork>> (*serve_profiler)(int port, TraceInto trace_into);

  // One call of a method ("/tensorflow.ProfilerService/Profile") of whoever listens at the address.
  Result<std::string> (*call)(const std::string& address, const std::string& method, std::string request, double seconds);

  // worker.h, remote_session.h
  Result<std::unique_ptr<runtime::ServerNetwork>> (*serve)(op::Registry& registry, const runtime::ServerSpec& spec, int port);
  const runtime::RemoteSessions* sessions;

  // data_service/
  const op::DataServiceClient* data_service;
  std::unique_ptr<data_service::DispatchServer> (*make_dispatcher)(op::Registry& registry, data_service::DispatcherConfig config);
  std::unique_ptr<data_service::WorkerServer> (*make_data_worker)(op::Registry& registry, data_service::WorkerConfig config);
};

// What both sides have to agree on, besides the names of functions.
inline constexpr uint64_t kLibraryLayout = 1 + (uint64_t(sizeof(Library)) << 8) + (uint64_t(sizeof(Status)) << 20) +
                                           (uint64_t(sizeof(core::Tensor)) << 28) + (uint64_t(sizeof(eager::Context)) << 36) +
                                           (uint64_t(sizeof(Message)) << 52);
inline constexpr char kLibrarySymbol[] = "weft_cluster_library";
// The library takes the addresses of the engine's functions from `engine` (made by cmake/companion.py). Null, or what is wrong.
using GetLibrary = const char* (*)(const void* engine, uint64_t layout, const Library** library);

}  // namespace weft_engine::remote
