// Server: one task of a cluster. Sessions of this process that name its target run on it: on the devices of all tasks of the cluster that
// live in this process, with state that outlives them. Other processes reach its devices through the network (remote/worker.h); sessions on
// targets in other processes are not there yet.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "runtime/session.h"

namespace weft_engine::runtime {

struct ServerSpec {
  std::string job;
  int task = 0;
  std::map<std::string, std::map<int, std::string>> cluster;  // job -> task -> host:port
  int port = 0;                                               // 0: the one of the task's address, where 0 is any free one
  int cpu_devices = 1;
  std::string config;  // a serialized ConfigProto
};

// What other processes reach of a server. Made by remote/, which the engine hands over here.
class ServerNetwork {
 public:
  virtual ~ServerNetwork() = default;
  virtual int port() const = 0;
  virtual void stop() = 0;
};
using NetworkMaker = Result<std::unique_ptr<ServerNetwork>> (*)(const ServerSpec& spec, int port);
void set_network_maker(NetworkMaker maker);

// A CPU of this process under a task's name.
std::unique_ptr<Device> make_task_cpu(const std::string& job, int task, int id);

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

  const ServerSpec spec_;
  std::string target_;
  std::shared_ptr<Cluster> cluster_;
  std::unique_ptr<ServerNetwork> network_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kNew;
};

// Where a session runs by its target: in this process ("" or "local"), or on one of its servers.
Result<SessionPlace> session_place(std::string_view target);

}  // namespace weft_engine::runtime
