// Functions that call themselves: what ends runs, on any thread; what does not end is an error. Functions with loops of version 1.
#include <pthread.h>

#include "core/call_depth.h"
#include "graph/function_library.h"
#include "runtime/function_runtime.h"
#include "runtime/testing.h"

using namespace weft_engine;                    // NOLINT
using namespace weft_engine::runtime;           // NOLINT
using namespace weft_engine::runtime::testing;  // NOLINT

namespace {

using graph::FunctionDef;
using graph::NodeDef;

NodeDef node(std::string name, std::string op, std::vector<std::string> inputs, AttrMap attrs) {
  NodeDef n;
  n.name = std::move(name);
  n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.attrs = std::move(attrs);
  return n;
}

FunctionDef function(std::string name, std::string result, std::vector<NodeDef> nodes) {
  FunctionDef f;
  f.name = std::move(name);
  graph::ArgDef n, y;
  n.name = "n";
  y.name = "y";
  n.type = y.type = DType::kInt32;
  f.inputs = {n};
  f.outputs = {y};
  f.ret["y"] = std::move(result);
  f.nodes = std::move(nodes);
  return f;
}

const AttrMap kInt{{"T", DType::kInt32}};
AttrMap with_types(AttrMap attrs) {
  attrs["Tin"] = attrs["Tout"] = std::vector<DType>{DType::kInt32};
  return attrs;
}
NodeDef constant(std::string name, int32_t v) {
  return node(std::move(name), "Const", {}, {{"dtype", DType::kInt32}, {"value", Tensor::scalar<int32_t>(v)}});
}
FunctionAttr named(std::string name) { return {std::move(name), nullptr}; }

struct Functions {
  explicit Functions(std::vector<std::string> disabled = {}) : devices(DeviceSet::cpus(1)) {
    RuntimeOptions o;
    o.registry = &engine::Engine::get().registry();
    o.devices = devices.get();
    o.pool = &pool;
    o.inter = &inter;
    o.resources = &resources;
    o.disabled_passes = std::move(disabled);
    runtime = std::make_unique<FunctionLibraryRuntime>(o, library);
  }
  void add(FunctionDef f) { REQUIRE(library->add(std::move(f)).ok()); }
  // 0 + 1 + ... + n: sum(n) = n > 0 ? more(n) : last(n); more(n) = n + sum(n - 1).
  void add_sum(bool frames = false) {
    AttrMap branch = with_types({{"Tcond", DType::kBool}, {"then_branch", named("more")}, {"else_branch", named("last")}});
    std::vector<NodeDef> sum{constant("zero", 0), node("go", "Greater", {"n", "zero:output:0"}, kInt), node("if", "If", {"go:z:0", "n"}, branch)};
    std::string result = "if:output:0";
    if (frames) {  // version 1's form: the dataflow executor runs it
      sum.pop_back();
      sum.push_back(node("switch", "Switch", {"n", "go:z:0"}, kInt));
      sum.push_back(node("more", "PartitionedCall", {"switch:output_true:0"}, with_types({{"f", named("more")}})));
      sum.push_back(node("merge", "Merge", {"switch:output_false:0", "more:output:0"}, {{"T", DType::kInt32}, {"N", 2}}));
      result = "merge:output:0";
    }
    add(function("sum", result, std::move(sum)));
    add(function("last", "i:output:0", {node("i", "Identity", {"n"}, kInt)}));
    add(function("more", "a:z:0",
                 {constant("one", 1), node("m", "Sub", {"n", "one:output:0"}, kInt),
                  node("k", "PartitionedCall", {"m:z:0"}, with_types({{"f", named("sum")}})), node("a", "AddV2", {"n", "k:output:0"}, kInt)}));
  }
  Status run(const std::string& name, int32_t n, int32_t& result) {
    WEFT_ASSIGN(auto f, runtime->instantiate(named(name)));
    std::vector<Tensor> args{Tensor::scalar<int32_t>(n)}, rets(1);
    Status s = f->run(runtime->step_env(), args, rets);
    if (s.ok()) result = scalar_of<int32_t>(rets[0]);
    return s;
  }

