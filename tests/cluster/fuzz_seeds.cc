#include "fuzz_seeds.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "core/tensor.h"
#include "engine/engine.h"
#include "remote/collective_messages.h"
#include "remote/coordination_messages.h"
#include "remote/data_service/server.h"
#include "remote/graph_messages.h"
#include "tensorflow/c/eager/c_api.h"
#include "tensorflow/c/c_api_experimental.h"
#include "wire/proto.h"

namespace weft_fuzz {

using namespace weft_engine;  // NOLINT
using namespace weft_engine::remote;  // NOLINT
using wire::ProtoWriter;

namespace {

constexpr char kDevice[] = "/job:worker/replica:0/task:0/device:CPU:0";

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
std::string text(Result<Message> m) { return m.ok() ? std::string(m->flatten()) : std::string(); }

Tensor ones() {
  Tensor t = Tensor::allocate(DType::kFloat, Shape({2, 3})).value();
  std::fill_n(static_cast<float*>(t.raw()), 6, 1.f);
  return t;
}

// y = x + x of a placeholder, and what a part of a step does with it.
std::string graph_def(bool of_part) {
  const std::string is_float = number(6, 1);
  const auto attr = [&](const char* name, const std::string& value) { return field(5, field(1, name) + field(2, value)); };
  const auto node = [&](const char* name, const char* op, const std::string& rest) {
    return field(1, field(1, name) + field(2, op) + rest + field(4, of_part ? kDevice : ""));
  };
  std::string out;
  if (of_part) {
    out += node("x", "_Recv",
                attr("tensor_type", is_float) + attr("tensor_name", field(2, "x")) + attr("send_device", field(2, kDevice)) +
                    attr("recv_device", field(2, kDevice)) + attr("send_device_incarnation", number(3, 1)) + attr("client_terminated", number(5, 1)));
  } else {
    out += node("x", "Placeholder", attr("dtype", is_float));
  }
  out += node("y", "AddV2", field(3, "x") + field(3, "x") + attr("T", is_float));
  return out + field(4, number(1, 1882));
}

std::vector<Seed> worker_seeds(const Ask& ask, uint64_t n) {
  const std::string s = "/tensorflow.WorkerService/", session = cat("session", n);
  CreateWorkerSession create;
  create.session = session;
  create.server_def.job = "worker";
  (void)ask(s + "CreateWorkerSession", encode_create_worker_session(create));
  CreateWorkerSession with_cluster = create;
  with_cluster.session = cat("cluster", n);
  with_cluster.server_def.job = "other";
  with_cluster.server_def.cluster = {{"other", {{0, "localhost:1"}}}};
  RegisterGraph graph{session, graph_def(true), {}, true};
  auto registered = ask(s + "RegisterGraph", encode_register_graph(graph));
  RunGraph run;
  run.graph = registered.ok() ? decode_text(1, *registered) : "none";
  run.session = session;
  run.step_id = int64_t(n >> 8);
  run.send = {{"x;0", ones()}};
  run.recv_keys = {"y"};
  return {{s + "GetStatus", {}},
          {s + "CreateWorkerSession", encode_create_worker_session(create)},
          {s + "CreateWorkerSession", encode_create_worker_session(with_cluster)},
          {s + "RegisterGraph", encode_register_graph(graph)},
          {s + "RunGraph", text(encode_run_graph(run))},
          {s + "RunGraph", text(encode_run_graph(run))},
          {s + "CleanupGraph", number(1, run.step_id)},
          {s + "CleanupAll", field(1, "none")},
          {s + "DeregisterGraph", field(1, run.graph) + field(2, session)},
          {s + "RecvTensor", encode_recv_tensor({run.step_id, cat(kDevice, ";0000000000000001;", kDevice, ";y;0:0"), 1})},
          {s + "MarkRecvFinished", number(1, 1)},
          {s + "Logging", number(1, 1)},
          {s + "Tracing", {}},
          {"/tensorflow.ProfilerService/Profile", number(1, 1)},
          {"/weft.ClockService/Now", {}},
          {s + "DeleteWorkerSession", field(1, with_cluster.session)},
          {s + "DeleteWorkerSession", field(1, session)}};
}

std::vector<Seed> master_seeds(const Ask& ask, uint64_t n) {
  const std::string s = "/tensorflow.MasterService/";
  const CreateSession create{graph_def(false), {}, {}};
  auto made = ask(s + "CreateSession", encode_create_session(create));
  const std::string session = made.ok() ? decode_text(1, *made) : "none";
  RunStep run;
  run.session = session;
  run.feeds = {{"x:0", ones()}};
  run.fetches = {"y:0"};
  const PartialRunSetup partial{session, {"x:0"}, {"y:0"}, {}, int64_t(n >> 1)};
  auto begun = ask(s + "PartialRunSetup", encode_partial_run_setup(partial));
  RunStep part = run;
  part.partial_run = begun.ok() ? decode_text(1, *begun) : "none";
  const std::string callable = field(1, session) + field(2, field(1, "x:0") + field(2, "y:0"));
  auto handle = ask(s + "MakeCallable", callable);
  const std::string of_callable = field(1, session) + number(2, handle.ok() ? decode_number(1, *handle) : 0);
  std::vector<Seed> out = {{s + "CreateSession", encode_create_session(create)},
                           {s + "ExtendSession", encode_extend_session({session, graph_def(false), 1})},
                           {s + "RunStep", text(encode_run_step(run))},
                           {s + "RunStep", text(encode_run_step(part))},
                           {s + "PartialRunSetup", encode_partial_run_setup(partial)},
                           {s + "MakeCallable", callable},
                           {s + "RunCallable", of_callable},
                           {s + "ReleaseCallable", of_callable},
                           {s + "ListDevices", field(1, session)},
                           {s + "CloseSession", field(1, session)}};
  if (n % 16 == 0) out.push_back({s + "Reset", field(1, "none")});  // ends all sessions
  return out;
}

std::vector<Seed> collective_seeds(const Ask& ask, uint64_t n) {
  const std::string s = "/tensorflow.WorkerService/";
  const auto group = [&](int key, int size) {
    const std::string device = encode_device({kDevice, "CPU", 1 << 20, n | 1});
    return encode_complete_group({.key = key, .size = size, .device_type = "CPU", .device_bytes = device});
  };
  const int key = int(n % 100);
  (void)ask(s + "CompleteGroup", group(key, 1));
  op::CollectiveParams p;
  p.name = "reduce";
  p.group = {key, 1, -1, kDevice};
  p.instance_key = int(n % 7);
  p.dtype = DType::kFloat;
  p.shape = Shape({2, 3});
  const RecvBuf buffer{.key = cat(key, ":1:0:0:0:0:0"), .source_device = kDevice, .target_device = kDevice, .num_bytes = 24};
  return {{s + "CompleteGroup", group(key, 1)},     {s + "CompleteGroup", group(key + 1, 2)}, {s + "CompleteInstance", encode_complete_instance(p)},
          {s + "RecvBuf", encode_recv_buf(buffer)}, {s + "GetStepSequence", number(1, key)},  {"/weft.LinkService/Open", {}}};
}

std::vector<Seed> coordination_seeds(const Ask& ask, uint64_t n) {
  const std::string s = "/tensorflow.CoordinationService/";
  const CoordinatedTask task{"worker", 0}, other{"worker", 1};
  const std::string key = cat("key/", n % 50);
  (void)ask(s + "InsertKeyValue", field(1, field(1, key) + field(2, "value")) + number(2, 1));
  BarrierRequest barrier;
  barrier.id = cat("barrier", n % 9);
  barrier.timeout_ms = 200;
  barrier.tasks = {other};
  barrier.source = other;
  ReportedError error{3, "an error", other, true};
  return {{s + "RegisterTask", encode_task_incarnation({other, n | 1}, 5)},
          {s + "Heartbeat", encode_task_incarnation({other, n | 1}, 4)},
          {s + "WaitForAllTasks", field(5, encode_coordinated_task(other))},
          {s + "ShutdownTask", field(1, encode_coordinated_task(other))},
          {s + "ResetTask", field(1, encode_coordinated_task(other))},
          {s + "ReportErrorToService", encode_reported_error(error, true)},
          {s + "ReportErrorToTask", encode_reported_error(error, false)},
          {s + "GetTaskState", field(1, encode_coordinated_task(task))},
          {s + "GetAliveTasks", field(1, encode_coordinated_task(other)) + field(2, encode_coordinated_task(other))},
          {s + "WatchJobState", field(1, "worker") + number(2, int64_t(n % 3))},
          {s + "PollForError", field(1, encode_coordinated_task(other))},
          {s + "InsertKeyValue", field(1, field(1, key) + field(2, "value"))},
          {s + "GetKeyValue", field(1, key)},
          {s + "TryGetKeyValue", field(1, key)},
          {s + "IncrementKeyValue", field(1, "count") + number(2, 1)},
          {s + "GetKeyValueDir", field(1, "key")},
          {s + "DeleteKeyValue", field(1, key)},
          {std::string(kBarrierPath), encode_barrier(barrier)},
          {s + "CancelBarrier", field(1, barrier.id) + field(2, encode_coordinated_task(other))}};
}

std::vector<Seed> dispatcher_seeds(const Ask& ask, uint64_t n) {
  const std::string s = cat("/", data_service::kDispatcherService, "/"), name = cat("job", n % 40);
  const std::string def = data_service::encode_dataset_def("no graph"), worker = "localhost:1";
  (void)ask(s + "GetOrRegisterDataset", field(1, def) + field(3, number(2, 2) + number(3, 5)) + field(4, "fixed"));
  std::string job = field(1, "fixed") + field(2, number(1, 1)) + field(3, name) + number(6, 1);
  if (n % 40 < 4) job += number(4, 1 + int64_t(n % 4));  // a coordinated read by so many
  auto made = ask(s + "GetOrCreateJob", job);
  const int64_t job_id = made.ok() ? decode_number(1, *made) : 1;
  auto iteration = ask(s + "GetOrCreateIteration", number(1, job_id) + number(2, 1));
  const int64_t client = iteration.ok() ? decode_number(1, *iteration) : 1;
  return {{s + "WorkerHeartbeat", field(1, worker) + number(2, 4000) + number(5, -1)},
          {s + "WorkerUpdate", field(1, worker) + field(2, number(1, 4000) + number(2, 1))},
          {s + "GetDatasetDef", field(1, "fixed")},
          {s + "GetSplit", number(1, 2000) + number(2, 0) + number(3, 0)},
          {s + "GetVersion", {}},
          {s + "GetOrRegisterDataset", field(1, def) + field(3, number(2, 2) + number(3, 5)) + field(4, "fixed")},
          {s + "GetDataServiceMetadata", field(1, "fixed")},
          {s + "GetDataServiceConfig", {}},
          {s + "GetOrCreateJob", job},
          {s + "GetOrCreateIteration", number(1, job_id) + number(2, 1)},
          {s + "MaybeRemoveTask", number(1, 4000 + int64_t(n % 8)) + number(2, 0) + number(3, int64_t(n % 5))},
          {s + "ReleaseIterationClient", number(1, client)},
          {s + "ClientHeartbeat", number(1, client) + number(2, 1) + number(4, 2)},
          {s + "GetWorkers", {}},
          {s + "Snapshot", field(1, def) + field(2, "nowhere") + field(3, field(1, "spec"))},
          {s + "GetSnapshotSplit", field(1, "nowhere") + number(2, 0) + field(4, worker)},
          {s + "GetSnapshotStreams", field(1, "nowhere")},
          {s + "DisableCompressionAtRuntime", field(1, "fixed") + number(4, 1)}};
}

std::vector<Seed> data_worker_seeds(const Ask&, uint64_t n) {
  const std::string s = cat("/", data_service::kWorkerService, "/");
  data_service::TaskDef task;
  task.graph = "no graph";
  task.dataset_id = "1000";
  task.worker_address = "localhost:1";
  task.task_id = int64_t(n % 64);
  task.iteration_id = 2000;
  task.mode = 1;
  task.num_split_providers = 1;
  data_service::GetElementRequest element;
  element.task_id = task.task_id;
  element.consumer_index = 0;
  element.round_index = 0;
  return {{s + "ProcessTask", field(1, data_service::encode_task_def(task))},
          {s + "GetElement", data_service::encode_get_element(element)},
          {s + "GetWorkerTasks", {}},
          {s + "GetSnapshotTaskProgresses", {}}};
}

int free_port() {
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(s, reinterpret_cast<sockaddr*>(&address), size) || getsockname(s, reinterpret_cast<sockaddr*>(&address), &size)) return 0;
  close(s);
  return ntohs(address.sin_port);
}

// Until SIGTERM, which comes to sigwait.
void wait_for_end() {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  int got = 0;
  sigwait(&end, &got);
}

int serve_coordination() {
  ServerDef def;
  def.job = "worker";
  def.protocol = "grpc";
  const int port = free_port();
  def.cluster = {{"worker", {{0, cat("localhost:", port)}}}};
  // coordination_config: field 23 of ConfigProto.Experimental; a second job, whose tasks come from outside.
  const std::string config = field(1, "standalone") + field(2, "/job:worker/replica:0/task:0") + number(5, 60000);
  def.config = field(16, field(1, "/job:worker/replica:0/task:0") + field(23, config));
  const std::string bytes = encode_server_def(def);
  // Kept to the end of the process: the agent would wait for a task that said that it is there.
  static TF_Status* status = TF_NewStatus();
  static TFE_ContextOptions* options = TFE_NewContextOptions();
  static TFE_Context* context = TFE_NewContext(options, status);
  if (TF_GetCode(status) == TF_OK) TFE_EnableCollectiveOps(context, bytes.data(), bytes.size(), status);
  if (TF_GetCode(status) != TF_OK) {
    std::cout << TF_Message(status) << std::endl;
    return 1;
  }
  std::cout << "serves at localhost:" << port << ",," << std::endl;
  wait_for_end();
  return 0;
}

int serve_data() {
  op::Registry& registry = engine::Engine::get().registry();
  data_service::DispatcherConfig limited;
  limited.max_entries = 5000;  // what it keeps does not count as growth
  data_service::DispatchServer dispatcher(registry, limited);
  if (Status s = dispatcher.start(); !s.ok()) return std::cout << s.message() << std::endl, 1;
  data_service::WorkerConfig config;
  config.dispatcher_address = cat("localhost:", dispatcher.port());
  data_service::WorkerServer worker(registry, config);
  if (Status s = worker.start(); !s.ok()) return std::cout << s.message() << std::endl, 1;
  std::cout << "serves at " << config.dispatcher_address << "," << worker.worker().address() << "," << std::endl;
  wait_for_end();
  worker.stop();
  dispatcher.stop();
  return 0;
}

}  // namespace

