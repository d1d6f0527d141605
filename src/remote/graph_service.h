// GraphService: the graph half of WorkerService. Masters, of other processes or of this one, register the parts of their graphs that are on this
// task's devices, and run them step by step. Variables, queues, tables and iterators are in the task's containers and outlive sessions.
#pragma once

#include <atomic>
#include <set>

#include "remote/eager_service.h"
#include "remote/graph_messages.h"
#include "runtime/function_runtime.h"

namespace weft_engine::remote {

// This task as a session sees it whose cluster is its own (ConfigProto.cluster_def), where it may have another name.
struct SessionHome {
  std::string task;
  std::shared_ptr<const DeviceSet> devices;
  std::shared_ptr<Connections> connections;
};

// A graph that is planned and ready for steps.
class RegisteredGraph {
 public:
  struct Options {
    op::Registry* registry = nullptr;
    const DeviceSet* devices = nullptr;
    std::shared_ptr<op::ResourceManager> resources;
    std::shared_ptr<runtime::KernelCache> kernels;
    std::string config;  // a serialized ConfigProto
    std::shared_ptr<const SessionHome> home;  // null: the server's own; `devices` are its
  };
  // InvalidArgument, or what planning says, for a body that cannot run.
  static Result<std::shared_ptr<RegisteredGraph>> make(graph::FunctionBody body, const Options& options);
  ~RegisteredGraph();

  // Waits for the end of the step's part.
  Status run(int64_t step_id, op::Rendezvous& rendezvous, op::CancellationManager& cancellation, op::StepTrace* trace, std::span<Tensor> args,
             std::span<Tensor> rets);
  // The part after placement, as a GraphDef.
  Result<std::string> graph_def() const;
  const std::shared_ptr<op::ResourceManager>& resources() const { return resources_; }
  const SessionHome* home() const { return home_.get(); }
  // What functions in the resources of the task need for as long as they are there; null: it has no functions.
  std::shared_ptr<void> functions() const;

 private:
  struct Base;
  RegisteredGraph() = default;
  std::shared_ptr<op::ResourceManager> resources_;
  std::shared_ptr<const SessionHome> home_;
  std::shared_ptr<Base> base_;
  std::shared_ptr<runtime::Instance> instance_;
};

class GraphService {
 public:
  GraphService(op::Registry& registry, const DeviceSet* devices, std::string task, std::shared_ptr<StepTable> steps, const TransportApi& transport);
  ~GraphService();

  // Is given the resources that sessions use, those of all of them and those of a session alone, before any graph sees them.
  using Prepare = std::function<Status(op::ResourceManager&)>;
  Status prepare_resources(Prepare prepare);
  const std::string& task() const { return task_; }
  const DeviceSet& devices() const { return *devices_; }
  op::Registry& registry() const { return registry_; }
  StepTable& steps() const { return *steps_; }
  const TransportApi& transport() const { return transport_; }

  Status create_session(const CreateWorkerSession& request);
  Status delete_session(const std::string& session);
  // `session`: of create_session(); where the master did not make one, what all such masters share.
  Result<std::string> register_graph(const RegisterGraph& request);
  // The same for a part of a master in this process, which takes arguments and gives results.
  Result<std::shared_ptr<RegisteredGraph>> register_body(const std::string& session, graph::FunctionBody body, const std::string& config);
  Status deregister_graph(const std::string& session, const std::string& graph);
  Result<Message> run_graph(const RunGraph& request);
  // Waits for the part's end; cancelled by cleanup_step(), or by `stop`.
  Status run(RegisteredGraph& graph, int64_t step_id, op::StepTrace* trace, std::span<Tensor> args, std::span<Tensor> rets,
             op::CancellationManager* stop = nullptr);
  // The step is over: what still runs is cancelled, what was sent and not received goes.
  void cleanup_step(int64_t step_id);
  // Everything in these containers goes; none named: the default one.
  void cleanup_containers(const std::vector<std::string>& containers);
  void stop();

 private:
  struct WorkerSession {
    std::string master_task;
    uint64_t master_incarnation = 0;
    std::string config;
    std::shared_ptr<op::ResourceManager> resources;
    std::shared_ptr<runtime::KernelCache> kernels = std::make_shared<runtime::KernelCache>();
    std::map<std::string, std::shared_ptr<RegisteredGraph>> graphs;
    std::shared_ptr<const SessionHome> home;
    bool gone = false;
  };
  // A step in several calls: runs on a thread of its own, while calls bring feeds and fetch.
  struct PartialStep;
  struct Running {
    std::set<op::CancellationManager*> runs;
    std::shared_ptr<PartialStep> partial;
    std::shared_ptr<op::ResourceManager> resources;
    const WorkerSession* session = nullptr;  // only to be compared; null: of a master in this process, which ends its steps itself
  };
  Result<std::shared_ptr<WorkerSession>> find(const std::string& session);
  // Empty: the one that masters share which did not make one.
  Result<std::shared_ptr<WorkerSession>> find_or_shared(const std::string& session);
  Result<std::shared_ptr<RegisteredGraph>> find_graph(const WorkerSession& session, const std::string& graph);
  // What a master left that did not say that its steps are over.
  void end_steps(const std::vector<std::shared_ptr<WorkerSession>>& gone);
  Status run_partial(const RunGraph& request, const std::shared_ptr<RegisteredGraph>& graph, RunGraphResult& result);
  void keep(const RegisteredGraph& graph);
  RegisteredGraph::Options options_for(const WorkerSession& session, std::string config) const;

  op::Registry& registry_;
  const DeviceSet* const devices_;
  const std::string task_;
  const std::shared_ptr<StepTable> steps_;
  const TransportApi& transport_;
  const std::shared_ptr<op::ResourceManager> resources_ = std::make_shared<op::ResourceManager>();
  Prepare prepare_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<WorkerSession>> sessions_;
  const std::shared_ptr<WorkerSession> shared_session_;
  std::unordered_map<int64_t, Running> running_;
  std::vector<std::shared_ptr<void>> kept_;  // runtimes whose functions resources may call
  uint64_t next_graph_ = 0;
};

void add_graph_methods(MethodTable& methods, std::shared_ptr<GraphService> service);

// 16 hex digits that nobody else has.
std::string random_handle();

}  // namespace weft_engine::remote
