// Functions as machine code: jit_compile, models loaded with it, errors that say what cannot be compiled.
#include <doctest/doctest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "api/unwrap.h"
#include "compiler/codegen.h"
#include "core/companion.h"
#include "core/own_memory.h"
#include "op/variable.h"
#include "tests/support/api_test.h"
#include "weft/raw.h"
#include "weft/trace.h"

namespace wf = weft;
using wf::Tensor;

TEST_CASE("compiled functions give what the engine gives, for every shape that they are called with") {
  auto body = [](Tensor x) { return wf::tanh(x) * x + wf::reduce_sum(x * x); };
  auto compiled = wf::function(body, {.jit_compile = true});
  for (int n : {1, 2, 7, 64, 100, 7}) {
    std::vector<float> numbers;
    for (int i = 0; i < n; ++i) numbers.push_back(float(i) / 8 - 1);
    const Tensor x = Tensor::of<float>({n}, std::span<const float>(numbers));
    const auto got = values(compiled(x)), want = values(body(x));
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-5));
  }
}

TEST_CASE("nothing of LLVM is destroyed when the process ends: other threads may be compiling, or loading it") {
  const auto api = weft_engine::compiler::codegen();
  REQUIRE(api.ok());
  CHECK((*api)->destroyed_at_exit != weft_engine::core::can_bind_deep());  // sanitizers keep the destructors
}

TEST_CASE("a chain of a thousand ops") {
  auto chain = wf::function(
      [](Tensor x) {
        for (int i = 0; i < 1000; ++i) x = i % 2 ? x * 1.001f : x + 0.01f;
        return x;
      },
      {.jit_compile = true});
  double want = 2;
  for (int i = 0; i < 1000; ++i) want = i % 2 ? want * double(1.001f) : want + double(0.01f);
  CHECK(double(chain(Tensor(2.f)).item<float>()) == doctest::Approx(want).epsilon(1e-4));
}

TEST_CASE("a training step changes variables in place and agrees with the engine's") {
  struct Net {
    wf::Variable w{Tensor::of<float>({2, 2}, std::vector<float>{0.5f, -0.25f, 0.125f, 1})}, m{wf::zeros({2, 2})};
    Tensor step(Tensor x, Tensor y) {
      wf::GradientTape tape;
      const Tensor d = wf::matmul(x, w) - y;
      const Tensor loss = wf::reduce_mean(d * d);
      const Tensor g = tape.gradient(loss, w).dense();
      m.assign(m.value() * 0.9f + g);
      w.assign_sub(m.value() * 0.1f);
      return loss;
    }
  };
  Net a, b;
  auto plain = wf::function([&](Tensor x, Tensor y) { return a.step(x, y); });
  auto compiled = wf::function([&](Tensor x, Tensor y) { return b.step(x, y); }, {.jit_compile = true});
  const Tensor x = Tensor::of<float>({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}),
               y = Tensor::of<float>({3, 2}, std::vector<float>{1, 0, 0, 1, 1, 1});
  const Tensor before = b.w.value();  // a value that was read never changes
  const auto kept = values(before);
  for (int i = 0; i < 10; ++i) CHECK(compiled(x, y).item<float>() == doctest::Approx(plain(x, y).item<float>()).epsilon(1e-4));
  CHECK(values(before) == kept);
  const auto got = values(b.w.value()), want = values(a.w.value());
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-4));
}

TEST_CASE("gradients of a compiled function") {
  auto cube = wf::function([](Tensor x) { return x * x * x; }, {.jit_compile = true});
  wf::GradientTape tape;
  const Tensor x(2.f);
  tape.watch(x);
  CHECK(tape.gradient(cube(x), x).dense().item<float>() == 12);
}

TEST_CASE("loops and branches") {
  auto collatz = wf::function(
      [](Tensor n) {
        return wf::while_loop([](Tensor k, Tensor) { return k != 1; },
                              [](Tensor k, Tensor steps) {
                                const Tensor next = wf::cond(
                                    wf::raw::FloorMod(k, Tensor(2)) == 0, [&] { return wf::raw::FloorDiv(k, Tensor(2)); }, [&] { return k * 3 + 1; });
                                return std::pair(next, steps + 1);
                              },
                              std::pair(n, Tensor(0)))
            .second;
      },
      {.jit_compile = true});
  CHECK(collatz(Tensor(27)).item<int32_t>() == 111);
  CHECK(collatz(Tensor(1)).item<int32_t>() == 0);
}

