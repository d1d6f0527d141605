// The ops that graphs are steered with. The executor of graphs runs branches, loops and
// arguments itself; what is here serves single calls, where every value is alive.
#include "op/emit.h"
#include "op/gradient.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/placed_kernel.h"
#include "op/registry.h"
#include "ops/all.h"
#include "ops/array/array_util.h"
#include "ops/control_flow/condition.h"

namespace weft_engine::ops {

namespace {

Status do_nothing(KernelContext&) { return {}; }

Status sync_device(KernelContext& c) {
  Status out;
  c.device().synchronize([&](Status s) { out = std::move(s); });  // calls back before it returns
  return out;
}

// TensorFlow kills the process; an engine inside somebody's program must not.
Status run_abort(KernelContext& c) {
  if (c.attr<bool>("exit_without_error")) return {};
  return aborted("Abort_op intentional failure; ", c.attr<std::string>("error_msg"));
}

// Fills outputs that a branch leaves dead, so that a caller outside graphs finds a tensor there.
Status put_nothing(KernelContext& c, int i) { return c.allocate(i, {0}).status(); }

Status run_switch(KernelContext& c) {
  const Tensor& pred = c.input(1);
  if (pred.rank() != 0) return invalid_argument("The second input must be a scalar, but it has shape ", pred.shape());
  const int taken = pred.data<uint8_t>()[0] ? 1 : 0;
  c.set_output(taken, c.input(0));
  return put_nothing(c, 1 - taken);
}

Status run_switch_n(KernelContext& c) {
  const Tensor& index = c.input(1);
  if (index.rank() != 0) return invalid_argument("The second input must be a scalar, but it has shape ", index.shape());
  int taken = index.data<int32_t>()[0];
  const int n = c.num_outputs();
  if (taken < 0 || taken >= n) taken = n - 1;
  for (int i = 0; i < n; ++i) {
    if (i != taken) WEFT_RETURN_IF_ERROR(put_nothing(c, i));
  }
  c.set_output(taken, c.input(0));
  return {};
}

Status run_merge(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).valid()) continue;
    c.set_output(0, c.input(i));
    WEFT_ASSIGN(Tensor* index, c.allocate(1, {}));
    index->data<int32_t>()[0] = i;
    return {};
  }
  return internal_error("Merge has no input that is alive");
}

Status run_ref_through(KernelContext& c) {
  c.set_output_ref(0, c.input_ref(0));
  return pass_through(c);
}

Status run_ref_merge(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(run_merge(c));
  c.set_output_ref(0, c.input_ref(c.output(1).data<int32_t>()[0]));
  return {};
}

Status run_ref_switch(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(run_switch(c));
  c.set_output_ref(c.input(1).data<uint8_t>()[0] ? 1 : 0, c.input_ref(0));
  return {};
}

Status run_ref_select(KernelContext& c) {
  const Tensor& index = c.input(0);
  if (index.rank() != 0) return invalid_argument("Index must be a scalar, but it has shape ", index.shape());
  const int i = index.data<int32_t>()[0], n = c.num_inputs() - 1;
  if (i < 0 || i >= n) return invalid_argument("Index must be in the range [0, ", n, ") but got ", i);
  c.set_output_ref(0, c.input_ref(i + 1));
  c.set_output(0, c.input(i + 1));
  return {};
}

Status run_to_bool(KernelContext& c) {
  WEFT_ASSIGN(bool value, condition_value(c.input(0)));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {}));
  out->data<bool>()[0] = value;
  return {};
}

Status run_lists(KernelContext& c) {
  if (c.num_inputs() != c.num_outputs()) return invalid_argument(c.node().op(), " has ", c.num_inputs(), " inputs but ", c.num_outputs(), " outputs");
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).dtype() != c.output_type(i))
      return invalid_argument("input ", i, " of ", c.node().op(), " is ", dtype_name(c.input(i).dtype()), ", expected ",
                              dtype_name(c.output_type(i)));
    c.set_output(i, c.input(i));
  }
  return {};
}

// ---- shapes ------------------------------------------------------------------------------------------

Status through_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.output(i, c.input(0));
    if (const auto* h = c.handle(0)) c.output_handle(i, *h);
  }
  return {};
}

// A value that comes round a loop may have another shape each time.
Status enter_shape(ShapeContext& c) {
  if (c.attr<bool>("is_constant")) return through_shape(c);
  if (const auto* h = c.handle(0)) c.output_handle(0, *h);
  return {};
}

Status switch_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  return through_shape(c);
}

// What all inputs have in common.
PartialShape common(const PartialShape& a, const PartialShape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return {};
  PartialShape out = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) != b.dim(i)) out.set_dim(i, kUnknownDim);
  }
  return out;
}

Status merge_shape(ShapeContext& c) {
  PartialShape out = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) out = common(out, c.input(i));
  c.output(0, std::move(out));
  c.output(1, PartialShape::scalar());
  return {};
}

Status select_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  PartialShape out = c.input(1);
  for (int i = 2; i < c.num_inputs(); ++i) out = common(out, c.input(i));
  c.output(0, std::move(out));
  return {};
}

