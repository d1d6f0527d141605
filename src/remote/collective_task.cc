#include "remote/collective_task.h"

#include <charconv>

#include "remote/worker.h"
#include "runtime/shared_devices.h"

namespace weft_engine::remote {
namespace {

// Kept by the context that it was made for.
class ClusterTask final : public Resource {
 public:
  static constexpr const char* kTypeName = "weft.ClusterTask";
  static constexpr const char* kContainer = "cluster_task";
  static constexpr const char* kName = "task";
  ClusterTask(std::string def, std::shared_ptr<Collectives> collectives, std::unique_ptr<runtime::ServerNetwork> network)
      : def_(std::move(def)), collectives_(std::move(collectives)), network_(std::move(network)) {}
  std::string type_name() const override { return "ClusterTask"; }
  const std::string& def() const { return def_; }
  Collectives& collectives() { return *collectives_; }

 private:
  const std::string def_;
  const std::shared_ptr<Collectives> collectives_;
  const std::unique_ptr<runtime::ServerNetwork> network_;
};

Result<std::shared_ptr<ClusterTask>> task_of_context(eager::Context& context) {
  return context.resources().find<ClusterTask>(ClusterTask::kContainer, ClusterTask::kName);
}

Result<int> own_port(const std::string& task, const std::string& address) {
  const size_t colon = address.rfind(':');
  int port = 0;
  const char *first = address.data() + (colon == address.npos ? address.size() : colon + 1), *end = address.data() + address.size();
  if (first == end || std::from_chars(first, end, port).ptr != end || port <= 0 || port > 65535)
    return invalid_argument("Could not parse port for local server from \"", address, "\" of ", task, ".");
  return port;
}

}  // namespace

Status enable_collective_ops(eager::Context& context, const ServerDef& def) {
  if (def.protocol != "grpc") return invalid_argument("the cluster's protocol is '", def.protocol, "'; weft speaks grpc");
  const auto job = def.cluster.find(def.job);
  if (job == def.cluster.end()) return internal_error("Job \"", def.job, "\" was not defined in cluster");
  if (!job->second.contains(def.task)) return internal_error("Task ", def.task, " was not defined in job \"", def.job, "\"");
  const std::string task = task_name(def.job, def.task), &address = job->second.at(def.task), bytes = encode_server_def(def);
  if (auto known = task_of_context(context); known.ok()) {
    if ((*known)->def() == bytes) return {};
    (void)context.resources().remove(ClusterTask::kContainer, ClusterTask::kTypeName, ClusterTask::kName);
  }
  WEFT_ASSIGN(const int port, own_port(task, address));
  WEFT_ASSIGN(std::string leader, collective_leader(def.config, def.cluster, def.job));
  WEFT_ASSIGN(const TransportApi* api, transport());
  if (!runtime::set_task(&context.devices(), def.job, def.task))
    return unimplemented("the devices of this context cannot take the names of a task: it is one of a server");
  context.clear_kernels();

  auto worker = std::make_unique<Worker>(context.registry(), *api, &context.devices(), task, def.cluster, std::move(leader));
  auto collectives = worker->collectives();
  WEFT_ASSIGN(std::unique_ptr<runtime::ServerNetwork> network, serve(std::move(worker), task, address, port));
  WEFT_RETURN_IF_ERROR(collectives->install(context.resources()));
  return context.resources().create(ClusterTask::kContainer, ClusterTask::kTypeName, ClusterTask::kName,
                                    std::make_shared<ClusterTask>(bytes, std::move(collectives), std::move(network)));
}

void abort_collective_ops(eager::Context& context, const Status& status) {
  if (!status.ok()) op::collective_executor(context.resources())->start_abort(status);
}

Status check_peer_health(eager::Context& context, const std::string& task, double seconds) {
  auto own = task_of_context(context);
  if (!own.ok()) return invalid_argument("Unable to find worker interface corresponding to task ", task);
  return (*own)->collectives().check_peer(task, seconds);
}

}  // namespace weft_engine::remote
