#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void xla(Registry& r) {
  r.add("XlaDynamicSlice")
      .in("input: T")
      .in("start_indices: Tindices")
      .in("size_indices: Tindices")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}");

  r.add("XlaDynamicUpdateSlice")
      .in("input: T")
      .in("update: T")
      .in("indices: Tindices")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}");

  r.add("XlaPad")
      .in("input: T")
      .in("padding_value: T")
      .in("padding_low: Tindices")
      .in("padding_high: Tindices")
      .in("padding_interior: Tindices")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}");

  r.add("XlaReducePrecision")
      .in("operand: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("exponent_bits: int")
      .attr("mantissa_bits: int");
}

}  // namespace weft::ops
