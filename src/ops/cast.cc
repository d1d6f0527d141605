#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void cast(Registry& r) {
  r.add("Angle")
      .in("input: T")
      .out("output: Tout")
      .attr("T: {complex64, complex128} = DT_COMPLEX64")
      .attr("Tout: {float, double} = DT_FLOAT");

  r.add("Bitcast")
      .in("input: T")
      .out("output: type")
      .attr("T: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, "
            "int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}")
      .attr("type: {bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, "
            "int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}");

  r.add("Cast")
      .in("x: SrcT")
      .out("y: DstT")
      .attr("SrcT: type")
      .attr("DstT: type")
      .attr("Truncate: bool = false");

  r.add("Complex")
      .in("real: T")
      .in("imag: T")
      .out("out: Tout")
      .attr("T: {float, double} = DT_FLOAT")
      .attr("Tout: {complex64, complex128} = DT_COMPLEX64");

  r.add("ComplexAbs")
      .in("x: T")
      .out("y: Tout")
      .attr("T: {complex64, complex128} = DT_COMPLEX64")
      .attr("Tout: {float, double} = DT_FLOAT");

  r.add("Conj")
      .in("input: T")
      .out("output: T")
      .attr("T: {complex64, complex128, variant} = DT_COMPLEX64");

  r.add("Imag")
      .in("input: T")
      .out("output: Tout")
      .attr("T: {complex64, complex128} = DT_COMPLEX64")
      .attr("Tout: {float, double} = DT_FLOAT");

  r.add("Real")
      .in("input: T")
      .out("output: Tout")
      .attr("T: {complex64, complex128} = DT_COMPLEX64")
      .attr("Tout: {float, double} = DT_FLOAT");
}

}  // namespace weft::ops
