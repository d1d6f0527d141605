// What clients and masters leave at a task goes with them: functions, parts of functions, steps.
#include <doctest/doctest.h>

#include <deque>
#include <thread>

#include "io/graph_def.h"
#include "remote/graph_service.h"
#include "remote/eager_service.h"
#include "remote/error_text.h"
#include "remote/task_device.h"
#include "runtime/testing.h"

using namespace weft_engine;  // NOLINT
using namespace weft_engine::remote;  // NOLINT
using runtime::testing::BodyBuilder;

namespace {

constexpr const char kTask[] = "/job:worker/replica:0/task:0";
constexpr uint64_t kContext = 5;

// A task in this process. Its connection delivers when it is told to.
class Here final : public Channel {
 public:
  Here()
      : steps_(std::make_shared<StepTable>(kTask, nullptr)), service_(engine::Engine::get().registry(), devices_.get(), kTask, transport_, steps_) {
    CreateContext c;
    c.context_id = kContext;
    REQUIRE(service_.create(c).ok());
  }
  std::shared_ptr<ClientCall> call(std::string_view, Message, double, bool, Reply) override { return nullptr; }
  std::shared_ptr<ClientStream> stream(std::string_view, ClientStream::Events events) override {
    return std::make_shared<Stream>(*this, std::move(events));
  }
  void deliver() {
    while (!sent_.empty()) {
      auto next = std::move(sent_.front());
      sent_.pop_front();
      next();
    }
  }
  Status enqueue(const QueueItem& item) {
    auto message = encode_enqueue(kContext, item);
    REQUIRE(message.ok());
    return enqueue(std::move(message).value()).status();
  }
  Result<QueueResponse> ask(const QueueItem& item) {
    WEFT_ASSIGN(Message message, encode_enqueue(kContext, item));
    WEFT_ASSIGN(Message answer, enqueue(std::move(message)));
    WEFT_ASSIGN(const Unpacked unpacked, unpack(std::move(answer), TensorsIn::kEnqueueResponse));
    WEFT_ASSIGN(std::vector<QueueResponse> responses, decode_enqueue_response(unpacked));
    return responses.empty() ? QueueResponse() : responses.front();
  }
  size_t steps() const { return steps_->size(); }
  Status run_part(const std::string& name, int64_t step) {
    RunComponentFunction r;
    r.context_id = kContext;
    r.operation.name = name;
    r.operation.is_function = r.operation.is_component_function = true;
    r.operation.func_step_id = step;
    auto message = encode_run_component(r);
    REQUIRE(message.ok());
    op::CancellationManager caller;
    return service_.run_component(message->flatten(), caller).status();
  }
  void close() { service_.close(kContext); }
  int functions() { return (*service_.find(kContext))->num_functions(); }

 private:
  struct Stream final : ClientStream {
    Stream(Here& h, Events e) : here(h), events(std::move(e)) {}
    bool write(Message m) override {
      here.sent_.push_back([this, m] {
        auto answer = here.enqueue(m);
        CHECK_MESSAGE(answer.ok(), answer.status().to_string());
        if (answer.ok()) events.message(std::move(answer).value());
      });
      return true;
    }
    void close() override {}
    void cancel() override {}
    Here& here;
    const Events events;
  };
  Result<Message> enqueue(Message m) {
    op::CancellationManager caller;
    WEFT_ASSIGN(const Unpacked request, unpack(std::move(m), TensorsIn::kEnqueueRequest));
    return service_.enqueue(request, caller);
  }
  const TransportApi transport_{};
  const std::unique_ptr<DeviceSet> devices_ = DeviceSet::cpus(2);
  const std::shared_ptr<StepTable> steps_;
  EagerService service_;
  std::deque<std::function<void()>> sent_;
};

// A task whose answers the test gives.
struct Scripted final : Channel {
  struct Stream final : ClientStream {
    Stream(Scripted& t, Events e) : channel(t), events(std::move(e)) {}
    bool write(Message) override {
      ++channel.waiting;
      return true;
    }
    size_t most_bytes() const override { return channel.most; }
    void close() override {}
    void cancel() override {}
    Scripted& channel;
    const Events events;
  };
  std::shared_ptr<ClientCall> call(std::string_view, Message, double, bool, Reply) override { return nullptr; }
  std::shared_ptr<ClientStream> stream(std::string_view, ClientStream::Events events) override {
    waiting = 0;
    return current = std::make_shared<Stream>(*this, std::move(events));
  }
  void answer() {
    for (; waiting > 0; --waiting) current->events.message({});
  }
  void fail(const Status& s) {
    const auto ended = current;
    ended->events.end(s);
  }
  std::shared_ptr<Stream> current;
  int waiting = 0;
  size_t most = SIZE_MAX;
};

QueueItem op_item(int64_t id) {
  Operation o;
  o.id = id;
  o.name = "NoOp";
  return QueueItem(std::move(o));
}

struct Steps final : ClusterSteps {
  int64_t next_op() override { return ++last; }
  Result<std::shared_ptr<op::Rendezvous>> start_step() override { return core::unimplemented("no steps"); }
  int64_t last = 0;
};

std::string function(const std::string& name) {
  graph::FunctionDef def;
  def.name = name;
  auto bytes = io::encode_function_def(def);
  REQUIRE(bytes.ok());
  return *bytes;
}

}  // namespace

