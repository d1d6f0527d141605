// exp, log, tanh ... of one element: float as arithmetic without branches that LLVM can vectorise, double and rare ones by calls of libm.
#pragma once

#include "compiler/llvm/emitter.h"

namespace weft::compiler {

llvm::Value* math(Emitter& e, ir::Unary op, llvm::Value* x);
llvm::Value* math(Emitter& e, ir::Binary op, llvm::Value* x, llvm::Value* y);
// Negative exponents: error `message` and 0.
llvm::Value* integer_power(Emitter& e, llvm::Value* x, llvm::Value* y, bool is_signed, int message);

}  // namespace weft::compiler
