// MasterSession: a session that this task is the master of. It has the client's graph, places it over the devices of all tasks, cuts what a step
// needs into a part for each device, registers the parts with their tasks once for each set of feeds and fetches, and runs them together.
#pragma once

#include <deque>
#include <tuple>

#include "op/cancellation.h"
#include "remote/graph_service.h"
#include "runtime/partial_run.h"
#include "runtime/step_body.h"

namespace weft_engine::remote {

// A part of a step on one device.
struct StepPart {
  std::string task;
  std::shared_ptr<RegisteredGraph> here;  // null: the task is another one, which knows the part by `graph`
  std::string graph;
  std::vector<int> args, rets;                   // which feeds it takes and which fetches it gives
  std::vector<std::string> feed_keys, fetch_keys;  // as messages name them
};
struct StepPlan {
  std::vector<StepPart> parts;
  std::vector<std::string> feeds, fetches, targets;  // as the client names them
  std::vector<DType> feed_types;
};

// What runs together in one step; part by part, each calls end() once.
class StepRun;
void cancel_step(StepRun& run);

// Whether a task or a device is one of those that the filters name; no filters: all are.
bool passes_filters(const std::vector<std::string>& filters, const std::string& name);

class MasterSession : public std::enable_shared_from_this<MasterSession> {
 public:
  // Waits until all tasks that the config does not filter out have answered, or until `stopping` or a cancellation.
  static Result<std::shared_ptr<MasterSession>> make(std::shared_ptr<GraphService> here, std::shared_ptr<Connections> connections,
                                                     const ClusterMap& cluster, const CreateSession& request, const std::atomic<bool>& stopping,
                                                     op::CancellationManager& cancellation);
  ~MasterSession();

  const std::string& handle() const { return handle_; }
  // The new version. Aborted where the client does not know the present one.
  Result<int64_t> extend(ExtendSession request);
  RunStepResult run_step(const RunStep& request, op::CancellationManager& cancellation);
  Result<std::string> setup_partial_run(const PartialRunSetup& request);
  Result<int64_t> make_callable(const MakeCallable& request);
  Result<Message> run_callable(const RunCallable& request, op::CancellationManager& cancellation);
  Status release_callable(int64_t handle);
  std::vector<DeviceAttributes> devices() const { return attributes_; }
  const std::vector<std::string>& tasks() const { return tasks_; }
  // Cancels what runs; the workers forget the session.
  void close();

 private:
  MasterSession(std::shared_ptr<GraphService> here, std::shared_ptr<Connections> connections, std::string task);
  struct Names {
    std::vector<std::string> feeds, fetches, targets;
    std::vector<std::pair<std::string, std::string>> connections = {};
    bool operator<(const Names& o) const {
      return std::tie(feeds, fetches, targets, connections) < std::tie(o.feeds, o.fetches, o.targets, o.connections);
    }
  };
  struct Endpoints {
    std::vector<graph::Endpoint> feeds, fetches;
    std::vector<graph::Node*> targets;
    std::vector<runtime::Connection> connections = {};
  };
  Status reach(const ClusterMap& cluster, const std::atomic<bool>& stopping, op::CancellationManager& cancellation);
  // `sent`: the cluster as workers are told of it; empty: they have their own.
  Status create_worker_sessions(const ClusterMap& cluster, const ClusterMap& sent);
  Status place_graph();
  Result<Endpoints> find(const Names& names) const;
  Result<std::shared_ptr<StepPlan>> plan(const Names& names);
  Result<std::shared_ptr<StepPlan>> make_plan(const Endpoints& ends, std::span<graph::Node* const> done);
  Status register_part(StepPart& part, graph::FunctionBody body, const core::Device& device);
  void drop(StepPlan& plan);
  Status run(StepPlan& plan, std::span<Tensor> feeds, std::span<Tensor> results, const RunOptions& options, std::string* metadata = nullptr,
             op::CancellationManager* cancellation = nullptr);
  Status run_part_of_step(const RunStep& request, std::vector<Tensor>& results);
  void cleanup(const StepPlan& plan, int64_t step_id);

  const std::shared_ptr<GraphService> here_;
  const std::shared_ptr<Connections> connections_;
  const std::string task_;  // this one, as the session's cluster names it
  const std::string handle_ = random_handle();
  std::string config_;
  bool soft_placement_ = false, log_placement_ = false;
  int64_t timeout_ms_ = 0;
  std::vector<std::string> filters_;
  bool isolated_ = false;
  std::vector<std::string> tasks_;  // other than this one
  std::vector<DeviceAttributes> attributes_;
  std::unique_ptr<DeviceSet> devices_;  // for placing
  std::map<std::string, uint64_t> incarnations_;

  std::mutex mutex_;  // the graph
  graph::FunctionBody whole_;
  int64_t version_ = 0;
  bool placed_ = false;

  std::mutex state_mutex_;
  bool closed_ = false;
  std::map<Names, std::shared_ptr<StepPlan>> plans_;
  std::deque<Names> plan_order_;
  std::set<StepRun*> running_;
  std::map<std::string, std::shared_ptr<runtime::PartialRun>> partial_runs_;
  int64_t next_partial_run_ = 0, next_callable_ = 0;
  struct Callable {
    Names names;
    std::string options;
  };
  std::map<int64_t, Callable> callables_;
};

}  // namespace weft_engine::remote
