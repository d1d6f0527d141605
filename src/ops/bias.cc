#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void bias(Registry& r) {
  r.add("BiasAdd")
      .in("value: T")
      .in("bias: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'");

  r.add("BiasAddGrad")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'");

  r.add("BiasAddV1")
      .in("value: T")
      .in("bias: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}");
}

}  // namespace weft::ops
