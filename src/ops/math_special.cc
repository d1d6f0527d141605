#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void math_special(Registry& r) {
  r.add("BesselI0")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselI0e")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselI1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselI1e")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselJ0")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselJ1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselK0")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselK0e")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselK1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselK1e")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselY0")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("BesselY1")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Betainc")
      .in("a: T")
      .in("b: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {float, double}");

  r.add("Dawsn")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Digamma")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Erf")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Erfc")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Erfinv")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Expint")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("FresnelCos")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("FresnelSin")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Igamma")
      .in("a: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("IgammaGradA")
      .in("a: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {float, double}");

  r.add("Igammac")
      .in("a: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Lgamma")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Ndtri")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Polygamma")
      .in("a: T")
      .in("x: T")
      .out("z: T")
      .attr("T: {float, double}");

  r.add("Spence")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double}");

  r.add("Zeta")
      .in("x: T")
      .in("q: T")
      .out("z: T")
      .attr("T: {float, double}");
}

}  // namespace weft::ops
