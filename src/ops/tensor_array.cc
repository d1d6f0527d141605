#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void tensor_array(Registry& r) {
  r.add("StackCloseV2")
      .in("handle: resource")
      .stateful();

  r.add("StackPopV2")
      .in("handle: resource")
      .out("elem: elem_type")
      .attr("elem_type: type")
      .stateful();

  r.add("StackPushV2")
      .in("handle: resource")
      .in("elem: T")
      .out("output: T")
      .attr("T: type")
      .attr("swap_memory: bool = false")
      .stateful();

  r.add("StackV2")
      .in("max_size: int32")
      .out("handle: resource")
      .attr("elem_type: type")
      .attr("stack_name: string = ''")
      .stateful();

  r.add("TensorArrayCloseV3")
      .in("handle: resource")
      .stateful();

  r.add("TensorArrayConcatV3")
      .in("handle: resource")
      .in("flow_in: float")
      .out("value: dtype")
      .out("lengths: int64")
      .attr("dtype: type")
      .attr("element_shape_except0: shape = <unknown>")
      .stateful();

  r.add("TensorArrayGatherV3")
      .in("handle: resource")
      .in("indices: int32")
      .in("flow_in: float")
      .out("value: dtype")
      .attr("dtype: type")
      .attr("element_shape: shape = <unknown>")
      .stateful();

  r.add("TensorArrayGradV3")
      .in("handle: resource")
      .in("flow_in: float")
      .out("grad_handle: resource")
      .out("flow_out: float")
      .attr("source: string")
      .stateful();

  r.add("TensorArrayReadV3")
      .in("handle: resource")
      .in("index: int32")
      .in("flow_in: float")
      .out("value: dtype")
      .attr("dtype: type")
      .stateful();

  r.add("TensorArrayScatterV3")
      .in("handle: resource")
      .in("indices: int32")
      .in("value: T")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .stateful();

  r.add("TensorArraySizeV3")
      .in("handle: resource")
      .in("flow_in: float")
      .out("size: int32")
      .stateful();

  r.add("TensorArraySplitV3")
      .in("handle: resource")
      .in("value: T")
      .in("lengths: int64")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .stateful();

  r.add("TensorArrayV3")
      .in("size: int32")
      .out("handle: resource")
      .out("flow: float")
      .attr("dtype: type")
      .attr("element_shape: shape = <unknown>")
      .attr("dynamic_size: bool = false")
      .attr("clear_after_read: bool = true")
      .attr("identical_element_shapes: bool = false")
      .attr("tensor_array_name: string = ''")
      .stateful();

  r.add("TensorArrayWriteV3")
      .in("handle: resource")
      .in("index: int32")
      .in("value: T")
      .in("flow_in: float")
      .out("flow_out: float")
      .attr("T: type")
      .stateful();
}

}  // namespace weft::ops
