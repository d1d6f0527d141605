#include "runtime/hot_plan.h"

#include <cstdlib>
#include <string_view>

#include "core/log.h"

namespace weft_engine::runtime {
namespace {

constexpr JitMode kDefaultMode = JitMode::kAuto;

std::atomic<HotPlanMaker> hot_plan_maker{nullptr};

bool set_in_environment(const char* name) {
  const char* v = std::getenv(name);
  return v && *v && std::string_view(v) != "0" && std::string_view(v) != "false";
}

std::atomic<bool> exact{false};

JitMode read_mode() {
  if (const char* given = std::getenv("WEFT_JIT"); given && *given) {
    const std::string_view mode = given;
    if (mode == "off" || mode == "0") return JitMode::kOff;
    if (mode == "auto") return JitMode::kAuto;
    if (mode == "on" || mode == "1") return JitMode::kOn;
    if (mode == "test") return JitMode::kTest;
    core::log(core::LogLevel::kWarning, core::cat("WEFT_JIT is '", mode, "', which is none of off, auto and on"));
  }
  // As TensorFlow's users turn clustering on for a whole program: TF_XLA_FLAGS=--tf_xla_auto_jit=2.
  const char* flags = std::getenv("TF_XLA_FLAGS");
  const std::string_view text = flags ? flags : "";
  if (text.find("tf_xla_auto_jit=1") != text.npos || text.find("tf_xla_auto_jit=2") != text.npos) return JitMode::kOn;
  return kDefaultMode;
}

}  // namespace

JitMode jit_mode() {
  static const JitMode mode = read_mode();
  return mode;
}

bool jit_mode_is_given() {
  static const bool given = [] {
    const char* mode = std::getenv("WEFT_JIT");
    return mode && *mode;
  }();
  return given;
}

bool exact_results() {
  static const bool always = set_in_environment("WEFT_JIT_EXACT") || set_in_environment("TF_DETERMINISTIC_OPS");
  return always || exact.load(std::memory_order_relaxed);
}
void set_exact_results(bool on) { exact.store(on, std::memory_order_relaxed); }

void set_hot_plan_maker(HotPlanMaker maker) { hot_plan_maker.store(maker); }

std::unique_ptr<Executable> with_hot_plan(const graph::FunctionBody& body, const PlanContext& c, std::unique_ptr<Executable> engine_plan) {
  const HotPlanMaker make = jit_mode() == JitMode::kAuto || jit_mode() == JitMode::kTest ? hot_plan_maker.load() : nullptr;
  if (auto hot = make ? make(body, c, engine_plan) : nullptr) return hot;
  return engine_plan;
}

}  // namespace weft_engine::runtime
