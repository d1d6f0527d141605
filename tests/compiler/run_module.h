// Modules through the planner and the code generator, and what they give beside interpret().
#pragma once

#include <functional>
#include <string>

#include "compiler/codegen.h"
#include "tests/compiler/gpu_machine.h"
#include "tests/compiler/interpret.h"

namespace weft_engine::testing {

// Random numbers of the parameter's type: floats in [-scale, scale], ints in [low, high].
struct Fill {
  double scale = 1;
  int64_t low = -20, high = 20;
};
std::vector<Array> random_parameters(const ir::Module& m, const std::vector<int64_t>& symbols, uint64_t seed, const Fill& fill = {});

// The results of the compiled module (states: what their parameter holds afterwards).
core::Result<Interpreted> run_compiled(const ir::Module& m, const std::vector<Array>& parameters, const std::vector<int64_t>& symbols,
                                       const compiler::CodegenOptions& options = {});

// The same by whatever runs a plan and gives the call's error. threads: make_plan's.
core::Result<Interpreted> run_compiled_by(const ir::Module& m, int threads, const std::vector<Array>& parameters, const std::vector<int64_t>& symbols,
                                          const std::function<core::Result<int32_t>(const compiler::Plan&, const GpuCall&)>& run);

// Empty, or the first difference. `tolerance`: relative to the larger of the two numbers and 1.
std::string compare_with_interpreter(const ir::Module& m, const std::vector<int64_t>& symbols, uint64_t seed, double tolerance, const Fill& fill = {},
                                     const compiler::CodegenOptions& options = {});
std::string difference(const Interpreted& got, const Interpreted& want, double tolerance);

}  // namespace weft_engine::testing
