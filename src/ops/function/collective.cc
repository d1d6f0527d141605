// Collective ops: each unpacks what it is asked for; op/collective.h brings the members together.
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/narrow.h"
#include "op/collective.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/layout_rule.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/array/array_util.h"
#include "ops/control_flow/summarize.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

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

using kernels::Binary;
using Done = Kernel::Done;

// a op b, where b may be a scalar; half and bfloat16 round after each step, as TensorFlow's kernels do.
Result<Tensor> combine(Binary op, const Tensor& a, const Tensor& b) {
  WEFT_ASSIGN(Tensor out, Tensor::allocate(a.dtype(), a.shape()));
  const int64_t n = a.num_elements();
  const int step = b.rank() == 0 ? 0 : 1;
  const DType t = a.dtype();
  if (auto widen = kernels::widen_loop(t); widen && !kernels::binary_loop(op, t)) {
    WEFT_ASSIGN(Tensor x, Tensor::allocate(DType::kFloat, a.shape()));
    WEFT_ASSIGN(Tensor y, Tensor::allocate(DType::kFloat, b.shape()));
    widen(a.data<uint16_t>(), x.data<float>(), n);
    widen(b.data<uint16_t>(), y.data<float>(), b.num_elements());
    kernels::binary_loop(op, DType::kFloat)(x.raw(), y.raw(), x.raw(), n, 1, step);
    kernels::narrow_loop(t)(x.data<float>(), out.data<uint16_t>(), n);
    return out;
  }
  auto loop = kernels::binary_loop(op, t);
  if (!loop) return unimplemented("no reduction of ", dtype_name(t));
  loop(a.raw(), b.raw(), out.raw(), n, 1, step);
  return out;
}

Result<Tensor> divided(const Tensor& sum, int group_size) {
  WEFT_ASSIGN(Tensor size, Tensor::allocate(sum.dtype(), Shape()));
  WEFT_RETURN_IF_ERROR((dispatch<bfloat16, half, float, double, int32_t, int64_t>(sum.dtype(), [&]<class T>(Tag<T>) {
    size.data<T>()[0] = T(float(group_size));
    return Status();
  })));
  return combine(Binary::kDiv, sum, size);
}

void set_reduction(CollectiveParams& p, const std::string& merge, const std::string& final) {
  const Binary op = merge == "Add" ? Binary::kAdd : merge == "Mul" ? Binary::kMul : merge == "Max" ? Binary::kMaximum : Binary::kMinimum;
  p.merge = [op](const Tensor& own, const Tensor& received) { return combine(op, own, received); };
  if (final == "Div") p.finish = divided;
}

void start(KernelContext& c, CollectiveParams p, Tensor input, Done done) {
  p.name = c.node().name();
  collective_executor(c.resources())
      ->run_async(std::move(p), std::move(input), c.env().cancellation, [&c, done = std::move(done)](Status s, Tensor result) {
        if (s.ok()) c.set_output(0, std::move(result));
        done(std::move(s));
      });
}

Shape gathered(const Shape& each, int32_t group_size) {
  Shape s = each;
  s.set_dim(0, shapes::mul_dim(each.dim(0), group_size));
  return s;
}

Status check_gather(const Tensor& input) {
  if (input.rank() == 0) return invalid_argument("input should have rank > 0, received ", input.rank());
  return {};
}

// Version 1: all that tells the group is in attributes.
class CollectiveV1 final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> create(const NodeInfo& node) {
    const int64_t size = node.attr<int64_t>("group_size");
    if (size <= 0 || size > INT32_MAX) return invalid_argument("group_size must be positive integer but got ", size);
    return std::unique_ptr<Kernel>(new CollectiveV1);
  }
  bool is_async() const override { return true; }
  Status run(KernelContext& c) override {
    std::promise<Status> result;
    run_async(c, [&](Status s) { result.set_value(std::move(s)); });
    return result.get_future().get();
  }
  void run_async(KernelContext& c, Done done) override {
    CollectiveParams p;
    Tensor input;
    if (Status s = fill(c, p, input); !s.ok()) return done(std::move(s));
    start(c, std::move(p), std::move(input), std::move(done));
  }

 private:
  static Status fill(KernelContext& c, CollectiveParams& p, Tensor& input) {
    const std::string_view op = c.node().op();
    p.group = {int32_t(c.attr<int64_t>("group_key")), int32_t(c.attr<int64_t>("group_size")), -1, c.device().name()};
    p.instance_key = int32_t(c.attr<int64_t>("instance_key"));
    p.dtype = c.output_type(0);
    p.timeout_seconds = c.attr<float>("timeout_seconds");
    if (c.num_inputs() > 0) input = c.input(0);
    if (op == "CollectiveReduce") {
      p.type = CollectiveType::kReduction;
      p.shape = input.shape();
      p.subdiv_offsets = c.attr<std::vector<int64_t>>("subdiv_offsets");
      set_reduction(p, c.attr<std::string>("merge_op"), c.attr<std::string>("final_op"));
    } else if (op == "CollectiveGather") {
      p.type = CollectiveType::kGather;
      WEFT_RETURN_IF_ERROR(check_gather(input));
      p.shape = gathered(input.shape(), p.group.size);
    } else {
      p.type = CollectiveType::kBroadcast;
      p.is_source = op == "CollectiveBcastSend";
      const auto shape = c.attr<PartialShape>("shape").concrete();
      if (!shape) return invalid_argument("the attribute shape of ", op, " must be fully known");
      p.shape = *shape;
      if (p.is_source && input.shape() != p.shape)
        return internal_error("Declared shape of op ", c.node().name(), ": Broadcast(1) does not match shape of input");
    }
    return {};
  }
};

