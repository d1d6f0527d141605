// What the parts of the planner share: plan_fusion.cc, plan_merge.cc and plan_rows.cc decide what is stored and what runs together, plan_schedule.cc finds out what
// every step reads and writes and puts the steps in order, plan.cc gives memory.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/plan.h"

namespace weft_engine::compiler {

using ir::Instr;

// A step before memory is given. Copies of one node happen at once, as far as the reader can tell.
struct PlanNode {
  Step step;
  struct Copy {
    const Instr* from = nullptr;
    int to = -1;  // a Var
  };
  std::vector<Copy> copies;  // a node of copies has no `step`
  bool is_copies = false;
  std::vector<std::vector<PlanNode>> regions;
  int begin = 0, end = 0;  // place in time; equal for nodes without regions
  // Vars, each once; of nodes with regions: also what is read and written inside.
  std::vector<int> reads, writes;
  // (written, read): the first may lie where the second lies.
  std::vector<std::pair<int, int>> in_place;
};

// What needs memory: one tensor and its views, or a variable of a loop through all its iterations.
struct Var {
  ir::Dim bytes;
  bool fixed = false;  // a parameter's, result's or constant's memory
  Buffer::Kind kind = Buffer::Kind::kArena;
  int index = 0;
  bool read_only = false;
  bool at_start = false, at_end = false;  // holds a value before the first step, must hold one after the last
  const Instr* scratch_of = nullptr;
};

struct Draft {
  const ir::Module* module = nullptr;
  int threads = 1;
  std::unordered_set<const Instr*> stored;  // gets memory of its own
  std::vector<PlanNode> nodes;
  std::vector<Var> vars;
  std::unordered_map<const Instr*, int> var;  // of stored values
  std::unordered_map<const Instr*, std::vector<int>> results;  // of instructions with several results
  std::vector<const Instr*> constants;

  // The Var in which a value lies; views have their operand's. -1: computed inline by its readers.
  int var_of(const Instr* i) const;
  // The value in whose memory this one is; null: it has none.
  const Instr* home(const Instr* i) const;
};

// ---- plan_fusion.cc
// Computed from nothing that lies in memory.
bool is_generated(const Instr* i);
// Whether a reshape only adds and drops dimensions of size 1.
bool keeps_index(const Instr* reshape);
// Which values are stored, and the steps of each region in the module's order, without copies.
void fuse(Draft& d);

// ---- plan_merge.cc
// Makes one loop of several, where that is right; `places`: (old, new) values that should lie in one place; `wanted`: stay stored.
void merge_loops(Draft& d, std::vector<PlanNode>& nodes, const std::vector<std::pair<const Instr*, const Instr*>>& places,
                 const std::unordered_set<const Instr*>& wanted);

// ---- plan_rows.cc
// `count` rows of `length` elements, one row behind the other.
struct Rows {
  int64_t count = 0, length = 0;
  bool operator==(const Rows&) const = default;
};
// What a reduction makes one number of: its operand's last dimensions, of sizes that are known and not too large; else none.
Rows rows_of(const Instr* reduce);
// What a value has for them: an element for each one of the rows, one for each row, or something else.
enum class RowPart : uint8_t { kAll, kOne, kOther };
RowPart part_of(const Rows& rows, const ir::Type& t);
// Whether the instructions, computed for one row, ask for no other row of the values in `stores`.
bool stays_in_row(const Draft& d, const Rows& rows, std::span<const Instr* const> instrs, const std::unordered_set<const Instr*>& stores);

// ---- plan_schedule.cc
// Vars, what nodes read and write, copies for loops, branches, states and results; puts nodes in order.
core::Status schedule(Draft& d);

}  // namespace weft_engine::compiler
