#include "compiler/llvm/emitter.h"

namespace weft::compiler {

core::Status Emitter::emit_conv(const ir::Instr* i) { return core::unimplemented("code for ", ir::name_of(i->op)); }
core::Status Emitter::emit_conv_filter_grad(const ir::Instr* i) { return core::unimplemented("code for ", ir::name_of(i->op)); }

}  // namespace weft::compiler
