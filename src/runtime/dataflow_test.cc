#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "op/variable.h"
#include "runtime/testing.h"

using namespace weft_engine;           // NOLINT
using namespace weft_engine::runtime;  // NOLINT
using namespace weft_engine::runtime::testing;  // NOLINT

TEST_CASE("a body runs in the order of its edges, also side by side") {
  for (int threads : {1, 2, 4}) {
    World w(threads);
    BodyBuilder b;
    Endpoint x = b.arg();
    std::vector<Endpoint> parts;
    for (int i = 0; i < 40; ++i) {
      Endpoint y = {b.add(cat("mul", i), "Mul", {x, b.constant(cat("c", i), float(i))}), 0};
      for (int k = 0; k < 3; ++k) y = {b.add(cat("neg", i, "_", k), "Neg", {y}), 0};
      parts.push_back(y);
    }
    Node* all = b.add("all", "AddN", parts, {{"N", 40}, {"T", DType::kFloat}});
    b.ret({all, 0});
    b.ret(x);
    auto p = w.dataflow(b);
    for (int run = 0; run < 20; ++run) {
      std::vector<Tensor> rets(2);
      REQUIRE(call(*p, w.env, {Tensor::scalar(2.0f)}, rets).ok());
      CHECK(scalar_of<float>(rets[0]) == -2.0f * 780);
      CHECK(scalar_of<float>(rets[1]) == 2.0f);
    }
  }
}

TEST_CASE("a wrong number of arguments is an error") {
  World w;
  BodyBuilder b;
  b.ret(b.arg());
  auto p = w.dataflow(b);
  std::vector<Tensor> rets(1);
  CHECK(call(*p, w.env, {}, rets).code() == Code::kInvalidArgument);
  rets.clear();
  CHECK(call(*p, w.env, {Tensor::scalar(1.0f)}, rets).code() == Code::kInvalidArgument);
}

TEST_CASE("version 1 loops") {
  for (int threads : {1, 3}) {
    for (int parallel : {1, 2, 10}) {
      World w(threads);
      BodyBuilder b;
      Endpoint n = b.arg(DType::kInt32), x = b.arg(DType::kInt32);
      b.ret(v1_loop(b, "loop", n, x, [&](Endpoint y, Endpoint i) { return Endpoint{b.add("step", "AddV2", {y, i}), 0}; }, parallel));
      auto p = w.dataflow(b);
      for (int count : {0, 1, 2, 50}) {
        std::vector<Tensor> rets(1);
        Status s = call(*p, w.env, {Tensor::scalar<int32_t>(count), Tensor::scalar<int32_t>(7)}, rets);
        REQUIRE_MESSAGE(s.ok(), s.to_string());
        CHECK(scalar_of<int32_t>(rets[0]) == 7 + count * (count - 1) / 2);
      }
    }
  }
}

TEST_CASE("nested version 1 loops") {
  for (int threads : {1, 3}) {
    World w(threads);
    BodyBuilder b;
    Endpoint n = b.arg(DType::kInt32), x = b.arg(DType::kInt32);
    // for i in n: for j in i: x = x + 1 (in three frames, the innermost doubling once)
    Endpoint out = v1_loop(b, "outer", n, x, [&](Endpoint y, Endpoint i) {
      return v1_loop(b, "inner", i, y, [&](Endpoint z, Endpoint j) {
        Endpoint limit = {b.add("lim", "Identity", {j}), 0};
        return v1_loop(b, "innermost", limit, z, [&](Endpoint q, Endpoint k) { return Endpoint{b.add("add", "AddV2", {q, k}), 0}; });
      });
    });
    b.ret(out);
    auto p = w.dataflow(b);
    int expected = 0;
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < i; ++j)
        for (int k = 0; k < j; ++k) expected += k;
    for (int run = 0; run < 10; ++run) {
      std::vector<Tensor> rets(1);
      Status s = call(*p, w.env, {Tensor::scalar<int32_t>(9), Tensor::scalar<int32_t>(0)}, rets);
      REQUIRE_MESSAGE(s.ok(), s.to_string());
      CHECK(scalar_of<int32_t>(rets[0]) == expected);
    }
  }
}

