#include "runtime/partition.h"

#include <future>
#include <set>
#include <thread>

#include "graph/node_traits.h"
#include "runtime/placer.h"
#include "runtime/testing.h"

using namespace weft_engine;                    // NOLINT
using namespace weft_engine::runtime;           // NOLINT
using namespace weft_engine::runtime::testing;  // NOLINT

namespace {

std::unique_ptr<Executable> partitioned(World& w, BodyBuilder& b) {
  PlaceOptions o;
  o.devices = w.devices.get();
  REQUIRE(place(b.body(), o).ok());
  auto p = plan_partitioned(b.body(), *w.devices, w.context());
  REQUIRE_MESSAGE(p.ok(), p.status().to_string());
  return std::move(p).value();
}

Tensor vector_of(std::vector<float> v) { return Tensor::vector(v); }

// Two chains and their sum, on devices by turns.
void two_chains(BodyBuilder& b, bool devices) {
  Endpoint x = b.arg(), y = b.arg();
  auto on = [&](Node* n, int d) {
    if (devices) n->device = cat("/cpu:", d);
    return Endpoint{n, 0};
  };
  for (int i = 0; i < 6; ++i) {
    Endpoint x2 = on(b.add(cat("a", i), "AddV2", {x, y}), i % 3);
    y = on(b.add(cat("b", i), "Mul", {y, b.constant(cat("c", i), 0.5f)}), (i + 1) % 3);
    x = x2;
  }
  b.ret(x);
  b.ret(on(b.add("sum", "Sub", {x, y}), 2));
  b.ret(y);
}

}  // namespace

TEST_CASE("three devices give what one gives") {
  for (int threads : {1, 2, 4}) {
    World w(threads);
    BodyBuilder one, three;
    two_chains(one, false);
    two_chains(three, true);
    auto a = w.dataflow(one);
    auto b = partitioned(w, three);
    for (int run = 0; run < 20; ++run) {
      const std::vector<Tensor> args{vector_of({1, 2, float(run)}), vector_of({4, 5, 6})};
      std::vector<Tensor> ra(3), rb(3);
      REQUIRE(call(*a, w.env, args, ra).ok());
      Status s = call(*b, w.env, args, rb);
      REQUIRE_MESSAGE(s.ok(), s.to_string());
      std::promise<std::vector<Tensor>> later;
      b->run_async(w.env, args, [&](Status, std::vector<Tensor> r) { later.set_value(std::move(r)); });
      auto rc = later.get_future().get();
      for (size_t i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) {
          CHECK(ra[i].data<float>()[k] == rb[i].data<float>()[k]);
          CHECK(ra[i].data<float>()[k] == rc[i].data<float>()[k]);
        }
      }
    }
  }
}

TEST_CASE("a value goes once to a device, however many read it there; arguments and constants are not sent") {
  auto devices = DeviceSet::cpus(2);
  BodyBuilder b;
  Endpoint x = b.arg();
  Node* a = b.add("a", "Neg", {x});
  std::vector<Endpoint> all;
  for (int i = 0; i < 5; ++i) {
    Node* n = b.add(cat("r", i), "AddV2", {{a, 0}, i % 2 ? x : b.constant(cat("c", i), 1.0f)});
    n->device = "/cpu:1";
    all.push_back({n, 0});
  }
  Node* sum = b.add("sum", "AddN", all);
  sum->device = "/cpu:1";
  b.ret({sum, 0});
  b.ret({a, 0});
  PlaceOptions o;
  o.devices = devices.get();
  REQUIRE(place(b.body(), o).ok());
  auto parts = partition(b.body(), *devices);
  REQUIRE(parts.ok());
  REQUIRE(parts->size() == 2);
  int sends = 0, recvs = 0;
  for (const Part& p : *parts) {
    for (const Node* n : p.body.graph->nodes()) {
      sends += n->op() == "_Send";
      recvs += n->op() == "_Recv";
      CHECK(n->assigned_device == p.device->name());
    }
  }
  CHECK(sends == 1);
  CHECK(recvs == 1);
  CHECK((*parts)[0].rets == std::vector<int>{1});
  CHECK((*parts)[1].args == std::vector<int>{0});
  CHECK((*parts)[1].rets == std::vector<int>{0});
}

TEST_CASE("control edges hold between devices") {
  World w;
  BodyBuilder b;
  Endpoint x = b.arg();
  Node* v = b.add("v", "VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", PartialShape::scalar()}, {"shared_name", std::string("shared")}});
  Node* assign = b.add("assign", "AssignVariableOp", {{v, 0}, x});
  Node* gate = b.add("gate", "NoOp", {}, {}, {assign});
  gate->device = "/cpu:1";
  Node* read = b.add("read", "ReadVariableOp", {{v, 0}}, {{"dtype", DType::kFloat}}, {gate});
  b.ret({read, 0});
  auto p = partitioned(w, b);
  for (int i = 0; i < 20; ++i) {
    std::vector<Tensor> rets(1);
    Status s = call(*p, w.env, {Tensor::scalar(float(i))}, rets);
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    CHECK(scalar_of<float>(rets[0]) == float(i));
  }
}

