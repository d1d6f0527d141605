#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// The shapes that the attribute promises; unknown if it is empty.
Status promised_shapes(ShapeContext& c) {
  const auto& wanted = c.attr<std::vector<PartialShape>>("output_shapes");
  if (wanted.empty()) return {};
  if (int(wanted.size()) != c.num_outputs())
    return invalid_argument("`output_shapes` must be the same length as num outputs (", wanted.size(), " vs. ", c.num_outputs(), ")");
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, wanted[size_t(i)]);
  return {};
}

// A loop without promises keeps the shapes of what goes in.
Status loop_shapes(ShapeContext& c) {
  if (!c.attr<std::vector<PartialShape>>("output_shapes").empty()) return promised_shapes(c);
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.output(i, c.input(i));
    if (const auto* h = c.handle(i)) c.output_handle(i, *h);
  }
  return {};
}

Status shape_attr(ShapeContext& c) {
  c.output(0, c.attr<PartialShape>("shape"));
  return {};
}

// The gradient of each input has its shape; that of a resource has that of what it holds.
Status gradient_shape(ShapeContext& c) {
  if (c.num_inputs() < c.num_outputs()) return invalid_argument("len(inputs) < len(outputs)");
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, c.handle(i) ? c.handle(i)->shape : c.input(i));
  return {};
}

}  // namespace

void function(Registry& r) {
  r.add("Case")
      .in("branch_index: int32")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("branches: list(func) >= 1")
      .attr("output_shapes: list(shape) = []")
      .stateful()
      .doc("Calls the function that an index chooses.")
      .shape(promised_shapes);

  r.add("DeviceIndex")
      .out("index: int32")
      .attr("device_names: list(string)")
      .stateful().effect_free()
      .doc("The place of the current kind of device in a list of names.")
      .shape(shapes::scalar);

  r.add("FakeParam")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape")
      .doc("Stands for a value that is never used, in a branch that has none.")
      .shape(shape_attr);

  r.add("For")
      .in("start: int32")
      .in("limit: int32")
      .in("delta: int32")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("body: func")
      .doc("Calls a function for each number from start to limit, passing its results on.")
      .shape(shapes::unknown);

  r.add("If")
      .in("cond: Tcond")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tcond: type")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("then_branch: func")
      .attr("else_branch: func")
      .attr("output_shapes: list(shape) = []")
      .stateful()
      .doc("Calls one of two functions.")
      .shape(promised_shapes);

  r.add("PartitionedCall")
      .in("args: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("f: func")
      .attr("config: string = ''")
      .attr("config_proto: string = ''")
      .attr("executor_type: string = ''")
      .doc("Calls a function that has no side effects; its parts may run on several devices.")
      .shape(shapes::unknown);

  r.add("RemoteCall")
      .in("target: string")
      .in("args: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 1")
      .attr("Tout: list(type) >= 1")
      .attr("f: func")
      .stateful()
      .doc("Calls a function on another device or process.")
      .shape(shapes::unknown);

  r.add("StatefulPartitionedCall")
      .in("args: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("f: func")
      .attr("config: string = ''")
      .attr("config_proto: string = ''")
      .attr("executor_type: string = ''")
      .stateful()
      .distributed_communication()
      .doc("Calls a function; its parts may run on several devices.")
      .shape(shapes::unknown);

  r.add("StatelessCase")
      .in("branch_index: int32")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("branches: list(func) >= 1")
      .attr("output_shapes: list(shape) = []")
      .doc("Calls the function that an index chooses, none of which has side effects.")
      .shape(promised_shapes);

  r.add("StatelessIf")
      .in("cond: Tcond")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tcond: type")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("then_branch: func")
      .attr("else_branch: func")
      .attr("output_shapes: list(shape) = []")
      .doc("Calls one of two functions, neither of which has side effects.")
      .shape(promised_shapes);

  r.add("StatelessWhile")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("cond: func")
      .attr("body: func")
      .attr("output_shapes: list(shape) = []")
      .attr("parallel_iterations: int = 10")
      .doc("Calls a function without side effects as long as another gives true.")
      .shape(loop_shapes);

  r.add("SymbolicGradient")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 1")
      .attr("Tout: list(type) >= 1")
      .attr("f: func")
      .doc("The gradients of a function for its inputs.")
      .shape(gradient_shape);

  r.add("While")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("cond: func")
      .attr("body: func")
      .attr("output_shapes: list(shape) = []")
      .attr("parallel_iterations: int = 10")
      .stateful()
      .doc("Calls a function as long as another gives true.")
      .shape(loop_shapes);
}

}  // namespace weft::ops