namespace {
// cond ? x + 1 : loop over x, as version 1 writes it.
struct Branches {
  explicit Branches(BodyBuilder& b) {
    Endpoint pred = b.arg(DType::kBool), x = b.arg(DType::kInt32);
    Node* sw = b.add("switch", "Switch", {x, pred});
    Node* sp = b.add("switch_pred", "Switch", {pred, pred});
    Node* pivot_f = b.add("pivot_f", "Identity", {{sp, 0}});
    Node* pivot_t = b.add("pivot_t", "Identity", {{sp, 1}});
    Endpoint one = b.constant<int32_t>("one", 1, {pivot_t});
    Node* yes = b.add("yes", "AddV2", {{sw, 1}, one});
    Endpoint five = b.constant<int32_t>("five", 5, {pivot_f});
    Endpoint no = v1_loop(b, "loop", five, {sw, 0}, [&](Endpoint y, Endpoint i) { return Endpoint{b.add("step", "AddV2", {y, i}), 0}; });
    Node* merge = b.add("merge", "Merge", {{yes, 0}, no});
    b.ret({merge, 0});
    b.ret({merge, 1});
    // Runs whichever branch was taken.
    Node* trigger = b.add("trigger", "ControlTrigger", {}, {}, {yes, no.node});
    b.ret(b.constant<int32_t>("after", 3, {trigger}));
  }
};
}  // namespace

TEST_CASE("a loop in a branch that is not taken is dead") {
  for (int threads : {1, 3}) {
    World w(threads);
    BodyBuilder b;
    Branches br(b);
    auto p = w.dataflow(b);
    for (bool taken : {true, false, true, false}) {
      std::vector<Tensor> rets(3);
      Status s = call(*p, w.env, {Tensor::scalar<bool>(taken), Tensor::scalar<int32_t>(10)}, rets);
      REQUIRE_MESSAGE(s.ok(), s.to_string());
      CHECK(scalar_of<int32_t>(rets[0]) == (taken ? 11 : 20));
      CHECK(scalar_of<int32_t>(rets[1]) == (taken ? 0 : 1));
      CHECK(scalar_of<int32_t>(rets[2]) == 3);
    }
  }
}

TEST_CASE("a result that is dead is an error") {
  World w;
  BodyBuilder b;
  Endpoint pred = b.arg(DType::kBool);
  Node* sw = b.add("switch", "Switch", {pred, pred});
  b.ret({sw, 0});
  auto p = w.dataflow(b);
  std::vector<Tensor> rets(1);
  CHECK(call(*p, w.env, {Tensor::scalar<bool>(true)}, rets).message() == "Retval[0] does not have value");
  CHECK(call(*p, w.env, {Tensor::scalar<bool>(false)}, rets).ok());
}

TEST_CASE("a node that reads from two frames is refused") {
  World w;
  BodyBuilder b;
  Endpoint n = b.arg(DType::kInt32), x = b.arg(DType::kInt32), y = b.arg(DType::kInt32);
  b.ret(v1_loop(b, "loop", n, x, [&](Endpoint z, Endpoint) { return Endpoint{b.add("step", "AddV2", {z, y}), 0}; }));
  auto p = plan_dataflow(b.body(), w.context());
  REQUIRE(!p.ok());
  CHECK(p.status().message() ==
        "{{node step}} has inputs from different frames. The input {{node loop/x}} is in frame 'loop'. The input {{node arg2}} is in frame ''.");
}