TEST_CASE("integers that decide about shapes are part of the signature") {
  auto f = wf::function([](Tensor x, Tensor shape) { return wf::raw::Reshape(x, shape); }, {.jit_compile = true});
  const Tensor x{1.f, 2.f, 3.f, 4.f, 5.f, 6.f};
  CHECK(f(x, Tensor{2, 3}).shape() == std::vector<int64_t>{2, 3});
  CHECK(f(x, Tensor{3, 2}).shape() == std::vector<int64_t>{3, 2});
  CHECK(f(x, Tensor{2, 3}).shape() == std::vector<int64_t>{2, 3});
}

TEST_CASE("what cannot be compiled is named, and everything stays usable") {
  auto counted = wf::function([](Tensor x) { return wf::raw::UniqueWithCounts(x).y; }, {.jit_compile = true});
  const std::string text = message_of([&] { counted(Tensor{1, 2, 2}); });
  CHECK(text.find("UniqueWithCounts") != std::string::npos);
  auto text_op = wf::function([](Tensor x) { return wf::raw::AsString(x); }, {.jit_compile = true});
  CHECK(message_of([&] { text_op(Tensor(1.f)); }).find("AsString") != std::string::npos);
  auto fine = wf::function([](Tensor x) { return x + 1.f; }, {.jit_compile = true});
  CHECK(fine(Tensor(1.f)).item<float>() == 2);
}

TEST_CASE("results whose shapes depend on data: the parts around them are compiled") {
  // Numbers of TensorFlow with jit_compile=True.
  const Tensor x = Tensor::of<float>({4}, std::vector<float>{3, 1, 3, 2});
  auto places = wf::function([](Tensor t) { return wf::raw::Where(t > 1.f); }, {.jit_compile = true});
  CHECK(places(x).shape() == std::vector<int64_t>{3, 1});
  auto sum = wf::function([](Tensor t) { return wf::reduce_sum(wf::raw::GatherNd(t * t + t - t * t, wf::raw::Where(t > 1.f)) * 2.f); },
                          {.jit_compile = true});
  CHECK(sum(x).item<float>() == 16.f);
  CHECK(sum(Tensor::of<float>({2}, std::vector<float>{5, 0})).item<float>() == 10.f);
  auto unique = wf::function([](Tensor t) { return wf::raw::Unique(t).y; }, {.jit_compile = true});
  CHECK(values(unique(x)) == std::vector<float>{3, 1, 2});
}

TEST_CASE("an index outside is an error of the call, not of memory") {
  auto pick = wf::function([](Tensor x, Tensor i) { return wf::gather(x, i); }, {.jit_compile = true});
  const Tensor x{1.f, 2.f, 3.f};
  // Twice: the second compiled version has no constants in it.
  CHECK(values(pick(x, Tensor{2, 0})) == Floats{3, 1});
  CHECK(message_of([&] { pick(x, Tensor{7, 0}); }) != "nothing was thrown");
  CHECK(message_of([&] { pick(x, Tensor{-1, 0}); }) != "nothing was thrown");
  CHECK(values(pick(x, Tensor{1, 1})) == Floats{2, 2});
}

TEST_CASE("many threads call one compiled function") {
  wf::Variable sum(Tensor(0.f));
  auto add = wf::function([&](Tensor x) { return sum.assign_add(x).value(); }, {.jit_compile = true});
  add(Tensor(0.f));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) add(Tensor(1.f));
    });
  }
  for (auto& t : threads) t.join();
  CHECK(sum.value().item<float>() == 1600);
}

