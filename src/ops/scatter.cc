#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void scatter(Registry& r) {
  r.add("InplaceAdd")
      .in("x: T")
      .in("i: int32")
      .in("v: T")
      .out("y: T")
      .attr("T: type");

  r.add("InplaceSub")
      .in("x: T")
      .in("i: int32")
      .in("v: T")
      .out("y: T")
      .attr("T: type");

  r.add("InplaceUpdate")
      .in("x: T")
      .in("i: int32")
      .in("v: T")
      .out("y: T")
      .attr("T: type");

  r.add("ScatterNd")
      .in("indices: Tindices")
      .in("updates: T")
      .in("shape: Tindices")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int16, int32, int64}")
      .attr("bad_indices_policy: string = ''");

  r.add("ScatterNdNonAliasingAdd")
      .in("input: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool}")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''");

  r.add("TensorScatterAdd")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''");

  r.add("TensorScatterMax")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''");

  r.add("TensorScatterMin")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''");

  r.add("TensorScatterSub")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("bad_indices_policy: string = ''");

  r.add("TensorScatterUpdate")
      .in("tensor: T")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int16, int32, int64, uint16}")
      .attr("bad_indices_policy: string = ''");

  r.add("TensorStridedSliceUpdate")
      .in("input: T")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .in("value: T")
      .out("output: T")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0");
}

}  // namespace weft::ops
