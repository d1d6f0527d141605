#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void debug(Registry& r) {
  r.add("Assert")
      .in("condition: bool")
      .in("data: T")
      .attr("T: list(type) >= 1")
      .attr("summarize: int = 3")
      .stateful();

  r.add("CheckNumerics")
      .in("tensor: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("message: string")
      .stateful();

  r.add("CheckNumericsV2")
      .in("tensor: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("message: string")
      .stateful();

  r.add("DebugIdentity")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("device_name: string = ''")
      .attr("tensor_name: string = ''")
      .attr("debug_urls: list(string) = []")
      .attr("gated_grpc: bool = false")
      .allows_uninitialized_input();

  r.add("DebugIdentityV2")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("tfdbg_context_id: string = ''")
      .attr("op_name: string = ''")
      .attr("output_slot: int = -1")
      .attr("tensor_debug_mode: int = -1")
      .attr("debug_urls: list(string) = []")
      .attr("circular_buffer_size: int = 1000")
      .attr("tfdbg_run_id: string = ''")
      .stateful();

  r.add("DebugIdentityV3")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("device_name: string = ''")
      .attr("tensor_name: string = ''")
      .attr("io_of_node: string = ''")
      .attr("is_input: bool = false")
      .attr("io_index: int = -1")
      .attr("debug_urls: list(string) = []")
      .attr("gated_grpc: bool = false")
      .stateful()
      .allows_uninitialized_input();

  r.add("Print")
      .in("input: T")
      .in("data: U")
      .out("output: T")
      .attr("T: type")
      .attr("U: list(type) >= 0")
      .attr("message: string = ''")
      .attr("first_n: int = -1")
      .attr("summarize: int = 3")
      .stateful();

  r.add("PrintV2")
      .in("input: string")
      .attr("output_stream: string = 'stderr'")
      .attr("end: string = '\\n'")
      .stateful();

  r.add("Timestamp")
      .out("ts: double")
      .stateful();
}

}  // namespace weft::ops