TEST_CASE("a branch that is not taken is dead on other devices, too") {
  World w;
  BodyBuilder b;
  Endpoint pred = b.arg(DType::kBool), x = b.arg();
  Node* sw = b.add("switch", "Switch", {x, pred});
  Node* no = b.add("no", "Neg", {{sw, 0}});
  no->device = "/cpu:1";
  Node* yes = b.add("yes", "Square", {{sw, 1}});
  yes->device = "/cpu:2";
  Node* merge = b.add("merge", "Merge", {{no, 0}, {yes, 0}});
  b.ret({merge, 0});
  b.ret({merge, 1});
  auto p = partitioned(w, b);
  for (bool taken : {true, false, true}) {
    std::vector<Tensor> rets(2);
    Status s = call(*p, w.env, {Tensor::scalar<bool>(taken), Tensor::scalar(3.0f)}, rets);
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    CHECK(scalar_of<float>(rets[0]) == (taken ? 9 : -3));
    CHECK(scalar_of<int32_t>(rets[1]) == (taken ? 1 : 0));
  }
}

namespace {

// x = x + 1 + ... for the iterations of a loop in a loop, of which every second one doubles it instead.
void nested_loops(BodyBuilder& b) {
  Endpoint limit = b.arg(DType::kInt32), x = b.arg(DType::kInt32);
  b.ret(v1_loop(b, "outer", limit, x, [&](Endpoint y, Endpoint i) {
    Endpoint inner = v1_loop(b, "inner", i, y, [&](Endpoint z, Endpoint j) { return Endpoint{b.add("step", "AddV2", {z, j}), 0}; }, 2);
    Endpoint two = b.constant<int32_t>("two", 2, {i.node});
    Node* odd = b.add("odd", "FloorMod", {i, two});
    Node* pred = b.add("pred", "Equal", {{odd, 0}, b.constant<int32_t>("zero", 0, {i.node})});
    Node* branch = b.add("branch", "Switch", {inner, {pred, 0}});
    Node* doubled = b.add("doubled", "Mul", {{branch, 1}, b.constant<int32_t>("factor", 2, {branch})});
    Node* same = b.add("same", "Identity", {{branch, 0}});
    return Endpoint{b.add("joined", "Merge", {{doubled, 0}, {same, 0}}), 0};
  }));
}

int32_t nested_loops_by_hand(int32_t limit, int32_t x) {
  for (int32_t i = 0; i < limit; ++i) {
    for (int32_t j = 0; j < i; ++j) x += j;
    if (i % 2 == 0) x *= 2;
  }
  return x;
}

}  // namespace

TEST_CASE("loops of version 1 over several devices, their nodes anywhere") {
  World w(2);
  for (uint32_t seed = 0; seed < 60; ++seed) {
    BodyBuilder b;
    nested_loops(b);
    uint32_t state = seed * 2654435761u + 1;
    for (Node* n : b.graph().nodes()) {
      state = state * 1664525u + 1013904223u;
      if (!graph::is_end(*n)) n->device = cat("/cpu:", seed == 0 ? 0 : (state >> 16) % 3);
    }
    auto plan = partitioned(w, b);
    for (int32_t limit : {0, 1, 5, 12}) {
      CAPTURE(seed);
      CAPTURE(limit);
      std::vector<Tensor> args{Tensor::scalar(limit), Tensor::scalar<int32_t>(3)}, rets(1);
      Status s = call(*plan, w.env, args, rets);
      REQUIRE_MESSAGE(s.ok(), s.to_string());
      CHECK(rets[0].data<int32_t>()[0] == nested_loops_by_hand(limit, 3));
    }
  }
}

TEST_CASE("an error in one part ends the others and is the one that is told") {
  for (int threads : {1, 2}) {
    World w(threads);
    BodyBuilder b;
    Endpoint x = b.arg();
    Node* bad = b.add("bad", "Reshape", {x, b.constant<int32_t>("shape", 7)});
    bad->device = "/cpu:1";
    Node* after = b.add("after", "Neg", {{bad, 0}});
    Node* q = b.add("q", "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
    q->device = "/cpu:2";
    Node* waits = b.add("waits", "QueueDequeueV2", {{q, 0}}, {{"component_types", std::vector<DType>{DType::kFloat}}});
    b.ret({after, 0});
    b.ret({waits, 0});
    auto p = partitioned(w, b);
    for (int i = 0; i < 10; ++i) {
      std::vector<Tensor> rets(2);
      Status s = call(*p, w.env, {Tensor::scalar(1.0f)}, rets);
      CHECK(s.code() == Code::kInvalidArgument);
      CHECK(s.message().find("{{node bad}}") != std::string::npos);
    }
  }
}

TEST_CASE("cancelling ends all parts") {
  World w;
  BodyBuilder b;
  Node* q = b.add("q", "FIFOQueueV2", {}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  q->device = "/cpu:1";
  Node* waits = b.add("waits", "QueueDequeueV2", {{q, 0}}, {{"component_types", std::vector<DType>{DType::kFloat}}});
  Node* after = b.add("after", "Neg", {{waits, 0}});
  b.ret({after, 0});
  auto p = partitioned(w, b);
  CancellationManager cancellation;
  KernelEnv env = w.env;
  env.cancellation = &cancellation;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    cancellation.start_cancel();
  });
  std::vector<Tensor> rets(1);
  CHECK(call(*p, env, {}, rets).code() == Code::kCancelled);
  other.join();
}

