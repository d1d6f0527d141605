#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void math_unary(Registry& r) {
  r.add("Abs")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64}");

  r.add("Acos")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Acosh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Asin")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Asinh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Atan")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Atanh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Ceil")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Cos")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Cosh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Exp")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Expm1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Floor")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Inv")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}");

  r.add("InvGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Log")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Log1p")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Neg")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}");

  r.add("Reciprocal")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}");

  r.add("ReciprocalGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Rint")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Round")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}");

  r.add("Rsqrt")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("RsqrtGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Sign")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}");

  r.add("Sin")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Sinh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Sqrt")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("SqrtGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Square")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, "
            "uint64, complex64, complex128}");

  r.add("Tan")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");
}

}  // namespace weft::ops
