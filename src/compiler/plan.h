// Plan: a module made ready for code: which values get memory and where, which instructions run in one loop, and in what order.
// An instruction without a buffer is never stored: whoever reads it computes its elements inline.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace weft_engine::compiler {

struct Buffer {
  enum class Kind : uint8_t { kArena, kParameter, kResult, kConstant };
  Kind kind = Kind::kArena;
  int index = 0;     // of the module's parameter or result, or in Plan::constants
  ir::Dim bytes;
  ir::Dim offset;    // kArena; a multiple of 64
};

struct Step {
  enum class Kind : uint8_t {
    kLoop,   // instrs: elementwise and movement instructions of equal dims (in order), computed together for each index; those with a buffer
             // are stored. An operand may lie where one of them is stored (in place): it is then read at the index that is being computed
             // and at no other, so all of an index is computed before any of it is stored. A kPad, kConcat or kGather is always the only
             // instruction of its loop; so are kIota, kSizes and other leaves that are needed in memory
    kInstr,  // instrs[0] alone: a reduction, product, window ...; operands without a buffer are computed inline (those of kDot, kConv,
    // kConvFilterGrad, kWindow, kMaxPoolGrad, kSort, kScatter always have one). kDynamicUpdate and kScatter may have the buffer of their
    // operand 0, of which the rest is then there already; else it is copied first. kCheck stands here, too
    kRows,  // GPUs alone. instrs, in order: reductions along rows (the last dimensions, of constant sizes), and elementwise and movement
    // instructions that have an element for each one of the rows, or one for each row. Those with a buffer are stored, all after the last
    // read: an operand may lie where one that has an element for each one of the rows is stored, if it is read at the same index alone
    kWhile,  // instrs[0] is the kWhile; regions: condition, body. Its parameters' buffers hold the variables; copies stand in the steps, those
    // of the first values before this one. The condition's result may be without a buffer: it is computed behind its steps
    kIf,  // regions: one for each; copies stand in the steps. Operand 0 may be without a buffer
    kCopy,  // the value of `copy_from` (which may be computed inline) into buffer `copy_to`; if copy_from_buffer is set, the
    // value lies there for now
  };
  Kind kind = Kind::kInstr;
  std::vector<const ir::Instr*> instrs;
  std::vector<std::vector<Step>> regions;
  const ir::Instr* copy_from = nullptr;
  int copy_to = -1, copy_from_buffer = -1;
};

struct Plan {
  const ir::Module* module = nullptr;
  std::vector<Buffer> buffers;
  std::unordered_map<const ir::Instr*, int> buffer;  // where a value lies; views (reshape, kGet) share
  std::unordered_map<const ir::Instr*, std::vector<int>> results;  // kSort, kWhile, kIf: where each result lies; -1: nobody reads it
  std::unordered_map<const ir::Instr*, int> scratch;  // memory that a step needs for itself (scratch.h)
  std::vector<Step> steps;
  std::vector<const ir::Instr*> constants;  // literals that are read from memory
  ir::Dim arena_bytes;
  int threads = 1;  // how many parts of a large step may run at once, if the call has a pool

  int buffer_of(const ir::Instr* i) const {
    const auto it = buffer.find(i);
    return it == buffer.end() ? -1 : it->second;
  }
};

// The module must be verified, and outlive the plan.
core::Result<Plan> make_plan(const ir::Module& m, int threads = 1);  // 0: for a GPU
// For people: weft compile --emit plan.
std::string print(const Plan& p);

}  // namespace weft_engine::compiler
