#include "remote/collective_task.h"

#include <charconv>

#include "remote/coordination_service.h"
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
  explicit ClusterTask(std::string def) : def_(std::move(def)) {}
  // In good order: the service hears that this task leaves, then whoever waits for it.
  ~ClusterTask() override {
    if (agent) (void)agent->shutdown();
    if (service) service->stop();
  }
  std::string type_name() const override { return "ClusterTask"; }
  const std::string& def() const { return def_; }

  std::shared_ptr<Collectives> collectives;
  std::shared_ptr<CoordinationService> service;  // null: another task has it, or none
  std::shared_ptr<CoordinationAgent> agent;      // null: there is no service
  std::unique_ptr<runtime::ServerNetwork> network;

 private:
  const std::string def_;
};

Result<std::shared_ptr<ClusterTask>> task_of_context(eager::Context& context) {
  return context.resources().find<ClusterTask>(ClusterTask::kContainer, ClusterTask::kName);
}

Result<int> own_port(const std::string& task, const std::string& address, int given) {
  if (given > 0) return given;
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
  WEFT_ASSIGN(const int port, own_port(task, address, def.port));
  WEFT_ASSIGN(std::string leader, collective_leader(def.config, def.cluster, def.job));
  WEFT_ASSIGN(const TransportApi* api, transport());

  auto made = std::make_shared<ClusterTask>(bytes);
  WEFT_ASSIGN(CoordinationConfig config, coordination_config(def, leader));
  auto worker = std::make_unique<Worker>(context.registry(), *api, &context.devices(), task, def.cluster, std::move(leader));
  made->collectives = worker->collectives();
  if (config.enabled()) {
    if (config.leader == task) made->service = std::make_shared<CoordinationService>(config, worker->connections());
    made->agent = std::make_shared<CoordinationAgent>(config, CoordinatedTask{def.job, def.task}, worker->connections(),
                                                      [c = made->collectives](const Status& s) { c->executor()->start_abort(s); });
    add_agent_methods(worker->methods(), made->agent);
  }
  add_coordination_methods(worker->methods(), made->service);
  WEFT_ASSIGN(made->network, serve(std::move(worker), task, address, port));
  if (!runtime::set_task(&context.devices(), def.job, def.task))
    return unimplemented("the devices of this context cannot take the names of a task: it is one of a server");
  context.clear_kernels();
  if (made->agent) {
    WEFT_RETURN_IF_ERROR(made->agent->connect());
    std::vector<std::string> devices;
    for (const auto& d : context.devices().all()) devices.push_back(encode_device(attributes_of(*d)));
    WEFT_RETURN_IF_ERROR(made->agent->wait_for_all(devices));
  }
  WEFT_RETURN_IF_ERROR(made->collectives->install(context.resources()));
  return context.resources().create(ClusterTask::kContainer, ClusterTask::kTypeName, ClusterTask::kName, std::move(made));
}

Status check_peer_health(eager::Context& context, const std::string& task, double seconds) {
  auto own = task_of_context(context);
  if (!own.ok()) return invalid_argument("Unable to find worker interface corresponding to task ", task);
  return (*own)->collectives->check_peer(task, seconds);
}

Result<std::shared_ptr<CoordinationAgent>> coordination_agent(eager::Context& context) {
  auto own = task_of_context(context);
  if (!own.ok() || !(*own)->agent) return failed_precondition("Coordination service is not enabled.");
  return (*own)->agent;
}

}  // namespace weft_engine::remote
