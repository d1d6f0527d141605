// Automatic compilation (jit/hot_function.cc), for functions whose compilation the program did not ask for: its interface, which engine/ sets, and its switch.
//
//   WEFT_JIT=off    functions are compiled where the program asks for it (jit_compile)
//   WEFT_JIT=auto   also functions that take much time with the same shapes: in the background, and only where that was measured to be faster
//   WEFT_JIT=on     every function, at its first call, where it can be (as TF_XLA_FLAGS=--tf_xla_auto_jit=2 and ConfigProto's global_jit_level)
//   WEFT_JIT=test   as auto, but every function at its first call, which waits for the compiler, and without measuring: for tests
#pragma once

#include <atomic>

#include "runtime/executable.h"

namespace weft_engine::runtime {

enum class JitMode : uint8_t { kOff, kAuto, kOn, kTest };
// What the environment says; the default where it says nothing.
JitMode jit_mode();
bool jit_mode_is_given();  // by the environment

// Results must have the same bits with and without the compiler (WEFT_JIT_EXACT, TF_DETERMINISTIC_OPS, op determinism): then nothing that is not asked for runs compiled.
bool exact_results();
void set_exact_results(bool on);

// A plan of the engine, and machine code in its place where that is faster.
class HotPlan : public Executable {
 public:
  virtual Executable& engine_plan() = 0;
};

// `body` is as it was written, and outlives the plan. `engine_plan` runs on host devices alone, for arguments of certain shapes. Null: it is not for the compiler, and left as it is.
using HotPlanMaker = std::unique_ptr<HotPlan> (*)(const graph::FunctionBody& body, const PlanContext& c, std::unique_ptr<Executable>& engine_plan);
void set_hot_plan_maker(HotPlanMaker maker);
// The plan, made a HotPlan where the switch says so and the compiler takes it.
std::unique_ptr<Executable> with_hot_plan(const graph::FunctionBody& body, const PlanContext& c, std::unique_ptr<Executable> engine_plan);

}  // namespace weft_engine::runtime
