// exp, log, tanh ... of one element: float as arithmetic without branches that LLVM can vectorise, double and rare ones by calls of libm.
#pragma once

#include "compiler/llvm/code_emitter.h"

namespace weft_engine::compiler {

llvm::Value* math(CodeEmitter& e, ir::Unary op, llvm::Value* x);
llvm::Value* math(CodeEmitter& e, ir::Binary op, llvm::Value* x, llvm::Value* y);
// Negative exponents: error `message` and 0.
llvm::Value* integer_power(CodeEmitter& e, llvm::Value* x, llvm::Value* y, bool is_signed, int message);

}  // namespace weft_engine::compiler
