// A dispatcher and a worker under messages that make no sense: random bytes, and real messages with bytes changed. Both answer everything with an error or an answer, live on, and
// do not grow.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <random>

#include "engine/clusters.h"
#include "engine/engine.h"
#include "remote/data_service/datasets.h"
#include "remote/data_service/server.h"

using namespace weft_engine;  // NOLINT
using namespace weft_engine::core;  // NOLINT
using namespace weft_engine::remote::data_service;  // NOLINT
using weft_engine::remote::Message;

namespace {

std::string field(int number, std::string_view bytes) {
  ProtoWriter w;
  w.bytes(number, bytes);
  return w.take();
}
std::string number(int field, int64_t value) {
  ProtoWriter w;
  w.int64(field, value);
  return w.take();
}

int64_t resident_mb() {
  std::ifstream f("/proc/self/statm");
  int64_t total = 0, resident = 0;
  f >> total >> resident;
  return resident * 4 / 1024;
}

struct Sample {
  bool to_worker;
  const char* method;
  std::string message;
};

// What programs send, with ids that are there.
std::vector<Sample> samples(const std::string& worker_address) {
  TaskDef task;
  task.graph = "no graph";
  task.dataset_id = "1000";
  task.worker_address = worker_address;
  task.task_id = 4999;
  task.iteration_id = 2000;
  task.mode = 1;
  task.num_split_providers = 1;
  GetElementRequest element;
  element.task_id = 4999;
  element.consumer_index = 0;
  element.round_index = 0;
  const std::string def = encode_dataset_def("no graph");
  return {
      {false, "WorkerHeartbeat",
       field(1, worker_address) + number(2, 4000) + number(5, -1) + field(7, encode_transfer_server({"grpc", worker_address}))},
      {false, "WorkerUpdate", field(1, worker_address) + field(2, number(1, 4000) + number(2, 1))},
      {false, "GetDatasetDef", field(1, "1000")},
      {false, "GetSplit", number(1, 2000) + number(2, 0) + number(3, 0)},
      {false, "GetVersion", {}},
      {false, "GetOrRegisterDataset", field(1, def) + field(3, number(2, 2) + number(3, 5)) + field(4, "fixed")},
      {false, "GetDataServiceMetadata", field(1, "fixed")},
      {false, "GetDataServiceConfig", {}},
      {false, "GetOrCreateJob", field(1, "fixed") + field(2, number(1, 1)) + field(3, "job") + number(6, 1)},
      {false, "GetOrCreateIteration", number(1, 5000) + number(2, 1)},
      {false, "MaybeRemoveTask", number(1, 4000) + number(2, 0) + number(3, 1)},
      {false, "ReleaseIterationClient", number(1, 3000)},
      {false, "ClientHeartbeat", number(1, 3000) + number(2, 1) + number(4, 2)},
      {false, "GetWorkers", {}},
      {false, "Snapshot", field(1, def) + field(2, "nowhere") + field(3, field(1, "spec"))},
      {false, "GetSnapshotSplit", field(1, "nowhere") + number(2, 0) + field(4, worker_address)},
      {false, "GetSnapshotStreams", field(1, "nowhere")},
      {false, "DisableCompressionAtRuntime", field(1, "fixed") + number(4, 1)},
      {false, "NoSuchMethod", "x"},
      {true, "ProcessTask", field(1, encode_task_def(task))},
      {true, "GetElement", encode_get_element(element)},
      {true, "GetWorkerTasks", {}},
      {true, "GetSnapshotTaskProgresses", {}},
  };
}

std::string changed(std::string bytes, std::mt19937& random) {
  const int kind = int(random() % 4);
  if (kind == 0) {
    bytes.resize(random() % 64);
    for (char& c : bytes) c = char(random());
    return bytes;
  }
  for (int n = 1 + int(random() % 3); n > 0 && !bytes.empty(); --n) {
    const size_t at = random() % bytes.size();
    if (kind == 1) bytes[at] = char(random());
    else if (kind == 2) bytes.erase(at, 1 + random() % 4);
    else bytes.insert(at, 1, char(random()));
  }
  return bytes;
}

}  // namespace

