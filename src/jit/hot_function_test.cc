// Functions that are compiled without being asked. Run with WEFT_JIT=auto and a low WEFT_JIT_THRESHOLD; expected values are from mathematics, from recordings of
// TensorFlow or from the same code run eagerly.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "core/log.h"
#include "jit/background.h"
#include "runtime/hot_plan.h"
#include "tests/support/api_test.h"
#include "weft/raw.h"

namespace wf = weft;
using wf::Tensor;

namespace {

using namespace std::chrono_literals;

std::mutex lines_mutex;
std::string lines;

// What the log said since this was made.
struct Log {
  Log() {
    const std::lock_guard lock(lines_mutex);
    lines.clear();
    weft_engine::core::set_log_listener([](const char* text) {
      const std::lock_guard inner(lines_mutex);
      lines += std::string(text) + "\n";
    });
  }
  ~Log() { weft_engine::core::set_log_listener(nullptr); }
  static std::string text() {
    const std::lock_guard lock(lines_mutex);
    return lines;
  }
  static bool says(const std::string& part) { return text().find(part) != std::string::npos; }
};

// Calls until the log says it.
void call_until(const std::function<void()>& call, const std::string& line) {
  const auto end = std::chrono::steady_clock::now() + 120s;
  while (!Log::says(line)) {
    REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, Log::text());
    call();
  }
}

// Turns of a loop over scalars are where machine code is far ahead of any engine.
Tensor many_turns(const Tensor& x) {
  return wf::while_loop([](Tensor i, Tensor) { return i < 3000; }, [](Tensor i, Tensor y) { return std::pair(i + 1, y * 0.5f + 1.f); },
                        std::pair(Tensor(0), x))
      .second;
}

struct On {
  On() { REQUIRE(weft_engine::runtime::jit_mode() == weft_engine::runtime::JitMode::kAuto); }
};

}  // namespace

TEST_CASE("a function that takes much time runs compiled when that was measured to be faster") {
  const On on;
  const Log log;
  auto f = wf::function([](Tensor x) { return many_turns(x); });
  const Tensor x(3.f);
  call_until([&] { CHECK(f(x).item<float>() == 2.f); }, " runs compiled: measured");
  CHECK(f(x).item<float>() == 2.f);
  CHECK(f(Tensor(7.f)).item<float>() == 2.f);
  CHECK(values(f(Tensor{2.f, 2.f})) == Floats{2, 2});  // other shapes have plans of their own
}

