#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void einsum(Registry& r) {
  r.add("Einsum")
      .in("inputs: N * T")
      .out("output: T")
      .attr("equation: string")
      .attr("N: int >= 1")
      .attr("T: type");

  r.add("XlaEinsum")
      .in("a: T")
      .in("b: T")
      .out("product: T")
      .attr("equation: string")
      .attr("T: {complex64, bfloat16, float}");
}

}  // namespace weft::ops