TEST_CASE("a task forgets the part of a function when its client does") {
  auto channel = std::make_shared<Here>();
  auto task = std::make_shared<Task>(kTask, channel, kContext);
  task->now_gives_values();
  auto steps = std::make_shared<Steps>();
  const DeviceAttributes attributes{cat(kTask, "/device:CPU:0"), "CPU", 0, 1};
  TaskDevice device(core::DeviceName::parse(attributes.name).value(), attributes, task, steps);
  BodyBuilder b;
  const auto x = b.arg();
  b.ret({b.add("sum", "AddV2", {x, x}), 0});
  runtime::Part part;
  part.body = graph::clone(b.body());
  for (bool answered : {true, false}) {  // also one whose registration is under way
    auto plan = device.plan_part(part);
    REQUIRE_MESSAGE(plan.ok(), plan.status().to_string());
    if (answered) channel->deliver();
    CHECK(channel->functions() == answered);
    plan->reset();
    channel->deliver();
    CHECK(channel->functions() == 0);
  }
  // TensorFlow's tasks would end the stream by an error.
  auto other = std::make_shared<Task>(kTask, channel, kContext);
  TaskDevice theirs(core::DeviceName::parse(attributes.name).value(), attributes, other, steps);
  auto plan = theirs.plan_part(part);
  REQUIRE(plan.ok());
  plan->reset();
  channel->deliver();
  CHECK(channel->functions() == 1);
}

TEST_CASE("functions that came with parts go with the last of them, unless the client registered them, too") {
  Here task;
  REQUIRE(task.enqueue(QueueItem(RegisterFunction{function("first"), true, {function("f"), function("g")}})).ok());
  REQUIRE(task.enqueue(QueueItem(RegisterFunction{function("second"), true, {function("g"), function("h")}})).ok());
  CHECK(task.functions() == 5);
  REQUIRE(task.enqueue(QueueItem(RemoveFunction{"first"})).ok());
  CHECK(task.functions() == 3);
  REQUIRE(task.enqueue(QueueItem(RegisterFunction{function("h"), false, {}})).ok());
  REQUIRE(task.enqueue(QueueItem(RemoveFunction{"second"})).ok());
  CHECK(task.functions() == 1);
  REQUIRE(task.enqueue(QueueItem(RemoveFunction{"h"})).ok());
  CHECK(task.functions() == 0);
  CHECK(task.enqueue(QueueItem(RemoveFunction{"h"})).code() == core::Code::kInvalidArgument);
}

TEST_CASE("steps of parts of functions end with the context") {
  Here task;
  const size_t before = task.steps();  // the context's own
  CHECK(task.run_part("nobody registered it", -7).code() == core::Code::kInternal);
  CHECK(task.steps() == before);
  REQUIRE(task.enqueue(QueueItem(RegisterFunction{function("part"), true, {}})).ok());
  REQUIRE(task.run_part("part", -8).ok());
  REQUIRE(task.run_part("part", -9).ok());
  CHECK(task.steps() == before + 2);
  REQUIRE(task.enqueue(QueueItem(CleanupFunction{-8})).ok());
  CHECK(task.steps() == before + 1);
  task.close();
  CHECK(task.steps() == 0);
}

