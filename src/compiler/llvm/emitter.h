// Emitter: what the parts of the code generator share while one function is written: the target, LLVM's builder, sizes and buffers as
// LLVM values, loops, and the elements of values. One per Plan. Parts: elements.cc (an element of any instruction), math.cc (exp, tanh ...
// as arithmetic), loops.cc, reduce.cc, gemm.cc, conv.cc, window.cc, control.cc.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/codegen.h"
#include "compiler/plan.h"

namespace weft::compiler {

// What matters of the machine that the code is for.
struct Target {
  int vector_bytes = 32;      // 64: AVX-512, 32: AVX2, 16: SSE and NEON
  int vector_registers = 16;  // 32: AVX-512, NEON
  bool fma = true;
  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
};

class Emitter {
 public:
  using V = llvm::Value*;
  using Index = std::vector<llvm::Value*>;  // i64, one for each dimension

  Emitter(llvm::Module& module, const Plan& plan, const Target& target, const CodegenOptions& options);
  core::Status run();  // writes the entry function

  llvm::Module& module;
  llvm::LLVMContext& context;
  const Plan& plan;
  const Target& target;
  const CodegenOptions& options;
  llvm::IRBuilder<> b;
  llvm::Function* function = nullptr;  // the one being written

  // ---- sizes and memory
  V i64(int64_t n) { return b.getInt64(uint64_t(n)); }
  V dim(const ir::Dim& d);                    // computed once, at the function's start
  V pointer(const ir::Instr* i);              // of a value with a buffer
  V pointer(int buffer);
  llvm::Type* type(core::DType t);            // in memory: bool is i8
  llvm::Type* value_type(core::DType t);      // in registers: bool is i1, half and bfloat16 are float
  // The place of an element of a densely stored tensor.
  V offset(const ir::Type& t, const Index& index);
  V load(core::DType t, V pointer, V offset);
  void store(core::DType t, V value, V pointer, V offset);

  // ---- elements
  // One element of the value: what the current loop has computed for this index, what lies in its buffer, or computed here and now.
  V element(const ir::Instr* i, const Index& index);
  V unary(const ir::Instr* i, V x);
  V binary(const ir::Instr* i, V a, V c);
  V compare(const ir::Instr* i, V a, V c);
  V convert(V x, core::DType from, core::DType to);
  // `a` combined with `c` by a reduction, and what it starts from.
  V combine(ir::Reduce r, core::DType t, V a, V c);
  V identity(ir::Reduce r, core::DType t);

  // ---- code
  // for (i = begin; i < end; i += step) body(i). `vectorize`: iterations are independent (metadata for the loop vectoriser);
  // `carried`: values handed from one iteration to the next; the loop's results.
  std::vector<V> loop(V begin, V end, V step, std::vector<V> carried, bool vectorize, const std::function<std::vector<V>(V i, const std::vector<V>& carried)>& body);
  void loop(V end, bool vectorize, const std::function<void(V i)>& body);
  void when(V condition, const std::function<void()>& then, const std::function<void()>& otherwise = nullptr);
  // The call will end with this error (a number of the module's messages) if `condition` holds here.
  void error_if(V condition, int message);

  // ---- steps; each in its file
  core::Status step(const Step& s);
  core::Status steps(std::span<const Step> s);
  core::Status emit_loop(const Step& s);
  core::Status emit_reduce(const ir::Instr* i);
  core::Status emit_arg_reduce(const ir::Instr* i);
  core::Status emit_scan(const ir::Instr* i);
  core::Status emit_sort(const ir::Instr* i);
  core::Status emit_scatter(const ir::Instr* i);
  core::Status emit_dynamic_update(const ir::Instr* i);
  core::Status emit_while(const Step& s);
  core::Status emit_if(const Step& s);
  core::Status emit_block(const Step& s);
  core::Status emit_dot(const ir::Instr* i);                // gemm.cc
  core::Status emit_conv(const ir::Instr* i);               // conv.cc
  core::Status emit_conv_filter_grad(const ir::Instr* i);   // conv.cc
  core::Status emit_window(const ir::Instr* i);             // window.cc
  core::Status emit_max_pool_grad(const ir::Instr* i);      // window.cc

  // Memory for the step's own use (compiler/scratch.h says how much): gemm packs into it.
  V scratch(const ir::Instr* i);

  struct Impl;

 private:
  Impl* impl_;
};

}  // namespace weft::compiler