Status loop_cond_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  return shapes::scalar(c);
}

Status lists_shape(ShapeContext& c) {
  if (c.num_inputs() != c.num_outputs()) return invalid_argument(c.node().op(), " has ", c.num_inputs(), " inputs but ", c.num_outputs(), " outputs");
  for (int i = 0; i < c.num_inputs(); ++i) c.output(i, c.input(i));
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// Back to the input that was alive.
Grads merge_grad(const GradContext& g) {
  Grads grads = g.none();
  for (int i = 0; i < g.num_inputs(); ++i) {
    const Value chosen = binary("Equal", g.y(1), scalar(g.emitter(), DType::kInt32, i));
    auto out = g.emitter().apply("Switch", {g.dy(), chosen});
    if (out.size() == 2) grads[size_t(i)] = out[1];
  }
  return grads;
}

// From the side that was alive. A side that nothing flowed into gives zeros, of a variable's value where a variable went through.
Grads switch_grad(const GradContext& g) {
  if (!g.has_dy(0) && !g.has_dy(1)) return g.none();
  std::vector<Value> sides;
  for (int i = 0; i < 2; ++i) {
    Value dy;
    if (g.has_dy(i) || g.x(0).dtype() != DType::kResource) dy = g.dy(i);
    else dy = fill(g.one("VariableShape", {g.x(0)}), scalar(g.emitter(), g.raw_dy(1 - i).dtype(), 0));
    auto out = g.emitter().apply("Switch", {dy, g.x(1)});
    if (out.size() != 2) return g.none();
    sides.push_back(out[size_t(i)]);
  }
  auto merged = g.apply("Merge", sides);
  if (merged.empty()) return g.none();
  return {merged[0], {}};
}

// Rounds of a frame would have to be run backwards. Functions (While) can be.
Grads no_loop_grad(const GradContext& g) {
  return g.fail(unimplemented("the gradient of a loop made of frames (", g.node().spec().name, "); a While op has one"));
}

}  // namespace

Result<bool> condition_value(const Tensor& t) {
  if (t.rank() != 0) return t.num_elements() > 0;
  if (t.dtype() == DType::kString) return !t.data<tstring>()[0].empty();
  if (t.dtype() == DType::kBool) return t.data<uint8_t>()[0] != 0;
  bool value = false;
  WEFT_RETURN_IF_ERROR((dispatch<WEFT_NUMBERS>(t.dtype(), [&]<class T>(Tag<T>) {
    value = t.data<T>()[0] != T(0);
    return Status();
  })));
  return value;
}