TEST_CASE("a queue inside one body: the reader waits for the writer, with no thread standing by") {
  for (int threads : {1, 2}) {
    World w(threads);
    BodyBuilder b;
    Endpoint x = b.arg();
    Node* q = b.add("q", "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}, {"capacity", 100}});
    std::vector<Endpoint> got;
    for (int i = 0; i < 20; ++i) {
      got.push_back({b.add(cat("deq", i), "QueueDequeueV2", {{q, 0}}, {{"component_types", std::vector<DType>{DType::kFloat}}}), 0});
    }
    for (int i = 0; i < 20; ++i) {
      Endpoint v = {b.add(cat("v", i), "Mul", {x, b.constant(cat("c", i), float(i))}), 0};
      b.add(cat("enq", i), "QueueEnqueueV2", {{q, 0}, v}, {{"Tcomponents", std::vector<DType>{DType::kFloat}}});
    }
    b.ret({b.add("sum", "AddN", got), 0});
    auto p = w.dataflow(b);
    for (int run = 0; run < 10; ++run) {
      std::vector<Tensor> rets(1);
      REQUIRE(call(*p, w.env, {Tensor::scalar(1.0f)}, rets).ok());
      CHECK(scalar_of<float>(rets[0]) == 190);
      std::promise<float> later;
      p->run_async(w.env, {Tensor::scalar(2.0f)}, [&](Status s, std::vector<Tensor> r) { later.set_value(s.ok() ? r[0].data<float>()[0] : -1); });
      CHECK(later.get_future().get() == 380);
    }
  }
}

TEST_CASE("an error names its node and ends what waits") {
  for (int threads : {1, 2}) {
    World w(threads);
    BodyBuilder b;
    Endpoint x = b.arg();
    Node* q = b.add("q", "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
    Node* d = b.add("waits", "QueueDequeueV2", {{q, 0}}, {{"component_types", std::vector<DType>{DType::kFloat}}});
    Node* bad = b.add("bad", "Reshape", {x, b.constant<int32_t>("shape", 7)});
    b.ret({d, 0});
    b.ret({bad, 0});
    auto p = w.dataflow(b);
    std::vector<Tensor> rets(2);
    Status s = call(*p, w.env, {Tensor::scalar(1.0f)}, rets);
    CHECK(s.code() == Code::kInvalidArgument);
    CHECK(s.message().find("{{node bad}}") != std::string::npos);
  }
}

TEST_CASE("cancelling from outside ends what waits") {
  World w;
  BodyBuilder b;
  Node* q = b.add("q", "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  Node* d = b.add("waits", "QueueDequeueV2", {{q, 0}}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  b.ret({d, 0});
  auto p = w.dataflow(b);
  CancellationManager cancellation;
  KernelEnv env = w.env;
  env.cancellation = &cancellation;
  std::promise<Status> later;
  p->run_async(env, {}, [&](Status s, std::vector<Tensor>) { later.set_value(s); });
  cancellation.start_cancel();
  CHECK(later.get_future().get().code() == Code::kCancelled);
  std::vector<Tensor> rets(1);
  CHECK(call(*p, env, {}, rets).code() == Code::kCancelled);
}

TEST_CASE("a loop without end stops when it is cancelled") {
  World w;
  BodyBuilder b;
  Endpoint n = b.constant<int32_t>("n", 2'000'000'000), x = b.arg(DType::kInt32);
  b.ret(v1_loop(b, "loop", n, x, [&](Endpoint y, Endpoint) { return Endpoint{b.add("step", "Neg", {y}), 0}; }));
  auto p = w.dataflow(b);
  CancellationManager cancellation;
  KernelEnv env = w.env;
  env.cancellation = &cancellation;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    cancellation.start_cancel();
  });
  std::vector<Tensor> rets(1);
  CHECK(call(*p, env, {Tensor::scalar<int32_t>(1)}, rets).code() == Code::kCancelled);
  other.join();
}

TEST_CASE("references: read when the reader runs, changed in place") {
  World w;
  BodyBuilder b;
  Endpoint x = b.arg();
  Node* v = b.add("v", "VariableV2", {}, {{"shape", PartialShape::scalar()}, {"dtype", DType::kFloat}});
  Node* assign = b.add("assign", "Assign", {{v, 0}, x});
  Node* first = b.add("first", "Identity", {{v, 0}}, {}, {assign});
  Node* more = b.add("more", "AssignAdd", {{v, 0}, x}, {}, {first});
  Node* second = b.add("second", "Mul", {{more, 0}, {v, 0}}, {}, {more});
  b.ret({first, 0});
  b.ret({second, 0});
  b.ret({more, 0});
  auto p = w.dataflow(b);
  std::vector<Tensor> rets(3);
  Status s = call(*p, w.env, {Tensor::scalar(3.0f)}, rets);
  REQUIRE_MESSAGE(s.ok(), s.to_string());
  CHECK(scalar_of<float>(rets[0]) == 3);
  CHECK(scalar_of<float>(rets[1]) == 36);
  CHECK(scalar_of<float>(rets[2]) == 6);
}

TEST_CASE("reading a reference that has no value") {
  World w;
  BodyBuilder b;
  Node* v = b.add("var", "VariableV2", {}, {{"shape", PartialShape::scalar()}, {"dtype", DType::kFloat}});
  b.ret({b.add("is", "IsVariableInitialized", {{v, 0}}), 0});
  Node* read = b.add("read", "Identity", {{v, 0}});
  b.ret({read, 0});
  auto p = w.dataflow(b);
  std::vector<Tensor> rets(2);
  Status s = call(*p, w.env, {}, rets);
  CHECK(s.code() == Code::kFailedPrecondition);
  CHECK(s.message() == "Attempting to use uninitialized value var\n\t [[{{node read}}]]");
}

TEST_CASE("handles of version 1: a table in both executors, two unnamed queues in one graph") {
  for (bool sequential : {true, false}) {
    World w;
    BodyBuilder b;
    Endpoint x = b.arg(DType::kInt64);
    Node* t = b.add("t", "HashTable", {}, {{"key_dtype", DType::kInt64}, {"value_dtype", DType::kInt64}});
    Node* flat = b.add("flat", "ExpandDims", {x, b.constant<int32_t>("zero", 0)});
    Node* init = b.add("init", "InitializeTable", {{t, 0}, {flat, 0}, {flat, 0}});
    Node* find = b.add("find", "LookupTableFind", {{t, 0}, x, b.constant<int64_t>("missing", -1)}, {}, {init});
    b.ret({find, 0});
    b.ret({t, 0});
    auto p = sequential ? plan_sequential(b.body(), w.context()) : plan_dataflow(b.body(), w.context());
    REQUIRE_MESSAGE(p.ok(), p.status().to_string());
    std::vector<Tensor> rets(2);
    Status s = call(**p, w.env, {Tensor::scalar<int64_t>(7)}, rets);
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    CHECK(scalar_of<int64_t>(rets[0]) == 7);
    REQUIRE(rets[1].num_elements() == 2);
    CHECK(rets[1].data<tstring>()[0] == "localhost");
  }
  World w;
  BodyBuilder b;
  Endpoint x = b.arg();
  const AttrMap types{{"component_types", std::vector<DType>{DType::kFloat}}};
  Node* full = b.add("full", "FIFOQueue", {}, types);
  Node* empty = b.add("empty", "FIFOQueue", {}, types);
  Node* put = b.add("put", "QueueEnqueue", {{full, 0}, x}, {{"Tcomponents", std::vector<DType>{DType::kFloat}}});
  b.ret({b.add("size", "QueueSize", {{full, 0}}, {}, {put}), 0});
  b.ret({b.add("other_size", "QueueSize", {{empty, 0}}, {}, {put}), 0});
  auto p = w.dataflow(b);
  for (int run = 1; run <= 3; ++run) {
    std::vector<Tensor> rets(2);
    Status s = call(*p, w.env, {Tensor::scalar(1.0f)}, rets);
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    CHECK(scalar_of<int32_t>(rets[0]) == run);
    CHECK(scalar_of<int32_t>(rets[1]) == 0);
  }
}

TEST_CASE("memory: a value is dropped after its last reader and given to it") {
  World w(1);
  BodyBuilder b;
  Endpoint x = b.arg();
  Node* a = b.add("a", "Neg", {x});
  Node* c = b.add("c", "Exp", {{a, 0}});
  b.ret({c, 0});
  auto p = w.dataflow(b);
  Tensor big = *Tensor::zeros(DType::kFloat, {1000});
  const void* memory = big.raw();
  std::vector<Tensor> args(1), rets(1);
  args[0] = std::move(big);
  REQUIRE(p->run(w.env, args, rets).ok());
  CHECK(rets[0].raw() == memory);
}

TEST_CASE("a trace tells of every kernel") {
  World w;
  BodyBuilder b;
  Endpoint x = b.arg();
  Node* a = b.add("a", "Neg", {x});
  b.ret({b.add("b", "Exp", {{a, 0}}), 0});
  auto p = w.dataflow(b);
  StepTrace trace;
  KernelEnv env = w.env;
  env.trace = &trace;
  std::vector<Tensor> rets(1);
  REQUIRE(call(*p, env, {Tensor::scalar(1.0f)}, rets).ok());
  auto events = trace.take();
  REQUIRE(events.size() == 2);
  CHECK(events[0].node == "a");
  CHECK(events[1].op == "Exp");
  CHECK(events[1].device == "/job:localhost/replica:0/task:0/device:CPU:0");
  CHECK(events[0].end_ns <= events[1].start_ns);
}

TEST_CASE("many threads run one plan at once") {
  World w(4);
  BodyBuilder b;
  Endpoint n = b.arg(DType::kInt32), x = b.arg(DType::kInt32);
  Node* q = b.add("q", "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kInt32}}, {"capacity", 5}});
  Endpoint looped = v1_loop(b, "loop", n, x, [&](Endpoint y, Endpoint i) { return Endpoint{b.add("step", "AddV2", {y, i}), 0}; });
  // What one run puts in another may take out; all put in the same.
  b.add("enq", "QueueEnqueueV2", {{q, 0}, n}, {{"Tcomponents", std::vector<DType>{DType::kInt32}}});
  Node* deq = b.add("deq", "QueueDequeueV2", {{q, 0}}, {{"component_types", std::vector<DType>{DType::kInt32}}});
  std::vector<Endpoint> wide;
  for (int i = 0; i < 20; ++i) wide.push_back({b.add(cat("w", i), "AddV2", {looped, b.constant<int32_t>(cat("c", i), i)}), 0});
  wide.push_back({deq, 0});
  b.ret({b.add("sum", "AddN", wide), 0});
  auto p = w.dataflow(b);
  std::atomic<int> wrong{0};
  auto work = [&] {
    for (int i = 0; i < 100; ++i) {
      std::vector<Tensor> rets(1);
      Status s = call(*p, w.env, {Tensor::scalar<int32_t>(6), Tensor::scalar<int32_t>(i)}, rets);
      if (!s.ok() || rets[0].data<int32_t>()[0] != 20 * (i + 15) + 190 + 6) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) threads.emplace_back(work);
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("a cancellation may come at any moment") {
  World w(3);
  BodyBuilder b;
  Endpoint n = b.arg(DType::kInt32);
  const AttrMap types{{"component_types", std::vector<DType>{DType::kInt32}}};
  AttrMap shared = types;
  shared["shared_name"] = std::string("everyones");
  Node* q = b.add("q", "FIFOQueueV2", {}, shared);
  Endpoint looped = v1_loop(b, "loop", n, n, [&](Endpoint y, Endpoint i) { return Endpoint{b.add("step", "AddV2", {y, i}), 0}; });
  b.add("enq", "QueueEnqueueV2", {{q, 0}, looped}, {{"Tcomponents", std::vector<DType>{DType::kInt32}}});
  Node* d1 = b.add("d1", "QueueDequeueV2", {{q, 0}}, types);
  Node* d2 = b.add("d2", "QueueDequeueV2", {{q, 0}}, types);
  // Two are taken, one is put in; the other comes from outside, or a cancellation does.
  b.ret({b.add("sum", "AddV2", {{d1, 0}, {d2, 0}}), 0});
  auto p = w.dataflow(b);
  BodyBuilder more;
  Node* same = more.add("q", "FIFOQueueV2", {}, shared);
  more.add("enq", "QueueEnqueueV2", {{same, 0}, more.constant<int32_t>("c", 5)}, {{"Tcomponents", std::vector<DType>{DType::kInt32}}});
  auto put = w.dataflow(more);
  int stopped = 0, other_errors = 0;
  for (int i = 0; i < 300; ++i) {
    CancellationManager cancellation;
    KernelEnv env = w.env;
    env.cancellation = &cancellation;
    std::thread other([&] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(i * 100);
      while (std::chrono::steady_clock::now() < until) {
      }
      std::vector<Tensor> none;
      if (i % 3 == 0) call(*put, w.env, {}, none).ok();
      cancellation.start_cancel();
    });
    Status s;
    if (i % 2) {
      std::promise<Status> later;
      p->run_async(env, {Tensor::scalar<int32_t>(3)}, [&](Status done, std::vector<Tensor>) { later.set_value(std::move(done)); });
      s = later.get_future().get();
    } else {
      std::vector<Tensor> rets(1);
      s = call(*p, env, {Tensor::scalar<int32_t>(3)}, rets);
    }
    other.join();
    if (s.code() == Code::kCancelled) ++stopped;
    else if (!s.ok()) ++other_errors;
  }
  CHECK(stopped > 0);
  CHECK(other_errors == 0);
}
