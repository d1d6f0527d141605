// A session that a master in another process runs, as this process sees it. runtime/ does not know networks: remote/ makes these, and the engine hands the maker over here.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/device.h"
#include "graph/graph.h"
#include "op/cancellation.h"

namespace weft_engine::runtime {

class RemoteSession {
 public:
  virtual ~RemoteSession() = default;

  // What a step names.
  struct Names {
    std::vector<std::string> feeds, fetches;  // "node:0"
    std::vector<std::string> targets;
  };
  struct Step {
    Names names;
    std::span<core::Tensor> values, results;  // of the feeds and the fetches
    std::string options;  // a serialized RunOptions
    std::string* metadata = nullptr;  // gets a serialized RunMetadata
    int64_t timeout_ms = 0;
    op::CancellationManager* cancellation = nullptr;
    std::string partial_run;  // what setup_partial_run() gave
  };
  // The graph is sent when it is first needed, and what was added to it later before the next step.
  virtual core::Status run(const Step& step) = 0;
  virtual core::Result<std::string> setup_partial_run(const Names& names) = 0;
  // Steps that the master looked up once: `options` is a serialized CallableOptions.
  virtual core::Result<int64_t> make_callable(const std::string& options) = 0;
  // `metadata`: gets a serialized RunMetadata, if it is not null.
  virtual core::Status run_callable(int64_t callable, std::span<const core::Tensor> feeds, std::vector<core::Tensor>& results, std::string* metadata,
                                    op::CancellationManager* cancellation) = 0;
  virtual core::Status release_callable(int64_t callable) = 0;
  // Of all tasks that the master reaches.
  virtual core::Result<const core::DeviceSet*> devices() = 0;
  virtual core::Status close() = 0;
};

// InvalidArgument or OutOfRange for what is not in the graph.
core::Result<RemoteSession::Names> names_of(const graph::Graph& graph, std::mutex& mutex, std::span<const graph::Endpoint> feeds,
                                            std::span<const graph::Endpoint> fetches, std::span<graph::Node* const> targets);

struct RemoteSessions {
  // `graph` and its `mutex` must outlive the session; `config` is a serialized ConfigProto. Nothing is sent before the first use.
  std::unique_ptr<RemoteSession> (*make)(const std::string& target, const graph::Graph& graph, std::mutex& mutex, const std::string& config);
  // Forgets all sessions of the master and clears these containers in its cluster; none named: the default one.
  core::Status (*reset)(const std::string& target, const std::vector<std::string>& containers, const std::string& config);
};
void set_remote_sessions(const RemoteSessions* sessions);
const RemoteSessions* remote_sessions();

}  // namespace weft_engine::runtime