TEST_CASE("a model that is loaded with jit_compile runs as one compiled call") {
  struct Net : wf::Module {
    wf::Variable w{Tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4}), {.name = "w"}};
    wf::TracedFunction<Tensor(Tensor)> f =
        wf::function([this](Tensor x) { return wf::tanh(wf::matmul(x, w)) + 1.f; }, {.input_signature = {{"x", wf::DType::float32, {-1, 2}, ""}}});
    Net() { track("w", w), track("f", f); }
  };
  Net net;
  const std::string dir = (std::filesystem::temp_directory_path() / ("weft_jit_" + std::to_string(getpid()))).string();
  wf::save(net, dir, {{"serving_default", net.f.concrete_function(), {"y"}}});
  auto model = wf::load(dir, {.jit_compile = true});
  const Tensor x = Tensor::of<float>({1, 2}, std::vector<float>{0.5f, -0.25f});
  model["serving_default"]({{"x", x}});
  wf::TraceEvents trace;
  const auto got = values(model["serving_default"](wf::NamedTensors{{"x", x}}, trace)["y"]);
  CHECK(got[0] == doctest::Approx(std::tanh(0.5 - 0.75) + 1));
  CHECK(got[1] == doctest::Approx(std::tanh(1.0 - 1.0) + 1));
  REQUIRE(trace.events.size() == 1);
  CHECK(trace.events[0].op == "_Compiled");
  std::filesystem::remove_all(dir);
}

TEST_CASE("a helper that must be compiled and cannot be is an error, whether the rest of the model is compiled or not") {
  // As in TensorFlow, in sessions with and without global_jit_level. The AsString beside the helper keeps the caller from being compiled as a whole.
  struct Net : wf::Module {
    wf::TracedFunction<Tensor(Tensor)> text =
        wf::function([](Tensor x) { return wf::raw::StringLength(wf::raw::AsString(x)); }, {.jit_compile = true});
    wf::TracedFunction<Tensor(Tensor)> twice = wf::function([](Tensor x) { return x + x; }, {.jit_compile = true});
    wf::TracedFunction<Tensor(Tensor)> bad =
        wf::function([this](Tensor x) { return text(x * x + x - 1.f); }, {.input_signature = {{"x", wf::DType::float32, {-1}, ""}}});
    wf::TracedFunction<Tensor(Tensor)> good =
        wf::function([this](Tensor x) { return wf::raw::StringLength(wf::raw::AsString(twice(x * x + x - 1.f))); },
                     {.input_signature = {{"x", wf::DType::float32, {-1}, ""}}});
    Net() { track("bad", bad), track("good", good); }
  };
  Net net;
  const std::string dir = (std::filesystem::temp_directory_path() / ("weft_jit_helper_" + std::to_string(getpid()))).string();
  wf::save(net, dir, {{"bad", net.bad.concrete_function(), {"y"}}, {"good", net.good.concrete_function(), {"y"}}});
  const Tensor x = Tensor::of<float>({1}, std::vector<float>{3});
  for (bool jit : {false, true}) {
    CAPTURE(jit);
    auto model = wf::load(dir, {.jit_compile = jit});
    CHECK(message_of([&] { model["bad"](wf::NamedTensors{{"x", x}}); }).find("AsString") != std::string::npos);
    CHECK(model["good"](wf::NamedTensors{{"x", x}})["y"].to_vector<int32_t>() == std::vector<int32_t>{9});  // "22.000000"
  }
  std::filesystem::remove_all(dir);
}

TEST_CASE("a random op with seeds goes on from call to call with TensorFlow's numbers") {
  auto draw = wf::function(
      [](Tensor x) {
        return x * 0.f + wf::raw::RandomUniform(Tensor::of<int32_t>({1}, std::vector<int32_t>{3}), wf::DType::float32, {.seed = 7, .seed2 = 9});
      },
      {.jit_compile = true});
  // tf.raw_ops.RandomUniform(shape=[3], seed=7, seed2=9, dtype=tf.float32) in one tf.function, called twice
  CHECK(values(draw(Tensor(1.f))) == std::vector<float>{0.536344886f, 0.473236561f, 0.463888884f});
  CHECK(values(draw(Tensor(2.f))) == std::vector<float>{0.0779434443f, 0.329510927f, 0.394480109f});
  auto any = wf::function([] { return wf::raw::RandomStandardNormal(Tensor::of<int32_t>({1}, std::vector<int32_t>{1000}), wf::DType::float32); },
                          {.jit_compile = true});
  const auto a = values(any()), b = values(any());
  CHECK(a != b);
  double sum = 0, squares = 0;
  for (float v : a) sum += v, squares += double(v) * v;
  CHECK(std::abs(sum / 1000) < 0.2);
  CHECK(std::abs(squares / 1000 - 1) < 0.3);
}

