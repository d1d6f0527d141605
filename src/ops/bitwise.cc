#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void bitwise(Registry& r) {
  r.add("BitwiseAnd")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .commutative();

  r.add("BitwiseOr")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .commutative();

  r.add("BitwiseXor")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .commutative();

  r.add("Invert")
      .in("x: T")
      .out("y: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}");

  r.add("LeftShift")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}");

  r.add("PopulationCount")
      .in("x: T")
      .out("y: uint8")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}");

  r.add("RightShift")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}");
}

}  // namespace weft::ops
