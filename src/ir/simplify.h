// Passes over a module that leave its meaning as it is. Floats keep every bit that the given order of operations gives them; only sums
// of products, whose order nobody promises, are taken otherwise (lists.cc, winograd.cc).
#pragma once

#include <unordered_set>

#include "ir/ir.h"

namespace weft_engine::ir {

// Equal instructions become one; what moves nothing, adds nothing or is known goes; instructions that every iteration of a loop would
// repeat move in front of it; variables of loops that nobody reads go. Also drops what is dead. `tile`: sequences of
// convolutions by tiles of the batch (tile_batch), which one thread is better off with. `form`: of convolutions, Winograd's for processors, output channels first for GPUs.
enum class Convolutions : uint8_t { kWinograd, kOutputChannelsFirst };
void simplify(Module& m, bool tile = true, Convolutions form = Convolutions::kWinograd);

// Variables of loops and results of branches that nobody reads; whether there were any.
bool drop_variables(Module& m);
// Products of rows that a loop takes one after the other, made at once in front of it; whether there were any.
bool hoist_products(Module& m);
// Sequences of convolutions and pooling as loops over tiles of the batch (dimension 0), so that what lies between them stays in the cache;
// whether there were any.
bool tile_batch(Module& m);
// Convolutions by 3x3 filters in the form that takes a quarter of the multiplications: see winograd.cc; whether there were any.
bool use_winograd(Module& m);
// Convolutions with filters as cuDNN has them (FilterForm); whether there were any.
bool put_output_channels_first(Module& m);
// Products of narrow floats without conversions around them, for GPUs; whether there were any.
bool narrow_products(Module& m);
// Variables of loops that always hold the same become one; whether there were any.
bool merge_equal_loops(Module& m);
// Lists that one loop writes and the loop of its gradient reads: see lists.cc; whether something changed.
bool simplify_lists(Module& m);
// What results and checks depend on.
std::unordered_set<const Instr*> needed(const Module& m);

}  // namespace weft_engine::ir