namespace {

// A device of which the host sees only noise.
class FarDevice final : public weft_engine::core::OwnMemoryDevice {
 public:
  using Host = weft_engine::core::Tensor;
  FarDevice() : OwnMemoryDevice(*weft_engine::core::DeviceName::parse("/job:localhost/replica:0/task:0/device:FAR:0"), 1 << 20, "far") {}
  weft_engine::core::Result<Host> allocate(weft_engine::core::DType, const weft_engine::core::Shape&) override {
    return weft_engine::core::unimplemented("memory without a value");
  }
  weft_engine::core::AllocatorStats stats() const override { return {}; }
  void synchronize(std::function<void(weft_engine::core::Status)> done) override { done({}); }
  Host put(const Host& value) {
    auto there = std::make_shared<std::vector<float>>(size_t(value.num_elements()), std::nanf(""));
    values_[there->data()] = value;
    return adopt(value.dtype(), value.shape(), there->data(), there->size() * sizeof(float), [there] {});
  }
  void copy_to_host(const Host& tensor, CopyDone done) override {
    if (before_copy) before_copy(tensor);
    done(values_.at(tensor.raw()));
  }
  void copy_from(Device&, const Host& tensor, CopyDone done) override { done(put(tensor)); }
  void* stream() override { return nullptr; }
  std::function<void(const Host&)> before_copy;

 private:
  std::map<const void*, Host> values_;
};

weft_engine::op::Variable& resource_of(const wf::Variable& v) {
  const auto& handle = wf::api::value_of(v.handle()).data<weft_engine::core::ResourceHandle>()[0];
  return dynamic_cast<weft_engine::op::Variable&>(*handle.info()->resource);
}

}  // namespace

TEST_CASE("a device that uses a variable takes it back before or after a call, not within") {
  const wf::Variable a(Tensor{1.f, 2.f}), b(Tensor{3.f, 4.f}), c(Tensor{0.f, 0.f});
  auto f = wf::function(
      [&] {
        c.assign_add(b.value());
        return a.value() * b.value();
      },
      {.jit_compile = true});
  CHECK(values(f()) == Floats{3, 8});
  FarDevice far;
  const std::vector<weft_engine::op::Variable*> all{&resource_of(a), &resource_of(b), &resource_of(c)};
  for (auto* v : all) v->set(far.put(v->tensor()));
  far.before_copy = [&](const FarDevice::Host& copied) {
    for (auto* v : all) {
      const std::unique_lock lock(v->mutex(), std::try_to_lock);
      if (lock && v->tensor().raw() != copied.raw() && !weft_engine::core::lies_elsewhere(v->tensor())) v->set(far.put(v->tensor()));
    }
  };
  CHECK(values(f()) == Floats{3, 8});
  CHECK(values(c.value()) == Floats{6, 8});
  for (auto* v : all) CHECK(!weft_engine::core::lies_elsewhere(v->tensor()));
}

TEST_CASE("functions that write what the other one reads, at the same time") {
  const wf::Variable a(Tensor(1.f)), b(Tensor(1.f));
  auto write = [](const wf::Variable& to, const wf::Variable& from) {
    return wf::function([&] { return to.assign_add(from.value() * 0.f + 1.f).value(); }, {.jit_compile = true});
  };
  auto f = write(a, b), g = write(b, a);
  constexpr int kCalls = 3000;
  f();
  std::thread other([&] {
    for (int i = 0; i < kCalls; ++i) g();
  });
  for (int i = 1; i < kCalls; ++i) f();
  other.join();
  CHECK(a.value().item<float>() == kCalls + 1);
  CHECK(b.value().item<float>() == kCalls + 1);
}
