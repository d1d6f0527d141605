#include "compiler/llvm/emitter.h"

namespace weft::compiler {

core::Status Emitter::emit_window(const ir::Instr* i) { return core::unimplemented("code for ", ir::name_of(i->op)); }
core::Status Emitter::emit_max_pool_grad(const ir::Instr* i) { return core::unimplemented("code for ", ir::name_of(i->op)); }

}  // namespace weft::compiler
