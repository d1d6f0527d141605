// weft/cluster.h: clusters from text, this process as a server, and as a client of it.
#include "weft/cluster.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include "weft/weft.h"

using namespace weft;  // NOLINT

namespace {

std::string error_of(const auto& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
Code code_of(const auto& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kOk;
}

// A variable of the environment for as long as it lives.
struct Variable_ {
  const char* name;
  Variable_(const char* name, const std::string& value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Variable_() { unsetenv(name); }
};

// Two servers of this process on free ports, and the cluster as a client sees it.
struct TwoWorkers {
  static Cluster alone(int task) {
    Cluster c;
    c.add("worker", task, "localhost:0");
    return c;
  }
  Server first{alone(0)}, second{alone(1), {.job = "worker", .task = 1}};
  Cluster cluster{{"worker", {first.target().substr(7), second.target().substr(7)}}};
};

}  // namespace

TEST_CASE("a cluster is read from JSON, as TF_CONFIG has it") {
  const Cluster c = Cluster::from_json(
      R"( {"cluster": {"worker": ["a:1", "b:2"], "ps": {"3": "[::1]:65535"}}, "task": {"type": "worker", "index": 1}, "x": [1.5, null, true]} )");
  CHECK(c.address("worker", 1) == "b:2");
  CHECK(c.address("ps", 3) == "[::1]:65535");
  CHECK(c.job == "worker");
  CHECK(c.task == 1);
  CHECK(c.to_json() == R"({"cluster": {"ps": {"3": "[::1]:65535"}, "worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 1}})");
  CHECK(Cluster::from_json(c.to_json()).jobs() == c.jobs());
  const Cluster plain = Cluster::from_json(R"({"worker": ["a:1"]})");
  CHECK(plain.jobs() == Cluster{{"worker", {"a:1"}}}.jobs());
  CHECK(plain.task == -1);
  CHECK(Cluster::from_json(R"({"cluster": {"w": ["a:1"]}, "task": {"type": "w", "index": "0"}})").task == 0);
  CHECK(code_of([&] { c.address("worker", 2); }) == Code::kNotFound);
}

TEST_CASE("text that is no cluster is told") {
  const auto error = [](const char* text) { return error_of([&] { Cluster::from_json(text); }); };
  CHECK(error("").find("line 1: expected a value") != std::string::npos);
  CHECK(error("{\"a\": [\"b:1\",\n]}").find("line 2: expected a value") != std::string::npos);
  CHECK(error("{\"a\": [\"b:1]}").find("a text without its end") != std::string::npos);
  CHECK(error("{} x").find("expected the end") != std::string::npos);
  CHECK(error("[]").find("a cluster is a JSON object") != std::string::npos);
  CHECK(error(R"({"a": ["b:65536"]})").find("must be host:port, got 'b:65536'") != std::string::npos);
  CHECK(error(R"({"a": [7]})").find("must be a text") != std::string::npos);
  CHECK(error(R"({"a": {"x": "b:1"}})").find("the number of a task is 'x'") != std::string::npos);
  CHECK(error(R"({"a": {"0": "b:1", "00": "b:2"}})").find("two tasks 0") != std::string::npos);
  CHECK(error(R"({"cluster": {"a": ["b:1"]}, "task": {"type": "a", "index": -1}})").find("whole number") != std::string::npos);
  CHECK(error(R"({"cluster": {"a": ["b:1"]}, "task": {"type": "a", "index": 0.5}})").find("whole number") != std::string::npos);
}

TEST_CASE("the nodes of a Slurm step are a cluster") {
  const Variable_ nodes("SLURM_STEP_NODELIST", "n[08-10,2],gpu-a"), counts("SLURM_STEP_TASKS_PER_NODE", "2(x2),1(x3)"), rank("SLURM_PROCID", "3");
  const Cluster c = Cluster::from_environment(7000);
  CHECK(
      c.to_json() ==
      R"({"cluster": {"worker": ["n08:7000", "n08:7001", "n09:7000", "n09:7001", "n10:7000", "n2:7000", "gpu-a:7000"]}, "task": {"type": "worker", "index": 3}})");
  {
    const Variable_ config("TF_CONFIG", R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}})");  // which goes first
    CHECK(Cluster::from_environment().address("worker", 0) == "a:1");
  }
  for (const char* bad : {"n[1", "n]1[", "n[2-1]", "n[a]", "n[1][2]", "n[1-99999999]", ","}) {
    const Variable_ other("SLURM_STEP_NODELIST", bad);
    CHECK_MESSAGE(error_of([] { Cluster::from_environment(); }).find("no list of nodes") != std::string::npos, bad);
  }
}