const std::vector<Service>& services() {
  static const std::vector<Service> all = {
      {"eager", "weft", false, nullptr},
      {"worker", "weft", false, worker_seeds},
      {"master", "weft", false, master_seeds},
      {"collective", "weft", false, collective_seeds},
      {"coordination", "coordination", false, coordination_seeds},
      {"dispatcher", "data", false, dispatcher_seeds},
      {"data_worker", "data", true, data_worker_seeds},
  };
  return all;
}

std::string any_message(std::mt19937_64& r, int depth) {
  std::string out;
  const auto varint = [&](uint64_t v) {
    for (; v >= 128; v >>= 7) out.push_back(char(v | 128));
    out.push_back(char(v));
  };
  for (int n = int(r() % 6); n > 0; --n) {
    const uint64_t field = r() % 16 ? 1 + r() % 12 : r() % 4096;
    switch (r() % 6) {
      case 0:
        varint(field << 3);
        varint(r() % 3 ? r() % 300 : r() >> (r() % 64));
        break;
      case 1:
        varint(field << 3 | 1);
        for (int i = 0; i < 8; ++i) out.push_back(char(r() % 3 ? 0 : r()));
        break;
      case 2:
        varint(field << 3 | 5);
        for (int i = 0; i < 4; ++i) out.push_back(char(r()));
        break;
      default: {
        constexpr const char* kTexts[] = {"worker", kDevice, "AddV2", "T", "", "f", "localhost:1", "/job:worker/replica:0/task:1", "a;0;b;c;0:0"};
        const std::string inner = r() % 2 && depth < 6 ? any_message(r, depth + 1) : kTexts[r() % std::size(kTexts)];
        varint(field << 3 | 2);
        varint(r() % 50 ? inner.size() : r() % 100000);
        out += inner;
      }
    }
  }
  return out;
}

int serve(const std::string& what) {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);  // also of the threads to come
  return what == "data" ? serve_data() : serve_coordination();
}

}  // namespace weft_fuzz
