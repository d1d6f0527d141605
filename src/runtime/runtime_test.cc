// How long functions and their plans live.
#include <doctest/doctest.h>

#include "runtime/function_runtime.h"
#include "runtime/testing.h"

using namespace weft_engine;                    // NOLINT
using namespace weft_engine::runtime;           // NOLINT
using namespace weft_engine::runtime::testing;  // NOLINT

namespace {

// y = -x, or y = callee(x).
graph::FunctionDef function(std::string name, const std::string& callee = "") {
  graph::FunctionDef f;
  f.name = std::move(name);
  f.attrs["_noinline"] = true;
  f.inputs.resize(1);
  f.inputs[0].name = "x";
  f.inputs[0].type = DType::kFloat;
  f.outputs.resize(1);
  f.outputs[0].name = "y";
  f.outputs[0].type = DType::kFloat;
  graph::NodeDef n;
  n.name = "node";
  n.op = callee.empty() ? "Neg" : "PartitionedCall";
  n.inputs = {"x"};
  if (callee.empty()) {
    n.attrs["T"] = DType::kFloat;
  } else {
    n.attrs["Tin"] = n.attrs["Tout"] = std::vector<DType>{DType::kFloat};
    n.attrs["f"] = FunctionAttr{callee, nullptr};
  }
  f.nodes.push_back(std::move(n));
  f.ret["y"] = callee.empty() ? "node:y:0" : "node:output:0";
  return f;
}

struct Functions {
  Functions() {
    RuntimeOptions o;
    o.registry = &engine::Engine::get().registry();
    o.devices = world.devices.get();
    o.pool = &world.pool;
    o.inter = &world.inter;
    o.resources = &world.resources;
    runtime = std::make_unique<FunctionLibraryRuntime>(o, library);
  }
  void remove(const std::string& name, bool owned) {
    std::vector<std::string> gone;
    CHECK(library->remove(name, &gone).ok());
    runtime->forget(gone, owned);
  }
  // Whoever holds it keeps the function.
  std::shared_ptr<const void> owner_of(const std::string& name) {
    return std::shared_ptr<const void>(new std::string(name), [this](const void* p) {
      const std::unique_ptr<const std::string> own(static_cast<const std::string*>(p));
      remove(*own, true);
    });
  }
  Result<std::shared_ptr<FunctionHandle>> get(const std::string& name) { return runtime->instantiate(FunctionAttr{name, nullptr}); }
  Status run(FunctionHandle& f, float& value) {
    Tensor arg = Tensor::scalar<float>(value), ret;
    WEFT_RETURN_IF_ERROR(f.run(runtime->step_env(), {&arg, 1}, {&ret, 1}));
    value = ret.data<float>()[0];
    return {};
  }
  World world;
  std::shared_ptr<graph::FunctionLibrary> library = std::make_shared<graph::FunctionLibrary>();
  std::unique_ptr<FunctionLibraryRuntime> runtime;
};

}  // namespace

TEST_CASE("a handle keeps its function in the library, and the function its plan") {
  Functions w;
  auto owner = w.owner_of("f");
  REQUIRE(w.library->add(function("f"), owner).ok());
  auto handle = w.get("f");
  REQUIRE(handle.ok());
  owner.reset();
  CHECK(w.library->contains("f"));
  float v = 2;
  CHECK(w.run(**handle, v).ok());
  CHECK(v == -2);
  std::weak_ptr<FunctionHandle> plan = (*handle)->weak_from_this();
  {
    auto again = w.get("f");
    REQUIRE(again.ok());
    CHECK(again->get() == handle->get());
  }
  *handle = nullptr;
  CHECK(!w.library->contains("f"));
  CHECK(plan.expired());
}

TEST_CASE("what is derived has the owner of its origin, goes with it, and holds what it names") {
  Functions w;
  auto owner = w.owner_of("f"), other = w.owner_of("other");
  REQUIRE(w.library->add(function("f"), owner).ok());
  REQUIRE(w.library->add(function("other"), other).ok());
  REQUIRE(w.library->add_derived(function("g", "other"), "f").ok());
  REQUIRE(w.library->add_derived(function("h", "g"), "g").ok());
  CHECK(w.library->owner("h") == owner);
  other.reset();
  CHECK(w.library->contains("other"));
  owner.reset();
  CHECK(w.library->size() == 0);
}

TEST_CASE("a plan that calls a function without an owner goes on when that is removed") {
  Functions w;
  REQUIRE(w.library->add(function("g")).ok());
  REQUIRE(w.library->add(function("f", "g")).ok());
  auto f = w.get("f");
  REQUIRE(f.ok());
  float v = 3;
  for (int i = 0; i < 3; ++i) CHECK(w.run(**f, v).ok());  // the general plan, and the one for scalars
  CHECK(v == -3);
  w.remove("g", false);
  CHECK(w.run(**f, v).ok());
  CHECK(v == 3);
  CHECK(w.get("g").status().code() == Code::kNotFound);
}

TEST_CASE("a function that is replaced is planned anew") {
  Functions w;
  REQUIRE(w.library->add(function("g")).ok());
  REQUIRE(w.library->add(function("f", "g")).ok());
  REQUIRE(w.library->add(function("two", "f")).ok());
  float v = 1;
  CHECK(w.run(**w.get("two"), v).ok());
  CHECK(v == -1);
  w.remove("two", false);
  REQUIRE(w.library->add(function("two")).ok());
  std::weak_ptr<FunctionHandle> first = (*w.get("two"))->weak_from_this();
  CHECK(w.run(**w.get("two"), v).ok());
  CHECK(v == 1);
  // Plans of removed functions are kept for a while, not for ever.
  for (int i = 0; i < 100; ++i) {
    REQUIRE(w.library->add(function(cat("t", i))).ok());
    CHECK(w.run(**w.get(cat("t", i)), v).ok());
    w.remove(cat("t", i), false);
  }
  w.remove("two", false);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(w.library->add(function(cat("u", i))).ok());
    REQUIRE(w.get(cat("u", i)).ok());
    w.remove(cat("u", i), false);
  }
  CHECK(first.expired());
}