TEST_CASE("steps that a master did not end end with its session, and so do those of a master that was started again") {
  const auto devices = DeviceSet::cpus(1);
  auto steps = std::make_shared<StepTable>(kTask, nullptr);
  const TransportApi transport{};
  GraphService service(engine::Engine::get().registry(), devices.get(), kTask, steps, transport);
  const auto step_of = [&](const std::string& session, uint64_t incarnation, int64_t step) {
    CreateWorkerSession create;
    create.session = session;
    create.master_task = "/job:worker/replica:0/task:1";
    create.master_incarnation = incarnation;
    REQUIRE(service.create_session(create).ok());
    auto graph = service.register_graph({session, "", "", true});
    REQUIRE_MESSAGE(graph.ok(), graph.status().to_string());
    RunGraph run;
    run.graph = *graph;
    run.session = session;
    run.step_id = step;
    run.send = {{"never received", Tensor::vector(std::vector<float>(1000))}};
    auto answer = service.run_graph(run);
    REQUIRE_MESSAGE(answer.ok(), answer.status().to_string());
  };
  step_of("a", 1, 7);
  step_of("b", 1, 8);
  CHECK(steps->size() == 2);
  REQUIRE(service.delete_session("a").ok());
  CHECK(steps->size() == 1);
  step_of("c", 2, 9);
  CHECK(steps->size() == 1);
  service.cleanup_step(9);
  CHECK(steps->size() == 0);
}

TEST_CASE("an op behind a failed one of its thread fails as it did until somebody was told, whenever the error came") {
  auto channel = std::make_shared<Scripted>();
  auto task = std::make_shared<Task>(kTask, channel, kContext);
  task->now_gives_values();
  int64_t id = 0;
  for (const bool early : {true, false}) {
    const auto first = task->enqueue(op_item(++id));
    if (early) channel->fail(invalid_argument("no"));
    const auto registered = task->enqueue(QueueItem(RegisterFunction{function("f"), false, {}}));
    const auto second = task->enqueue(op_item(++id)), third = task->enqueue(op_item(++id));
    if (!early) channel->fail(invalid_argument("no"));
    CHECK(channel->waiting == 1);  // the function is not lost
    channel->answer();
    CHECK(registered->wait().ok());
    CHECK(second->wait().message() == "no");
    CHECK(third->failed());
    const auto next = task->enqueue(op_item(++id));
    CHECK(channel->waiting == 1);
    channel->answer();
    CHECK(next->wait().ok());
    CHECK(first->seen());
    CHECK(task->sync().ok());

    // Of another thread, and where it was told by a synchronisation.
    task->enqueue(op_item(++id));
    channel->fail(invalid_argument("no"));
    std::shared_ptr<Answer> other;
    std::thread([&] { other = task->enqueue(op_item(++id)); }).join();
    CHECK(channel->waiting == 1);
    channel->answer();
    CHECK(other->wait().ok());
    CHECK(task->sync().message() == "no");
    CHECK(task->sync().ok());
    const auto last = task->enqueue(op_item(++id));
    channel->answer();
    CHECK(last->wait().ok());
  }
}

TEST_CASE("what uses a task that the cluster has lost hears of that, and not of the cluster") {
  for (const bool lost : {true, false}) {
    auto task = std::make_shared<Task>(kTask, std::make_shared<Scripted>(), kContext);
    task->close(/*notify=*/!lost, 1);
    const auto answer = task->enqueue(op_item(1));
    CHECK(answer->refused());
    CHECK(answer->wait().code() == (lost ? core::Code::kUnavailable : core::Code::kFailedPrecondition));
    CHECK(answer->wait().message().find(kTask) != std::string::npos);
  }
}

