#include "ir/ir.h"

namespace weft::ir {

std::string print(const Module&) { return ""; }
void drop_dead(Module&) {}
bool is_elementwise(Op op) {
  return op == Op::kUnary || op == Op::kBinary || op == Op::kCompare || op == Op::kSelect || op == Op::kConvert || op == Op::kBitcast;
}

}  // namespace weft::ir