TEST_CASE("short calls stay with the engine, however many") {
  const On on;
  const Log log;
  auto f = wf::function([](Tensor x) { return x + 1.f; });
  const Tensor x(3.f);
  for (int i = 0; i < 200'000; ++i) f(x);
  weft_engine::jit::Background::get().wait_until_idle();
  CHECK(f(x).item<float>() == 4.f);
  CHECK(Log::text().empty());
}

TEST_CASE("errors are the engine's, and a call that fails changes nothing") {
  const On on;
  const Log log;
  const wf::Variable sum(Tensor(0.f));
  auto body = [&](Tensor x, Tensor i) {
    const Tensor y = wf::gather(many_turns(x) + wf::zeros({3}), i);
    sum.assign_add(wf::reduce_sum(y));
    return y;
  };
  auto f = wf::function(body);
  float calls = 0;
  call_until([&] { f(Tensor(2.f), Tensor{1, 2}), ++calls; }, " runs compiled: measured");
  CHECK(sum.value().item<float>() == 4 * calls);  // no call ran twice
  auto fresh = wf::function(body);
  const std::string engine = message_of([&] { fresh(Tensor(2.f), Tensor{7, 0}); });
  CHECK(has(engine, "7"));
  CHECK(sum.value().item<float>() == 4 * calls);
  CHECK(message_of([&] { f(Tensor(2.f), Tensor{7, 0}); }).substr(0, 60) == engine.substr(0, 60));
  CHECK(sum.value().item<float>() == 4 * calls);
  CHECK(values(f(Tensor(2.f), Tensor{0, 2})) == Floats{2, 2});
  CHECK(sum.value().item<float>() == 4 * calls + 4);
}

TEST_CASE("random numbers are those of the engine") {
  const On on;
  const Log log;
  auto draw = wf::function([](Tensor x) {
    return many_turns(x) * 0.f +
           wf::raw::RandomUniform(Tensor::of<int32_t>({1}, std::vector<int32_t>{3}), wf::DType::float32, {.seed = 7, .seed2 = 9});
  });
  // tf.raw_ops.RandomUniform(shape=[3], seed=7, seed2=9, dtype=tf.float32) in one tf.function, called twice
  CHECK(values(draw(Tensor(1.f))) == std::vector<float>{0.536344886f, 0.473236561f, 0.463888884f});
  CHECK(values(draw(Tensor(1.f))) == std::vector<float>{0.0779434443f, 0.329510927f, 0.394480109f});
  call_until([&] { draw(Tensor(1.f)); }, " stays with the engine: ");
  auto stateless = wf::function([](Tensor x, Tensor seed) {
    return many_turns(x) * 0.f + wf::raw::StatelessRandomNormal(Tensor::of<int32_t>({1}, std::vector<int32_t>{3}), seed);
  });
  const auto first = values(stateless(Tensor(1.f), Tensor{1, 2}));
  call_until([&] { CHECK(values(stateless(Tensor(1.f), Tensor{1, 2})) == first); }, "random numbers");
}

TEST_CASE("what cannot be compiled stays with the engine and is not tried again") {
  const On on;
  const Log log;
  auto f = wf::function([](Tensor x) { return wf::raw::Unique(many_turns(x) + wf::zeros({2})).y; });
  call_until([&] { CHECK(values(f(Tensor(2.f))) == Floats{2}); }, " stays with the engine: ");
  CHECK(has(Log::text(), "Unique"));
  const std::string said = Log::text();
  for (int i = 0; i < 100; ++i) f(Tensor(2.f));
  weft_engine::jit::Background::get().wait_until_idle();
  CHECK(Log::text() == said);
}

TEST_CASE("with exact results every call has the bits of the engine") {
  const On on;
  const Log log;
  auto body = [](Tensor x) { return wf::tanh(x * 1.1f + 0.3f) * x + many_turns(x) * 0.f; };
  auto f = wf::function(body);
  const Tensor x{0.1f, 0.7f, -3.f, 1e-3f};
  const auto want = values(f(x));
  call_until([&] { f(x); }, " runs compiled: measured");
  weft_engine::runtime::set_exact_results(true);
  CHECK(values(f(x)) == want);
  weft_engine::runtime::set_exact_results(false);
  const auto got = values(f(x));
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-5));
}

TEST_CASE("a variable that gets another shape") {
  const On on;
  const Log log;
  const wf::Variable w(Tensor{1.f, 2.f}, {.shape = std::vector<int64_t>{-1}});
  auto f = wf::function([&](Tensor x) { return wf::reduce_sum(w.value()) + many_turns(x); });
  call_until([&] { CHECK(f(Tensor(2.f)).item<float>() == 5); }, " runs compiled: measured");
  w.assign(Tensor{1.f, 2.f, 3.f});
  CHECK(f(Tensor(2.f)).item<float>() == 8);
  w.assign(Tensor{4.f, 5.f});
  CHECK(f(Tensor(2.f)).item<float>() == 11);
}

TEST_CASE("many threads call while a function is compiled, measured and swapped") {
  const On on;
  const Log log;
  const wf::Variable sum(Tensor(0.));
  auto add = wf::function([&](Tensor x) { return sum.assign_add(wf::cast(many_turns(x), wf::DType::float64) * 0. + 1.).value(); });
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto end = std::chrono::steady_clock::now() + 120s;
      for (int more = 100; more > 0 && std::chrono::steady_clock::now() < end; more -= Log::says(" runs compiled: measured"))
        add(Tensor(1.f)), ++calls;
    });
  }
  for (auto& t : threads) t.join();
  CHECK(Log::says(" runs compiled: measured"));
  CHECK(sum.value().item<double>() == calls.load());
}

TEST_CASE("functions that go while they are compiled") {
  const On on;
  for (int i = 0; i < 20; ++i) {
    auto f = wf::function([i](Tensor x) { return many_turns(x) + float(i); });
    const auto end = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < end) CHECK(f(Tensor(2.f)).item<float>() == 2.f + float(i));
  }
  weft_engine::jit::Background::get().wait_until_idle();
}
