#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void scan(Registry& r) {
  r.add("Cumprod")
      .in("x: T")
      .in("axis: Tidx")
      .out("out: T")
      .attr("exclusive: bool = false")
      .attr("reverse: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("Cumsum")
      .in("x: T")
      .in("axis: Tidx")
      .out("out: T")
      .attr("exclusive: bool = false")
      .attr("reverse: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("CumulativeLogsumexp")
      .in("x: T")
      .in("axis: Tidx")
      .out("out: T")
      .attr("exclusive: bool = false")
      .attr("reverse: bool = false")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("IsotonicRegression")
      .in("input: T")
      .out("output: output_dtype")
      .out("segments: int32")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("output_dtype: {half, bfloat16, float, double} = DT_FLOAT");
}

}  // namespace weft::ops
