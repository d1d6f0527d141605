// Other processes as devices. A cluster is jobs of tasks; a task is a process that serves at an address (`weft server`, weft::Server, TensorFlow's Server):
//
//   weft::connect({{"worker", {"localhost:9001", "localhost:9002"}}});
//   weft::DeviceScope there("/job:worker/task:1");
//   weft::Tensor y = weft::matmul(x, x);  // computed there; its value comes here when it is asked for
//
// docs/clusters.md has the variables of the environment that set certificates, tokens and limits.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/context.h"
#include "weft/error.h"
#include "weft/trace.h"

namespace weft {

// The addresses of all tasks, and which of them this process is, where that is known.
class WEFT_API Cluster {
 public:
  Cluster() = default;
  // Jobs with the addresses ("host:port") of their tasks, in order.
  Cluster(std::initializer_list<std::pair<std::string, std::vector<std::string>>> jobs);

  // {"worker": ["host:port", ...], "ps": {"0": "host:port"}}, or what TF_CONFIG holds: that as "cluster", and "task": {"type": "worker", "index": 0}.
  static Cluster from_json(std::string_view text);
  static Cluster from_file(const std::string& path);
  // TF_CONFIG; where it is not set, the nodes of a Slurm step: a job "worker" with the step's tasks, at `port` and the numbers behind it on each node; or the processes of
  // Open MPI's mpirun: the tasks of the file that WEFT_CLUSTER_FILE names, in the order of jobs and numbers, or a job "worker" on this machine.
  static Cluster from_environment(int port = 8888);
  // The text that TF_CONFIG holds.
  std::string to_json() const;

  // Addresses by job and task.
  const std::map<std::string, std::map<int, std::string>>& jobs() const { return jobs_; }
  // One more task; "host:port".
  void add(const std::string& job, int task, const std::string& address);
  // The address of a task; NotFound where there is none.
  const std::string& address(const std::string& job, int task) const;

  // This process; empty and -1 where it is not known.
  std::string job;
  int task = -1;

 private:
  std::map<std::string, std::map<int, std::string>> jobs_;
};

struct ConnectOptions {
  double timeout_seconds = 60;  // for all tasks to answer
  int64_t keep_alive_seconds = 600;  // a task forgets this process when it was not heard of for so long
};
// The devices of the cluster's other tasks become devices of this process: weft::devices() lists them, and DeviceScope reaches them. Another cluster replaces the
// earlier one; tensors there are lost then. No op may run meanwhile.
WEFT_API void connect(const Cluster& cluster, const ConnectOptions& options = {});

// Waits for all that was sent to other tasks; throws the first error that nobody has seen.
WEFT_API void synchronize();

struct ServerOptions {
  std::string job;  // empty: the cluster's own, or its only job
  int task = -1;  // -1: the cluster's own, or the job's only task
  int cpu_devices = 1;  // that others see
};

// This process as a task of a cluster: others run ops and functions on its devices from the moment it is made until it is stopped.
class WEFT_API Server {
 public:
  // Takes the port of the task's address; Unknown where it is taken.
  explicit Server(const Cluster& cluster, const ServerOptions& options = {});
  // Stops it.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // "grpc://localhost:9001"
  std::string target() const;
  // Which task it is.
  const std::string& job() const;
  int task() const;
  // Waits until it is stopped.
  void join();
  // Ends all calls.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// What a task says of itself, or why it does not.
struct TaskStatus {
  std::string job;
  int task = 0;
  std::string address;
  std::vector<DeviceInfo> devices;
  Code code = Code::kOk;  // of the error, if it did not answer
  std::string error;
};
// Asks all tasks at once.
WEFT_API std::vector<TaskStatus> cluster_status(const Cluster& cluster, double timeout_seconds = 5);

// What all tasks do in the next seconds, for all of their clients. Times are of this machine's wall clock: how far the clocks of tasks are off is measured
// by the quickest of a few round trips (tasks of TensorFlow do not tell; theirs are taken as they are). Throws the error of a task that does not tell what it does.
WEFT_API TraceEvents trace_cluster(const Cluster& cluster, double seconds);

// How servers and connections of this process are protected, in words: "TLS with certificates on both sides, a token"; empty: not at all.
WEFT_API std::string cluster_protection();

}  // namespace weft
