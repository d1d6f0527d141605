#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void math_binary(Registry& r) {
  r.add("AccumulateNV2")
      .in("inputs: N * T")
      .out("sum: T")
      .attr("N: int >= 1")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("shape: shape")
      .commutative()
      .aggregate();

  r.add("Add")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}");

  r.add("AddN")
      .in("inputs: N * T")
      .out("sum: T")
      .attr("N: int >= 1")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, variant}")
      .commutative()
      .aggregate();

  r.add("AddV2")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, "
            "int64, complex64, complex128}")
      .commutative()
      .aggregate();

  r.add("Atan2")
      .in("y: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Div")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
            "int64, complex64, complex128}");

  r.add("DivNoNan")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {half, float, bfloat16, double, complex64, complex128}");

  r.add("FloorDiv")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
            "int64, complex64, complex128}");

  r.add("FloorMod")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}");

  r.add("Maximum")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}");

  r.add("Minimum")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}");

  r.add("Mod")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int32, int64, half, half, bfloat16, float, double}");

  r.add("Mul")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
            "int64, complex64, complex128}")
      .commutative();

  r.add("MulNoNan")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("NextAfter")
      .in("x1: T")
      .in("x2: T")
      .out("output: T")
      .attr("T: {double, float} = DT_FLOAT");

  r.add("Pow")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}");

  r.add("RealDiv")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
            "int64, complex64, complex128}");

  r.add("SquaredDifference")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .commutative();

  r.add("Sub")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, "
            "complex128, uint32, uint64}");

  r.add("TruncateDiv")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, "
            "int64, complex64, complex128}");

  r.add("TruncateMod")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {int32, int64, bfloat16, half, float, double}");

  r.add("Xdivy")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {half, bfloat16, float, double, complex64, complex128}");

  r.add("Xlog1py")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {half, bfloat16, float, double, complex64, complex128}");

  r.add("Xlogy")
      .in("x: T")
      .in("y: T")
      .out("z: T")
      .attr("T: {half, bfloat16, float, double, complex64, complex128}");
}

}  // namespace weft::ops
