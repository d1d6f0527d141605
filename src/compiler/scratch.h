// How much memory the code of an instruction needs beside its operands and result: the planner gives it, the code generator uses it.
// An upper bound for every target.
#pragma once

#include "ir/ir.h"

namespace weft::compiler {

ir::Dim scratch_bytes(const ir::Instr& i);  // 0 for most

}  // namespace weft::compiler
