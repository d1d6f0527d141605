#include "compiler/plan.h"

namespace weft::compiler {

core::Result<Plan> make_plan(const ir::Module&) { return core::unimplemented("plans"); }
std::string print(const Plan&) { return ""; }

}  // namespace weft::compiler
