#include "jit/hot_function.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "core/companion.h"
#include "core/log.h"
#include "jit/background.h"
#include "jit/version.h"

namespace weft_engine::jit {
namespace {

using runtime::JitMode;

// A signature is compiled when the engine has spent as much time on it as compiling is expected to take, and no less than the least.
// The first one loads LLVM, too.
constexpr double kLeastSeconds = 0.1, kSecondsPerNode = 0.002;
// Calls that take less are mostly the way to the function, which is no shorter to compiled code: LLVM's 60 MB of memory would be for nothing.
constexpr double kLeastCall = 5e-6;
constexpr uint32_t kTimedAtFirst = 8, kTimedEvery = 16;  // calls: afterwards only some are timed
constexpr int kPairs = 5, kMostPairs = 25;               // calls by each of the two that are compared: more of short ones,
constexpr double kLeastMeasured = 0.01;                  // until they took this many seconds
constexpr size_t kMostCandidates = 4;                    // how often a function whose code was dropped is compiled again, and one
constexpr double kLeastGain = 1.05;                      // code that is not faster by this much is not worth other roundings

double least_seconds() {
  static const double given = [] {
    const char* ms = std::getenv("WEFT_JIT_THRESHOLD");
    return ms ? std::strtod(ms, nullptr) * 1e-3 : -1;
  }();
  return given;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

enum class State : uint8_t {
  kCounting,   // how much time the engine takes
  kCompiling,  // or waiting for it
  kMeasuring,  // calls by both in turns
  kCode,
  kEngine,  // for good
};

// What a HotFunction shares with the background thread.
class Candidate final : public HotCode, public std::enable_shared_from_this<Candidate> {
 public:
  Candidate(graph::FunctionBody b, CallSignature s, int t) : name(b.name), body(std::move(b)), sources(body), signature(std::move(s)), threads(t) {}

  void compile(const std::atomic<bool>& cancel_flag) override {
    CompileOptions options;
    options.threads = threads;
    options.cancel_flag = &cancel_flag;
    auto made = Version::compile(body, sources, signature, options);
    body = {};  // not needed any more
    if (!made.ok()) return refuse(made.status().message());
    if ((*made)->is_random()) return refuse("it draws random numbers, whose bits would differ");
    if ((*made)->fails_late()) return refuse("a call that fails would have changed variables already");
    size_.store((*made)->bytes());
    version.store(std::move(made).value());
    last_use.store(now());
    Background::get().keep(shared_from_this());
    state.store(runtime::jit_mode() == JitMode::kTest ? State::kCode : State::kMeasuring, std::memory_order_release);
  }

  void refuse(std::string_view why) {
    core::log(core::LogLevel::kInfo, cat(name, " stays with the engine: ", why));
    state.store(State::kEngine, std::memory_order_release);
    version.store(nullptr);
  }

  // The time for other code has come; it may be made again.
  void drop() override {
    core::log(core::LogLevel::kInfo, cat("the code of ", name, " is dropped, since it was not used for longest"));
    dropped.store(true);
    version.store(nullptr);
  }
  size_t bytes() const override { return size_.load(); }

  const std::string name;
  graph::FunctionBody body;  // of the background thread
  const VariableSources sources;
  const CallSignature signature;
  const int threads;
  std::atomic<State> state{State::kCompiling};
  std::atomic<std::shared_ptr<Version>> version;
  std::atomic<bool> dropped{false};

 private:
  std::atomic<size_t> size_{0};
};

class HotFunction final : public runtime::HotPlan {
 public:
  HotFunction(const graph::FunctionBody& body, const runtime::PlanContext& c, std::unique_ptr<runtime::Executable> engine)
      : body_(body),
        threads_(c.pool ? c.pool->threads() : 1),
        threshold_(least_seconds() >= 0 ? least_seconds() : std::max(kLeastSeconds, kSecondsPerNode * double(body.graph->num_nodes()))),
        engine_(std::move(engine)) {}

  runtime::Executable& engine_plan() override { return *engine_; }

  Status run(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) override {
    const State state = state_.load(std::memory_order_acquire);
    // A trace tells of nodes; with exact results nothing here is compiled.
    if (state == State::kEngine || env.trace || runtime::exact_results()) return engine_->run(env, args, rets);
    switch (state) {
      case State::kCounting: return count(env, args, rets);
      case State::kCompiling: look(); return engine_->run(env, args, rets);
      case State::kMeasuring: return measure(env, args, rets);
      case State::kCode: return run_code(env, args, rets);
      case State::kEngine: break;
    }
    return engine_->run(env, args, rets);
  }

  void run_async(const KernelEnv& env, std::vector<Tensor> args, FunctionHandle::Done done) override {
    if (state_.load(std::memory_order_acquire) != State::kCode || env.trace || runtime::exact_results())
      return engine_->run_async(env, std::move(args), std::move(done));
    std::vector<Tensor> rets(body_.ret_types.size());
    Status s = run_code(env, args, rets);
    done(std::move(s), std::move(rets));
  }

 private:
  Status count(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) {
    // Calls at the same time may be lost: it is an estimate.
    const uint32_t call = calls_.load(std::memory_order_relaxed);
    calls_.store(call + 1, std::memory_order_relaxed);
    const bool test = runtime::jit_mode() == JitMode::kTest;
    if (call >= kTimedAtFirst && call % kTimedEvery != 0) return engine_->run(env, args, rets);
    const bool much = spent_.load(std::memory_order_relaxed) >= threshold_;
    if (much && is_short(call) && !test) {
      begin_counting(0);
    } else if (much || test) {
      start(env, args);
      if (test) {
        Background::get().wait_until_idle();
        look();
        if (state_.load(std::memory_order_acquire) == State::kCode) return run_code(env, args, rets);
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    Status s = engine_->run(env, args, rets);
    const double seconds = seconds_since(begin);
    spent_.store(spent_.load(std::memory_order_relaxed) + seconds * (call < kTimedAtFirst ? 1 : kTimedEvery), std::memory_order_relaxed);
    if (seconds >= kLeastCall) long_calls_.store(long_calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return s;
  }

  void begin_counting(double spent) {
    calls_.store(0, std::memory_order_relaxed);
    long_calls_.store(0, std::memory_order_relaxed);
    spent_.store(spent, std::memory_order_relaxed);
  }

  // Most of the calls that were timed. Some short ones take long on a busy machine.
  bool is_short(uint32_t calls) const {
    const uint32_t timed = calls < kTimedAtFirst ? calls : kTimedAtFirst + (calls - kTimedAtFirst) / kTimedEvery;
    return 4 * long_calls_.load(std::memory_order_relaxed) < timed;
  }

  // Hands the function to the background thread.
  void start(const KernelEnv& env, std::span<const Tensor> args) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || state_.load() != State::kCounting) return;
    const VariableSources sources(body_);
    auto variables = sources.find(env, args);
    auto signature = variables.ok() ? CallSignature::of(body_.name, args, *variables) : Result<CallSignature>(variables.status());
    if (!signature.ok()) {
      core::log(core::LogLevel::kInfo, cat(body_.name, " stays with the engine: ", signature.status().message()));
      state_.store(State::kEngine, std::memory_order_release);
      return;
    }
    auto made = std::make_shared<Candidate>(graph::clone(body_), std::move(signature).value(), threads_);
    if (!Background::get().add(made)) {
      // No compiler, or too much to do: then much later, or never.
      begin_counting(-10 * threshold_);
      return;
    }
    candidates_.push_back(made);
    current_.store(made.get(), std::memory_order_release);
    state_.store(State::kCompiling, std::memory_order_release);
  }

  // Whether the background thread is done.
  void look() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || state_.load() != State::kCompiling) return;
    const State now = candidates_.back()->state.load(std::memory_order_acquire);
    if (now != State::kCompiling) state_.store(now, std::memory_order_release);
  }

  // A call by the one or the other, in turns.
  Status measure(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets) {
    std::unique_lock lock(measuring_, std::try_to_lock);
    if (!lock || state_.load(std::memory_order_acquire) != State::kMeasuring) return engine_->run(env, args, rets);
    if (const Candidate* now = current_.load(); measured_ != now) measured_ = now, turn_ = 0, code_times_ = {}, engine_times_ = {};
    const int turn = turn_++;
    const bool code = turn % 2 == 0;
    bool counts = turn >= 2;  // the first of each warm up
    const auto begin = std::chrono::steady_clock::now();
    Status s = code ? run_code(env, args, rets, &counts) : engine_->run(env, args, rets);
    const double seconds = seconds_since(begin);
    if (Times& t = code ? code_times_ : engine_times_; s.ok() && counts && t.n < kMostPairs) t.add(seconds);
    if (code_times_.enough() && engine_times_.enough()) {
      const double ours = code_times_.typical(), theirs = engine_times_.typical();
      settle(ours * kLeastGain < theirs, cat("measured ", ours * 1e6, " us against ", theirs * 1e6, " us of the engine"));
    } else if (turn > 8 * kMostPairs) {
      settle(false, "its calls could not be measured");
    }
    return s;
  }

  void settle(bool code, const std::string& why) {
    std::lock_guard lock(mutex_);
    if (!code) candidates_.back()->refuse(why);
    else core::log(core::LogLevel::kInfo, cat(body_.name, " runs compiled: ", why));
    state_.store(code ? State::kCode : State::kEngine, std::memory_order_release);
  }

  Status run_code(const KernelEnv& env, std::span<Tensor> args, std::span<Tensor> rets, bool* counts = nullptr) {
    Candidate& candidate = *current_.load(std::memory_order_acquire);
    const std::shared_ptr<Version> v = candidate.version.load();
    if (!v) {
      if (counts) *counts = false;
      begin_again(candidate);
      return engine_->run(env, args, rets);
    }
    candidate.last_use.store(HotCode::now(), std::memory_order_relaxed);
    auto variables = candidate.sources.find(env, args);
    bool unchanged = true;
    Status s = variables.status();
    if (s.ok()) s = v->call(env, args, *variables, rets, unchanged);
    if (s.ok() || !unchanged || s.code() == Code::kCancelled) return s;
    // As the engine does it: the same call with other shapes of variables, or an error in its words.
    for (Tensor& t : rets) t = Tensor();
    if (counts) *counts = false;
    return engine_->run(env, args, rets);
  }

  // The code was dropped.
  void begin_again(const Candidate& candidate) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || &candidate != current_.load() || !candidate.dropped.load()) return;
    begin_counting(0);
    state_.store(candidates_.size() < kMostCandidates ? State::kCounting : State::kEngine, std::memory_order_release);
  }

