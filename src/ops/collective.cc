#include "op/emit.h"
#include "op/gradient.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/array_util.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Status shape_attr(ShapeContext& c) {
  c.output(0, c.attr<PartialShape>("shape"));
  return {};
}

// As the input, but with another first dimension.
Status with_first_dim(ShapeContext& c, int64_t factor) {
  WEFT_ASSIGN(PartialShape s, c.with_rank_at_least(0, 1));
  if (!s.has_rank()) return {};
  s.set_dim(0, factor < 0 ? kUnknownDim : shapes::mul_dim(s.dim(0), factor));
  c.output(0, std::move(s));
  return {};
}

Status gather_shape(ShapeContext& c) { return with_first_dim(c, c.attr<int64_t>("group_size")); }
Status any_first_dim(ShapeContext& c) { return with_first_dim(c, -1); }

Status receive_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(3));
  c.output(0, std::move(s));
  return {};
}

// The other way.
Grads permute_grad(const GradContext& g) {
  const Value back = g.one("ReverseV2", {g.x(1), ints(g.emitter(), {1})});
  return {g.one("CollectivePermute", {g.dy(), back}), {}};
}

}  // namespace

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
      .distributed_communication()
      .doc("Each member of a group sends one slice of its tensor to every other.")
      .shape(shapes::unchanged);

  r.add("CollectiveAllToAllV3")
      .in("input: T")
      .in("communicator: resource")
      .in("group_assignment: int32")
      .out("data: T")
      .attr("T: {bfloat16, float, half, double, int32, int64}")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication()
      .doc("Each member of a communicator sends one slice of its tensor to every other.")
      .shape(shapes::unchanged);

  r.add("CollectiveAssignGroupV2")
      .in("group_assignment: int32")
      .in("device_index: int32")
      .in("base_key: int32")
      .out("group_size: int32")
      .out("group_key: int32")
      .stateful()
      .distributed_communication()
      .doc("The size and key of the group that a device belongs to.")
      .shape(shapes::scalar);

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
      .distributed_communication()
      .doc("Receives the tensor that one member of a group sends to all.")
      .shape(shape_attr);

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
      .distributed_communication()
      .doc("Receives the tensor that one member of a group sends to all; the group is an input.")
      .shape(receive_shape);

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
      .distributed_communication()
      .doc("Sends a tensor to all members of a group.")
      .shape(shape_attr);

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
      .distributed_communication()
      .doc("Sends a tensor to all members of a group; the group is an input.")
      .shape(shapes::unchanged);

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
      .distributed_communication()
      .doc("Joins the tensors of all members of a group along the first dimension.")
      .shape(gather_shape);

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
      .distributed_communication()
      .doc("Joins the tensors of all members of a group along the first dimension; the group is an input.")
      .shape(any_first_dim);

  r.add("CollectiveInitializeCommunicator")
      .in("group_key: int32")
      .in("rank: int32")
      .in("group_size: int32")
      .out("communicator: resource")
      .attr("communication_hint: string = 'auto'")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication()
      .doc("A handle with which the members of a group talk.")
      .shape(shapes::scalar);

  r.add("CollectivePermute")
      .in("input: T")
      .in("source_target_pairs: int32")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
            "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .stateful()
      .doc("Sends tensors among devices as pairs of source and target say.")
      .shape(shapes::unchanged)
      .grad(permute_grad);

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
      .distributed_communication()
      .doc("Combines the tensors of all members of a group, element by element.")
      .shape(shapes::unchanged);

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
      .distributed_communication()
      .doc("Combines the tensors of all members of a group and gives each a slice of the result.")
      .shape(any_first_dim);

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
      .distributed_communication()
      .doc("Combines the tensors of all members of a group; the group is an input.")
      .shape(shapes::unchanged);

  r.add("CollectiveReduceV3")
      .in("input: T")
      .in("communicator: resource")
      .in("group_assignment: int32")
      .out("data: T")
      .attr("T: {bfloat16, float, half, double, int32, int64}")
      .attr("reduction: {'Min', 'Max', 'Mul', 'Add'}")
      .attr("timeout_seconds: float = 0")
      .stateful()
      .distributed_communication()
      .doc("Combines the tensors of all members of a communicator.")
      .shape(shapes::unchanged);

  r.add("Relayout")
      .in("input: T")
      .out("output: T")
      .attr("layout: string")
      .attr("T: type")
      .doc("The same tensor laid out over devices in another way.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.one("RelayoutLike", {g.dy(), g.x()})}; })
      .cpu(pass_through);

  r.add("RelayoutLike")
      .in("input: T")
      .in("layout_input: U")
      .out("output: T")
      .attr("T: type")
      .attr("U: type")
      .doc("The same tensor laid out over devices as another one.")
      .shape(shapes::unchanged)
      .grad([](const GradContext& g) -> Grads { return {g.one("RelayoutLike", {g.dy(), g.x(0)}), Value()}; })
      .cpu(pass_through);
}

}  // namespace weft::ops
