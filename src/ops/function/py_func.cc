#include "op/op_traits.h"
#include "op/registry.h"
#include "ops/all.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

void py_func(Registry& r) {
  r.add("EagerPyFunc")
      .in("input: Tin")
      .out("output: Tout")
      .attr("token: string")
      .attr("is_async: bool = false")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .stateful()
      .doc("Calls a Python function on tensors that can be differentiated.")
      .shape(shapes::unknown);

  r.add("PyFunc")
      .in("input: Tin")
      .out("output: Tout")
      .attr("token: string")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .stateful()
      .doc("Calls a Python function on arrays; it may have state.")
      .shape(shapes::unknown)
      .no_grad();

  r.add("PyFuncStateless")
      .in("input: Tin")
      .out("output: Tout")
      .attr("token: string")
      .attr("Tin: list(type) >= 0")
      .attr("Tout: list(type) >= 0")
      .doc("Calls a Python function on arrays that always gives the same for the same.")
      .traits({.impure = true})
      .shape(shapes::unknown)
      .no_grad();
}

}  // namespace weft_engine::ops
