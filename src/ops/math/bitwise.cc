#include "ops/all.h"
#include "ops/math/elementwise.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

void bitwise(Registry& r) {
  r.add("BitwiseAnd")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .commutative()
      .doc("The bits that are set in both.")
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kBitwiseAnd))
      .kernel("CPU", binary(Binary::kBitwiseAnd), {types<WEFT_INTEGERS>("T")});

  r.add("BitwiseOr")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .commutative()
      .doc("The bits that are set in either.")
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kBitwiseOr))
      .kernel("CPU", binary(Binary::kBitwiseOr), {types<WEFT_INTEGERS>("T")});

  r.add("BitwiseXor")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .commutative()
      .doc("The bits that are set in one of the two.")
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kBitwiseXor))
      .kernel("CPU", binary(Binary::kBitwiseXor), {types<WEFT_INTEGERS>("T")});

  r.add("Invert")
      .in("x: T")
      .out("y: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .doc("All bits flipped.")
      .shape(shapes::unchanged)
      .no_grad()
      .traits(elementwise(Unary::kInvert, {.involution = true}))
      .kernel("CPU", unary(Unary::kInvert), {types<WEFT_INTEGERS>("T")});

  r.add("LeftShift")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .doc("x shifted left by y bits; y is limited to the width of the type.")
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kLeftShift))
      .kernel("CPU", binary(Binary::kLeftShift), {types<WEFT_INTEGERS>("T")});

  r.add("PopulationCount")
      .in("x: T")
      .out("y: uint8")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .doc("The number of bits that are set.")
      .shape(shapes::unchanged)
      .no_grad()
      .traits(elementwise(Unary::kPopulationCount))
      .kernel("CPU", unary(Unary::kPopulationCount), {types<WEFT_INTEGERS>("T")});

  r.add("RightShift")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}")
      .doc("x shifted right by y bits, keeping the sign; y is limited to the width of the type.")
      .shape(shapes::broadcast_binary)
      .no_grad()
      .traits(broadcasting(Binary::kRightShift))
      .kernel("CPU", binary(Binary::kRightShift), {types<WEFT_INTEGERS>("T")});
}

}  // namespace weft_engine::ops
