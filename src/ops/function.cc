#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void function(Registry& r) {
  r.add("Case")
      .in("branch_index: int32")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("branches: list(func) >= 1")
      .attr("output_shapes: list(shape) = []")
      .stateful();

  r.add("DeviceIndex")
      .out("index: int32")
      .attr("device_names: list(string)")
      .stateful();

  r.add("FakeParam")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("shape: shape");

  r.add("For")
      .in("start: int32")
      .in("limit: int32")
      .in("delta: int32")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("body: func");

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
      .stateful();

  r.add("PartitionedCall")
      .in("args: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("f: func")
      .attr("config: string = ''")
      .attr("config_proto: string = ''")
      .attr("executor_type: string = ''");

  r.add("RemoteCall")
      .in("target: string")
      .in("args: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 1")
      .attr("Tout: list(type) >= 1")
      .attr("f: func")
      .stateful();

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
      .distributed_communication();

  r.add("StatelessCase")
      .in("branch_index: int32")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("branches: list(func) >= 1")
      .attr("output_shapes: list(shape) = []");

  r.add("StatelessIf")
      .in("cond: Tcond")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tcond: type")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .attr("then_branch: func")
      .attr("else_branch: func")
      .attr("output_shapes: list(shape) = []");

  r.add("StatelessWhile")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("cond: func")
      .attr("body: func")
      .attr("output_shapes: list(shape) = []")
      .attr("parallel_iterations: int = 10");

  r.add("SymbolicGradient")
      .in("input: Tin")
      .out("output: Tout")
      .attr("Tin: list(type) >= 1")
      .attr("Tout: list(type) >= 1")
      .attr("f: func");

  r.add("While")
      .in("input: T")
      .out("output: T")
      .attr("T: list(type) >= 0")
      .attr("cond: func")
      .attr("body: func")
      .attr("output_shapes: list(shape) = []")
      .attr("parallel_iterations: int = 10")
      .stateful();
}

}  // namespace weft::ops