TEST_CASE("parts that do not need each other run at the same time") {
  World w(2);
  BodyBuilder b;
  Endpoint x = b.arg();
  std::vector<Endpoint> ends;
  for (int d = 1; d <= 2; ++d) {
    Endpoint y = x;
    for (int i = 0; i < 4; ++i) {
      Node* n = b.add(cat("m", d, "_", i), "MatMul", {y, x});
      n->device = cat("/cpu:", d);
      y = {n, 0};
    }
    ends.push_back(y);
  }
  b.ret({b.add("sum", "AddV2", {ends[0], ends[1]}), 0});
  auto p = partitioned(w, b);
  Tensor big = *Tensor::zeros(DType::kFloat, {400, 400});
  // The machine may be busy with other things: one run of several must show it.
  bool overlap = false;
  for (int run = 0; run < 50 && !overlap; ++run) {
    StepTrace trace;
    KernelEnv env = w.env;
    env.trace = &trace;
    std::vector<Tensor> rets(1);
    REQUIRE(call(*p, env, {big}, rets).ok());
    int64_t begin[3] = {0, INT64_MAX, INT64_MAX}, end[3] = {0, 0, 0};
    std::set<std::string> devices;
    for (const auto& e : trace.take()) {
      devices.insert(e.device);
      const int d = e.device.back() - '0';
      if (e.op != "MatMul") continue;
      begin[d] = std::min(begin[d], e.start_ns);
      end[d] = std::max(end[d], e.end_ns);
    }
    CHECK(devices.size() == 3);
    overlap = begin[1] < end[2] && begin[2] < end[1];
  }
  CHECK(overlap);
}

TEST_CASE("many threads call one partitioned function") {
  World w(3);
  BodyBuilder b;
  two_chains(b, true);
  auto p = partitioned(w, b);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        std::vector<Tensor> rets(3);
        Status s = call(*p, w.env, {vector_of({float(t)}), vector_of({64})}, rets);
        if (!s.ok() || rets[2].data<float>()[0] != 1 || rets[0].data<float>()[0] != float(t) + 126) ++wrong;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("a receive can be given up; the next one gets the value") {
  auto r = make_local_rendezvous();
  int first = 0, second = 0;
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> kept = owner;
  r->recv_async("k", &first, [&first, owner](Status, Tensor, bool) { ++first; });
  owner.reset();
  CHECK_FALSE(r->empty());
  CHECK_FALSE(r->give_up("k", &second));  // of nobody
  CHECK_FALSE(r->give_up("other", &first));
  CHECK(r->give_up("k", &first));
  CHECK(kept.expired());
  CHECK(r->empty());
  CHECK_FALSE(r->give_up("k", &first));
  r->recv_async("k", &first, [&](Status, Tensor, bool) { ++first; });
  r->recv_async("k", &second, [&](Status, Tensor, bool) { ++second; });
  CHECK(r->give_up("k", &first));
  CHECK(r->send("k", {}, true).ok());
  CHECK(first == 0);
  CHECK(second == 1);
  CHECK_FALSE(r->give_up("k", &second));  // it has come
  CHECK(r->empty());
}

TEST_CASE("a rendezvous: either may come first; an abort reaches all") {
  auto r = make_local_rendezvous();
  float got = 0;
  bool was_dead = false;
  auto take = [&](Status s, Tensor t, bool dead) {
    CHECK(s.ok());
    was_dead = dead;
    if (!dead) got = t.data<float>()[0];
  };
  REQUIRE(r->send("a", Tensor::scalar(1.0f), false).ok());
  r->recv_async("a", take);
  CHECK(got == 1);
  r->recv_async("b", take);
  REQUIRE(r->send("b", Tensor::scalar(2.0f), false).ok());
  CHECK(got == 2);
  REQUIRE(r->send("c", Tensor(), true).ok());
  r->recv_async("c", take);
  CHECK(was_dead);
  Status waiting, late;
  r->recv_async("d", [&](Status s, Tensor, bool) { waiting = s; });
  r->abort(aborted("why"));
  r->recv_async("e", [&](Status s, Tensor, bool) { late = s; });
  CHECK(waiting.message() == "why");
  CHECK(late.code() == Code::kAborted);
  CHECK(r->send("e", Tensor::scalar(1.0f), false).code() == Code::kAborted);
}
