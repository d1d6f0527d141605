#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void compare(Registry& r) {
  r.add("ApproximateEqual")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("tolerance: float = 1e-05")
      .commutative();

  r.add("ClipByValue")
      .in("t: T")
      .in("clip_value_min: T")
      .in("clip_value_max: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");

  r.add("Equal")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: type")
      .attr("incompatible_shape_error: bool = true")
      .commutative();

  r.add("Greater")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("GreaterEqual")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("IsFinite")
      .in("x: T")
      .out("y: bool")
      .attr("T: {bfloat16, half, float, double}");

  r.add("IsInf")
      .in("x: T")
      .out("y: bool")
      .attr("T: {bfloat16, half, float, double}");

  r.add("IsNan")
      .in("x: T")
      .out("y: bool")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Less")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("LessEqual")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("LogicalAnd")
      .in("x: bool")
      .in("y: bool")
      .out("z: bool")
      .commutative();

  r.add("LogicalNot")
      .in("x: bool")
      .out("y: bool");

  r.add("LogicalOr")
      .in("x: bool")
      .in("y: bool")
      .out("z: bool")
      .commutative();

  r.add("NotEqual")
      .in("x: T")
      .in("y: T")
      .out("z: bool")
      .attr("T: type")
      .attr("incompatible_shape_error: bool = true")
      .commutative();

  r.add("Select")
      .in("condition: bool")
      .in("t: T")
      .in("e: T")
      .out("output: T")
      .attr("T: type");

  r.add("SelectV2")
      .in("condition: bool")
      .in("t: T")
      .in("e: T")
      .out("output: T")
      .attr("T: type");
}

}  // namespace weft::ops
