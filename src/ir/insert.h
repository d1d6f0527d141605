// New instructions, and their places among others: what the builder and all passes do in one way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace weft_engine::ir {

using Instrs = std::vector<std::unique_ptr<Instr>>;

// An instruction of the region that is in no list yet.
std::unique_ptr<Instr> new_instr(Module& m, Op op, Type type, std::vector<Instr*> operands, std::string node, Region* parent);

// Moves `more` in front of instruction number `at`, and returns the number that this one has then.
size_t insert(Region& r, size_t at, Instrs& more);

}  // namespace weft_engine::ir
