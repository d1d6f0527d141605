// Functions that name devices, through the function runtime: placed, cut, run side by side.
#include <set>
#include <thread>

#include "graph/to_function.h"
#include "runtime/function_runtime.h"
#include "runtime/testing.h"

using namespace weft_engine;                    // NOLINT
using namespace weft_engine::runtime;           // NOLINT
using namespace weft_engine::runtime::testing;  // NOLINT

namespace {

struct Runtime {
  explicit Runtime(int cpus, int threads = 2) : world(threads, cpus) {
    RuntimeOptions o;
    o.registry = &engine::Engine::get().registry();
    o.devices = world.devices.get();
    o.pool = &world.pool;
    o.inter = &world.inter;
    o.resources = &world.resources;
    library = std::make_shared<graph::FunctionLibrary>();
    runtime = std::make_unique<FunctionLibraryRuntime>(o, library);
  }
  World world;
  std::shared_ptr<graph::FunctionLibrary> library;
  std::unique_ptr<FunctionLibraryRuntime> runtime;
};

// Three chains of products, one for each device, and their sum on the first.
graph::FunctionBody three_chains() {
  BodyBuilder b;
  Endpoint x = b.arg(), y = b.arg();
  std::vector<Endpoint> ends;
  for (int d = 0; d < 3; ++d) {
    Endpoint z = x;
    for (int i = 0; i < 4; ++i) {
      Node* n = b.add(cat("product", d, "_", i), "MatMul", {z, y});
      n->device = cat("/device:CPU:", d);
      Node* s = b.add(cat("tanh", d, "_", i), "Tanh", {{n, 0}});
      s->device = cat("/cpu:", d);
      z = {s, 0};
    }
    Node* scale = b.add(cat("scale", d), "Mul", {z, b.constant(cat("c", d), float(d + 1))});
    scale->device = cat("/job:localhost/replica:0/task:0/device:CPU:", d);
    ends.push_back({scale, 0});
  }
  b.ret({b.add("sum", "AddN", ends), 0});
  b.ret(ends[1]);
  b.body().name = "three_chains";
  return std::move(b.body());
}

Tensor numbers(int64_t n) {
  Tensor t = *Tensor::zeros(DType::kFloat, {n, n});
  for (int64_t i = 0; i < n * n; ++i) t.data<float>()[i] = float(i % 17 - 8) / float(n);
  return t;
}

}  // namespace

TEST_CASE("a function that names three devices runs on them at the same time and gives what one device gives") {
  Runtime one(1), three(3);
  auto a = one.runtime->instantiate(three_chains());
  auto b = three.runtime->instantiate(three_chains());
  const Tensor x = numbers(256), y = numbers(256);
  bool overlap = false;
  // More than once: plans for shapes that come again are made again. The machine may be busy, so that not every run overlaps.
  for (int run = 0; run < 30 && (run < 4 || !overlap); ++run) {
    std::vector<Tensor> args{x, y}, ra(2), rb(2);
    REQUIRE(a->run(one.world.env, args, ra).ok());
    StepTrace trace;
    KernelEnv env = three.world.env;
    env.trace = &trace;
    env.functions = three.runtime.get();
    args = {x, y};
    Status s = b->run(env, args, rb);
    REQUIRE_MESSAGE(s.ok(), s.to_string());
    for (size_t i = 0; i < 2; ++i) {
      REQUIRE(ra[i].shape() == rb[i].shape());
      CHECK(std::equal(ra[i].span<float>().begin(), ra[i].span<float>().end(), rb[i].span<float>().begin()));
    }
    std::set<std::string> devices;
    const auto events = trace.take();
    for (const auto& e : events) devices.insert(e.device);
    CHECK(devices.size() == 3);
    for (const auto& e : events) {
      for (const auto& f : events) overlap |= e.device < f.device && e.start_ns < f.end_ns && f.start_ns < e.end_ns;
    }
  }
  CHECK(overlap);
}

