// Functions that are compiled without being asked: the engine's plan, which is timed; after enough time the code is made in the background; then calls of the program
// are run by both in turns, and what is faster stays.
#pragma once

#include <memory>

#include "runtime/hot_plan.h"

namespace weft_engine::jit {

std::unique_ptr<runtime::HotPlan> make_hot_plan(const graph::FunctionBody& body, const runtime::PlanContext& c,
                                                std::unique_ptr<runtime::Executable>& engine_plan);

}  // namespace weft_engine::jit
