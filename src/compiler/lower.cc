#include "compiler/lower.h"

namespace weft::compiler {

core::Result<std::unique_ptr<ir::Module>> lower(const graph::FunctionBody&, const LowerOptions&) { return core::unimplemented("lowering"); }
std::vector<std::string> without_lowering(const graph::FunctionBody&) { return {}; }

}  // namespace weft::compiler
