#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void state_ref(Registry& r) {
  r.add("Assign")
      .in("ref: Ref(T)")
      .in("value: T")
      .out("output_ref: Ref(T)")
      .attr("T: type")
      .attr("validate_shape: bool = true")
      .attr("use_locking: bool = true")
      .allows_uninitialized_input();

  r.add("AssignAdd")
      .in("ref: Ref(T)")
      .in("value: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("AssignSub")
      .in("ref: Ref(T)")
      .in("value: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("use_locking: bool = false");

  r.add("CountUpTo")
      .in("ref: Ref(T)")
      .out("output: T")
      .attr("limit: int")
      .attr("T: {int32, int64}");

  r.add("DestroyTemporaryVariable")
      .in("ref: Ref(T)")
      .out("value: T")
      .attr("T: type")
      .attr("var_name: string");

  r.add("IsVariableInitialized")
      .in("ref: Ref(dtype)")
      .out("is_initialized: bool")
      .attr("dtype: type")
      .allows_uninitialized_input();

  r.add("RefIdentity")
      .in("input: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input();

  r.add("ScatterAdd")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("ScatterDiv")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("ScatterMax")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {half, bfloat16, float, double, int32, int64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("ScatterMin")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {half, bfloat16, float, double, int32, int64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("ScatterMul")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("ScatterNdAdd")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("bad_indices_policy: string = ''");

  r.add("ScatterNdMax")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("bad_indices_policy: string = ''");

  r.add("ScatterNdMin")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("bad_indices_policy: string = ''");

  r.add("ScatterNdSub")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false")
      .attr("bad_indices_policy: string = ''");

  r.add("ScatterNdUpdate")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''");

  r.add("ScatterSub")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = false");

  r.add("ScatterUpdate")
      .in("ref: Ref(T)")
      .in("indices: Tindices")
      .in("updates: T")
      .out("output_ref: Ref(T)")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true");

  r.add("StridedSliceAssign")
      .in("ref: Ref(T)")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .in("value: T")
      .out("output_ref: Ref(T)")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0");

  r.add("TemporaryVariable")
      .out("ref: Ref(dtype)")
      .attr("shape: shape")
      .attr("dtype: type")
      .attr("var_name: string = ''")
      .stateful();

  r.add("Variable")
      .out("ref: Ref(dtype)")
      .attr("shape: shape")
      .attr("dtype: type")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();

  r.add("VariableV2")
      .out("ref: Ref(dtype)")
      .attr("shape: shape")
      .attr("dtype: type")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful();
}

}  // namespace weft::ops