// Version 2: groups and instances are inputs, in this order from `first`.
Status fill_v2(KernelContext& c, int first, CollectiveType type, CollectiveParams& p) {
  int32_t values[3];
  static constexpr const char* kNames[] = {"group_size", "group_key", "instance_key"};
  for (int i = 0; i < 3; ++i) {
    const Tensor& t = c.input(first + i);
    if (t.rank() > 0) return invalid_argument("Unexpected dimensions on input ", kNames[i], ", got ", t.shape());
    values[i] = t.data<int32_t>()[0];
  }
  if (values[0] <= 0) return invalid_argument("group_size must be positive integer but got ", values[0]);
  p.group = {values[1], values[0], -1, c.device().name()};
  p.instance_key = values[2];
  p.type = type;
  p.dtype = c.output_type(0);
  p.timeout_seconds = c.attr<float>("timeout_seconds");
  return {};
}

template <CollectiveType kType>
void run_v2(KernelContext& c, Done done) {
  CollectiveParams p;
  if (Status s = fill_v2(c, 1, kType, p); !s.ok()) return done(std::move(s));
  p.shape = c.input(0).shape();
  if constexpr (kType == CollectiveType::kGather) {
    if (Status s = check_gather(c.input(0)); !s.ok()) return done(std::move(s));
    p.shape = gathered(p.shape, p.group.size);
  }
  if constexpr (kType == CollectiveType::kReduction || kType == CollectiveType::kReduceScatter) {
    p.max_subdivs_per_device = c.attr<int64_t>("max_subdivs_per_device");
    set_reduction(p, c.attr<std::string>("merge_op"), c.attr<std::string>("final_op"));
  }
  p.is_source = kType == CollectiveType::kBroadcast;
  start(c, std::move(p), c.input(0), std::move(done));
}

Result<CollectiveParams> receive_params(KernelContext& c) {
  CollectiveParams p;
  WEFT_RETURN_IF_ERROR(fill_v2(c, 0, CollectiveType::kBroadcast, p));
  WEFT_ASSIGN(p.shape, shape_from(c.input(3)));
  return p;
}
void run_receive_v2(KernelContext& c, Done done) {
  auto p = receive_params(c);
  if (!p.ok()) return done(p.status());
  start(c, std::move(p).value(), {}, std::move(done));
}

// What CollectiveInitializeCommunicator makes; it counts the calls of its member.
class CollectiveGroupResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_123CollectiveGroupResourceE";
  CollectiveGroupResource(CollectiveGroup g, double timeout) : group(std::move(g)), timeout_seconds(timeout) {}
  std::string type_name() const override { return "CollectiveGroupResource"; }
  std::string debug_string() const override {
    return cat("Collective Group with group_key = ", group.key, ", group_size = ", group.size, ", rank = ", group.rank);
  }
  const CollectiveGroup group;
  const double timeout_seconds;
  std::atomic<int32_t> next_instance{0};
};

Result<CollectiveGroup> communicator_group(KernelContext& c) {
  for (const char* name : {"group_size", "group_key", "rank"}) {
    if (c.input(name).rank() > 0)
      return invalid_argument("Unexpected dimensions on input ", name, ". It shoulbe a scalar, got tensor with shape ", c.input(name).shape());
  }
  const int32_t key = c.input("group_key").data<int32_t>()[0], rank = c.input("rank").data<int32_t>()[0],
                size = c.input("group_size").data<int32_t>()[0];
  if (size <= 0) return invalid_argument("group_size must be positive integer but got ", size);
  if (rank < 0) return invalid_argument("rank must be non-negative integer but got ", rank);
  if (rank >= size) return invalid_argument("rank must be less than group size but got ", rank, " >= ", size);
  return CollectiveGroup{key, size, rank, c.device().name()};
}

void run_initialize(KernelContext& c, Done done) {
  constexpr const char* kContainer = "collective_op_group";
  auto group = communicator_group(c);
  if (!group.ok()) return done(group.status());
  std::string rank = cat(group->rank);
  const std::string name = cat(group->key, ":r", std::string(rank.size() < 4 ? 4 - rank.size() : 0, '0'), rank);
  const double timeout = c.attr<float>("timeout_seconds");
  Status s = c.resources().create(kContainer, CollectiveGroupResource::kTypeName, name, std::make_shared<CollectiveGroupResource>(*group, timeout));
  if (!s.ok()) return done(std::move(s));
  c.set_output(0, make_handle(c.device().name(), kContainer, name, CollectiveGroupResource::kTypeName));
  collective_executor(c.resources())->complete_group_async(*group, timeout, c.env().cancellation, std::move(done));
}

