#include "remote/worker.h"

#include "remote/own_address.h"
#include "remote/profile.h"

namespace weft_engine::remote {
namespace {

constexpr std::string_view kWorkerService = "tensorflow.WorkerService";

// "source;incarnation;destination;name;frame:iteration", with two names of devices.
bool is_rendezvous_key(std::string_view key) {
  std::vector<std::string_view> parts;
  for (size_t at = 0, end = 0; end != key.npos; at = end + 1) {
    end = key.find(';', at);
    parts.push_back(key.substr(at, end - at));
  }
  return parts.size() >= 5 && !task_of(parts[0]).empty() && !task_of(parts[2]).empty() && !parts[3].empty();
}

}  // namespace

const DeviceSet* task_devices(const std::string& job, int task, int cpus) {
  static std::mutex mutex;
  static auto* sets = new std::vector<std::unique_ptr<DeviceSet>>;  // a restarted task has other incarnations
  std::vector<std::unique_ptr<Device>> list;
  for (int i = 0; i < cpus; ++i) list.push_back(runtime::make_task_cpu(job, task, i));
  std::lock_guard lock(mutex);
  sets->push_back(std::make_unique<DeviceSet>(std::move(list)));
  return sets->back().get();
}

Worker::Worker(op::Registry& registry, const TransportApi& transport, const DeviceSet* devices, std::string task, ClusterMap cluster,
               std::string collective_leader)
    : devices_(devices),
      connections_(std::make_shared<Connections>(transport, cluster)),
      steps_(std::make_shared<StepTable>(task, connections_)),
      collectives_(std::make_shared<Collectives>(task, std::move(collective_leader), connections_, devices)),
      eager_(std::make_shared<EagerService>(registry, devices, task, transport, steps_)),
      graphs_(std::make_shared<GraphService>(registry, devices, task, steps_, transport)),
      master_(std::make_shared<MasterService>(graphs_, connections_, cluster)),
      cluster_(std::move(cluster)) {
  eager_->prepare = [c = collectives_](op::ResourceManager& resources) { return c->install(resources); };
  (void)graphs_->prepare_resources(eager_->prepare);  // they are new: nothing is there that could be in the way
  add_worker_methods();
  add_eager_methods(methods_, eager_);
  add_collective_methods(methods_, collectives_);
  add_graph_methods(methods_, graphs_);
  add_master_methods(methods_, master_);
  add_clock_methods(methods_);
  add_profile_methods(methods_, task, [eager = eager_](op::StepTrace* trace) {
    eager->set_trace(trace);
    return true;
  });
}

void Worker::stop(const Status& status) {
  master_->stop();
  steps_->stop(status);
  graphs_->stop();
  collectives_->executor()->start_abort(status);
}

Worker::~Worker() {
  stop(cancelled("the server has stopped"));
  eager_->close_all();
}

void Worker::add_worker_methods() {
  methods_.add(kWorkerService, "GetStatus", [devices = devices_](std::string_view, Reply reply) {
    std::vector<DeviceAttributes> list;
    for (const auto& d : devices->all()) list.push_back(attributes_of(*d));
    reply({}, Message(encode_device_list(1, list)));
  });
  methods_.add_waiting(kWorkerService, "RecvTensor", [steps = steps_](std::string_view bytes, Reply reply, const OnAbandoned& on_abandoned) {
    auto request = decode_recv_tensor(bytes);
    if (!request.ok()) return reply(request.status(), {});
    if (!is_rendezvous_key(request->key)) return reply(invalid_argument("Invalid  rendezvous key: ", request->key), {});
    auto ticket = std::make_shared<char>();
    const auto done = [ticket, reply = std::move(reply)](Status s, Tensor value, bool dead) {
      if (!s.ok()) return reply(std::move(s), {});
      auto response = encode_recv_tensor_response(value, dead);
      if (!response.ok()) return reply(response.status(), {});
      reply({}, std::move(response).value());
    };
    steps->find_or_create(request->step_id)->recv_local(request->key, done, ticket.get());
    on_abandoned([steps, ticket, step = request->step_id, key = request->key] { steps->give_up(step, key, ticket.get()); });
  });
}

namespace {

class Network final : public runtime::ServerNetwork {
 public:
  Network(std::string task, std::unique_ptr<Worker> worker, std::unique_ptr<Listener> listener)
      : task_(std::move(task)), worker_(std::move(worker)), listener_(std::move(listener)) {}
  ~Network() override { stop(); }
  int port() const override { return listener_->port(); }
  void start() override { publish_task(worker_->cluster(), task_, port()); }
  void stop() override {
    if (std::exchange(stopped_, true)) return;
    publish_task(worker_->cluster(), task_, 0);
    worker_->stop(cancelled("the server has stopped"));
    listener_->stop();
  }

 private:
  const std::string task_;
  bool stopped_ = false;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

Result<std::unique_ptr<runtime::ServerNetwork>> serve(std::unique_ptr<Worker> worker, const std::string& task, const std::string& address, int port) {
  WEFT_ASSIGN(const TransportApi* api, transport());
  WEFT_ASSIGN(std::unique_ptr<Listener> listener, listen_as(*api, task, address, port, worker->service()));
  return std::unique_ptr<runtime::ServerNetwork>(std::make_unique<Network>(task, std::move(worker), std::move(listener)));
}

Result<std::unique_ptr<runtime::ServerNetwork>> serve(op::Registry& registry, const runtime::ServerSpec& spec, int port) {
  WEFT_ASSIGN(const TransportApi* api, transport());
  WEFT_ASSIGN(std::string leader, collective_leader(spec.config, spec.cluster, spec.job));
  const std::string task = task_name(spec.job, spec.task);
  auto worker = std::make_unique<Worker>(registry, *api, task_devices(spec.job, spec.task, spec.cpu_devices), task, spec.cluster, std::move(leader));
  return serve(std::move(worker), task, spec.cluster.at(spec.job).at(spec.task), port);
}

}  // namespace weft_engine::remote
