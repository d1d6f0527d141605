// exp, log, tanh ... of one element: float as arithmetic without branches that LLVM can vectorise, double and rare ones by calls of libm.
#pragma once

#include "compiler/llvm/code_emitter.h"

namespace weft_engine::compiler {

llvm::Value* math(CodeEmitter& e, ir::Unary op, llvm::Value* x);
llvm::Value* math(CodeEmitter& e, ir::Binary op, llvm::Value* x, llvm::Value* y);
// Of a division towards zero, exact.
llvm::Value* remainder(CodeEmitter& e, llvm::Value* x, llvm::Value* y);
// The same for kernels of GPUs (gpu_math.cc), where there is no libm: what has no arithmetic form here is computed in double. Null: no form.
llvm::Value* gpu_math(CodeEmitter& e, ir::Unary op, llvm::Value* x);
llvm::Value* gpu_math(CodeEmitter& e, ir::Binary op, llvm::Value* x, llvm::Value* y);
llvm::Value* gpu_remainder(CodeEmitter& e, llvm::Value* x, llvm::Value* y);
// Negative exponents: error `message` and 0.
llvm::Value* integer_power(CodeEmitter& e, llvm::Value* x, llvm::Value* y, bool is_signed, int message);

}  // namespace weft_engine::compiler
