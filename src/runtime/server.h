// Server: one task of a cluster, in this process. Programs reach it through the network, those of this process too (remote/worker.h): sessions
// that name its target, and clients and masters that use its devices. Its state outlives them.
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
  virtual void start() = 0;
  virtual void stop() = 0;
};
using NetworkMaker = Result<std::unique_ptr<ServerNetwork>> (*)(const ServerSpec& spec, int port);
void set_network_maker(NetworkMaker maker);

// A CPU of this process under a task's name.
std::unique_ptr<Device> make_task_cpu(const std::string& job, int task, int id);

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
  // Unavailable where sessions would wait for ever: it was not started yet, or has stopped.
  Status running();

 private:
  enum class State { kNew, kStarted, kStopped };
  explicit Server(ServerSpec spec) : spec_(std::move(spec)) {}
  Status bind();

  const ServerSpec spec_;
  std::string target_;
  std::unique_ptr<ServerNetwork> network_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kNew;
};

// What SessionOptions::target is for a target that a program gave: empty for this process ("" or "local"). NotFound for what is none.
Result<std::string> session_target(std::string_view target);

}  // namespace weft_engine::runtime