TEST_CASE("what TensorFlow's processes say in texts becomes notes where their errors arrive") {
  const auto note = [](const core::Status& s, const char* key) {
    const core::Status noted = with_notes_of_text(s);
    const std::string* value = core::find_note(noted, key);
    return value ? *value : std::string("none");
  };
  const auto lost =
      core::unavailable("failed to connect\nAdditional GRPC error information from remote target /job:ps/replica:0/task:1 while calling /m:\n:{}");
  CHECK(note(lost, core::kNoteTarget) == "/job:ps/replica:0/task:1");
  CHECK(note(lost, core::kNoteDerived) == "none");
  CHECK(note(core::internal_error("x while calling /tensorflow.WorkerService/RecvTensor:\n"), core::kNoteDerived).empty());
  CHECK(note(core::internal_error("[_Derived_]x"), core::kNoteDerived).empty());
  CHECK(note(core::invalid_argument("x\n\t [[{{node a/b}}]]"), core::kNoteNamesNode) == "a/b");
  CHECK(note(core::invalid_argument("/job:worker/replica:0/task:0/device:CPU:0 unknown device."), core::kNoteTaskLost).empty());
  CHECK(note(core::invalid_argument("Unable to find the relevant tensor remote_handle: Op ID: 1, Output num: 0"), core::kNoteTaskLost).empty());
  CHECK(note(core::failed_precondition("Attempting to use uninitialized value v"), core::kNoteUninitialized).empty());
  CHECK(with_notes_of_text(core::invalid_argument("Incompatible shapes: [2] vs. [3]")).payloads().empty());
  CHECK(with_notes_of_text(core::Status()).ok());
  // A note of the sender's stays.
  const core::Status sent = lost.with_payload(core::kNoteTarget, "/job:worker/replica:0/task:0");
  CHECK(note(sent, core::kNoteTarget) == "/job:worker/replica:0/task:0");
}

TEST_CASE("an error of a call says which task was asked, once") {
  const core::Status s = error_of_task("/job:ps/replica:0/task:1", "/m", core::unavailable("no").with_payload("k", "v"));
  CHECK(s.message() == "no\nAdditional GRPC error information from remote target /job:ps/replica:0/task:1 while calling /m:\n:Unavailable");
  CHECK(s.payloads().size() == 2);
  REQUIRE(core::find_note(s, core::kNoteTarget));
  const core::Status again = error_of_target(s, "/job:worker/replica:0/task:0");
  CHECK(*core::find_note(again, core::kNoteTarget) == "/job:ps/replica:0/task:1");
}

