#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void optional(Registry& r) {
  r.add("OptionalFromValue")
      .in("components: Toutput_types")
      .out("optional: variant")
      .full_type("OPTIONAL(FOR_EACH(PRODUCT, TENSOR(VAR:Toutput_types), VAR:Toutput_types))")
      .attr("Toutput_types: list(type) >= 1");

  r.add("OptionalGetValue")
      .in("optional: variant")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1");

  r.add("OptionalHasValue")
      .in("optional: variant")
      .out("has_value: bool");

  r.add("OptionalNone")
      .out("optional: variant");
}

}  // namespace weft::ops