TEST_CASE("the processes of mpirun are a cluster") {
  {
    const Variable_ size("OMPI_COMM_WORLD_SIZE", "three"), rank("OMPI_COMM_WORLD_RANK", "2");
    CHECK(error_of([] { Cluster::from_environment(); }).find("must be a whole number, got 'three'") != std::string::npos);
  }
  const Variable_ size("OMPI_COMM_WORLD_SIZE", "3"), rank("OMPI_COMM_WORLD_RANK", "2");
  {
    const Variable_ local("OMPI_COMM_WORLD_LOCAL_SIZE", "3");
    CHECK(Cluster::from_environment(7000).to_json() ==
          R"({"cluster": {"worker": ["localhost:7000", "localhost:7001", "localhost:7002"]}, "task": {"type": "worker", "index": 2}})");
  }
  const Variable_ local("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
  CHECK(error_of([] { Cluster::from_environment(); }).find("WEFT_CLUSTER_FILE") != std::string::npos);
  const char* const path = "mpi_cluster.json";
  std::ofstream(path) << R"({"worker": ["a:1", "b:1"], "chief": ["c:1"]})";
  const Variable_ file("WEFT_CLUSTER_FILE", path);
  const Cluster c = Cluster::from_environment();
  CHECK(c.job == "worker");
  CHECK(c.task == 1);
  std::ofstream(path) << R"({"worker": ["a:1", "b:1"]})";
  CHECK(error_of([] { Cluster::from_environment(); }).find("3 processes, and the cluster has 2 tasks") != std::string::npos);
  std::remove(path);
}

TEST_CASE("no cluster in the environment") {
  CHECK(code_of([] { Cluster::from_environment(); }) == Code::kNotFound);
}

TEST_CASE("ops, variables and functions run on the tasks of a cluster") {
  const TwoWorkers workers;
  connect(workers.cluster, {.timeout_seconds = 60});
  std::vector<std::string> names;
  for (const auto& d : devices()) names.push_back(d.name);
  CHECK(names == std::vector<std::string>{"/job:localhost/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0",
                                          "/job:worker/replica:0/task:1/device:CPU:0"});
  Tensor product;
  {
    const DeviceScope there("/job:worker/task:0");
    product = matmul(Tensor{{1.f, 2.f}, {3.f, 4.f}}, Tensor{{1.f, 2.f}, {3.f, 4.f}});
  }
  CHECK(product.device() == "/job:worker/replica:0/task:0/device:CPU:0");
  CHECK(product.to_vector<float>() == std::vector<float>{7, 10, 15, 22});
  CHECK((product + 1.f).to_vector<float>() == std::vector<float>{8, 11, 16, 23});

  const auto twice = function([](Tensor x) { return x * 2.f; });
  for (const char* task : {"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:0"}) {
    const DeviceScope there(task);
    const Tensor y = twice(product);
    CHECK(y.device().find(task + 11) != std::string::npos);
    CHECK(y.to_vector<float>() == std::vector<float>{14, 20, 30, 44});
  }
  {
    const DeviceScope there("/job:worker/task:1");
    Variable v(Tensor{1.f, 2.f});
    v.assign_add(Tensor{10.f, 20.f});
    CHECK(v.value().to_vector<float>() == std::vector<float>{11, 22});
    GradientTape tape;
    const Tensor loss = reduce_sum(square(v.value()));
    CHECK(tape.gradient(loss, v).dense().to_vector<float>() == std::vector<float>{22, 44});
  }
}

TEST_CASE("errors of tasks are exceptions with their code") {
  auto workers = std::make_unique<TwoWorkers>();
  connect(workers->cluster);
  {
    const DeviceScope there("/job:worker/task:0");
    CHECK(code_of([] { strings::to_number(Tensor("abc")).item<float>(); }) == Code::kInvalidArgument);
    const Tensor lost = strings::to_number(Tensor("abc"));
    CHECK(code_of([] { synchronize(); }) == Code::kInvalidArgument);  // nobody has read it
    CHECK(code_of([] { synchronize(); }) == Code::kOk);
    CHECK((Tensor(1.f) + 1.f).item<float>() == 2.f);
  }
  std::vector<TaskStatus> all = cluster_status(workers->cluster);
  REQUIRE(all.size() == 2);
  CHECK(all[1].job == "worker");
  CHECK(all[1].task == 1);
  REQUIRE(all[1].devices.size() == 1);
  CHECK(all[1].devices[0].name == "/job:worker/replica:0/task:1/device:CPU:0");
  workers->second.stop();
  all = cluster_status(workers->cluster);
  CHECK(all[0].code == Code::kOk);
  CHECK(all[1].code == Code::kUnavailable);
  const std::string told = error_of([] {
    const DeviceScope there("/job:worker/task:1");
    (Tensor(1.f) + 1.f).item<float>();
  });
  CHECK_MESSAGE(told.find("/job:worker/replica:0/task:1") != std::string::npos, told);
  connect({});  // leaves the cluster
  CHECK(devices().size() == 1);
}

TEST_CASE("what tasks do is on one time line") {
  const TwoWorkers workers;
  connect(workers.cluster);
  const auto f = function([](Tensor x) { return matmul(x, x) + 1.f; });
  TraceEvents trace;
  std::atomic<bool> done = false;
  std::thread watch([&] {
    trace = trace_cluster(workers.cluster, 0.5);
    done = true;
  });
  const auto wall = [] { return std::chrono::system_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); };
  const int64_t begin = wall();
  while (!done) {
    for (const char* task : {"/job:worker/task:0", "/job:worker/task:1"}) {
      const DeviceScope there(task);
      f(Tensor{{1.f, 2.f}, {3.f, 4.f}}).to_vector<float>();
    }
  }
  watch.join();
  const int64_t end = wall();
  std::map<std::string, std::set<std::string>> ops;
  constexpr int64_t kSlack = 5'000'000'000;
  for (const auto& e : trace.events) {
    ops[e.device].insert(e.op);
    CHECK(e.end_ns >= e.start_ns);
    CHECK((e.start_ns > begin - kSlack && e.end_ns < end + kSlack));
  }
  REQUIRE(ops.size() == 2);
  for (const char* device : {"/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"}) {
    CHECK(ops[device].contains("MatMul"));  // inside of the function
    CHECK(ops[device].contains("AddV2"));
  }
  CHECK(to_chrome_trace(trace).find("/job:worker/replica:0/task:1/device:CPU:0") != std::string::npos);
  CHECK(code_of([&] { trace_cluster(workers.cluster, 0); }) == Code::kInvalidArgument);
  CHECK(error_of([] { trace_cluster({{"worker", {"localhost:1"}}}, 0.01); }).find("task 0 of job 'worker' at localhost:1: ") == 0);
}

TEST_CASE("what cannot be a server or a client is refused") {
  CHECK(code_of([] { Server({{"worker", {"localhost:0", "localhost:0"}}}); }) == Code::kInvalidArgument);
  CHECK(code_of([] { Server({{"a", {"localhost:0"}}, {"b", {"localhost:0"}}}); }) == Code::kInvalidArgument);
  CHECK(code_of([] { Server({{"a", {"localhost:0"}}}, {.job = "b"}); }) == Code::kInternal);  // TensorFlow's code
  CHECK(code_of([] { connect({{"localhost", {"localhost:0"}}}); }) == Code::kInvalidArgument);
  CHECK(code_of([] { connect({{"worker", {"localhost:1"}}}, {.timeout_seconds = 0.5}); }) == Code::kDeadlineExceeded);
  CHECK(code_of([] { connect({}, {.timeout_seconds = 0}); }) == Code::kInvalidArgument);
}
