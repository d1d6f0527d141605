// Einsum.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// A letter of its own in front of every operand with rows and of the result.
Batched einsum_rows(BatchContext& c) {
  std::string equation = c.text("equation"), out;
  char row = 'a';
  while (row <= 'z' && equation.find(row) != std::string::npos) ++row;
  const size_t arrow = equation.find("->");
  if (row > 'z' || arrow == std::string::npos) return c.refused();
  size_t operand = 0;
  bool start = true;
  for (size_t i = 0; i < arrow; ++i) {
    if (start && operand < c.inputs.size() && c.has_rows(operand)) out += row;
    start = equation[i] == ',';
    operand += start;
    out += equation[i];
  }
  if (start && operand < c.inputs.size() && c.has_rows(operand)) out += row;  // an operand that is a scalar
  c.attrs["equation"] = out + "->" + row + equation.substr(arrow + 2);
  return c.one(c.itself1(c.inner_all()));
}

}  // namespace

void batch_einsum(Registry& r) { r.batch("Einsum", einsum_rows); }

}  // namespace weft_engine::ops
