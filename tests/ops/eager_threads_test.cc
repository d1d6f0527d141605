// Many threads on one eager context: each result must be what the thread alone would get.
#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>

#include "eager/op.h"
#include "engine/engine.h"

using namespace weft_engine;  // NOLINT
using core::DType;
using core::RefPtr;
using core::Shape;
using core::Status;
using core::Tensor;
using eager::TensorHandle;

namespace {

constexpr int kThreads = 32, kRounds = 40;

RefPtr<TensorHandle> floats(std::initializer_list<int64_t> dims, float start) {
  Tensor t = Tensor::allocate(DType::kFloat, Shape(dims)).value();
  float* p = static_cast<float*>(t.raw());
  for (int64_t i = 0; i < t.num_elements(); ++i) p[i] = start + float(i);
  return TensorHandle::make(std::move(t), nullptr);
}

struct Attr {
  const char* name;
  op::AttrValue value;
};

// Null on any failure; the threads count those, since doctest's checks are for one thread.
RefPtr<TensorHandle> call(eager::Context& c, const char* name, std::vector<RefPtr<TensorHandle>> inputs, std::vector<Attr> attrs = {}) {
  eager::Op op(c);
  if (!op.reset(name).ok()) return {};
  for (auto& i : inputs) op.add_input(i);
  for (auto& a : attrs) {
    if (!op.set_attr(a.name, a.value).ok()) return {};
  }
  std::vector<RefPtr<TensorHandle>> out;
  if (!op.execute(out).ok()) return {};
  return out.empty() ? inputs.empty() ? RefPtr<TensorHandle>() : inputs[0] : out[0];
}

bool equals(const RefPtr<TensorHandle>& h, std::initializer_list<float> want) {
  if (!h.get() || !h->wait().ok()) return false;
  const Tensor& t = h->tensor();
  return t.num_elements() == int64_t(want.size()) && std::memcmp(t.raw(), want.begin(), want.size() * sizeof(float)) == 0;
}

int wrong_arithmetic(eager::Context& c, int thread, int round) {
  const float s = float(thread * 100 + round);
  int wrong = 0;
  auto a = floats({2, 2}, s), identity = floats({2, 2}, 0);
  wrong += !equals(call(c, "AddV2", {a, a}), {2 * s, 2 * s + 2, 2 * s + 4, 2 * s + 6});
  // [[0 1] [2 3]]: the attribute differs from thread to thread and round to round.
  const bool transpose = (thread + round) % 2;
  auto product = call(c, "MatMul", {a, identity}, {{"transpose_b", transpose}});
  const float p = s, q = s + 1, r = s + 2, t = s + 3;
  wrong += transpose ? !equals(product, {q, 2 * p + 3 * q, t, 2 * r + 3 * t}) : !equals(product, {2 * q, p + 3 * q, 2 * t, r + 3 * t});
  // An attribute value that this thread alone uses makes a kernel of its own.
  auto leaky = call(c, "LeakyRelu", {floats({2}, -1)}, {{"alpha", 0.25f * float(thread + 1)}});
  wrong += !equals(leaky, {-0.25f * float(thread + 1), 0});
  return wrong;
}

int wrong_variable(eager::Context& c, int thread, int round) {
  const std::string name = core::cat("own_", thread);
  auto v = call(c, "VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", core::PartialShape::scalar()}, {"shared_name", name}});
  if (!v.get()) return 1;
  if (!call(c, "AssignVariableOp", {v, floats({}, float(round))}).get()) return 1;
  if (!call(c, "AssignAddVariableOp", {v, floats({}, 1)}).get()) return 1;
  return !equals(call(c, "ReadVariableOp", {v}, {{"dtype", DType::kFloat}}), {float(round + 1)});
}

template <class F>
int on_all_threads(F body) {
  std::atomic<int> wrong{0};
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) wrong += body(i, round);
    });
  }
  for (auto& t : threads) t.join();
  return wrong;
}

}  // namespace

TEST_CASE("32 threads get their own results from one context") {
  eager::Context c(engine::Engine::get().registry(), {});
  CHECK(on_all_threads([&](int i, int round) { return wrong_arithmetic(c, i, round) + wrong_variable(c, i, round); }) == 0);
}

TEST_CASE("32 threads add to one variable and nothing is lost") {
  eager::Context c(engine::Engine::get().registry(), {});
  auto v = call(c, "VarHandleOp", {}, {{"dtype", DType::kFloat}, {"shape", core::PartialShape::scalar()}, {"shared_name", "shared"}});
  REQUIRE(v.get());
  REQUIRE(call(c, "AssignVariableOp", {v, floats({}, 0)}).get());
  CHECK(on_all_threads([&](int, int) { return !call(c, "AssignAddVariableOp", {v, floats({}, 1)}).get(); }) == 0);
  CHECK(equals(call(c, "ReadVariableOp", {v}, {{"dtype", DType::kFloat}}), {float(kThreads * kRounds)}));
}

TEST_CASE("kernels are dropped while 32 threads use them") {
  eager::Context c(engine::Engine::get().registry(), {});
  CHECK(on_all_threads([&](int i, int round) {
          if (round % 8 == i % 8) c.clear_kernels();
          return wrong_arithmetic(c, i, round);
        }) == 0);
}

TEST_CASE("32 threads share an async context") {
  eager::ContextOptions options;
  options.async = true;
  eager::Context c(engine::Engine::get().registry(), options);
  CHECK(on_all_threads([&](int i, int round) { return wrong_arithmetic(c, i, round); }) == 0);
}

TEST_CASE("each thread has its own executor and its own error") {
  eager::Context c(engine::Engine::get().registry(), {});
  CHECK(on_all_threads([&](int i, int) {
          auto executor = std::make_shared<eager::Executor>(true);
          c.set_executor_for_thread(executor);
          int wrong = 0;
          auto good = call(c, "AddV2", {floats({2}, 1), floats({2}, 1)});
          wrong += !equals(good, {2, 4});
          if (i % 2) {
            auto bad = call(c, "AddV2", {floats({2}, 1), floats({3}, 1)});
            wrong += !bad.get() || bad->wait().ok();
          }
          wrong += executor->wait().ok() != (i % 2 == 0);
          c.set_executor_for_thread(nullptr);
          return wrong;
        }) == 0);
}