Result<CollectiveParams> communicator_params(KernelContext& c, CollectiveType type) {
  WEFT_ASSIGN(std::shared_ptr<CollectiveGroupResource> r, c.resource<CollectiveGroupResource>(1));
  if (c.input(2).num_elements() != 0) return unimplemented("Group assignments are not supported yet.");
  CollectiveParams p;
  p.group = r->group;
  p.group.device = c.device().name();
  p.instance_key = r->next_instance.fetch_add(1);
  p.type = type;
  p.dtype = c.output_type(0);
  p.shape = c.input(0).shape();
  p.timeout_seconds = c.attr<float>("timeout_seconds") > 0 ? r->timeout_seconds : 0;
  return p;
}
template <CollectiveType kType>
void run_v3(KernelContext& c, Done done) {
  auto p = communicator_params(c, kType);
  if (!p.ok()) return done(p.status());
  if constexpr (kType == CollectiveType::kReduction) set_reduction(*p, c.attr<std::string>("reduction"), "Id");
  start(c, std::move(p).value(), c.input(0), std::move(done));
}

Status run_assign_group(KernelContext& c) {
  const Tensor &groups = c.input(0), &device = c.input(1), &base = c.input(2);
  if (device.rank() != 0) return invalid_argument("device_index must be a scalar, but received tensor of shape: ", device.shape());
  if (groups.rank() != 2) return invalid_argument("group_assignment must be a 2-d Tensor, but received tensor of shape: ", groups.shape());
  if (base.rank() != 0) return invalid_argument("base_key must be a scalar, but received tensor of shape: ", base.shape());
  const int32_t wanted = device.data<int32_t>()[0], first = base.data<int32_t>()[0];
  auto text = [&] { return cat("Tensor<type: int32 shape: ", groups.shape(), " values: ", summarize(groups, 3), ">"); };
  for (int64_t i = 0; i < groups.dim(0); ++i) {
    const int32_t key = int32_t(uint32_t(first) + uint32_t(i));
    if (key == 0) return invalid_argument("Using the reserved group_key = 0 is not allowed: group_id = ", i, ", base_key = ", first);
    for (int64_t j = 0; j < groups.dim(1); ++j) {
      const int32_t member = groups.data<int32_t>()[i * groups.dim(1) + j];
      if (member < 0 || member >= groups.num_elements())
        return invalid_argument("Not all items in group_assignment ", text(), " is within [0, number of devices)");
      if (member != wanted) continue;
      c.set_output(0, Tensor::scalar(int32_t(groups.dim(1))));
      c.set_output(1, Tensor::scalar(key));
      return {};
    }
  }
  return invalid_argument("device_index ", wanted, " is not found in group_assignment ", text());
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
      .shape(shapes::unchanged)
      .cpu_make(AsyncKernel<run_v2<CollectiveType::kAllToAll>>::create);

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
      .shape(shapes::unchanged)
      .cpu_make(AsyncKernel<run_v3<CollectiveType::kAllToAll>>::create);

  r.add("CollectiveAssignGroupV2")
      .in("group_assignment: int32")
      .in("device_index: int32")
      .in("base_key: int32")
      .out("group_size: int32")
      .out("group_key: int32")
      .stateful()
      .distributed_communication()
      .doc("The size and key of the group that a device belongs to.")
      .shape(shapes::scalar)
      .cpu(run_assign_group);

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
      .shape(shape_attr)
      .cpu_make(CollectiveV1::create);

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
      .shape(receive_shape)
      .cpu_make(AsyncKernel<run_receive_v2>::create);

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
      .shape(shape_attr)
      .cpu_make(CollectiveV1::create);

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
      .shape(shapes::unchanged)
      .cpu_make(AsyncKernel<run_v2<CollectiveType::kBroadcast>>::create);

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
      .shape(gather_shape)
      .cpu_make(CollectiveV1::create);

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
      .shape(any_first_dim)
      .cpu_make(AsyncKernel<run_v2<CollectiveType::kGather>>::create);

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
      .shape(shapes::scalar)
      .cpu_make(AsyncKernel<run_initialize>::create);

  r.add("CollectivePermute")
      .in("input: T")
      .in("source_target_pairs: int32")
      .out("output: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
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
      .shape(shapes::unchanged)
      .cpu_make(CollectiveV1::create);

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
      .shape(any_first_dim)
      .cpu_make(AsyncKernel<run_v2<CollectiveType::kReduceScatter>>::create);

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
      .shape(shapes::unchanged)
      .cpu_make(AsyncKernel<run_v2<CollectiveType::kReduction>>::create);

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
      .shape(shapes::unchanged)
      .cpu_make(AsyncKernel<run_v3<CollectiveType::kReduction>>::create);

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

  set_layout(r, {"Relayout"}, layouts::kRelayout);
  set_layout(r, {"RelayoutLike"}, layouts::kRelayoutLike);
}

}  // namespace weft_engine::ops
