// What CodeEmitter keeps for itself.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compiler/llvm/code_emitter.h"

namespace weft_engine::compiler {

struct CodeEmitter::Impl {
  // Where code stands: the function, a loop's body or a branch. What an outer scope has computed holds in the inner ones.
  struct Scope {
    llvm::Instruction* entry = nullptr;  // in the scope around it: code of that scope can still be put before this
    bool fixed = false;                  // a branch: loads must not move out of it
    std::map<std::tuple<int, V, V>, V> arithmetic;
    std::map<std::pair<const ir::Instr*, Index>, V> elements;
  };
  // How an i64 came about, and what it is below.
  struct Fact {
    int op = 0;
    V a = nullptr, c = nullptr;
    V bound = nullptr;  // exclusive
  };
  // The function that is being written.
  struct Frame {
    llvm::Function* function = nullptr;
    llvm::BasicBlock* entry = nullptr;  // sizes and pointers; goes on to the code itself
    bool main = false;
    std::map<std::string, V> dims;
    std::map<std::string, ir::Dim> dim_of;
    std::map<int, V> pointers;
    std::map<const ir::Instr*, V> scratches;
    V error = nullptr;
    V part = nullptr, parts = nullptr;  // of a step that runs in parts: which this is, and of how many
    std::vector<Scope> scopes;
    std::unordered_map<V, int> depth;
    std::unordered_map<V, Fact> facts;
    llvm::MDNode* access_group = nullptr;
    int level = 0;  // the scope that code is being put into: the last of `scopes`, or one around it
  };

  Frame frame;
  core::Status status;  // the first error
  std::unordered_set<const ir::Instr*> current;  // of the step: not in their buffers yet
  std::unordered_map<const ir::Instr*, V> held;  // numbers of the row that a kernel is about (gpu_rows.cc)
  std::unordered_map<const ir::Instr*, std::function<V()>> numbers;  // that are computed from others than their operands
  std::unordered_map<int, llvm::GlobalVariable*> globals;  // of constants with a buffer
  std::unordered_map<const ir::Instr*, llvm::GlobalVariable*> literals;  // and of those without
  std::unordered_map<const ir::Instr*, const ir::Instr*> added_to;  // products that are added to what the sum's memory holds, and the sum
  std::unordered_set<const Step*> done;                             // the loops of those sums
  V parameters = nullptr, results = nullptr, constants = nullptr, symbols = nullptr, arena = nullptr, pool = nullptr;
  V parts = nullptr;  // how many a step runs in: one without a pool
  int next = 0;
  bool may_fail = false;    // some code so far finds errors, or can be stopped
  bool wrote_state = false, fails_late = false;
};

// Moves the builder to the end of scope `depth` for as long as it lives.
struct Hoist {
  Hoist(CodeEmitter& e, int depth);
  ~Hoist();
  llvm::IRBuilder<>::InsertPointGuard guard;
  CodeEmitter::Impl::Frame& frame;
  llvm::MDNode* group;
  int level;
};

// The innermost scope that a value belongs to.
int depth_of(CodeEmitter::Impl::Frame& f, llvm::Value* v);
// The outermost scope into which code that reads these values can be put.
int place_for(CodeEmitter::Impl::Frame& f, std::span<llvm::Value* const> from);
// A reshape's dimensions in groups of equal size: those of the result [from_begin, from_end) and of the operand [to_begin, to_end).
struct Group {
  size_t from_begin, from_end, to_begin, to_end;
};
std::vector<Group> reshape_groups(std::span<const ir::Dim> from, std::span<const ir::Dim> to);
void push_scope(CodeEmitter::Impl::Frame& f, llvm::Instruction* entry, bool fixed);
void pop_scope(CodeEmitter::Impl::Frame& f);
// while (condition(values)) values = body(values), each in a block of its own.
std::vector<llvm::Value*> repeat(CodeEmitter& e, std::vector<llvm::Value*> values,
                                 const std::function<llvm::Value*(const std::vector<llvm::Value*>&)>& condition,
                                 const std::function<std::vector<llvm::Value*>(const std::vector<llvm::Value*>&)>& body);
// The code that is being written may end the call with an error.
void note_failure(CodeEmitter::Impl& impl);
// Finds products that are only added to something, in place, and notes that they do so themselves (gemm.cc).
void find_accumulations(const Plan& plan, std::span<const Step> steps, CodeEmitter::Impl& impl);
// Writes `body` as a function of its own and calls it; `parallel`: once for each part, on the pool's threads.
core::Status outline(CodeEmitter& e, const std::string& name, bool parallel, const std::function<core::Status()>& body);

}  // namespace weft_engine::compiler