void control_flow(Registry& r) {
  r.add("Abort")
      .attr("error_msg: string = ''")
      .attr("exit_without_error: bool = false")
      .doc("Fails on purpose.")
      .traits({.impure = true})
      .shape(shapes::no_outputs)
      .cpu(run_abort);

  r.add("ControlTrigger")
      .doc("Does nothing; runs even if what it waits for is dead.")
      .traits({.role = Role::kControlTrigger})
      .shape(shapes::no_outputs)
      .cpu(do_nothing);

  r.add("Fact").out("fact: string").doc("A fact about factorials.").shape(shapes::scalar).cpu([](KernelContext& c) -> Status {
    c.set_output(0, Tensor::scalar(tstring("0! == 1")));
    return {};
  });

  r.add("SyncDevice")
      .doc("Waits until the device has done what it was given, which a CPU always has.")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu(sync_device);

  r.add("Enter")
      .in("data: T")
      .out("output: T")
      .attr("T: type")
      .attr("frame_name: string")
      .attr("is_constant: bool = false")
      .attr("parallel_iterations: int = 10")
      .doc("Hands a value to a loop.")
      .traits({.role = Role::kEnter, .made = Made::kAlways})
      .shape(enter_shape)
      .grad(no_loop_grad)
      .cpu(pass_through);

  r.add("Exit")
      .in("data: T")
      .out("output: T")
      .attr("T: type")
      .doc("Hands a value out of a loop.")
      .traits({.role = Role::kExit, .made = Made::kAlways})
      .shape(through_shape)
      .grad(no_loop_grad)
      .cpu(pass_through);

  r.add("LoopCond")
      .in("input: bool")
      .out("output: bool")
      .doc("Whether the loop continues.")
      .traits({.role = Role::kLoopCond, .made = Made::kAlways, .forwards_inputs = true})
      .shape(loop_cond_shape)
      .no_grad()
      .cpu(pass_through);

  r.add("Merge")
      .in("inputs: N * T")
      .out("output: T")
      .out("value_index: int32")
      .attr("T: type")
      .attr("N: int >= 1")
      .doc("The one input that is alive, and its number.")
      .traits({.role = Role::kMerge, .made = Made::kAlways})
      .shape(merge_shape)
      .grad(merge_grad)
      .cpu(run_merge);

  r.add("NextIteration")
      .in("data: T")
      .out("output: T")
      .attr("T: type")
      .doc("Hands a value to the next round of a loop.")
      .traits({.role = Role::kNextIteration, .made = Made::kAlways})
      .shape(shapes::unchanged)
      .grad(no_loop_grad)
      .cpu(pass_through);

  r.add("NoOp").doc("Does nothing.").traits({.role = Role::kNoOp, .made = Made::kAlways}).shape(shapes::no_outputs).cpu(do_nothing);

  r.add("RefEnter")
      .in("data: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .attr("frame_name: string")
      .attr("is_constant: bool = false")
      .attr("parallel_iterations: int = 10")
      .doc("Hands a reference to a loop.")
      .traits({.role = Role::kEnter})
      .shape(shapes::unchanged)
      .grad(no_loop_grad)
      .cpu(run_ref_through);

  r.add("RefExit")
      .in("data: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .doc("Hands a reference out of a loop.")
      .traits({.role = Role::kExit})
      .shape(shapes::unchanged)
      .grad(no_loop_grad)
      .cpu(run_ref_through);

  r.add("RefMerge")
      .in("inputs: Ref(N * T)")
      .out("output: Ref(T)")
      .out("value_index: int32")
      .attr("T: type")
      .attr("N: int >= 1")
      .doc("The one reference that is alive, and its number.")
      .traits({.role = Role::kMerge})
      .shape(merge_shape)
      .grad(merge_grad)
      .cpu(run_ref_merge);

  r.add("RefNextIteration")
      .in("data: Ref(T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .doc("Hands a reference to the next round of a loop.")
      .traits({.role = Role::kNextIteration})
      .shape(shapes::unchanged)
      .grad(no_loop_grad)
      .cpu(run_ref_through);

  r.add("RefSelect")
      .in("index: int32")
      .in("inputs: Ref(N * T)")
      .out("output: Ref(T)")
      .attr("T: type")
      .attr("N: int >= 1")
      .doc("The reference of the given number.")
      .traits({.role = Role::kRefSelect})
      .shape(select_shape)
      .cpu(run_ref_select);

  r.add("RefSwitch")
      .in("data: Ref(T)")
      .in("pred: bool")
      .out("output_false: Ref(T)")
      .out("output_true: Ref(T)")
      .attr("T: type")
      .allows_uninitialized_input()
      .doc("Hands a reference to the branch that pred names.")
      .traits({.role = Role::kSwitch})
      .shape(switch_shape)
      .grad(switch_grad)
      .cpu(run_ref_switch);

  r.add("Switch")
      .in("data: T")
      .in("pred: bool")
      .out("output_false: T")
      .out("output_true: T")
      .attr("T: type")
      .doc("Hands the data to the branch that pred names; the other one is dead.")
      .traits({.role = Role::kSwitch, .made = Made::kAlways})
      .shape(switch_shape)
      .grad(switch_grad)
      .cpu(run_switch);

  r.add("ToBool")
      .in("input: T")
      .out("output: bool")
      .attr("T: type")
      .doc("Whether a scalar is not zero, or any other tensor not empty.")
      .shape(shapes::scalar)
      .cpu(run_to_bool);

  r.add("_Arg")
      .out("output: T")
      .attr("T: type")
      .attr("index: int >= 0")
      .stateful()
      .doc("An argument of a function; the graph runtime puts it there.")
      .traits({.role = Role::kArg, .made = Made::kAlways})
      .shape(shapes::unknown);

  r.add("_ArrayToList")
      .in("input: N * T")
      .out("output: out_types")
      .attr("T: type")
      .attr("N: int >= 1")
      .attr("out_types: list(type) >= 1")
      .doc("Tensors of one type as a list of types.")
      .traits({.forwards_inputs = true})
      .shape(lists_shape)
      .cpu(run_lists);

  r.add("_ListToArray")
      .in("input: Tin")
      .out("output: N * T")
      .attr("Tin: list(type) >= 1")
      .attr("T: type")
      .attr("N: int >= 1")
      .doc("A list of types as tensors of one type.")
      .traits({.forwards_inputs = true})
      .shape(lists_shape)
      .cpu(run_lists);

  r.add("_Retval")
      .in("input: T")
      .attr("T: type")
      .attr("index: int >= 0")
      .stateful()
      .doc("A result of a function; the graph runtime takes it from there.")
      .traits({.role = Role::kRetval, .made = Made::kAlways})
      .shape(shapes::no_outputs);

  r.add("_SwitchN")
      .in("data: T")
      .in("output_index: int32")
      .out("outputs: num_outs * T")
      .attr("num_outs: int >= 1")
      .attr("T: type")
      .doc("Hands the data to the branch of the given number; the others are dead.")
      .traits({.role = Role::kSwitchN, .made = Made::kAlways})
      .shape(through_shape)
      .cpu(run_switch_n);

  any_device(r, "NoOp");
  KernelDef sync = r.kernels(*r.find("SyncDevice")).front();
  sync.device_type = "DEFAULT";  // not by any_device: the kernel asks the device itself
  (void)r.add_kernel("SyncDevice", std::move(sync));

  set_layout(r, {"NoOp"}, layouts::kReplicated);
}

}  // namespace weft_engine::ops
