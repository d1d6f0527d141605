// CodeEmitter: what the parts of the code generator share while the code of a Plan is written: the target, LLVM's builder, sizes and buffers
// as LLVM values, loops, and the elements of values. Parts: index.cc (arithmetic of places), elements.cc (an element of any
// instruction), scalar.cc and math.cc (arithmetic, exp, tanh ...), loops.cc, reduce.cc, order.cc (scans, sorts, scatters), gemm.cc, conv.cc,
// window.cc, control.cc.
//
// Every step becomes a function of its own, whose arguments are the buffers and sizes that it asked for (dim, pointer, scratch): buffers do
// not overlap there (noalias), and LLVM's work stays linear in the number of steps. The entry function calls them one after the other.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/codegen.h"
#include "compiler/plan.h"

namespace weft_engine::compiler {

// What matters of the machine that the code is for.
struct Target {
  int vector_bytes = 32;      // 64: AVX-512, 32: AVX2, 16: SSE and NEON
  int vector_registers = 16;  // 32: AVX-512, NEON
  bool fma = true;
  bool gpu = false;  // code of kernels (gpu_emitter.h): no calls of libm
  bool ptx = false;  // and for the device itself, not for the processor that stands in for it
  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
};

// An error of the code for an instruction, or for a step, with the node that it was lowered from; named once.
core::Status of_instr(const core::Status& status, const ir::Instr* i);
core::Status of_step(const core::Status& status, const Step& s);

class CodeEmitter {
 public:
  using V = llvm::Value*;
  using Index = std::vector<llvm::Value*>;  // i64, one for each dimension

  CodeEmitter(llvm::Module& module, const Plan& plan, const Target& target, const CodegenOptions& options, std::string symbol);
  ~CodeEmitter();
  CodeEmitter(const CodeEmitter&) = delete;
  core::Status run();  // writes the entry function
  bool fails_late() const;  // JitCode's

  llvm::Module& module;
  llvm::LLVMContext& context;
  const Plan& plan;
  const Target& target;
  const CodegenOptions& options;
  const std::string symbol;  // of the entry function
  llvm::IRBuilder<> b;
  llvm::Function* function = nullptr;  // the one being written

  // ---- sizes and memory
  V i64(int64_t n) { return b.getInt64(uint64_t(n)); }
  V dim(const ir::Dim& d);                    // computed once, when the call begins
  V pointer(const ir::Instr* i);              // of a value with a buffer
  V pointer(int buffer);
  llvm::Type* type(core::DType t);            // in memory: bool is i8
  llvm::Type* value_type(core::DType t);      // in registers: bool is i1, half and bfloat16 are float
  // The place of an element of a densely stored tensor.
  V offset(const ir::Type& t, const Index& index);
  V load(core::DType t, V pointer, V offset);
  void store(core::DType t, V value, V pointer, V offset);

  // ---- arithmetic of places (i64, never negative): simplified, computed once, and put as far outside of loops as it can be
  V add(V a, V c);
  V sub(V a, V c);
  V mul(V a, V c);
  V div(V a, V c);
  V mod(V a, V c);
  V clamp(V x, V high);  // into [0, high - 1], x signed; 0 if there is no place
  // Whether `part` fits into `whole` (a row into a list of no rows does not); null: it always does.
  V fits(const ir::Type& part, const ir::Type& whole);
  // Number `linear` of a tensor of these sizes as an index, and back.
  Index places(V linear, std::span<const ir::Dim> dims);
  V linear(std::span<const ir::Dim> dims, std::span<const V> index);

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
  std::vector<V> loop(V begin, V end, V step, std::vector<V> carried, bool vectorize,
                      const std::function<std::vector<V>(V i, const std::vector<V>& carried)>& body);
  void loop(V end, bool vectorize, const std::function<void(V i)>& body);
  void when(V condition, const std::function<void()>& then, const std::function<void()>& otherwise = nullptr);
  // A nest of loops over all places of `dims`, in order; the innermost is vectorised if `vectorize`. Dimensions k and k + 1 run as one
  // where keep[k] is false.
  void nest(std::span<const ir::Dim> dims, const std::vector<bool>& keep, bool vectorize, const std::function<void(const Index&)>& body);
  // For nest: the boundaries between dimensions that the elements of `i` need to be kept apart.
  void boundaries(const ir::Instr* i, std::vector<bool>& keep);
  // Loops as the elements of values of one shape need them, laid out so that places are cheap: a dimension may be several loops.
  struct Layout {
    std::vector<ir::Dim> loops;
    std::vector<bool> keep;                        // as for nest
    std::vector<std::pair<size_t, size_t>> parts;  // of each dimension: its loops
    Index index(CodeEmitter& e, const Index& at) const;
  };
  Layout layout(std::span<const ir::Instr* const> values);
  void nest_for(std::span<const ir::Instr* const> values, const std::function<void(const Index&)>& body);
  // Stores all elements of `i` (which need not have a buffer) behind `pointer`, in order.
  void materialize(const ir::Instr* i, V pointer);
  // The call will end with this error (a number of the module's messages) if `condition` holds here.
  void error_if(V condition, int message);
  // Something that cannot be written: the step's status. The value is of no use.
  V fail(core::Status s, llvm::Type* t = nullptr);

  // ---- steps; each in its file
  core::Status step(const Step& s);
  core::Status steps(std::span<const Step> s);
  void guard_states(const Step& s);  // a step of the entry function that writes a state does not run after an error
  core::Status emit_loop(const Step& s);
  core::Status emit_copy(const Step& s);
  core::Status emit_reduce(const ir::Instr* i);
  core::Status emit_arg_reduce(const ir::Instr* i);
  core::Status emit_scan(const ir::Instr* i);
  core::Status emit_sort(const ir::Instr* i);
  core::Status emit_scatter(const ir::Instr* i);
  core::Status emit_dynamic_update(const ir::Instr* i);
  core::Status emit_while(const Step& s);
  core::Status emit_if(const Step& s);
  core::Status emit_dot(const ir::Instr* i);                // gemm.cc
  core::Status emit_conv(const ir::Instr* i);               // conv.cc
  core::Status emit_conv_filter_grad(const ir::Instr* i);   // conv.cc
  core::Status emit_winograd(const ir::Instr* i);           // winograd.cc: both, in that form
  core::Status emit_window(const ir::Instr* i);             // window.cc
  core::Status emit_max_pool_grad(const ir::Instr* i);      // window.cc

  // ---- parts of a step that run at once, each with the code of the step
  std::pair<V, V> share(V n, int64_t multiple = 1);  // of [0, n): this part's range, of whole multiples; all of it where there are no parts
  V part();                                          // the number of this part; null where there are none
  core::Status sum_parts(const ir::Instr* i);        // what the parts of a filter's gradient have summed up (part_of_sum)
  V part_of_sum(const ir::Instr* i);                 // where this part's sums go

  // Memory for the step's own use (compiler/scratch.h says how much): gemm packs into it.
  V scratch(const ir::Instr* i);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  V compute(const ir::Instr* i, const Index& index);
  V philox(const ir::Instr* i, V n);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft_engine::compiler