TEST_CASE("a dispatcher keeps no more than its limit") {
  const auto library = engine::clusters();
  REQUIRE(library.ok());
  remote::set_transport((*library)->transport);
  DispatcherConfig config;
  config.max_entries = 10;
  auto dispatcher = std::make_shared<Dispatcher>(config, std::make_shared<Datasets>(engine::Engine::get().registry()));
  REQUIRE(dispatcher->start().ok());
  remote::MethodTable methods;
  dispatcher->add_methods(methods);
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    std::promise<Status> answer;
    const std::string worker = cat("localhost:", 1000 + i);
    methods.call(
        cat("/", kDispatcherService, "/WorkerHeartbeat"), Message(field(1, worker) + number(5, -1)),
        [&](Status s, Message) { answer.set_value(std::move(s)); }, [](std::function<void()>) {}, [](std::function<void()> job) { job(); });
    const Status s = answer.get_future().get();
    CHECK((s.ok() || s.code() == core::Code::kResourceExhausted));
    refused += !s.ok();
  }
  CHECK(dispatcher->num_workers() == 10);
  CHECK(refused == 10);
  dispatcher->stop();
}

TEST_CASE("servers of the tf.data service live through any messages") {
  op::Registry& registry = engine::Engine::get().registry();
  const auto library = engine::clusters();
  REQUIRE(library.ok());
  remote::set_transport((*library)->transport);  // remote/ itself is inside this program
  DispatchServer dispatcher(registry, {});
  REQUIRE(dispatcher.start().ok());
  WorkerConfig config;
  config.dispatcher_address = cat("localhost:", dispatcher.port());
  WorkerServer worker(registry, config);
  REQUIRE(worker.start().ok());

  auto to_dispatcher = Peer::to(config.dispatcher_address, kDispatcherService);
  auto to_worker = Peer::to(worker.worker().address(), kWorkerService);
  REQUIRE(to_dispatcher.ok());
  REQUIRE(to_worker.ok());
  const auto all = samples(worker.worker().address());
  std::mt19937 random(20);
  Stop stop;
  constexpr double kLimit = 20;  // seconds for one answer: some methods wait for others
  const auto send = [&](const Sample& s, std::string message) {
    auto answer = (s.to_worker ? *to_worker : *to_dispatcher)->call(s.method, Message(std::move(message)), stop, kLimit);
    const Code code = answer.status().code();
    INFO(std::string(s.method), " ", answer.status().to_string());
    CHECK(code != Code::kDeadlineExceeded);
    // Not there for the message: the server itself answers.
    if (code == Code::kUnavailable) CHECK(answer.status().message().find("connect") == std::string::npos);
  };
  for (const Sample& s : all) send(s, s.message);
  int64_t before = 0, sent = 0;
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  while (elapsed() < 4) {
    const Sample& s = all[random() % all.size()];
    // Ids are numbers that somebody could guess; a removal waits for other consumers, five seconds.
    if (std::string_view(s.method) == "MaybeRemoveTask" && random() % 64) continue;
    send(s, changed(s.message, random));
    if (!before && elapsed() > 2) before = resident_mb();
    ++sent;
  }
  MESSAGE(sent, " messages");
  CHECK(sent > 100);
#ifndef __SANITIZE_ADDRESS__  // it keeps what is freed, and finds leaks by itself
  CHECK(resident_mb() < before + 64);
#endif

  // And what makes sense still works.
  auto version = (*to_dispatcher)->call("GetVersion", Message(), stop, kLimit);
  REQUIRE(version.ok());
  CHECK(std::string(version->flatten()) == number(1, 9));
  CHECK((*to_worker)->call("GetWorkerTasks", Message(), stop, kLimit).ok());
  worker.stop();
  dispatcher.stop();
}