  ThreadPool pool{2}, inter{2};
  std::unique_ptr<DeviceSet> devices;
  ResourceManager resources;
  std::shared_ptr<graph::FunctionLibrary> library = std::make_shared<graph::FunctionLibrary>();
  std::unique_ptr<FunctionLibraryRuntime> runtime;
};

void check_endless(Functions& f, const std::string& name) {
  int32_t result = 0;
  const Status s = f.run(name, 1, result);
  CHECK(s.code() == Code::kInvalidArgument);
  CHECK_MESSAGE(s.message().find("Function calls nest more than 10000 deep") != std::string_view::npos, s.to_string());
  CHECK(core::call_depth() == 0);
}

}  // namespace

TEST_CASE("recursion that ends runs, one that does not is an error") {
  for (bool frames : {false, true}) {
    for (bool inlined : {true, false}) {
      CAPTURE(frames);
      CAPTURE(inlined);
      Functions f(inlined ? std::vector<std::string>{} : std::vector<std::string>{"inline"});
      f.add_sum(frames);
      for (int32_t n : {0, 1, 10, 1000, 4000}) {
        int32_t result = 0;
        const Status s = f.run("sum", n, result);
        CHECK_MESSAGE(s.ok(), s.to_string());
        CHECK(result == n * (n + 1) / 2);
      }
      int32_t result = 0;
      const Status s = f.run("sum", 100'000, result);
      CHECK(s.code() == Code::kInvalidArgument);
    }
  }
}

TEST_CASE("a function may have a loop of version 1, whatever the order of its nodes") {
  // 1 * 2 ** n: i and x go around while i < n.
  AttrMap enter = kInt, merge = kInt;
  enter["frame_name"] = std::string("loop");
  merge["N"] = 2;
  const auto variable = [&](const std::string& v, const std::string& from) {
    return std::vector<NodeDef>{node("merge_" + v, "Merge", {"enter_" + v + ":output:0", "next_" + v + ":output:0"}, merge),
                                node("enter_" + v, "Enter", {from}, enter),
                                node("switch_" + v, "Switch", {"merge_" + v + ":output:0", "cond:output:0"}, kInt),
                                node("exit_" + v, "Exit", {"switch_" + v + ":output_false:0"}, kInt)};
  };
  AttrMap outside = enter;
  outside["is_constant"] = true;
  std::vector<NodeDef> nodes = variable("i", "zero:output:0");
  for (NodeDef& n : variable("x", "one:output:0")) nodes.push_back(std::move(n));
  nodes.push_back(node("next_i", "NextIteration", {"more:z:0"}, kInt));
  nodes.push_back(node("next_x", "NextIteration", {"twice:z:0"}, kInt));
  nodes.push_back(node("limit", "Enter", {"n"}, outside));
  nodes.push_back(node("step", "Enter", {"one:output:0"}, outside));
  nodes.push_back(node("less", "Less", {"merge_i:output:0", "limit:output:0"}, kInt));
  nodes.push_back(node("cond", "LoopCond", {"less:z:0"}, {}));
  nodes.push_back(node("more", "AddV2", {"switch_i:output_true:0", "step:output:0"}, kInt));
  nodes.push_back(node("twice", "AddV2", {"switch_x:output_true:0", "switch_x:output_true:0"}, kInt));
  nodes.push_back(constant("zero", 0));
  nodes.push_back(constant("one", 1));
  Functions f;
  f.add(function("power", "exit_x:output:0", nodes));
  for (int32_t n : {0, 1, 10}) {
    int32_t result = 0;
    const Status s = f.run("power", n, result);
    CHECK_MESSAGE(s.ok(), s.to_string());
    CHECK(result == 1 << n);
  }
  // A way back that is of another type, and a cycle without one.
  for (NodeDef& n : nodes) {
    if (n.name == "next_x") n = node("next_x", "NextIteration", {"less:z:0"}, {{"T", DType::kBool}});
  }
  f.add(function("other_type", "exit_x:output:0", nodes));
  f.add(function("cycle", "a:output:0", {node("a", "Identity", {"b:output:0"}, kInt), node("b", "Identity", {"a:output:0"}, kInt)}));
  int32_t result = 0;
  CHECK(f.run("other_type", 1, result).code() == Code::kInvalidArgument);
  CHECK(f.run("cycle", 1, result).message().find("contains a cycle") != std::string_view::npos);
}

TEST_CASE("every way to call oneself without end is an error") {
  Functions f;
  f.add(function("direct", "k:output:0", {node("k", "PartitionedCall", {"n"}, with_types({{"f", named("direct")}}))}));
  f.add(function("by_name", "k:y:0", {node("k", "by_name", {"n"}, {})}));
  f.add(function("there", "k:output:0", {node("k", "StatefulPartitionedCall", {"n"}, with_types({{"f", named("back")}}))}));
  f.add(function("back", "k:output:0", {node("k", "PartitionedCall", {"n"}, with_types({{"f", named("there")}}))}));
  f.add(function("case", "k:output:0", {node("k", "Case", {"n", "n"}, with_types({{"branches", std::vector<FunctionAttr>{named("case")}}}))}));
  f.add(function("twice", "a:z:0",
                 {node("k", "PartitionedCall", {"n"}, with_types({{"f", named("twice")}})),
                  node("l", "PartitionedCall", {"n"}, with_types({{"f", named("twice")}})), node("a", "AddV2", {"k:output:0", "l:output:0"}, kInt)}));
  FunctionDef cond = function("cond", "g:z:0", {constant("zero", 0), node("g", "Greater", {"n", "zero:output:0"}, kInt)});
  cond.outputs[0].type = DType::kBool;
  f.add(std::move(cond));
  f.add(function("loop", "k:output:0",
                 {node("k", "While", {"n"}, {{"T", std::vector<DType>{DType::kInt32}}, {"cond", named("cond")}, {"body", named("loop")}})}));
  f.add(function(
      "remote", "k:output:0",
      {node("t", "Const", {}, {{"dtype", DType::kString}, {"value", Tensor::scalar(core::tstring("/job:localhost/replica:0/task:0/device:CPU:0"))}}),
       node("k", "RemoteCall", {"t:output:0", "n"}, with_types({{"f", named("remote")}}))}));
  for (const char* name : {"direct", "by_name", "there", "case", "twice", "loop", "remote"}) {
    CAPTURE(name);
    check_endless(f, name);
  }
}

TEST_CASE("recursion runs on threads with small stacks") {
  Functions f;
  f.add_sum();
  pthread_attr_t attr;
  REQUIRE(pthread_attr_init(&attr) == 0);
  REQUIRE(pthread_attr_setstacksize(&attr, 256 << 10) == 0);
  struct Task {
    Functions& f;
    Status status;
    int32_t result = 0;
  } task{f, {}};
  pthread_t thread;
  const auto work = [](void* p) -> void* {
    auto& t = *static_cast<Task*>(p);
    t.status = t.f.run("sum", 4000, t.result);
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attr, work, &task) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attr);
  CHECK_MESSAGE(task.status.ok(), task.status.to_string());
  CHECK(task.result == 4000 * 4001 / 2);
}

TEST_CASE("a call tree of 2^40 calls is planned in parts") {
  // f40 is f39 twice, and so on: what is inlined has a limit, and every function is planned once.
  Functions f;
  f.add(function("f0", "i:output:0", {node("i", "Identity", {"n"}, kInt)}));
  for (int i = 1; i <= 40; ++i) {
    const AttrMap call = with_types({{"f", named(cat("f", i - 1))}});
    f.add(function(cat("f", i), "b:output:0", {node("a", "PartitionedCall", {"n"}, call), node("b", "PartitionedCall", {"a:output:0"}, call)}));
  }
  auto handle = f.runtime->instantiate(named("f40"));
  REQUIRE(handle.ok());
  auto body = static_cast<Instance&>(**handle).optimized({});
  REQUIRE_MESSAGE(body.ok(), body.status().to_string());
  CHECK(body->graph->num_nodes() < 20'000);
  int32_t result = 0;
  REQUIRE(f.run("f12", 7, result).ok());
  CHECK(result == 7);
}
