#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void array(Registry& r) {
  r.add("Const")
      .out("output: dtype")
      .attr("value: tensor")
      .attr("dtype: type");

  r.add("Copy")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("tensor_name: string = ''")
      .attr("debug_ops_spec: list(string) = []")
      .allows_uninitialized_input();

  r.add("CopyHost")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("tensor_name: string = ''")
      .attr("debug_ops_spec: list(string) = []")
      .allows_uninitialized_input();

  r.add("DeepCopy")
      .in("x: T")
      .out("y: T")
      .attr("T: type")
      .stateful();

  r.add("Empty")
      .in("shape: int32")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("init: bool = false")
      .stateful();

  r.add("EnsureShape")
      .in("input: T")
      .out("output: T")
      .attr("shape: shape")
      .attr("T: type");

  r.add("ExpandDims")
      .in("input: T")
      .in("dim: Tdim")
      .out("output: T")
      .attr("T: type")
      .attr("Tdim: {int32, int64} = DT_INT32");

  r.add("Fill")
      .in("dims: index_type")
      .in("value: T")
      .out("output: T")
      .attr("T: type")
      .attr("index_type: {int32, int64} = DT_INT32");

  r.add("GuaranteeConst")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .stateful();

  r.add("Identity")
      .in("input: T")
      .out("output: T")
      .attr("T: type");

  r.add("IdentityN")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 1");

  r.add("ImmutableConst")
      .out("tensor: dtype")
      .attr("dtype: type")
      .attr("shape: shape")
      .attr("memory_region_name: string");

  r.add("LinSpace")
      .in("start: T")
      .in("stop: T")
      .in("num: Tidx")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("OneHot")
      .in("indices: TI")
      .in("depth: int32")
      .in("on_value: T")
      .in("off_value: T")
      .out("output: T")
      .attr("axis: int = -1")
      .attr("T: type")
      .attr("TI: {uint8, int8, int32, int64} = DT_INT64");

  r.add("OnesLike")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
            "uint64, complex64, complex128, bool}");

  r.add("Placeholder")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape = <unknown>");

  r.add("PlaceholderV2")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape")
      .deprecated(23, "");

  r.add("PlaceholderWithDefault")
      .in("input: dtype")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape");

  r.add("PreventGradient")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("message: string = ''");

  r.add("Range")
      .in("start: Tidx")
      .in("limit: Tidx")
      .in("delta: Tidx")
      .out("output: Tidx")
      .attr("Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = DT_INT32");

  r.add("Rank")
      .in("input: T")
      .out("output: int32")
      .attr("T: type");

  r.add("Reshape")
      .in("tensor: T")
      .in("shape: Tshape")
      .out("output: T")
      .attr("T: type")
      .attr("Tshape: {int32, int64} = DT_INT32");

  r.add("Shape")
      .in("input: T")
      .out("output: out_type")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32");

  r.add("ShapeN")
      .in("input: N * T")
      .out("output: N * out_type")
      .attr("N: int >= 1")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32");

  r.add("Size")
      .in("input: T")
      .out("output: out_type")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32");

  r.add("Snapshot")
      .in("input: T")
      .out("output: T")
      .attr("T: type");

  r.add("Squeeze")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("squeeze_dims: list(int) >= 0 = []");

  r.add("StopGradient")
      .in("input: T")
      .out("output: T")
      .attr("T: type");

  r.add("UnravelIndex")
      .in("indices: Tidx")
      .in("dims: Tidx")
      .out("output: Tidx")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("Where")
      .in("input: T")
      .out("index: int64")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool} = DT_BOOL");

  r.add("ZerosLike")
      .in("x: T")
      .out("y: T")
      .attr("T: type");
}

}  // namespace weft::ops
