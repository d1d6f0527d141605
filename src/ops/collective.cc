#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void collective(Registry& r) {
  r.add("CollectiveAllToAllV2")
      .in("input: T")
      .in("group_size: int32")
      .in("group_key: int32")
      .in("instance_key: int32")
      .in("ordering_token: Nordering_token * resource")
      .out("data: T")
      .attr("T: {bfloat16, float, half, double, int32, int64}")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .attr("is_stateless: bool = false")
      .attr("Nordering_token: int >= 0 = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveAllToAllV3")
      .in("input: T")
      .in("communicator: resource")
      .in("group_assignment: int32")
      .out("data: T")
      .attr("T: {bfloat16, float, half, double, int32, int64}")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveAssignGroupV2")
      .in("group_assignment: int32")
      .in("device_index: int32")
      .in("base_key: int32")
      .out("group_size: int32")
      .out("group_key: int32")
      .stateful()
      .distributed_communication();

  r.add("CollectiveBcastRecv")
      .out("data: T")
      .attr("T: {bool, float, half, double, int32, int64}")
      .attr("group_size: int")
      .attr("group_key: int")
      .attr("instance_key: int")
      .attr("shape: shape")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveBcastRecvV2")
      .in("group_size: int32")
      .in("group_key: int32")
      .in("instance_key: int32")
      .in("shape: Tshape")
      .out("data: T")
      .attr("T: {bool, float, half, double, int32, int64}")
      .attr("Tshape: {int32, int64} = DT_INT32")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveBcastSend")
      .in("input: T")
      .out("data: T")
      .attr("T: {bool, float, half, double, int32, int64}")
      .attr("group_size: int")
      .attr("group_key: int")
      .attr("instance_key: int")
      .attr("shape: shape")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveBcastSendV2")
      .in("input: T")
      .in("group_size: int32")
      .in("group_key: int32")
      .in("instance_key: int32")
      .out("data: T")
      .attr("T: {bool, float, half, double, int32, int64}")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveGather")
      .in("input: T")
      .out("data: T")
      .attr("T: {float, half, double, int32, int64}")
      .attr("group_size: int")
      .attr("group_key: int")
      .attr("instance_key: int")
      .attr("shape: shape")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveGatherV2")
      .in("input: T")
      .in("group_size: int32")
      .in("group_key: int32")
      .in("instance_key: int32")
      .in("ordering_token: Nordering_token * resource")
      .out("data: T")
      .attr("T: {float, half, double, int32, int64}")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .attr("is_stateless: bool = false")
      .attr("Nordering_token: int >= 0 = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveInitializeCommunicator")
      .in("group_key: int32")
      .in("rank: int32")
      .in("group_size: int32")
      .out("communicator: resource")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectivePermute")
      .in("input: T")
      .in("source_target_pairs: int32")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .stateful();

  r.add("CollectiveReduce")
      .in("input: T")
      .out("data: T")
      .attr("T: {bfloat16, float, half, double, int32, int64}")
      .attr("group_size: int")
      .attr("group_key: int")
      .attr("instance_key: int")
      .attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}")
      .attr("final_op: {'Id', 'Div'}")
      .attr("subdiv_offsets: list(int)")
      .attr("wait_for: list(int) = []")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("CollectiveReduceScatterV2")
      .in("input: T")
      .in("group_size: int32")
      .in("group_key: int32")
      .in("instance_key: int32")
      .in("ordering_token: Nordering_token * resource")
      .out("data: T")
      .attr("T: {bfloat16, float, half, double, int32, int64}")
      .attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}")
      .attr("final_op: {'Id', 'Div'}")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .attr("is_stateless: bool = false")
      .attr("Nordering_token: int >= 0 = 0")
      .attr("max_subdivs_per_device: int = -1")
      .stateful()
      .distributed_communication();

  r.add("CollectiveReduceV2")
      .in("input: T")
      .in("group_size: int32")
      .in("group_key: int32")
      .in("instance_key: int32")
      .in("ordering_token: Nordering_token * resource")
      .out("data: T")
      .attr("T: {bfloat16, float, half, double, int32, int64}")
      .attr("merge_op: {'Min', 'Max', 'Mul', 'Add'}")
      .attr("final_op: {'Id', 'Div'}")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .attr("is_stateless: bool = false")
      .attr("Nordering_token: int >= 0 = 0")
      .attr("max_subdivs_per_device: int = -1")
      .stateful()
      .distributed_communication();

  r.add("CollectiveReduceV3")
      .in("input: T")
      .in("communicator: resource")
      .in("group_assignment: int32")
      .out("data: T")
      .attr("T: {bfloat16, float, half, double, int32, int64}")
      .attr("reduction: {'Min', 'Max', 'Mul', 'Add'}")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication();

  r.add("Relayout")
      .in("input: T")
      .out("output: T")
      .attr("layout: string")
      .attr("T: type");
}

}  // namespace weft::ops
