#include "compiler/scratch.h"

namespace weft::compiler {

ir::Dim scratch_bytes(const ir::Instr&) { return 0; }

}  // namespace weft::compiler