TEST_CASE("an op takes the tensor of a packed handle that is on its device, and so does each node of a function") {
  Here task;
  const std::string here = "/job:localhost/replica:0/task:0/device:CPU:0", there = cat(kTask, "/device:CPU:0");
  using Local = SendPackedHandle::Local;
  const SendPackedHandle packed{
      6, {Local{Tensor::scalar(1.f), there}, Local{Tensor::scalar(20.f), here}}, "/job:localhost/replica:0/task:0/device:COMPOSITE:0"};
  REQUIRE(task.enqueue(QueueItem(packed)).ok());
  CHECK(task.enqueue(QueueItem(SendPackedHandle{7, {}, here})).message() == "Handles should not be empty.");
  const auto sum_on = [&](const std::string& device) {
    Operation o;
    o.id = kAnswerOnly;
    o.name = "AddV2";
    o.device = device;
    o.attrs["T"] = DType::kFloat;
    for (int i = 0; i < 2; ++i) o.inputs.emplace_back(RemoteTensorHandle{6, 0, there, there, DType::kFloat});
    return QueueItem(std::move(o));
  };
  auto sum = task.ask(sum_on(here));
  REQUIRE_MESSAGE(sum.ok(), sum.status().to_string());
  REQUIRE(sum->tensors.size() == 1);
  CHECK(sum->tensors[0].data<float>()[0] == 40.f);

  // What TensorFlow gives for these functions: tests/cluster/packed.out.
  const std::string next = "/job:localhost/replica:0/task:0/device:CPU:1";
  REQUIRE(task.enqueue(QueueItem(SendPackedHandle{8, {Local{Tensor::scalar(1.f), here}, Local{Tensor::scalar(10.f), next}}, "COMPOSITE:0"})).ok());
  const auto node = [](const char* name, const char* op, std::string device, std::vector<std::string> inputs) {
    graph::NodeDef n;
    n.name = name;
    n.op = op;
    n.device = std::move(device);
    n.inputs = std::move(inputs);
    n.attrs["T"] = DType::kFloat;
    return n;
  };
  const auto add = [&](graph::FunctionDef def) {
    graph::ArgDef x, out;
    x.name = "x";
    out.name = "out";
    x.type = out.type = DType::kFloat;
    def.inputs = {x};
    def.outputs = {out};
    auto bytes = io::encode_function_def(def);
    REQUIRE(bytes.ok());
    REQUIRE(task.enqueue(QueueItem(RegisterFunction{*bytes, false, {}})).ok());
  };
  const auto call = [&](const char* function, const std::string& device) {
    Operation o;
    o.id = kAnswerOnly;
    o.name = function;
    o.device = device;
    o.is_function = true;
    o.inputs.emplace_back(RemoteTensorHandle{8, 0, here, here, DType::kFloat});
    auto answer = task.ask(QueueItem(o));
    REQUIRE_MESSAGE(answer.ok(), answer.status().to_string());
    REQUIRE(answer->tensors.size() == 1);
    return answer->tensors[0].data<float>()[0];
  };
  graph::FunctionDef mixed;  // x + x, then the next device's x to the sum
  mixed.name = "mixed";
  mixed.nodes = {node("double", "AddV2", "", {"x", "x"}), node("sum", "AddV2", "/device:CPU:1", {"double:z:0", "x"})};
  mixed.ret["out"] = "sum:z:0";
  add(mixed);
  graph::FunctionDef plain;
  plain.name = "plain";
  plain.nodes = {node("double", "AddV2", "", {"x", "x"})};
  plain.ret["out"] = "double:z:0";
  add(plain);
  graph::FunctionDef nested;
  nested.name = "nested";
  nested.nodes = {node("a", "plain", here, {"x"}), node("b", "StatefulPartitionedCall", next, {"x"}),
                  node("sum", "AddV2", "", {"a:out:0", "b:output:0"})};
  nested.nodes[0].attrs.clear();
  nested.nodes[1].attrs = {{"Tin", std::vector<DType>{DType::kFloat}}, {"Tout", std::vector<DType>{DType::kFloat}}};
  op::FunctionAttr f;
  f.name = "plain";
  nested.nodes[1].attrs["f"] = f;
  nested.ret["out"] = "sum:z:0";
  add(nested);
  CHECK(call("plain", here) == 2.f);
  CHECK(call("plain", next) == 20.f);
  const int functions = task.functions();
  CHECK(call("mixed", here) == 12.f);
  CHECK(call("mixed", next) == 30.f);
  CHECK(call("nested", here) == 22.f);
  CHECK(call("nested", here) == 22.f);
  CHECK(task.functions() == functions + 3);  // mixed from each device and nested: those of plain are known
  CHECK(task.enqueue(QueueItem(RemoveFunction{"nested"})).ok());
  CHECK(task.functions() == functions + 1);

  REQUIRE(task.enqueue(QueueItem(DecRef{{6, 0, here, here, DType::kFloat}})).ok());
  CHECK(task.ask(sum_on(here)).status().code() == core::Code::kInvalidArgument);
}

TEST_CASE("a request that is larger than the connection takes fails alone, with the task and the sizes") {
  auto channel = std::make_shared<Scripted>();
  channel->most = 1 << 20;
  auto task = std::make_shared<Task>(kTask, channel, kContext);
  const auto large = task->enqueue(QueueItem(SendTensor{1, {Tensor::vector(std::vector<float>(300000))}, ""}));
  CHECK(large->refused());
  const Status s = large->wait();
  CHECK(s.code() == core::Code::kResourceExhausted);
  for (const char* part : {kTask, "1200", "1048576"}) CHECK(s.message().find(part) != std::string::npos);
  const auto next = task->enqueue(op_item(2));
  CHECK(channel->waiting == 1);
  channel->answer();
  CHECK(next->wait().ok());
}
