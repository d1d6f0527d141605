#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void control_flow(Registry& r) {
  r.add("Abort")
      .attr("error_msg: string = ''")
      .attr("exit_without_error: bool = false");

  r.add("ControlTrigger");

  r.add("Enter")
      .in("data: T")
      .out("output: T")
      .attr("T: type")
      .attr("frame_name: string")
      .attr("is_constant: bool = false")
      .attr("parallel_iterations: int = 10");

  r.add("Exit")
      .in("data: T")
      .out("output: T")
      .attr("T: type");

  r.add("LoopCond")
      .in("input: bool")
      .out("output: bool");

  r.add("Merge")
      .in("inputs: N * T")
      .out("output: T")
      .out("value_index: int32")
      .attr("T: type")
      .attr("N: int >= 1");

  r.add("NextIteration")
      .in("data: T")
      .out("output: T")
      .attr("T: type");

  r.add("NoOp");

  r.add("RefEnter")
      .in("data: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .attr("frame_name: string")
      .attr("is_constant: bool = false")
      .attr("parallel_iterations: int = 10");

  r.add("RefExit")
      .in("data: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type");

  r.add("RefMerge")
      .in("inputs: Ref(N * T)")
      .out("output: Ref(T)")
      .out("value_index: int32")
      .attr("T: type")
      .attr("N: int >= 1");

  r.add("RefNextIteration")
      .in("data: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type");

  r.add("RefSelect")
      .in("index: int32")
      .in("inputs: Ref(N * T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .attr("N: int >= 1");

  r.add("RefSwitch")
      .in("data: Ref(T)")
      .in("pred: bool")
      .out("output_false: Ref(T)")
      .out("output_true: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input();

  r.add("Switch")
      .in("data: T")
      .in("pred: bool")
      .out("output_false: T")
      .out("output_true: T")
      .attr("T: type");

  r.add("ToBool")
      .in("input: T")
      .out("output: bool")
      .attr("T: type");

  r.add("_Arg")
      .out("output: T")
      .attr("T: type")
      .attr("index: int >= 0")
      .stateful();

  r.add("_ArrayToList")
      .in("input: N * T")
      .out("output: out_types")
      .attr("T: type")
      .attr("N: int >= 1")
      .attr("out_types: list(type) >= 1");

  r.add("_HostRecv")
      .out("tensor: tensor_type")
      .attr("tensor_type: type")
      .attr("tensor_name: string")
      .attr("send_device: string")
      .attr("send_device_incarnation: int")
      .attr("recv_device: string")
      .attr("client_terminated: bool = false")
      .stateful()
      .distributed_communication();

  r.add("_HostSend")
      .in("tensor: T")
      .attr("T: type")
      .attr("tensor_name: string")
      .attr("send_device: string")
      .attr("send_device_incarnation: int")
      .attr("recv_device: string")
      .attr("client_terminated: bool = false")
      .stateful();

  r.add("_ListToArray")
      .in("input: Tin")
      .out("output: N * T")
      .attr("Tin: list(type) >= 1")
      .attr("T: type")
      .attr("N: int >= 1");

  r.add("_Recv")
      .out("tensor: tensor_type")
      .attr("tensor_type: type")
      .attr("tensor_name: string")
      .attr("send_device: string")
      .attr("send_device_incarnation: int")
      .attr("recv_device: string")
      .attr("client_terminated: bool = false")
      .stateful()
      .distributed_communication();

  r.add("_Retval")
      .in("input: T")
      .attr("T: type")
      .attr("index: int >= 0")
      .stateful();

  r.add("_Send")
      .in("tensor: T")
      .attr("T: type")
      .attr("tensor_name: string")
      .attr("send_device: string")
      .attr("send_device_incarnation: int")
      .attr("recv_device: string")
      .attr("client_terminated: bool = false")
      .stateful();

  r.add("_SwitchN")
      .in("data: T")
      .in("output_index: int32")
      .out("outputs: num_outs * T")
      .attr("num_outs: int >= 1")
      .attr("T: type");
}

}  // namespace weft::ops
