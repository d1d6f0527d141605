#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void reduce(Registry& r) {
  r.add("All")
      .in("input: bool")
      .in("reduction_indices: Tidx")
      .out("output: bool")
      .attr("keep_dims: bool = false")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("Any")
      .in("input: bool")
      .in("reduction_indices: Tidx")
      .out("output: bool")
      .attr("keep_dims: bool = false")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("ArgMax")
      .in("input: T")
      .in("dimension: Tidx")
      .out("output: output_type")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, qint8, quint8, qint32, qint16, quint16, bool}")
      .attr("Tidx: {int16, int32, int64} = DT_INT32")
      .attr("output_type: {int16, uint16, int32, int64} = DT_INT64");

  r.add("ArgMin")
      .in("input: T")
      .in("dimension: Tidx")
      .out("output: output_type")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, qint8, quint8, qint32, qint16, quint16, bool}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("output_type: {int32, int64} = DT_INT64");

  r.add("EuclideanNorm")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("Max")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, qint8, quint8, qint32, qint16, quint16}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("Mean")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("Min")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, qint8, quint8, qint32, qint16, quint16}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("Prod")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("Sum")
      .in("input: T")
      .in("reduction_indices: Tidx")
      .out("output: T")
      .attr("keep_dims: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tidx: {int32, int64} = DT_INT32");
}

}  // namespace weft::ops