  const graph::FunctionBody& body_;
  const int threads_;
  const double threshold_;  // seconds
  const std::unique_ptr<runtime::Executable> engine_;
  std::atomic<State> state_{State::kCounting};
  std::atomic<uint32_t> calls_{0}, long_calls_{0};
  std::atomic<double> spent_{0};  // seconds of the engine
  std::mutex mutex_;              // changes of the state
  // The last one counts; those whose code was dropped stay for calls that still look at them.
  std::vector<std::shared_ptr<Candidate>> candidates_;
  std::atomic<Candidate*> current_{nullptr};
  std::mutex measuring_;
  struct Times {
    int n = 0;
    double sum = 0;
    std::array<double, kMostPairs> seconds{};
    void add(double s) { seconds[size_t(n++)] = s, sum += s; }
    bool enough() const { return n == kMostPairs || (n >= kPairs && sum >= kLeastMeasured); }
    // The lower quartile: what else the machine does adds time and never takes any away.
    double typical() {
      std::sort(seconds.begin(), seconds.begin() + n);
      return seconds[size_t(n / 4)];
    }
  };
  const Candidate* measured_ = nullptr;
  int turn_ = 0;
  Times code_times_, engine_times_;
};

// Values that compiled code may take and give; resources must turn out to be variables.
bool can_pass(DType t) { return is_simple(t) && !is_ref_type(t) && !is_complex_type(t) && !is_quantized_type(t); }

}  // namespace

std::unique_ptr<runtime::HotPlan> make_hot_plan(const graph::FunctionBody& body, const runtime::PlanContext& c,
                                                std::unique_ptr<runtime::Executable>& engine_plan) {
  // LLVM's destructors would run when the process ends, whatever other threads do (compiler/llvm/no_destructors.cc): not unless it was asked for.
  if (!runtime::jit_mode_is_given() && !core::can_bind_deep()) return nullptr;
  if (!std::all_of(body.arg_types.begin(), body.arg_types.end(), [](DType t) { return can_pass(t) || t == DType::kResource; })) return nullptr;
  if (!std::all_of(body.ret_types.begin(), body.ret_types.end(), can_pass)) return nullptr;
  return std::make_unique<HotFunction>(body, c, std::move(engine_plan));
}

}  // namespace weft_engine::jit
