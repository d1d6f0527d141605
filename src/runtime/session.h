// Session: runs parts of a graph, version 1's way: feeds in, fetches out, targets for their effects. A
// set of feeds and fetches makes a function of the graph, planned once; the graph may grow between runs.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "op/cancellation.h"
#include "op/step_trace.h"
#include "runtime/function_runtime.h"
#include "runtime/interruptible.h"
#include "runtime/remote_session.h"
#include "runtime/step_body.h"

namespace weft_engine::op {
class SessionState;
}

namespace weft_engine::runtime {

struct SessionOptions {
  int cpu_devices = 1, intra_threads = 0, inter_threads = 0;
  bool allow_soft_placement = false, log_device_placement = false;
  int64_t timeout_ms = 0;  // of every run; 0: none
  std::vector<std::string> disabled_passes;
  bool auto_compile = false;  // runs become machine code where they can
  std::string target;  // "grpc://host:port": a master there runs the session, with this ConfigProto; empty: this process
  std::string config;
};

class Session {
 public:
  // `mutex` guards the graph; both must outlive the session.
  Session(graph::Graph& graph, std::mutex& mutex, const SessionOptions& options);
  ~Session();

  struct RunOptions {
    int64_t timeout_ms = 0;
    StepTrace* trace = nullptr;
    CancellationManager* cancellation = nullptr;
    // For a session elsewhere: a serialized RunOptions with the same settings and more, and where to put the RunMetadata.
    std::string_view proto;
    std::string* metadata = nullptr;
    std::span<graph::Node* const> done;  // ran in an earlier part of this step (PartialRun): control edges from them are no reason to run them
  };
  // `fetches` outputs are written to `results`. Errors as TensorFlow's: a fetch that is fed is its feed.
  Status run(std::span<const graph::Endpoint> feeds, std::span<Tensor> feed_values, std::span<const graph::Endpoint> fetches,
             std::span<Tensor> results, std::span<graph::Node* const> targets, const RunOptions& options);
  // The plan for these feeds and fetches, as a graph; for people and tools.
  Result<std::shared_ptr<Instance>> prepare(std::span<const graph::Endpoint> feeds, std::span<const graph::Endpoint> fetches,
                                            std::span<graph::Node* const> targets, std::span<graph::Node* const> done = {});
  // The same part of the graph before any pass: arguments for the feeds, results for the fetches.
  Result<graph::FunctionBody> body(std::span<const graph::Endpoint> feeds, std::span<const graph::Endpoint> fetches,
                                   std::span<graph::Node* const> targets) {
    std::lock_guard lock(graph_mutex_);
    return step_body(graph_, feeds, fetches, targets);
  }

  const DeviceSet& devices() const { return *devices_; }
  // Those that the session's nodes may be on, also where the session runs elsewhere.
  Result<const DeviceSet*> list_devices() { return remote_ ? remote_->devices() : Result<const DeviceSet*>(devices_); }
  // Null: the session runs in this process.
  RemoteSession* remote() { return remote_.get(); }
  Result<RemoteSession::Names> names(std::span<const graph::Endpoint> feeds, std::span<const graph::Endpoint> fetches,
                                     std::span<graph::Node* const> targets) {
    return names_of(graph_, graph_mutex_, feeds, fetches, targets);
  }
  ResourceManager& resources() { return resources_; }
  FunctionLibraryRuntime& runtime() { return *base_->runtime; }
  SessionState& state() { return *state_; }
  // Later runs fail; running ones are cancelled.
  Status close();
  bool closed() const { return closed_.load(); }

 private:
  struct Key {
    std::vector<graph::Endpoint> feeds, fetches;
    std::vector<graph::Node*> targets, done;
  };
  struct Planned {
    Key key;
    std::shared_ptr<Instance> instance;
  };
  std::shared_ptr<Instance> find(std::span<const graph::Endpoint> feeds, std::span<const graph::Endpoint> fetches,
                                 std::span<graph::Node* const> targets, std::span<graph::Node* const> done) const;
  Status run_remote(std::span<const graph::Endpoint> feeds, std::span<Tensor> feed_values, std::span<const graph::Endpoint> fetches,
                    std::span<Tensor> results, std::span<graph::Node* const> targets, const RunOptions& options);
  Status resolve_handle(Tensor& fed) const;
  Status run_limited(const std::shared_ptr<Instance>& instance, KernelEnv env, std::span<Tensor> feeds, std::span<const graph::Endpoint> fetches,
                     std::span<Tensor> results, int64_t timeout_ms, CancellationManager* cancellation);
  void end_step(int64_t id, bool ok, std::span<const graph::Endpoint> fetches);

  graph::Graph& graph_;
  std::mutex& graph_mutex_;
  const SessionOptions options_;
  const DeviceSet* devices_;
  // The runtime with what it points to.
  struct Base {
    std::shared_ptr<ThreadPool> pool, inter;
    std::atomic<bool> soft_placement, log_placement;
    std::unique_ptr<FunctionLibraryRuntime> runtime;
  };
  std::shared_ptr<Base> base_;
  std::unique_ptr<RemoteSession> remote_;
  ResourceManager resources_;  // after the runtime: iterators in it hold functions
  std::shared_ptr<op::SessionState> state_;
  CancellationManager cancellation_;
  std::atomic<bool> closed_{false};
  // Runs on other threads, of which some may be left to themselves (runtime/interruptible.h). The session outlives them.
  DetachedCalls elsewhere_;
  mutable std::shared_mutex mutex_;
  std::shared_ptr<KernelCache> kernels_ = std::make_shared<KernelCache>();
  std::vector<std::unique_ptr<Planned>> planned_;
};

// Pools of a size, shared by all who ask for that size.
std::shared_ptr<ThreadPool> shared_pool(int threads, bool inter);
// The CPU devices of a process with that many virtual ones; kept for ever.
const DeviceSet* shared_cpus(int count);

}  // namespace weft_engine::runtime
