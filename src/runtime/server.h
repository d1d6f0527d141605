// Server: one task of a cluster. Sessions that name its target run on it: on the devices of all tasks of the cluster, with state
// that outlives them. Only tasks of this process can take part so far; a network between processes comes later, and until
// then a connection from outside is closed.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "runtime/session.h"

namespace weft::runtime {

struct ServerSpec {
  std::string job;
  int task = 0;
  std::map<std::string, std::map<int, std::string>> cluster;  // job -> task -> host:port
  int port = 0;                                               // 0: the one of the task's address, where 0 is any free one
  int cpu_devices = 1;
};

// What the sessions on one cluster share.
class Cluster;

class Server {
 public:
  // Checks the spec and takes the port. Unknown "Could not start gRPC server" where that fails, as TensorFlow says it.
  static Result<std::shared_ptr<Server>> make(ServerSpec spec);
  ~Server();
  Server(const Server&) = delete;

  Status start();
  Status stop();
  // Waits until the server is stopped; one that was never started cannot be after this.
  Status join();
  const std::string& target() const { return target_; }

  // The server of this process with that target ("grpc://host:port"); null if there is none.
  static std::shared_ptr<Server> find(std::string_view target);
  // For a session on this server. Unavailable names the tasks of the cluster that are not running in this process.
  Result<SessionPlace> place();

 private:
  enum class State { kNew, kStarted, kStopped };
  explicit Server(ServerSpec spec) : spec_(std::move(spec)) {}
  Status bind();
  void listen();

  const ServerSpec spec_;
  std::string target_;
  std::shared_ptr<Cluster> cluster_;
  int socket_ = -1, wake_[2] = {-1, -1};
  std::thread listener_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kNew;
};

// Where a session runs by its target: in this process ("" or "local"), or on one of its servers.
Result<SessionPlace> session_place(std::string_view target);

}  // namespace weft::runtime