TEST_CASE("the placement of a function is told") {
  Runtime three(3);
  auto f = three.runtime->instantiate(three_chains());
  auto body = f->optimized({});
  REQUIRE_MESSAGE(body.ok(), body.status().to_string());
  std::map<std::string, int> count;
  for (const Node* n : body->graph->nodes()) ++count[n->assigned_device];
  for (int d = 0; d < 3; ++d) CHECK(count[cat("/job:localhost/replica:0/task:0/device:CPU:", d)] >= 5);
}

TEST_CASE("many threads call a function over three devices") {
  Runtime three(3, 4);
  auto f = three.runtime->instantiate(three_chains());
  std::vector<Tensor> args{numbers(8), numbers(8)}, want(2);
  REQUIRE(f->run(three.world.env, args, want).ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        std::vector<Tensor> mine{numbers(8), numbers(8)}, rets(2);
        if (!f->run(three.world.env, mine, rets).ok() ||
            !std::equal(want[0].span<float>().begin(), want[0].span<float>().end(), rets[0].span<float>().begin()))
          ++wrong;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

namespace {

// A variable times a product of constants, which folding does away with.
void add_reader(Runtime& r) {
  BodyBuilder b;
  Node* v = b.add("v", "Placeholder", {}, {{"dtype", DType::kResource}});
  Node* read = b.add("read", "ReadVariableOp", {{v, 0}}, {{"dtype", DType::kFloat}});
  Endpoint two = b.constant("two", 2.f);
  Node* product = b.add("product", "Mul", {{b.add("square", "Mul", {two, two}), 0}, {read, 0}});
  graph::FunctionOptions o;
  o.name = "reader";
  o.inputs = {{v, 0}};
  o.outputs = {{product, 0}};
  auto def = graph::to_function(b.graph(), o);
  REQUIRE_MESSAGE(def.ok(), def.status().to_string());
  REQUIRE(r.library->add(std::move(def).value()).ok());
}

}  // namespace

TEST_CASE("a function uses a resource where it lives") {
  Runtime three(3);
  add_reader(three);
  InstantiateOptions o;
  o.input_devices = {"/job:localhost/replica:0/task:0/device:CPU:2"};
  auto f = three.runtime->instantiate(FunctionAttr{"reader", nullptr}, o);
  REQUIRE_MESSAGE(f.ok(), f.status().to_string());
  auto body = static_cast<Instance*>(f->get())->optimized({});
  REQUIRE_MESSAGE(body.ok(), body.status().to_string());
  for (const Node* n : body->graph->nodes()) {
    if (n->op() == "ReadVariableOp") CHECK(n->assigned_device == o.input_devices[0]);
  }
  // Elsewhere it is another plan.
  auto g = three.runtime->instantiate(FunctionAttr{"reader", nullptr});
  REQUIRE(g.ok());
  CHECK(g->get() != f->get());
}

TEST_CASE("a call's config turns passes off") {
  Runtime one(1);
  add_reader(one);
  auto muls = [&](const std::string& config) {
    InstantiateOptions o;
    o.config_proto = config;
    auto f = one.runtime->instantiate(FunctionAttr{"reader", nullptr}, o);
    REQUIRE_MESSAGE(f.ok(), f.status().to_string());
    auto body = static_cast<Instance*>(f->get())->optimized({});
    REQUIRE_MESSAGE(body.ok(), body.status().to_string());
    int count = 0;
    for (const Node* n : body->graph->nodes()) count += n->op() == "Mul";
    return count;
  };
  CHECK(muls("") == 1);
  // graph_options { rewrite_options { constant_folding: OFF arithmetic_optimization: OFF } }
  CHECK(muls(std::string("\x52\x06\x52\x04\x18\x02\x38\x02")) == 2);
  InstantiateOptions o;
  o.config_proto = "\x52\x7f";
  CHECK(one.runtime->instantiate(FunctionAttr{"reader", nullptr}, o).status().code() == Code::kInvalidArgument);
}
