#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void state(Registry& r) {
  r.add("AssignAddVariableOp")
      .in("resource: resource")
      .in("value: dtype")
      .attr("dtype: type")
      .stateful();

  r.add("AssignSubVariableOp")
      .in("resource: resource")
      .in("value: dtype")
      .attr("dtype: type")
      .stateful();

  r.add("AssignVariableOp")
      .in("resource: resource")
      .in("value: dtype")
      .attr("dtype: type")
      .attr("validate_shape: bool = false")
      .stateful();

  r.add("DeleteSessionTensor")
      .in("handle: string")
      .stateful();

  r.add("DestroyResourceOp")
      .in("resource: resource")
      .attr("ignore_lookup_error: bool = true")
      .stateful();

  r.add("DisableCopyOnRead")
      .in("resource: resource")
      .stateful();

  r.add("GetSessionHandle")
      .in("value: T")
      .out("handle: string")
      .attr("T: type")
      .stateful();

  r.add("GetSessionHandleV2")
      .in("value: T")
      .out("handle: resource")
      .attr("T: type")
      .stateful();

  r.add("GetSessionTensor")
      .in("handle: string")
      .out("value: dtype")
      .attr("dtype: type")
      .stateful();

  r.add("ReadVariableOp")
      .in("resource: resource")
      .out("value: dtype")
      .attr("dtype: type")
      .stateful();

  r.add("ResourceCountUpTo")
      .in("resource: resource")
      .out("output: T")
      .attr("limit: int")
      .attr("T: {int32, int64}")
      .stateful();

  r.add("ResourceGather")
      .in("resource: resource")
      .in("indices: Tindices")
      .out("output: dtype")
      .attr("batch_dims: int = 0")
      .attr("validate_indices: bool = true")
      .attr("dtype: type")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceGatherNd")
      .in("resource: resource")
      .in("indices: Tindices")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceScatterAdd")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceScatterDiv")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceScatterMax")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceScatterMin")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceScatterMul")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceScatterNdAdd")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful();

  r.add("ResourceScatterNdMax")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful();

  r.add("ResourceScatterNdMin")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful();

  r.add("ResourceScatterNdSub")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful();

  r.add("ResourceScatterNdUpdate")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful();

  r.add("ResourceScatterSub")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr("dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceScatterUpdate")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr("dtype: type")
      .attr("Tindices: {int32, int64}")
      .stateful();

  r.add("ResourceStridedSliceAssign")
      .in("ref: resource")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .in("value: T")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0")
      .stateful();

  r.add("VarHandleOp")
      .out("resource: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("debug_name: string = ''")
      .attr("dtype: type")
      .attr("shape: shape")
      .attr("allowed_devices: list(string) = []")
      .stateful();

  r.add("VarIsInitializedOp")
      .in("resource: resource")
      .out("is_initialized: bool")
      .stateful();

  r.add("VariableShape")
      .in("input: resource")
      .out("output: out_type")
      .attr("out_type: {int32, int64} = DT_INT32")
      .stateful();

  r.add("_ReadVariablesOp")
      .in("resources: N * resource")
      .out("values: dtypes")
      .attr("N: int >= 0")
      .attr("dtypes: list(type) >= 1")
      .stateful();

  r.add("_VarHandlesOp")
      .out("resources: N * resource")
      .attr("containers: list(string)")
      .attr("shared_names: list(string)")
      .attr("N: int >= 0")
      .attr("dtypes: list(type)")
      .attr("shapes: list(shape)")
      .stateful();
}

}  // namespace weft::ops
